import { bytesOf } from "../about/store.ts";
import { AppError } from "../../core/errors.ts";
import type { Backups } from "../../http/call.ts";
import type { Sessions } from "../../http/session.ts";
import type { PersonVisit } from "../../http/visit.ts";
import { traceOfPerson } from "../../accounts/sessions/trace.ts";
import type { BackupOffer, MadeBackup } from "./schema.ts";

export async function offerBackup({ store }: PersonVisit): Promise<BackupOffer> {
  return { dataBytes: await bytesOf(store) };
}

/** Throws CONFLICT while another one is being made, UNAVAILABLE. */
export function makeBackup({ session }: PersonVisit, backups: Backups): Promise<MadeBackup> {
  return backups.make(session.person.id);
}

/** The copy as a download, this one time; it ends where the person's session or their right to it does. Throws NOT_FOUND. */
export async function takeBackup(
  visit: PersonVisit,
  { backups, sessions }: { backups: Backups; sessions: Sessions },
  id: string,
): Promise<Response> {
  const { person, id: sessionId } = visit.session;
  const mayGoOn = () => sessions.isStillOpen(sessionId, (now) => now.person.administrator);
  const taken = backups.take(person.id, id, mayGoOn);
  if (taken === null)
    throw new AppError("NOT_FOUND", "This backup was downloaded already or is over. Make another.");
  await visit.store.atomic(traceOfPerson(visit, "backup.downloaded"));
  return new Response(taken.bytes, {
    headers: {
      "Content-Type": "application/vnd.sqlite3",
      "Content-Disposition": `attachment; filename="${taken.backup.fileName}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}
