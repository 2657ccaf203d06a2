/** A soak test of two servers on three database nodes, with random faults and a check of linearizability. */
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leaseNames } from "../../src/cluster/rules.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import { recordClientHistory } from "../support/client-history.ts";
import { startInbox } from "../support/inbox.ts";
import {
  isLinearizable,
  createMembershipModel,
  createTimelineModel,
} from "../support/linearizability.ts";
import {
  buildClusterAddress,
  findLeader,
  type RqliteNode,
  startCluster,
} from "../support/rqlite.ts";
import { createRandom } from "../support/seeded.ts";
import { type Server, createServers } from "../support/servers.ts";
import { type SlottedResult, findWrongSlots } from "../support/slots.ts";
import { findWrongAlerts, findWrongRows } from "./invariants.ts";
import type { Json } from "../support/json.ts";

/** Service recovers within this time after any fault that leaves a majority, or after the majority is back. */
const resumeMs = 5_000;
/** Longest wait for recovery. */
const hopelessMs = 60_000;
/** Longest duration of a stop. */
const stopMs = 10_000;
/** All database nodes have applied the log within this time after the last write. */
const settledMs = 15_000;
/** Time after the last fault within which all failed deliveries are retried. */
const arriveMs = 120_000;
/** The shards of a lost server move to the others within this time. */
const takeoverMs = 15_000;
/** Length of one history, which is checked as a whole. */
const roundMs = 20_000;
/** After this many histories a server stays away for longer. */
const historiesPerOutage = 3;
const sites = 40;
const intervalMs = 5_000;

type Soak = { minutes: number; seed: number; log: (text: string) => void };

/**
 * `bun run soak --cluster`: clients at two servers on three database nodes, with faults of either
 * in a seeded order. Returns the violations by check.
 */
export async function runClusterSoak({
  minutes,
  seed,
  log,
}: Soak): Promise<Record<string, string[]>> {
  const [chance, choosing] = [createRandom(seed), createRandom(seed + 1)];
  const pickBetween = (from: number, to: number) => from + chance() * (to - from);
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(chance() * list.length)] as T;
  const until = performance.now() + minutes * 60_000;
  const checks = {
    answers: [] as string[],
    history: [] as string[],
    resumed: [] as string[],
    content: [] as string[],
    alerts: [] as string[],
    slots: [] as string[],
  };
  const counts: Record<string, number> = {};
  /** Faults so far. */
  let struck = 0;
  const count = (what: string, more = 1) => void (counts[what] = (counts[what] ?? 0) + more);
  const findOutcome = (check: keyof typeof checks, text: string) => {
    checks[check].push(text);
    log(`WRONG: ${text}`);
  };

  const databases = await startCluster();
  const { servers, key } = await createServers(databases, 2);
  const [first] = servers as [Server];
  for (const server of servers) await server.start();
  const clients = servers.map((server) => server.createServerKeyClient(key));
  const store = createRqliteStore(new RqliteClient(buildClusterAddress(...databases)), Date.now);

  await using hook = await startInbox();
  /** Expected alerts of each monitor. */
  const changes = new Map<string, string[]>();
  let areJobsOver = false;
  const pauses = createRandom(seed + 2);
  const create = async (noun: string, body: object): Promise<Json> => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    for (;;) {
      const client = clients[Math.floor(pauses() * clients.length)];
      const request = client?.("POST", `/api/v1/${noun}`, { body, headers }).catch(() => null);
      const response = await request;
      if (response?.status === 201) return response.json.data;
      await Bun.sleep(100);
    }
  };
  /** Resolves when a server has acknowledged the write. */
  const readReports = async (path: string, status: string) => {
    for (;;) {
      const { url } = servers[Math.floor(pauses() * servers.length)] ?? first;
      const response = await fetch(`${url}${path}?status=${status}`).catch(() => null);
      await response?.text().catch(() => "");
      if (response?.ok === true) return count("reports");
      if (response !== null && response.status !== 503)
        findOutcome("answers", `A report was answered with ${response.status}.`);
      await Bun.sleep(100);
    }
  };
  /** Reports changes of a few monitors in turn, so slowly that they do not flap. */
  const readJob = async (part: number, alertChannelIds: string[]) => {
    for (let number = 0; !areJobsOver; number++) {
      const name = `Job ${part}.${number}`;
      const body = { type: "push", name, interval: 86_400, retries: 0, alertChannelIds };
      const { id, pushUrl } = await create("monitors", body);
      const messages: string[] = [];
      changes.set(id, messages);
      for (const status of ["up", "down", "up", "down", "up"]) {
        if (areJobsOver) break;
        await readReports(new URL(pushUrl).pathname, status);
        if (messages.length > 0 || status === "down") messages.push(`monitor.${status}`);
        await Bun.sleep(200 + pauses() * 2_000);
      }
    }
  };
  const webhook = { type: "webhook", name: "Inbox", url: hook.at("/hook"), incidents: false };
  const channel = (await create("alert-channels", webhook)).id as string;
  const jobs = Array.from({ length: 8 }, (_, part) => readJob(part, [channel]));
  const listMonitorAlerts = () =>
    hook.listArrived().filter(({ type }) => type.startsWith("monitor."));

  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
  const keyOf = async () => {
    const about = { type: "http", url: target.url.href, interval: intervalMs / 1_000, retries: 0 };
    const { id } = await create("monitors", { ...about, name: "Site" });
    const text = "select key from monitor_states where monitor_id = ?";
    return (await store.query<{ key: number }>(text, [id]))[0]?.key ?? 0;
  };
  const keys = await Promise.all(Array.from({ length: sites }, keyOf));
  const beganAt = Date.now();
  /** Reports slots with several results, and slots without any unless `mayMiss`. */
  async function lookAtSlots(from: number, until: number, mayMiss: boolean) {
    const rows = await store.query<SlottedResult>(
      `select monitor_key as key, at, latency_ms as latencyMs from heartbeats
       where monitor_key in (select value from json_each(?)) and status = 0 and at between ? and ?`,
      [JSON.stringify(keys), from - intervalMs, until + intervalMs],
    );
    const { repeated, missing } = findWrongSlots(rows, keys, intervalMs, [from, until]);
    if (repeated.length > 0)
      findOutcome("slots", `Slots have several results: ${repeated.join("; ")}`);
    if (missing.length > 0 && !mayMiss)
      findOutcome("slots", `Slots have no result: ${missing.join("; ")}`);
    count("results in slots", rows.length);
  }

  const probe = async (): Promise<boolean> => {
    const [client = clients[0]] = clients.filter((_, i) => servers[i]?.isUp());
    const body = { title: `Probe ${counts["probes"] ?? 0}` };
    const request = client?.("POST", "/api/v1/incidents", { body }).catch(() => null);
    return (await Promise.race([request, Bun.sleep(500)]))?.status === 201;
  };
  /** Whether writes are acknowledged again in time after a fault. */
  async function waitForService(after: string) {
    const from = performance.now();
    while (!(await probe())) {
      if (performance.now() - from > hopelessMs) throw new Error(`No service after “${after}”.`);
      await Bun.sleep(20);
    }
    count("probes");
    const ms = Math.round(performance.now() - from);
    counts["ms to resume at most"] = Math.max(counts["ms to resume at most"] ?? 0, ms);
    if (ms > resumeMs)
      findOutcome("resumed", `${ms} ms after “${after}” nothing was acknowledged.`);
  }

  async function suspendNodes(nodes: readonly RqliteNode[], ms: number, meanwhile: () => unknown) {
    for (const node of nodes) node.signal("SIGSTOP");
    const from = performance.now();
    await meanwhile();
    await Bun.sleep(Math.max(0, ms - (performance.now() - from)));
    for (const node of nodes) node.signal("SIGCONT");
  }
  async function readKilled(node: RqliteNode, name: string) {
    await node.kill();
    await waitForService(name);
    await node.restart();
  }
  async function endServer(server: Server, signal: NodeJS.Signals, name: string) {
    const from = performance.now();
    const [code] = await Promise.all([server.stop(signal), waitForService(name)]);
    const expected = signal === "SIGTERM" ? 0 : 137;
    if (code !== expected) findOutcome("answers", `After “${name}” a server exited with ${code}.`);
    if (performance.now() - from > stopMs) findOutcome("answers", `“${name}” took too long.`);
    await server.start();
  }
  const listOthers = (node: RqliteNode) => databases.filter((one) => one !== node);
  const faults: Record<string, (name: string) => Promise<void>> = {
    "leader killed": async (name) => readKilled(await findLeader(databases), name),
    "follower killed": async (name) =>
      readKilled(oneOf(listOthers(await findLeader(databases))), name),
    async "leader stopped"(name) {
      const leader = await findLeader(databases);
      leader.signal("SIGTERM");
      await waitForService(name);
      await leader.restart();
    },
    "leader suspended": async (name) =>
      suspendNodes([await findLeader(databases)], pickBetween(500, 8_000), () =>
        waitForService(name),
      ),
    async "majority suspended"(name) {
      await suspendNodes(listOthers(oneOf(databases)), pickBetween(1_000, 6_000), () => {});
      await waitForService(name);
    },
    "server killed": (name) => endServer(oneOf(servers), "SIGKILL", name),
    "server stopped": (name) => endServer(oneOf(servers), "SIGTERM", name),
    async "server suspended"(name) {
      const server = oneOf(servers);
      server.sendSignal("SIGSTOP");
      await Bun.sleep(pickBetween(500, 6_000));
      server.sendSignal("SIGCONT");
      await waitForService(name);
    },
  };

  /** Stops a server until the others have its leases. Clients write nothing meanwhile, but checks continue. */
  async function removeServer() {
    const name = "server gone";
    log(name);
    count(name);
    struck++;
    const server = oneOf(servers);
    const id = readFileSync(join(server.dataDir, "node.id"), "utf8").trim();
    const readOwners = async () => {
      const rows = await store.query<{ owner: string | null; n: number }>(
        "select owner, count(*) as n from leases group by owner",
        [],
      );
      return new Map(rows.map(({ owner, n }) => [owner, n]));
    };
    const become = async (isReached: (owners: ReadonlyMap<string | null, number>) => boolean) => {
      const from = performance.now();
      while (!isReached(await readOwners())) {
        if (performance.now() - from > hopelessMs) throw new Error(`No new owners: “${name}”.`);
        await Bun.sleep(100);
      }
    };
    // Work in flight to it is released only after the others consider it dead.
    const maxLeases = Math.ceil(leaseNames.length / servers.length);
    await become((owners) => !owners.has(null) && Math.max(...owners.values()) <= maxLeases);
    const from = performance.now();
    await Promise.all([server.stop("SIGKILL"), waitForService(name)]);
    await become((owners) => !owners.has(null) && !owners.has(id));
    const ms = Math.round(performance.now() - from);
    counts["ms to take over at most"] = Math.max(counts["ms to take over at most"] ?? 0, ms);
    if (ms > takeoverMs)
      findOutcome("resumed", `After “${name}” its shards were free for ${ms} ms.`);
    // Missed checks are caught up first.
    await Bun.sleep(intervalMs);
    const takenAt = Date.now();
    await Bun.sleep(3 * intervalMs);
    const until = Date.now();
    await Bun.sleep(settledMs / 5);
    await lookAtSlots(takenAt, until, false);
    await server.start();
  }

  try {
    while (performance.now() < until) {
      const end = Math.min(performance.now() + roundMs, until);
      const history = await recordClientHistory(clients, choosing, {
        clients: 12,
        incidents: 6,
        sets: 6,
      });
      while (performance.now() < end) {
        await Bun.sleep(pickBetween(500, 3_000));
        const name = oneOf(Object.keys(faults));
        log(name);
        count(name);
        struck++;
        await faults[name]?.(name);
      }
      const { timelines, sets } = await history.finish();
      const all = [...timelines.flat(), ...sets.flatMap(({ moves }) => moves)];
      count("operations", all.length);
      count("without an answer", all.filter(({ output }) => output === null).length);
      count("histories");
      if (!timelines.every((one) => isLinearizable(one, createTimelineModel(one))))
        findOutcome(
          "history",
          "The updates of an incident have no order that explains every answer.",
        );
      if (
        !sets.every(({ moves, initial }) => isLinearizable(moves, createMembershipModel(initial)))
      )
        findOutcome("history", "The moves among groups have no order that explains every answer.");
      if ((counts["histories"] ?? 0) % historiesPerOutage === 1) await removeServer();
    }
    areJobsOver = true;
    await Promise.all(jobs);
    const arriveBy = performance.now() + arriveMs;
    while (findWrongAlerts(listMonitorAlerts(), changes).length > 0 && performance.now() < arriveBy)
      await Bun.sleep(200);
    for (const text of findWrongAlerts(listMonitorAlerts(), changes)) findOutcome("alerts", text);
    count("alerts", listMonitorAlerts().length);
    const repeatCount =
      listMonitorAlerts().length - new Set(listMonitorAlerts().map(({ alertId }) => alertId)).size;
    count("of them again", repeatCount);
    // Checks in flight: at most one per monitor.
    if (repeatCount > struck * jobs.length)
      findOutcome("alerts", `${repeatCount} alerts came again after ${struck} faults.`);
    // A new monitor is checked at once, which can end in the slot of its first turn.
    await lookAtSlots(beganAt + 2 * intervalMs, Date.now(), true);
    for (const server of servers) await server.stop("SIGTERM");
    for (const text of await findWrongContents(databases)) findOutcome("content", text);
  } catch (error) {
    const text = String(error);
    for (const line of [text, ...servers.flatMap((server) => server.readLogLines(text))])
      findOutcome("answers", line);
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGKILL")));
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    await Promise.all(databases.map((node) => node.kill()));
  }
  log(
    Object.entries(counts)
      .map(([what, times]) => `${times} ${what}`)
      .join(", "),
  );
  return {
    "answers and exits are no others than they may be": checks.answers,
    "updates and moves are linearizable: nothing acknowledged is lost or applied twice (P34)":
      checks.history,
    [`service resumes within ${resumeMs} ms, shards are taken over within ${takeoverMs} ms`]:
      checks.resumed,
    "alerts: none missing, none out of order, none under two ids, none made up, again only what was under way (P3, P5)":
      checks.alerts,
    "each slot of a check is recorded once; by the others, where a server is gone": checks.slots,
    "each node of the database has the same content, and it is whole": checks.content,
  };
}

/** Differences between the database nodes, after all have applied the whole log. */
async function findWrongContents(nodes: readonly RqliteNode[]): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-soak-"));
  const readCopies = async () => {
    const files = nodes.map(async ({ host }, i) => {
      const file = join(directory, `${i}.db`);
      await Bun.write(file, await fetch(`http://${host}/db/backup?noleader`));
      return file;
    });
    return Promise.all(files);
  };
  const contentOf = (file: string) => {
    using database = new Database(file);
    const tables = database
      .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' order by 1")
      .all();
    const rows = tables.map(({ name }) => [
      name,
      database.query(`select * from "${name}"`).values(),
    ]);
    return Bun.hash(JSON.stringify(rows));
  };
  try {
    const until = performance.now() + settledMs;
    for (;;) {
      const files = await readCopies();
      const isOne = new Set(files.map(contentOf)).size === 1;
      if (isOne) return findWrongRows(files[0] as string);
      if (performance.now() > until) return ["The nodes of the database differ."];
      await Bun.sleep(200);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}
