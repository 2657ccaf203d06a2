import type { Scope } from "../events/scope.ts";
import { configurationPrefix, recordsOfConfigurations } from "../imports/store.ts";
import { nameIn } from "./entries.ts";
import { type Current, currentRecords } from "./records.ts";
import type { ManagedRecord } from "./schema.ts";
import { type SectionName, sections } from "./sections-schema.ts";

/** The records of a section that configurations manage, with what is not as they said last. */
export async function managedRecords(scope: Scope, section: SectionName): Promise<ManagedRecord[]> {
  const { noun } = sections[section];
  const links = await recordsOfConfigurations(scope);
  if (!links.some((link) => link.noun === noun)) return [];
  const { all } = await currentRecords(scope, [section]);
  return all.flatMap((record) => {
    const { id, link } = record;
    if (link === null) return [];
    const source = link.source.slice(configurationPrefix.length);
    return [{ id, key: link.externalId, source, drift: driftOf(record) }];
  });
}

function driftOf({ section, fields, last }: Current): string[] {
  const [now, before] = [fields(), last() ?? {}];
  const names = Object.keys(before)
    // Of a password the hash is compared, which nobody has to guess.
    .filter((name) => name !== "password" && !Bun.deepEquals(now[name], before[name]))
    .map((name) => (name === "passwordHash" ? "password" : nameIn(section, name)));
  return [...new Set(names)];
}
