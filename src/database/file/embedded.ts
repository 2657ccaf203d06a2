/** Implements the Store on a SQLite file, with its connections, writes and errors. */
import { Database, type Statement as BunStatement } from "bun:sqlite";
import { AppError } from "../../core/errors.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import { createQueryBuilders } from "../query-builders.ts";
import { createWriteHealth } from "../write-health.ts";
import {
  compileStatement,
  portionRows,
  type Parameter,
  type Statement,
  type Store,
  findWrittenTable,
} from "../store.ts";

export type EmbeddedStore = Store & { close(): void };

type Write = {
  statements: readonly Statement[];
  resolve: () => void;
  reject: (error: unknown) => void;
};

/** Compiled statements per connection. A busy appliance uses about 300; Bun's default is 20. */
const maxStatements = 512;
Database.MAX_QUERY_CACHE_SIZE = maxStatements;

type Statements = (text: string) => BunStatement<unknown, Parameter[]>;

export const openDatabase = (file: string): Database =>
  applySettings(new Database(file, { create: true, strict: true }));

/** Settings of each connection: acknowledged writes are on the disk, and damage is detected early. */
export function applySettings(database: Database): Database {
  database.run("PRAGMA busy_timeout = 5000");
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA trusted_schema = OFF");
  database.run("PRAGMA cell_size_check = ON");
  database.run("PRAGMA journal_size_limit = 67108864");
  // Later checkpoints copy each page once, although check results write to the same pages repeatedly.
  database.run("PRAGMA wal_autocheckpoint = 4000");
  return database;
}

/** Quoted text, or a parameter. */
const quotedOrParameter = /'[^']*'|"[^"]*"|\?\d*/g;

/**
 * Returns a function that finds the compiled statement of a text. The query planner reads the values of plain
 * parameters, and SQLite compiles such a statement again for each new value, which takes up to 100 times as long as
 * running it. Parameters with a sign have the same value, but are not read by the planner.
 */
export function createStatements(database: Database): Statements {
  const signed = new Map<string, string>();
  return (text) => {
    let ownStatement = signed.get(text);
    if (ownStatement === undefined) {
      ownStatement = text.replace(quotedOrParameter, (part) =>
        part[0] === "?" ? `+${part}` : part,
      );
      // Bun's cache drops nothing, and compiles further statements at each use.
      if (signed.size === maxStatements) {
        signed.clear();
        database.clearQueryCache();
      }
      signed.set(text, ownStatement);
    }
    return database.query(ownStatement);
  };
}

/**
 * Creates the store on a local SQLite file. While `sharesCommits()` is true, writes of the same event-loop turn share
 * one COMMIT. Otherwise a write is committed within the turn, which is faster for a single client. It also serves
 * clients that pipeline: Bun closes a connection whose next request arrives before the previous response.
 */
export function createEmbeddedStore(
  database: Database,
  sharesCommits: () => boolean = () => true,
): EmbeddedStore {
  const health = createWriteHealth();
  const statements = createStatements(database);
  const writer = new Writer(database, statements, sharesCommits);
  const store: EmbeddedStore = {
    db: createQueryBuilders(async (text, parameters, method) => {
      const rows = writer.read(() => statements(text).values(...(parameters as Parameter[])));
      return { rows: method === "get" ? (rows[0] as unknown[]) : rows };
    }),
    atomic: (statements) => writer.add(statements),
    async query<Row>(text: string, parameters: readonly Parameter[]) {
      return writer.read(() => statements(text).all(...parameters) as Row[]);
    },
    writes: health,
    batchWindowMs: 250,
    revision(tables) {
      // SQLite's counter changes only with commits of other connections.
      try {
        const others = Number(statements("PRAGMA data_version").values()[0]?.[0]);
        return `${writer.findLastCommit(tables)}.${others}.${health.getFailingSince() ?? ""}`;
      } catch {
        return null;
      }
    },
    onCommit(listener) {
      writer.listeners.add(listener);
      return () => writer.listeners.delete(listener);
    },
    relaxed: () => store,
    close: () => writer.close(),
  };
  return store;
}

/** Commits queued writes. Stops all writes after the first damaged page. */
class Writer {
  readonly listeners = new Set<() => void>();
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #sharesCommits: () => boolean;
  readonly #queue: Write[] = [];
  #isWritingLong = false;
  #isDamaged = false;
  #commits = 0;
  /** Last commit per table; `null` holds commits whose tables are unknown. */
  readonly #commitOf = new Map<string | null, number>();

  constructor(database: Database, statements: Statements, sharesCommits: () => boolean) {
    this.#database = database;
    this.#statements = statements;
    this.#sharesCommits = sharesCommits;
  }

  /** Resolves when the statements are on the disk. */
  add(statements: readonly Statement[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ statements, resolve, reject });
    if (!this.#isWritingLong && this.#queue.length === 1) {
      if (this.#sharesCommits()) setImmediate(() => this.#flush());
      else queueMicrotask(() => this.#flush());
    }
    return promise;
  }

  read<T>(query: () => T): T {
    try {
      return query();
    } catch (error) {
      throw this.#translate(error, "read");
    }
  }

  /** Returns the number of this process's last commit to one of these tables, or to any table. */
  findLastCommit(tables?: readonly string[]): number {
    if (tables === undefined) return this.#commits;
    return Math.max(...[null, ...tables].map((table) => this.#commitOf.get(table) ?? 0));
  }

  close() {
    // Closing would merge the log into the file. In a damaged file, that could overwrite recoverable data.
    if (!this.#isDamaged) this.#database.close();
  }

  #flush() {
    while (!this.#isWritingLong && this.#queue.length > 0) {
      const length = this.#queue.findIndex((write) => this.#isLong(write));
      if (length === 0) void this.#writeLong(this.#queue.shift() as Write);
      else this.#writeTogether(this.#queue.splice(0, length === -1 ? this.#queue.length : length));
    }
  }

  /**
   * Whether a write would block the event loop for too long. In-memory databases can't use a second connection for
   * it.
   */
  #isLong({ statements }: Write): boolean {
    const hasFile = !["", ":memory:"].includes(this.#database.filename);
    return (
      hasFile && statements.reduce((sum, statement) => sum + countRows(statement), 0) > portionRows
    );
  }

  /**
   * Commits several writes with one COMMIT and thus one disk sync. Savepoints make them independent of each other.
   */
  #writeTogether(writes: readonly Write[]) {
    const database = this.#database;
    const tables = new Set<string | null>();
    const failures = new Map<Write, unknown>();
    try {
      if (this.#isDamaged) throw damagedError();
      database.run("BEGIN IMMEDIATE");
      this.#runEach(writes, tables, failures);
      database.run("COMMIT");
      this.#recordCommit(tables);
    } catch (error) {
      if (database.inTransaction) database.run("ROLLBACK");
      for (const write of writes) write.reject(failures.get(write) ?? this.#translate(error));
      return;
    }
    for (const write of writes) {
      if (failures.has(write)) write.reject(failures.get(write));
      else write.resolve();
    }
    for (const listener of this.listeners) listener();
  }

  /**
   * Runs the writes. Rolls back each failed write and adds its error to `failures`. Throws if the whole transaction
   * failed.
   */
  #runEach(writes: readonly Write[], tables: Set<string | null>, failures: Map<Write, unknown>) {
    const database = this.#database;
    for (const write of writes) {
      try {
        database.run("SAVEPOINT write");
        for (const statement of write.statements) runStatement(this.#statements, statement, tables);
        database.run("RELEASE write");
      } catch (error) {
        // SQLite rolls back automatically on a full disk or an I/O error.
        if (!database.inTransaction || isDamage(error)) throw error;
        database.run("ROLLBACK TO write");
        database.run("RELEASE write");
        failures.set(write, this.#translate(error));
      }
    }
  }

  /** Writes on a second connection, so that concurrent reads don't see uncommitted data. */
  async #writeLong({ statements, resolve, reject }: Write) {
    this.#isWritingLong = true;
    const tables = new Set<string | null>();
    let ownConnection: Database | null = null;
    try {
      if (this.#isDamaged) throw damagedError();
      const connection = applySettings(new Database(this.#database.filename, { strict: true }));
      ownConnection = connection;
      const compiled = createStatements(connection);
      // Leaves the checkpoint to the next write, because it would prolong this COMMIT.
      connection.run("PRAGMA wal_autocheckpoint = 0");
      connection.run("BEGIN IMMEDIATE");
      await forEachYielding(statements, (statement) => runStatement(compiled, statement, tables));
      connection.run("COMMIT");
      this.#recordCommit(tables);
      resolve();
      for (const listener of this.listeners) listener();
    } catch (error) {
      reject(this.#translate(error));
    } finally {
      try {
        if (ownConnection?.inTransaction === true) ownConnection.run("ROLLBACK");
      } finally {
        ownConnection?.close();
        this.#isWritingLong = false;
        this.#flush();
      }
    }
  }

  #recordCommit(tables: ReadonlySet<string | null>) {
    this.#commits++;
    for (const table of tables) this.#commitOf.set(table, this.#commits);
  }

  /** Converts an error for the caller. Disables writes after damage, which they could spread. */
  #translate(error: unknown, verb: "read" | "written" = "written"): unknown {
    if (isDamage(error)) {
      this.#isDamaged = true;
      return damagedError(error);
    }
    return isTemporary(error) ? unavailableError(verb, error) : error;
  }
}

const countRows = (statement: Statement) => ("text" in statement ? (statement.rows ?? 1) : 1);

function runStatement(statements: Statements, statement: Statement, tables: Set<string | null>) {
  const { text, parameters, otherwise } = compileStatement(statement);
  tables.add(findWrittenTable(text));
  try {
    statements(text).run(...parameters);
  } catch (error) {
    throw otherwise !== undefined && isGuardFailure(error) ? otherwise() : error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function isGuardFailure(error: unknown): boolean {
  return codeOf(error) === "SQLITE_CONSTRAINT_CHECK";
}

/** Whether the disk or another process prevents access, as opposed to damage of the file. */
export function isTemporary(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN)/.test(codeOf(error));
}

export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

function unavailableError(verb: string, cause: unknown): AppError {
  return new AppError("UNAVAILABLE", `The database can't be ${verb} right now. Try again soon.`, {
    headers: { "Retry-After": "5" },
    cause,
  });
}

function damagedError(cause?: unknown): AppError {
  return new AppError(
    "UNAVAILABLE",
    "The database is damaged. Nothing is written until a backup is restored.",
    { headers: { "Retry-After": "60" }, cause },
  );
}
