import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A command in a root directory, with /proc, without which Bun exits at once. */
export const buildChrootCommand = (folder: string, ...command: string[]) => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"',
  folder,
  ...command,
];

/** Whether this machine permits `inRoot`. */
export const mayChangeRoot = (() => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  mkdirSync(join(folder, "proc"));
  const [program = "", ...args] = buildChrootCommand(folder, "/none");
  const text = Bun.which(program) && Bun.spawnSync([program, ...args]).stderr.toString();
  rmSync(folder, { recursive: true });
  return text?.includes("chroot: failed to run") ?? false;
})();
