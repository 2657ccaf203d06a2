/** Manages the appliance as a whole: administrators, organizations and totals. */
import type { DatabaseNode } from "../../database/file/data-directory.ts";
import { readClusterStatus } from "../../cluster/status.ts";
import type { Actor } from "../../events/scope.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { retryOnStaleRead, type Statement, type Store } from "../../database/store.ts";
import { problemTitles } from "../../alerting/deciding/problem-titles.ts";
import { organizationProblems } from "../../core/problems.ts";
import { buildProblemKey, listOpenProblems, findStorageProblem } from "../../events/problems.ts";
import { appendEvent } from "../../events/log.ts";
import type { Membership } from "../../http/access/session.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import type { NewOrganization } from "../../accounts/organizations/schema.ts";
import { buildFoundation } from "../../accounts/people/service.ts";
import {
  findPerson,
  guardAdministratorsBelong,
  guardAdministrator,
  findOrganizationIds,
} from "../../accounts/people/store.ts";
import { buildAuditRows } from "../../accounts/sessions/service.ts";
import type { Administrator, ApplianceFigures, OrganizationEntry, Runtime } from "./schema.ts";
import {
  findAdministrators,
  closeOrganization,
  countAll,
  deletePeopleWithoutOrganization,
  guardAdministratorState,
  administratorGuard,
  findOrganizationEntries,
  setAdministrator,
  readDataBytes,
  readLoad,
} from "./store.ts";

/** Context of an action on the whole appliance, by an administrator or the command line. */
export type ApplianceContext = {
  store: Store;
  clock: Clock;
  requestId: string | null;
  actor: Actor;
};

export function createRunningContext({
  store,
  clock,
  requestId,
  session,
}: SignedInContext): ApplianceContext {
  const { id, name } = session.person;
  return { store, clock, requestId, actor: { type: "person", id, name } };
}

/** Guards that the actor still is an administrator at the time of the write. */
function guardActingAdministrator({ actor }: ApplianceContext): Statement[] {
  return actor.type === "person" && actor.id !== null ? [guardAdministrator(actor.id)] : [];
}

export function listAdministrators({ store }: ApplianceContext): Promise<Administrator[]> {
  return findAdministrators(store);
}

/** Makes a person an administrator. Throws NOT_FOUND, and CONFLICT if the person is one already. */
export async function grantAdministrator(
  scope: ApplianceContext,
  personId: string,
): Promise<Administrator> {
  const { store } = scope;
  const person = await findPerson(store, personId);
  if (person === null) throw new AppError("NOT_FOUND", "There is no person with this id.");
  const { id, name, email } = person;
  await store.atomic([
    ...guardActingAdministrator(scope),
    guardAdministratorState(
      id,
      false,
      () => new AppError("CONFLICT", "This person is already an administrator, or was removed."),
    ),
    setAdministrator(store, id, true),
    ...buildAuditRows(await findOrganizationIds(store, id), scope, scope.actor, {
      action: "person.administrator-granted",
      subjectId: id,
    }),
  ]);
  return { id, name, email };
}

/** Removes an administrator, which can be the actor. Throws NOT_FOUND, and CONFLICT for the last administrator. */
export async function revokeAdministrator(
  scope: ApplianceContext,
  personId: string,
): Promise<void> {
  const { store } = scope;
  await store.atomic([
    ...guardActingAdministrator(scope),
    guardAdministratorState(
      personId,
      true,
      () => new AppError("NOT_FOUND", "There is no administrator with this id."),
    ),
    setAdministrator(store, personId, false),
    administratorGuard,
    ...buildAuditRows(await findOrganizationIds(store, personId), scope, scope.actor, {
      action: "person.administrator-revoked",
      subjectId: personId,
    }),
  ]);
}

export function listOrganizationEntries({ store }: ApplianceContext): Promise<OrganizationEntry[]> {
  return findOrganizationEntries(store);
}

/** Creates another organization, with the actor as its owner. */
export function createOwnedOrganization(
  context: SignedInContext,
  { name, timeZone }: NewOrganization,
): Promise<Membership> {
  const { person } = context.session;
  return retryOnStaleRead(async () => {
    const { organization, statements } = await buildFoundation(context, name, person, timeZone);
    await context.store.atomic([
      ...guardActingAdministrator(createRunningContext(context)),
      ...statements,
    ]);
    return organization;
  });
}

/**
 * Deletes an organization. It disappears immediately, and its rows are removed within minutes.
 * People without another organization are deleted. Throws NOT_FOUND, and CONFLICT if an
 * administrator would belong to no organization.
 */
export async function deleteOrganization(
  scope: ApplianceContext,
  organizationId: string,
): Promise<void> {
  const { store, clock, actor } = scope;
  const at = formatTimestamp(clock());
  const type = "organization.deleted";
  const others = actor.id === null ? [] : await findOrganizationIds(store, actor.id);
  await store.atomic([
    ...guardActingAdministrator(scope),
    ...closeOrganization(organizationId, at),
    guardAdministratorsBelong(
      () =>
        new AppError(
          "CONFLICT",
          "An administrator of this appliance belongs only to this organization. That person must join another one first, or stop being an administrator.",
        ),
    ),
    deletePeopleWithoutOrganization,
    appendEvent({ organizationId, at, type, subjectId: organizationId }),
    ...buildAuditRows(
      others.filter((id) => id !== organizationId),
      scope,
      actor,
      { action: type, subjectId: organizationId },
    ),
  ]);
}

export type FigureDependencies = {
  /** Returns the nodes of the database cluster; empty for a database in a file. Throws UNAVAILABLE. */
  databaseNodes: () => Promise<DatabaseNode[]>;
  readRuntime: () => Runtime;
};

export async function readFigures(
  context: Pick<SignedInContext, "store" | "clock"> & FigureDependencies,
): Promise<ApplianceFigures> {
  const { store } = context;
  const storage = findStorageProblem(store);
  const open = [...(storage === null ? [] : [storage]), ...(await listOpenProblems(store))];
  // Each organization stores its own copy of an appliance problem.
  const applianceProblems = open.filter(({ name }) => !organizationProblems.has(name));
  const problems = new Map(
    applianceProblems.toReversed().map((one) => [buildProblemKey(one), one]),
  );
  return {
    dataBytes: await readDataBytes(store),
    ...(await countAll(store)),
    ...(await readLoad(store)),
    runtime: context.readRuntime(),
    problems: [...problems.values()].toReversed().map(({ name, message, severity, since }) => ({
      name,
      title: problemTitles[name].start,
      message,
      severity,
      since,
    })),
    cluster: await readClusterStatus(context),
  };
}
