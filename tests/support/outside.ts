import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Run, signalbox, startServer } from "./binary.ts";

type Surroundings = { cwd?: string; env?: Record<string, string | undefined> };
type Start = Surroundings & { flags?: string[]; port?: number };
type Server = Awaited<ReturnType<typeof startServer>>;

/** One machine for one test: an empty directory and whatever is started in it, gone at the test's end. */
export function machine(disk = tmpdir()) {
  const directory = mkdtempSync(join(disk, "signalbox-test-"));
  const dataDir = join(directory, "data");
  const servers: Server[] = [];
  return {
    directory,
    dataDir,
    /** Runs a command on the machine's data to its end. */
    run: (args: string[], surroundings?: Surroundings): Promise<Run> =>
      signalbox([...args, "--data-dir", dataDir], surroundings),
    async serve({ flags = [], ...surroundings }: Start = {}): Promise<Server> {
      const server = await startServer({ dataDir, flags, ...surroundings });
      servers.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop("SIGKILL")));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A machine that has an organization and a key that may write. */
export async function machineWithKey(disk?: string) {
  const made = machine(disk);
  await succeeded(made.run(["orgs", "create", "Acme"]));
  const args = ["keys", "create", "--org", "acme", "--name", "Script"];
  return { ...made, key: await succeeded(made.run(args)) };
}

/** What a command wrote to stdout; throws unless it exits with 0. */
export async function succeeded(run: Promise<Run>): Promise<string> {
  const { exitCode, stdout, stderr } = await run;
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`);
  return stdout.trim();
}

export type Outside = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; headers: Headers; json: any }>;

/** A client of a running server. */
export function clientOf(url: string, key: string): Outside {
  return async (method, path, body, further = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...further,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    return { status, headers, json: await response.json() };
  };
}
