import { bytesOf } from "../appliance/store.ts";
import { AppError } from "../../core/errors.ts";
import type { Backups } from "./downloads.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { auditOfPerson } from "../../accounts/sessions/service.ts";
import type { BackupOffer, MadeBackup, NewBackup } from "./schema.ts";

export type BackupDependencies = {
  backups: Backups;
  /** Creates a scheduled backup now. Throws CONFLICT, and UNAVAILABLE with the reason. */
  runScheduledBackup: () => Promise<void>;
};

export async function offerBackup({ store }: SignedInContext): Promise<BackupOffer> {
  return { dataBytes: await bytesOf(store) };
}

/** Creates a copy to download. Throws CONFLICT while another backup is in progress, UNAVAILABLE. */
export function makeBackup(
  { session }: SignedInContext,
  backups: Backups,
  { passphrase, includeKey }: NewBackup,
): Promise<MadeBackup> {
  const sealing = passphrase === null ? null : { passphrase, withKey: includeKey };
  return backups.make(session.person.id, sealing);
}

/** Streams a copy once, while the session has the permission. Throws NOT_FOUND. */
export async function takeBackup(
  context: SignedInContext,
  backups: Backups,
  id: string,
): Promise<Response> {
  const { person, id: sessionId } = context.session;
  const mayGoOn = () => context.sessions.isStillOpen(sessionId, (now) => now.person.administrator);
  const taken = backups.take(person.id, id, mayGoOn);
  if (taken === null)
    throw new AppError(
      "NOT_FOUND",
      "This backup has already been downloaded or has expired. Create another one.",
    );
  await context.store.atomic(auditOfPerson(context, "backup.downloaded"));
  return new Response(taken.bytes, {
    headers: {
      "Content-Type": taken.backup.fileName.endsWith(".db")
        ? "application/vnd.sqlite3"
        : "application/octet-stream",
      "Content-Disposition": `attachment; filename="${taken.backup.fileName}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}
