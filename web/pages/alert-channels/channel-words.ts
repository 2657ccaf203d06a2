import type { ChannelType } from "../../../src/alert-channels/schema.ts";
import type { FieldWords } from "../../parts/schema-field.tsx";

export type ChannelWords = {
  label: string;
  /** Two letters that stand for it. */
  mark: string;
  /** What it is, in the gallery. */
  what: string;
  /** Where its address or token comes from. */
  help: string;
  fields: Readonly<Record<string, FieldWords>>;
};

const incoming = (placeholder: string): Record<string, FieldWords> => ({
  webhookUrl: { label: "Webhook URL", placeholder, mono: true },
});
const server = (placeholder: string): FieldWords => ({ label: "Server", placeholder, mono: true });

/** What people read of each type of channel; where to get what, as the services document it. */
export const channelWords: Record<ChannelType, ChannelWords> = {
  slack: {
    label: "Slack",
    mark: "Sl",
    what: "A message in a channel",
    help: "At api.slack.com/apps make an app, switch on Incoming Webhooks, choose “Add New Webhook to Workspace” and copy the webhook URL.",
    fields: incoming("https://hooks.slack.com/services/…"),
  },
  email: {
    label: "E-mail",
    mark: "@",
    what: "Over your own mail server",
    help: "Sent over the mail server of Settings. Type each address and press Enter.",
    fields: { to: { label: "To", hint: "Up to 50 addresses; all of them get one mail." } },
  },
  webhook: {
    label: "Webhook",
    mark: "{}",
    what: "Signed JSON to any address",
    help: "The address gets a POST with JSON as Standard Webhooks describes it; with a secret each request is signed.",
    fields: {
      url: { label: "URL", placeholder: "http://bot.lan/alerts", mono: true },
      secret: { label: "Secret", hint: "Signs each request; behind whsec_ it is Base64." },
      headers: { label: "Headers" },
    },
  },
  teams: {
    label: "Microsoft Teams",
    mark: "Te",
    what: "A card in a channel",
    help: "At the channel choose Workflows, then “Send webhook alerts to a channel” (“Post to a channel when a webhook request is received”), and copy the URL that it shows.",
    fields: incoming("https://….logic.azure.com/workflows/…"),
  },
  discord: {
    label: "Discord",
    mark: "Di",
    what: "A message in a channel",
    help: "Edit the channel, open Integrations, Webhooks, make a new webhook and choose “Copy Webhook URL”.",
    fields: incoming("https://discord.com/api/webhooks/…"),
  },
  telegram: {
    label: "Telegram",
    mark: "Tg",
    what: "A message of your bot",
    help: "Send /newbot to @BotFather for the token. Add the bot to the chat and write to it; api.telegram.org/bot<token>/getUpdates then shows the chat's id.",
    fields: {
      botToken: { label: "Bot token", placeholder: "123456:ABC-DEF…" },
      chatId: {
        label: "Chat id",
        placeholder: "-1001234567890",
        hint: "A number, or @name of a public channel.",
        mono: true,
      },
    },
  },
  ntfy: {
    label: "ntfy",
    mark: "nt",
    what: "Push to phones, ntfy.sh or your own",
    help: "Subscribe to a topic in the ntfy app and name it here. A topic without access control is known to whoever guesses its name.",
    fields: {
      server: server("https://ntfy.sh"),
      topic: { label: "Topic", placeholder: "acme-oncall", mono: true },
      token: {
        label: "Access token",
        placeholder: "tk_…",
        hint: "For a protected topic: Account, Access tokens.",
      },
    },
  },
  pagerduty: {
    label: "PagerDuty",
    mark: "PD",
    what: "Opens and resolves incidents",
    help: "At the service open Integrations, add “Events API V2” and copy its integration key.",
    fields: { routingKey: { label: "Integration key" } },
  },
  opsgenie: {
    label: "Opsgenie",
    mark: "Op",
    what: "Opens and closes alerts",
    help: "At the team open Integrations, add “API”, turn it on and copy its API key. Accounts at app.eu.opsgenie.com are in the EU.",
    fields: {
      apiKey: { label: "API key" },
      region: { label: "Region" },
    },
  },
  pushover: {
    label: "Pushover",
    mark: "Po",
    what: "Push to phones",
    help: "pushover.net shows your user key (or make a delivery group); “Create an Application/API Token” there gives the API token.",
    fields: {
      userKey: { label: "User or group key" },
      apiToken: { label: "API token" },
    },
  },
  mattermost: {
    label: "Mattermost",
    mark: "Mm",
    what: "A message in a channel",
    help: "In the product menu open Integrations, Incoming Webhooks, add one for the channel and copy its URL.",
    fields: incoming("https://chat.acme.lan/hooks/…"),
  },
  googlechat: {
    label: "Google Chat",
    mark: "Gc",
    what: "A message in a space",
    help: "At the space's name open Apps & integrations, add a webhook and copy its link.",
    fields: incoming("https://chat.googleapis.com/v1/spaces/…"),
  },
  gotify: {
    label: "Gotify",
    mark: "Go",
    what: "Push from your own server",
    help: "In Gotify's web page open Apps, create an application and copy its token.",
    fields: { server: server("https://gotify.lan"), token: { label: "Application token" } },
  },
  apprise: {
    label: "Apprise",
    mark: "Ap",
    what: "A hundred more services",
    help: "Needs an Apprise API server. Save the services' URLs there under a key of your choice, and name that key here.",
    fields: {
      server: server("http://apprise.lan:8000"),
      key: { label: "Configuration key", mono: true },
    },
  },
};

/** The most asked for first. */
export const channelTypes = Object.keys(channelWords) as ChannelType[];

export const wordsOf = (type: string): ChannelWords =>
  channelWords[type as ChannelType] ?? { label: type, mark: "?", what: "", help: "", fields: {} };
