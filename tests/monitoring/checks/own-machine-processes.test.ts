import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const script = join(import.meta.dir, "../../support/checks-in-trouble.ts");

/** The result of each type, and the output of the process on stderr. */
async function findOutcome(...command: string[]): Promise<[Record<string, string>, string]> {
  const child = Bun.spawn(command, { stderr: "pipe" });
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return [JSON.parse(text) as Record<string, string>, errors];
}

/** Whether a process can mount its own resolv.conf, which requires root. */
const mayMount = Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-m", "true"]).success;

test.skipIf(!mayMount)(
  "an unreachable resolver of this machine makes monitors of all types unknown, not down",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-resolver-"));
    try {
      const conf = join(folder, "resolv.conf");
      // Nothing listens on port 53 of this loopback address.
      writeFileSync(conf, "nameserver 127.9.9.9\n");
      const mounted = 'mount --bind "$1" /etc/resolv.conf && exec "$2" "$3" names';
      const [all] = await findOutcome(
        "unshare",
        "-m",
        "sh",
        "-c",
        mounted,
        "sh",
        conf,
        process.execPath,
        script,
      );
      expect(Object.keys(all).length).toBeGreaterThan(15);
      const wrong = Object.entries(all).filter(
        ([, text]) =>
          text !== "unknown: Not judged: the name servers of this machine don't respond.",
      );
      expect(wrong).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test.skipIf(Bun.which("sh") === null)(
  "a full file table makes monitors unknown, not down, and prints no raw errors",
  async () => {
    const limited = 'ulimit -n 256 && exec "$0" "$@"';
    const [all, errors] = await findOutcome(
      "sh",
      "-c",
      limited,
      process.execPath,
      script,
      "exhausted",
    );
    expect(Object.keys(all).length).toBeGreaterThan(15);
    expect(Object.entries(all).filter(([, text]) => !text.startsWith("unknown: "))).toEqual([]);
    expect(errors).toBe("");
  },
);
