/** Converts a plan to the statements of one write. */
import { timestamp } from "../core/time/clock.ts";
import { eachYielding, mapYielding } from "../core/time/yielding.ts";
import { mustBeUnchanged } from "../database/references.ts";
import { matching } from "../database/rows.ts";
import { inPortions, mustText, StaleRead, type Statement } from "../database/store.ts";
import { externalRecords } from "../database/tables/imports.ts";
import { guardFewDefaults } from "../alerting/channels/service.ts";
import { auditAndEvent, auditAndEventEach, auditEach, eventEach } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { removalStatements } from "../imports/remove.ts";
import { mustFit, tableOf } from "../imports/records.ts";
import { configurationPrefix } from "../imports/store.ts";
import {
  assignMonitors,
  followAllPauses,
  mustHaveFewChannels,
} from "../monitoring/groups/store.ts";
import { replaceMonitorChannels } from "../monitoring/monitors/store.ts";
import type { ConfigPlan, Step } from "./plan.ts";
import { type Current, linkStatement } from "./records.ts";
import { resources } from "./resources.ts";
import { type SectionName, sections } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";
import { type Noun, nouns } from "../imports/rules.ts";

/** Returns all statements of a plan. The caller adds audit entries and events for the returned monitor IDs. */
export async function statementsOf(scope: Scope, plan: ConfigPlan) {
  const { organizationId } = scope;
  const at = timestamp(scope.clock());
  const { removed, released, dangling, source } = plan;
  const created = plan.steps.filter(({ record }) => record === null);
  const updated = plan.steps.filter(({ record, changed }) => record !== null && changed.length > 0);
  const idsOf = (section: SectionName, all: readonly { id: string; section: SectionName }[]) =>
    all.filter((one) => one.section === section).map(({ id }) => id);
  const its = created.map(({ id, entry }) => ({ id, section: entry.section }));
  const newMonitorIds = idsOf("monitors", its);
  const statements: Statement[] = [
    mustBeUnlinked(scope, plan),
    // Removals are first, because they also change records that refer to the removed ones.
    ...(await mapYielding(
      [...updated.flatMap(({ record }) => record ?? []), ...removed],
      (record) => guard(scope, record),
    )),
  ];
  if (removed.length > 0) {
    const gone = Object.fromEntries(nouns.map((noun) => [noun, [] as string[]])) as Record<
      Noun,
      string[]
    >;
    for (const { section, id } of removed) gone[sections[section].noun].push(id);
    const ofMonitors = { action: "monitor.deleted", subjectIds: gone.monitor } as const;
    statements.push(
      ...auditEach(scope, ofMonitors, at),
      ...(await removalStatements(scope, gone, at)),
      ...eventEach(scope, ofMonitors, at),
    );
  }
  await eachYielding([...created, ...updated], (step) => write(scope, step, at, statements));
  await eachYielding(memberships(scope, [...created, ...updated], at), (some) => {
    statements.push(...some);
  });
  for (const section of ["alertChannels", "groups", "maintenanceWindows", "statusPages"] as const) {
    const { action } = tableOf[sections[section].noun];
    const ids = idsOf(section, its);
    if (ids.length > 0 && action !== "monitor")
      statements.push(
        ...auditAndEventEach(scope, { action: `${action}.created`, subjectIds: ids }, at),
      );
  }
  await eachYielding(updated, ({ entry, id, changed }) => {
    statements.push(
      ...auditAndEvent(
        scope,
        {
          action: `${tableOf[sections[entry.section].noun].action}.updated`,
          subjectId: id,
          fields: changed,
        },
        at,
      ),
    );
  });
  await eachYielding(plan.steps, (step) => {
    if (!isToLink(step)) return;
    const { entry, id, record, decided, isAdopted } = step;
    const adopted = isAdopted || record?.link?.adopted === true || record?.isDefaultPage === true;
    const { section, key } = entry;
    statements.push(linkStatement(scope, { source, section, key, recordId: id, adopted }, decided));
  });
  const unlinked = [...[...removed, ...released].flatMap(({ link }) => link ?? []), ...dangling];
  statements.push(
    ...(await mapYielding(unlinked, ({ noun, externalId, source: from }) =>
      scope.store.db
        .delete(externalRecords)
        .where(matching(externalRecords, { organizationId, source: from, noun, externalId })),
    )),
    ...(await followAllPauses(scope, at, newMonitorIds)),
    ...inPortions(
      [...created, ...updated].filter(isMonitor).map(({ id }) => id),
      (some) => [mustHaveFewChannels(scope, some)],
    ),
    ...mustFit(scope, at),
    guardFewDefaults(scope),
  );
  return { statements, newMonitorIds };
}

/** Whether the entry is new or differs from its last applied state. The record itself can be up to date. */
const isToLink = ({ record, decided }: Step) => !Bun.deepEquals(record?.last() ?? null, decided);

/** Whether there is nothing to write. */
export async function isEmpty({ changes, dangling, steps }: ConfigPlan): Promise<boolean> {
  if (changes.length > 0 || dangling.length > 0) return false;
  return !(await mapYielding(steps, isToLink)).includes(true);
}

const pick = (from: Fields, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

const isMonitor = ({ entry }: Step) => entry.section === "monitors";

const guard = ({ organizationId }: Scope, { section, row }: Current) =>
  mustBeUnchanged(tableOf[sections[section].noun].table, organizationId, row);

/** Guards that no other request has linked a record to one of the new keys. */
function mustBeUnlinked(
  { organizationId }: Scope,
  { source, steps, links }: ConfigPlan,
): Statement {
  const known = new Map(links.map((link) => [`${link.noun} ${link.externalId}`, link.recordId]));
  const wanted = steps
    .filter(({ record }) => record?.link == null)
    .map(({ entry: { section, key } }) => {
      const { noun } = sections[section];
      return [noun, key, known.get(`${noun} ${key}`) ?? ""];
    });
  return {
    ...mustText(`not exists (select 1 from json_each(?) wanted join external_records e
      on e.organization_id = ? and e.source = ? and e.noun = wanted.value ->> 0
        and e.external_id = wanted.value ->> 1
      where e.record_id <> wanted.value ->> 2)`),
    parameters: [JSON.stringify(wanted), organizationId, `${configurationPrefix}${source}`],
    otherwise: () => new StaleRead(),
  };
}

async function write(scope: Scope, step: Step, at: string, statements: Statement[]) {
  const { entry, id, record, changed } = step;
  const resource = resources[entry.section];
  const row = record?.row ?? null;
  if (resource.sealed !== undefined) {
    step.input = await resource.sealed(scope, step.input, changed);
    step.decided = pick(step.input, Object.keys(step.decided));
  }
  statements.push(
    ...(row === null
      ? resource.create(scope, id, step.input, at)
      : resource.change(scope, row, step.input, at)),
  );
}

/** Adds monitors to their groups, then sets their channels, because joining a group also adds channels. */
function* memberships(scope: Scope, steps: readonly Step[], at: string): Generator<Statement[]> {
  const all = steps.filter(isMonitor);
  const joining = Map.groupBy(
    all.filter(({ record, input, changed }) =>
      record === null ? input["groupId"] !== null : changed.includes("groupId"),
    ),
    ({ input }) => input["groupId"] as string | null,
  );
  const withChannels = all.filter(
    ({ entry, record }) => record === null || "alertChannels" in entry.fields,
  );
  for (const [groupId, its] of joining) {
    const ids = its.map(({ id }) => id);
    yield assignMonitors(scope, groupId, ids, "end", at);
  }
  for (const { id, input } of withChannels)
    yield replaceMonitorChannels(scope, id, input["alertChannelIds"] as string[]);
}
