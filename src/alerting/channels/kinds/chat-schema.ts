/** The channel types that post to chats. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import {
  fixedDestination,
  isSameOrigin,
  selfDestination,
} from "../../../core/security/destinations.ts";
import {
  EmailAddress,
  HttpUrl,
  integer,
  line,
  nullable,
  PhoneNumber,
  secret,
} from "../../../core/fields.ts";
import {
  apiKey,
  defineChannelKind,
  defineWebhookKind,
  describeServer,
  optionalSecret,
  origins,
  template,
  webhookUrl,
} from "./kind-schema.ts";

/** A group bot whose requests can be signed. */
const defineSignedBot = (name: string, help: string, placeholder: string) =>
  defineChannelKind({
    name,
    summary: t("A message in a group"),
    help,
    fields: { webhookUrl, secret: optionalSecret, template },
    labels: {
      webhookUrl: { label: t("Webhook URL"), placeholder, mono: true },
      secret: { label: t("Secret"), hint: t("Only if the bot verifies signatures.") },
    },
    // Only a signature is sent, never the secret.
    secrets: { webhookUrl: selfDestination, secret: fixedDestination },
    address: "webhookUrl",
  });

export const chatKinds = {
  slack: defineWebhookKind(
    "Slack",
    t(
      "At api.slack.com/apps create an app, open Incoming Webhooks, switch on “Activate Incoming Webhooks”, choose “Add New Webhook to Workspace”, pick the channel and copy the webhook URL.",
    ),
    "https://hooks.slack.com/services/…",
  ),
  discord: defineWebhookKind(
    "Discord",
    t(
      "Edit the channel, open Integrations, Webhooks, choose “New Webhook” and “Copy Webhook URL”.",
    ),
    "https://discord.com/api/webhooks/…",
  ),
  teams: defineWebhookKind(
    "Microsoft Teams",
    t(
      "In the channel’s ••• menu open Workflows, choose “Send webhook alerts to a channel” (formerly “Post to a channel when a webhook request is received”) and copy the URL. Connector URLs at webhook.office.com stopped working in May 2026.",
    ),
    "https://….api.powerplatform.com/…/workflows/…",
    t("A card in a channel"),
  ),
  mattermost: defineWebhookKind(
    "Mattermost",
    t(
      "In the product menu open Integrations, Incoming Webhooks, choose “Add Incoming Webhook”, pick the channel and copy the URL.",
    ),
    "https://chat.acme.lan/hooks/…",
  ),
  googlechat: defineWebhookKind(
    "Google Chat",
    t(
      "In a browser, open the menu of the space, then “Apps & integrations”, choose “Add webhooks”, name it and copy its link.",
    ),
    "https://chat.googleapis.com/v1/spaces/…",
    t("A message in a space"),
  ),
  telegram: defineChannelKind({
    name: "Telegram",
    summary: t("A message from your bot"),
    help: t(
      "Send /newbot to @BotFather for the token. Add the bot to the chat and send a message to it; api.telegram.org/bot<token>/getUpdates then shows the chat's id and, in a topic, its message_thread_id. In a channel the bot must be an administrator.",
    ),
    fields: {
      botToken: secret(),
      chatId: line(100),
      topic: nullable(integer(1, 2 ** 31 - 1)).meta({
        description: "Id of a topic of a forum group: its `message_thread_id`.",
      }),
      silent: z.boolean().default(false).meta({ description: "Messages make no sound." }),
      server: HttpUrl.default("https://api.telegram.org").meta({
        description: "Your own Bot API server, if you run one.",
      }),
      template,
    },
    labels: {
      botToken: { label: t("Bot token"), placeholder: "123456:ABC-DEF…" },
      chatId: {
        label: t("Chat id"),
        placeholder: "-1001234567890",
        hint: t("A number, or @name of a public channel."),
        mono: true,
      },
      topic: { label: t("Topic"), hint: t("The message_thread_id of a forum topic. Optional.") },
      silent: { label: t("Silent"), hint: t("Messages arrive without a sound.") },
      server: {
        ...describeServer("https://api.telegram.org"),
        hint: t("Change it only if you run your own Bot API server."),
      },
    },
    secrets: { botToken: { server: isSameOrigin } },
    address: "server",
  }),
  matrix: defineChannelKind({
    name: "Matrix",
    summary: t("A message in a room of any homeserver"),
    help: t(
      "Create an account for Signalbox, sign in with it, and copy its access token: in Element, Settings, Help & About, Access Token. Invite the account to the room and accept. The room’s id is in its settings, Advanced. The room must not be encrypted.",
    ),
    fields: {
      server: HttpUrl,
      accessToken: secret(),
      roomId: z
        .string()
        .max(255)
        .regex(/^![^\s/?#]+$/, "must be the id of a room, which starts with !")
        .meta({ example: "!NKOxYzPZrkQfOuIEyL:matrix.org" }),
      template,
    },
    labels: {
      server: describeServer("https://matrix.org"),
      accessToken: { label: t("Access token") },
      roomId: { label: t("Room id"), placeholder: "!NKOxYz…:matrix.org", mono: true },
    },
    secrets: { accessToken: { server: isSameOrigin } },
    address: "server",
  }),
  signal: defineChannelKind({
    name: "Signal",
    summary: t("A message from your number, through signal-cli-rest-api"),
    help: t(
      "Requires a server of signal-cli-rest-api with a registered or linked number. A group is its “id” in GET /v1/groups/NUMBER there.",
    ),
    fields: {
      server: HttpUrl,
      number: PhoneNumber.meta({ description: "Registered number that sends the messages." }),
      recipients: z
        .array(line(200))
        .min(1)
        .max(50)
        .meta({
          description: "Phone numbers, ids of groups (`group.…`) or user names (`u:name.01`).",
          example: ["+491701234567"],
        }),
      template,
    },
    labels: {
      server: describeServer("http://signal.lan:8080"),
      number: {
        label: t("Sender"),
        placeholder: "+491701234567",
        mono: true,
        hint: t("The registered number."),
      },
      recipients: {
        label: t("Recipients"),
        hint: t("Phone numbers, ids of groups (group.…) or user names (u:name.01)."),
      },
    },
    address: "server",
  }),
  rocketchat: defineWebhookKind(
    "Rocket.Chat",
    t(
      "In the administration open Workspace, Integrations, choose “New”, Incoming, enable it, pick the channel and the user, save it, and copy the webhook URL.",
    ),
    "https://chat.acme.lan/hooks/…",
  ),
  zulip: defineChannelKind({
    name: "Zulip",
    summary: t("A message in a channel’s topic"),
    help: t(
      "In the personal settings open Bots, add an “Incoming webhook” or generic bot, and copy its e-mail address and API key. Subscribe the bot to the channel if it is private.",
    ),
    fields: {
      server: HttpUrl,
      email: EmailAddress,
      apiKey,
      channel: line(60),
      topic: line(60).default("Alerts"),
      template,
    },
    labels: {
      server: describeServer("https://acme.zulipchat.com"),
      email: { label: t("Bot’s e-mail"), placeholder: "signalbox-bot@acme.zulipchat.com" },
      apiKey: { label: t("API key") },
      channel: { label: t("Channel"), placeholder: "operations" },
      topic: { label: t("Topic") },
    },
    secrets: { apiKey: { server: isSameOrigin } },
    address: "server",
  }),
  nextcloudtalk: defineChannelKind({
    name: "Nextcloud Talk",
    summary: t("A message from a bot"),
    help: t(
      "On the server run “occ talk:bot:install --no-setup --feature=response Signalbox SECRET URL” with a secret of 40 to 128 characters and any URL, then enable the bot in the conversation’s settings. The token is the end of the conversation’s link, after /call/.",
    ),
    fields: {
      server: HttpUrl,
      conversation: z
        .string()
        .regex(/^[A-Za-z0-9]{1,64}$/, "must be the token of a conversation: letters and digits"),
      botSecret: secret(128),
      template,
    },
    labels: {
      server: describeServer("https://cloud.acme.lan"),
      conversation: { label: t("Conversation token"), placeholder: "4nd9wq3z", mono: true },
      botSecret: { label: t("Bot secret") },
    },
    secrets: { botSecret: { server: isSameOrigin } },
    address: "server",
  }),
  webex: defineWebhookKind(
    "Webex",
    t(
      "In the Webex App Hub open “Incoming Webhooks”, connect it, name it, pick the space and copy the webhook URL.",
    ),
    "https://webexapis.com/v1/webhooks/incoming/…",
    t("A message in a space"),
  ),
  line: defineChannelKind({
    name: "LINE",
    summary: t("A message from your official account"),
    help: t(
      "In the LINE Developers Console create a Messaging API channel and issue a long-lived channel access token. “Your user ID” is on its Basic settings; ids of groups are in the webhook events of the channel. LINE Notify shut down in March 2025.",
    ),
    fields: {
      accessToken: secret(),
      to: z
        .string()
        .regex(/^[UCR][0-9a-f]{32}$/, "must be U, C or R and 32 hexadecimal digits")
        .meta({
          description: "Id of a user, group or chat.",
          example: `U${"4af4980629".repeat(3)}ab`,
        }),
      template,
    },
    labels: {
      accessToken: { label: t("Channel access token") },
      to: {
        label: t("To"),
        placeholder: "U4af49806…",
        hint: t("Id of a user (U…), group (C…) or multi-person chat (R…)."),
        mono: true,
      },
    },
    secrets: { accessToken: fixedDestination },
    address: () => origins.line,
  }),
  feishu: defineSignedBot(
    t("Feishu and Lark"),
    t(
      "In the group’s settings open Bots, add a “Custom bot” and copy its webhook URL. If you choose “Signature verification”, copy its secret, too. With keywords, one of them must be in every message, such as “Signalbox”.",
    ),
    "https://open.feishu.cn/open-apis/bot/v2/hook/…",
  ),
  dingtalk: defineSignedBot(
    "DingTalk",
    t(
      "In the group’s settings open Bots, add a “Custom” robot and copy its webhook URL. If you choose “Additional signature”, copy its secret, too. With keywords, one of them must be in every message, such as “Signalbox”.",
    ),
    "https://oapi.dingtalk.com/robot/send?access_token=…",
  ),
  wecom: defineWebhookKind(
    "WeCom",
    t("In the group’s menu choose “Add Group Bot”, create a bot and copy its webhook URL."),
    "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…",
    t("A message in a group"),
  ),
};
