/** Runs an import: reserves keys, writes heartbeats, then commits all records in one write. */
import { dayMs, formatTimestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import { importBounds } from "../core/limits.ts";
import { retryOnStaleRead, type Statement, guardCondition } from "../database/store.ts";
import { commitEach } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { type Destination, writeHistory } from "./history.ts";
import { type History, type Plan, type PlannedRecord } from "./plan.ts";
import type { ImportReport } from "./schema.ts";
import {
  abandonImport,
  discardKeys,
  type ExternalRecord,
  type ImportRow,
  insertImport,
  findLastKey,
  findLastResults,
  moveResults,
  findRecordsOfSource,
  touchImport,
  reserveKeys,
  findResultKeys,
} from "./store.ts";
import {
  listExceededLimits,
  findExisting,
  type ImportOptions,
  keyOf,
  prepareImport,
} from "./prepare.ts";

const emptyCounts = { heartbeats: 0, hours: 0, days: 0 };

/**
 * Imports a plan atomically. Heartbeats are first written under unused keys; one final write creates the monitors
 * with these keys. A repeated import applies the changes of the source. Throws CONFLICT during another import from
 * the same source, and above the organization's limits.
 */
export async function runImport(
  scope: Scope,
  wholePlan: Plan,
  history: History | null,
  options: ImportOptions,
): Promise<{ id: string | null; report: ImportReport }> {
  const plan = omitRepeatedIds(wholePlan);
  const planned = applyOptions(plan, options);
  const exceeded = listExceededLimits(scope, planned);
  const rows = await findRecordsOfSource(scope, plan.source);
  const known = new Map(rows.map((row) => [`${row.noun}:${row.externalId}`, row]));
  const existingIds = await findExisting(scope, rows);
  const job = { scope, plan, planned, known, options };
  if (options.dryRun === true) {
    const { report } = await prepareImport({
      ...job,
      existingIds,
      keyFor: () => undefined,
      importId: "",
    });
    const hints = [...exceeded, ...report.hints];
    return { id: null, report: { ...report, hints, history: emptyCounts } };
  }
  if (exceeded.length > 0) throw new AppError("CONFLICT", exceeded.join(" "));
  const run = await beginImport(scope, plan.source, planned);
  try {
    const destinations = await findDestinations(scope, planned, known, existingIds, run);
    const writtenCounts =
      history === null || destinations.size === 0
        ? { keys: new Set<number>(), ...emptyCounts }
        : await writeHistory(history, destinations, {
            store: scope.store,
            touch: () => touchImport(scope, run.id, scope.clock()),
            keepBeatsFrom: scope.clock() - options.keepResults * dayMs,
            keepHoursFrom: scope.clock() - options.keepHours * dayMs,
            progress: (read) => options.progress?.(read, history.total),
          });
    const report = await retryOnStaleRead(() =>
      commitRecords(job, run, destinations, writtenCounts),
    );
    return { id: run.id, report };
  } catch (error) {
    // If this fails too, housekeeping removes the import.
    await scope.store.atomic(abandonImport(run)).catch(() => {});
    throw error;
  }
}

/** Commits all records and makes the written heartbeats visible. */
async function commitRecords(
  job: Omit<Parameters<typeof prepareImport>[0], "existingIds" | "keyFor" | "importId">,
  run: ImportRow,
  destinations: ReadonlyMap<string, Destination>,
  { keys, ...history }: Awaited<ReturnType<typeof writeHistory>>,
): Promise<ImportReport> {
  const { scope, planned, known } = job;
  const existingRecords = await findExisting(scope, [...known.values()]);
  const findKey = (externalId: string) => destinations.get(externalId)?.key;
  const ready = await prepareImport({
    ...job,
    existingIds: existingRecords,
    keyFor: findKey,
    importId: run.id,
  });
  const report = { ...ready.report, history };
  await commitEach(
    scope,
    [
      ...touchImport(scope, run.id, scope.clock()),
      ...ready.statements,
      ...(await buildResultStatements(scope, planned, known, existingRecords, destinations, keys)),
      {
        text: "update imports set status = 'done', report = ? where organization_id = ? and id = ?",
        parameters: [JSON.stringify(toStoredReport(report)), scope.organizationId, run.id],
      },
    ],
    { action: "monitor.created", subjectIds: ready.newMonitorIds },
    {},
  );
  return report;
}

/** Shortens the notes of a report to the size limit of stored reports. */
function toStoredReport(report: ImportReport): ImportReport {
  let left = importBounds.storedNotes.value;
  const isWithinLimit = (notes: readonly string[]) => {
    left -= notes.reduce((sum, note) => sum + note.length, 0);
    return left >= 0;
  };
  const items = report.items.map((item) =>
    isWithinLimit(item.notes) ? item : { ...item, notes: [] },
  );
  return { ...report, items };
}

/** Leaves out each record with the ID of an earlier one, because both would have the same results. */
function omitRepeatedIds(plan: Plan): Plan {
  const known = new Set<string>();
  const records: PlannedRecord[] = [];
  const notTaken = [...plan.notTaken];
  for (const record of plan.records) {
    const { noun, externalId, name } = record;
    if (known.has(keyOf(record)))
      notTaken.push({ noun, externalId, name, notes: [repeatedIdNote] });
    else records.push(record);
    known.add(keyOf(record));
  }
  return { ...plan, records, notTaken };
}

const repeatedIdNote = "Not imported: an earlier record of the source has the same ID.";

function applyOptions({ records }: Plan, { paused, only }: ImportOptions): PlannedRecord[] {
  const chosenRecords =
    only === undefined ? records : records.filter((one) => only.has(keyOf(one)));
  if (paused !== true) return chosenRecords;
  return chosenRecords.map((one) =>
    one.noun === "monitor" ? { ...one, fields: { ...one.fields, paused: true } } : one,
  );
}

async function beginImport(
  scope: Scope,
  source: string,
  planned: readonly PlannedRecord[],
): Promise<ImportRow> {
  const { store, organizationId, actor } = scope;
  const count = planned.filter(({ noun }) => noun === "monitor").length;
  return retryOnStaleRead(async () => {
    const last = await findLastKey(store);
    const now = scope.clock();
    const run: ImportRow = {
      organizationId,
      id: createId(now),
      source,
      status: "running",
      report: null,
      firstKey: last + 1,
      lastKey: last + count,
      touchedAt: now,
      actorName: actor.name,
      createdAt: formatTimestamp(now),
    };
    await store.atomic([
      guardCondition(
        "not exists (select 1 from imports where organization_id = ? and source = ? and status = 'running' and touched_at > ?)",
        [organizationId, source, now - 60_000],
        () =>
          new AppError(
            "CONFLICT",
            "Another import from there is running. Wait until it is finished.",
          ),
      ),
      ...reserveKeys(last, count),
      insertImport(run),
    ]);
    return run;
  });
}

/** Returns where to write each monitor's heartbeats. Known monitors only get heartbeats after their last one. */
async function findDestinations(
  scope: Scope,
  planned: readonly PlannedRecord[],
  known: ReadonlyMap<string, ExternalRecord>,
  existingIds: ReadonlySet<string>,
  { firstKey }: ImportRow,
) {
  const all = planned.filter(({ noun }) => noun === "monitor");
  const recordIds = all.flatMap((one) => known.get(keyOf(one))?.recordId ?? []);
  const keys = await findResultKeys(scope, recordIds);
  const lasts = await findLastResults(scope.store, [...keys.values()]);
  return new Map(
    all.flatMap((one, index): [string, Destination][] => {
      const record = known.get(keyOf(one));
      if (record !== undefined && !existingIds.has(record.recordId)) return [];
      const key = keys.get(record?.recordId ?? "");
      const after = key === undefined ? null : (lasts.get(key) ?? 0);
      const intervalSeconds = Number(one.fields["interval"]) || 60;
      return [[one.externalId, { key: firstKey + index, intervalSeconds, after }]];
    }),
  );
}

/** Moves new heartbeats of known monitors to their existing keys. Discards heartbeats of deleted monitors. */
async function buildResultStatements(
  scope: Scope,
  planned: readonly PlannedRecord[],
  known: ReadonlyMap<string, ExternalRecord>,
  existingIds: ReadonlySet<string>,
  destinations: ReadonlyMap<string, Destination>,
  used: ReadonlySet<number>,
): Promise<Statement[]> {
  const old = planned.filter((one) => one.noun === "monitor" && known.has(keyOf(one)));
  const recordIds = old.flatMap((one) => known.get(keyOf(one))?.recordId ?? []);
  const keys = await findResultKeys(scope, recordIds);
  return old.flatMap((one) => {
    const from = destinations.get(one.externalId)?.key;
    const recordId = known.get(keyOf(one))?.recordId ?? "";
    const to = existingIds.has(recordId) ? keys.get(recordId) : undefined;
    if (from === undefined || !used.has(from)) return [];
    return to === undefined ? [discardKeys(from, from)] : moveResults(from, to);
  });
}
