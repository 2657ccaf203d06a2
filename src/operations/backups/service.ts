import { readDataBytes } from "../appliance/store.ts";
import { AppError } from "../../core/errors.ts";
import type { Backups } from "./downloads.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { buildPersonAudit } from "../../accounts/sessions/service.ts";
import type { BackupOffer, CreatedBackup, NewBackup } from "./schema.ts";

export type BackupDependencies = {
  backups: Backups;
  /** Creates a scheduled backup now. Throws CONFLICT, and UNAVAILABLE with the reason. */
  runScheduledBackup: () => Promise<void>;
};

export async function offerBackup({ store }: SignedInContext): Promise<BackupOffer> {
  return { dataBytes: await readDataBytes(store) };
}

/** Creates a copy to download. Throws CONFLICT while another backup is in progress, UNAVAILABLE. */
export function makeBackup(
  { session }: SignedInContext,
  backups: Backups,
  { passphrase, includeKey }: NewBackup,
): Promise<CreatedBackup> {
  const sealing = passphrase === null ? null : { passphrase, withKey: includeKey };
  return backups.createBackup(session.person.id, sealing);
}

/** Streams a copy once, while the session has the permission. Throws NOT_FOUND. */
export async function downloadBackup(
  context: SignedInContext,
  backups: Backups,
  id: string,
): Promise<Response> {
  const { person, id: sessionId } = context.session;
  const canContinue = () =>
    context.sessions.isStillOpen(sessionId, (now) => now.person.administrator);
  const download = backups.take(person.id, id, canContinue);
  if (download === null)
    throw new AppError(
      "NOT_FOUND",
      "This backup has already been downloaded or has expired. Create another one.",
    );
  await context.store.atomic(buildPersonAudit(context, "backup.downloaded"));
  return new Response(download.bytes, {
    headers: {
      "Content-Type": download.backup.fileName.endsWith(".db")
        ? "application/vnd.sqlite3"
        : "application/octet-stream",
      "Content-Disposition": `attachment; filename="${download.backup.fileName}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}
