import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  listUnmatchedAlerts,
  replayAlerts,
  type ReplayedAlerts,
  type ReplayedMonitor,
  type Timeline,
} from "../../src/alerting/replay/rules.ts";
import {
  StateReplay,
  type StoredResult,
  type Thresholds,
} from "../../src/monitoring/checks/replay-rules.ts";
import { messageKinds } from "../../src/alerting/channels/routing-schema.ts";
import type { Json } from "../support/json.ts";
import { createWatch } from "../support/check-board.ts";
import { limitTries } from "../support/property-runs.ts";

const minute = 60_000;
const usual: Thresholds = { retries: 0, successThreshold: 1, degradedAfterMs: null, pace: null };

/** One result per letter and minute: u up, d down, s slow, m maintenance, ? not judged. */
const read = (letters: string): StoredResult[] =>
  letters.split("").map((letter, index) => ({
    at: index * minute,
    status: ({ u: "up", d: "down", s: "degraded", m: "maintenance" } as const)[letter] ?? "unknown",
    latencyMs: letter === "s" ? 900 : letter === "u" ? 100 : null,
    isSlow: letter === "s",
  }));

function derive(results: readonly StoredResult[], change: Partial<Thresholds> = {}): Timeline {
  const replay = new StateReplay({ ...usual, ...change });
  const timeline: Timeline = { changes: [], checks: { at: [], failures: [], successes: [] } };
  for (const result of results) {
    const state = replay.add(result);
    if (state === null) continue;
    timeline.checks.at.push(result.at);
    timeline.checks.failures.push(state.failures);
    timeline.checks.successes.push(state.successes);
    if (state.status !== (timeline.changes.at(-1)?.status ?? "pending"))
      timeline.changes.push({ at: result.at, status: state.status });
  }
  return timeline;
}

function replay(
  letters: string,
  change: Partial<Thresholds> = {},
  { parent, ...fields }: Partial<ReplayedMonitor> & { parent?: string } = {},
) {
  const found: ReplayedAlerts = { alerts: [], held: 0, messages: 0 };
  const base = {
    patienceMs: minute,
    reminderMs: null,
    notifies: true,
    channels: [messageKinds],
  };
  const monitor = {
    ...base,
    id: "a",
    name: "A",
    timeline: derive(read(letters), change),
    ...fields,
  };
  const ancestors =
    parent === undefined ? [] : [{ ...base, id: "p", name: "P", timeline: derive(read(parent)) }];
  const steps = replayAlerts(monitor, ancestors, letters.length * minute, found);
  for (const _ of steps);
  return found;
}
const count = (...given: Parameters<typeof replay>) => replay(...given).alerts.length;

describe("a replay", () => {
  test("counts the alerts that more retries would not have sent, and their duration", () => {
    const [before, after] = [replay("uduuddduudduu"), replay("uduuddduudduu", { retries: 2 })];
    expect([before.alerts.length, after.alerts.length]).toEqual([3, 1]);
    expect([before.messages, after.messages]).toEqual([6, 2]);
    const missed = listUnmatchedAlerts(before.alerts, after.alerts);
    expect(missed.map(({ at, until }) => ((until ?? 0) - at) / minute)).toEqual([1, 2]);
  });

  test("judges latencies again, and nothing during maintenance or without a result", () => {
    expect(count("ussuus", { degradedAfterMs: 500 })).toBe(2);
    expect(count("uuu", { degradedAfterMs: 50 })).toBe(1);
    expect(count("ussu", { degradedAfterMs: 1_000 })).toBe(0);
    expect(count("um??mu")).toBe(0);
  });

  test("leaves out the checks of a longer interval, but not retries", () => {
    const pace = { intervalSeconds: 180, retryIntervalSeconds: 60 };
    expect(count("uduudduuduu")).toBe(3);
    expect(count("uduudduuduu", { pace })).toBe(0);
    expect(count("uuudddduuuu", { pace, retries: 1 })).toBe(1);
  });

  test("counts a change from slow to down as one alert, and a flapping monitor as one", () => {
    const [slow] = replay("ussddu", { degradedAfterMs: 500 }).alerts;
    expect(slow).toMatchObject({ type: "monitor.down", at: minute, until: 5 * minute });
    const flapping = replay("ud".repeat(20) + "u".repeat(20));
    expect(flapping.alerts).toHaveLength(6);
    expect(flapping.alerts.at(-1)).toMatchObject({
      type: "monitor.flapping",
      at: 11 * minute,
      until: 50 * minute,
    });
    const reminded = replay("u" + "d".repeat(60) + "u", {}, { reminderMs: 10 * minute });
    expect([reminded.alerts.length, reminded.messages]).toEqual([1, 7]);
  });

  test("holds alerts behind another monitor that is down, and sends those that last longer", () => {
    const held = replay("uudddduuuu", {}, { parent: "uudddduuuu" });
    expect([held.alerts.length, held.held]).toEqual([0, 1]);
    const late = replay("uuddddddddduu", {}, { parent: "uudddduuuuuuu" });
    expect([late.alerts.length, late.held]).toEqual([1, 0]);
    expect(count("uudddduuuu", {}, { parent: "uuuuuuuuuu" })).toBe(1);
    const patient = { parent: "uuddduuuuu", patienceMs: 3 * minute };
    expect(count("uudddduuuu", { successThreshold: 2 }, patient)).toBe(0);
  });

  test("never has more outages with more retries, and misses none with the same settings", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("u", "d", "s", "m", "?"), { maxLength: 80 }),
        fc.nat(5),
        fc.nat(5),
        (all, retries, further) => {
          const letters = all.join("");
          const countOutages = (number: number) =>
            derive(read(letters), { retries: number }).changes.filter(
              ({ status }) => status === "down",
            ).length;
          expect(countOutages(retries + further)).toBeLessThanOrEqual(countOutages(retries));
          const { alerts } = replay(letters, { retries });
          expect(listUnmatchedAlerts(alerts, alerts)).toEqual([]);
        },
      ),
      limitTries(200),
    );
  });
});

test("the steps of a policy, and of a requested one, are counted until each problem is over", async () => {
  const world = await createWatch();
  const { api, channel } = world;
  const inbox = { type: "webhook", url: "http://127.0.0.1:9/" };
  const { id: first } = await channel({ ...inbox, name: "First" });
  const { id: second } = await channel({ ...inbox, name: "Second" });
  const toChannel = (afterMinutes: number, ...ids: string[]) => ({
    afterMinutes,
    targets: ids.map((id) => ({ type: "channel", id })),
  });
  const createPolicy = async (name: string, steps: object[]): Promise<string> => {
    const body = { name, repeat: 1, steps };
    return (await api("POST", "/api/v1/escalation-policies", { body })).json.data.id;
  };
  const slow = await createPolicy("Slow", [toChannel(2, first)]);
  const fast = await createPolicy("Fast", [toChannel(0, first, second), toChannel(3, second)]);
  await using shop = await world.createSite({
    interval: 60,
    retries: 0,
    alertChannelIds: [],
    escalationPolicyId: slow,
  });
  for (const letter of "uddduduuddddddddddd") {
    if (letter === "d") shop.failNow();
    else shop.recoverNow();
    world.time.now += minute;
    await world.engine.runOnce();
  }
  world.time.now += 30_000;
  const send = async (body: object) =>
    (await api("POST", "/api/v1/alerting/replay", { body: { days: 1, ...body } })).json;
  const counted = ({ alerts, escalationSteps, escalationMessages }: Json) => [
    escalationSteps,
    escalationMessages,
    alerts.map((one: Json) => one.escalationSteps),
  ];
  const { data } = await send({ monitorId: shop.id, escalationPolicyId: fast });
  // Slow: after 2 and 9 minutes. Fast: after 0, 3, 8 and 11 minutes. The outages last 3, 1 and 10.5 minutes.
  expect(counted(data.before)).toEqual([3, 3, [2, 0, 1]]);
  expect(counted(data.after)).toEqual([5, 9, [3, 1, 1]]);
  expect([data.before.messages, data.after.messages]).toEqual([0, 0]);
  expect(data.notConsidered.join()).toContain("Acknowledgments");
  const withoutPolicy = (await send({ escalationPolicyId: null })).data;
  expect([counted(withoutPolicy.before)[0], counted(withoutPolicy.after)]).toEqual([
    3,
    [0, 0, [0, 0, 0]],
  ]);
  const { error } = await send({ escalationPolicyId: shop.id });
  expect(error.details[0].path).toBe("escalationPolicyId");
});

test("the route compares the saved settings with others, and rejects what it can't replay", async () => {
  const world = await createWatch();
  const { api, channel, database } = world;
  const { id: team } = await channel({ type: "webhook", url: "http://127.0.0.1:9/" });
  await using shop = await world.createSite({
    interval: 60,
    retries: 0,
    alertChannelIds: [team],
  });
  for (const isDown of [false, true, false, true, true, false]) {
    if (isDown) shop.failNow();
    else shop.recoverNow();
    world.time.now += minute;
    await world.engine.runOnce();
  }
  const send = (body: object) => api("POST", "/api/v1/alerting/replay", { body });
  const { json } = await send({ days: 90, retries: 1 });
  expect(json.data).toMatchObject({
    monitors: 1,
    before: { count: 2, held: 0, messages: 4 },
    after: { count: 1, held: 0, messages: 2, alerts: [{ monitor: { id: shop.id, name: "Shop" } }] },
    missed: 1,
    longestMissedSeconds: 60,
  });
  expect(json.data.notConsidered).not.toBeEmpty();
  const only = (await send({ monitorId: shop.id, alertChannelIds: [], interval: 120 })).json.data;
  expect([only.before.messages, only.after.messages]).toEqual([4, 0]);
  const group = (await api("POST", "/api/v1/monitor-groups", { body: { name: "Empty" } })).json;
  expect((await send({ groupId: group.data.id })).json.data).toMatchObject({
    monitors: 0,
    from: null,
  });

  const requestIssue = async (body: object) => {
    const { status, json } = await send(body);
    return [status, json.error.details?.[0]?.path ?? null];
  };
  expect(await requestIssue({ monitorId: shop.id, interval: 30 })).toEqual([422, "interval"]);
  expect(await requestIssue({ retries: 11 })).toEqual([422, "retries"]);
  expect(await requestIssue({ days: 91 })).toEqual([422, "days"]);
  expect(await requestIssue({ monitorId: shop.id, groupId: shop.id })).toEqual([422, "groupId"]);
  expect(await requestIssue({ monitorId: team })).toEqual([404, null]);
  expect(await requestIssue({ dependsOn: [team] })).toEqual([404, "dependsOn"]);
  expect(await requestIssue({ alertChannelIds: [shop.id] })).toEqual([404, "alertChannelIds"]);

  database.run(`insert or ignore into heartbeats (monitor_key, at, status, latency_ms, seconds, message)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 500001)
    select key, ${world.time.now} - i, 0, null, 1, null from n, monitor_states`);
  expect(await requestIssue({ monitorId: shop.id })).toEqual([422, "days"]);
});
