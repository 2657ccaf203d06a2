/** Reads and writes contact methods: alert channels that belong to a person. */
import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { contactBounds } from "../../core/limits.ts";
import { matchValues, removeRow, type Tenant } from "../../database/rows.ts";
import { guard, type Prepared, StaleRead, type Statement } from "../../database/store.ts";
import { alertChannels, deliveries } from "../../database/tables/alerting.ts";

/** Row of a channel that belongs to a person. */
export type ContactRow = typeof alertChannels.$inferSelect & { personId: string };

/** Lists the contact methods of people, in the order of each person. */
export async function findContactMethods(
  { store, organizationId }: Tenant,
  personIds: readonly string[],
): Promise<ContactRow[]> {
  const rows = await store.db
    .select()
    .from(alertChannels)
    .where(
      and(
        matchValues(alertChannels, { organizationId, personId: personIds }),
        isNotNull(alertChannels.personId),
      ),
    )
    .orderBy(asc(alertChannels.personId), asc(alertChannels.position), asc(alertChannels.id));
  return rows as ContactRow[];
}

/** Finds a contact method. Null also for an ordinary channel. */
export async function findContactMethod({ store, organizationId }: Tenant, id: string) {
  const [row] = await store.db
    .select()
    .from(alertChannels)
    .where(
      and(matchValues(alertChannels, { organizationId, id }), isNotNull(alertChannels.personId)),
    );
  return (row ?? null) as ContactRow | null;
}

/** Appends a contact method for its owner, who must be a member. */
export function insertContactMethod({ store }: Tenant, row: ContactRow): Statement[] {
  const { organizationId, personId } = row;
  const personMethodsSql = sql`${alertChannels} where organization_id = ${organizationId}
    and person_id = ${personId}`;
  const position = sql<number>`(select coalesce(max(position) + 1, 0) from ${personMethodsSql})`;
  return [
    store.db.insert(alertChannels).values({ ...row, position }),
    guard(
      sql`(select count(*) from ${personMethodsSql}) <= ${contactBounds.methods.value}`,
      () =>
        new AppError(
          "CONFLICT",
          `A person can have at most ${contactBounds.methods.value} contact methods.`,
        ),
    ),
  ];
}

/** Removes a contact method with its unfinished deliveries. */
export const removeContactMethod = (tenant: Tenant, id: string): Statement[] => [
  tenant.store.db
    .delete(deliveries)
    .where(
      and(
        matchValues(deliveries, { organizationId: tenant.organizationId, receiverId: id }),
        isNotNull(deliveries.dueAt),
      ),
    ),
  removeRow(tenant, alertChannels, id),
];

/** Counts a wrong code. Fails with StaleRead if another one was counted since the read. */
export const countWrongCode = ({ organizationId, id, codeAttempts }: ContactRow): Prepared[] => [
  guardCode({ organizationId, id, codeAttempts }),
  {
    text: `update alert_channels set code_attempts = coalesce(code_attempts, 0) + 1
      where organization_id = ? and id = ?`,
    parameters: [organizationId, id],
  },
];

const guardCode = ({
  organizationId,
  id,
  codeAttempts,
}: Pick<ContactRow, "organizationId" | "id" | "codeAttempts">): Prepared =>
  guard(
    sql`exists (select 1 from ${alertChannels} where organization_id = ${organizationId}
      and id = ${id} and code_attempts is ${codeAttempts})`,
    () => new StaleRead(),
  );

/** Stores the code that was sent last. Changes no version, because people can't see it. */
export const storeCode = (
  { store, organizationId }: Tenant,
  id: string,
  code: Pick<ContactRow, "codeHash" | "codeExpiresAt" | "codeAttempts">,
): Statement =>
  store.db
    .update(alertChannels)
    .set(code)
    .where(
      and(matchValues(alertChannels, { organizationId, id }), isNotNull(alertChannels.personId)),
    );

/** Sets the time of the verification, if the code is still the one that was checked. */
export const markVerified = ({ store }: Tenant, row: ContactRow): Statement[] => {
  const { organizationId, id, codeHash } = row;
  return [
    guard(
      sql`exists (select 1 from ${alertChannels} where organization_id = ${organizationId}
        and id = ${id} and code_hash = ${codeHash})`,
      () => new StaleRead(),
    ),
    guardCode(row),
    store.db
      .update(alertChannels)
      .set({
        verifiedAt: row.verifiedAt,
        codeHash: null,
        codeExpiresAt: null,
        codeAttempts: null,
        version: row.version,
        updatedAt: row.updatedAt,
      })
      .where(and(matchValues(alertChannels, { organizationId }), eq(alertChannels.id, id))),
  ];
};
