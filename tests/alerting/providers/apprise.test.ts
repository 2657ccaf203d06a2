import { describe, expect, test } from "bun:test";
import type { Verdict } from "../../../src/alerting/provider.ts";
import { apprise } from "../../../src/alerting/providers/apprise.ts";
import {
  alertOf,
  expectUsualVerdicts,
  doubted,
  monitor,
  receiver,
  storm,
  telling,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = {
  server: "http://apprise.lan:8000",
  key: "ops",
  tag: null,
  urls: null,
  template: null,
};

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";

describe("what Apprise receives", () => {
  test("an outage as a failure, for everything that is saved under the key", async () => {
    await using to = await receiver();
    await to.deliver(apprise, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["http://apprise.lan:8000/notify/ops"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/notify/ops" });
    expect(to.body()).toEqual({
      title: "Shop is down",
      body: `The connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house\n\n${page}`,
      type: "failure",
      format: "text",
      tag: "all",
    });
  });

  test("its recovery as a success", async () => {
    await using to = await receiver();
    await to.deliver(apprise, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({
      title: "Shop is up again",
      body: `HTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house\n\n${page}`,
      type: "success",
      format: "text",
      tag: "all",
    });
  });

  test("slowness as a warning", async () => {
    await using to = await receiver();
    await to.deliver(apprise, settings, telling(alertOf("monitor.degraded")));
    expect(to.body().type).toBe("warning");
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(apprise, settings, telling(storm(2)));
    expect(to.body()).toEqual({
      title: "2 monitors are down",
      body: "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.\n\nhttps://signalbox.lan",
      type: "failure",
      format: "text",
      tag: "all",
    });
  });

  test("a test alert as information", async () => {
    await using to = await receiver();
    await to.deliver(apprise, settings, telling(alertOf("test")));
    expect(to.body()).toEqual({
      title: "Test alert from Signalbox",
      body: "Alerts of this channel arrive here.\n\nhttps://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
      type: "info",
      format: "text",
      tag: "all",
    });
  });

  test.each([
    ["http://apprise.lan/", "http://apprise.lan/notify/ops"],
    ["http://apprise.lan/a/b", "http://apprise.lan/a/b/notify/ops"],
    ["http://apprise.lan/a/b//", "http://apprise.lan/a/b/notify/ops"],
    ["http://apprise.lan/a/?x=1#y", "http://apprise.lan/a/notify/ops"],
    ["http://[::1]:8000", "http://[::1]:8000/notify/ops"],
  ])("on the server %s", async (server, url) => {
    await using to = await receiver();
    await to.deliver(apprise, { ...settings, server }, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual([url]);
  });

  test("a key with signs that would lead elsewhere", async () => {
    await using to = await receiver();
    const key = "../add/ops?x#y%";
    await to.deliver(apprise, { ...settings, key }, telling(alertOf("monitor.down")));
    expect(to.last().path).toBe("/notify/..%2Fadd%2Fops%3Fx%23y%25");
  });
});

test("names and messages call nobody, whatever service is behind it", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "@everyone", groupName: "<users/all>" };
  const message = "<!channel> <@1> ops@shop.lan 1 < 2";
  const down = alertOf("monitor.down", { monitor: named, message });
  await to.deliver(apprise, settings, telling(down));
  expect(to.body()).toMatchObject({
    title: "@\u200beveryone is down",
    body: `<\u200b!channel> <\u200b@\u200b1> ops@shop.lan 1 < 2\nSince: 2026-11-20 23:02:00 UTC\nGroup: <\u200busers/all>\n\n${page}`,
  });
});

test("a digest of a thousand alerts says how many it leaves out and still ends with the address", async () => {
  await using to = await receiver();
  await to.deliver(apprise, settings, telling(storm(1_000)));
  const { body } = to.body();
  expect(body.length).toBeLessThanOrEqual(1_002);
  const [text, url] = body.split("\n\n");
  expect(url).toBe("https://signalbox.lan");
  const lines = text.split("\n");
  expect(lines.length).toBeGreaterThan(15);
  expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
});

describe("whom it is for", () => {
  const sent = async (changes: object) => {
    await using to = await receiver();
    await to.deliver(apprise, { ...settings, ...changes }, telling(alertOf("test")));
    const { tag, urls } = to.body();
    return { to: to.urls, tag, urls };
  };

  test("all that is saved under the key, or what has one of these tags", async () => {
    const notify = ["http://apprise.lan:8000/notify/ops"];
    expect(await sent({})).toEqual({ to: notify, tag: "all", urls: undefined });
    expect(await sent({ tag: "oncall, eu" })).toEqual({
      to: notify,
      tag: "oncall, eu",
      urls: undefined,
    });
  });

  test("the urls that the channel itself names, where the server keeps nothing", async () => {
    const urls = "mailto://ann:pw@mail.lan, json://bot.lan";
    expect(await sent({ key: null, urls })).toEqual({
      to: ["http://apprise.lan:8000/notify/"],
      tag: undefined,
      urls,
    });
  });
});

describe("what Apprise answers", () => {
  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(apprise, settings));

  test("204 says that nothing is saved under the key", async () => {
    expect(await verdictOn(answer(204, ""), apprise, settings)).toEqual(
      doubted("Apprise has no services under this key or these URLs."),
    );
  });

  test("424 says that not all services could be told, but not which were", async () => {
    const partly: Verdict = {
      outcome: "failed",
      reason: "Apprise could not notify all of its services.",
      failure: "passing",
      progress: { reached: null, refused: [] },
    };
    expect(await verdictOn(answer(424, "internal gossip"), apprise, settings)).toEqual(partly);
  });
});
