/** Visitors who subscribe a webhook of Slack, Teams or Discord. */
import { describe, expect, test } from "bun:test";
import { sealAll } from "../../../src/core/security/secrets.ts";
import { findChatType } from "../../../src/status-pages/subscribers/chat-webhooks.ts";
import { secretLocationOf } from "../../../src/status-pages/subscribers/receivers.ts";
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

const signUpChat = (made: Publisher, webhookUrl: string, path = "/status/ours/subscribe") =>
  made.get(path, { method: "POST", form: { webhookUrl } });

/** Sends what is posted to the chat to a local target instead, because the services are not reachable. */
function redirect({ database, appliance, ours }: Publisher, id: string, webhookUrl: string) {
  const location = secretLocationOf({ organizationId: ours.id, id });
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
    await using made = await createPublisher({ chatSubscriptions: true, languages: ["de"] });
    await using slack = await startTarget(replyWith(200, "ok"));
    const seen = await signUpChat(made, webhooks.slack, "/status/ours/subscribe?lang=de");
    expect([seen.status, seen.text.includes("Sehen Sie im Kanal nach")]).toEqual([200, true]);
    const [pending] = await made.subscribers();
    expect(pending).toMatchObject({
      type: "slack",
      status: "pending",
      url: "https://hooks.slack.com",
      language: "de",
      secretsSet: ["webhookUrl"],
    });
    expect(JSON.stringify([seen.text, pending])).not.toContain("secretOfSlack");
    redirect(made, pending.id, slack.at("/services/x"));
    await made.createIncident({ title: "Before the yes" });
    await made.send();
    const [question] = slack.asked.map(({ body }) => body.toString());
    expect(slack.asked).toHaveLength(1);
    expect(question).toContain("Der Webhook dieses Kanals");
    const confirm = findLink({ text: question ?? "" }, "confirm");
    expect((await followMailLink(made, confirm)).status).toBe(200);
    expect((await made.subscribers())[0].status).toBe("pending");
    await followMailLink(made, confirm, "POST");
    made.time.now += 1;
    await made.createIncident({ title: "After it" });
    await made.send();
    expect(slack.asked).toHaveLength(2);
    const update = slack.asked[1]?.body.toString() ?? "";
    expect(update).toContain("After it");
    const manage = new URL(findLink({ text: update }, "manage"));
    const open = (form?: Record<string, string>) =>
      made.get(manage.pathname, { host: manage.host, ...(form && { method: "POST", form }) });
    expect((await open()).text).not.toContain('name="frequency"');
    await open({ do: "unsubscribe" });
    expect(await made.subscribers()).toEqual([]);
  });

  test.each([
    ["on a page that does not allow it", {}],
    ["on a page for signed-in people", { chatSubscriptions: true, visibility: "signed-in" }],
  ])("finds no form %s", async (_where, page) => {
    await using made = await createPublisher(page);
    expect((await made.get("/status/ours/subscribe")).text).not.toContain("webhookUrl");
    expect((await signUpChat(made, webhooks.discord)).status).toBeGreaterThan(400);
    expect(await made.subscribers()).toEqual([]);
  });

  test("needs no mail server, gets the same response for a known chat, and is limited", async () => {
    await using made = await createPublisher({ chatSubscriptions: true });
    await made.useMail(null);
    expect((await made.get("/status/ours/subscribe")).text).toContain("webhookUrl");
    const first = await signUpChat(made, webhooks.teams);
    const again = await signUpChat(made, webhooks.teams);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await made.subscribers()).toHaveLength(1);
    for (let number = 0; number < 3; number++)
      await signUpChat(made, `${webhooks.discord}${number}`);
    expect((await signUpChat(made, `${webhooks.discord}x`)).status).toBe(429);
  });

  test("sees that an address is wrong or blocked, without the address", async () => {
    await using made = await createPublisher(
      { chatSubscriptions: true },
      {
        denyTarget: ["hooks.slack.com"],
      },
    );
    for (const address of ["https://evil.example/services/secretOfSlack", webhooks.slack]) {
      const { status, text } = await signUpChat(made, address);
      expect([status, text.includes("incoming webhook"), text.includes("secretOf")]).toEqual([
        422,
        true,
        false,
      ]);
    }
    expect(await made.subscribers()).toEqual([]);
  });
});
