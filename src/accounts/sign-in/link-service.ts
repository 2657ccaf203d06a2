/** Links of the command line that sign a person in once, if no other way works. */
import { and, eq, gt, sql } from "drizzle-orm";
import type { Scope } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { createToken, sha256 } from "../../core/ids.ts";
import { formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import { guard, retryOnStaleRead } from "../../database/store.ts";
import { people, signInLinks } from "../../database/tables/accounts.ts";
import { tryWithLimits } from "../../http/access/attempt-limits.ts";
import { directWay } from "../../http/access/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { findOrganizationIds, type PersonRow } from "../people/store.ts";
import { buildAuditRows } from "../sessions/service.ts";
import type { Stage } from "./schema.ts";
import { startSession } from "./service.ts";

export const linkMinutes = 15;

/** Creates the token of a link, and revokes the person's earlier link. */
export async function createSignInLink(
  scope: Pick<Scope, "store" | "clock" | "actor" | "requestId">,
  { id }: Pick<PersonRow, "id">,
): Promise<string> {
  const { store, clock, actor } = scope;
  const token = createToken(43);
  const expiresAt = formatTimestamp(clock() + linkMinutes * minuteMs);
  await store.atomic([
    store.db.delete(signInLinks).where(eq(signInLinks.personId, id)),
    store.db.insert(signInLinks).values({ tokenHash: sha256(token), personId: id, expiresAt }),
    ...buildAuditRows(await findOrganizationIds(store, id), scope, actor, {
      action: "person.sign-in-link-created",
      subjectId: id,
    }),
  ]);
  return token;
}

/**
 * Signs in with a link, without password and second factor: only the operator of the machine can
 * create one. Throws NOT_FOUND for a wrong, used or expired link, RATE_LIMITED.
 */
export const signInByLink = (context: VisitorContext, token: string): Promise<Stage> =>
  retryOnStaleRead(() => useLink(context, token));

async function useLink(context: VisitorContext, token: string): Promise<Stage> {
  const { store, clock } = context;
  const createExpiredError = () =>
    new AppError(
      "NOT_FOUND",
      "This sign-in link was used, or it has expired. Create a new one with signalbox users sign-in-link EMAIL.",
    );
  const isValidLink = and(
    eq(signInLinks.tokenHash, sha256(token)),
    gt(signInLinks.expiresAt, formatTimestamp(clock())),
  );
  const person = await tryWithLimits(context, async () => {
    const [row] = await store.db
      .select({ person: people })
      .from(signInLinks)
      .innerJoin(people, eq(people.id, signInLinks.personId))
      .where(isValidLink);
    return row?.person ?? null;
  });
  if (person === null) throw createExpiredError();
  const used = [
    guard(sql`exists (select 1 from ${signInLinks} where ${isValidLink})`, createExpiredError),
    store.db.delete(signInLinks).where(isValidLink),
  ];
  return startSession(context, person, "signed-in", used, directWay);
}
