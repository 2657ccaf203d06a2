/** Creates copies of the database that administrators download once. */
import { chmodSync, readdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { copyPrefix } from "../../database/backup/backup-file.ts";
import type { RunningCopy, Sealing } from "../../database/backup/copy.ts";
import { createFileName } from "./rules.ts";

/** Time until an unused copy expires. */
const downloadLifetimeMs = 10 * minuteMs;
const chunkBytes = 256 * 1024;

/** Copies of the whole database. Each is for the administrator who requested it. */
export type Backups = {
  /** Creates a copy. Throws CONFLICT while another copy is in progress, UNAVAILABLE if it can't be written. */
  createBackup(personId: string, sealing: Sealing | null): Promise<Backup>;
  /** Streams a copy once, while `mayContinue` returns true. Returns null for an unknown copy. */
  take(
    personId: string,
    id: string,
    mayContinue: () => Promise<boolean>,
  ): { backup: Backup; bytes: ReadableStream<Uint8Array> } | null;
};

type Backup = { id: string; fileName: string; bytes: number; expiresAt: string };

type Dependencies = {
  /** Folder that contains the copies. */
  directory: string;
  clock: Clock;
  copyTo: (file: string, sealing: Sealing | null) => RunningCopy;
};

/** Creates one copy at a time. Removes it after the download, or after ten minutes. */
export class BackupDownloads implements Backups {
  readonly #dependencies: Dependencies;
  readonly #waiting = new Map<string, { backup: Backup; personId: string; expiry: Timer }>();
  #running: RunningCopy | null = null;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#removeAll();
  }

  async createBackup(personId: string, sealing: Sealing | null): Promise<Backup> {
    if (this.#running !== null)
      throw new AppError(
        "CONFLICT",
        "Another backup is in progress. Try again when it is finished.",
      );
    const { clock } = this.#dependencies;
    const now = clock();
    const id = createId(now);
    const file = this.#pathOf(id);
    await this.#copy(file, sealing);
    const backup = {
      id,
      fileName: createFileName(now, sealing !== null),
      bytes: statSync(file).size,
      expiresAt: formatTimestamp(clock() + downloadLifetimeMs),
    };
    const expiry = setTimeout(() => {
      this.#waiting.delete(id);
      rmSync(file, { force: true });
    }, downloadLifetimeMs);
    expiry.unref();
    this.#waiting.set(id, { backup, personId, expiry });
    return backup;
  }

  take(personId: string, id: string, mayContinue: () => Promise<boolean>) {
    const found = this.#waiting.get(id);
    if (found === undefined || found.personId !== personId) return null;
    this.#forget(id);
    const file = this.#pathOf(id);
    const remove = () => rmSync(file, { force: true });
    return { backup: found.backup, bytes: readOnce(file, mayContinue, remove) };
  }

  end() {
    this.#running?.cancel();
    for (const id of this.#waiting.keys()) this.#forget(id);
    this.#removeAll();
  }

  #pathOf(id: string) {
    return join(this.#dependencies.directory, `${copyPrefix}${id}`);
  }

  async #copy(file: string, sealing: Sealing | null) {
    this.#running = this.#dependencies.copyTo(file, sealing);
    try {
      await this.#running.done;
      chmodSync(file, 0o600);
    } catch (error) {
      rmSync(file, { force: true });
      throw new AppError(
        "UNAVAILABLE",
        "The backup could not be written; see the log. Is there space on the disk?",
        { headers: { "Retry-After": "60" }, cause: error },
      );
    } finally {
      this.#running = null;
    }
  }

  /** Removes all copies, including those that a crash left. */
  #removeAll() {
    const { directory } = this.#dependencies;
    for (const name of readdirSync(directory))
      if (name.startsWith(copyPrefix)) rmSync(join(directory, name), { force: true });
  }

  #forget(id: string) {
    clearTimeout(this.#waiting.get(id)?.expiry);
    this.#waiting.delete(id);
  }
}

/**
 * Streams a file while `mayContinue` returns true. Calls `over` at the end, after a cancellation,
 * or without permission.
 */
function readOnce(
  file: string,
  mayContinue: () => Promise<boolean>,
  over: () => void,
): ReadableStream<Uint8Array> {
  let handle: FileHandle;
  async function closeFile() {
    await handle.close();
    over();
  }
  return new ReadableStream({
    async start() {
      handle = await open(file);
    },
    async pull(controller) {
      if (!(await mayContinue())) {
        await closeFile();
        return controller.error(new Error("You may no longer download this."));
      }
      const { bytesRead, buffer } = await handle.read(new Uint8Array(chunkBytes));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await closeFile();
      controller.close();
    },
    cancel: closeFile,
  });
}
