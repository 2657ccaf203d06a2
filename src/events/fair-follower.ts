/** Converts events to the rows of one follower exactly once, in turns between organizations. */
import type { Log } from "../core/log.ts";
import type { Clock } from "../core/time/clock.ts";
import { retryOnStaleRead, StaleRead, type Statement, type Store } from "../database/store.ts";
import type { LoggedEvent } from "./catalog.ts";
import { type EventCursor, createEventCursor, type followerNames } from "./cursor.ts";
import { readSinceOfOrganization } from "./log.ts";
import type { EventReader } from "./reader.ts";
import { Setbacks } from "./setbacks.ts";

/** Maximum rows per write, shared by its organizations. Other work can run between writes. */
const rowsPerWrite = 2_000;
/** Maximum events per organization and write, whose subjects are read together. */
const eventsAtOnce = 500;
/** Maximum organizations with a backlog per write. */
const organizationsAtOnce = 20;
/**
 * Time for which events are collected between two batches, in milliseconds. It saves writes during a storm of events.
 */
const gatherMs = 100;
/** Pause after a failed write, in milliseconds. */
const retryMs = 1_000;

/** The next events of an organization, and its maximum rows in this write. */
export type FollowerWork<E extends LoggedEvent, Part> = {
  organizationId: string;
  /** At least one event, oldest first. */
  events: readonly E[];
  /** Progress of earlier writes within the first event. It names its event, and is ignored for any other. */
  part: Part | null;
  rows: number;
};

export type Outcome<Part> = {
  statements: readonly Statement[];
  /** Number of rows that the statements write. */
  rows: number;
  /** Number of finished events. The others need another write. */
  finished: number;
  /** Progress within the first unfinished event. */
  part: Part | null;
  /** Whether the statements add deliveries. Absent for no. */
  hasDeliveries?: boolean;
};

/** Called after a write, with its organizations, and whether it adds deliveries. */
export type OnFollowerWrite = (organizationIds: readonly string[], hasDeliveries: boolean) => void;

type Follower<E extends LoggedEvent, Part> = {
  name: (typeof followerNames)[number];
  /** Whether an event can have an effect. */
  concerns: (event: LoggedEvent) => event is E;
  /** Returns the organizations that have recipients. */
  listening: (organizationIds: readonly string[]) => Promise<ReadonlySet<string>>;
  decide: (work: FollowerWork<E, Part>) => Promise<Outcome<Part>>;
  /** Maximum rows per write. Tests set a lower number. */
  rowsAtOnce?: number;
  onWrite?: OnFollowerWrite;
  clock: Clock;
  log?: Log | undefined;
};

/** Work of one organization that is not caused by an event. */
export type OwnWork = { organizationId: string; decide: () => readonly Statement[] };

/** An organization with a backlog, and its last finished event. */
type Backlog<Part> = { organizationId: string; seq: number; part: Part | null };

type UnreadEvents<Part> = Backlog<Part> & { events: readonly LoggedEvent[] };

/**
 * Handles a batch of the log in one write, in which each organization has a share of the rows. An organization that
 * needs more gets a separate row in `followers` and continues later, so that it delays no other. Its events are
 * handled in order.
 */
export class FairFollower<E extends LoggedEvent, Part> {
  readonly cursor: EventCursor;
  readonly rowsAtOnce: number;
  readonly #store: Store;
  readonly #follower: Follower<E, Part>;
  readonly #prefix: string;
  /** Organization that was served last. */
  #lastServed = "";
  /** Work that failed. */
  readonly setbacks: Setbacks;
  /** Organizations whose events are handled one by one, because a batch failed. */
  readonly #careful = new Set<string>();
  #pending: Promise<unknown> = Promise.resolve();

  constructor(store: Store, follower: Follower<E, Part>) {
    this.#store = store;
    this.#follower = follower;
    this.setbacks = new Setbacks({ store, clock: follower.clock, log: follower.log });
    this.#prefix = `${follower.name}/`;
    this.cursor = createEventCursor(store, follower.name);
    this.rowsAtOnce = follower.rowsAtOnce ?? rowsPerWrite;
  }

  /** Runs one write at a time, in the order of the calls, because each decision depends on the previous write. */
  runExclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#pending.then(() => retryOnStaleRead(work));
    this.#pending = result.catch(() => {});
    return result;
  }

  /** Handles a batch of the log in one write. */
  handleBatch(events: readonly LoggedEvent[]): Promise<void> {
    return this.runExclusively(() => this.#takeBatch(events));
  }

  /** Runs one write for organizations with a backlog. Returns false if there are none. */
  serveBacklogs(): Promise<boolean> {
    return this.runExclusively(() => this.#serveNext());
  }

  /** Handles all backlogs. */
  async drain(isStopped = () => false) {
    while (!isStopped() && (await this.serveBacklogs())) await Bun.sleep(0);
  }

  /** Saves the position of events without effects. */
  save(): Promise<void> {
    return this.runExclusively(() => this.cursor.save());
  }

  /**
   * Writes work without an event, for some organizations at a time. A failing organization does not delay others, and
   * is tried again later. Returns the organizations that were written. `job` names the work in reports.
   */
  async write(job: string, all: readonly OwnWork[]): Promise<string[]> {
    const ready: { organizationId: string; statements: readonly Statement[] }[] = [];
    for (const { organizationId, decide } of all) {
      if (this.setbacks.isWaiting(`${job} ${organizationId}`)) continue;
      await this.tryAlone(job, organizationId, async () => {
        const statements = decide();
        if (statements.length > 0) ready.push({ organizationId, statements });
      });
    }
    const writtenIds: string[] = [];
    for (let start = 0; start < ready.length; start += organizationsAtOnce) {
      const chunk = ready.slice(start, start + organizationsAtOnce);
      const isTogether =
        chunk.length > 1 &&
        (await this.#writeNow(chunk.flatMap(({ statements }) => statements)).then(
          () => true,
          () => false,
        ));
      for (const { organizationId, statements } of chunk)
        if (
          isTogether ||
          (await this.tryAlone(job, organizationId, () => this.#writeNow(statements)))
        )
          writtenIds.push(organizationId);
    }
    return writtenIds;
  }

  #writeNow(statements: readonly Statement[]): Promise<void> {
    return this.runExclusively(async () => {
      const position = await this.cursor.read();
      await this.cursor.advance(position, position.seq, statements, position.part);
    });
  }

  /**
   * Does the work of one organization, and remembers its failure. Returns whether it succeeded. Throws the error if the
   * database accepts no write at all, because then the work is not the cause.
   */
  async tryAlone(work: string, organizationId: string, attempt: () => Promise<void>) {
    const key = `${work} ${organizationId}`;
    try {
      await attempt();
      this.setbacks.recordSuccess(key);
      return true;
    } catch (error) {
      await this.#writeNow([]).catch(() => {
        throw error;
      });
      const outcome = this.setbacks.recordFailure(key, error);
      if (outcome === "report")
        await this.#writeNow(await this.setbacks.reportWork(organizationId, work));
      else if (outcome === "lasting")
        await this.#writeNow([this.setbacks.extendReport(organizationId)]);
      return false;
    }
  }

  /** Follows the log until the returned function is called. */
  async start(reader: EventReader, log: Log): Promise<() => Promise<void>> {
    const { name } = this.#follower;
    let isStopped = false;
    let draining: Promise<void> | null = null;
    const drainAll = async () => {
      for (;;) {
        try {
          await this.drain(() => isStopped);
          if (this.#careful.size === 0) return;
        } catch (error) {
          log.error("handling events failed", { follower: name, cause: String(error) });
        }
        if (isStopped) return;
        await Bun.sleep(retryMs);
      }
    };
    const drainInBackground = () =>
      void (draining ??= drainAll().finally(() => void (draining = null)));
    const { seq } = await this.cursor.read();
    const subscription = reader.subscribe(name, seq, async (events) => {
      await this.handleBatch(events);
      drainInBackground();
      await Bun.sleep(gatherMs);
    });
    drainInBackground();
    return async () => {
      isStopped = true;
      await subscription.stop();
      await draining;
    };
  }

  async #takeBatch(events: readonly LoggedEvent[]) {
    const { concerns, listening, onWrite } = this.#follower;
    const position = await this.cursor.read();
    const unread = events.filter(({ seq }) => seq > position.seq).filter(concerns);
    const last = unread.at(-1);
    if (last === undefined) return;
    const groups = Map.groupBy(unread, ({ organizationId }) => organizationId);
    const listeners = await listening([...groups.keys()]);
    // Not saved immediately, because reading these events again costs less than a write.
    if (listeners.size === 0) return this.cursor.skip(last.seq);
    const behind = new Set(
      (await this.#readBacklogs()).map(({ organizationId }) => organizationId),
    );
    const part = position.part === null ? null : (JSON.parse(position.part) as Part);
    const workItems = [...groups]
      .filter(([id]) => listeners.has(id) && !behind.has(id))
      // Organizations with few events come first, and leave the rest of their shares to the others.
      .sort(([, a], [, b]) => a.length - b.length)
      .map(([organizationId, own]) => ({ organizationId, seq: position.seq, part, events: own }));
    try {
      const { statements, hasDeliveries } = await this.#decideAll(workItems, false);
      await this.cursor.advance(position, last.seq, statements);
      onWrite?.([...groups.keys()], hasDeliveries);
    } catch (error) {
      if (error instanceof StaleRead) throw error;
      // Each continues alone, so that events which can't be handled delay only their organization.
      const statements = workItems.map((one) => this.#saveBacklog(one));
      await this.cursor.advance(position, last.seq, statements);
      if (workItems.length < 2) throw error;
    }
  }

  async #serveNext(): Promise<boolean> {
    const waiting = await this.#readNextBacklogs();
    if (waiting.length === 0) return false;
    this.#lastServed = waiting.at(-1)?.organizationId ?? "";
    if (waiting.length > 1)
      try {
        await this.#handleBacklogs(waiting);
        return true;
      } catch (error) {
        if (error instanceof StaleRead) throw error;
      }
    const failures: unknown[] = [];
    for (const one of waiting)
      await this.#serveAlone(one).catch((error: unknown) => failures.push(error));
    if (failures.length === waiting.length) throw failures[0];
    return true;
  }

  /**
   * Handles events of one organization. If a batch fails, handles one event at a time, and sets aside an event that
   * fails repeatedly.
   */
  async #serveAlone(backlog: Backlog<Part>) {
    const { organizationId, seq } = backlog;
    const isSingle = this.#careful.has(organizationId);
    try {
      await this.#handleBacklogs([backlog]);
      this.setbacks.recordSuccess(organizationId);
    } catch (error) {
      if (error instanceof StaleRead) throw error;
      this.#careful.add(organizationId);
      const position = await this.cursor.read();
      // If this fails as well, the database accepts no write, and the event is not the cause.
      await this.cursor.advance(position, position.seq, [], position.part);
      const limits = { after: seq, upTo: position.seq, limit: 1 };
      const [event] = await readSinceOfOrganization(this.#store, organizationId, limits);
      if (!isSingle || event === undefined) throw error;
      if (this.setbacks.recordFailure(organizationId, error) === "passing") throw error;
      await this.#skipEvent(event);
    }
  }

  /** Moves past an event that can't be handled, and reports it in the same write. */
  async #skipEvent(event: LoggedEvent) {
    const { organizationId, seq, type, subjectId } = event;
    const { name, log } = this.#follower;
    const position = await this.cursor.read();
    await this.cursor.advance(
      position,
      position.seq,
      [
        this.#saveBacklog({ organizationId, seq, part: null }),
        ...(await this.setbacks.reportEvent(name, event)),
      ],
      position.part,
    );
    log?.error("an event was set aside", { follower: name, organizationId, seq, type, subjectId });
    this.setbacks.recordSuccess(organizationId);
  }

  /** Handles the next events of organizations with a backlog in one write. */
  async #handleBacklogs(waiting: readonly Backlog<Part>[]) {
    const position = await this.cursor.read();
    const batches = await Promise.all(
      waiting.map(async (one) => {
        const limit = this.#limitFor(one.organizationId);
        const limits = { after: one.seq, upTo: position.seq, limit };
        return {
          ...one,
          events: await readSinceOfOrganization(this.#store, one.organizationId, limits),
        };
      }),
    );
    const { statements, hasDeliveries } = await this.#decideAll(batches, true);
    await this.cursor.advance(position, position.seq, statements, position.part);
    const organizationIds = waiting.map(({ organizationId }) => organizationId);
    this.#follower.onWrite?.(organizationIds, hasDeliveries);
  }

  #limitFor(organizationId: string) {
    return this.#careful.has(organizationId) ? 1 : eventsAtOnce;
  }

  /** Divides the rows of a write among organizations. */
  async #decideAll(batches: readonly UnreadEvents<Part>[], areBehind: boolean) {
    let remainingRows = this.rowsAtOnce;
    let hasDeliveries = false;
    const all: Statement[] = [];
    for (const [index, work] of batches.entries()) {
      const rows = Math.max(1, Math.floor(remainingRows / (batches.length - index)));
      const outcome = await this.#decide(work, rows, areBehind);
      remainingRows -= outcome.rows;
      all.push(...outcome.statements);
      hasDeliveries ||= outcome.hasDeliveries;
    }
    return { statements: all, hasDeliveries };
  }

  /** Handles the events of one organization, and saves its position if some remain. */
  async #decide(
    { organizationId, seq, part, events: unread }: UnreadEvents<Part>,
    rows: number,
    isBehind: boolean,
  ) {
    const { concerns, decide } = this.#follower;
    const readEvents = unread.slice(0, eventsAtOnce);
    const events = readEvents.filter(concerns);
    const outcome: Outcome<Part> =
      events.length === 0
        ? { statements: [], rows: 0, finished: 0, part: null }
        : await decide({ organizationId, events, part, rows });
    const isThrough = outcome.finished === events.length;
    const reached = isThrough ? readEvents.at(-1)?.seq : events[outcome.finished - 1]?.seq;
    const limit = isBehind ? this.#limitFor(organizationId) : eventsAtOnce;
    const isMore = unread.length > readEvents.length || readEvents.length === limit;
    const statements = [...outcome.statements];
    if (!isThrough || isMore)
      statements.push(
        this.#saveBacklog({ organizationId, seq: reached ?? seq, part: outcome.part }),
      );
    else if (isBehind) {
      statements.push(this.#removeBacklog(organizationId));
      this.#careful.delete(organizationId);
    }
    return { statements, rows: outcome.rows, hasDeliveries: outcome.hasDeliveries === true };
  }

  async #readNextBacklogs(): Promise<Backlog<Part>[]> {
    const waiting = [...this.#careful].filter((id) => this.setbacks.isWaiting(id));
    const withoutWork = waiting.map((id) => this.#prefix + id);
    const next = await this.#readBacklogs(this.#lastServed, organizationsAtOnce, withoutWork);
    if (next.length > 0 || this.#lastServed === "") return next;
    return this.#readBacklogs("", organizationsAtOnce, withoutWork);
  }

  async #readBacklogs(
    after = "",
    limit = -1,
    without: readonly string[] = [],
  ): Promise<Backlog<Part>[]> {
    const prefix = this.#prefix;
    const rows = await this.#store.query<{ name: string; seq: number; part: string | null }>(
      `select name, seq, part from followers where name > ? and name < ?
         and name not in (select value from json_each(?)) order by name limit ?`,
      [`${prefix}${after}`, findPrefixEnd(prefix), JSON.stringify(without), limit],
    );
    return rows.map((row) => ({
      organizationId: row.name.slice(prefix.length),
      seq: row.seq,
      part: row.part === null ? null : (JSON.parse(row.part) as Part),
    }));
  }

  #saveBacklog({ organizationId, seq, part }: Backlog<Part>): Statement {
    return {
      text: "insert or replace into followers (name, seq, version, part) values (?, ?, 1, ?)",
      parameters: [this.#prefix + organizationId, seq, part === null ? null : JSON.stringify(part)],
    };
  }

  #removeBacklog(organizationId: string): Statement {
    return {
      text: "delete from followers where name = ?",
      parameters: [this.#prefix + organizationId],
    };
  }
}

/** Returns the first text after all texts with this prefix. The prefix must end with a slash. */
function findPrefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
