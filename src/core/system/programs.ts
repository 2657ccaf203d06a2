/** Runs programs with a timeout and limited output. */
import { join } from "node:path";

/** Result of a finished program. */
export type Run = {
  /** Exit code; null if a signal ended the program. */
  exitCode: number | null;
  signal: number | string | null;
  output: string;
  errors: string;
  /** Whether the output exceeded `maxBytes`, which ends the program. */
  isTooLong: boolean;
};

/** Environment of child processes. They don't inherit ours, which can contain secrets. */
export const plainEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
};

/** Command line that starts Signalbox again, compiled or from source. */
export const getOwnCommand = (): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "..", "..", "main.ts")];

/**
 * Runs a program without a shell, in a new process group. Kills the group when the program ends or the signal aborts.
 * Throws the system's error if the program can't be started.
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
  const killProgram = () => killGroup(run.pid);
  if (signal.aborted) killProgram();
  signal.addEventListener("abort", killProgram);
  let bytesLeft = maxBytes;
  let isTooLong = false;
  async function readOutput(stream: ReadableStream<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) {
      if (isTooLong) continue;
      bytesLeft -= chunk.length;
      if (bytesLeft >= 0) {
        chunks.push(chunk);
        continue;
      }
      isTooLong = true;
      killProgram();
    }
    return Buffer.concat(chunks).toString();
  }
  const texts = Promise.all([readOutput(run.stdout), readOutput(run.stderr)]);
  await run.exited;
  // Kills remaining children, which could hold the output open.
  killProgram();
  signal.removeEventListener("abort", killProgram);
  const [output, errors] = await texts;
  return { exitCode: run.exitCode, signal: run.signalCode, output, errors, isTooLong };
}

/** Kills the process group of a program. */
export function killGroup(pid: number) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group no longer exists.
  }
}
