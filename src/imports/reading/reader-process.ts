/** Starts the child process that reads a source, and stops it beyond its bounds. */
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { AppError } from "../../core/errors.ts";
import { importBounds } from "../../core/limits.ts";
import { ownCommand, plainEnvironment } from "../../core/system/programs.ts";
import { bytesInWords } from "../../core/text/words.ts";
import { unreadable } from "../limits.ts";
import { readerCommand, type ReaderRequest, type ReaderResponse } from "./reader-messages.ts";

/** Processor time after which the system itself ends a reader whose server was killed. */
const processorSeconds = 900;
/** A response: a batch, or a single record with a picture in it. */
const maxResponseBytes = 4 * 1024 * 1024;
const memoryPollMs = 100;
/** The reader collects garbage as on a machine with this much memory: a third less is in use at a time. */
const collectedFromBytes = 256 * 1024 * 1024;

export type ReaderProcess = {
  /** Throws the reader's own error, or BAD_REQUEST where it exceeded a bound and was stopped. */
  request(request: ReaderRequest): Promise<unknown>;
  end(): Promise<void>;
};

/** What people call a source in an error. An address can have a password in it. */
export const nameOfSource = (from: string) =>
  /^(?:mysql|mariadb):\/\//i.test(from)
    ? `The database at ${URL.parse(from)?.hostname ?? "this address"}`
    : basename(from);

export type ReadingBounds = {
  /** Of one request. */
  seconds: number;
  memoryBytes: number;
};
const usualBounds: ReadingBounds = {
  seconds: importBounds.readingTime.value,
  memoryBytes: importBounds.readingMemory.value,
};

/** Starts a process that reads one file; `name` is that of the file, for errors. */
export function startReader(
  name: string,
  changedBounds: Partial<ReadingBounds> = {},
): ReaderProcess {
  const child = Bun.spawn(limited([...ownCommand(), readerCommand]), {
    env: { ...plainEnvironment, BUN_JSC_forceRAMSize: String(collectedFromBytes) },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const lines = linesOf(child.stdout);
  let stoppedFor: string | null = null;
  const stop = (reason: string) => {
    stoppedFor ??= reason;
    kill();
  };
  const failure = () => unreadable(name, stoppedFor ?? "the process that read it failed.");

  async function request(message: ReaderRequest) {
    const { seconds, memoryBytes } = { ...usualBounds, ...changedBounds };
    const timer = setTimeout(
      () => stop(`reading it takes longer than ${seconds} s.`),
      seconds * 1_000,
    );
    const watch = watchMemory(child.pid, memoryBytes, stop);
    try {
      await child.stdin.write(`${JSON.stringify(message)}\n`);
      await child.stdin.flush();
      const { value: line } = await lines.next();
      if (line === undefined) throw failure();
      return valueOf(JSON.parse(line) as ReaderResponse);
    } catch (error) {
      throw error instanceof AppError ? error : failure();
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

function valueOf(response: ReaderResponse): unknown {
  if ("value" in response) return response.value;
  const { code, message, details } = response.error;
  throw new AppError(code, message, details === undefined ? {} : { details });
}

/** With a limit of processor time, where there is a shell to set it. */
const limited = (command: string[]) =>
  existsSync("/bin/sh")
    ? ["/bin/sh", "-c", `ulimit -t ${processorSeconds}; exec "$@"`, "sh", ...command]
    : command;

/** Stops the reader when it has too much memory. Only Linux shows how much it has. */
function watchMemory(pid: number, most: number, stop: (reason: string) => void) {
  return setInterval(() => {
    void readFile(`/proc/${pid}/status`, "utf8").then(
      (status) => {
        const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
        if (Number(kib) * 1024 > most)
          stop(`reading it takes more than ${bytesInWords(most)} of memory.`);
      },
      () => {},
    );
  }, memoryPollMs);
}

/** Lines of at most `maxResponseBytes`. Ends early at a longer one. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
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
