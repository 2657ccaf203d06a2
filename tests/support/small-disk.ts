/** A small disk that can be filled, made read-only and repaired. Needs root's rights. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { hasPrograms } from "./real-targets.ts";

const MiB = 1024 * 1024;

function runCommand(...command: string[]): string | null {
  const { success, stdout } = Bun.spawnSync(command, { stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}

/** A disk of this many MiB (ext4 in a file); null without root's rights. */
export function createSmallDisk(mebibytes: number) {
  if (process.getuid?.() !== 0 || !hasPrograms("mkfs.ext4", "losetup", "mount")) return null;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-disk-"));
  const image = join(folder, "image");
  const path = join(folder, "disk");
  mkdirSync(path);
  writeFileSync(image, "");
  truncateSync(image, mebibytes * MiB);
  // Without a journal it can be mounted again after an error.
  // Blocks have the usual 4 KiB: SQLite reserves a page by writing one byte.
  runCommand("mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-O", "^has_journal", image);
  const device = runCommand("losetup", "-f", "--show", image);
  const mount = () =>
    device !== null && runCommand("mount", "-o", "errors=remount-ro", device, path) !== null;
  const remove = () => {
    runCommand("umount", "-l", path);
    if (device !== null) runCommand("losetup", "-d", device);
    rmSync(folder, { recursive: true, force: true });
  };
  const trigger = `/sys/fs/ext4/${basename(device ?? "")}/trigger_fs_error`;
  if (device === null || !mount() || !existsSync(trigger)) {
    remove();
    return null;
  }
  const filler = join(path, "filler");
  return {
    path,
    /** Fills the disk except for this many KiB. */
    fill(leftKiB = 0) {
      const handle = openSync(filler, "a");
      const { bavail, bsize } = statfsSync(path);
      const chunk = Buffer.alloc(64 * 1024);
      try {
        let left = bavail * bsize - leftKiB * 1024;
        while (left > 0) left -= writeSync(handle, chunk, 0, Math.min(left, chunk.length));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(handle);
      }
    },
    /** Allocates this many MiB without writing them. */
    reserve: (mebibytes: number) => void runCommand("fallocate", "-l", `${mebibytes}M`, filler),
    /** Frees the allocated space. */
    free: () => rmSync(filler, { force: true }),
    /** Makes the disk read-only, as the kernel does after an I/O error; open files are affected as well. */
    fail: () => writeFileSync(trigger, "1"),
    /** Mounts the disk again after `fail`. No file on it may be open. */
    remount() {
      runCommand("umount", path);
      if (!mount()) throw new Error("The disk can't be mounted again.");
    },
    [Symbol.dispose]: remove,
  };
}
