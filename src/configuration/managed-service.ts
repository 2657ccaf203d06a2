/** Lists the records that a configuration manages, and their drift. */
import { forEachYielding } from "../core/time/event-loop.ts";
import { isVisible, type LimitedNoun } from "../database/group-limit.ts";
import type { Scope } from "../events/scope.ts";
import {
  configurationPrefix,
  type ExternalRecord,
  findRecordsOfConfigurations,
} from "../imports/store.ts";
import { toConfigurationName } from "./entries.ts";
import { type Current, loadCurrentRecords, runInConfigurationTurn } from "./records.ts";
import type { ManagedQuery, ManagedRecord } from "./schema.ts";
import { sectionNames, sections } from "./sections-schema.ts";

/** Lists managed records and how they differ from the last applied configuration; optionally only differing ones. */
export const listManagedRecords = (scope: Scope, query: ManagedQuery): Promise<ManagedRecord[]> =>
  runInConfigurationTurn(scope, async () =>
    selectVisible(scope, await findManagedRecords(scope, query)),
  );

/** Sections that limited callers can see as a whole. */
const readableSections: readonly string[] = ["alertChannels", "escalationPolicies", "schedules"];

/** Returns the records that a limited caller can see. Deleted ones are not among them. */
async function selectVisible(scope: Scope, all: ManagedRecord[]): Promise<ManagedRecord[]> {
  if (scope.groupIds === null) return all;
  const visible: ManagedRecord[] = [];
  for (const record of all) {
    const { section, id, name } = record;
    const noun = limitedSections[section];
    if (name === null) continue;
    if (noun === undefined ? readableSections.includes(section) : await isVisible(scope, noun, id))
      visible.push(record);
  }
  return visible;
}

const limitedSections: Readonly<Record<string, LimitedNoun>> = {
  monitors: "monitor",
  groups: "group",
  maintenanceWindows: "maintenance-window",
};

async function findManagedRecords(
  scope: Scope,
  { section, differing }: ManagedQuery,
): Promise<ManagedRecord[]> {
  const links = Map.groupBy(await findRecordsOfConfigurations(scope), ({ noun }) => noun);
  const requestedSections = (section === undefined ? sectionNames : [section]).filter((name) =>
    links.has(sections[name].noun),
  );
  if (requestedSections.length === 0) return [];
  const managed: ManagedRecord[] = [];
  const { all } = await loadCurrentRecords(scope, requestedSections);
  const existingIds = new Set<string>();
  await forEachYielding(all, (record) => {
    const { id, link, section, name } = record;
    if (link === null) return;
    existingIds.add(`${link.noun} ${id}`);
    const drift = findDrift(record);
    if (differing === undefined || drift.length > 0)
      managed.push({ id, section, name, drift, ...originOf(link) });
  });
  for (const section of requestedSections)
    for (const link of links.get(sections[section].noun) ?? [])
      if (!existingIds.has(`${link.noun} ${link.recordId}`))
        managed.push({ id: link.recordId, section, name: null, drift: [], ...originOf(link) });
  return managed;
}

const originOf = ({ externalId, source }: ExternalRecord) => ({
  key: externalId,
  source: source.slice(configurationPrefix.length),
});

function findDrift({ section, fields, last }: Current): string[] {
  const [now, before] = [fields(), last() ?? {}];
  const names = Object.keys(before)
    // The hash is compared instead of the password.
    .filter((name) => name !== "password" && !Bun.deepEquals(now[name], before[name]))
    .map((name) => (name === "passwordHash" ? "password" : toConfigurationName(section, name)));
  return [...new Set(names)];
}
