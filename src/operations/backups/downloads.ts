import { chmodSync, readdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { copyPrefix } from "../../database/backup/backup-file.ts";
import type { Copying, Sealing } from "../../database/backup/copy.ts";
import { fileNameOf } from "./rules.ts";

/** So long a copy waits to be taken. */
const keptMs = 10 * 60_000;
const chunkBytes = 256 * 1024;

/** Copies of the whole database, each for the administrator who requested it, until it is downloaded. */
export type Backups = {
  /** Throws CONFLICT while another copy is in progress, UNAVAILABLE if it can't be written. */
  make(personId: string, sealing: Sealing | null): Promise<Backup>;
  /** Returns the bytes once, for as long as `mayContinue`; null for an unknown copy. */
  take(
    personId: string,
    id: string,
    mayContinue: () => Promise<boolean>,
  ): { backup: Backup; bytes: ReadableStream<Uint8Array> } | null;
};

type Backup = { id: string; fileName: string; bytes: number; expiresAt: string };

type Dependencies = {
  /** Where copies lie until they are taken. */
  directory: string;
  clock: Clock;
  copyTo: (file: string, sealing: Sealing | null) => Copying;
};

/** Makes copies, one at a time, and keeps none longer than it is needed. */
export function backupDownloads({
  directory,
  clock,
  copyTo,
}: Dependencies): Backups & { end(): void } {
  const waiting = new Map<string, { backup: Backup; personId: string; expiry: Timer }>();
  let running: Copying | null = null;
  const fileOf = (id: string) => join(directory, `${copyPrefix}${id}`);

  /** What a crash has left behind goes, too. */
  function removeAll() {
    for (const name of readdirSync(directory))
      if (name.startsWith(copyPrefix)) rmSync(join(directory, name), { force: true });
  }

  function forget(id: string) {
    clearTimeout(waiting.get(id)?.expiry);
    waiting.delete(id);
  }

  removeAll();
  return {
    async make(personId, sealing) {
      if (running !== null)
        throw new AppError(
          "CONFLICT",
          "Another backup is in progress. Try again when it is finished.",
        );
      const now = clock();
      const id = newId(now);
      const file = fileOf(id);
      running = copyTo(file, sealing);
      try {
        await running.done;
        chmodSync(file, 0o600);
      } catch (error) {
        rmSync(file, { force: true });
        throw new AppError(
          "UNAVAILABLE",
          "The backup could not be written; see the log. Is there space on the disk?",
          { headers: { "Retry-After": "60" }, cause: error },
        );
      } finally {
        running = null;
      }
      const backup = {
        id,
        fileName: fileNameOf(now, sealing !== null),
        bytes: statSync(file).size,
        expiresAt: timestamp(clock() + keptMs),
      };
      const expiry = setTimeout(() => {
        waiting.delete(id);
        rmSync(file, { force: true });
      }, keptMs);
      expiry.unref();
      waiting.set(id, { backup, personId, expiry });
      return backup;
    },
    take(personId, id, mayGoOn) {
      const found = waiting.get(id);
      if (found === undefined || found.personId !== personId) return null;
      forget(id);
      const file = fileOf(id);
      return {
        backup: found.backup,
        bytes: readOnce(file, mayGoOn, () => rmSync(file, { force: true })),
      };
    },
    end() {
      running?.cancel();
      for (const id of waiting.keys()) forget(id);
      removeAll();
    },
  };
}

/** The bytes of a file as fast as they are read, for as long as `mayGoOn`; `over` comes when all were, or nobody wants or may have more. */
function readOnce(
  file: string,
  mayGoOn: () => Promise<boolean>,
  over: () => void,
): ReadableStream<Uint8Array> {
  let handle: FileHandle;
  async function end() {
    await handle.close();
    over();
  }
  return new ReadableStream({
    async start() {
      handle = await open(file);
    },
    async pull(controller) {
      if (!(await mayGoOn())) {
        await end();
        return controller.error(new Error("You may no longer download this."));
      }
      const { bytesRead, buffer } = await handle.read(new Uint8Array(chunkBytes));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await end();
      controller.close();
    },
    cancel: end,
  });
}
