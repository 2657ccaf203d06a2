import type { Log } from "../core/log.ts";
import { retrying, type Statement, type Store } from "../database/store.ts";
import type { LoggedEvent } from "./catalogue.ts";
import { eventCursor, type followerNames } from "./cursor.ts";
import { readSinceOf } from "./log.ts";
import type { EventReader } from "./reader.ts";

/** Rows of one write, shared by the organizations in it. Other work runs between two writes. */
export const rowsAtOnce = 2_000;
/** Events of one organization whose subjects are read for one write. */
const eventsAtOnce = 500;
/** Organizations with a backlog that share one write. */
const organizationsAtOnce = 20;
/** Events gather for this long between two batches, so that a storm takes few writes. */
const gatherMs = 100;
/** Pause after a failed write. */
const retryMs = 1_000;

/** The next events of one organization, and how many rows they may become in this write. */
export type Work<E extends LoggedEvent, Part> = {
  organizationId: string;
  /** At least one, oldest first. */
  events: readonly E[];
  /** Progress of earlier writes with the first event; of another event if it names another one. */
  part: Part | null;
  rows: number;
};

export type Outcome<Part> = {
  statements: readonly Statement[];
  /** Rows that the statements write. */
  rows: number;
  /** Events that are finished; the others need another turn. */
  finished: number;
  /** Progress with the event after these. */
  part: Part | null;
};

type Rules<E extends LoggedEvent, Part> = {
  name: (typeof followerNames)[number];
  /** Whether an event can lead to anything. */
  concerns: (event: LoggedEvent) => event is E;
  /** Of these organizations those that have recipients. */
  listening: (organizationIds: readonly string[]) => Promise<ReadonlySet<string>>;
  decide: (work: Work<E, Part>) => Promise<Outcome<Part>>;
  /** Called after a write, with the organizations in it. */
  onWrite?: (organizationIds: readonly string[]) => void;
};

/** An organization that is behind the log: its last finished event. */
type Backlog<Part> = { organizationId: string; seq: number; part: Part | null };

export type FairFollower = ReturnType<typeof fairFollower>;

/**
 * Turns events into rows exactly once, in turns between organizations. A batch of the log is one write, in
 * which each organization has a share of the rows; an organization that needs more gets a row of its own in
 * `followers` and goes on from there, so that the cursor never waits for it. Its events keep their order.
 */
export function fairFollower<E extends LoggedEvent, Part>(store: Store, rules: Rules<E, Part>) {
  const { name, concerns } = rules;
  const cursor = eventCursor(store, name);
  const prefix = `${name}/`;
  /** The organization that had the last turn. */
  let lastServed = "";
  let pending: Promise<unknown> = Promise.resolve();

  /** One write at a time, first come, first served: each decision builds on the write before. */
  function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = pending.then(() => retrying(work));
    pending = result.catch(() => {});
    return result;
  }

  async function takeBatch(events: readonly LoggedEvent[]) {
    const position = await cursor.read();
    const unread = events.filter(({ seq }) => seq > position.seq).filter(concerns);
    const last = unread.at(-1);
    if (last === undefined) return;
    const groups = Map.groupBy(unread, ({ organizationId }) => organizationId);
    const listening = await rules.listening([...groups.keys()]);
    // Reading these events again costs less than a write.
    if (listening.size === 0) return cursor.skip(last.seq);
    const behind = new Set((await backlogs()).map(({ organizationId }) => organizationId));
    const part = position.part === null ? null : (JSON.parse(position.part) as Part);
    const works = [...groups]
      .filter(([id]) => listening.has(id) && !behind.has(id))
      // What the small ones leave of their shares is for the others.
      .sort(([, a], [, b]) => a.length - b.length)
      .map(([organizationId, own]) => ({ organizationId, seq: position.seq, part, events: own }));
    const statements = await decideAll(works, false);
    await cursor.advance(position, last.seq, statements);
    rules.onWrite?.([...groups.keys()]);
  }

  /** One write for the next organizations that are behind; returns whether there were any. */
  async function serveNext(): Promise<boolean> {
    const position = await cursor.read();
    const waiting = await nextBacklogs();
    if (waiting.length === 0) return false;
    const works = await Promise.all(
      waiting.map(async (one) => {
        const { organizationId, seq } = one;
        const limits = { after: seq, upTo: position.seq, limit: eventsAtOnce };
        return { ...one, events: await readSinceOf(store, organizationId, limits) };
      }),
    );
    const statements = await decideAll(works, true);
    await cursor.advance(position, position.seq, statements, position.part);
    lastServed = waiting.at(-1)?.organizationId ?? "";
    rules.onWrite?.(waiting.map(({ organizationId }) => organizationId));
    return true;
  }

  /** Divides the rows of one write among these organizations. */
  async function decideAll(
    works: readonly (Backlog<Part> & { events: readonly LoggedEvent[] })[],
    areBehind: boolean,
  ): Promise<Statement[]> {
    let left = rowsAtOnce;
    const all: Statement[] = [];
    for (const [index, work] of works.entries()) {
      const { organizationId, seq, part } = work;
      const read = work.events.slice(0, eventsAtOnce);
      const events = read.filter(concerns);
      const rows = Math.max(1, Math.floor(left / (works.length - index)));
      const outcome =
        events.length === 0
          ? { statements: [], rows: 0, finished: 0, part: null }
          : await rules.decide({ organizationId, events, part, rows });
      left -= outcome.rows;
      const isThrough = outcome.finished === events.length;
      const reached = isThrough ? read.at(-1)?.seq : events[outcome.finished - 1]?.seq;
      const isMore = work.events.length > read.length || read.length === eventsAtOnce;
      all.push(...outcome.statements);
      if (!isThrough || isMore)
        all.push(save({ organizationId, seq: reached ?? seq, part: outcome.part }));
      else if (areBehind) all.push(caughtUp(organizationId));
    }
    return all;
  }

  async function nextBacklogs(): Promise<Backlog<Part>[]> {
    const next = await backlogs(lastServed, organizationsAtOnce);
    return next.length > 0 || lastServed === "" ? next : backlogs("", organizationsAtOnce);
  }

  async function backlogs(after = "", limit = -1): Promise<Backlog<Part>[]> {
    const rows = await store.query<{ name: string; seq: number; part: string | null }>(
      "select name, seq, part from followers where name > ? and name < ? order by name limit ?",
      [`${prefix}${after}`, afterAll(prefix), limit],
    );
    return rows.map((row) => ({
      organizationId: row.name.slice(prefix.length),
      seq: row.seq,
      part: row.part === null ? null : (JSON.parse(row.part) as Part),
    }));
  }

  function save({ organizationId, seq, part }: Backlog<Part>): Statement {
    return {
      text: "insert or replace into followers (name, seq, version, part) values (?, ?, 1, ?)",
      parameters: [prefix + organizationId, seq, part === null ? null : JSON.stringify(part)],
    };
  }

  function caughtUp(organizationId: string): Statement {
    return { text: "delete from followers where name = ?", parameters: [prefix + organizationId] };
  }

  const take = (events: readonly LoggedEvent[]) => exclusively(() => takeBatch(events));
  const turn = () => exclusively(serveNext);

  /** Serves everything that is behind. */
  async function drain(isStopped = () => false) {
    while (!isStopped() && (await turn())) await Bun.sleep(0);
  }

  return {
    cursor,
    exclusively,
    /** Handles a batch of the log in one write. */
    take,
    /** One more write for organizations that are behind; returns whether there were any. */
    turn,
    drain,
    /** Saves the position of events that led to nothing. */
    save: () => exclusively(() => cursor.save()),
    /** Follows the log until it is stopped. */
    async start(reader: EventReader, log: Log) {
      let isStopped = false;
      let draining: Promise<void> | null = null;
      const drainAll = async () => {
        for (;;)
          try {
            return await drain(() => isStopped);
          } catch (error) {
            log.error("handling events failed", { subscriber: name, cause: String(error) });
            if (isStopped) return;
            await Bun.sleep(retryMs);
          }
      };
      const work = () => void (draining ??= drainAll().finally(() => void (draining = null)));
      const { seq } = await cursor.read();
      const subscription = reader.subscribe(name, seq, async (events) => {
        await take(events);
        work();
        await Bun.sleep(gatherMs);
      });
      work();
      return async () => {
        isStopped = true;
        await subscription.stop();
        await draining;
      };
    },
  };
}

/** The first text after all that begin with `prefix`, which ends with a slash. */
function afterAll(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
