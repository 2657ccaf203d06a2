/** Converts the records of a plan to the statements that write them, and reports each decision. */
import { and, eq, sql } from "drizzle-orm";
import { formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import type { ChangedField } from "../core/field-changes.ts";
import { buildIdTable } from "../database/references.ts";
import type { LimitName } from "../core/limits.ts";
import { formatCount } from "../core/text/formatting.ts";
import { forEachYielding } from "../core/time/event-loop.ts";
import { splitIntoPortions, type Statement } from "../database/store.ts";
import { buildAuditAndEvent, buildAuditsAndEvents } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import {
  guardChannelLimit,
  assignMonitors,
  applyAllPauses,
  applyPauses,
} from "../monitoring/groups/store.ts";
import { buildMailStatements } from "./mail-server.ts";
import { makers, guardLimits, tableOf } from "./records.ts";
import type { MakerResult, MakingContext } from "./maker.ts";
import { hashToken } from "./monitor-makers.ts";
import type { ImportItem, ImportReport } from "./schema.ts";
import { type ExternalRecord, openLastState, putExternalRecord } from "./store.ts";
import type { Fields } from "../core/collections/objects.ts";
import type { Plan, PlannedRecord } from "./plan.ts";
import { type Noun, nouns, titleOf } from "./rules.ts";
export type ImportOptions = {
  dryRun?: boolean;
  /** Pauses every imported monitor until an import without this option. */
  paused?: boolean;
  /** Selected records, such as `monitor:17`; undefined selects all. */
  only?: ReadonlySet<string>;
  /** Retention of heartbeats and hourly totals, in days. */
  keepResults: number;
  keepHours: number;
  picture?: MakingContext["picture"];
  progress?: (done: number, total: number) => void;
};

export const keyOf = ({ noun, externalId }: Pick<PlannedRecord, "noun" | "externalId">) =>
  `${noun}:${externalId}`;

/** State of a record in the source at its last import. */
type LastState = { fields: Fields; links: PlannedRecord["links"]; basis: unknown };

/** Returns the IDs of the known records that still exist. */
export async function findExisting(
  { store, organizationId }: Scope,
  known: readonly Pick<ExternalRecord, "noun" | "recordId">[],
) {
  const ids = new Set<string>();
  for (const noun of nouns) {
    const { table } = tableOf[noun];
    const recordIds = known.filter((row) => row.noun === noun).map(({ recordId }) => recordId);
    const rows = await store.db
      .select({ id: table.id })
      .from(table)
      .where(
        and(
          eq(table.organizationId, organizationId),
          sql`${table.id} in (select value from ${buildIdTable(recordIds)})`,
        ),
      );
    for (const { id } of rows) ids.add(id);
  }
  return ids;
}

const limitNames = {
  monitor: "monitors",
  group: "monitor-groups",
  "alert-channel": "alert-channels",
  "status-page": "status-pages",
} as const satisfies Partial<Record<Noun, LimitName>>;

/** Returns one sentence per kind of record that exceeds the organization's limit. */
export const listExceededLimits = (
  { limits }: Scope,
  planned: readonly PlannedRecord[],
): string[] =>
  Object.entries(limitNames).flatMap(([noun, limit]) => {
    const count = planned.filter((one) => one.noun === noun).length;
    return count > limits[limit]
      ? [
          `${titleOf(noun)}: ${formatCount(count)} of the file, where this organization can have ${formatCount(limits[limit])}. Choose fewer.`,
        ]
      : [];
  });

type PreparedImport = {
  statements: Statement[];
  newMonitorIds: string[];
  report: Omit<ImportReport, "history">;
};

type ImportContext = {
  scope: Scope;
  plan: Plan;
  planned: readonly PlannedRecord[];
  /** Records of earlier imports from the source, by key. */
  known: ReadonlyMap<string, ExternalRecord>;
  /** IDs of the known records that still exist. */
  existingIds: ReadonlySet<string>;
  options: ImportOptions;
  keyFor: MakingContext["keyOf"];
  importId: string;
};

/** Statements and report of an import, collected record by record. */
type Preparation = ImportContext & {
  at: string;
  /** IDs of records in this organization, by key. */
  ids: Map<string, string>;
  makingContext: MakingContext;
  statements: Statement[];
  items: ImportItem[];
  created: Map<Noun, string[]>;
  /** New monitors by group. */
  joining: Map<string, string[]>;
  updatedMonitors: string[];
};

/** Returns the statements and the report of an import. Yields to the event loop between records. */
export async function prepareImport(context: ImportContext): Promise<PreparedImport> {
  const preparation = await beginPreparation(context);
  const { scope, plan, planned, options, at } = preparation;
  for (const noun of nouns)
    await forEachYielding(
      planned.filter((one) => one.noun === noun),
      (one) => prepareRecord(preparation, one),
    );
  const newMonitorIds = preparation.created.get("monitor") ?? [];
  preparation.statements.push(...(await buildConcludingStatements(preparation, newMonitorIds)));
  const mail = await buildMailStatements(scope, plan, planned, at);
  const notTaken = options.only === undefined ? plan.notTaken : [];
  return {
    statements: [...preparation.statements, ...mail.statements],
    newMonitorIds,
    report: {
      source: plan.source,
      product: plan.product,
      items: [
        ...preparation.items,
        ...notTaken.map((one) => ({ ...one, decision: "not-taken" as const, isIncomplete: false })),
      ],
      hints: [
        ...plan.hints,
        ...mail.hints,
        ...(options.paused === true
          ? [
              "Every monitor is paused. To resume the monitors that were active there, import again without --paused.",
            ]
          : []),
      ],
    },
  };
}

async function beginPreparation(context: ImportContext): Promise<Preparation> {
  const { scope, planned, known, existingIds, options, keyFor } = context;
  const now = scope.clock();
  const at = formatTimestamp(now);
  const ids = new Map<string, string>();
  for (const [key, { recordId }] of known) if (existingIds.has(recordId)) ids.set(key, recordId);
  const makingContext: MakingContext = {
    scope,
    now,
    at,
    idsOf: (noun, externalIds) => externalIds.flatMap((id) => ids.get(`${noun}:${id}`) ?? []),
    keyOf: keyFor,
    tokensInUse: await findTokensInUse(scope, planned),
    picture: options.picture ?? (async () => null),
  };
  return {
    ...context,
    at,
    ids,
    makingContext,
    statements: [],
    items: [],
    created: new Map(),
    joining: new Map(),
    updatedMonitors: [],
  };
}

async function prepareRecord(preparation: Preparation, one: PlannedRecord): Promise<void> {
  const { known, existingIds } = preparation;
  const record = known.get(keyOf(one));
  if (record === undefined) {
    if (one.noun !== "status-page" || !(await adoptPage(preparation, one)))
      await createRecord(preparation, one);
  } else if (existingIds.has(record.recordId)) await updateRecord(preparation, one, record);
  else
    addReportItem(preparation, one, "not-taken", [
      "Not imported: it was imported earlier and has been deleted since. Undo that import to import it again.",
    ]);
}

function addReportItem(
  { items }: Preparation,
  { noun, externalId, name, notes, isIncomplete }: PlannedRecord,
  decision: ImportItem["decision"],
  extraNotes: readonly string[] = [],
  isIncompleteHere = false,
) {
  items.push({
    noun,
    externalId,
    name,
    decision,
    isIncomplete: isIncomplete === true || isIncompleteHere,
    notes: [...notes, ...extraNotes],
  });
}

/** Collects statements, except in a dry run. */
function addStatements(preparation: Preparation, statements: readonly Statement[]) {
  if (preparation.options.dryRun !== true) preparation.statements.push(...statements);
}

async function createRecord(preparation: Preparation, one: PlannedRecord) {
  const { scope, plan, planned, importId, makingContext, ids, created, joining } = preparation;
  const { noun } = one;
  const creation: MakerResult = await makers[noun].create(
    await ensureFreeSlug(scope, one, planned),
    makingContext,
  );
  ids.set(keyOf(one), creation.id);
  addStatements(preparation, [
    ...creation.statements,
    rememberRecord(scope, plan.source, one, creation.id, importId, false),
  ]);
  appendToList(created, noun, creation.id);
  const [groupId] =
    noun === "monitor" ? makingContext.idsOf("group", one.links["groupId"] ?? []) : [];
  if (groupId !== undefined) appendToList(joining, groupId, creation.id);
  addReportItem(preparation, one, "created", creation.notes, creation.isIncomplete);
}

function appendToList<K>(lists: Map<K, string[]>, key: K, value: string) {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

async function updateRecord(preparation: Preparation, one: PlannedRecord, record: ExternalRecord) {
  const { scope, plan, makingContext, updatedMonitors, at } = preparation;
  const { recordId, importId, adopted } = record;
  const changed = findChanges(openLastState(scope.vault, record) as LastState, one);
  if (changed === null) {
    addReportItem(preparation, one, "unchanged");
    return;
  }
  const updated = await makers[one.noun].update(one, recordId, changed, makingContext);
  if (updated === null) return;
  addStatements(preparation, [
    ...updated.statements,
    ...buildAuditEntries(scope, one.noun, recordId, updated.changes ?? changed.names, at),
    rememberRecord(scope, plan.source, one, recordId, importId, adopted),
  ]);
  if (one.noun === "monitor") updatedMonitors.push(recordId);
  const notes = [`Changed: ${changed.names.join(", ")}.`, ...updated.notes];
  addReportItem(preparation, one, "updated", notes, updated.isIncomplete);
}

/** Updates an existing page at the same address, unless it was imported from another source. */
async function adoptPage(preparation: Preparation, one: PlannedRecord): Promise<boolean> {
  const { scope, plan, importId, makingContext, ids, at } = preparation;
  const [page] = await scope.store.query<{ id: string }>(
    `select id from status_pages p where organization_id = ? and slug = ?
       and not exists (select 1 from external_records e
         where e.organization_id = p.organization_id and e.noun = 'status-page' and e.record_id = p.id)`,
    [scope.organizationId, String(one.fields["slug"])],
  );
  if (page === undefined) return false;
  ids.set(keyOf(one), page.id);
  const all = { fields: one.fields, links: one.links, has: () => true };
  const updatedPage = await makers["status-page"].update(one, page.id, all, makingContext);
  addStatements(preparation, [
    ...(updatedPage?.statements ?? []),
    ...buildAuditEntries(
      scope,
      "status-page",
      page.id,
      updatedPage?.changes ?? Object.keys(one.fields),
      at,
    ),
    rememberRecord(scope, plan.source, one, page.id, importId, true),
  ]);
  addReportItem(preparation, one, "updated", [
    ...(updatedPage?.notes ?? []),
    `The page with the address /status/${String(one.fields["slug"])} was here already: it has its content now.`,
  ]);
  return true;
}

/** Returns the statements for group members, audit entries, pauses and limits, which follow all records. */
async function buildConcludingStatements(
  { scope, created, joining, updatedMonitors, at, options }: Preparation,
  newMonitorIds: readonly string[],
): Promise<Statement[]> {
  if (options.dryRun === true) return [];
  const statements: Statement[] = [];
  for (const [groupId, members] of joining)
    statements.push(...assignMonitors(scope, groupId, members, "end", at));
  for (const [noun, subjectIds] of created) {
    const { action } = tableOf[noun];
    if (action !== null && noun !== "monitor")
      statements.push(
        ...buildAuditsAndEvents(scope, { action: `${action}.created`, subjectIds }, at),
      );
  }
  statements.push(
    ...(updatedMonitors.length === 0 && newMonitorIds.length > 0
      ? applyPauses(scope.organizationId, at, newMonitorIds)
      : await applyAllPauses(scope, at, newMonitorIds)),
    ...splitIntoPortions(newMonitorIds, (portion) => [guardChannelLimit(scope, portion)]),
    ...guardLimits(scope, at),
  );
  return statements;
}

function buildAuditEntries(
  scope: Scope,
  noun: Noun,
  subjectId: string,
  fields: readonly ChangedField[],
  at: string,
) {
  const { action } = tableOf[noun];
  return action === null
    ? []
    : buildAuditAndEvent(scope, { action: `${action}.updated`, subjectId, fields }, at);
}

function rememberRecord(
  scope: Scope,
  source: string,
  { noun, externalId, fields, links, basis }: PlannedRecord,
  recordId: string,
  importId: string,
  adopted: boolean,
): Statement {
  const last: LastState = { fields, links, basis };
  const record = { source, noun, externalId, recordId, importId, adopted };
  return putExternalRecord(scope, record, last);
}

/** Returns the fields and links that changed in the source since the last import; null if none did. */
function findChanges(last: LastState, { fields, links, basis }: PlannedRecord) {
  const isDifferent = (one: unknown, other: unknown) =>
    JSON.stringify(one) !== JSON.stringify(other);
  if (basis !== undefined && !isDifferent(basis, last.basis)) return null;
  const all = new Set([...Object.keys(fields), ...Object.keys(last.fields)]);
  const changedFields = [...all].filter((name) => isDifferent(fields[name], last.fields[name]));
  const changedLinks = Object.keys(links).filter((name) =>
    isDifferent(links[name], last.links[name]),
  );
  const names = [...changedFields, ...changedLinks];
  if (names.length === 0) return null;
  const pick = <T>(from: Record<string, T>, which: readonly string[]) =>
    Object.fromEntries(which.flatMap((name) => (name in from ? [[name, from[name] as T]] : [])));
  return {
    fields: pick(fields, changedFields),
    links: pick(links, changedLinks),
    names,
    has: (name: string) => names.includes(name),
  };
}

/** Appends a number to the page's address if the address is taken. */
async function ensureFreeSlug(
  { store }: Scope,
  planned: PlannedRecord,
  all: readonly PlannedRecord[],
): Promise<PlannedRecord> {
  if (planned.noun !== "status-page") return planned;
  const slug = String(planned.fields["slug"]);
  const isWanted = (one: string) =>
    all.some(
      (other) => other !== planned && other.noun === "status-page" && other.fields["slug"] === one,
    );
  for (let count = 1; count < 1_000; count++) {
    const end = count === 1 ? "" : `-${count}`;
    const candidate = `${slug.slice(0, 63 - end.length)}${end}`;
    const rows = await store.query("select 1 from status_pages where slug = ?", [candidate]);
    if (rows.length > 0 || (count > 1 && isWanted(candidate))) continue;
    if (count > 1)
      planned.notes.push(
        `Its address is /status/${candidate}: /status/${slug} belongs to another page here.`,
      );
    return { ...planned, fields: { ...planned.fields, slug: candidate } };
  }
  throw new AppError("CONFLICT", `There is no free address for the status page ${planned.name}.`);
}

async function findTokensInUse(
  { store }: Scope,
  planned: readonly PlannedRecord[],
): Promise<Set<string>> {
  const hashes = planned.flatMap(({ fields }) =>
    typeof fields["pushToken"] === "string" ? [hashToken(fields["pushToken"])] : [],
  );
  const rows = await store.query<{ hash: string }>(
    "select push_token_hash as hash from monitors where push_token_hash in (select value from json_each(?))",
    [JSON.stringify(hashes)],
  );
  return new Set(rows.map(({ hash }) => hash));
}
