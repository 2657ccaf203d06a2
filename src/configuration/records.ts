import { eachYielding, turn } from "../core/yielding.ts";
import type { Prepared } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import { organizationTurns } from "../events/turns.ts";
import {
  configurationPrefix,
  recordsOfConfigurations,
  type ExternalRecord,
  putExternalRecord,
  lastSaid,
} from "../imports/store.ts";
import { resources, type Row } from "./resources.ts";
import { type SectionName, sectionNames, sections } from "./sections-schema.ts";
import type { Fields } from "../core/objects.ts";

export const inTurn = organizationTurns();

/** A record that is here, and which configuration manages it. */
export type Current = {
  section: SectionName;
  row: Row;
  id: string;
  name: string;
  isDefaultPage: boolean;
  link: ExternalRecord | null;
  /** As REST would take it, secrets included. */
  fields: () => Fields;
  /** What a configuration said of it last, of all that it said; null where none did. */
  last: () => Fields | null;
};

/** Everything that an organization has of these sections, and all that configurations manage. */
export async function currentRecords(scope: Scope, wanted: readonly SectionName[] = sectionNames) {
  const links = await recordsOfConfigurations(scope);
  await turn();
  const linkOf = new Map(links.map((link) => [`${link.noun} ${link.recordId}`, link]));
  const all: Current[] = [];
  for (const section of wanted) {
    const resource = resources[section];
    const { noun, naming } = sections[section];
    const rows = await resource.list(scope);
    await eachYielding(rows, (row) => {
      const link = linkOf.get(`${noun} ${row.id}`) ?? null;
      let last: Fields | null | undefined;
      const record: Current = {
        section,
        row,
        id: row.id,
        name: String(row[naming]),
        isDefaultPage: row["isDefault"] === true && section === "statusPages",
        link,
        fields: () => resource.fieldsOf(scope, row, record.last()),
        last: () => (last ??= link === null ? null : lastSaid(scope.vault, link)),
      };
      all.push(record);
    });
  }
  return { all, links };
}

/** Remembers which record an entry is, and what it says of it. */
export function linkStatement(
  scope: Scope,
  link: { source: string; section: SectionName; key: string; recordId: string; adopted: boolean },
  fields: Fields,
): Prepared {
  const { source, section, key, recordId, adopted } = link;
  const record = {
    source: `${configurationPrefix}${source}`,
    noun: sections[section].noun,
    externalId: key,
    recordId,
    importId: "",
    adopted,
  };
  return putExternalRecord(scope, record, fields);
}
