/** Loads the records of an organization with their links to configurations. */
import { forEachYielding, mapYielding, yieldToEventLoop } from "../core/time/event-loop.ts";
import type { Prepared } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import { createOrganizationTurns } from "../events/organization-turns.ts";
import {
  configurationPrefix,
  findRecordsOfConfigurations,
  type ExternalRecord,
  putExternalRecord,
  openLastState,
} from "../imports/store.ts";
import { splitByBytes } from "../core/text/streamed-list.ts";
import { findMonitorsByIds, listMonitorNames } from "../monitoring/monitors/store.ts";
import { resources, type Row } from "./resources.ts";
import { type SectionName, sectionNames, sections } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";

export const runInConfigurationTurn = createOrganizationTurns();

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
export async function loadCurrentRecords(
  scope: Scope,
  wanted: readonly SectionName[] = sectionNames,
) {
  const unread = wanted.includes("monitors") ? null : sections.monitors.noun;
  const links = await findRecordsOfConfigurations(scope, unread);
  await yieldToEventLoop();
  const linkOf = new Map(links.map((link) => [`${link.noun} ${link.recordId}`, link]));
  const all: Current[] = [];
  for (const section of wanted) {
    const resource = resources[section];
    const { noun, naming } = sections[section];
    const rows = await resource.list(scope);
    await forEachYielding(rows, (row) => {
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
        last: () => (last ??= link === null ? null : openLastState(scope.vault, link)),
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

export async function loadMonitorHeads(
  scope: Scope,
  links: readonly ExternalRecord[],
): Promise<MonitorHead[]> {
  const linkOf = new Map(
    links.flatMap((link) => (link.noun === "monitor" ? [[link.recordId, link]] : [])),
  );
  const heads = await listMonitorNames(scope);
  return mapYielding(heads, (head) => ({
    ...head,
    section: "monitors" as const,
    link: linkOf.get(head.id) ?? null,
  }));
}

/** Maximum bytes of a batch of monitors with their fields. */
const portionBytes = 512 * 1024;

export async function* readMonitors(scope: Scope, heads: readonly MonitorHead[]) {
  const resource = resources.monitors;
  for (const portion of splitByBytes(heads, portionBytes)) {
    const ids = portion.map(({ id }) => id);
    const rows = await findMonitorsByIds(scope, ids);
    yield rows.map((row) => ({
      section: "monitors" as const,
      id: row.id,
      isDefaultPage: false,
      fields: () => resource.fieldsOf(scope, row, null),
    }));
    await yieldToEventLoop();
  }
}

/** Returns a statement that links a record to an entry, with the applied fields. */
export function buildLinkStatement(
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
