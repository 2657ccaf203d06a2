/** Queries and statements of people and their memberships. */
import { and, asc, eq, max, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { matchValues, type Tenant, buildFirstVersion } from "../../database/rows.ts";
import {
  guard,
  type Prepared,
  StaleRead,
  type Statement,
  type Store,
} from "../../database/store.ts";
import { alertChannels, deliveries } from "../../database/tables/alerting.ts";
import {
  identities,
  memberships,
  passkeys,
  people,
  sessions,
} from "../../database/tables/accounts.ts";
import { organizations } from "../../database/tables/organizations.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import { emailKeyOf, hasTwoFactor, findPasswordIssue } from "./rules.ts";

export type PersonRow = typeof people.$inferSelect;
/** A new person. The insert itself decides whether the person becomes an administrator. */
type NewPersonRow = Omit<PersonRow, "administrator" | keyof typeof noWrongCodes>;
export type MembershipRow = typeof memberships.$inferSelect;
type NewMembershipRow = Omit<MembershipRow, "drill" | "drillDueAt">;

export async function findPerson(store: Store, id: string): Promise<PersonRow | null> {
  const [row] = await store.db.select().from(people).where(eq(people.id, id));
  return row ?? null;
}

/** Finds all people with this address, in any organization, oldest first. */
export function findPeopleByEmail(store: Store, emailKey: string): Promise<PersonRow[]> {
  return store.db
    .select()
    .from(people)
    .where(eq(people.emailKey, emailKey))
    .orderBy(asc(people.createdAt), asc(people.id));
}

/** Finds the member of this organization with this address. */
export async function findMemberByEmail({ store, organizationId }: Tenant, emailKey: string) {
  const [row] = await store.db
    .select({ person: people })
    .from(people)
    .innerJoin(memberships, eq(memberships.personId, people.id))
    .where(and(eq(people.emailKey, emailKey), matchValues(memberships, { organizationId })));
  return row?.person ?? null;
}

export async function hasPeople(store: Store): Promise<boolean> {
  const rows = await store.query("SELECT 1 FROM people LIMIT 1", []);
  return rows.length > 0;
}

/** Guards that the appliance has no people yet. */
export function guardNoPeople(otherwise: () => AppError): Prepared {
  return guard(sql`not exists (select 1 from ${people})`, otherwise);
}

/**
 * Guards that no other member of the person's organizations has this address. People of other
 * organizations can have it.
 */
export function guardFreeEmail(personId: string, emailKey: string): Prepared {
  return guard(
    sql`not exists (select 1 from ${memberships} own
      join ${memberships} other on other.organization_id = own.organization_id
      join ${people} p on p.id = other.person_id
      where own.person_id = ${personId} and p.id <> ${personId} and p.email_key = ${emailKey})`,
    () =>
      new AppError(
        "CONFLICT",
        "Someone in one of your organizations already signs in with this e-mail address.",
      ),
  );
}

/** Guards that no other person has both this address and this password, because only one of them could sign in. */
export function guardDistinctPassword({
  id,
  emailKey,
  passwordHash,
}: Pick<PersonRow, "id" | "emailKey" | "passwordHash">): Prepared {
  return guard(
    sql`not exists (select 1 from ${people} where email_key = ${emailKey}
      and password_hash = ${passwordHash} and id <> ${id})`,
    () =>
      invalidFieldError("password", "can't be this one with this e-mail address: choose another"),
  );
}

/** Adds a person. The person becomes an administrator if the appliance has none. */
function addPerson(store: Store, row: NewPersonRow): Statement {
  const administrator = sql<boolean>`not exists (select 1 from people where administrator)`;
  return store.db.insert(people).values({ ...row, administrator });
}

/** Guards that this person still is an administrator. */
export function guardAdministrator(personId: string): Prepared {
  return guard(
    sql`exists (select 1 from ${people} where id = ${personId} and administrator)`,
    () => new AppError("FORBIDDEN", "You are no longer an administrator of the appliance."),
  );
}

/** Guards that every administrator belongs to an organization. Append it to writes that end a membership. */
export function guardAdministratorsBelong(otherwise: () => AppError): Prepared {
  return guard(
    sql`not exists (select 1 from ${people} p where p.administrator
      and not exists (select 1 from ${memberships} where person_id = p.id))`,
    otherwise,
  );
}

/** Guards that the person's address is unchanged since it was read; otherwise `retryOnStaleRead` repeats the use case. */
export function guardSignInAddress({ id, emailKey }: PersonRow): Prepared {
  return guard(
    sql`exists (select 1 from ${people} where id = ${id} and email_key = ${emailKey})`,
    () => new StaleRead(),
  );
}

/** Columns that clear the report of wrong two-factor codes. */
export const noWrongCodes = {
  wrongCodes: 0,
  wrongCodeAt: null,
  wrongCodeSince: null,
  wrongCodeFrom: null,
};

/**
 * Returns statements that change a person, guarded by the version that was read. If it is stale,
 * `retryOnStaleRead` repeats the use case.
 */
export function changePerson(store: Store, before: PersonRow, change: Partial<PersonRow>) {
  const { id, version } = before;
  return [
    guardPersonUnchanged(before),
    store.db
      .update(people)
      .set({ ...change, version: version + 1 })
      .where(eq(people.id, id)),
  ];
}

/** Guards that password, factors and address of the person have not changed since they were read. */
export const guardPersonUnchanged = ({
  id,
  version,
}: Pick<PersonRow, "id" | "version">): Prepared =>
  guard(
    sql`exists (select 1 from ${people} where id = ${id} and version = ${version})`,
    () => new StaleRead(),
  );

/** Guards that the person has a way to sign in. Append it to writes that remove one. */
export function guardCanSignIn(personId: string): Prepared {
  return guard(
    sql`exists (select 1 from ${people} where id = ${personId} and has_password)
      or exists (select 1 from ${identities} where person_id = ${personId})
      or exists (select 1 from ${passkeys} where person_id = ${personId})`,
    () =>
      new AppError(
        "CONFLICT",
        "You have no other way to sign in. Ask an administrator for a password first.",
      ),
  );
}

/** Removes all passkeys of a person. */
export function removePasskeys(store: Store, personId: string): Statement {
  return store.db.delete(passkeys).where(eq(passkeys.personId, personId));
}

/** Deletes a person without an organization. */
export function removeIfAlone(store: Store, id: string): Statement {
  const isAlone = sql`not exists (select 1 from ${memberships} where person_id = ${id})`;
  return store.db.delete(people).where(and(eq(people.id, id), isAlone));
}

export async function findMembership({ store, organizationId }: Tenant, personId: string) {
  const where = matchValues(memberships, { organizationId, personId });
  const [row] = await store.db.select().from(memberships).where(where);
  return row ?? null;
}

export async function findOrganizationIds(store: Store, personId: string): Promise<string[]> {
  const rows = await store.db
    .select({ id: memberships.organizationId })
    .from(memberships)
    .where(eq(memberships.personId, personId));
  return rows.map(({ id }) => id);
}

/** Returns the slugs of a person's organizations. */
export async function findOrganizationSlugs(store: Store, personId: string): Promise<string[]> {
  const rows = await store.db
    .select({ slug: organizations.slug })
    .from(organizations)
    .innerJoin(memberships, eq(memberships.organizationId, organizations.id))
    .where(eq(memberships.personId, personId))
    .orderBy(asc(organizations.slug));
  return rows.map(({ slug }) => slug);
}

/**
 * Returns statements that add a member, guarded that neither the person nor another person with the
 * address is a member.
 */
export function addMembership(store: Store, row: NewMembershipRow): Statement[] {
  const { organizationId, personId } = row;
  return [
    guard(
      sql`not exists (select 1 from ${memberships} m join ${people} p on p.id = m.person_id
        where m.organization_id = ${organizationId}
          and p.email_key = (select email_key from ${people} where id = ${personId}))`,
      createAlreadyMemberError,
    ),
    store.db.insert(memberships).values(row),
  ];
}

export function createAlreadyMemberError(): AppError {
  return new AppError("CONFLICT", "This person already belongs to the organization.");
}

export function changeRights(
  { store, organizationId }: Tenant,
  personId: string,
  rights: Pick<MembershipRow, "role" | "groupIds">,
) {
  const where = matchValues(memberships, { organizationId, personId });
  return store.db.update(memberships).set(rights).where(where);
}

export async function findContactMethodIds({ store, organizationId }: Tenant, personId: string) {
  const where = matchValues(alertChannels, { organizationId, personId });
  const rows = await store.db.select({ id: alertChannels.id }).from(alertChannels).where(where);
  return rows.map(({ id }) => id);
}

/** Removes a member with their contact methods and the unfinished deliveries to these. */
export function removeMembership({ store, organizationId }: Tenant, personId: string): Statement[] {
  const personMatch = matchValues(alertChannels, { organizationId, personId });
  return [
    sql`delete from ${deliveries} where organization_id = ${organizationId}
      and due_at is not null and receiver_id in (select id from ${alertChannels} where ${personMatch})`,
    store.db.delete(alertChannels).where(personMatch),
    store.db.delete(memberships).where(matchValues(memberships, { organizationId, personId })),
  ];
}

/** Guards that a membership is unchanged since it was read; otherwise `retryOnStaleRead` repeats the use case. */
export function guardMembershipUnchanged({
  organizationId,
  personId,
  role,
  groupIds,
}: MembershipRow): Prepared {
  const limit = groupIds === null ? null : JSON.stringify(groupIds);
  return guard(
    sql`exists (select 1 from ${memberships} where organization_id = ${organizationId}
      and person_id = ${personId} and role = ${role} and group_ids is ${limit})`,
    () => new StaleRead(),
  );
}

/** Guards that the organization has an owner. Append it to writes that can remove one. */
export function guardHasOwner(organizationId: string): Prepared {
  return guard(
    sql`exists (select 1 from ${memberships}
      where organization_id = ${organizationId} and role = 'owner')`,
    () =>
      new AppError(
        "CONFLICT",
        "An organization needs an owner. Make another person an owner first.",
      ),
  );
}

/** Returns the names of members by ID. */
export async function findMemberNames({ store, organizationId }: Tenant, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>();
  const rows = await store.query<{ id: string; name: string }>(
    `select p.id, p.name from memberships m join people p on p.id = m.person_id
      where m.organization_id = ? and m.person_id in (select value from json_each(?))`,
    [organizationId, JSON.stringify([...new Set(ids)])],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

type MemberAddress = { email: string; groupIds: readonly string[] | null };

/**
 * Finds the addresses of these people, and the monitor groups to which they are limited. Omits people who are not members
 * of the organization.
 */
export async function findMemberAddresses(
  { store, organizationId }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MemberAddress>> {
  if (ids.length === 0) return new Map();
  const rows = await store.query<{ id: string; email: string; groupIds: string | null }>(
    `select p.id, p.email, case when m.role in ('viewer', 'member') then m.group_ids end as "groupIds"
     from memberships m join people p on p.id = m.person_id
     where m.organization_id = ? and p.id in (select value from json_each(?))`,
    [organizationId, JSON.stringify(ids)],
  );
  return new Map(
    rows.map(({ id, email, groupIds }) => [
      id,
      { email, groupIds: groupIds === null ? null : (JSON.parse(groupIds) as string[]) },
    ]),
  );
}

/** Lists the organization's members by name, or only one of them. */
export async function listMembers({ store, organizationId }: Tenant, personId?: string) {
  const rows = await store.db
    .select({
      id: people.id,
      name: people.name,
      email: people.email,
      role: memberships.role,
      groupIds: memberships.groupIds,
      administrator: people.administrator,
      totpSecret: people.totpSecret,
      passkeyFactor: people.passkeyFactor,
      lastSeenAt: max(sessions.lastSeenAt),
    })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.personId))
    .leftJoin(sessions, eq(sessions.personId, people.id))
    .where(matchValues(memberships, { organizationId, personId }))
    .groupBy(people.id)
    .orderBy(asc(people.name), asc(people.id));
  return rows.map(({ totpSecret, passkeyFactor, ...row }) => ({
    ...row,
    twoFactor: hasTwoFactor({ totpSecret, passkeyFactor }),
  }));
}

export type NewPerson = { name: string; email: string; password: string };

/** Returns the row of a new person and the statements that add it. Check the password's strength before hashing it. */
export function buildNewPerson(
  { store, clock }: { store: Store; clock: Clock },
  { name, email }: Omit<NewPerson, "password">,
  passwordHash: string,
  hasPassword = true,
): { id: string; row: NewPersonRow; statements: Statement[] } {
  const now = clock();
  const at = formatTimestamp(now);
  const row: NewPersonRow = {
    id: createId(now),
    name,
    email,
    emailKey: emailKeyOf(email),
    passwordHash,
    hasPassword,
    timeZone: null,
    hourCycle: "h23",
    language: null,
    totpSecret: null,
    totpPending: null,
    totpStep: 0,
    passkeyFactor: false,
    ...buildFirstVersion(at),
  };
  return { id: row.id, row, statements: [guardDistinctPassword(row), addPerson(store, row)] };
}

/** Throws VALIDATION_ERROR for a password that is common or equal to a known text about the person. */
export function assertStrongPassword(password: string, known: readonly string[]) {
  const issue = findPasswordIssue(password, known);
  if (issue !== null) throw invalidFieldError("password", issue);
}
