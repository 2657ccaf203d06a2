import { eachYielding } from "../core/time/yielding.ts";
import type { Scope } from "../events/scope.ts";
import {
  configurationPrefix,
  type ExternalRecord,
  recordsOfConfigurations,
} from "../imports/store.ts";
import { nameIn } from "./entries.ts";
import { type Current, currentRecords, inTurn } from "./records.ts";
import type { ManagedQuery, ManagedRecord } from "./schema.ts";
import { sectionNames, sections } from "./sections-schema.ts";

/** Lists managed records and how they differ from the last applied configuration; optionally only differing ones. */
export const managedRecords = (scope: Scope, query: ManagedQuery = {}): Promise<ManagedRecord[]> =>
  inTurn(scope, () => managedBy(scope, query));

async function managedBy(
  scope: Scope,
  { section, differing }: ManagedQuery,
): Promise<ManagedRecord[]> {
  const links = Map.groupBy(await recordsOfConfigurations(scope), ({ noun }) => noun);
  const wanted = (section === undefined ? sectionNames : [section]).filter((name) =>
    links.has(sections[name].noun),
  );
  if (wanted.length === 0) return [];
  const managed: ManagedRecord[] = [];
  const { all } = await currentRecords(scope, wanted);
  const here = new Set<string>();
  await eachYielding(all, (record) => {
    const { id, link, section, name } = record;
    if (link === null) return;
    here.add(`${link.noun} ${id}`);
    const drift = driftOf(record);
    if (differing === undefined || drift.length > 0)
      managed.push({ id, section, name, drift, ...origin(link) });
  });
  for (const section of wanted)
    for (const link of links.get(sections[section].noun) ?? [])
      if (!here.has(`${link.noun} ${link.recordId}`))
        managed.push({ id: link.recordId, section, name: null, drift: [], ...origin(link) });
  return managed;
}

const origin = ({ externalId, source }: ExternalRecord) => ({
  key: externalId,
  source: source.slice(configurationPrefix.length),
});

function driftOf({ section, fields, last }: Current): string[] {
  const [now, before] = [fields(), last() ?? {}];
  const names = Object.keys(before)
    // The hash is compared instead of the password.
    .filter((name) => name !== "password" && !Bun.deepEquals(now[name], before[name]))
    .map((name) => (name === "passwordHash" ? "password" : nameIn(section, name)));
  return [...new Set(names)];
}
