/** Servers of the executable on one rqlite cluster, and their clients. */
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./appliance.ts";
import { binary, getFreePort, waitUntilHealthy } from "./binary.ts";
import { createMachine, expectSuccess } from "./machine.ts";
import type { RqliteNode } from "./rqlite.ts";

export type Server = ReturnType<typeof createTestServer>;

/** Servers of one cluster, not started, with an organization “Acme” and a key with write access. */
export async function createServers(databases: readonly RqliteNode[], count: number) {
  const address = `rqlite://${databases.map(({ host }) => host).join(",")}`;
  const servers = Array.from({ length: count }, () => createTestServer(address));
  const [first, ...others] = servers as [Server, ...Server[]];
  await first.run(["orgs", "create", "Acme"]);
  const key = await first.run(["keys", "create", "--org", "acme", "--name", "Script"]);
  for (const { dataDir } of others) {
    mkdirSync(dataDir, { mode: 0o700 });
    copyFileSync(join(first.dataDir, "secret.key"), join(dataDir, "secret.key"));
  }
  return { servers, key };
}

/** A server of the executable, with clients that outlive it. */
function createTestServer(database: string) {
  const box = createMachine();
  const { PATH = "" } = process.env;
  const env = { PATH, SIGNALBOX_DATABASE: database };
  const log = join(box.directory, "log");
  const port = getFreePort();
  const url = `http://127.0.0.1:${port}`;
  const address = ["--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", String(port)];
  let running: Bun.Subprocess | null = null;
  return {
    ...box,
    url,
    pid: () => running?.pid ?? 0,
    run: (args: string[]) => expectSuccess(box.run(args, { env })),
    isUp: () => running !== null,
    async start(flags: readonly string[] = []) {
      const output = openSync(log, "a");
      const args = [binary, "serve", ...address, "--rate-limit", "0", ...flags];
      const started = Bun.spawn(args, { env, stdio: ["ignore", output, output] });
      closeSync(output);
      running = started;
      await Promise.race([
        waitUntilHealthy(url),
        started.exited.then((code) => Promise.reject(new Error(`A server exited with ${code}.`))),
      ]);
    },
    async stop(signal: NodeJS.Signals) {
      const stoppedServer = running;
      running = null;
      stoppedServer?.kill(signal);
      return stoppedServer?.exited;
    },
    sendSignal(name: NodeJS.Signals) {
      running?.kill(name);
    },
    /** Its log lines about requests that contain this text. */
    readLogLines: (text: string) =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => text.includes(/requestId="([^"]+)"/.exec(line)?.[1] ?? "\n")),
    createServerKeyClient(key: string): Client {
      return async (method, path, { body, headers = {} } = {}) => {
        const response = await fetch(`${url}${path}`, {
          method,
          // See `clientOf` of outside.ts.
          keepalive: method === "GET",
          headers: {
            Authorization: `Bearer ${key}`,
            ...(body !== undefined && { "Content-Type": "application/json" }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
      };
    },
  };
}
