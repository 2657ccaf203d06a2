import { mustText, StaleRead, type Statement, type Store } from "../database/store.ts";

/** How far a reader of the events has come, and the version of that row. */
export type Place = {
  seq: number;
  version: number;
  /** JSON of what it has done beyond that, where an event takes more than one write. */
  part: string | null;
};

export type EventCursor = {
  place(): Promise<Place>;
  /** Writes what followed from the events up to `seq`, exactly once: throws StaleRead where another process has moved on from `from`. */
  move(
    from: Place,
    seq: number,
    statements: readonly Statement[],
    part?: string | null,
  ): Promise<void>;
  /** Passes events from which nothing followed: not worth a write of their own. */
  pass(seq: number): void;
  /** Writes down how far it has passed, where no move did. */
  save(): Promise<void>;
};

/** The place of one reader in the log of events, kept beside what it makes of them. */
export function eventCursor(store: Store, name: string): EventCursor {
  let passed: number | null = null;

  async function place(): Promise<Place> {
    const [row] = await store.query<Place>(
      "select seq, version, part from followers where name = ?",
      [name],
    );
    return row ?? { seq: 0, version: 0, part: null };
  }

  async function move(
    { version }: Place,
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
    passed = null;
  }

  return {
    place,
    move,
    pass: (seq) => void (passed = seq),
    async save() {
      if (passed === null) return;
      const from = await place();
      await move(from, Math.max(from.seq, passed), [], from.part);
    },
  };
}
