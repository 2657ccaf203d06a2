/** A machine for the executable: its data directory, commands, server and REST client. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { binary, type Run, runSignalbox, startServer } from "./binary.ts";
import type { Json } from "./json.ts";

type ProcessOptions = { cwd?: string; env?: Record<string, string | undefined> };
type Start = ProcessOptions & { flags?: string[]; port?: number };
type Server = Awaited<ReturnType<typeof startServer>>;

/** A machine for one test: an empty directory and its processes, removed at the end of the test. */
export function createMachine(disk = tmpdir()) {
  const directory = mkdtempSync(join(disk, "signalbox-test-"));
  const dataDir = join(directory, "data");
  const servers: Server[] = [];
  return {
    directory,
    dataDir,
    /** Runs a command on the machine's data and waits until it exits. */
    run: (args: string[], surroundings?: ProcessOptions): Promise<Run> =>
      runSignalbox([...args, "--data-dir", dataDir], surroundings),
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

/** A machine with an organization and a key with write access; `disk` places its data on another disk. */
export async function createMachineWithKey(disk?: string) {
  if (disk !== undefined) return createNewMachineWithKey(disk);
  const template = await getTemplate();
  const machine = createMachine();
  cpSync(join(template, "data"), machine.dataDir, { recursive: true });
  return { ...machine, key: readFileSync(join(template, "key"), "utf8") };
}

async function createNewMachineWithKey(disk: string) {
  const machine = createMachine(disk);
  await expectSuccess(machine.run(["orgs", "create", "Acme"]));
  const args = ["keys", "create", "--org", "acme", "--name", "Script"];
  return { ...machine, key: await expectSuccess(machine.run(args)) };
}

/** A machine to copy, created once per build. */
async function getTemplate(): Promise<string> {
  const template = join(dirname(binary), "machine-with-key");
  if (existsSync(template)) return template;
  const newMachineWithKey = await createNewMachineWithKey(dirname(binary));
  writeFileSync(join(newMachineWithKey.directory, "key"), newMachineWithKey.key);
  try {
    renameSync(newMachineWithKey.directory, template);
  } catch {
    // Another process created it first.
    rmSync(newMachineWithKey.directory, { recursive: true });
  }
  return template;
}

/** Output of a command; throws unless it exits with 0. */
export async function expectSuccess(run: Promise<Run>): Promise<string> {
  const { exitCode, stdout, stderr } = await run;
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`);
  return stdout.trim();
}

export type ServerClient = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; headers: Headers; json: Json }>;

/** A client of a running server. */
export function createServerClient(url: string, key: string): ServerClient {
  return async (method, path, body, extraHeaders = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      // A reused connection can be one that the server has just closed as idle, so only reads reuse
      // connections.
      keepalive: method === "GET",
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...extraHeaders,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    return { status, headers, json: await response.json() };
  };
}

/** The first output of `serve`. */
export async function readFirstLines(child: {
  stdout: ReadableStream<Uint8Array>;
}): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("/docs")) break;
  }
  return text;
}
