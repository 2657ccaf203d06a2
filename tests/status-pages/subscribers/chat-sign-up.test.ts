/** Visitors who subscribe a webhook of Slack, Teams or Discord. */
import { describe, expect, test } from "bun:test";
import { sealAll } from "../../../src/core/security/secrets.ts";
import { findChatType } from "../../../src/status-pages/subscribers/chat-webhooks.ts";
import { buildSecretLocation } from "../../../src/status-pages/subscribers/receivers.ts";
import {
  createPublisher,
  findLink,
  followMailLink,
  type Publisher,
} from "../../support/publisher.ts";
import { replyWith, startTarget } from "../../support/target.ts";

const webhooks = {
  slack: "https://hooks.slack.com/services/T0/B0/secretOfSlack",
  discord: "https://discord.com/api/webhooks/1/secretOfDiscord",
  teams: "https://team.webhook.office.com/webhookb2/1@2/IncomingWebhook/secretOfTeams",
};

const signUpChat = (publisher: Publisher, webhookUrl: string, path = "/status/ours/subscribe") =>
  publisher.get(path, { method: "POST", form: { webhookUrl } });

/** Sends what is posted to the chat to a local target instead, because the services are not reachable. */
function redirect({ database, appliance, ours }: Publisher, id: string, webhookUrl: string) {
  const location = buildSecretLocation({ organizationId: ours.id, id });
  database.run("update subscribers set secrets = ? where id = ?", [
    sealAll(appliance.vault, location, { webhookUrl }),
    id,
  ]);
}

test.each([
  [webhooks.slack, "slack"],
  [webhooks.discord, "discord"],
  ["https://ptb.discord.com/api/v10/webhooks/1/x", "discord"],
  [webhooks.teams, "teams"],
  ["https://prod-1.westus.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke", "teams"],
  [
    "https://x.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/1/y",
    "teams",
  ],
  ["http://hooks.slack.com/services/T0/B0/x", null],
  ["https://hooks.slack.com:8443/services/T0/B0/x", null],
  ["https://hooks.slack.com.evil.example/services/T0/B0/x", null],
  ["https://evil.example/https://hooks.slack.com/services/x", null],
  ["https://a:b@hooks.slack.com/services/T0/B0/x", null],
  ["https://webhook.office.com/x", null],
  ["https://discord.com/api/users/1", null],
  ["https://127.0.0.1/services/T0/B0/x", null],
  ["", null],
])("the chat of %s is %p", (address, type) => {
  expect(findChatType(address)).toBe(type as ReturnType<typeof findChatType>);
});

describe.concurrent("a visitor who enters the webhook of a chat", () => {
  test("subscribes it only once someone follows the link in the channel, and leaves by a link", async () => {
    await using publisher = await createPublisher({ chatSubscriptions: true, languages: ["de"] });
    await using slack = await startTarget(replyWith(200, "ok"));
    const seen = await signUpChat(publisher, webhooks.slack, "/status/ours/subscribe?lang=de");
    expect([seen.status, seen.text.includes("Sehen Sie im Kanal nach")]).toEqual([200, true]);
    const [pending] = await publisher.subscribers();
    expect(pending).toMatchObject({
      type: "slack",
      status: "pending",
      url: "https://hooks.slack.com",
      language: "de",
      secretsSet: ["webhookUrl"],
    });
    expect(JSON.stringify([seen.text, pending])).not.toContain("secretOfSlack");
    redirect(publisher, pending.id, slack.at("/services/x"));
    await publisher.createIncident({ title: "Before the yes" });
    await publisher.send();
    const [question] = slack.asked.map(({ body }) => body.toString());
    expect(slack.asked).toHaveLength(1);
    expect(question).toContain("Der Webhook dieses Kanals");
    const confirm = findLink({ text: question ?? "" }, "confirm");
    expect((await followMailLink(publisher, confirm)).status).toBe(200);
    expect((await publisher.subscribers())[0].status).toBe("pending");
    await followMailLink(publisher, confirm, "POST");
    publisher.time.now += 1;
    await publisher.createIncident({ title: "After it" });
    await publisher.send();
    expect(slack.asked).toHaveLength(2);
    const update = slack.asked[1]?.body.toString() ?? "";
    expect(update).toContain("After it");
    const manage = new URL(findLink({ text: update }, "manage"));
    const open = (form?: Record<string, string>) =>
      publisher.get(manage.pathname, { host: manage.host, ...(form && { method: "POST", form }) });
    expect((await open()).text).not.toContain('name="frequency"');
    await open({ do: "unsubscribe" });
    expect(await publisher.subscribers()).toEqual([]);
  });

  test.each([
    ["on a page that does not allow it", {}],
    ["on a page for signed-in people", { chatSubscriptions: true, visibility: "signed-in" }],
  ])("finds no form %s", async (_where, page) => {
    await using publisher = await createPublisher(page);
    expect((await publisher.get("/status/ours/subscribe")).text).not.toContain("webhookUrl");
    expect((await signUpChat(publisher, webhooks.discord)).status).toBeGreaterThan(400);
    expect(await publisher.subscribers()).toEqual([]);
  });

  test("needs no mail server, gets the same response for a known chat, and is limited", async () => {
    await using publisher = await createPublisher({ chatSubscriptions: true });
    await publisher.useMail(null);
    expect((await publisher.get("/status/ours/subscribe")).text).toContain("webhookUrl");
    const first = await signUpChat(publisher, webhooks.teams);
    const again = await signUpChat(publisher, webhooks.teams);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await publisher.subscribers()).toHaveLength(1);
    for (let number = 0; number < 3; number++)
      await signUpChat(publisher, `${webhooks.discord}${number}`);
    expect((await signUpChat(publisher, `${webhooks.discord}x`)).status).toBe(429);
  });

  test("sees that an address is wrong or blocked, without the address", async () => {
    await using publisher = await createPublisher(
      { chatSubscriptions: true },
      {
        denyTarget: ["hooks.slack.com"],
      },
    );
    for (const address of ["https://evil.example/services/secretOfSlack", webhooks.slack]) {
      const { status, text } = await signUpChat(publisher, address);
      expect([status, text.includes("incoming webhook"), text.includes("secretOf")]).toEqual([
        422,
        true,
        false,
      ]);
    }
    expect(await publisher.subscribers()).toEqual([]);
  });
});
