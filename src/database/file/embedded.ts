import { Database } from "bun:sqlite";
import { AppError } from "../../core/errors.ts";
import { eachYielding } from "../../core/time/yielding.ts";
import { queryBuilders } from "../query-builders.ts";
import { writeHealth } from "../write-health.ts";
import {
  compiled,
  portion,
  type Parameter,
  type Statement,
  type Store,
  tableWrittenBy,
} from "../store.ts";

export type EmbeddedStore = Store & { close(): void };

type Write = {
  statements: readonly Statement[];
  resolve: () => void;
  reject: (error: unknown) => void;
};

// Bun keeps the last 20 statements prepared; an appliance at work goes round among a hundred.
Database.MAX_QUERY_CACHE_SIZE = 256;

export const openDatabase = (file: string): Database =>
  withSettings(new Database(file, { create: true, strict: true }));

/** The settings every connection of ours has: an answered write is on the disk, and damage is found early. */
export function withSettings(database: Database): Database {
  database.run("PRAGMA busy_timeout = 5000");
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA trusted_schema = OFF");
  database.run("PRAGMA cell_size_check = ON");
  database.run("PRAGMA journal_size_limit = 67108864");
  // Results of checks touch the same pages again and again: gathered, they are moved over once.
  database.run("PRAGMA wal_autocheckpoint = 4000");
  return database;
}

const rowsOf = (statement: Statement) => ("text" in statement ? (statement.rows ?? 1) : 1);

/**
 * The store on one SQLite file of this machine. Writes that arrive in the same turn of the event loop
 * share one COMMIT while `sharesCommits`; else a write is committed before the turn goes on, which
 * answers a lone client sooner, also one that pipelines: Bun closes a connection whose next request
 * arrives before the answer to the last one.
 */
export function embeddedStore(
  database: Database,
  sharesCommits: () => boolean = () => true,
): EmbeddedStore {
  const queue: Write[] = [];
  let isWritingLong = false;
  let commits = 0;
  /** The last commit that wrote to each table; to who knows which, under null. */
  const written = new Map<string | null, number>();
  let isDamaged = false;
  const listeners = new Set<() => void>();
  const writes = writeHealth();
  const dataVersion = database.query<{ data_version: number }, []>("PRAGMA data_version");

  function flush() {
    while (!isWritingLong && queue.length > 0) {
      const length = queue.findIndex(isLong);
      if (length === 0) void writeLong(queue.shift()!);
      else writeTogether(queue.splice(0, length === -1 ? queue.length : length));
    }
  }

  // A database in memory has no other connection.
  const hasFile = !["", ":memory:"].includes(database.filename);

  /** Whether it would hold the event loop for too long if it were done in one turn. */
  const isLong = ({ statements }: Write) =>
    hasFile && statements.reduce((sum, statement) => sum + rowsOf(statement), 0) > portion;

  // One COMMIT is one sync of the disk; a savepoint each keeps the writes independent of one another.
  function writeTogether(writes: readonly Write[]) {
    const tables = new Set<string | null>();
    const failures = new Map<Write, unknown>();
    try {
      if (isDamaged) throw damaged();
      database.run("BEGIN IMMEDIATE");
      for (const write of writes) {
        try {
          database.run("SAVEPOINT write");
          for (const statement of write.statements) run(database, statement, tables);
          database.run("RELEASE write");
        } catch (error) {
          // SQLite ends the whole transaction by itself on a full disk or an I/O error.
          if (!database.inTransaction || isDamage(error)) throw error;
          database.run("ROLLBACK TO write");
          database.run("RELEASE write");
          failures.set(write, translated(error));
        }
      }
      database.run("COMMIT");
      committed(tables);
    } catch (error) {
      if (database.inTransaction) database.run("ROLLBACK");
      for (const write of writes) write.reject(failures.get(write) ?? translated(error));
      return;
    }
    for (const write of writes) {
      if (failures.has(write)) write.reject(failures.get(write));
      else write.resolve();
    }
    for (const listener of listeners) listener();
  }

  /** On a connection of its own, so that what is read between two of its statements is what was there before. */
  async function writeLong({ statements, resolve, reject }: Write) {
    isWritingLong = true;
    const tables = new Set<string | null>();
    let own: Database | null = null;
    try {
      if (isDamaged) throw damaged();
      const connection = withSettings(new Database(database.filename, { strict: true }));
      own = connection;
      // What is moved from the log into the file is moved with the next write, not in the same turn as the COMMIT.
      connection.run("PRAGMA wal_autocheckpoint = 0");
      connection.run("BEGIN IMMEDIATE");
      await eachYielding(statements, (statement) => run(connection, statement, tables));
      connection.run("COMMIT");
      committed(tables);
      resolve();
      for (const listener of listeners) listener();
    } catch (error) {
      reject(translated(error));
    } finally {
      try {
        if (own?.inTransaction === true) own.run("ROLLBACK");
      } finally {
        own?.close();
        isWritingLong = false;
        flush();
      }
    }
  }

  function committed(tables: ReadonlySet<string | null>) {
    commits++;
    for (const table of tables) written.set(table, commits);
  }

  function run(connection: Database, statement: Statement, tables: Set<string | null>) {
    const { text, parameters, otherwise } = compiled(statement);
    tables.add(tableWrittenBy(text));
    try {
      connection.query(text).run(...parameters);
    } catch (error) {
      throw otherwise !== undefined && isGuardFailure(error) ? otherwise() : error;
    }
  }

  /** What is thrown instead. Once a damaged page was seen nothing is written any more, which might spread it. */
  function translated(error: unknown, verb: "read" | "written" = "written"): unknown {
    if (isDamage(error)) {
      isDamaged = true;
      return damaged(error);
    }
    return isTemporary(error) ? unavailable(verb, error) : error;
  }

  function reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw translated(error, "read");
    }
  }

  const store: EmbeddedStore = {
    db: queryBuilders(async (text, parameters, method) => {
      const rows = reading(() => database.query(text).values(...(parameters as Parameter[])));
      return { rows: method === "get" ? (rows[0] as unknown[]) : rows };
    }),
    atomic(statements) {
      return new Promise<void>((resolve, reject) => {
        queue.push({ statements, resolve, reject });
        if (isWritingLong || queue.length > 1) return;
        if (sharesCommits()) setImmediate(flush);
        else queueMicrotask(flush);
      });
    },
    async query<Row>(text: string, parameters: readonly Parameter[]) {
      return reading(() => database.query<Row, Parameter[]>(text).all(...parameters));
    },
    writes,
    batchWindowMs: 250,
    revision(tables) {
      const last =
        tables === undefined
          ? commits
          : Math.max(...[null, ...tables].map((table) => written.get(table) ?? 0));
      // SQLite's own counter moves only for the commits of other connections.
      try {
        return `${last}.${dataVersion.get()?.data_version}.${writes.failingSince() ?? ""}`;
      } catch {
        return null;
      }
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    relaxed: () => store,
    close() {
      // Closing merges the log into the file: into a damaged one, that would overwrite what can still be saved.
      if (!isDamaged) database.close();
    },
  };
  return store;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function isGuardFailure(error: unknown): boolean {
  return codeOf(error) === "SQLITE_CONSTRAINT_CHECK";
}

/** Whether the disk or another process is what stands in the way, rather than what is in the file. */
export function isTemporary(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN)/.test(codeOf(error));
}

export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

function unavailable(verb: string, cause: unknown): AppError {
  return new AppError("UNAVAILABLE", `The database can't be ${verb} right now. Try again soon.`, {
    headers: { "Retry-After": "5" },
    cause,
  });
}

function damaged(cause?: unknown): AppError {
  return new AppError(
    "UNAVAILABLE",
    "The database is damaged. Nothing is written any more until a backup is restored.",
    { headers: { "Retry-After": "60" }, cause },
  );
}
