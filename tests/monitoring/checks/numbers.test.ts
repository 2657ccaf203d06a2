/** Numbers of monitors: limits with a return value, storage, history, metrics and their size. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hourMs } from "../../../src/core/time/clock.ts";
import {
  judgeNumber,
  type NumberLevel,
  parseNumber,
} from "../../../src/monitoring/checks/number-rules.ts";
import { LongNumber } from "../../../src/core/text/decimals.ts";
import type { NumberRule } from "../../../src/monitoring/monitors/numbers-schema.ts";
import { insertHeartbeats } from "../../../src/monitoring/uptime/store.ts";
import { createWatch } from "../../support/check-board.ts";
import { runCheckOfType } from "../../support/check-runs.ts";
import { createMigratedStore, isOnRqlite } from "../../support/engines.ts";
import { fakes } from "../../support/fakes/all.ts";
import { startFake } from "../../support/fakes/start-fake.ts";
import { replyWith, startTarget } from "../../support/target.ts";

const queue: NumberRule = {
  name: "Queue depth",
  unit: null,
  direction: "above",
  degradedLimit: 1_000,
  downLimit: 2_000,
  returnAt: 900,
  path: "$.queue",
};
const free: NumberRule = {
  ...queue,
  direction: "below",
  degradedLimit: 10,
  downLimit: 5,
  returnAt: 12,
};

describe("the level of a number", () => {
  const cases: [NumberRule, number, NumberLevel, NumberLevel][] = [
    [queue, 1_000, null, null],
    [queue, 1_001, null, "degraded"],
    [queue, 2_001, "degraded", "down"],
    [queue, 950, "degraded", "degraded"],
    [queue, 950, "down", "down"],
    [queue, 1_500, "down", "down"],
    [queue, 900, "down", null],
    [queue, 950, null, null],
    [{ ...queue, returnAt: null }, 950, "down", null],
    [{ ...queue, returnAt: null }, 1_500, "down", "degraded"],
    [free, 10, null, null],
    [free, 9.5, null, "degraded"],
    [free, 11, "degraded", "degraded"],
    [free, 12, "degraded", null],
    [free, 4, null, "down"],
  ];
  test.each(cases)("%j with %d after %s is %s", (rule, value, before, after) => {
    expect(judgeNumber(rule, value, before)).toBe(after);
  });

  test("never improves between the first limit and the return value", () => {
    const rankLevel = (level: NumberLevel) => [null, "degraded", "down"].indexOf(level);
    fc.assert(
      fc.property(fc.array(fc.double({ min: 901, max: 3_000, noNaN: true })), (values) => {
        let level: NumberLevel = null;
        for (const value of values) {
          const next = judgeNumber(queue, value, level);
          expect(rankLevel(next)).toBeGreaterThanOrEqual(rankLevel(level));
          level = next;
        }
      }),
    );
  });
});

test.each([
  [12, 12],
  ["1240", 1_240],
  [" -0.5\n", -0.5],
  [new LongNumber("9007199254740993"), 9_007_199_254_740_992],
  ["1e400", null],
  ["-1e31", null],
  [Number.NaN, null],
  ["1,240", null],
  ["", null],
  [true, null],
  [null, null],
  [undefined, null],
])("the value %p is the number %p", (value, number) => {
  expect(parseNumber(value)).toBe(number);
});

const reply = (queue: unknown) => replyWith(200, JSON.stringify({ queue }));

test("a monitor follows its number: message, history, metrics, and the level across a restart", async () => {
  const watch = await createWatch();
  const site = await watch.createSite({ number: { ...queue, unit: "jobs" } });
  const check = async (value: unknown) => {
    site.setReply(reply(value));
    await watch.api("POST", `/api/v1/monitors/${site.id}/check`);
    await watch.advance(1);
    const { status, lastMessage, numberValue } = await watch.readMonitor(site.id);
    return [status, numberValue, lastMessage] as [string, number | null, string];
  };
  const readText = (text: string) => expect.stringContaining(text);
  expect(await check(640)).toEqual(["up", 640, readText("first byte after")]);
  expect(await check(1_240)).toEqual([
    "degraded",
    1_240,
    "Queue depth 1,240 jobs (limit 1,000 jobs).",
  ]);
  const { id: key } = watch.database
    .query<{ id: string }, [string]>(
      "select number_level as id from monitor_states where monitor_id = ?",
    )
    .get(site.id) ?? { id: "" };
  expect(key).toBe("degraded");
  expect(await check("950")).toEqual(["degraded", 950, "Queue depth 950 jobs (back at 900 jobs)."]);
  expect(await check(2_500)).toEqual(["down", 2_500, "Queue depth 2,500 jobs (limit 2,000 jobs)."]);
  expect(await check(900)).toEqual(["up", 900, readText("Queue depth 900 jobs.")]);
  expect(await check("many")).toEqual([
    "down",
    null,
    "Queue depth: there is no number at $.queue.",
  ]);
  const changes = await watch.readStateChanges();
  expect(changes.map(({ type, data }) => [type, data.message])).toContainEqual([
    "monitor.degraded",
    "Queue depth 1,240 jobs (limit 1,000 jobs).",
  ]);

  const numbers = await watch.api("GET", `/api/v1/monitors/${site.id}/numbers?points=1`);
  expect(numbers.json.data).toEqual([
    expect.objectContaining({ min: 640, max: 2_500, checks: 5, average: 6_230 / 5 }),
  ]);
  const csv = await watch.api("GET", `/api/v1/monitors/${site.id}/numbers/csv?points=1`);
  expect(csv.text).toMatch(/^at,average,min,max,checks\r\n[\dT:.Z-]+,1246,640,2500,5\r\n$/);
  const from = new Date(watch.time.now - 40 * 24 * hourMs).toISOString();
  const long = await watch.api("GET", `/api/v1/monitors/${site.id}/numbers?from=${from}`);
  expect(long.json.data).toEqual([expect.objectContaining({ checks: 5, max: 2_500 })]);
  const heartbeats = await watch.api("GET", `/api/v1/monitors/${site.id}/heartbeats?limit=2`);
  expect(heartbeats.json.data.map(({ number }: { number: unknown }) => number)).toEqual([
    null,
    900,
  ]);

  await check(700);
  const metrics = await watch.app.handle(
    new Request("http://localhost/metrics", {
      headers: { Host: "localhost", Authorization: `Bearer ${watch.ours.writeKey.key}` },
    }),
  );
  expect(await metrics.text()).toContain(
    'type="http",group="",number="Queue depth",unit="jobs"} 700\n',
  );
});

test("raising the limits forgets the level, and so does a pause", async () => {
  const watch = await createWatch();
  const site = await watch.createSite({ number: queue });
  const path = `/api/v1/monitors/${site.id}`;
  const check = async () => {
    await watch.api("POST", `${path}/check`);
    return watch.readStatus(site.id);
  };
  site.setReply(reply(1_100));
  expect(await check()).toBe("degraded");
  await watch.api("PATCH", path, { body: { number: { ...queue, degradedLimit: 1_200 } } });
  expect(await check()).toBe("up");
  site.setReply(reply(1_300));
  expect(await check()).toBe("degraded");
  site.setReply(reply(1_100));
  await watch.api("PATCH", path, { body: { paused: true } });
  await watch.api("PATCH", path, { body: { paused: false } });
  expect(await check()).toBe("up");
});

test.each([
  [{ downLimit: 500 }, "number.downLimit"],
  [{ returnAt: 1_001 }, "number.returnAt"],
  [{ degradedLimit: null, downLimit: null }, "number.returnAt"],
  [{ name: " " }, "number.name"],
  [{ path: "queue" }, "number.path"],
  [{ degradedLimit: "1000" }, "number.degradedLimit"],
  [{ downLimit: 1e31 }, "number.downLimit"],
  [{ direction: "sideways" }, "number.direction"],
  [{ color: "red" }, "number.color"],
])("limits that contradict each other are rejected: %j", async (fields, path) => {
  const watch = await createWatch();
  const body = {
    type: "http",
    name: "Shop",
    url: "http://a.lan/",
    number: { ...queue, ...fields },
  };
  const { status, json } = await watch.api("POST", "/api/v1/monitors", { body });
  expect([status, json.error.details.map((one: { path: string }) => one.path)]).toEqual([
    422,
    [path],
  ]);
});

test("the public message names neither the number nor the limit", async () => {
  await using site = await startTarget(reply(1_240));
  const outcome = await runCheckOfType("http", { url: site.at("/"), number: queue });
  expect(outcome).toMatchObject({
    status: "degraded",
    message: "Queue depth is above its limit.",
    serverText: "Queue depth 1,240 (limit 1,000).",
    number: { value: 1_240, level: "degraded" },
  });
});

test("a number without limits that is missing leaves the monitor up", async () => {
  await using site = await startTarget(replyWith(200, "fine"));
  const chart = { name: "Load", unit: null, degradedLimit: null, downLimit: null, returnAt: null };
  const outcome = await runCheckOfType("http", { url: site.at("/"), number: chart });
  expect(outcome).toMatchObject({
    status: "up",
    serverText: expect.stringContaining("there is no number"),
  });
  site.setReply(replyWith(200, "0.75\n"));
  expect(await runCheckOfType("http", { url: site.at("/"), number: chart })).toMatchObject({
    status: "up",
    number: { value: 0.75, level: null },
  });
});

test.each([
  ["postgres", "$[0].n", 42],
  ["mysql", null, 42],
  ["rabbitmq", "messages", 7],
  ["ntp", "stratum", 2],
  ["game", "players", 12],
  ["mqtt", "$.on", null],
  ["mqtt", null, null],
] as const)("%s finds the number at %p: %p", async (type, path, value) => {
  const fake = fakes[type];
  await using server = await startFake(fake);
  const at = fake.at?.("127.0.0.1", server.port, false) ?? {
    host: "127.0.0.1",
    port: server.port,
  };
  const fields = { ...at, ...fake.fields, number: { name: "Size", path } };
  const outcome = await runCheckOfType(type, fields);
  expect([outcome.status, outcome.number?.value ?? null]).toEqual(["up", value]);
});

test.skipIf(isOnRqlite)(
  "a number adds at most 9 bytes to a stored check, and its sums almost nothing",
  async () => {
    const checks = 20_000;
    const measure = async (numberOf: (index: number) => number | null) => {
      const { store, database } = await createMigratedStore();
      const start = Date.UTC(2026, 10, 1);
      for (let index = 0; index < checks; index += 1_000)
        await store.atomic(
          insertHeartbeats(
            Array.from({ length: 1_000 }, (_, offset) => ({
              monitorKey: 1,
              at: start + (index + offset) * 60_000,
              status: "up" as const,
              latencyMs: 34,
              seconds: 60,
              message: null,
              number: numberOf(index + offset),
            })),
          ),
        );
      const [[bytes] = []] = database
        .query(
          "select sum(payload) from dbstat where name in ('heartbeats', 'number_hours', 'number_days')",
        )
        .values();
      return Number(bytes) / checks;
    };
    const without = await measure(() => null);
    expect((await measure((index) => Math.sqrt(index + 2))) - without).toBeLessThan(10);
    expect((await measure((index) => index % 2_000)) - without).toBeLessThan(4);
  },
);
