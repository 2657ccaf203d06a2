/** Starts the child process that reads a source, and kills it if it exceeds a limit. */
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { AppError } from "../../core/errors.ts";
import { importBounds } from "../../core/limits.ts";
import { getOwnCommand, plainEnvironment } from "../../core/system/programs.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import { createUnreadableError } from "../limits.ts";
import { readerCommand, type ReaderRequest, type ReaderResponse } from "./reader-messages.ts";

/** CPU time limit of the reader in seconds. The kernel enforces it even if the server was killed. */
const processorSeconds = 900;
/** Maximum size of a response, which contains a batch or one record with a picture. */
const maxResponseBytes = 4 * 1024 * 1024;
const memoryPollMs = 100;
/** Memory size that the reader's garbage collector assumes. It reduces memory use by a third. */
const collectionThresholdBytes = 256 * 1024 * 1024;

export type ReaderProcess = {
  /** Sends a request. Throws the reader's error, or BAD_REQUEST if the reader exceeded a limit. */
  request(request: ReaderRequest): Promise<unknown>;
  end(): Promise<void>;
};

/** Returns the name of a source for errors. Hides addresses, because they can contain a password. */
export const describeSource = (from: string) =>
  /^(?:mysql|mariadb):\/\//i.test(from)
    ? `The database at ${URL.parse(from)?.hostname ?? "this address"}`
    : basename(from);

export type ReadingBounds = {
  /** Timeout of one request, in seconds. */
  seconds: number;
  memoryBytes: number;
};
const defaultBounds: ReadingBounds = {
  seconds: importBounds.readingTime.value,
  memoryBytes: importBounds.readingMemory.value,
};

/** Starts a process that reads one file. Errors refer to the file as `name`. */
export function startReader(
  name: string,
  changedBounds: Partial<ReadingBounds> = {},
): ReaderProcess {
  const child = Bun.spawn(limitProcessor([...getOwnCommand(), readerCommand]), {
    env: { ...plainEnvironment, BUN_JSC_forceRAMSize: String(collectionThresholdBytes) },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const lines = readLines(child.stdout);
  let stoppedFor: string | null = null;
  const stop = (reason: string) => {
    stoppedFor ??= reason;
    kill();
  };
  const createFailure = () =>
    createUnreadableError(name, stoppedFor ?? "the process that read it failed.");

  async function request(message: ReaderRequest) {
    const { seconds, memoryBytes } = { ...defaultBounds, ...changedBounds };
    const timer = setTimeout(
      () => stop(`reading it takes longer than ${seconds} s.`),
      seconds * 1_000,
    );
    const watch = watchMemory(child.pid, memoryBytes, stop);
    try {
      await child.stdin.write(`${JSON.stringify(message)}\n`);
      await child.stdin.flush();
      const { value: line } = await lines.next();
      if (line === undefined) throw createFailure();
      return unwrapResponse(JSON.parse(line) as ReaderResponse);
    } catch (error) {
      throw error instanceof AppError ? error : createFailure();
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  return {
    request,
    async end() {
      kill();
      process.off("exit", kill);
      await child.exited;
    },
  };
}

function unwrapResponse(response: ReaderResponse): unknown {
  if ("value" in response) return response.value;
  const { code, message, details } = response.error;
  throw new AppError(code, message, details === undefined ? {} : { details });
}

/** Adds a CPU time limit if the system has a shell. */
const limitProcessor = (command: string[]) =>
  existsSync("/bin/sh")
    ? ["/bin/sh", "-c", `ulimit -t ${processorSeconds}; exec "$@"`, "sh", ...command]
    : command;

/** Stops the reader if it exceeds the memory limit. Works only on Linux. */
function watchMemory(pid: number, maxBytes: number, stop: (reason: string) => void) {
  return setInterval(() => {
    void readFile(`/proc/${pid}/status`, "utf8").then(
      (status) => {
        const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
        if (Number(kib) * 1024 > maxBytes)
          stop(`reading it takes more than ${formatBytes(maxBytes)} of memory.`);
      },
      () => {},
    );
  }, memoryPollMs);
}

/** Yields lines of at most `maxResponseBytes`. Stops at a longer line. */
async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      chunks.push(rest.subarray(0, end));
      yield Buffer.concat(chunks).toString();
      chunks = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
    chunks.push(rest);
    bytes += rest.length;
    if (bytes > maxResponseBytes) return undefined;
  }
  return undefined;
}
