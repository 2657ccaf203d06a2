/** Measures what dependencies and escalation policies add to checks and to the path of an alert, in this process. */
import type { Database } from "bun:sqlite";
import { createAppliance } from "../support/appliance.ts";
import { getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { buildCopyId, copyMonitor } from "../support/many-monitors.ts";
import { createPager } from "../support/pager.ts";
import { checkTarget } from "./checks.ts";
import { computeQuantile } from "./process.ts";

const monitors = 10_000;
/** Monitors that go down in a round, and rounds. */
const [failing, rounds] = [500, 43];
/** Checks in a round, and rounds. */
const [checked, checkRounds] = [1_000, 18];
/** Each monitor depends on one of these, and these on the first monitor. */
const switches = 100;

type World = Awaited<ReturnType<typeof createWorld>>;

/** An organization with many monitors of one channel and one target. */
async function createWorld(isLinked: boolean, url: string) {
  const pager = await createPager();
  const inbox = await pager.inbox();
  const steps = [{ afterMinutes: 5, targets: [{ type: "channel", id: inbox.id }] }];
  const body = { name: "Shop", steps };
  const policy = await pager.api("POST", "/api/v1/escalation-policies", { body });
  const escalationPolicyId = isLinked ? policy.json.data.id : null;
  const target = { type: "http", url, interval: 60 };
  const { id } = await pager.monitor({
    ...target,
    alertChannelIds: [inbox.id],
    escalationPolicyId,
  });
  const { database, time } = pager;
  const since = `'${new Date(time.now).toISOString()}'`;
  const states = { status: "'up'", since, last_checked_at: since };
  copyMonitor(database, id, monitors, { name: "printf('Monitor %05d', i)" }, states);
  database.run(
    `INSERT INTO monitor_channels SELECT organization_id, m.id, channel_id, 0
     FROM monitor_channels JOIN monitors m USING (organization_id) WHERE m.id <> monitor_id`,
  );
  if (isLinked) attachMonitors(database, pager.ours.id);
  await pager.later();
  const { engine } = createAppliance(pager.appliance);
  await engine.runOnce();
  return { ...pager, inbox, engine };
}

function attachMonitors(database: Database, organizationId: string) {
  const insert = database.query("INSERT INTO monitor_dependencies VALUES (?, ?, ?, 0)");
  database.transaction(() => {
    for (let i = 2; i <= monitors; i++)
      insert.run(
        organizationId,
        buildCopyId(i),
        buildCopyId(i <= switches ? 1 : (i % switches) + 1),
      );
  })();
}

/** Reports a change of state of these monitors, as their checks would. */
function changeState({ database, time }: World, first: number, state: "up" | "down") {
  const at = new Date(time.now).toISOString();
  const before = state === "up" ? "down" : "up";
  const since = new Date(time.now - 60_000).toISOString();
  const data = { before, since, message: "The connection was refused.", latencyMs: 5 };
  const failures = state === "down" ? 1 : 0;
  database.transaction(() => {
    // All others have just been checked, too.
    database.run("UPDATE monitor_states SET last_checked_at = ?", [
      new Date(time.now + 1).toISOString(),
    ]);
    const range = [buildCopyId(first), buildCopyId(first + failing - 1)];
    database.run(
      `UPDATE monitor_states SET status = ?, since = ?, failures = ?
       WHERE monitor_id BETWEEN ? AND ?`,
      [state, at, failures, ...range] as string[],
    );
    database.run(
      `INSERT INTO events (organization_id, at, type, subject_id, data)
       SELECT organization_id, ?, ?, id, ? FROM monitors WHERE id BETWEEN ? AND ? ORDER BY id`,
      [at, `monitor.${state}`, JSON.stringify(data), ...range] as string[],
    );
  })();
}

/** CPU time in milliseconds from the changes until all messages have arrived. */
async function measureRound(world: World, round: number) {
  const { time, later, inbox } = world;
  // Skips the switches.
  const first = switches + 1 + ((round * failing) % (monitors - failing - switches));
  inbox.asked.length = 0;
  time.now += 60_000;
  changeState(world, first, "down");
  Bun.gc(true);
  const started = process.cpuUsage();
  await later(20);
  const { user, system } = process.cpuUsage(started);
  const arrived = inbox.alerts().length;
  if (arrived !== failing) throw new Error(`${arrived} of ${failing} alerts arrived.`);
  time.now += 60_000;
  changeState(world, first, "up");
  await later(20);
  return (user + system) / 1_000;
}

/** CPU time in milliseconds of successful checks. */
async function measureChecks({ time, engine, inbox }: World) {
  const ticks = (checked / monitors) * 60 * 4;
  Bun.gc(true);
  const started = process.cpuUsage();
  for (let tick = 0; tick < ticks; tick++) {
    time.now += 250;
    await engine.runOnce();
  }
  const { user, system } = process.cpuUsage(started);
  if (inbox.asked.length > 0) throw new Error("A check failed.");
  return (user + system) / 1_000;
}

/** Alternates between an organization without dependencies and policies, and one with them. The first rounds warm up. */
async function compare(
  worlds: readonly [World, World],
  count: number,
  measure: (world: World, round: number) => Promise<number>,
) {
  const times: [number, number][] = [];
  for (let round = 0; round < count; round++) {
    const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    const pair: [number, number] = [0, 0];
    for (const index of order) pair[index] = await measure(worlds[index], round);
    times.push(pair);
  }
  const measured = times.slice(3);
  const getMedian = (index: 0 | 1) =>
    computeQuantile(
      measured.map((pair) => pair[index]),
      0.5,
    ).toFixed(0);
  const ratios = measured.map(([plain, linked]) => linked / plain);
  const added = (100 * (computeQuantile(ratios, 0.5) - 1)).toFixed(1);
  return { plain: getMedian(0), linked: getMedian(1), added };
}

/** Compares an organization with dependencies and policies to one without. */
export async function benchDeciding() {
  const port = getFreePort();
  const target = checkTarget(String(port));
  try {
    const url = `http://127.0.0.1:${port}`;
    await waitUntilHealthy(url, "/ok");
    const worlds = [
      await createWorld(false, `${url}/ok`),
      await createWorld(true, `${url}/ok`),
    ] as const;
    const checks = await compare(worlds, checkRounds, measureChecks);
    console.log(
      `${checked} checks of ${monitors} monitors: ${checks.linked} ms of CPU time with dependencies and policies, ` +
        `${checks.plain} ms without; they add ${checks.added} % (goal 0)`,
    );
    const alerts = await compare(worlds, rounds, measureRound);
    console.log(
      `${failing} of ${monitors} monitors go down: ${alerts.linked} ms of CPU time until all alerts have arrived ` +
        `with dependencies and policies, ${alerts.plain} ms without; they add ${alerts.added} % (goal ≤ 10 %)`,
    );
    for (const { inbox } of worlds) await inbox[Symbol.asyncDispose]();
  } finally {
    target.kill();
  }
}
