import { describe, expect, test } from "bun:test";
import { telegram } from "../../../src/alerting/providers/telegram.ts";
import {
  alertOf,
  doubted,
  monitor,
  receiver,
  storm,
  telling,
  triedAgain,
  verdictOn,
} from "../../support/delivering.ts";
import { answer, type Reply } from "../../support/target.ts";

const settings = {
  botToken: "110201543:AAHd-7f3a_x",
  chatId: "-100200",
  topic: null,
  silent: false,
  server: "https://api.telegram.org",
  template: null,
};

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const plain = (text: string) => ({
  chat_id: "-100200",
  text,
  link_preview_options: { is_disabled: true },
});

describe("what Telegram receives", () => {
  test("an outage in red, as plain text that ends with its page", async () => {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(alertOf("monitor.down")));
    expect(to.urls).toEqual(["https://api.telegram.org/bot110201543:AAHd-7f3a_x/sendMessage"]);
    expect(to.last()).toMatchObject({
      method: "POST",
      path: "/bot110201543:AAHd-7f3a_x/sendMessage",
    });
    expect(to.body()).toEqual(
      plain(
        `🔴 Shop is down\n\nThe connection was refused.\nSince: 2026-11-20 23:02:00 UTC\nGroup: Front of house\n\n${page}`,
      ),
    );
  });

  test("its recovery in green", async () => {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(alertOf("monitor.up")));
    expect(to.body()).toEqual(
      plain(
        `🟢 Shop is up again\n\nHTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house\n\n${page}`,
      ),
    );
  });

  test("slowness in orange", async () => {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(alertOf("monitor.degraded")));
    expect(to.body().text).toStartWith("🟠 Shop is degraded\n\n");
  });

  test("a digest with one line an alert", async () => {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(storm(2)));
    expect(to.body()).toEqual(
      plain(
        "🔴 2 monitors are down\n\nShop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.\n\nhttps://signalbox.lan",
      ),
    );
  });

  test("a test alert", async () => {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(alertOf("test")));
    expect(to.body()).toEqual(
      plain(
        "🔵 Test alert from Signalbox\n\nAlerts of this channel arrive here.\n\nhttps://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
      ),
    );
  });

  test("a token that leads nowhere else", async () => {
    await using to = await receiver();
    const botToken = "1:A/../../x?y#z";
    await to.deliver(telegram, { ...settings, botToken }, telling(alertOf("test")));
    expect(to.last().path).toBe("/bot1:A%2F..%2F..%2Fx%3Fy%23z/sendMessage");
  });
});

test("names and messages mention nobody, and what looks like markup is text", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "@oncall *x*" };
  const message = "_y_ [z](https://evil.example) &lt; @boss ops@shop.lan";
  await to.deliver(
    telegram,
    settings,
    telling(alertOf("monitor.down", { monitor: named, message })),
  );
  expect(to.body().parse_mode).toBeUndefined();
  expect(to.body().text).toStartWith(
    "🔴 @\u200boncall *x* is down\n\n_y_ [z](https://evil.example) &lt; @\u200bboss ops@shop.lan\n",
  );
});

test("a digest of a thousand alerts stays within the limit and still ends with the address", async () => {
  for (const nameOf of [undefined, () => "@".repeat(255)]) {
    await using to = await receiver();
    await to.deliver(telegram, settings, telling(storm(1_000, nameOf)));
    const { text } = to.body();
    expect(text.length).toBeLessThanOrEqual(4_096);
    expect(text.length).toBeGreaterThan(3_000);
    const [, said, url] = text.split("\n\n");
    expect(url).toBe("https://signalbox.lan");
    const lines = said.split("\n");
    expect(lines.at(-1)).toBe(`… and ${1_000 - (lines.length - 1)} more`);
  }
});

describe("where the channel says so", () => {
  const sent = async (changes: Partial<typeof settings> | { topic: number }) => {
    await using to = await receiver();
    await to.deliver(telegram, { ...settings, ...changes }, telling(alertOf("test")));
    return { urls: to.urls, ...to.body() };
  };

  test("it goes to a topic, without a sound", async () => {
    expect(await sent({})).not.toContainAnyKeys(["message_thread_id", "disable_notification"]);
    expect(await sent({ topic: 42 })).toMatchObject({ message_thread_id: 42 });
    expect(await sent({ silent: true })).toMatchObject({ disable_notification: true });
  });

  test("it goes through a server of one's own", async () => {
    const { urls } = await sent({ server: "http://bot.lan:8081/api/" });
    expect(urls).toEqual(["http://bot.lan:8081/api/bot110201543:AAHd-7f3a_x/sendMessage"]);
  });
});

test("the longest name and text stay within the limit", async () => {
  await using to = await receiver();
  const named = { ...monitor, name: "@".repeat(255) };
  const alert = alertOf("monitor.down", { monitor: named, message: "@".repeat(5_000) });
  await to.deliver(telegram, settings, telling(alert));
  expect(to.body().text.length).toBeLessThanOrEqual(4_096);
  expect(to.body().text).toEndWith(`@\u200b…\n… and 2 more\n\n${page}`);
});

describe("what Telegram answers", () => {
  const failed = (status: number, body: object = {}, headers: Record<string, string> = {}) => {
    const said = { ok: false, error_code: status, description: "internal gossip", ...body };
    return verdictOn(answer(status, JSON.stringify(said), headers), telegram, settings);
  };

  test("200 is success", async () => {
    expect(await verdictOn(answer(200, '{"ok":true,"result":{}}'), telegram, settings)).toEqual({
      outcome: "delivered",
    });
  });

  test("a wrong token, chat or right is tried for an hour", async () => {
    expect(await failed(401)).toEqual(doubted("Telegram says that the bot token is not valid."));
    expect(await failed(404)).toEqual(doubted("Telegram says that the bot token is not valid."));
    expect(await failed(403)).toEqual(
      doubted("Telegram says that the bot is not allowed to write to the chat."),
    );
    expect(await failed(400, { description: "Bad Request: chat not found" })).toEqual(
      doubted("Telegram says that the bot does not know this chat."),
    );
  });

  test.each([
    ["Bad Request: chat not found", "Telegram says that the bot does not know this chat."],
    ["Bad Request: PEER_ID_INVALID", "Telegram says that the bot does not know this chat."],
    ["Bad Request: message thread not found", "Telegram says that the chat has no such topic."],
    ["Bad Request: TOPIC_CLOSED", "Telegram says that the topic is closed."],
    [
      "Bad Request: not enough rights to send text messages to the chat",
      "Telegram says that the bot is not allowed to write to the chat.",
    ],
    [
      "Bad Request: need administrator rights in the channel chat",
      "Telegram says that the bot is not allowed to write to the chat.",
    ],
    [
      "Bad Request: group chat was upgraded to a supergroup chat",
      "Telegram says that the group became a supergroup, with another chat ID.",
    ],
  ])("400 with %p is said in a sentence", async (description, reason) => {
    expect(await failed(400, { description })).toEqual(doubted(reason));
  });

  describe("a group that became a supergroup", () => {
    const moved = JSON.stringify({
      ok: false,
      error_code: 400,
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: -1001234567890 },
    });
    const toldThen = async (then: Reply) => {
      const replies = [answer(400, moved), then];
      await using to = await receiver((response) => replies.shift()?.(response));
      const verdict = await to.deliver(telegram, settings, telling(alertOf("monitor.down")));
      return { verdict, chats: to.asked.map(({ body }) => JSON.parse(body).chat_id as string) };
    };

    test("is told under its new id, which the channel then names", async () => {
      const { verdict, chats } = await toldThen(answer(200, '{"ok":true}'));
      expect(chats).toEqual(["-100200", "-1001234567890"]);
      expect(verdict).toEqual({
        outcome: "delivered",
        note: "Telegram says that the group became a supergroup: set the chat ID to -1001234567890.",
      });
    });

    test("is followed once, not round in circles", async () => {
      const { verdict, chats } = await toldThen(answer(400, moved));
      expect(chats).toHaveLength(2);
      expect(verdict).toEqual(
        doubted("Telegram says that the group became a supergroup, with another chat ID."),
      );
    });

    test("is not followed to what is no id", async () => {
      for (const id of ["@evil", 1.5, null, {}]) {
        const parameters = { migrate_to_chat_id: id };
        await using to = await receiver(answer(400, JSON.stringify({ parameters })));
        await to.deliver(telegram, settings, telling(alertOf("monitor.down")));
        expect(to.asked).toHaveLength(1);
      }
    });
  });

  test("too many messages: it says in its body how long to wait", async () => {
    const reason = "The receiver answered HTTP 429 (Too Many Requests).";
    expect(await failed(429, { parameters: { retry_after: 35 } })).toEqual(triedAgain(reason, 35));
    expect(await failed(429, { parameters: null }, { "retry-after": "7" })).toEqual(
      triedAgain(reason, 7),
    );
  });

  test("everything else is tried again", async () => {
    expect(await failed(400)).toEqual(triedAgain("The receiver answered HTTP 400 (Bad Request)."));
    expect(await verdictOn(answer(502, "<html>"), telegram, settings)).toEqual(
      triedAgain("The receiver answered HTTP 502 (Bad Gateway)."),
    );
  });
});
