/** Loads the records of an organization with their links to configurations. */
import { eachYielding, mapYielding, turn } from "../core/time/yielding.ts";
import type { Prepared } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import { perOrganization } from "../events/turns.ts";
import {
  configurationPrefix,
  recordsOfConfigurations,
  type ExternalRecord,
  putExternalRecord,
  lastSaid,
} from "../imports/store.ts";
import { inBytes } from "../core/text/streamed-list.ts";
import { monitorsAmong, namesOfMonitors } from "../monitoring/monitors/store.ts";
import { resources, type Row } from "./resources.ts";
import { type SectionName, sectionNames, sections } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

export const inTurn = perOrganization();

/** An existing record, and the configuration that manages it. */
export type Current = {
  section: SectionName;
  row: Row;
  id: string;
  name: string;
  isDefaultPage: boolean;
  link: ExternalRecord | null;
  /** Fields as the REST API accepts them, including secrets. */
  fields: () => Fields;
  /** Last applied state of the record; null without a managing configuration. */
  last: () => Fields | null;
};

/** Loads the records of these sections and all links to configurations. */
export async function currentRecords(scope: Scope, wanted: readonly SectionName[] = sectionNames) {
  const unread = wanted.includes("monitors") ? null : sections.monitors.noun;
  const links = await recordsOfConfigurations(scope, unread);
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

/** A monitor without its settings. */
export type MonitorHead = Pick<Current, "id" | "name" | "link"> & {
  section: "monitors";
  /** Size of its settings, secrets and description, in bytes. */
  bytes: number;
};

export async function monitorHeads(
  scope: Scope,
  links: readonly ExternalRecord[],
): Promise<MonitorHead[]> {
  const linkOf = new Map(
    links.flatMap((link) => (link.noun === "monitor" ? [[link.recordId, link]] : [])),
  );
  const heads = await namesOfMonitors(scope);
  return mapYielding(heads, (head) => ({
    ...head,
    section: "monitors" as const,
    link: linkOf.get(head.id) ?? null,
  }));
}

/** Maximum bytes of a batch of monitors with their fields. */
const portionBytes = 512 * 1024;

export async function* monitorsIn(scope: Scope, heads: readonly MonitorHead[]) {
  const resource = resources.monitors;
  for (const portion of inBytes(heads, portionBytes)) {
    const ids = portion.map(({ id }) => id);
    const rows = await monitorsAmong(scope, ids);
    yield rows.map((row) => ({
      section: "monitors" as const,
      id: row.id,
      isDefaultPage: false,
      fields: () => resource.fieldsOf(scope, row, null),
    }));
    await turn();
  }
}

/** Returns a statement that links a record to an entry, with the applied fields. */
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
