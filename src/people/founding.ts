import { timestamp } from "../base/clock.ts";
import { retrying, type Statement } from "../database/store.ts";
import type { Membership } from "../http/session.ts";
import type { PersonVisit, Visit } from "../http/visit.ts";
import { newOrganization } from "../organizations/service.ts";
import { addMembership } from "./store.ts";

/** A new organization with this person as its owner, and the statements that make it so. */
export async function founded(
  visit: Visit,
  name: string,
  owner: { id: string; name: string },
): Promise<{ organization: Membership; statements: Statement[] }> {
  const { organization, statements } = await newOrganization(visit, name, {
    actor: { type: "person", id: owner.id, name: owner.name },
    requestId: visit.requestId,
  });
  const { id, slug } = organization;
  const createdAt = timestamp(visit.clock());
  const role = "owner" as const;
  return {
    organization: { id, slug, name, timeZone: "UTC", role },
    statements: [
      ...statements,
      ...addMembership(visit.store, { organizationId: id, personId: owner.id, role, createdAt }),
    ],
  };
}

/** Makes a further organization, with whoever asks as its owner. */
export function foundOrganization(visit: PersonVisit, name: string): Promise<Membership> {
  return retrying(async () => {
    const { id, name: own } = visit.session.person;
    const { organization, statements } = await founded(visit, name, { id, name: own });
    await visit.store.atomic(statements);
    return organization;
  });
}
