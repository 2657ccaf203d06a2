import { describe, expect, test } from "bun:test";
import { opsgenie } from "../../../src/alerting/providers/opsgenie.ts";
import {
  alertOf,
  deliveryId,
  doubted,
  monitor,
  receiver,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = { apiKey: "eb243592-7f3a", region: "us" } as const;

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const alias = `signalbox-${monitor.id}`;

describe("what Opsgenie receives", () => {
  test("an outage as a new alert with the monitor's alias", async () => {
    await using to = await receiver();
    await to.deliver(opsgenie, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://api.opsgenie.com/v2/alerts"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/v2/alerts" });
    expect(to.last().headers.authorization).toBe("GenieKey eb243592-7f3a");
    expect(to.body()).toEqual({
      source: "Signalbox",
      alias,
      message: "Shop is down",
      description: `The connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house\n\n${page}`,
      priority: "P1",
      tags: ["signalbox", "monitor.down"],
      details: { group: "Front of house", url: page },
      entity: "Shop",
    });
  });

  test("its recovery closes the alert of that alias", async () => {
    await using to = await receiver();
    await to.deliver(opsgenie, settings, telling(alertOf("monitor.up")));
    expect(to.last()).toMatchObject({
      method: "POST",
      path: `/v2/alerts/${alias}/close?identifierType=alias`,
    });
    expect(to.last().headers.authorization).toBe("GenieKey eb243592-7f3a");
    expect(to.body()).toEqual({
      source: "Signalbox",
      note: "Shop is up again\nHTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house",
    });
  });

  test("an account in Europe at its own host", async () => {
    await using to = await receiver();
    const eu = { ...settings, region: "eu" } as const;
    await to.deliver(opsgenie, eu, telling(alertOf("monitor.down")));
    await to.deliver(opsgenie, eu, telling(alertOf("monitor.up")));
    expect(to.urls).toEqual([
      "https://api.eu.opsgenie.com/v2/alerts",
      `https://api.eu.opsgenie.com/v2/alerts/${alias}/close?identifierType=alias`,
    ]);
  });

  test("slowness with less priority", async () => {
    await using to = await receiver();
    await to.deliver(opsgenie, settings, telling(alertOf("monitor.degraded")));
    expect(to.body()).toMatchObject({ alias, message: "Shop is degraded", priority: "P3" });
  });

  test("a test alert with the least", async () => {
    await using to = await receiver();
    await to.deliver(opsgenie, settings, telling(alertOf("test")));
    const url = "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc";
    expect(to.body()).toEqual({
      source: "Signalbox",
      alias: `signalbox-${deliveryId}`,
      message: "Test alert from Signalbox",
      description: `Alerts of this channel arrive here.\n\n${url}`,
      priority: "P5",
      tags: ["signalbox", "test"],
      details: { url },
    });
  });

  test("no digests: each alert opens and closes a case of its own", () => {
    expect(opsgenie.digests).toBe(false);
  });
});

test("what is too long is cut", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "x".repeat(255) };
  const message = "y".repeat(30_000);
  await to.deliver(
    opsgenie,
    settings,
    telling(alertOf("monitor.down", { monitor: named, message })),
  );
  const opened = to.body();
  expect(opened.message).toBe(`${"x".repeat(129)}…`);
  expect(opened.description).toHaveLength(15_000);
  expect(opened.description).toEndWith(`y…\n\n${page}`);
  await to.deliver(opsgenie, settings, telling(alertOf("monitor.up", { monitor: named, message })));
  expect(to.body().note).toHaveLength(25_000);
});

describe("what Opsgenie answers", () => {
  const on = (status: number, headers: Record<string, string> = {}) =>
    verdictOn(answer(status, '{"message":"internal gossip"}', headers), opsgenie, settings);

  test("202 is success", async () => {
    expect(await on(202)).toEqual({ outcome: "delivered" });
  });

  test.each([
    [401, "Opsgenie says that the API key is not valid, or its integration is off."],
    [402, "Opsgenie says that the account's plan has no alerts of this kind."],
    [403, "Opsgenie says that the API key is not allowed to do this."],
    [422, "Opsgenie refused the alert."],
  ])("%d ends it", async (status, reason) => {
    expect(await on(status)).toEqual(doubted(reason));
  });

  test("429 and 5xx are tried again", async () => {
    const limited = "The receiver answered HTTP 429 (Too Many Requests).";
    expect(await on(429, { "retry-after": "17" })).toEqual(triedAgain(limited, 17));
    expect(await on(503)).toEqual(
      triedAgain("The receiver answered HTTP 503 (Service Unavailable)."),
    );
  });
});
