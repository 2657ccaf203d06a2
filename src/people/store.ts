import { and, asc, eq, max, sql } from "drizzle-orm";
import { AppError } from "../base/errors.ts";
import type { Role } from "../base/roles.ts";
import { must, type Prepared, StaleRead, type Statement, type Store } from "../database/store.ts";
import { memberships, people, sessions } from "../database/tables.ts";

export type PersonRow = typeof people.$inferSelect;
export type MembershipRow = typeof memberships.$inferSelect;

export async function findPerson(store: Store, id: string): Promise<PersonRow | null> {
  const [row] = await store.db.select().from(people).where(eq(people.id, id));
  return row ?? null;
}

export async function findPersonByEmail(store: Store, emailKey: string): Promise<PersonRow | null> {
  const [row] = await store.db.select().from(people).where(eq(people.emailKey, emailKey));
  return row ?? null;
}

export async function isAnybodyThere(store: Store): Promise<boolean> {
  const rows = await store.query("SELECT 1 FROM people LIMIT 1", []);
  return rows.length > 0;
}

/** Holds while nobody signs in here yet. */
export function mustBeNobody(otherwise: () => AppError): Prepared {
  return must(sql`not exists (select 1 from ${people})`, otherwise);
}

/** Holds while this address is nobody's, but for this person's own. */
export function mustBeFree(emailKey: string, own = ""): Prepared {
  return must(
    sql`not exists (select 1 from ${people} where email_key = ${emailKey} and id <> ${own})`,
    () => new AppError("CONFLICT", "Somebody signs in with this e-mail address already."),
  );
}

export function addPerson(store: Store, row: PersonRow): Statement {
  return store.db.insert(people).values(row);
}

/** Changes the row if it still is the version that was read; else `retrying` reads it again. */
export function changePerson(store: Store, before: PersonRow, change: Partial<PersonRow>) {
  const { id, version } = before;
  return [
    must(
      sql`exists (select 1 from ${people} where id = ${id} and version = ${version})`,
      () => new StaleRead(),
    ),
    store.db
      .update(people)
      .set({ ...change, version: version + 1 })
      .where(eq(people.id, id)),
  ];
}

/** Removes somebody who belongs to no organization any more. */
export function removeIfAlone(store: Store, id: string): Statement {
  return store.db
    .delete(people)
    .where(
      and(
        eq(people.id, id),
        sql`not exists (select 1 from ${memberships} where person_id = ${id})`,
      ),
    );
}

export async function findMembership(
  store: Store,
  organizationId: string,
  personId: string,
): Promise<MembershipRow | null> {
  const [row] = await store.db.select().from(memberships).where(ofMember(organizationId, personId));
  return row ?? null;
}

function ofMember(organizationId: string, personId: string) {
  return and(eq(memberships.organizationId, organizationId), eq(memberships.personId, personId));
}

export async function organizationsOf(store: Store, personId: string): Promise<string[]> {
  const rows = await store.db
    .select({ id: memberships.organizationId })
    .from(memberships)
    .where(eq(memberships.personId, personId));
  return rows.map(({ id }) => id);
}

/** Makes somebody a member, if they are none yet. */
export function addMembership(store: Store, row: MembershipRow): Statement[] {
  const { organizationId, personId } = row;
  return [
    must(
      sql`not exists (select 1 from ${memberships} where ${ofMember(organizationId, personId)})`,
      alreadyMember,
    ),
    store.db.insert(memberships).values(row),
  ];
}

export function alreadyMember(): AppError {
  return new AppError("CONFLICT", "This person belongs to the organization already.");
}

export function changeRole(store: Store, organizationId: string, personId: string, role: Role) {
  return store.db.update(memberships).set({ role }).where(ofMember(organizationId, personId));
}

export function removeMembership(store: Store, organizationId: string, personId: string) {
  return store.db.delete(memberships).where(ofMember(organizationId, personId));
}

/** Holds while this membership is what was read; else `retrying` reads it again. */
export function mustStillBe({ organizationId, personId, role }: MembershipRow): Prepared {
  return must(
    sql`exists (select 1 from ${memberships}
      where organization_id = ${organizationId} and person_id = ${personId} and role = ${role})`,
    () => new StaleRead(),
  );
}

/** Holds where somebody owns the organization: the last statement of whatever may end that. */
export function mustHaveOwner(organizationId: string): Prepared {
  return must(
    sql`exists (select 1 from ${memberships}
      where organization_id = ${organizationId} and role = 'owner')`,
    () => new AppError("CONFLICT", "An organization needs an owner. Make somebody else one first."),
  );
}

/** The organization's people by name, or one of them. */
export async function membersOf(store: Store, organizationId: string, personId?: string) {
  const rows = await store.db
    .select({
      id: people.id,
      name: people.name,
      email: people.email,
      role: memberships.role,
      totpSecret: people.totpSecret,
      lastSeenAt: max(sessions.lastSeenAt),
    })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.personId))
    .leftJoin(sessions, eq(sessions.personId, people.id))
    .where(
      and(
        eq(memberships.organizationId, organizationId),
        ...(personId === undefined ? [] : [eq(people.id, personId)]),
      ),
    )
    .groupBy(people.id)
    .orderBy(asc(people.name), asc(people.id));
  return rows.map(({ totpSecret, ...row }) => ({ ...row, twoFactor: totpSecret !== null }));
}
