import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";

/** Size of a backup that an administrator can download. */
export const BackupOffer = z.object({
  /** Size of the database on disk: the maximum size of a copy. */
  dataBytes: z.int(),
});
export type BackupOffer = z.infer<typeof BackupOffer>;

/** The passphrase with which a backup is encrypted. */
export const Passphrase = z.string().min(12).max(1_000).meta({ writeOnly: true });

/** A backup to create: plain, or encrypted with a passphrase and optionally with `secret.key`. */
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

/** A copy that the person who requested it can download once. */
export const CreatedBackup = z.object({
  id: Id,
  fileName: z.string(),
  bytes: z.int(),
  expiresAt: Timestamp,
});
export type CreatedBackup = z.infer<typeof CreatedBackup>;
