import type { Clock } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { firstIdAt, newId } from "../../core/ids.ts";
import { queryBuilders } from "../query-builders.ts";
import { type Result, type RqliteClient, type Sent, Unresolved } from "./client.ts";
import { sqlError, unavailable } from "./errors.ts";
import { writeHealth } from "../write-health.ts";
import { compiled, type Parameter, type Prepared, type Store } from "../store.ts";

type Write = {
  statements: readonly Prepared[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
};

type Fences = {
  /** How many this program knows: where a newer one has run more, nothing is written any more. */
  migrations?: number;
  /** Throws where nothing may be written for the clock of this machine. */
  inTime?: () => Promise<void>;
};

/** A request carries so many bytes of SQL at most; one write may not have more. */
const maxBytes = 64 * 1024 * 1024;
/** Writes that share a request have so many together: one that fails has the others sent again. */
const sharedBytes = 512 * 1024;
/** A commit syncs the logs of a majority of nodes twice, whatever it holds: fewer of them carry more checks. */
const batchWindowMs = 1_000;
/** Requests with writes that are under way at one time. */
const atOnce = 4;
/** How long a write may have been on its way before it is known to have got lost. */
const markedMs = 10 * 60_000;
const sweepMs = 60_000;

/**
 * The store on a rqlite cluster. A batch is one request and one entry of its log, which all nodes apply
 * alike or not at all. Each carries a marker, a row of its own: after a time-out, a lost connection or a
 * lost leader it says whether the batch was written, and makes it impossible to write it twice.
 */
export function rqliteStore(
  client: RqliteClient,
  clock: Clock,
  { migrations = Number.MAX_SAFE_INTEGER, inTime = async () => {} }: Fences = {},
): Store & { settled(): Promise<void> } {
  let queue: Write[] = [];
  let underWay = 0;
  let sweptAt = -Infinity;
  let idle = Promise.withResolvers<void>();
  idle.resolve();
  const listeners = new Set<() => void>();
  /** Markers of writes that were given up: from the next write on they can't happen any more. */
  const unresolved = new Set<string>();

  function start() {
    while (queue.length > 0 && underWay < atOnce) {
      const writes = nextWrites();
      underWay++;
      void run(writes).finally(() => {
        underWay--;
        start();
        if (underWay === 0 && queue.length === 0) idle.resolve();
      });
    }
  }

  function nextWrites(): Write[] {
    let bytes = 0;
    const end = queue.findIndex((write) => (bytes += write.bytes) > sharedBytes);
    return queue.splice(0, end === -1 ? queue.length : Math.max(end, 1));
  }

  async function run(writes: readonly Write[]): Promise<void> {
    try {
      const results = await send(writes.flatMap(({ statements }) => statements));
      const failed = results.findIndex(({ error }) => error !== undefined);
      if (failed === -1) {
        for (const { resolve } of writes) resolve();
        for (const listener of listeners) listener();
      } else if (writes.length === 1) {
        writes[0]?.reject(errorOf(writes[0].statements[failed], results[failed]?.error ?? ""));
      } else {
        // Nothing of them was written. Alone, each fails or holds by itself.
        await Promise.all(writes.map((write) => run([write])));
      }
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }

  /** The results of these statements; they end with the first that failed. */
  async function send(statements: readonly Prepared[]): Promise<Result[]> {
    await inTime();
    const marker = newId(clock());
    const given = [...unresolved];
    const before: Sent[] = [
      ...given.map((id): Sent => ["insert or ignore into write_markers (id) values (?)", id]),
      ...sweep(),
      [markUnlessNewer, migrations, marker],
    ];
    let isUnknown = false;
    const hasHappened = () => {
      isUnknown = true;
      return isMarked(marker);
    };
    const writes = statements.map(({ text, parameters }): Sent => [text, ...parameters]);
    try {
      const results = await client.execute([...before, ...writes], hasHappened);
      if (results === "happened" || isTaken(results[before.length - 1])) return [];
      const error = results.at(-1)?.error;
      if (error?.startsWith("NOT NULL constraint") && results.length === before.length)
        throw writtenByNewer();
      if (error === undefined) for (const id of given) unresolved.delete(id);
      else if (results.length <= before.length) throw sqlError(error);
      // It failed, but what was sent before may be on its way still.
      else if (isUnknown && (await isBeaten(marker))) return [];
      return results.slice(before.length);
    } catch (error) {
      if (!(error instanceof Unresolved)) throw error;
      unresolved.add(marker);
      throw error.error;
    }
  }

  /** Takes the marker away from a write that may be on its way. True where that came first. */
  async function isBeaten(marker: string): Promise<boolean> {
    const results = await client.execute([[mark, marker]], () => isMarked(marker));
    if (results === "happened") throw unavailable("a write failed, or happened before");
    return isTaken(results[0]);
  }

  async function isMarked(id: string): Promise<boolean> {
    const [result] = await client.query(
      [["select 1 from write_markers where id = ?", id]],
      "strong",
    );
    return (result?.values ?? []).length > 0;
  }

  function sweep(): Sent[] {
    const now = clock();
    if (Math.abs(now - sweptAt) < sweepMs) return [];
    sweptAt = now;
    return [["delete from write_markers where id < ?", firstIdAt(now - markedMs)]];
  }

  const reading = (
    ask: (queries: readonly Sent[]) => Promise<Result[]>,
  ): Pick<Store, "db" | "query"> => ({
    db: queryBuilders(async (text, parameters, method) => {
      const [{ values = [] } = {}] = await ask([[text, ...(parameters as Parameter[])]]);
      return { rows: method === "get" ? (values[0] as Parameter[]) : values };
    }),
    async query<Row>(text: string, parameters: readonly Parameter[]) {
      const [{ columns = [], values = [] } = {}] = await ask([[text, ...parameters]]);
      return values.map(
        (row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row,
      );
    },
  });

  const store: Store = {
    ...reading((queries) => client.query(queries)),
    async atomic(statements) {
      if (statements.length === 0) return;
      const prepared = statements.map(compiled);
      for (const { text } of prepared) mustBeWrite(text);
      const bytes = sizeOf(prepared);
      if (bytes > maxBytes)
        throw new AppError(
          "PAYLOAD_TOO_LARGE",
          `This is too much for one write: ${bytes} bytes, the limit is ${maxBytes}.`,
        );
      if (underWay === 0 && queue.length === 0) idle = Promise.withResolvers<void>();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ statements: prepared, bytes, resolve, reject });
      if (queue.length === 1) setImmediate(start);
      return promise;
    },
    writes: writeHealth(clock),
    batchWindowMs,
    revision: () => null,
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    relaxed: () => relaxed,
  };
  const relaxed: Store = {
    ...store,
    ...reading((queries) => client.queryRelaxed(queries)),
  };
  return { ...store, settled: () => idle.promise };
}

const mark = "insert into write_markers (id) values (?)";
/** Without a marker, which is refused, where the data has had more migrations. */
const markUnlessNewer = `insert into write_markers (id)
  select case when (select count(*) from __drizzle_migrations) <= ? then ? end`;
const writtenByNewer = () =>
  unavailable("a newer Signalbox has upgraded the data: this one can only read it");
const isTaken = (result?: Result) => result?.error?.startsWith("UNIQUE constraint") ?? false;

/** Characters are counted for bytes: nearly all are one, and the limit is far from where it would hurt. */
function sizeOf(statements: readonly Prepared[]): number {
  let size = 0;
  for (const { text, parameters } of statements) {
    size += text.length;
    for (const parameter of parameters)
      size += typeof parameter === "string" ? parameter.length : 8;
  }
  return size;
}

function errorOf(statement: Prepared | undefined, message: string): unknown {
  const { otherwise } = statement ?? {};
  return otherwise !== undefined && message.startsWith("CHECK constraint failed")
    ? otherwise()
    : sqlError(message);
}

const accepted = new Set<string>();

/**
 * What else might be in a batch is not undone with it, or is lost without a word: a SELECT, RETURNING,
 * a transaction of its own. Throws for a mistake of ours.
 */
function mustBeWrite(text: string) {
  if (accepted.has(text)) return;
  const bare = text.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''");
  const isWrite =
    /^\s*(insert|update|delete|replace)\b/i.test(bare) ||
    /^\s*with\b.*\b(insert into|update|delete from)\b/is.test(bare) ||
    /^\s*pragma user_version = \d+\s*$/i.test(bare);
  if (!isWrite || /\breturning\b|;\s*\S/i.test(bare))
    throw new Error(`A batch takes writes without RETURNING: ${text.slice(0, 80)}`);
  if (accepted.size > 5_000) accepted.clear();
  accepted.add(text);
}
