/** Measures what dependencies and escalation policies add to the path of an alert, in this process. */
import type { Database } from "bun:sqlite";
import { idOfCopy, copyMonitor } from "../support/many-monitors.ts";
import { createPager } from "../support/pager.ts";
import { quantile } from "./process.ts";

const monitors = 10_000;
/** Monitors that go down in a round, and rounds. */
const [failing, rounds] = [500, 24];
/** Each monitor depends on one of these, and these on the first monitor. */
const switches = 100;

type World = Awaited<ReturnType<typeof createWorld>>;

/** An organization with many monitors of one channel. */
async function createWorld(isLinked: boolean) {
  const pager = await createPager();
  const inbox = await pager.inbox();
  const steps = [{ afterMinutes: 5, targets: [{ type: "channel", id: inbox.id }] }];
  const body = { name: "Shop", steps };
  const policy = await pager.api("POST", "/api/v1/escalation-policies", { body });
  const escalationPolicyId = isLinked ? policy.json.data.id : null;
  const { id } = await pager.monitor({ alertChannelIds: [inbox.id], escalationPolicyId });
  const { database, time } = pager;
  const since = `'${new Date(time.now).toISOString()}'`;
  const states = { status: "'up'", since, last_checked_at: since };
  copyMonitor(database, id, monitors, { name: "printf('Monitor %05d', i)" }, states);
  database.run(
    `INSERT INTO monitor_channels SELECT organization_id, m.id, channel_id, 0
     FROM monitor_channels JOIN monitors m USING (organization_id) WHERE m.id <> monitor_id`,
  );
  if (isLinked) linkMonitors(database, pager.ours.id);
  await pager.later();
  return { ...pager, inbox };
}

function linkMonitors(database: Database, organizationId: string) {
  const insert = database.query("INSERT INTO monitor_dependencies VALUES (?, ?, ?, 0)");
  database.transaction(() => {
    for (let i = 2; i <= monitors; i++)
      insert.run(organizationId, idOfCopy(i), idOfCopy(i <= switches ? 1 : (i % switches) + 1));
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
    const range = [idOfCopy(first), idOfCopy(first + failing - 1)];
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
  // Not the switches.
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

/** Alternates between an organization with dependencies and policies, and one without. */
export async function decidingSuite() {
  const worlds = [await createWorld(false), await createWorld(true)] as const;
  const times: [number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const pair: [number, number] = [0, 0];
    for (const index of order)
      pair[index as 0 | 1] = await measureRound(worlds[index as 0 | 1], round);
    times.push(pair);
  }
  for (const { inbox } of worlds) await inbox[Symbol.asyncDispose]();
  const measured = times.slice(3);
  const ratios = measured.map(([plain, linked]) => linked / plain);
  const median = (index: 0 | 1) =>
    quantile(
      measured.map((pair) => pair[index]),
      0.5,
    ).toFixed(0);
  const added = (100 * (quantile(ratios, 0.5) - 1)).toFixed(1);
  console.log(
    `${failing} of ${monitors} monitors go down: ${median(1)} ms of CPU time until all alerts have arrived ` +
      `with dependencies and policies, ${median(0)} ms without; they add ${added} % (goal ≤ 10 %)`,
  );
}
