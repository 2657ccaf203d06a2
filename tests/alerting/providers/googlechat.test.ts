import { describe, expect, test } from "bun:test";
import { googlechat } from "../../../src/alerting/providers/googlechat.ts";
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
  webhookUrl: "https://chat.googleapis.com/v1/spaces/AAA/messages?key=k-1&token=t_2%3D",
  template: null,
};

const fact = (topLabel: string, text: string) => ({
  decoratedText: { topLabel, text, wrapText: true },
});
const since = fact("Since", "2026-11-20 23:02:00 UTC");
const group = fact("Group", "Front of house");

/** The message whose card has this title, in HTML, and says this. */
function message(colour: string, title: string, url: string, text: string, ...facts: object[]) {
  return {
    fallbackText: title,
    cardsV2: [
      {
        cardId: "alert",
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: `<font color="${colour}"><b>${title}</b></font>` } },
                { textParagraph: { text } },
                ...facts,
                {
                  buttonList: {
                    buttons: [{ text: "Open in Signalbox", onClick: { openLink: { url } } }],
                  },
                },
              ],
            },
          ],
        },
      },
    ],
  };
}

const page = "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001";
const refused = "The connection was refused.";

describe("what Google Chat receives", () => {
  test("an outage as a card with a red title; the delivery's id keeps it from being shown twice", async () => {
    await using to = await receiver();
    await to.deliver(googlechat, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual([`${settings.webhookUrl}&requestId=${deliveryId}`]);
    expect(to.last()).toMatchObject({
      method: "POST",
      path: `/v1/spaces/AAA/messages?key=k-1&token=t_2%3D&requestId=${deliveryId}`,
    });
    expect(to.body()).toEqual(message("#d92d20", "Shop is down", page, refused, since, group));
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(googlechat, settings, telling(alertOf("monitor.up")));
    const facts = [since, fact("Was down for", "12 min 34 s"), fact("Latency", "42 ms"), group];
    expect(to.body()).toEqual(
      message("#12a150", "Shop is up again", page, "HTTP 200 (OK).", ...facts),
    );
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(googlechat, settings, telling(storm(2)));
    const text = `Shop 1 is down. ${refused}\nShop 2 is down. ${refused}`;
    expect(to.body()).toEqual(
      message("#d92d20", "2 monitors are down", "https://signalbox.lan", text),
    );
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(googlechat, settings, telling(alertOf("test")));
    expect(to.body()).toEqual(
      message(
        "#667085",
        "Test alert from Signalbox",
        "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
        "Alerts of this channel arrive here.",
      ),
    );
  });
});

test("names and messages are shown as they are: no mentions, no links, no formats", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "<users/all> & <b>", groupName: "<users/1>" };
  const link = '<a href="https://evil.example">x</a>';
  await to.deliver(
    googlechat,
    settings,
    telling(alertOf("monitor.down", { monitor: named, message: link })),
  );
  const title = "&lt;users/all&gt; &amp; &lt;b&gt; is down";
  const text = '&lt;a href="https://evil.example"&gt;x&lt;/a&gt;';
  expect(to.body()).toEqual({
    ...message("#d92d20", title, page, text, since, fact("Group", "&lt;users/1&gt;")),
    fallbackText: "<\u200busers/all> & <\u200bb> is down",
  });
});

describe("what is too long", () => {
  test.each([
    ["Latin letters", (number: number) => `Shop ${number}`],
    ["escapes and characters of many bytes", (number: number) => `<店舗>☃🚨" & ${number}`],
  ])("a digest of a thousand alerts in %s says how many it leaves out", async (_what, nameOf) => {
    await using to = await receiver();
    await to.deliver(googlechat, settings, telling(storm(1_000, nameOf)));
    expect(Buffer.byteLength(to.last().body)).toBeLessThan(20_000);
    expect(Buffer.byteLength(to.last().body)).toBeGreaterThan(15_000);
    const { text } = to.body().cardsV2[0].card.sections[0].widgets[1].textParagraph;
    const lines = text.split("\n");
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
    expect(text.replaceAll(/&(amp|lt|gt);/g, "")).not.toMatch(/[&<>]/);
  });
});

describe("what Google Chat answers", () => {
  const error = (status: number, name: string, details: unknown = []) =>
    verdictOn(
      answer(
        status,
        JSON.stringify({ error: { code: status, message: "gossip", status: name, details } }),
      ),
      googlechat,
      settings,
    );

  test("statuses mean what they mean everywhere", () => expectUsualVerdicts(googlechat, settings));

  test.each([
    [401, "UNAUTHENTICATED", "Google Chat says that the webhook's address is not valid."],
    [
      403,
      "PERMISSION_DENIED",
      "Google Chat says that the webhook is not allowed to post to the space.",
    ],
    [404, "NOT_FOUND", "Google Chat says that the space or its webhook no longer exists."],
  ])("%d %s ends it", async (status, name, reason) => {
    expect(await error(status, name)).toEqual(doubted(reason));
  });

  test("a wrong key ends it, a message that it takes amiss does not", async () => {
    const badRequest = triedAgain("The receiver answered HTTP 400 (Bad Request).");
    expect(await error(400, "INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }])).toEqual(
      doubted("Google Chat says that the key in the webhook's address is not valid."),
    );
    expect(await error(400, "INVALID_ARGUMENT")).toEqual(badRequest);
    expect(await error(400, "INVALID_ARGUMENT", "odd")).toEqual(badRequest);
  });

  test("too many messages are waited for", async () => {
    expect(await error(429, "RESOURCE_EXHAUSTED")).toEqual(
      triedAgain("The receiver answered HTTP 429 (Too Many Requests)."),
    );
  });
});
