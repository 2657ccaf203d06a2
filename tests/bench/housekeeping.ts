import { soleNode } from "../../src/cluster/leases.ts";
import { assets } from "../../src/core/assets.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { Housekeeping } from "../../src/operations/retention/service.ts";
import { computeQuantile } from "./process.ts";

export type Cost = Awaited<ReturnType<typeof measureCost>>;

/** CPU time of some work, and how long it blocks the event loop at a time, in wall and CPU time. */
async function measureCost(use: () => Promise<void>) {
  const readCpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const gaps: { wall: number; cpu: number }[] = [];
  let last = { wall: performance.now(), cpu: readCpuMs() };
  const first = last;
  const ticking = setInterval(() => {
    const now = { wall: performance.now(), cpu: readCpuMs() };
    gaps.push({ wall: now.wall - last.wall, cpu: now.cpu - last.cpu });
    last = now;
  }, 1);
  await use();
  clearInterval(ticking);
  return {
    wall: (performance.now() - first.wall) / 1000,
    cpu: (readCpuMs() - first.cpu) / 1000,
    held: Math.max(...gaps.map(({ wall }) => wall)),
    held99: computeQuantile(
      gaps.map(({ wall }) => wall),
      0.99,
    ),
    heldCpu: Math.max(...gaps.map(({ cpu }) => cpu)),
  };
}

const [dataDir = "", now = ""] = process.argv.slice(2);
const clock = () => Number(now);
const data = openDataDirectory(dataDir, { migrations: assets.migrations, clock });
const keeper = new Housekeeping({
  leases: soleNode,
  store: data.store,
  clock,
  log: { info() {}, warn: console.warn, error: console.error },
  retention: { results: 14, hours: 400, audit: 400 },
  readUpTo: async () => Number.MAX_SAFE_INTEGER,
});
const baseline = await measureCost(() => Bun.sleep(10_000));
const cost = await measureCost(() => keeper.runOnce());
data.close();
console.log(JSON.stringify({ baseline, cost }));
