/** Stores uploaded files until they are imported. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, hourMs } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { importBounds } from "../core/limits.ts";
import { createFairQueue } from "../core/collections/fair-queue.ts";
import { createToken } from "../core/ids.ts";
import { formatBytes } from "../core/text/formatting.ts";
import { measureFreeBytes } from "../database/file/data-files.ts";

const maxBytes = importBounds.upload.value;
/** Bytes of disk space that uploads must leave free. */
const spareBytes = 512 * 1024 ** 2;

type Upload = {
  id: string;
  organizationId: string;
  folder: string;
  name: string;
  size: number;
  received: number;
  touchedAt: number;
  /** Whether an import or a preview is reading the file. */
  isInUse: boolean;
};

/**
 * Uploaded import files, one per organization. They arrive in parts to bound memory. An upload expires one hour after
 * its last part.
 */
export class ImportUploads {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #uploads = new Map<string, Upload>();
  readonly #reading = createFairQueue({ atOnce: importBounds.reading.value });

  constructor(directory: string, clock: Clock) {
    this.#folder = join(directory, "uploads");
    this.#clock = clock;
    // Removes uploads of a killed process.
    this.removeAll();
  }

  /**
   * Starts an upload and replaces an earlier one. Throws CONFLICT if disk space is missing, or
   * during an import of the organization.
   */
  async beginUpload(organizationId: string, { name, size }: { name: string; size: number }) {
    this.#removeOld();
    const before = this.#uploads.get(organizationId);
    if (before?.isInUse === true)
      throw new AppError("CONFLICT", "A file is being imported. Wait until it is finished.");
    if (before !== undefined) this.#delete(before);
    if (size > maxBytes)
      throw new AppError(
        "CONFLICT",
        `A file has at most ${formatBytes(maxBytes)} here. Use the command line: signalbox import.`,
      );
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if (measureFreeBytes(this.#folder) < size + spareBytes)
      throw new AppError("CONFLICT", `The disk has no room for ${formatBytes(size)}.`);
    const id = createToken(22);
    const folder = join(this.#folder, id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "file"), "", { flag: "wx", mode: 0o600 });
    const state = { received: 0, touchedAt: this.#clock(), isInUse: false };
    this.#uploads.set(organizationId, { id, organizationId, folder, name, size, ...state });
    return id;
  }

  /**
   * Appends a part and returns the number of received bytes. Throws NOT_FOUND, and CONFLICT for an
   * unexpected offset.
   */
  async appendPart(organizationId: string, id: string, offset: number, bytes: Uint8Array) {
    const upload = this.#get(organizationId, id);
    if (offset !== upload.received || offset + bytes.length > upload.size)
      throw new AppError(
        "CONFLICT",
        `The next byte is number ${upload.received} of ${upload.size}.`,
      );
    upload.received += bytes.length;
    // Each part opens the file again, so an abandoned upload leaks no file handle.
    const handle = await open(join(upload.folder, "file"), "r+");
    try {
      await handle.write(bytes, 0, bytes.length, offset);
    } finally {
      await handle.close();
    }
    return upload.received;
  }

  /** Calls `read` with a complete upload. Throws NOT_FOUND, and CONFLICT for an incomplete file. */
  async useUpload<T>(
    organizationId: string,
    id: string,
    read: (upload: { file: string; name: string; folder: string }) => Promise<T>,
  ): Promise<T> {
    const upload = this.#get(organizationId, id);
    if (upload.received < upload.size)
      throw new AppError("CONFLICT", "The file has not arrived completely.");
    if (upload.isInUse) throw new AppError("CONFLICT", "The file is being read already.");
    upload.isInUse = true;
    const { folder, name } = upload;
    try {
      return await this.#reading.run(organizationId, () =>
        read({ file: join(folder, "file"), name, folder }),
      );
    } finally {
      upload.isInUse = false;
    }
  }

  async removeUpload(organizationId: string, id: string) {
    this.#delete(this.#get(organizationId, id));
  }

  /** Removes all uploads. */
  removeAll() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #get(organizationId: string, id: string): Upload {
    const upload = this.#uploads.get(organizationId);
    if (upload?.id !== id)
      throw new AppError(
        "NOT_FOUND",
        "This upload has expired, was replaced, or is on another machine. Choose the file again.",
      );
    upload.touchedAt = this.#clock();
    return upload;
  }

  #delete({ organizationId, folder }: Upload) {
    this.#uploads.delete(organizationId);
    rmSync(folder, { recursive: true, force: true });
  }

  #removeOld() {
    for (const upload of this.#uploads.values())
      if (!upload.isInUse && this.#clock() - upload.touchedAt > hourMs) this.#delete(upload);
  }
}
