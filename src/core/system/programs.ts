/** Runs programs with a timeout and bounded output. */
import { join } from "node:path";

/** Result of a finished program. */
export type Run = {
  /** Null where a signal ended it. */
  exitCode: number | null;
  signal: number | string | null;
  output: string;
  errors: string;
  /** Whether it said more than is read, and was ended for that. */
  isTooLong: boolean;
};

/** The environment of programs that we start. Ours can contain secrets, so it is not inherited. */
export const plainEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
};

/** The command that starts this program once more, compiled or not. */
export const ownCommand = (): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "..", "..", "main.ts")];

/**
 * Runs a program, never a shell, in its own process group. The group is killed when the program ends or the signal
 * aborts. Throws the system's error if it can't be started.
 */
export async function runProgram(
  command: readonly [string, ...string[]],
  { signal }: { signal: AbortSignal },
  { maxBytes, folder = "/" }: { maxBytes: number; folder?: string },
): Promise<Run> {
  const run = Bun.spawn([...command], {
    cwd: folder,
    env: plainEnvironment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const end = () => endGroup(run.pid);
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  let left = maxBytes;
  let isTooLong = false;
  async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      if (isTooLong) continue;
      left -= chunk.length;
      if (left >= 0) {
        chunks.push(chunk);
        continue;
      }
      isTooLong = true;
      end();
    }
    return Buffer.concat(chunks).toString();
  }
  const texts = Promise.all([textOf(run.stdout), textOf(run.stderr)]);
  await run.exited;
  // A child of the program can keep its output open.
  end();
  signal.removeEventListener("abort", end);
  const [output, errors] = await texts;
  return { exitCode: run.exitCode, signal: run.signalCode, output, errors, isTooLong };
}

/** Kills the process group of a program. */
export function endGroup(pid: number) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is already gone.
  }
}
