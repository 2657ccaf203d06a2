import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";

/** How much everything is. */
export const BackupOffer = z.object({
  /** Of the database as it lies on the disk; a copy is that large or smaller. */
  dataBytes: z.int(),
});
export type BackupOffer = z.infer<typeof BackupOffer>;

/** Under which a backup is encrypted. */
export const Passphrase = z.string().min(12).max(1_000).meta({ writeOnly: true });

/** How a backup is to be made: in the clear, or under a passphrase, which may have `secret.key` in it, too. */
export const NewBackup = z
  .strictObject({
    passphrase: Passphrase.nullable().default(null),
    includeKey: z.boolean().default(false),
  })
  .refine(({ passphrase, includeKey }) => passphrase !== null || !includeKey, {
    path: ["includeKey"],
    message: "needs a passphrase: the key opens everything",
  });
export type NewBackup = z.infer<typeof NewBackup>;

/** A copy that waits to be downloaded, once and by whoever had it made. */
export const MadeBackup = z.object({
  id: Id,
  fileName: z.string(),
  bytes: z.int(),
  expiresAt: Timestamp,
});
export type MadeBackup = z.infer<typeof MadeBackup>;
