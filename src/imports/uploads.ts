import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, hourMs } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { importBounds } from "../core/limits.ts";
import { fairQueue } from "../core/collections/fair-queue.ts";
import { randomToken } from "../core/ids.ts";
import { bytesInWords } from "../core/text/words.ts";
import { freeBytesOf } from "../database/file/data-files.ts";

const maxBytes = importBounds.upload.value;
/** So much of the disk stays free. */
const spareBytes = 512 * 1024 ** 2;

/** Stores uploaded files until they are imported, one per organization. */
export type ImportUploads = {
  /** Throws CONFLICT without room, or while another one is imported. */
  begin(organizationId: string, file: { name: string; size: number }): Promise<string>;
  /** Returns the number of received bytes. Throws NOT_FOUND, CONFLICT. */
  append(organizationId: string, id: string, offset: number, bytes: Uint8Array): Promise<number>;
  /** Throws NOT_FOUND, and CONFLICT for an incomplete file. */
  use<T>(
    organizationId: string,
    id: string,
    read: (upload: { file: string; name: string; folder: string }) => Promise<T>,
  ): Promise<T>;
  remove(organizationId: string, id: string): Promise<void>;
};

type Upload = {
  id: string;
  organizationId: string;
  folder: string;
  name: string;
  size: number;
  received: number;
  touchedAt: number;
  /** Whether it is being read. */
  isInUse: boolean;
};

/**
 * Files that people import, as they arrive: in parts, so that a large one takes no memory. One of an
 * organization at a time, beside the data, until it is imported or an hour has passed.
 */
export function importUploads(directory: string, clock: Clock): ImportUploads & { end(): void } {
  const all = join(directory, "uploads");
  const uploads = new Map<string, Upload>();
  const reading = fairQueue({ atOnce: importBounds.reading.value });
  // Those of a process that was killed.
  rmSync(all, { recursive: true, force: true });

  function remove({ organizationId, folder }: Upload) {
    uploads.delete(organizationId);
    rmSync(folder, { recursive: true, force: true });
  }

  function removeOld() {
    for (const upload of uploads.values())
      if (!upload.isInUse && clock() - upload.touchedAt > hourMs) remove(upload);
  }

  function get(organizationId: string, id: string): Upload {
    const upload = uploads.get(organizationId);
    if (upload?.id !== id)
      throw new AppError(
        "NOT_FOUND",
        "This upload is over, another one took its place, or another machine has it. Choose the file again.",
      );
    upload.touchedAt = clock();
    return upload;
  }

  return {
    async begin(organizationId, { name, size }) {
      removeOld();
      const before = uploads.get(organizationId);
      if (before?.isInUse === true)
        throw new AppError("CONFLICT", "A file is being imported. Wait until it is finished.");
      if (before !== undefined) remove(before);
      if (size > maxBytes)
        throw new AppError(
          "CONFLICT",
          `A file has at most ${bytesInWords(maxBytes)} here. Use the command line: signalbox import.`,
        );
      mkdirSync(all, { recursive: true, mode: 0o700 });
      if (freeBytesOf(all) < size + spareBytes)
        throw new AppError("CONFLICT", `The disk has no room for ${bytesInWords(size)}.`);
      const id = randomToken(22);
      const folder = join(all, id);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, "file"), "", { flag: "wx", mode: 0o600 });
      uploads.set(organizationId, {
        id,
        organizationId,
        folder,
        name,
        size,
        received: 0,
        touchedAt: clock(),
        isInUse: false,
      });
      return id;
    },
    async append(organizationId, id, offset, bytes) {
      const upload = get(organizationId, id);
      if (offset !== upload.received || offset + bytes.length > upload.size)
        throw new AppError(
          "CONFLICT",
          `The next byte is number ${upload.received} of ${upload.size}.`,
        );
      upload.received += bytes.length;
      // Opened for each part: one that nobody ends holds no file open.
      const handle = await open(join(upload.folder, "file"), "r+");
      try {
        await handle.write(bytes, 0, bytes.length, offset);
      } finally {
        await handle.close();
      }
      return upload.received;
    },
    async use(organizationId, id, read) {
      const upload = get(organizationId, id);
      if (upload.received < upload.size)
        throw new AppError("CONFLICT", "The file has not arrived completely.");
      if (upload.isInUse) throw new AppError("CONFLICT", "The file is being read already.");
      upload.isInUse = true;
      const { folder, name } = upload;
      try {
        return await reading.run(organizationId, () =>
          read({ file: join(folder, "file"), name, folder }),
        );
      } finally {
        upload.isInUse = false;
      }
    },
    async remove(organizationId, id) {
      remove(get(organizationId, id));
    },
    end: () => rmSync(all, { recursive: true, force: true }),
  };
}
