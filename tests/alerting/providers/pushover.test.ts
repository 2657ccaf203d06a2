import { describe, expect, test } from "bun:test";
import type { Alert } from "../../../src/alerting/alert.ts";
import { pushover } from "../../../src/alerting/providers/pushover.ts";
import {
  createAlert,
  monitor,
  startReceiver,
  createAlertStorm,
  createMessage,
} from "../../support/alert-receiver.ts";
import { type RecordedRequest, replyWith } from "../../support/target.ts";
import { services } from "./services.ts";

const { settings } = services.pushover;

const fieldsOf = ({ body }: RecordedRequest) => Object.fromEntries(new URLSearchParams(body));

test("an address beyond Pushover's limit is left out", async () => {
  await using to = await startReceiver();
  const message = {
    ...createMessage(createAlert("monitor.down")),
    url: `https://x.lan/${"y".repeat(500)}`,
  };
  await to.deliver(pushover, settings, message);
  expect(fieldsOf(to.lastRequest())).not.toHaveProperty("url");
  expect(fieldsOf(to.lastRequest())).not.toHaveProperty("url_title");
});

describe("an outage priority of", () => {
  const cancelling = `/1/receipts/cancel_by_tag/signalbox-${monitor.id}.json`;

  test.each([
    [-2, "-2", "-2"],
    [-1, "-1", "-1"],
    [0, "0", "0"],
    [1, "1", "0"],
  ])("%d: everything else has at most the normal one", async (priority, ofDown, ofUp) => {
    await using to = await startReceiver();
    for (const type of ["monitor.down", "monitor.up"] as const)
      await to.deliver(pushover, { ...settings, priority }, createMessage(createAlert(type)));
    expect(to.asked.map((asked) => fieldsOf(asked)["priority"])).toEqual([ofDown, ofUp]);
    for (const asked of to.asked)
      expect(Object.keys(fieldsOf(asked))).not.toContainAnyValues(["retry", "expire", "tags"]);
  });

  const urgent = { ...settings, priority: 2, retry: 30, expire: 10_800 };

  test("2: an emergency, repeated until a person confirms it or the case with its tag ends", async () => {
    await using to = await startReceiver();
    await to.deliver(pushover, urgent, createMessage(createAlert("monitor.down")));
    expect(fieldsOf(to.lastRequest())).toMatchObject({
      priority: "2",
      retry: "30",
      expire: "10800",
      tags: `signalbox-${monitor.id}`,
    });
    await to.deliver(pushover, urgent, createMessage(createAlert("monitor.up")));
    const [, cancel, recovery] = to.asked;
    expect(cancel?.path).toBe(cancelling);
    expect(cancel && fieldsOf(cancel)).toEqual({ token: settings.apiToken });
    expect(recovery && fieldsOf(recovery)).toMatchObject({
      title: "Shop is up again",
      priority: "0",
    });
    expect(to.asked).toHaveLength(3);
  });

  test("2: other alerts are no emergencies and cancel none", async () => {
    await using to = await startReceiver();
    for (const type of ["monitor.degraded", "test", "incident.updated"] as const)
      await to.deliver(pushover, urgent, createMessage(createAlert(type)));
    expect(to.asked.map(({ path }) => path)).toEqual(Array(3).fill("/1/messages.json"));
    for (const asked of to.asked) expect(fieldsOf(asked)["priority"]).toBe("0");
  });

  test("2: a digest's emergency is not ended by its monitors; a digest ends at most ten", async () => {
    await using to = await startReceiver();
    await to.deliver(pushover, urgent, createMessage(createAlertStorm(3)));
    expect(fieldsOf(to.lastRequest())).toMatchObject({ priority: "2", retry: "30" });
    expect(fieldsOf(to.lastRequest())).not.toHaveProperty("tags");
    const ups = createAlertStorm(12).map(
      (alert) => ({ ...alert, type: "monitor.up" as const }) as Alert,
    );
    await to.deliver(pushover, urgent, createMessage(ups));
    const cancelled = to.asked.map(({ path }) => path).filter((path) => path.includes("cancel"));
    expect(new Set(cancelled).size).toBe(10);
    expect(to.lastRequest().path).toBe("/1/messages.json");
  });

  test("2: the recovery is retried if an emergency can't be ended, but not if it is unknown", async () => {
    for (const [status, outcome, paths] of [
      [500, "failed", [cancelling]],
      [404, "delivered", [cancelling, "/1/messages.json"]],
    ] as const) {
      await using to = await startReceiver(replyWith(200, '{"status":1}'));
      to.setReply(replyWith(status, '{"status":0}'), cancelling);
      const verdict = await to.deliver(pushover, urgent, createMessage(createAlert("monitor.up")));
      expect(verdict.outcome).toBe(outcome);
      expect(to.asked.map(({ path }) => path)).toEqual([...paths]);
    }
  });
});

test("a title that is too long is cut", async () => {
  await using to = await startReceiver();
  const named = { ...monitor, name: "x".repeat(255) };
  const alert = createAlert("monitor.down", { monitor: named, message: "y".repeat(2_000) });
  await to.deliver(pushover, settings, createMessage(alert));
  const cut = fieldsOf(to.lastRequest());
  expect(cut["title"]).toBe(`${"x".repeat(249)}…`);
  expect(cut["message"]).toMatch(/^y{990,}…\n… and 2 more$/);
});
