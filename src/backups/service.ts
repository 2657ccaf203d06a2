import { bytesOf } from "../about/store.ts";
import { AppError } from "../base/errors.ts";
import type { Backups } from "../http/call.ts";
import type { PersonVisit } from "../http/visit.ts";
import { traceOfPerson } from "../sessions/trace.ts";
import type { BackupOffer, MadeBackup } from "./schema.ts";
import { isAnyNotOwnedBy } from "./store.ts";

/** The database holds all organizations alike: it is for whoever owns every one of them. */
async function ownsEverything({ store, session }: PersonVisit): Promise<boolean> {
  return !(await isAnyNotOwnedBy(store, session.person.id));
}

export async function offerBackup(visit: PersonVisit): Promise<BackupOffer> {
  return { allowed: await ownsEverything(visit), dataBytes: await bytesOf(visit.store) };
}

/** Throws FORBIDDEN, CONFLICT while another one is being made, UNAVAILABLE. */
export async function makeBackup(visit: PersonVisit, backups: Backups): Promise<MadeBackup> {
  if (await ownsEverything(visit)) return backups.make(visit.session.person.id);
  throw new AppError(
    "FORBIDDEN",
    "A backup holds every organization of this appliance: it is for those who own all of them.",
  );
}

/** The copy as a download, this one time. Throws NOT_FOUND. */
export async function takeBackup(
  visit: PersonVisit,
  backups: Backups,
  id: string,
): Promise<Response> {
  const taken = (await ownsEverything(visit)) ? backups.take(visit.session.person.id, id) : null;
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
