import { describe, expect, test } from "bun:test";
import type { Alert } from "../../../src/alerting/alert.ts";
import { pushover } from "../../../src/alerting/providers/pushover.ts";
import {
  alertOf,
  givenUp,
  monitor,
  receiver,
  storm,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { type Asked, answer } from "../../support/target.ts";

const settings = {
  userKey: "uQiRzpo4DXghDmr9",
  apiToken: "azGDORePK8gMaC0Q",
  priority: 1,
  retry: 60,
  expire: 3_600,
  template: null,
};

const keys = { token: "azGDORePK8gMaC0Q", user: "uQiRzpo4DXghDmr9" };
const page = `https://signalbox.lan/monitors/${monitor.id}`;
const usual = { ...keys, url_title: "Open in Signalbox", timestamp: "1795215720" };

function fieldsOf({ headers, body }: Asked) {
  expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
  return Object.fromEntries(new URLSearchParams(body));
}

describe("what Pushover receives", () => {
  test("an outage with high priority, and when it happened", async () => {
    await using to = await receiver();
    await to.deliver(pushover, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://api.pushover.net/1/messages.json"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/1/messages.json" });
    expect(fieldsOf(to.last())).toEqual({
      ...usual,
      title: "Shop is down",
      message: "The connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house",
      priority: "1",
      url: page,
    });
    expect(new Date(1795215720 * 1_000).toISOString()).toBe("2026-11-20T23:02:00.000Z");
  });

  test("its recovery with the usual priority", async () => {
    await using to = await receiver();
    await to.deliver(pushover, settings, telling(alertOf("monitor.up")));
    expect(fieldsOf(to.last())).toEqual({
      ...usual,
      title: "Shop is up again",
      message:
        "HTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house",
      priority: "0",
      url: page,
    });
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(pushover, settings, telling(storm(2)));
    expect(fieldsOf(to.last())).toEqual({
      ...usual,
      title: "2 monitors are down",
      message:
        "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
      priority: "1",
      url: "https://signalbox.lan",
    });
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(pushover, settings, telling(alertOf("test")));
    expect(fieldsOf(to.last())).toEqual({
      ...usual,
      title: "Test alert from Signalbox",
      message: "Alerts of this channel arrive here.",
      priority: "0",
      url: "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
    });
  });

  test("a text of the user's own that is empty as the title", async () => {
    await using to = await receiver();
    await to.deliver(pushover, settings, telling(alertOf("monitor.down"), " {{latency}} "));
    expect(fieldsOf(to.last())).toMatchObject({ message: "Shop is down" });
  });

  test("no address that is longer than it takes", async () => {
    await using to = await receiver();
    const message = {
      ...telling(alertOf("monitor.down")),
      url: `https://x.lan/${"y".repeat(500)}`,
    };
    await to.deliver(pushover, settings, message);
    expect(fieldsOf(to.last())).not.toHaveProperty("url");
    expect(fieldsOf(to.last())).not.toHaveProperty("url_title");
  });
});

describe("another priority of outages", () => {
  const cancelling = `/1/receipts/cancel_by_tag/signalbox-${monitor.id}.json`;

  test.each([
    [-2, "-2", "-2"],
    [-1, "-1", "-1"],
    [0, "0", "0"],
    [1, "1", "0"],
  ])("%d: everything else has at most the usual one", async (priority, ofDown, ofUp) => {
    await using to = await receiver();
    for (const type of ["monitor.down", "monitor.up"] as const)
      await to.deliver(pushover, { ...settings, priority }, telling(alertOf(type)));
    expect(to.asked.map((asked) => fieldsOf(asked)["priority"])).toEqual([ofDown, ofUp]);
    for (const asked of to.asked)
      expect(Object.keys(fieldsOf(asked))).not.toContainAnyValues(["retry", "expire", "tags"]);
  });

  const urgent = { ...settings, priority: 2, retry: 30, expire: 10_800 };

  test("2: an emergency, repeated until somebody confirms it or the case with its tag is over", async () => {
    await using to = await receiver();
    await to.deliver(pushover, urgent, telling(alertOf("monitor.down")));
    expect(fieldsOf(to.last())).toMatchObject({
      priority: "2",
      retry: "30",
      expire: "10800",
      tags: `signalbox-${monitor.id}`,
    });
    await to.deliver(pushover, urgent, telling(alertOf("monitor.up")));
    const [, cancel, recovery] = to.asked;
    expect(cancel?.path).toBe(cancelling);
    expect(cancel && fieldsOf(cancel)).toEqual({ token: settings.apiToken });
    expect(recovery && fieldsOf(recovery)).toMatchObject({
      title: "Shop is up again",
      priority: "0",
    });
    expect(to.asked).toHaveLength(3);
  });

  test("2: what tells of no outage ends no emergency and is none", async () => {
    await using to = await receiver();
    for (const type of ["monitor.degraded", "test", "incident.updated"] as const)
      await to.deliver(pushover, urgent, telling(alertOf(type)));
    expect(to.asked.map(({ path }) => path)).toEqual(Array(3).fill("/1/messages.json"));
    for (const asked of to.asked) expect(fieldsOf(asked)["priority"]).toBe("0");
  });

  test("2: the emergency of a digest is ended by none of its monitors; a digest ends ten at most", async () => {
    await using to = await receiver();
    await to.deliver(pushover, urgent, telling(storm(3)));
    expect(fieldsOf(to.last())).toMatchObject({ priority: "2", retry: "30" });
    expect(fieldsOf(to.last())).not.toHaveProperty("tags");
    const ups = storm(12).map((alert) => ({ ...alert, type: "monitor.up" as const }) as Alert);
    await to.deliver(pushover, urgent, telling(ups));
    const cancelled = to.asked.map(({ path }) => path).filter((path) => path.includes("cancel"));
    expect(new Set(cancelled).size).toBe(10);
    expect(to.last().path).toBe("/1/messages.json");
  });

  test("2: the recovery waits for an emergency that can't be ended now, but for none that is unknown", async () => {
    for (const [status, outcome, paths] of [
      [500, "failed", [cancelling]],
      [404, "delivered", [cancelling, "/1/messages.json"]],
    ] as const) {
      await using to = await receiver(answer(200, '{"status":1}'));
      to.reply(answer(status, '{"status":0}'), cancelling);
      const verdict = await to.deliver(pushover, urgent, telling(alertOf("monitor.up")));
      expect(verdict.outcome).toBe(outcome);
      expect(to.asked.map(({ path }) => path)).toEqual([...paths]);
    }
  });
});

test("names and messages set no other field", async () => {
  await using to = await receiver();
  const name = "Größe&priority=2&html=1#<b>+%26 メール";
  await to.deliver(
    pushover,
    settings,
    telling(alertOf("monitor.down", { monitor: { ...monitor, name } })),
  );
  expect(fieldsOf(to.last())).toMatchObject({ title: `${name} is down`, priority: "1" });
  expect(fieldsOf(to.last())).not.toHaveProperty("html");
});

test("what is too long is cut", async () => {
  await using to = await receiver();
  await to.deliver(pushover, settings, telling(storm(1_000)));
  const { message = "" } = fieldsOf(to.last());
  expect(message.length).toBeLessThanOrEqual(1_024);
  const lines = message.split("\n");
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  const named = { ...monitor, name: "x".repeat(255) };
  const alert = alertOf("monitor.down", { monitor: named, message: "y".repeat(2_000) });
  await to.deliver(pushover, settings, telling(alert));
  const cut = fieldsOf(to.last());
  expect(cut["title"]).toBe(`${"x".repeat(249)}…`);
  expect(cut["message"]).toMatch(/^y{990,}…\n… and 2 more$/);
  expect(cut["message"]?.length).toBeLessThanOrEqual(1_024);
});

describe("what Pushover answers", () => {
  const on = (status: number, body: object) =>
    verdictOn(answer(status, JSON.stringify({ ...body, errors: ["gossip"] })), pushover, settings);

  test("200 with status 1 is success", async () => {
    expect(await on(200, { status: 1, request: "647d2300" })).toEqual({ outcome: "delivered" });
  });

  test("4xx ends it", async () => {
    expect(await on(400, { status: 0, user: "invalid" })).toEqual(
      givenUp("Pushover says that the user key is not valid."),
    );
    expect(await on(400, { status: 0, token: "invalid" })).toEqual(
      givenUp("Pushover says that the application's token is not valid."),
    );
    for (const status of [400, 401, 413])
      expect(await on(status, { status: 0 })).toEqual(givenUp("Pushover refused the message."));
  });

  test("status 0 is no success", async () => {
    expect(await on(200, { status: 0, user: "invalid" })).toEqual(
      givenUp("Pushover says that the user key is not valid."),
    );
  });

  test("the end of the month's messages and 5xx are tried again", async () => {
    expect(await on(429, { status: 0 })).toEqual(
      triedAgain("Pushover says that the application has no messages left this month."),
    );
    expect(await on(500, { status: 0 })).toEqual(
      triedAgain("The receiver answered HTTP 500 (Internal Server Error)."),
    );
  });
});
