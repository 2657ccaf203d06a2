import { assignment, leaseNames, ranked, shardOf } from "../../src/cluster/rules.ts";
import { phaseOf } from "../../src/monitoring/checks/rules.ts";
import { tableOf } from "../../docs/table.ts";
import { randomFrom } from "../support/seeded.ts";

/**
 * What `bun run bench cluster` measured: a write of results costs so much, and each result in it so much
 * more. Processor time is in milliseconds.
 */
const measured = {
  write: { bytes: 1_180, syncs: 2, leader: 3.9, follower: 1.8, server: 1 },
  result: { bytes: 21.6, leader: 0.043, follower: 0.034, server: 0.007 },
  /** Checking itself, beside writing down what was found. */
  check: { server: 0.37 },
  /** A server that does nothing: its heartbeats, and its looks at events and requests, on the leader. */
  idle: { entries: 0.5, bytes: 248, leader: 22 },
  /** Of a result with its sums, kept for 14 days. */
  storedBytes: 24,
};
const intervalSeconds = 60;
const mostInWrite = 250;
const keptDays = 14;
/** A machine is full at half a core of Signalbox, a cluster at half a core of its leader or at so much data. */
const share = 0.5;
const clusterBytes = 50e9;

/** Computes with the rules of the product what shards, nodes and clusters of it make of a million monitors. */
export async function scaleSuite() {
  console.log(`scale: monitors every ${intervalSeconds} s, by what a check costs on a cluster\n`);
  const random = randomFrom(15);
  const hex = () => Math.floor(random() * 2 ** 32).toString(16);
  const ids = Array.from({ length: 1_000_000 }, (_, i) => `${hex()}${hex()}-${i.toString(16)}`);
  console.log(sizes(ids));
  console.log(`\n${balance(ids)}`);
  console.log(`\n${clusters(ids)}`);
}

/** One cluster with these monitors, second by second for one interval. */
function clusterOf(ids: readonly string[], nodes: number) {
  const owners = owned(nodes);
  const due = new Map<string, number[]>();
  for (const [key, id] of ids.entries()) {
    const owner = owners.get(shardOf(id)) ?? "";
    const seconds = due.get(owner) ?? Array.from({ length: intervalSeconds }, () => 0);
    const second = Math.floor(phaseOf(key + 1, intervalSeconds * 1_000) / 1_000);
    seconds[second] = (seconds[second] ?? 0) + 1;
    due.set(owner, seconds);
  }
  const all = [...due.values()];
  const writes = sumOf(all.flat().map((results) => Math.ceil(results / mostInWrite)));
  const { write, result, check, idle } = measured;
  const ms = (of: "leader" | "server") => writes * write[of] + ids.length * result[of];
  const perSecond = (amount: number) => amount / intervalSeconds;
  const most = Math.max(...all.flat());
  return {
    checks: perSecond(ids.length),
    entries: perSecond(writes) + nodes * idle.entries,
    syncs: (perSecond(writes) + nodes * idle.entries) * write.syncs,
    bytes: perSecond(writes * write.bytes + ids.length * result.bytes) + nodes * idle.bytes,
    leader: (perSecond(ms("leader")) + nodes * idle.leader) / 1_000,
    server: perSecond(ms("server") + ids.length * check.server) / 1_000 / nodes,
    unevenness: most / (ids.length / nodes / intervalSeconds),
    stored: ids.length * ((keptDays * 86_400) / intervalSeconds) * measured.storedBytes,
  };
}

const nodeNames = (count: number) => Array.from({ length: count }, (_, i) => `node ${i}`);
const owned = (nodes: number) => assignment(nodeNames(nodes));
const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** The fewest nodes, and clusters of them, that carry so many monitors. */
function sizes(ids: readonly string[]): string {
  const rows = [1_000, 5_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000].map((count) => {
    for (let clusters = 1; ; clusters++) {
      const its = ids.slice(0, Math.ceil(count / clusters));
      let nodes = 2;
      while (clusterOf(its, nodes).server > share) nodes++;
      const found = clusterOf(its, nodes);
      if (found.leader > share || found.stored > clusterBytes) continue;
      return [
        count.toLocaleString("en"),
        (count / intervalSeconds).toFixed(0),
        String(clusters),
        String(nodes),
        `${(found.server * 100).toFixed(0)} %`,
        found.entries.toFixed(1),
        found.syncs.toFixed(1),
        `${(found.bytes / 1_000).toFixed(0)} kB`,
        `${(found.leader * 100).toFixed(0)} %`,
        `${(found.stored / 1e9).toFixed(1)} GB`,
      ];
    }
  });
  const head = [
    "monitors",
    "checks/s",
    "clusters",
    "Signalbox nodes in each",
    "of a core each",
    "log entries/s",
    "syncs/s",
    "log/s",
    "of a core of the leader",
    "results of 14 days",
  ];
  return tableOf(head, rows);
}

/** How evenly shards and nodes share the monitors, and what moves when a node goes. */
function balance(ids: readonly string[]): string {
  const rows = [2, 3, 5, 8, 16].map((nodes) => {
    const owners = owned(nodes);
    const left = assignment(nodeNames(nodes).slice(1));
    const gone = leaseNames.filter((name) => owners.get(name) === "node 0").length;
    const moved = leaseNames.filter((name) => owners.get(name) !== left.get(name)).length;
    const most = (count: number) => {
      const counts = countOf(ids.slice(0, count).map((id) => owners.get(shardOf(id)) ?? ""));
      return `${((Math.max(...counts.values()) / (count / nodes)) * 100).toFixed(0)} %`;
    };
    const { unevenness } = clusterOf(ids.slice(0, 20_000), nodes);
    return [
      String(nodes),
      most(1_000),
      most(20_000),
      most(1_000_000),
      `${(unevenness * 100).toFixed(0)} %`,
      `${moved}, of which ${gone} its own`,
    ];
  });
  const head = [
    "nodes",
    "most of 1,000 monitors, of an equal part",
    "of 20,000",
    "of 1,000,000",
    "most checks in a second, of 20,000",
    "leases that move when one goes",
  ];
  return tableOf(head, rows);
}

/** Organizations of very different sizes, spread over clusters by rendezvous hashing. */
function clusters(ids: readonly string[]): string {
  const random = randomFrom(16);
  const organizations: { id: string; monitors: number }[] = [];
  for (let rest = ids.length; rest > 0;) {
    // Most have a few, some have thousands: the limit of an organization is 10,000.
    const monitors = Math.min(Math.ceil(3 / random() ** 1.2), 10_000, rest);
    organizations.push({ id: ids[organizations.length] ?? "", monitors });
    rest -= monitors;
  }
  const names = (count: number) => Array.from({ length: count }, (_, i) => `cluster ${i}`);
  const placed = (count: number) =>
    organizations.map(({ id }) => ranked(id, names(count))[0] ?? "");
  const rows = [4, 10, 20].map((count) => {
    const [now, then] = [placed(count), placed(count + 1)];
    const loads = new Map<string, number>();
    for (const [i, { monitors }] of organizations.entries())
      loads.set(now[i] ?? "", (loads.get(now[i] ?? "") ?? 0) + monitors);
    const moved = now.filter((name, i) => name !== then[i]).length / organizations.length;
    const most = Math.max(...loads.values()) / (ids.length / count);
    return [
      String(count),
      `${(most * 100).toFixed(0)} %`,
      `${(moved * 100).toFixed(1)} %`,
      `${(100 / (count + 1)).toFixed(1)} %`,
    ];
  });
  const head = [
    `clusters for ${organizations.length.toLocaleString("en")} organizations`,
    "most monitors, of an equal part",
    "organizations that move to a new one",
    "the fewest possible",
  ];
  return tableOf(head, rows);
}

function countOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
