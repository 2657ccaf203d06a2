import { mustText, StaleRead, type Statement, type Store } from "../database/store.ts";

/** How far a subscriber of the events has come, and the version of that row. */
export type Position = {
  seq: number;
  version: number;
  /** JSON of what it has done beyond that, where an event takes more than one write. */
  part: string | null;
};

/** Those who do something exactly once: no event is removed that one of them has not passed. */
export const followerNames = ["alerting", "subscribers"] as const;

export type EventCursor = ReturnType<typeof eventCursor>;

/** The durable position of one subscriber in the event log, stored next to the rows it writes. */
export function eventCursor(store: Store, name: (typeof followerNames)[number]) {
  let skipped: number | null = null;

  async function read(): Promise<Position> {
    const [row] = await store.query<Position>(
      "select seq, version, part from followers where name = ?",
      [name],
    );
    return row ?? { seq: 0, version: 0, part: null };
  }

  /** Writes what followed from the events up to `seq`, exactly once: throws StaleRead where another process has moved on from `from`. */
  async function advance(
    { version }: Position,
    seq: number,
    statements: readonly Statement[],
    part: string | null = null,
  ) {
    await store.atomic([
      {
        ...mustText("coalesce((select version from followers where name = ?), 0) = ?"),
        parameters: [name, version],
        otherwise: () => new StaleRead(),
      },
      {
        text: "insert or replace into followers (name, seq, version, part) values (?, ?, ?, ?)",
        parameters: [name, seq, version + 1, part],
      },
      ...statements,
    ]);
    skipped = null;
  }

  return {
    read,
    advance,
    /** Passes events from which nothing followed: not worth a write of their own. */
    skip: (seq: number) => void (skipped = seq),
    /** Writes down how far it has skipped, where nothing advanced it. */
    async save() {
      if (skipped === null) return;
      const from = await read();
      await advance(from, Math.max(from.seq, skipped), [], from.part);
    },
  };
}

/** How many organizations each follower has yet to catch up with. */
export function countBacklogs(store: Store): Promise<{ follower: string; count: number }[]> {
  return store.query(
    `select value as follower, count(f.name) as count from json_each(?)
       left join followers f on f.name like value || '/%' group by value order by value`,
    [JSON.stringify(followerNames)],
  );
}

/** Moves a subscriber behind the newest event; events that it has not handled are dropped. */
export function passAllEvents(name: string): Statement[] {
  return [
    {
      text: `insert into followers (name, seq, version, part)
        select ?, coalesce(max(seq), 0), 1, null from events where true
        on conflict (name) do update set seq = excluded.seq, version = version + 1, part = null`,
      parameters: [name],
    },
    { text: "delete from followers where name like ? || '/%'", parameters: [name] },
  ];
}
