/** Blocking access to rqlite with the interface of bun:sqlite. */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import type { Parameter } from "../../src/database/store.ts";

type Result = { columns?: string[]; values?: Parameter[][]; error?: string };
type Reply = { id: number; text?: string; bytes?: Uint8Array; error?: string };

const flag = new Int32Array(new SharedArrayBuffer(4));
const { port1, port2 } = new MessageChannel();
let worker: Worker | null = null;
let requests = 0;

function startWorker() {
  const started = new Worker(new URL("./synchronous-worker.ts", import.meta.url), {
    smol: true,
    ref: false,
  } as WorkerOptions);
  started.postMessage({ port: port2, flag }, [port2 as never]);
  port1.unref();
  return started;
}

/** One blocking HTTP request. */
function requestBlocking(url: string, body: string | null): Reply {
  worker ??= startWorker();
  const id = ++requests;
  Atomics.store(flag, 0, 0);
  port1.postMessage({ id, url, body });
  Atomics.wait(flag, 0, 0);
  for (;;) {
    const reply = receiveMessageOnPort(port1)?.message as Reply | undefined;
    if (reply?.id === id) return reply;
    // The message can arrive a moment after the flag.
    Atomics.wait(flag, 0, 1, 1);
  }
}

/** A bun:sqlite interface over rqlite, for tests that bypass the store. */
export function openSynchronousDatabase(host: string) {
  let writes: [string, ...Parameter[]][] | null = null;

  function sendStatements(
    kind: "query" | "execute",
    statements: [string, ...Parameter[]][],
  ): Result {
    // A pragma does nothing within a transaction.
    const parameters = kind === "query" ? "level=weak" : statements.length > 1 ? "transaction" : "";
    const reply = requestBlocking(
      `http://${host}/db/${kind}?${parameters}`,
      JSON.stringify(statements),
    );
    const { results = [], error } = JSON.parse(reply.text ?? `{"error":"${reply.error}"}`);
    const failed = error ?? (results as Result[]).find((result) => result.error)?.error;
    if (failed !== undefined) throw new Error(failed);
    return results[0];
  }

  const flattenParameters = (parameters: readonly unknown[]) => parameters.flat() as Parameter[];

  function run(text: string, ...parameters: unknown[]) {
    if (writes === null) sendStatements("execute", [[text, ...flattenParameters(parameters)]]);
    else writes.push([text, ...flattenParameters(parameters)]);
  }

  function queryValues(text: string, ...parameters: unknown[]) {
    if (/^\s*(insert|update|delete)/i.test(text)) {
      run(text, ...parameters);
      return { columns: [], values: [] };
    }
    const { columns = [], values: rows = [] } = sendStatements("query", [
      [text, ...flattenParameters(parameters)],
    ]);
    return { columns, values: rows };
  }

  function queryAll(text: string, ...parameters: unknown[]) {
    const { columns, values: rows } = queryValues(text, ...parameters);
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  }

  const query = (text: string) => ({
    run: (...parameters: unknown[]) => run(text, ...parameters),
    all: (...parameters: unknown[]) => queryAll(text, ...parameters),
    get: (...parameters: unknown[]) => queryAll(text, ...parameters)[0] ?? null,
    values: (...parameters: unknown[]) => queryValues(text, ...parameters).values,
  });

  return {
    query,
    prepare: query,
    run,
    /** Its writes are sent together at the end. */
    transaction: (work: () => unknown) => () => {
      writes = [];
      try {
        const returned = work();
        const batch = writes;
        writes = null;
        if (batch.length > 0) sendStatements("execute", batch);
        return returned;
      } finally {
        writes = null;
      }
    },
    serialize() {
      const image = requestBlocking(`http://${host}/db/backup`, null).bytes ?? new Uint8Array();
      // In memory there is no write-ahead log (sqlite.org/fileformat2.html).
      return image.fill(1, 18, 20);
    },
  };
}
