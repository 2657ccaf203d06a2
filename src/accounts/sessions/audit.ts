import { auditAndEvent, type AuditedChange } from "../../events/commit.ts";
import type { AuditAction } from "../../events/catalogue.ts";
import type { Actor } from "../../events/scope.ts";
import { timestamp } from "../../core/clock.ts";
import type { Statement } from "../../database/store.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";

/** The audit rows and events of what somebody does that belongs to no organization: they stand in each of these. */
export function auditIn(
  organizationIds: readonly string[],
  { clock, requestId }: Pick<VisitorContext, "clock"> & { requestId: string | null },
  actor: Actor,
  change: AuditedChange,
): Statement[] {
  const at = timestamp(clock());
  return organizationIds.flatMap((organizationId) =>
    auditAndEvent({ organizationId, actor, requestId }, change, at),
  );
}

/** The same for the person whose session it is. */
export function auditOfPerson(
  context: SignedInContext,
  action: AuditAction & `${"person" | "backup"}.${string}`,
  fields?: readonly string[],
): Statement[] {
  const { person, organizations } = context.session;
  return auditIn(
    organizations.map(({ id }) => id),
    context,
    { type: "person", id: person.id, name: person.name },
    { action, subjectId: person.id, ...(fields && { fields }) },
  );
}
