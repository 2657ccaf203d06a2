import { describe, expect, test } from "bun:test";
import { pagerduty } from "../../../src/alerting/providers/pagerduty.ts";
import {
  alertOf,
  deliveryId,
  givenUp,
  monitor,
  receiver,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = { routingKey: "e93facc04764012d7bfb002500d5d1a6", region: "us" as const };

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const event = { routing_key: settings.routingKey, dedup_key: `signalbox-${monitor.id}` };

describe("what PagerDuty receives", () => {
  test("an outage as a trigger of the monitor's case", async () => {
    await using to = await receiver();
    await to.deliver(pagerduty, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://events.pagerduty.com/v2/enqueue"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/v2/enqueue" });
    expect(to.body()).toEqual({
      ...event,
      event_action: "trigger",
      client: "Signalbox",
      client_url: page,
      links: [{ href: page, text: "Open in Signalbox" }],
      payload: {
        summary: "Shop is down",
        source: "Shop",
        severity: "critical",
        timestamp: "2026-11-20T23:02:00.000Z",
        class: "monitor.down",
        group: "Front of house",
        custom_details: {
          Message: "The connection was refused.",
          Since: "2026-11-20 23:02:00 UTC",
          Group: "Front of house",
        },
      },
    });
  });

  test("the same in the EU, where accounts of the EU are", async () => {
    await using to = await receiver();
    const inEu = { ...settings, region: "eu" as const };
    await to.deliver(pagerduty, inEu, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://events.eu.pagerduty.com/v2/enqueue"]);
  });

  test("its recovery resolves the same case", async () => {
    await using to = await receiver();
    await to.deliver(pagerduty, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({ ...event, event_action: "resolve" });
  });

  test("slowness as a warning of the same case, without a group where there is none", async () => {
    await using to = await receiver();
    const alone = { ...monitor, groupId: null, groupName: null };
    await to.deliver(pagerduty, settings, telling(alertOf("monitor.degraded", { monitor: alone })));
    expect(to.body()).toMatchObject({ ...event, event_action: "trigger" });
    expect(to.body().payload).toMatchObject({ severity: "warning", class: "monitor.degraded" });
    expect(to.body().payload).not.toHaveProperty("group");
  });

  test("an incident and its end", async () => {
    await using to = await receiver();
    const dedup_key = "signalbox-01a1fb90-0000-7000-8000-0000000000dd";
    await to.deliver(pagerduty, settings, telling(alertOf("incident.opened")));
    expect(to.body()).toMatchObject({
      dedup_key,
      event_action: "trigger",
      payload: { summary: "Incident: Checkout fails", source: "Signalbox", severity: "error" },
    });
    await to.deliver(pagerduty, settings, telling(alertOf("incident.resolved")));
    expect(to.body()).toEqual({ ...event, dedup_key, event_action: "resolve" });
  });

  test("a test alert as information", async () => {
    await using to = await receiver();
    await to.deliver(pagerduty, settings, telling(alertOf("test")));
    expect(to.body()).toMatchObject({
      dedup_key: `signalbox-${deliveryId}`,
      event_action: "trigger",
      payload: {
        summary: "Test alert from Signalbox",
        source: "Signalbox",
        severity: "info",
        custom_details: { Message: "Alerts of this channel arrive here." },
      },
    });
  });

  test("no digests: each alert opens and closes a case of its own", () => {
    expect(pagerduty.digests).toBe(false);
  });
});

test("a summary and details that are too long are cut", async () => {
  await using to = await receiver();
  const title = "ä".repeat(2_000);
  const opened = alertOf("incident.opened", {
    incident: { id: "1", title, status: "open", severity: "major", monitorId: null },
    message: "x".repeat(600_000),
  });
  await to.deliver(pagerduty, settings, telling(opened));
  expect(to.body().payload.summary).toBe(`Incident: ${"ä".repeat(1_013)}…`);
  expect(Buffer.byteLength(to.last().body)).toBeLessThan(512 * 1_024);
});

describe("what PagerDuty answers", () => {
  const on = (status: number, headers: Record<string, string> = {}) =>
    verdictOn(answer(status, '{"message":"internal gossip"}', headers), pagerduty, settings);

  test("202 is success", async () => {
    expect(await on(202)).toEqual({ outcome: "delivered" });
  });

  test("400 ends it: it must not be sent again", async () => {
    expect(await on(400)).toEqual(
      givenUp("PagerDuty refused the event; the integration key may be wrong."),
    );
  });

  test("429 and 5xx are tried again", async () => {
    const limited = "The receiver answered HTTP 429 (Too Many Requests).";
    expect(await on(429)).toEqual(triedAgain(limited));
    expect(await on(429, { "retry-after": "17" })).toEqual(triedAgain(limited, 17));
    expect(await on(500)).toEqual(
      triedAgain("The receiver answered HTTP 500 (Internal Server Error)."),
    );
  });
});
