import { describe, expect, test } from "bun:test";
import { gotify } from "../../../src/alerting/providers/gotify.ts";
import {
  alertOf,
  expectUsualVerdicts,
  monitor,
  receiver,
  storm,
  telling,
} from "../../support/delivering.ts";

const settings = { server: "http://gotify.lan", token: "AzyoeNS.D4iJLVa", template: null };

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const opening = (url: string) => ({
  "client::display": { contentType: "text/plain" },
  "client::notification": { click: { url } },
});

describe("what Gotify receives", () => {
  test("an outage, urgently, with its page to open", async () => {
    await using to = await receiver();
    await to.deliver(gotify, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["http://gotify.lan/message"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/message" });
    expect(to.last().headers["x-gotify-key"]).toBe("AzyoeNS.D4iJLVa");
    expect(to.body()).toEqual({
      title: "Shop is down",
      message: `The connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house\n\n${page}`,
      priority: 8,
      extras: opening(page),
    });
  });

  test("its recovery with less priority", async () => {
    await using to = await receiver();
    await to.deliver(gotify, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({
      title: "Shop is up again",
      message: `HTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house\n\n${page}`,
      priority: 5,
      extras: opening(page),
    });
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(gotify, settings, telling(storm(2)));
    expect(to.body()).toEqual({
      title: "2 monitors are down",
      message:
        "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.\n\nhttps://signalbox.lan",
      priority: 8,
      extras: opening("https://signalbox.lan"),
    });
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(gotify, settings, telling(alertOf("test")));
    const url = "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc";
    expect(to.body()).toEqual({
      title: "Test alert from Signalbox",
      message: `Alerts of this channel arrive here.\n\n${url}`,
      priority: 4,
      extras: opening(url),
    });
  });

  test.each([
    ["http://gotify.lan/", "http://gotify.lan/message"],
    ["https://lan/gotify", "https://lan/gotify/message"],
    ["https://lan/gotify/", "https://lan/gotify/message"],
    ["https://lan/gotify/?token=x#y", "https://lan/gotify/message"],
  ])("on the server %s", async (server, url) => {
    await using to = await receiver();
    await to.deliver(gotify, { ...settings, server }, telling(alertOf("test")));
    expect(to.urls).toEqual([url]);
  });
});

test("names and messages are plain text", async () => {
  await using to = await receiver();
  const name = "**Größe** ![x](https://evil.example/x.png) メール";
  await to.deliver(
    gotify,
    settings,
    telling(alertOf("monitor.down", { monitor: { ...monitor, name } })),
  );
  expect(to.body()).toMatchObject({
    title: `${name} is down`,
    extras: { "client::display": { contentType: "text/plain" } },
  });
});

test("a digest of a thousand alerts says how many it leaves out and fits into any database", async () => {
  await using to = await receiver();
  await to.deliver(
    gotify,
    settings,
    telling(storm(1_000, (number) => `${"メ".repeat(200)} ${number}`)),
  );
  const { message } = to.body();
  expect(Buffer.byteLength(message)).toBeLessThan(20_000);
  const [said, url] = message.split("\n\n");
  expect(url).toBe("https://signalbox.lan");
  const lines = said.split("\n");
  expect(lines.length).toBeGreaterThan(15);
  expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
});

test("statuses mean what they mean everywhere", () => expectUsualVerdicts(gotify, settings));
