import { openAll, sealAll } from "../core/secrets.ts";
import type { Prepared } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import {
  configurationPrefix,
  recordsOfConfigurations,
  type ExternalRecord,
  putExternalRecord,
} from "../imports/store.ts";
import { placeOf } from "../imports/prepare.ts";
import { type Own, type Resource, resources } from "./resources.ts";
import { type SectionName, sectionNames, sections } from "./sections-schema.ts";

type Row = Awaited<ReturnType<Resource["list"]>>[number];

/** A record that is here, and which configuration manages it. */
export type Current = {
  section: SectionName;
  row: Row;
  id: string;
  name: string;
  isDefaultPage: boolean;
  link: ExternalRecord | null;
  /** As REST would take it, secrets included. */
  fields: () => Own;
  /** What a configuration said of it last, of all that it said; null where none did. */
  last: () => Own | null;
};

/** Everything that an organization has of these sections, and all that configurations manage. */
export async function currentRecords(scope: Scope, wanted: readonly SectionName[] = sectionNames) {
  const links = await recordsOfConfigurations(scope);
  const linkOf = new Map(links.map((link) => [`${link.noun} ${link.recordId}`, link]));
  const all: Current[] = [];
  for (const section of wanted) {
    const resource = resources[section];
    const { noun, naming } = sections[section];
    for (const row of await resource.list(scope)) {
      const link = linkOf.get(`${noun} ${row.id}`) ?? null;
      let last: Own | null | undefined;
      const record: Current = {
        section,
        row,
        id: row.id,
        name: String((row as unknown as Own)[naming]),
        isDefaultPage: (row as unknown as Own)["isDefault"] === true && section === "statusPages",
        link,
        fields: () => resource.fieldsOf(scope, row, record.last()),
        last: () => (last ??= link === null ? null : lastOf(scope, link)),
      };
      all.push(record);
    }
  }
  return { all, links };
}

function lastOf({ vault }: Scope, { organizationId, recordId, secrets }: ExternalRecord): Own {
  const { record = "{}" } = openAll(vault, placeOf(organizationId, recordId), secrets);
  return JSON.parse(record) as Own;
}

/** Remembers which record an entry is, and what it says of it. */
export function linkStatement(
  { vault, organizationId }: Scope,
  link: { source: string; section: SectionName; key: string; recordId: string; adopted: boolean },
  fields: Own,
): Prepared {
  const { source, section, key, recordId, adopted } = link;
  return putExternalRecord({
    organizationId,
    source: `${configurationPrefix}${source}`,
    noun: sections[section].noun,
    externalId: key,
    recordId,
    importId: "",
    adopted,
    secrets: sealAll(vault, placeOf(organizationId, recordId), { record: JSON.stringify(fields) }),
  });
}
