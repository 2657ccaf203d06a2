import { describe, expect, test } from "bun:test";
import { telegram } from "../../../src/alerting/providers/telegram.ts";
import {
  createAlert,
  createDoubtfulVerdict,
  startReceiver,
  createMessage,
} from "../../support/alert-receiver.ts";
import { replyWith, type Reply } from "../../support/target.ts";
import { services } from "./services.ts";

const { settings } = services.telegram;

describe("a configured channel", () => {
  const readSent = async (changes: Partial<typeof settings> | { topic: number }) => {
    await using to = await startReceiver();
    await to.deliver(telegram, { ...settings, ...changes }, createMessage(createAlert("test")));
    return to.parseLastBody();
  };

  test("sends to a topic, silently", async () => {
    expect(await readSent({})).not.toContainAnyKeys(["message_thread_id", "disable_notification"]);
    expect(await readSent({ topic: 42 })).toMatchObject({ message_thread_id: 42 });
    expect(await readSent({ silent: true })).toMatchObject({ disable_notification: true });
  });
});

describe("a group that became a supergroup", () => {
  const moved = JSON.stringify({
    ok: false,
    error_code: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: -1001234567890 },
  });
  const deliverAfterMove = async (then: Reply) => {
    const replies = [replyWith(400, moved), then];
    await using to = await startReceiver((response) => replies.shift()?.(response));
    const verdict = await to.deliver(
      telegram,
      settings,
      createMessage(createAlert("monitor.down")),
    );
    return { verdict, chats: to.asked.map(({ body }) => JSON.parse(body).chat_id as string) };
  };

  test("is notified under its new ID, which the channel then shows", async () => {
    const { verdict, chats } = await deliverAfterMove(replyWith(200, '{"ok":true}'));
    expect(chats).toEqual(["-100200", "-1001234567890"]);
    expect(verdict).toEqual({
      outcome: "delivered",
      note: "Telegram reports that the group became a supergroup: set the chat ID to -1001234567890.",
    });
  });

  test("is followed once, not in a loop", async () => {
    const { verdict, chats } = await deliverAfterMove(replyWith(400, moved));
    expect(chats).toHaveLength(2);
    expect(verdict).toEqual(
      createDoubtfulVerdict(
        "Telegram reports that the group became a supergroup, with another chat ID.",
      ),
    );
  });

  test("is not followed to an invalid id", async () => {
    for (const id of ["@evil", 1.5, null, {}]) {
      const parameters = { migrate_to_chat_id: id };
      await using to = await startReceiver(replyWith(400, JSON.stringify({ parameters })));
      await to.deliver(telegram, settings, createMessage(createAlert("monitor.down")));
      expect(to.asked).toHaveLength(1);
    }
  });
});
