/** Implements the Store on a rqlite cluster. */
import { minuteMs } from "../../core/time/clock.ts";
import type { Clock } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { buildFirstId, createId } from "../../core/ids.ts";
import { createQueryBuilders } from "../query-builders.ts";
import { type RqliteClient, type SentStatement, UnresolvedWrite } from "./client.ts";
import { type Result } from "./connection.ts";
import { toSqlError, unavailableError } from "./errors.ts";
import { createWriteHealth } from "../write-health.ts";
import { compileStatement, type Parameter, type Prepared, type Store } from "../store.ts";

type Write = {
  statements: readonly Prepared[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
};

type WriteConditions = {
  /** Number of migrations that this program knows. Writes are rejected if a newer version has run more. */
  migrations?: number;
  /** Throws while this machine's clock is too wrong for writes. */
  inTime?: () => Promise<void>;
};

/** Maximum bytes of a request, and thus of one write. */
const maxBytes = 64 * 1024 * 1024;
/** Maximum bytes of writes that share a request. If one of them fails, the others are sent again. */
const sharedBytes = 512 * 1024;
/**
 * How long background writes wait to share one commit, in milliseconds. A majority of nodes syncs its log twice per
 * commit, so fewer commits allow more checks.
 */
const batchWindowMs = 1_000;
/** Maximum concurrent requests with writes. */
const maxRequests = 4;
/** Retention of write markers. A write that was in flight for longer is certainly lost. */
const markerLifetimeMs = 10 * minuteMs;
const sweepIntervalMs = 60_000;

/**
 * Creates the store on a rqlite cluster. A batch is one request and one log entry, which all nodes apply completely
 * or not at all.
 */
export function createRqliteStore(
  client: RqliteClient,
  clock: Clock,
  fences: WriteConditions = {},
): Store & { waitUntilIdle(): Promise<void> } {
  const writer = new Writer(client, clock, fences);
  const store: Store = {
    ...createReader((queries) => client.query(queries)),
    atomic: async (statements) => {
      if (statements.length > 0) await writer.add(statements.map(compileStatement));
    },
    writes: createWriteHealth(clock),
    batchWindowMs,
    revision: () => null,
    onCommit(listener) {
      writer.listeners.add(listener);
      return () => writer.listeners.delete(listener);
    },
    relaxed: () => relaxed,
  };
  const relaxed: Store = { ...store, ...createReader((queries) => client.queryRelaxed(queries)) };
  return { ...store, waitUntilIdle: () => writer.settled() };
}

function createReader(
  query: (queries: readonly SentStatement[]) => Promise<Result[]>,
): Pick<Store, "db" | "query"> {
  return {
    db: createQueryBuilders(async (text, parameters, method) => {
      const [{ values = [] } = {}] = await query([[text, ...(parameters as Parameter[])]]);
      return { rows: method === "get" ? (values[0] as Parameter[]) : values };
    }),
    async query<Row>(text: string, parameters: readonly Parameter[]) {
      const [{ columns = [], values = [] } = {}] = await query([[text, ...parameters]]);
      return values.map(
        (row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row,
      );
    },
  };
}

/**
 * Queues writes and sends them in shared requests. Each request inserts a unique marker row. After a timeout, a lost
 * connection or a lost leader, the marker shows whether the request was applied. It also prevents a second
 * application.
 */
class Writer {
  readonly listeners = new Set<() => void>();
  readonly #client: RqliteClient;
  readonly #clock: Clock;
  readonly #fences: Required<WriteConditions>;
  #queue: Write[] = [];
  #requests = 0;
  #sweptAt = -Infinity;
  #idle = Promise.withResolvers<void>();
  /**
   * Markers of abandoned writes. The next request inserts them, after which these writes can't be applied any more.
   */
  readonly #unresolved = new Set<string>();

  constructor(client: RqliteClient, clock: Clock, fences: WriteConditions) {
    this.#client = client;
    this.#clock = clock;
    this.#fences = { migrations: Number.MAX_SAFE_INTEGER, inTime: async () => {}, ...fences };
    this.#idle.resolve();
  }

  /** Resolves when the statements are stored. */
  async add(statements: readonly Prepared[]): Promise<void> {
    for (const { text } of statements) assertWrite(text);
    const bytes = measureStatements(statements);
    if (bytes > maxBytes)
      throw new AppError(
        "PAYLOAD_TOO_LARGE",
        `This is too much for one write: ${bytes} bytes, the limit is ${maxBytes}.`,
      );
    if (this.#requests === 0 && this.#queue.length === 0)
      this.#idle = Promise.withResolvers<void>();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ statements, bytes, resolve, reject });
    if (this.#queue.length === 1) setImmediate(() => this.#start());
    return promise;
  }

  settled(): Promise<void> {
    return this.#idle.promise;
  }

  #start() {
    while (this.#queue.length > 0 && this.#requests < maxRequests) {
      const writes = this.#takeWrites();
      this.#requests++;
      void this.#run(writes).finally(() => {
        this.#requests--;
        this.#start();
        if (this.#requests === 0 && this.#queue.length === 0) this.#idle.resolve();
      });
    }
  }

  #takeWrites(): Write[] {
    let bytes = 0;
    const end = this.#queue.findIndex((write) => (bytes += write.bytes) > sharedBytes);
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(end, 1));
  }

  async #run(writes: readonly Write[]): Promise<void> {
    try {
      const results = await this.#send(writes.flatMap(({ statements }) => statements));
      const failed = results.findIndex(({ error }) => error !== undefined);
      if (failed === -1) {
        for (const { resolve } of writes) resolve();
        for (const listener of this.listeners) listener();
      } else if (writes.length === 1) {
        writes[0]?.reject(toError(writes[0].statements[failed], results[failed]?.error ?? ""));
      } else {
        // Nothing was written. Each write is sent alone, so that only invalid writes fail.
        await Promise.all(writes.map((write) => this.#run([write])));
      }
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }

  /** Sends statements and returns their results, which end with the first failed statement. */
  async #send(statements: readonly Prepared[]): Promise<Result[]> {
    await this.#fences.inTime();
    const marker = createId(this.#clock());
    const unresolvedMarkers = [...this.#unresolved];
    const before: SentStatement[] = [
      ...unresolvedMarkers.map((id): SentStatement => [
        "insert or ignore into write_markers (id) values (?)",
        id,
      ]),
      ...this.#sweep(),
      [markerUnlessNewerSql, this.#fences.migrations, marker],
    ];
    let isUnknown = false;
    const hasHappened = () => {
      isUnknown = true;
      return this.#isMarked(marker);
    };
    const writes = statements.map(({ text, parameters }): SentStatement => [text, ...parameters]);
    try {
      const results = await this.#client.execute([...before, ...writes], hasHappened);
      if (results === "happened" || isUniqueViolation(results[before.length - 1])) return [];
      const error = results.at(-1)?.error;
      if (error?.startsWith("NOT NULL constraint") && results.length === before.length)
        throw writtenByNewerError();
      if (error === undefined) for (const id of unresolvedMarkers) this.#unresolved.delete(id);
      else if (results.length <= before.length) throw toSqlError(error);
      // This attempt failed, but an earlier attempt can still be in flight.
      else if (isUnknown && (await this.#isAppliedDespiteFailure(marker))) return [];
      return results.slice(before.length);
    } catch (error) {
      if (!(error instanceof UnresolvedWrite)) throw error;
      this.#unresolved.add(marker);
      throw error.error;
    }
  }

  /**
   * Inserts the marker of a write in flight, so that the write can't be applied later. Returns true if it was applied
   * before.
   */
  async #isAppliedDespiteFailure(marker: string): Promise<boolean> {
    const results = await this.#client.execute([[markerSql, marker]], () => this.#isMarked(marker));
    if (results === "happened") throw unavailableError("a write failed, or happened before");
    return isUniqueViolation(results[0]);
  }

  async #isMarked(id: string): Promise<boolean> {
    const [result] = await this.#client.query(
      [["select 1 from write_markers where id = ?", id]],
      "strong",
    );
    return (result?.values ?? []).length > 0;
  }

  #sweep(): SentStatement[] {
    const now = this.#clock();
    if (Math.abs(now - this.#sweptAt) < sweepIntervalMs) return [];
    this.#sweptAt = now;
    return [["delete from write_markers where id < ?", buildFirstId(now - markerLifetimeMs)]];
  }
}

const markerSql = "insert into write_markers (id) values (?)";
/** Statement that violates NOT NULL if the database has more migrations than this program knows. */
const markerUnlessNewerSql = `insert into write_markers (id)
  select case when (select count(*) from __drizzle_migrations) <= ? then ? end`;
const writtenByNewerError = () =>
  unavailableError("a newer Signalbox has upgraded the data: this one can only read it");
const isUniqueViolation = (result?: Result) =>
  result?.error?.startsWith("UNIQUE constraint") ?? false;

/** Estimates bytes by counting characters. Most characters are one byte, and the limit has a large margin. */
function measureStatements(statements: readonly Prepared[]): number {
  let size = 0;
  for (const { text, parameters } of statements) {
    size += text.length;
    for (const parameter of parameters)
      size += typeof parameter === "string" ? parameter.length : 8;
  }
  return size;
}

function toError(statement: Prepared | undefined, message: string): unknown {
  const { otherwise } = statement ?? {};
  return otherwise !== undefined && message.startsWith("CHECK constraint failed")
    ? otherwise()
    : toSqlError(message);
}

const acceptedStatements = new Set<string>();

/** Throws for statements that rqlite would not roll back with their batch, or would silently drop. */
function assertWrite(text: string) {
  if (acceptedStatements.has(text)) return;
  const bare = text.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''");
  const isWrite =
    /^\s*(insert|update|delete|replace)\b/i.test(bare) ||
    /^\s*with\b.*\b(insert into|update|delete from)\b/is.test(bare) ||
    /^\s*pragma user_version = \d+\s*$/i.test(bare);
  if (!isWrite || /\breturning\b|;\s*\S/i.test(bare))
    throw new Error(`A batch takes writes without RETURNING: ${text.slice(0, 80)}`);
  if (acceptedStatements.size > 5_000) acceptedStatements.clear();
  acceptedStatements.add(text);
}
