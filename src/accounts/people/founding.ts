import { timestamp } from "../../core/clock.ts";
import type { Statement } from "../../database/store.ts";
import type { Membership } from "../../http/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { newOrganization } from "../organizations/service.ts";
import { addMembership } from "./store.ts";

/** A new organization with this person as its owner, and the statements that make it so. */
export async function founded(
  context: VisitorContext,
  name: string,
  owner: { id: string; name: string },
): Promise<{ organization: Membership; statements: Statement[] }> {
  const { organization, statements } = await newOrganization(context, name, {
    actor: { type: "person", id: owner.id, name: owner.name },
    requestId: context.requestId,
  });
  const { id, slug } = organization;
  const createdAt = timestamp(context.clock());
  const role = "owner" as const;
  return {
    organization: { id, slug, name, timeZone: "UTC", role },
    statements: [
      ...statements,
      ...addMembership(context.store, { organizationId: id, personId: owner.id, role, createdAt }),
    ],
  };
}
