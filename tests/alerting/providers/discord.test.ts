import { describe, expect, test } from "bun:test";
import { discord } from "../../../src/alerting/providers/discord.ts";
import {
  alertOf,
  expectUsualVerdicts,
  givenUp,
  monitor,
  receiver,
  storm,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer } from "../../support/target.ts";

const settings = { webhookUrl: "https://discord.com/api/webhooks/1/token", template: null };

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";
const field = (name: string, value: string) => ({ name, value, inline: true });
const since = field("Since", "2026-11-20 23:02:00 UTC");
const group = field("Group", "Front of house");
const timestamp = "2026-11-20T23:02:00.000Z";
const only = (embed: object) => ({ embeds: [embed], allowed_mentions: { parse: [] } });

describe("what Discord receives", () => {
  test("an outage in red, with its facts as fields; the answer waits until it is saved", async () => {
    await using to = await receiver();
    await to.deliver(discord, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://discord.com/api/webhooks/1/token?wait=true"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/api/webhooks/1/token?wait=true" });
    expect(to.body()).toEqual(
      only({
        title: "Shop is down",
        url: page,
        description: "The connection was refused.",
        color: 0xd92d20,
        fields: [since, group],
        timestamp,
      }),
    );
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(discord, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual(
      only({
        title: "Shop is up again",
        url: page,
        description: "HTTP 200 (OK).",
        color: 0x12a150,
        fields: [since, field("Was down for", "12 min 34 s"), field("Latency", "42 ms"), group],
        timestamp,
      }),
    );
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(discord, settings, telling(storm(2)));
    expect(to.body()).toEqual(
      only({
        title: "2 monitors are down",
        url: "https://signalbox.lan",
        description:
          "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
        color: 0xd92d20,
        fields: [],
        timestamp,
      }),
    );
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(discord, settings, telling(alertOf("test")));
    expect(to.body()).toEqual(
      only({
        title: "Test alert from Signalbox",
        url: "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
        description: "Alerts of this channel arrive here.",
        color: 0x667085,
        fields: [],
        timestamp,
      }),
    );
  });

  test("the thread that the webhook's address names", async () => {
    await using to = await receiver();
    const webhookUrl = `${settings.webhookUrl}?thread_id=42`;
    await to.deliver(discord, { ...settings, webhookUrl }, telling(alertOf("monitor.down")));
    expect(to.last().path).toBe("/api/webhooks/1/token?thread_id=42&wait=true");
  });
});

test("names and messages are shown as they are: no mentions, no links, no formats", async () => {
  await using to = await receiver();
  const name = "**Shop** [here](https://evil.example)";
  const named = { ...monitor, name, groupName: "<@&1> ||x||" };
  const message = "@everyone <#5> `a_b` # ~~x~~ \\ > https://shop.lan/a_b?c=d#e_f";
  const down = alertOf("monitor.down", { monitor: named, message });
  await to.deliver(discord, settings, telling(down));
  expect(to.body()).toEqual(
    only({
      title: "\\*\\*Shop\\*\\* \\[here\\](https://evil.example) is down",
      url: page,
      description:
        "@everyone \\<\\#5\\> \\`a\\_b\\` \\# \\~\\~x\\~\\~ \\\\ \\> https://shop.lan/a_b?c=d#e_f",
      color: 0xd92d20,
      fields: [since, field("Group", "\\<@&1\\> \\|\\|x\\|\\|")],
      timestamp,
    }),
  );
});

describe("what is too long", () => {
  test("a digest of a thousand alerts says how many it leaves out", async () => {
    await using to = await receiver();
    await to.deliver(discord, settings, telling(storm(1_000)));
    const [{ description }] = to.body().embeds;
    expect(description.length).toBeLessThanOrEqual(4_096);
    const lines = description.split("\n");
    expect(lines.length).toBeGreaterThan(70);
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  });

  test("a title may be as long as Discord takes it", async () => {
    await using to = await receiver();
    const named = { ...monitor, name: "x".repeat(255) };
    await to.deliver(discord, settings, telling(alertOf("monitor.down", { monitor: named })));
    expect(to.body().embeds[0].title).toBe(`${"x".repeat(255)}…`);
  });

  test("the longest of everything stays within each limit and within that of all", async () => {
    await using to = await receiver();
    const named = { ...monitor, name: "_".repeat(255), groupName: "*".repeat(255) };
    const message = "_".repeat(5_000);
    const up = alertOf("monitor.up", { monitor: named, message, downSeconds: 9e9 });
    await to.deliver(discord, settings, telling(up));
    const [{ title, description, fields }] = to.body().embeds;
    expect(title).toMatch(/^(\\_){100,}…$/);
    expect(title.length).toBeLessThanOrEqual(256);
    expect(description).toMatch(/^(\\_){1800,}…$/);
    expect(description.length).toBeLessThanOrEqual(4_096);
    const lengths = fields.map(
      ({ name, value }: { name: string; value: string }) => name.length + value.length,
    );
    expect(fields.at(-1)).toEqual({ ...field("Group", "\\*".repeat(255)), inline: false });
    expect(lengths.reduce((sum: number, length: number) => sum + length)).toBeLessThanOrEqual(
      6_000 - title.length - description.length,
    );
  });
});

describe("what Discord answers", () => {
  const json = (status: number, body: object, headers: Record<string, string> = {}) =>
    verdictOn(answer(status, JSON.stringify(body), headers), discord, settings);

  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(discord, settings));

  test.each([
    [404, 10003, "Discord says that the channel no longer exists."],
    [404, 10015, "Discord says that the webhook no longer exists."],
    [403, 50013, "Discord says that the webhook is not allowed to post to the channel."],
    [401, 50027, "Discord says that the webhook's address is not valid."],
    [400, 220001, "Discord says that a webhook of a forum needs a thread_id in its address."],
  ])("%d with code %d ends it", async (status, code, reason) => {
    expect(await json(status, { message: "internal gossip", code })).toEqual(givenUp(reason));
  });

  test("a rate limit says in its body how long to wait, in parts of a second", async () => {
    const reason = "The receiver answered HTTP 429 (Too Many Requests).";
    const limited = { message: "You are being rate limited.", global: false };
    expect(await json(429, { ...limited, retry_after: 64.57 }, { "retry-after": "60" })).toEqual(
      triedAgain(reason, 65),
    );
    expect(await json(429, { ...limited, retry_after: 0.3 })).toEqual(triedAgain(reason, 1));
    expect(await json(429, { ...limited, retry_after: 2e9 })).toEqual(triedAgain(reason, 2e9));
    for (const odd of ["1e999", "-1", '"soon"', "null"])
      expect(
        await verdictOn(
          answer(429, `{"retry_after":${odd}}`, { "retry-after": "7" }),
          discord,
          settings,
        ),
      ).toEqual(triedAgain(reason, 7));
  });

  test("an answer that is no object of JSON counts by its status", async () => {
    for (const body of ["null", "[10015]", "10015", '{"code":10015', ""])
      expect(await verdictOn(answer(500, body), discord, settings)).toEqual(
        triedAgain("The receiver answered HTTP 500 (Internal Server Error)."),
      );
  });

  test("an error of another kind is tried again", async () => {
    expect(await json(400, { message: "internal gossip", code: 50035 })).toEqual(
      triedAgain("The receiver answered HTTP 400 (Bad Request)."),
    );
  });
});
