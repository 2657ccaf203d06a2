import { describe, expect, test } from "bun:test";
import { slack } from "../../../src/alerting/providers/slack.ts";
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

const settings = { webhookUrl: "https://hooks.slack.com/services/T0/B0/token", template: null };

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";
const linked = (title: string, url = page) => ({
  type: "section",
  text: { type: "mrkdwn", text: `*<${url}|${title}>*`, verbatim: true },
});
const said = (text: string) => ({ type: "section", text: { type: "plain_text", text } });
const fields = (...texts: string[]) => ({
  type: "section",
  fields: texts.map((text) => ({ type: "mrkdwn", text, verbatim: true })),
});

describe("what Slack receives", () => {
  test("an outage in red, with its facts beside it", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://hooks.slack.com/services/T0/B0/token"]);
    expect(to.last()).toMatchObject({ method: "POST", path: "/services/T0/B0/token" });
    expect(to.body()).toEqual({
      text: "Shop is down",
      blocks: [linked("Shop is down")],
      attachments: [
        {
          color: "#d92d20",
          blocks: [
            said("The connection was refused."),
            fields("*Since*\n2026-11-20 23:02:00 UTC", "*Group*\nFront of house"),
          ],
        },
      ],
    });
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual({
      text: "Shop is up again",
      blocks: [linked("Shop is up again")],
      attachments: [
        {
          color: "#12a150",
          blocks: [
            said("HTTP 200 (OK)."),
            fields(
              "*Since*\n2026-11-20 23:02:00 UTC",
              "*Was down for*\n12 min 34 s",
              "*Latency*\n42 ms",
              "*Group*\nFront of house",
            ),
          ],
        },
      ],
    });
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(storm(2)));
    expect(to.body()).toEqual({
      text: "2 monitors are down",
      blocks: [linked("2 monitors are down", "https://signalbox.lan")],
      attachments: [
        {
          color: "#d92d20",
          blocks: [
            said(
              "Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
            ),
          ],
        },
      ],
    });
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(alertOf("test")));
    expect(to.body()).toEqual({
      text: "Test alert from Signalbox",
      blocks: [
        linked(
          "Test alert from Signalbox",
          "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
        ),
      ],
      attachments: [{ color: "#667085", blocks: [said("Alerts of this channel arrive here.")] }],
    });
  });

  test("a text of one's own in place of the facts", async () => {
    await using to = await receiver();
    const message = telling(alertOf("monitor.down"), "{{monitor}} <is> {{status}}\n{{url}}");
    await to.deliver(slack, settings, message);
    expect(to.body().attachments[0].blocks).toEqual([said(`Shop &lt;is&gt; down\n${page}`)]);
  });

  test("a text that turns out empty is replaced by the title", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(alertOf("monitor.down"), "{{duration}}"));
    expect(to.body().attachments[0].blocks).toEqual([said("Shop is down")]);
  });
});

test("names and messages can't mention anybody or make links", async () => {
  await using to = await receiver();
  const name = "<!channel> & <https://evil.example|Shop>";
  const named = { ...monitor, name, groupName: "<@U123>" };
  const message = "<!here> 1 < 2 &amp;";
  await to.deliver(slack, settings, telling(alertOf("monitor.down", { monitor: named, message })));
  const title = "&lt;!channel&gt; &amp; &lt;https://evil.example|Shop&gt; is down";
  expect(to.body()).toEqual({
    text: title,
    blocks: [linked(title)],
    attachments: [
      {
        color: "#d92d20",
        blocks: [
          said("&lt;!here&gt; 1 &lt; 2 &amp;amp;"),
          fields("*Since*\n2026-11-20 23:02:00 UTC", "*Group*\n&lt;@U123&gt;"),
        ],
      },
    ],
  });
});

describe("what is too long", () => {
  test("a digest of a thousand alerts says how many it leaves out", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(storm(1_000)));
    const { text } = to.body().attachments[0].blocks[0].text;
    expect(text.length).toBeLessThanOrEqual(3_000);
    const lines = text.split("\n");
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  });

  test("escapes count, and none is cut in half", async () => {
    await using to = await receiver();
    await to.deliver(slack, settings, telling(storm(1_000, () => "&<>".repeat(80))));
    const { text } = to.body().attachments[0].blocks[0].text;
    expect(text.length).toBeLessThanOrEqual(3_000);
    expect(text.replaceAll(/&(amp|lt|gt);/g, "")).not.toContain("&");

    const message = "&".repeat(5_000);
    await to.deliver(slack, settings, telling(alertOf("incident.updated", { message })));
    const long = to.body().attachments[0].blocks[0].text.text;
    expect(long).toMatch(/^(&amp;){480,}…$/);
    expect(long.length).toBeLessThanOrEqual(3_000);
  });
});

describe("what Slack answers", () => {
  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(slack, settings, "ok"));

  test.each(["ok", "ok\n", '{"ok":true}'])("200 with %p is success", async (body) => {
    expect(await verdictOn(answer(200, body), slack, settings)).toEqual({ outcome: "delivered" });
  });

  test.each([
    "",
    "internal gossip",
    "<title>Sign in</title>",
    '{"ok":false}',
    '{"ok":"true"}',
    "[]",
  ])("200 with %p is not", async (body) => {
    expect(await verdictOn(answer(200, body), slack, settings)).toEqual(
      triedAgain("The receiver answered HTTP 200 (OK), but did not confirm the message."),
    );
  });

  test("200 with an error of a name is what that error means", async () => {
    for (const body of ["no_service", '{"ok":false,"error":"no_service"}'])
      expect(await verdictOn(answer(200, body), slack, settings)).toEqual(
        givenUp("Slack says that the webhook is disabled or was removed."),
      );
  });

  test.each([
    [410, "channel_is_archived", "Slack says that the channel is archived."],
    [404, "channel_not_found", "Slack says that the channel does not exist."],
    [400, "user_not_found", "Slack says that the person it is addressed to does not exist."],
    [404, "no_service", "Slack says that the webhook is disabled or was removed."],
    [400, "no_service_id", "Slack says that the webhook's address is not complete."],
    [404, "no_active_hooks", "Slack says that the webhook is disabled."],
    [403, "invalid_token", "Slack says that the webhook's address is not valid."],
    [404, "no_team", "Slack says that the workspace does not exist."],
    [403, "team_disabled", "Slack says that the workspace is disabled."],
    [
      403,
      "action_prohibited",
      "Slack says that an administrator does not allow this webhook to post.",
    ],
    [
      400,
      "posting_to_general_channel_denied",
      "Slack says that this webhook is not allowed to post to the general channel.",
    ],
  ])("%d %s ends it", async (status, code, reason) => {
    expect(await verdictOn(answer(status, `${code}\n`), slack, settings)).toEqual(givenUp(reason));
  });

  test("trouble of its own is waited for", async () => {
    expect(await verdictOn(answer(500, "rollup_error"), slack, settings)).toEqual(
      triedAgain("The receiver answered HTTP 500 (Internal Server Error)."),
    );
  });
});
