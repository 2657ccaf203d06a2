import { describe, expect, test } from "bun:test";
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
  test.each([
    [-2, "-2", "-2"],
    [-1, "-1", "-1"],
    [0, "0", "0"],
    [1, "1", "0"],
  ])("%d: everything else has at most the normal one", async (priority, ofDown, ofUp) => {
    await using to = await startReceiver();
    for (const type of ["monitor.down", "monitor.up"] as const)
      await to.deliver(pushover, { ...settings, priority }, createMessage(createAlert(type)));
    expect(to.asked.map((request) => fieldsOf(request)["priority"])).toEqual([ofDown, ofUp]);
    for (const request of to.asked)
      expect(Object.keys(fieldsOf(request))).not.toContainAnyValues(["retry", "expire", "tags"]);
  });

  const urgent = { ...settings, priority: 2, retry: 30, expire: 10_800 };

  test.each([
    ["an outage", [createAlert("monitor.down")]],
    ["a digest", createAlertStorm(3)],
  ])("2: %s is an emergency with a tag, and the response has its receipt", async (_, alerts) => {
    const receipt = "KAWXTswy4cekx6vZbHBKbCKk1c1fdf";
    await using to = await startReceiver(replyWith(200, JSON.stringify({ status: 1, receipt })));
    const message = createMessage(alerts);
    const verdict = await to.deliver(pushover, urgent, message);
    expect(fieldsOf(to.lastRequest())).toMatchObject({
      priority: "2",
      retry: "30",
      expire: "10800",
      tags: message.id,
    });
    expect(verdict).toMatchObject({ outcome: "delivered", receipt: { id: receipt } });
  });

  test("2: other alerts are no emergencies", async () => {
    await using to = await startReceiver();
    for (const type of ["monitor.degraded", "test", "incident.updated"] as const)
      await to.deliver(pushover, urgent, createMessage(createAlert(type)));
    expect(to.asked.map(({ path }) => path)).toEqual(Array(3).fill("/1/messages.json"));
    for (const request of to.asked) expect(fieldsOf(request)["priority"]).toBe("0");
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
