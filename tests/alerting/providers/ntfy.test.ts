import { describe, expect, test } from "bun:test";
import { ntfy } from "../../../src/alerting/providers/ntfy.ts";
import {
  alertOf,
  deliveryId,
  expectUsualVerdicts,
  doubted,
  monitor,
  receiver,
  storm,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = {
  server: "https://ntfy.sh",
  topic: "alerts",
  token: null,
  username: null,
  password: null,
  priority: 4,
  tags: [],
  template: null,
};

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const opening = (url: string) => ({
  topic: "alerts",
  click: url,
  actions: [{ action: "view", label: "Open in Signalbox", url }],
  sequence_id: deliveryId,
});

describe("what ntfy receives", () => {
  test("an outage, urgently, with the id of its delivery", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://ntfy.sh/"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/" });
    expect(to.last().headers.authorization).toBeUndefined();
    expect(to.body()).toEqual({
      ...opening(page),
      title: "Shop is down",
      message: "The connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house",
      tags: ["rotating_light"],
      priority: 4,
    });
  });

  test("its recovery with a green tick", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({
      ...opening(page),
      title: "Shop is up again",
      message:
        "HTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house",
      tags: ["white_check_mark"],
      priority: 3,
    });
  });

  test("slowness as a warning", async () => {
    await using to = await receiver();
    const slow = { message: "Answered in 1812 ms, more than 500 ms.", latencyMs: 1_812 };
    await to.deliver(ntfy, settings, telling(alertOf("monitor.degraded", slow)));
    expect(to.body()).toMatchObject({ tags: ["warning"], priority: 3 });
    expect(to.body().message).toStartWith("Answered in 1,812 ms, more than 500 ms.\n");
    expect(to.body().message).toContain("\nLatency: 1,812 ms\n");
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, settings, telling(storm(2)));
    expect(to.body()).toEqual({
      ...opening("https://signalbox.lan"),
      title: "2 monitors are down",
      message:
        "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
      tags: ["rotating_light"],
      priority: 4,
    });
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, settings, telling(alertOf("test")));
    expect(to.body()).toEqual({
      ...opening("https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc"),
      title: "Test alert from Signalbox",
      message: "Alerts of this channel arrive here.",
      tags: ["information_source"],
      priority: 3,
    });
  });

  test("the access token, where there is one", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, { ...settings, token: "tk_7f3a" }, telling(alertOf("test")));
    expect(to.last().headers.authorization).toBe("Bearer tk_7f3a");
  });

  test("a user name and its password, where there are these", async () => {
    await using to = await receiver();
    const login = { username: "phil", password: "my:päss" };
    await to.deliver(ntfy, { ...settings, ...login }, telling(alertOf("test")));
    const [scheme, pair = ""] = to.last().headers.authorization?.split(" ") ?? [];
    expect([scheme, Buffer.from(pair, "base64").toString()]).toEqual(["Basic", "phil:my:päss"]);
  });

  test("the tags of the channel behind the sign", async () => {
    await using to = await receiver();
    await to.deliver(ntfy, { ...settings, tags: ["shop", "eu"] }, telling(alertOf("monitor.up")));
    expect(to.body().tags).toEqual(["white_check_mark", "shop", "eu"]);
  });

  test.each([
    [1, 1, 1],
    [3, 3, 3],
    [5, 5, 3],
  ])("priority %d of outages, and at most 3 of all else", async (priority, ofDown, ofUp) => {
    await using to = await receiver();
    const sent = [];
    for (const type of ["monitor.down", "monitor.up"] as const) {
      await to.deliver(ntfy, { ...settings, priority }, telling(alertOf(type)));
      sent.push(to.body().priority);
    }
    expect(sent).toEqual([ofDown, ofUp]);
  });

  test.each([
    ["http://ntfy.lan", "http://ntfy.lan/"],
    ["http://ntfy.lan/ntfy", "http://ntfy.lan/ntfy/"],
    ["http://ntfy.lan/ntfy/", "http://ntfy.lan/ntfy/"],
    ["http://ntfy.lan/?auth=x#y", "http://ntfy.lan/"],
  ])("on the server %s", async (server, url) => {
    await using to = await receiver();
    await to.deliver(ntfy, { ...settings, server }, telling(alertOf("test")));
    expect(to.urls).toEqual([url]);
  });
});

test("names in every script are text and nothing else", async () => {
  await using to = await receiver();
  const name = '"Größe"\u0000, メール 📈 **x** {"topic":"other"}';
  await to.deliver(
    ntfy,
    settings,
    telling(alertOf("monitor.down", { monitor: { ...monitor, name } })),
  );
  expect(to.body()).toMatchObject({ topic: "alerts", title: `${name} is down` });
});

test("a text of the user's own that is empty says what the title says", async () => {
  await using to = await receiver();
  await to.deliver(ntfy, settings, telling(alertOf("monitor.down"), "{{latency}}"));
  expect(to.body().message).toBe("Shop is down");
});

test("a digest of a thousand alerts stays within the limit, which counts bytes", async () => {
  for (const nameOf of [undefined, (number: number) => `${"ü".repeat(200)} ${number}`]) {
    await using to = await receiver();
    await to.deliver(ntfy, settings, telling(storm(1_000, nameOf)));
    const { message } = to.body();
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
    expect(Buffer.byteLength(message)).toBeGreaterThan(3_000);
    const lines = message.split("\n");
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  }
});

describe("what ntfy answers", () => {
  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(ntfy, settings));

  test.each([
    [400, 40009, "ntfy says that the name of the topic is not valid."],
    [400, 40010, "ntfy says that the name of the topic is not allowed."],
    [401, 40101, "ntfy says that the access token, or the user name or password, is not valid."],
    [403, 40301, "ntfy says that publishing to the topic is not allowed."],
  ])("%d with code %d ends it", async (status, code, reason) => {
    const body = JSON.stringify({ code, http: status, error: "internal gossip" });
    expect(await verdictOn(answer(status, body), ntfy, settings)).toEqual(doubted(reason));
  });

  test("a limit that was reached is tried again", async () => {
    const body = JSON.stringify({ code: 42908, http: 429, error: "internal gossip" });
    expect(await verdictOn(answer(429, body), ntfy, settings)).toEqual(
      triedAgain("The receiver answered HTTP 429 (Too Many Requests)."),
    );
  });
});
