/** Stores the positions of followers in the event log. */
import { guardCondition, type Statement, type Store } from "../database/store.ts";

/** Last event that a follower has handled, and the version of its row in `followers`. */
export type Position = {
  seq: number;
  version: number;
  /** JSON of the progress within the next event, which can need several writes. */
  part: string | null;
};

/** Followers that handle each event exactly once. Events are removed only after all of these have handled them. */
export const followerNames = ["alerting", "subscribers"] as const;

export type EventCursor = ReturnType<typeof createEventCursor>;

/** Stored position of a follower. It advances in the same write as the follower's rows. */
export function createEventCursor(store: Store, name: (typeof followerNames)[number]) {
  let skipped: number | null = null;

  async function read(): Promise<Position> {
    const [row] = await store.query<Position>(
      "select seq, version, part from followers where name = ?",
      [name],
    );
    return row ?? { seq: 0, version: 0, part: null };
  }

  /**
   * Writes the effects of the events up to `seq` exactly once. Throws StaleRead if another process has advanced the
   * position.
   */
  async function advance(
    { version }: Position,
    seq: number,
    statements: readonly Statement[],
    part: string | null = null,
  ) {
    await store.atomic([
      guardCondition("coalesce((select version from followers where name = ?), 0) = ?", [
        name,
        version,
      ]),
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
    /** Skips events without effects. The new position is not written until the next effect. */
    skip: (seq: number) => void (skipped = seq),
    /** Saves the position of skipped events, unless a later write has saved it. */
    async save() {
      if (skipped === null) return;
      const from = await read();
      await advance(from, Math.max(from.seq, skipped), [], from.part);
    },
  };
}

/** Number of organizations with a backlog, per follower. */
export function countBacklogs(store: Store): Promise<{ follower: string; count: number }[]> {
  return store.query(
    `select value as follower, count(f.name) as count from json_each(?)
       left join followers f on f.name like value || '/%' group by value order by value`,
    [JSON.stringify(followerNames)],
  );
}

/** Moves a follower to the end of the log, and drops its unhandled events. */
export function skipAllEvents(name: string): Statement[] {
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
