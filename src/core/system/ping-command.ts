/** Path of the system's ping program; null if it is missing. */
export function findPingCommand(): string | null {
  return Bun.which("ping") ?? Bun.which("ping", { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" });
}
