/** The system's ping; null where there is none. */
export function pingCommand(): string | null {
  return Bun.which("ping") ?? Bun.which("ping", { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" });
}
