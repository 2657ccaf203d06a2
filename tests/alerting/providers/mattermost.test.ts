import { describe, expect, test } from "bun:test";
import { mattermost } from "../../../src/alerting/providers/mattermost.ts";
import {
  alertOf,
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

const settings = { webhookUrl: "https://chat.lan/hooks/key", template: null };

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";
const field = (title: string, value: string) => ({ title, value, short: true });
const since = field("Since", "2026-11-20 23:02:00 UTC");
const group = field("Group", "Front of house");

describe("what Mattermost receives", () => {
  test("an outage in red, with its facts as fields", async () => {
    await using to = await receiver();
    await to.deliver(mattermost, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://chat.lan/hooks/key"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/hooks/key" });
    expect(to.body()).toEqual({
      attachments: [
        {
          fallback: "Shop is down",
          color: "#d92d20",
          title: "Shop is down",
          title_link: page,
          text: "The connection was refused.",
          fields: [since, group],
        },
      ],
    });
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(mattermost, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({
      attachments: [
        {
          fallback: "Shop is up again",
          color: "#12a150",
          title: "Shop is up again",
          title_link: page,
          text: "HTTP 200 (OK).",
          fields: [since, field("Was down for", "12 min 34 s"), field("Latency", "42 ms"), group],
        },
      ],
    });
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(mattermost, settings, telling(storm(2)));
    expect(to.body()).toEqual({
      attachments: [
        {
          fallback: "2 monitors are down",
          color: "#d92d20",
          title: "2 monitors are down",
          title_link: "https://signalbox.lan",
          text: "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
          fields: [],
        },
      ],
    });
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(mattermost, settings, telling(alertOf("test")));
    expect(to.body()).toEqual({
      attachments: [
        {
          fallback: "Test alert from Signalbox",
          color: "#667085",
          title: "Test alert from Signalbox",
          title_link: "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
          text: "Alerts of this channel arrive here.",
          fields: [],
        },
      ],
    });
  });
});

test("names and messages are shown as they are: no mentions, no links, no formats", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "@all_shops <!here>", groupName: "<!channel> @channel" };
  const message = "@here x-@all _@all [a](b) ops@shop.lan `c` 1 < 2 https://shop.lan/a_b";
  const down = alertOf("monitor.down", { monitor: named, message });
  await to.deliver(mattermost, settings, telling(down));
  expect(to.body()).toEqual({
    attachments: [
      {
        fallback: "@\u200ball_shops <\u200b!here> is down",
        color: "#d92d20",
        title: "@\u200ball_shops <\u200b!here> is down",
        title_link: page,
        text: "@\u200bhere x-@\u200ball \\_@\u200ball \\[a\\](b) ops@shop.lan \\`c\\` 1 < 2 https://shop.lan/a_b",
        fields: [since, field("Group", "<\u200b!channel\\> @\u200bchannel")],
      },
    ],
  });
});

describe("what is too long", () => {
  test("a digest of a thousand alerts says how many it leaves out", async () => {
    await using to = await receiver();
    await to.deliver(mattermost, settings, telling(storm(1_000)));
    expect(to.last().body.length).toBeLessThanOrEqual(7_000);
    const lines = to.body().attachments[0].text.split("\n");
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  });

  test("escapes count, and none is cut in half", async () => {
    await using to = await receiver();
    const named = { ...monitor, name: "_".repeat(255), groupName: '"'.repeat(255) };
    const down = alertOf("monitor.down", { monitor: named, message: "_".repeat(9_000) });
    await to.deliver(mattermost, settings, telling(down));
    expect(to.last().body.length).toBeLessThanOrEqual(7_000);
    expect(to.body().attachments[0].text).toMatch(/^(\\_){1000,}…$/);
  });
});

describe("what Mattermost answers", () => {
  const error = (status: number, id: string) =>
    verdictOn(
      answer(status, JSON.stringify({ id, message: "internal gossip", status_code: status })),
      mattermost,
      settings,
    );

  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(mattermost, settings));

  test.each([
    [400, "web.incoming_webhook.invalid.app_error", "Mattermost does not know this webhook."],
    [
      501,
      "web.incoming_webhook.disabled.app_error",
      "Mattermost does not accept webhooks at present.",
    ],
    [
      404,
      "web.incoming_webhook.channel.app_error",
      "Mattermost says that the channel does not exist.",
    ],
    [
      403,
      "web.incoming_webhook.user.app_error",
      "Mattermost says that the webhook's owner is gone.",
    ],
    [
      403,
      "web.incoming_webhook.permissions.app_error",
      "Mattermost says that the webhook's owner is not allowed to post to the channel.",
    ],
    [
      400,
      "api.post.create_post.can_not_post_to_deleted.error",
      "Mattermost says that the channel is archived.",
    ],
  ])("%d %s ends it", async (status, id, reason) => {
    expect(await error(status, id)).toEqual(doubted(reason));
  });

  test("trouble of its own is waited for", async () => {
    expect(await error(500, "web.incoming_webhook.channel.app_error")).toEqual(
      triedAgain("The receiver answered HTTP 500 (Internal Server Error)."),
    );
  });

  test("an error of another kind is tried again", async () => {
    expect(await error(400, "web.incoming_webhook.parse.app_error")).toEqual(
      triedAgain("The receiver answered HTTP 400 (Bad Request)."),
    );
  });
});
