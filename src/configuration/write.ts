/** Converts a plan to the statements of one write. */
import { type ChangedField, listChangedFields } from "../core/field-changes.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import { forEachYielding, mapYielding } from "../core/time/event-loop.ts";
import { guardVersion } from "../database/references.ts";
import { invalidFieldError } from "../core/validation.ts";
import { matchValues } from "../database/rows.ts";
import { splitIntoPortions, guardCondition, type Statement } from "../database/store.ts";
import { externalRecords } from "../database/tables/imports.ts";
import { guardFewDefaults } from "../alerting/channels/service.ts";
import {
  findPolicyUses,
  guardDistinctPolicies,
  guardPoliciesUnused,
  removeTargets,
} from "../alerting/policies/store.ts";
import { AppError } from "../core/errors.ts";
import { inUseError, type Use } from "../database/uses.ts";
import {
  buildAuditAndEvent,
  buildAuditsAndEvents,
  buildAuditRows,
  buildEvents,
} from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { buildRemovalStatements } from "../imports/remove.ts";
import { guardLimits, tableOf } from "../imports/records.ts";
import { configurationPrefix } from "../imports/store.ts";
import { assignMonitors, applyAllPauses, guardChannelLimit } from "../monitoring/groups/store.ts";
import {
  cycleIssue,
  guardDependencyLimit,
  guardNoCycle,
  replaceGroupDependencies,
  replaceMonitorDependencies,
} from "../monitoring/dependencies/store.ts";
import { removePolicyFrom, replaceMonitorChannels } from "../monitoring/monitors/store.ts";
import { releaseAddresses } from "../status-pages/store.ts";
import { type ConfigPlan, listSecrets, type Step } from "./plan.ts";
import { type Current, buildLinkStatement } from "./records.ts";
import { resources } from "./resources.ts";
import { type SectionName, sections } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";
import { type RemovableNoun, removableNouns } from "../imports/rules.ts";

/** Returns all statements of a plan. The caller adds audit entries and events for the returned monitor IDs. */
export async function buildStatements(scope: Scope, plan: ConfigPlan) {
  const { organizationId } = scope;
  const at = formatTimestamp(scope.clock());
  const { removed, released, dangling, source } = plan;
  const created = plan.steps.filter(({ record }) => record === null);
  const updated = plan.steps.filter(({ record, changed }) => record !== null && changed.length > 0);
  const listIds = (section: SectionName, all: readonly { id: string; section: SectionName }[]) =>
    all.filter((one) => one.section === section).map(({ id }) => id);
  const createdRecords = created.map(({ id, entry }) => ({ id, section: entry.section }));
  const newMonitorIds = listIds("monitors", createdRecords);
  const statements: Statement[] = [
    guardUnlinked(scope, plan),
    // Removals are first, because they also change records that refer to the removed ones.
    ...(await mapYielding(
      [...updated.flatMap(({ record }) => record ?? []), ...removed],
      (record) => guardUnchanged(scope, record),
    )),
  ];
  if (removed.length > 0) {
    const removedIds = Object.fromEntries(
      removableNouns.map((noun) => [noun, [] as string[]]),
    ) as Record<RemovableNoun, string[]>;
    for (const { section, id } of removed) removedIds[sections[section].noun].push(id);
    const monitorDeletion = { action: "monitor.deleted", subjectIds: removedIds.monitor } as const;
    statements.push(
      // `changePolicy` adds the targets again. A removed channel can be one of the earlier targets.
      removeTargets(
        scope,
        updated.flatMap(({ id, entry }) => (entry.section === "escalationPolicies" ? [id] : [])),
      ),
      ...buildAuditRows(scope, monitorDeletion, at),
      ...(await buildRemovalStatements(scope, removedIds, at)),
      ...buildEvents(scope, monitorDeletion, at),
    );
  }
  statements.push(...releaseAddresses(scope, listIdsOfMovedPages(updated)));
  await forEachYielding([...created, ...updated], (step) =>
    addStatements(scope, step, at, statements),
  );
  await forEachYielding(buildMemberships(scope, [...created, ...updated], at), (portion) => {
    statements.push(...portion);
  });
  for (const portion of buildDependencies(scope, [...created, ...updated]))
    statements.push(...portion);
  for (const section of [
    "alertChannels",
    "schedules",
    "escalationPolicies",
    "alertSources",
    "groups",
    "maintenanceWindows",
    "statusPages",
  ] as const) {
    const { action } = tableOf[sections[section].noun];
    const ids = listIds(section, createdRecords);
    if (ids.length > 0 && action !== "monitor")
      statements.push(
        ...buildAuditsAndEvents(scope, { action: `${action}.created`, subjectIds: ids }, at),
      );
  }
  await forEachYielding(updated, (step) => {
    const { entry, id } = step;
    statements.push(
      ...buildAuditAndEvent(
        scope,
        {
          action: `${tableOf[sections[entry.section].noun].action}.updated`,
          subjectId: id,
          fields: listAuditedFields(step),
        },
        at,
      ),
    );
  });
  await forEachYielding(plan.steps, (step) => {
    if (!isToLink(step)) return;
    const { entry, id, record, decided, isAdopted } = step;
    const adopted = isAdopted || record?.link?.adopted === true || record?.isDefaultPage === true;
    const { section, key } = entry;
    statements.push(
      buildLinkStatement(scope, { source, section, key, recordId: id, adopted }, decided),
    );
  });
  const unlinked = [...[...removed, ...released].flatMap(({ link }) => link ?? []), ...dangling];
  statements.push(
    ...(await mapYielding(unlinked, ({ noun, externalId, source: from }) =>
      scope.store.db
        .delete(externalRecords)
        .where(matchValues(externalRecords, { organizationId, source: from, noun, externalId })),
    )),
    ...(await applyAllPauses(scope, at, newMonitorIds)),
    ...splitIntoPortions(
      [...created, ...updated].filter(isMonitor).map(({ id }) => id),
      (portion) => [guardChannelLimit(scope, portion)],
    ),
    ...guardLimits(scope, at),
    guardFewDefaults(scope),
    ...guardDistinctPolicies(scope, createSharedPolicyError),
    ...(await guardRemovedPolicies(scope, plan)),
  );
  return { statements, newMonitorIds };
}

/** Returns the IDs of pages that change their slug or hosts, which other entries can name. */
const listIdsOfMovedPages = (updated: readonly Step[]): string[] =>
  updated.flatMap(({ id, entry, changed }) =>
    entry.section === "statusPages" && (changed.includes("slug") || changed.includes("hosts"))
      ? [id]
      : [],
  );

/** Maximum users of a policy in an error. */
const maxListedUses = 20;

/** Guards that no remaining record uses a removed policy. The error lists these records. */
async function guardRemovedPolicies(
  scope: Scope,
  { removed, steps }: ConfigPlan,
): Promise<Statement[]> {
  const policies = removed.filter(({ section }) => section === "escalationPolicies");
  const removedIds = new Set(removed.map(({ id }) => id));
  const inputs = new Map(steps.map(({ id, input }) => [id, input]));
  const uses: Use[] = [];
  for (const { id: policyId } of policies)
    for (const use of await findPolicyUses(scope, policyId, maxListedUses)) {
      const id = use.path.split("/")[1] ?? "";
      const { escalationPolicyId = policyId } = inputs.get(id) ?? {};
      if (!removedIds.has(id) && escalationPolicyId === policyId) uses.push(use);
    }
  return guardPoliciesUnused(
    scope,
    policies.map(({ id }) => id),
    () => inUseError("escalation policy", uses),
  );
}

const createSharedPolicyError = () =>
  new AppError(
    "CONFLICT",
    "At most one escalation policy can be the default, and each of incidentSeverities can belong to only one.",
  );
/** Returns the changed fields for the audit log. Secrets have no values. */
function listAuditedFields({ entry, record, input, changed }: Step): ChangedField[] {
  const secrets = new Set(["passwordHash", ...listSecrets(entry.section, input)]);
  const [hidden, shown] = [true, false].map((isHidden) =>
    changed.filter((name) => secrets.has(name) === isHidden),
  );
  return listChangedFields(record?.fields() ?? {}, input, shown ?? [], hidden);
}

/** Whether the entry is new or differs from its last applied state. The record itself can be up to date. */
const isToLink = ({ record, decided }: Step) => !Bun.deepEquals(record?.last() ?? null, decided);

/** Whether there is nothing to write. */
export async function isEmpty({ changes, dangling, steps }: ConfigPlan): Promise<boolean> {
  if (changes.length > 0 || dangling.length > 0) return false;
  return !(await mapYielding(steps, isToLink)).includes(true);
}

const pickFields = (from: Fields, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

const isMonitor = ({ entry }: Step) => entry.section === "monitors";

const guardUnchanged = ({ organizationId }: Scope, { section, row }: Current) =>
  guardVersion(tableOf[sections[section].noun].table, organizationId, row);

/** Guards that no other request has linked a record to one of the new keys. */
function guardUnlinked({ organizationId }: Scope, { source, steps, links }: ConfigPlan): Statement {
  const known = new Map(links.map((link) => [`${link.noun} ${link.externalId}`, link.recordId]));
  const newEntries = steps
    .filter(({ record }) => record?.link == null)
    .map(({ entry: { section, key } }) => {
      const { noun } = sections[section];
      return [noun, key, known.get(`${noun} ${key}`) ?? ""];
    });
  return guardCondition(
    `not exists (select 1 from json_each(?) wanted join external_records e
      on e.organization_id = ? and e.source = ? and e.noun = wanted.value ->> 0
        and e.external_id = wanted.value ->> 1
      where e.record_id <> wanted.value ->> 2)`,
    [JSON.stringify(newEntries), organizationId, `${configurationPrefix}${source}`],
  );
}

async function addStatements(scope: Scope, step: Step, at: string, statements: Statement[]) {
  const { entry, id, record, changed } = step;
  const resource = resources[entry.section];
  const row = record?.row ?? null;
  if (resource.sealSecrets !== undefined) {
    step.input = await resource.sealSecrets(scope, step.input, changed);
    step.decided = pickFields(step.input, Object.keys(step.decided));
  }
  statements.push(
    ...(row === null
      ? resource.create(scope, id, step.input, at)
      : resource.change(scope, row, step.input, at)),
  );
}

/** Links monitors and groups to the monitors on which they depend, once all of them exist. */
function* buildDependencies(scope: Scope, steps: readonly Step[]): Generator<Statement[]> {
  const replacers = { monitors: replaceMonitorDependencies, groups: replaceGroupDependencies };
  const linked = new Set<string>();
  let last: Step["entry"] | undefined;
  for (const { entry, id, record, input, changed } of steps) {
    if (entry.section !== "monitors" && entry.section !== "groups") continue;
    const parentIds = input["dependsOn"] as string[];
    if (record === null ? parentIds.length === 0 : !changed.includes("dependsOn")) continue;
    for (const parentId of parentIds) linked.add(parentId);
    last = entry;
    yield replacers[entry.section](scope, id, parentIds);
  }
  if (last === undefined) return;
  const { section, key } = last;
  // One search for all entries: each reads all dependencies above them.
  yield [
    guardDependencyLimit(scope.organizationId),
    guardNoCycle(scope.organizationId, [...linked], () =>
      invalidFieldError(`${section}.${key}.dependsOn`, cycleIssue),
    ),
  ];
}

/** Adds monitors to their groups, then sets their channels, because joining a group also adds channels. */
function* buildMemberships(
  scope: Scope,
  steps: readonly Step[],
  at: string,
): Generator<Statement[]> {
  const all = steps.filter(isMonitor);
  const joining = Map.groupBy(
    all.filter(({ record, input, changed }) =>
      record === null ? input["groupId"] !== null : changed.includes("groupId"),
    ),
    ({ input }) => input["groupId"] as string | null,
  );
  // An entry can name null for no policy. Joining a group would add the group's policy.
  const withoutPolicy = [...joining.values()]
    .flat()
    .filter(({ input }) => input["escalationPolicyId"] === null);
  const withChannels = all.filter(
    ({ entry, record }) => record === null || "alertChannels" in entry.fields,
  );
  for (const [groupId, groupMonitors] of joining) {
    const ids = groupMonitors.map(({ id }) => id);
    yield assignMonitors(scope, groupId, ids, "end", at);
  }
  if (withoutPolicy.length > 0)
    yield splitIntoPortions(
      withoutPolicy.map(({ id }) => id),
      (portion) => [removePolicyFrom(scope, portion)],
    );
  for (const { id, input } of withChannels)
    yield replaceMonitorChannels(scope, id, input["alertChannelIds"] as string[]);
}
