/** Stores the requests to alert sources: many requests per write, each with its log entry, its changes and their events. */
import { AppError, rateLimitError } from "../../core/errors.ts";
import { type Entry, Turns } from "../../core/collections/turns.ts";
import { createId } from "../../core/ids.ts";
import { sourceBounds } from "../../core/limits.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { createCommitPace } from "../../core/time/pace.ts";
import { guardVersion } from "../../database/references.ts";
import { retryOnStaleRead, splitIfLong, type Statement, type Store } from "../../database/store.ts";
import { alertSources } from "../../database/tables/alert-sources.ts";
import { createRateLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { unknownPathError } from "../../http/responses/error-response.ts";
import { buildSourceIncident, buildSourceResolution } from "../../incidents/by-source.ts";
import {
  type IncomingRequest,
  type NewestEntry,
  planRequestLog,
  type SourceOutcome,
} from "./request-log.ts";
import {
  applyReport,
  boundReport,
  describeOutcome,
  isLimitedChange,
  postponeChange,
} from "./rules.ts";
import type { SourceAlert, SourceChange } from "./rules.ts";
import {
  appendSourceEvents,
  bringEndsForward,
  countOpenAlerts,
  findSourceById,
  findSourceAlerts,
  guardSourceAlerts,
  listSilentAlerts,
  pruneSource,
  putSourceAlerts,
  type SourceEvent,
  type SourceRow,
} from "./store.ts";

/** A waiting request. Organizations take turns, and each source is a lane. */
type WaitingRequest = IncomingRequest &
  Entry & { resolve: (outcome: SourceOutcome | AppError) => void };

/**
 * Maximum requests per write, of all sources and of one, so that sources alternate. A write takes no more requests once
 * they have this many reports, because each report takes about 0.15 ms of the event loop.
 */
const maxRequests = { all: 1_000, ofSource: 200, reports: 200 };
/** Problems that are ended at once because they are no longer reported. */
const silentAtOnce = 500;
/** Clears the episode: the sender did not report an end, so it can report the same start again. */
const silentState = {
  status: "resolved",
  title: "",
  text: "",
  priority: null,
  link: null,
  episode: null,
  isTimed: true,
} as const;
/** Requests and bytes after which the bounds of a source are applied again. */
const pruneAfter = { requests: 100, bytes: sourceBounds.loggedBytes.value / 8 };

/** The open problems of a source while requests are applied, and the resulting changes. */
type Applying = {
  alerts: Map<string, SourceAlert>;
  open: number;
  events: SourceEvent[];
};

/** The write of requests to one source, and the newest entry of its log after that. */
type PlannedWrite = {
  sourceId: string;
  statements: Statement[];
  outcomes: (SourceOutcome | AppError)[];
  newest?: NewestEntry | undefined;
};

export class SourceWriter {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #turns = new Turns<WaitingRequest>({
    rank: () => 0,
    admits: (_rank, { running }) => running < maxRequests.all,
    perLane: maxRequests.ofSource,
  });
  readonly #bytesOf = new Map<string, number>();
  readonly #newest = new Map<string, NewestEntry>();
  readonly #unpruned = new Map<string, { requests: number; bytes: number }>();
  readonly #pace = createCommitPace();
  /** Limit of the changes of one problem. */
  readonly #changeLimit: RateLimit;
  /** Time of the last search for ends; Infinity before the first one. */
  #lastNow = Infinity;
  #added = 0;
  #bytes = 0;
  #isWriting = false;

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
    this.#changeLimit = createRateLimit(sourceBounds.changes.value, clock);
  }

  /** Stores a request. Resolves when it is durable. Throws the error of the request, and RATE_LIMITED if too much waits. */
  async add(incoming: IncomingRequest): Promise<SourceOutcome> {
    const { id, organizationId } = incoming.source;
    const { bytes } = incoming.request ?? { bytes: 0 };
    const sourceBytes = this.#bytesOf.get(id) ?? 0;
    if (
      this.#bytes + bytes > sourceBounds.waiting.value ||
      sourceBytes + bytes > sourceBounds.waitingPerSource.value
    )
      throw rateLimitError(1, "Too many requests wait to be stored.");
    this.#bytes += bytes;
    this.#bytesOf.set(id, sourceBytes + bytes);
    const { promise, resolve } = Promise.withResolvers<SourceOutcome | AppError>();
    this.#turns.add({ ...incoming, client: organizationId, lane: id, at: this.#added++, resolve });
    void this.#run();
    try {
      const outcome = await promise;
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    } finally {
      this.#release(id, bytes);
    }
  }

  /** Resolves problems that their tools have not reported for the time that their sources allow. */
  async resolveSilent() {
    const now = this.#clock();
    const forwards = now < this.#lastNow ? await bringEndsForward(this.#store, now) : [];
    if (forwards.length > 0) await this.#store.atomic(forwards);
    this.#lastNow = now;
    for (;;) {
      const due = await listSilentAlerts(this.#store, this.#clock(), silentAtOnce);
      const bySource = Map.groupBy(due, ({ sourceId }) => sourceId);
      const ended = [...bySource].map(([id, alerts]) =>
        this.add({
          source: { organizationId: alerts[0]?.organizationId ?? "", id },
          request: null,
          reports: alerts.map(({ key }) => ({ ...silentState, key })),
        }),
      );
      await Promise.all(ended);
      if (due.length < silentAtOnce) return;
    }
  }

  #release(id: string, bytes: number) {
    this.#bytes -= bytes;
    const bytesLeft = (this.#bytesOf.get(id) ?? 0) - bytes;
    if (bytesLeft > 0) this.#bytesOf.set(id, bytesLeft);
    else this.#bytesOf.delete(id);
  }

  async #run() {
    if (this.#isWriting) return;
    this.#isWriting = true;
    // Requests of the same turn of the event loop share the first write.
    await Promise.resolve();
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      const outcomes = await this.#writeEach(batch);
      for (const [index, one] of batch.flat().entries()) {
        this.#turns.end(one);
        one.resolve(outcomes[index] ?? unknownPathError());
      }
      const waitMs = this.#pace();
      await (waitMs > 0 ? Bun.sleep(waitMs) : yieldToEventLoop());
    }
    this.#isWriting = false;
  }

  /** Takes some requests of each source, in their order. */
  #takeBatch(): WaitingRequest[][] {
    const batch: WaitingRequest[] = [];
    let reports = 0;
    while (reports < maxRequests.reports) {
      const next = this.#turns.beginNext();
      if (next === null) break;
      batch.push(next);
      reports += next.reports.length;
    }
    return [...Map.groupBy(batch, ({ lane }) => lane).values()];
  }

  /** Writes a batch. If that fails, each source is written alone, so that none prevents the others. */
  async #writeEach(
    batch: readonly (readonly IncomingRequest[])[],
  ): Promise<(SourceOutcome | AppError)[]> {
    try {
      return await this.#write(batch);
    } catch (error) {
      if (batch.length > 1) {
        const all: (SourceOutcome | AppError)[] = [];
        for (const portion of batch) all.push(...(await this.#writeEach([portion])));
        return all;
      }
      const failed =
        error instanceof AppError
          ? error
          : new AppError("INTERNAL", "The request could not be stored.", { cause: error });
      return batch.flat().map(() => failed);
    }
  }

  #write(batch: readonly (readonly IncomingRequest[])[]): Promise<(SourceOutcome | AppError)[]> {
    return retryOnStaleRead(async () => {
      const planned: PlannedWrite[] = [];
      for (const portion of batch) planned.push(await this.#plan(portion));
      const statements = planned.flatMap((one) => one.statements);
      if (statements.length > 0) await this.#store.atomic(statements);
      for (const { sourceId, newest } of planned) {
        this.#newest.delete(sourceId);
        if (newest !== undefined) this.#newest.set(sourceId, newest);
      }
      return planned.flatMap((one) => one.outcomes);
    });
  }

  /** Plans the write of requests to one source, in their order. */
  async #plan(portion: readonly IncomingRequest[]): Promise<PlannedWrite> {
    const [{ source: wanted }] = portion as [IncomingRequest];
    const tenant = { store: this.#store, organizationId: wanted.organizationId };
    const source = await findSourceById(tenant, wanted.id);
    // The source was deleted in the meantime.
    if (source === null)
      return { sourceId: wanted.id, statements: [], outcomes: portion.map(unknownPathError) };
    const { known, open, openIncidents } = await this.#readAlerts(source, portion);
    const applying = { alerts: new Map(known), open, events: [] };
    const now = this.#clock();
    const outcomes = portion.map((one) =>
      applyReports(source, applying, one, now, this.#changeLimit),
    );
    const changed = [...applying.alerts.values()].filter((one) => one !== known.get(one.key));
    const incidents = await this.#planIncidents(source, { known, openIncidents }, changed, now);
    const stored = changed.map((one) => incidents.alerts.get(one.id) ?? one);
    const at = formatTimestamp(now);
    const handled = portion.map((incoming, index) => ({ incoming, outcome: outcomes[index] }));
    const log = planRequestLog(source, handled, this.#newest.get(source.id), { now, at });
    return {
      sourceId: source.id,
      newest: log.newest,
      statements: [
        guardVersion(alertSources, source.organizationId, source),
        ...(changed.length === 0
          ? []
          : [
              guardSourceAlerts(
                source,
                changed.map(({ key }) => [key, known.get(key)?.version ?? 0]),
              ),
              ...splitIfLong(stored, (portion) => [putSourceAlerts(source, portion)]),
            ]),
        ...(applying.events.length === 0
          ? []
          : splitIfLong(applying.events, (portion) => [
              appendSourceEvents(source.organizationId, at, portion),
            ])),
        ...incidents.statements,
        ...log.statements,
        ...this.#prune(source, portion),
      ],
      outcomes,
    };
  }

  /** Reads the problems that requests report. Counts the open ones only if another can open. */
  async #readAlerts(source: SourceRow, portion: readonly IncomingRequest[]) {
    const reports = portion.flatMap((one) => one.reports.map(boundReport));
    const known = await findSourceAlerts(
      this.#store,
      source,
      reports.map(({ key }) => key),
    );
    const isOpen = (key: string) => (known.get(key)?.status ?? "resolved") !== "resolved";
    const hasEnd = reports.some(({ status }) => status === "resolved");
    const canOpen = reports.some(
      ({ key, status }) => status === "open" && (hasEnd || !isOpen(key)),
    );
    const counts = canOpen ? await countOpenAlerts(this.#store, source) : { open: 0, incidents: 0 };
    return { known, open: counts.open, openIncidents: counts.incidents };
  }

  /** Opens the incidents of new problems, and resolves those of problems that are over. */
  async #planIncidents(
    source: SourceRow,
    { known, openIncidents }: { known: ReadonlyMap<string, SourceAlert>; openIncidents: number },
    changed: readonly SourceAlert[],
    now: number,
  ) {
    const statements: Statement[] = [];
    const alerts = new Map<string, SourceAlert>();
    let incidentsLeft = sourceBounds.openIncidents.value - openIncidents;
    for (const alert of changed) {
      const before = known.get(alert.key);
      const isOpen = alert.status !== "resolved";
      const openedBefore = before?.status === "resolved" ? null : (before?.incidentId ?? null);
      if (openedBefore !== null && (!isOpen || alert.incidentId === null))
        statements.push(
          ...(await buildSourceResolution(
            this.#store,
            source,
            openedBefore,
            `${source.name} reports that the problem is over.`,
            now,
          )),
        );
      if (!isOpen || alert.incidentId !== null || source.incidentSeverity === null) continue;
      const isNew = before === undefined || before.openedAt !== alert.openedAt;
      if (!isNew || incidentsLeft <= 0) continue;
      const { title, text } = alert.content;
      const message = text.trim() === "" ? title : text;
      const draft = { title, message, severity: source.incidentSeverity };
      const incident = await buildSourceIncident(this.#store, source, draft, now);
      if (incident === null) continue;
      incidentsLeft -= 1;
      statements.push(...incident.statements);
      alerts.set(alert.id, { ...alert, incidentId: incident.id });
    }
    return { statements, alerts };
  }

  #prune(source: SourceRow, portion: readonly IncomingRequest[]): Statement[] {
    const before = this.#unpruned.get(source.id) ?? { requests: 0, bytes: 0 };
    const requests = before.requests + portion.length;
    const bytes =
      before.bytes + portion.reduce((sum, { request }) => sum + (request?.bytes ?? 0), 0);
    const isDue = requests >= pruneAfter.requests || bytes >= pruneAfter.bytes;
    if (isDue) this.#unpruned.delete(source.id);
    else this.#unpruned.set(source.id, { requests, bytes });
    return isDue ? pruneSource(source) : [];
  }
}

/** Applies all reports of a request, or none if they would open too many alerts. */
function applyReports(
  source: SourceRow,
  applying: Applying,
  { request, reports, error, message }: IncomingRequest,
  now: number,
  changeLimit: RateLimit,
): SourceOutcome | AppError {
  const id = createId(now);
  if (error !== undefined) return error;
  if (message !== undefined) return { id, message, changes: [] };
  if (!source.enabled)
    return { id, message: "Ignored, because the source is disabled.", changes: [] };
  const draft = new Map<string, SourceAlert>();
  const events: SourceEvent[] = [];
  let { open } = applying;
  const at = formatTimestamp(now);
  for (const report of reports.map(boundReport)) {
    const before = draft.get(report.key) ?? applying.alerts.get(report.key) ?? null;
    // A report that arrived in the meantime postpones the end.
    if (request === null && (before?.dueAt == null || before.dueAt > now)) continue;
    const applied = applyReport(before, report, source, { id: createId(now), at, now });
    // A postponed end was counted against the limit when it was reported.
    const isExempt = request === null || !isLimitedChange(applied.change);
    const { after, change } =
      isExempt || changeLimit.take(`${source.id} ${report.key}`) === 0
        ? applied
        : postponeChange(before, applied, now);
    if (after !== null) draft.set(report.key, after);
    if (change === null || after === null) continue;
    open += change === "opened" ? 1 : change === "resolved" ? -1 : 0;
    events.push({ type: `source-alert.${change}`, alert: after });
  }
  if (open > sourceBounds.openAlerts.value && open > applying.open)
    return rateLimitError(
      60,
      `This source has ${sourceBounds.openAlerts.value} open alerts, which is its limit.`,
    );
  for (const [key, alert] of draft) applying.alerts.set(key, alert);
  applying.open = open;
  applying.events.push(...events);
  const changes = events.map(({ type }) => type.slice("source-alert.".length) as SourceChange);
  return { id, message: describeOutcome(reports.length, changes), changes };
}
