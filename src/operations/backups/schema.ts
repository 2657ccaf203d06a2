import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";

/** How much everything is. */
export const BackupOffer = z.object({
  /** Of the database as it lies on the disk; a copy is that large or smaller. */
  dataBytes: z.int(),
});
export type BackupOffer = z.infer<typeof BackupOffer>;

/** A copy that waits to be downloaded, once and by whoever had it made. */
export const MadeBackup = z.object({
  id: Id,
  fileName: z.string(),
  bytes: z.int(),
  expiresAt: Timestamp,
});
export type MadeBackup = z.infer<typeof MadeBackup>;
