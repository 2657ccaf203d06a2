/** Runs the compiled executable: commands, servers and free ports. */
import { join } from "node:path";

/** The compiled executable, tested from outside. */
export const binary = join(import.meta.dir, "..", "..", "dist", "signalbox");

// Below the range of ephemeral ports.
const [lowest, ranges, portsOfRange] = [10_000, 64, 340];
let ownRangeIndex: number | undefined;
let portsGiven = 0;

const firstPortOf = (range: number) => lowest + range * portsOfRange;

/** Index of the port range that this process reserves by listening on its first port. */
export const getOwnRange = (): number => (ownRangeIndex ??= reservePortRange());

function reservePortRange(): number {
  for (let offset = 0; offset < ranges; offset++) {
    const range = (process.pid + offset) % ranges;
    try {
      const port = firstPortOf(range);
      Bun.listen({ port, hostname: "127.0.0.1", socket: { data() {} } }).unref();
      return range;
    } catch {
      // Another process uses it.
    }
  }
  throw new Error("Other processes have all the ports of tests.");
}

/** A free port, a new one per call. No other test process uses it between probe and use. */
export function getFreePort(): number {
  const port = firstPortOf(getOwnRange()) + 1 + (portsGiven++ % (portsOfRange - 1));
  try {
    void Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() }).stop(true);
    return port;
  } catch {
    return getFreePort();
  }
}

export type Run = { exitCode: number; stdout: string; stderr: string };
type ProcessOptions = { cwd?: string; env?: Record<string, string | undefined> };

/**
 * Compiles only very hot code: a test ends before the optimizing compiler pays off, which uses a
 * quarter of a start's CPU time. Benchmarks and soak tests don't use this setting.
 */
const buildEnvironment = (env: ProcessOptions["env"] = process.env) =>
  process.env.NODE_ENV === "test"
    ? {
        BUN_JSC_thresholdForOptimizeAfterWarmUp: "100000",
        BUN_JSC_thresholdForOptimizeSoon: "100000",
        ...env,
      }
    : env;

/** Runs one command and waits until it exits. */
export async function runSignalbox(
  args: string[],
  { cwd, env }: ProcessOptions = {},
): Promise<Run> {
  const run = Bun.spawn([binary, ...args], {
    stdout: "pipe",
    stderr: "pipe",
    env: buildEnvironment(env),
    ...(cwd !== undefined && { cwd }),
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Resolves when the server responds; polls, because the process gives no signal. */
export async function waitUntilHealthy(url: string, path = "/healthz"): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}${path}`);
      return;
    } catch {
      await Bun.sleep(20);
    }
  }
}

/** Starts `serve` on loopback and waits until it responds. Default port: a free one. */
export async function startServer({
  dataDir,
  flags = [],
  port = getFreePort(),
  ...surroundings
}: { dataDir: string; flags?: string[]; port?: number } & ProcessOptions) {
  const { cwd, env } = surroundings;
  const child = Bun.spawn(
    [
      binary,
      "serve",
      "--data-dir",
      dataDir,
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      ...flags,
    ],
    {
      stdout: "pipe",
      stderr: "pipe",
      env: buildEnvironment(env),
      ...(cwd !== undefined && { cwd }),
    },
  );
  const url = `http://127.0.0.1:${port}`;
  let isUp = false;
  await Promise.race([
    waitUntilHealthy(url).then(() => (isUp = true)),
    child.exited.then(async (code) => {
      // After a successful start, the caller reads the output.
      if (isUp) return;
      throw new Error(`serve ended with ${code}: ${await new Response(child.stderr).text()}`);
    }),
  ]);
  return {
    url,
    port,
    child,
    /** Asks it to stop and returns the exit code. */
    async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
      child.kill(signal);
      return child.exited;
    },
  };
}
