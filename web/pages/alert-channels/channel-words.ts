import type { ChannelType } from "../../../src/alerting/channels/schema.ts";
import type { FieldWords } from "../../components/schema-field.tsx";

type ChannelWords = {
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
const region: FieldWords = {
  label: "Region",
  hint: "Where the account is: EU if its address contains “eu”.",
  options: { us: "US", eu: "EU" },
};

/** 32 random bytes, as Standard Webhooks writes them. */
function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

const server = (placeholder: string): FieldWords => ({ label: "Server", placeholder, mono: true });

/** What people read of each type of channel; where to get what, as the services document it. */
export const channelWords: Record<ChannelType, ChannelWords> = {
  slack: {
    label: "Slack",
    mark: "Sl",
    what: "A message in a channel",
    help: "At api.slack.com/apps create an app, open Incoming Webhooks, switch on “Activate Incoming Webhooks”, choose “Add New Webhook to Workspace”, pick the channel and copy the webhook URL.",
    fields: incoming("https://hooks.slack.com/services/…"),
  },
  email: {
    label: "E-mail",
    mark: "@",
    what: "Through your own mail server",
    help: "Sent through the mail server in Settings. Press Enter after each address.",
    fields: { to: { label: "To", hint: "Up to 50 addresses. All of them get the same e-mail." } },
  },
  webhook: {
    label: "Webhook",
    mark: "{}",
    what: "Signed JSON to any URL",
    help: "Sends a POST request with JSON, as described by Standard Webhooks. With a secret, each request is signed.",
    fields: {
      url: { label: "URL", placeholder: "http://bot.lan/alerts", mono: true },
      secret: {
        label: "Secret",
        hint: "Signs each request: whsec_ and the Base64 of 24 to 64 bytes.",
        placeholder: "whsec_…",
        generate: newSigningSecret,
      },
      headers: { label: "Headers" },
    },
  },
  teams: {
    label: "Microsoft Teams",
    mark: "Te",
    what: "A card in a channel",
    help: "In the channel’s ••• menu open Workflows, choose “Send webhook alerts to a channel” (formerly “Post to a channel when a webhook request is received”) and copy the URL. Connector URLs at webhook.office.com stopped working in May 2026.",
    fields: incoming("https://….api.powerplatform.com/…/workflows/…"),
  },
  discord: {
    label: "Discord",
    mark: "Di",
    what: "A message in a channel",
    help: "Edit the channel, open Integrations, Webhooks, choose “New Webhook” and “Copy Webhook URL”.",
    fields: incoming("https://discord.com/api/webhooks/…"),
  },
  telegram: {
    label: "Telegram",
    mark: "Tg",
    what: "A message from your bot",
    help: "Send /newbot to @BotFather for the token. Add the bot to the chat and send a message to it; api.telegram.org/bot<token>/getUpdates then shows the chat's id and, in a topic, its message_thread_id. In a channel the bot has to be an administrator.",
    fields: {
      botToken: { label: "Bot token", placeholder: "123456:ABC-DEF…" },
      chatId: {
        label: "Chat id",
        placeholder: "-1001234567890",
        hint: "A number, or @name of a public channel.",
        mono: true,
      },
      topic: { label: "Topic", hint: "The message_thread_id of a forum topic. Optional." },
      silent: { label: "Silent", hint: "Messages arrive without a sound." },
      server: {
        ...server("https://api.telegram.org"),
        hint: "Change it only if you run your own Bot API server.",
      },
    },
  },
  ntfy: {
    label: "ntfy",
    mark: "nt",
    what: "Push to phones, through ntfy.sh or your own server",
    help: "Subscribe to a topic in the ntfy app and name it here. Anyone who guesses the name of a topic without access control can read it.",
    fields: {
      server: server("https://ntfy.sh"),
      topic: { label: "Topic", placeholder: "acme-oncall", mono: true },
      token: {
        label: "Access token",
        placeholder: "tk_…",
        hint: "For a protected topic: in the web app, Account, Access tokens.",
      },
      username: { label: "User name", hint: "With a password, instead of a token." },
      password: { label: "Password" },
      priority: {
        label: "Priority of outages",
        hint: "1 (lowest) to 5 (highest). Other alerts use at most 3.",
      },
      tags: { label: "Tags", hint: "Added to every message. Names of emojis are shown as emojis." },
    },
  },
  pagerduty: {
    label: "PagerDuty",
    mark: "PD",
    what: "Opens and resolves incidents",
    help: "In the service open Integrations, add “Events API V2” and copy its integration key, of 32 characters.",
    fields: { routingKey: { label: "Integration key" }, region },
  },
  jsm: {
    label: "Jira Service Management",
    mark: "JS",
    what: "Opens and closes alerts",
    help: "In a team’s Operations open Integrations, add “API”, turn it on and copy its API key. Keys migrated from Opsgenie work, too.",
    fields: { apiKey: { label: "API key" } },
  },
  opsgenie: {
    label: "Opsgenie",
    mark: "Op",
    what: "Until it shuts down on 5 April 2027",
    help: "Opsgenie shuts down on 5 April 2027. Once your account is migrated, use Jira Service Management with the same key. In the team open Integrations, add “API”, turn it on and copy its API key.",
    fields: { apiKey: { label: "API key" }, region },
  },
  pushover: {
    label: "Pushover",
    mark: "Po",
    what: "Push to phones",
    help: "pushover.net shows your user key (or make a delivery group); “Create an Application/API Token” there gives the API token.",
    fields: {
      userKey: { label: "User or group key" },
      apiToken: { label: "API token" },
      priority: {
        label: "Priority of outages",
        hint: "-2 (lowest) to 2 (emergency, repeated until someone acknowledges it or it ends). Other alerts use at most 0.",
      },
      retry: { label: "Repeat an emergency every", unit: "s" },
      expire: { label: "Stop repeating it after", unit: "s" },
    },
  },
  mattermost: {
    label: "Mattermost",
    mark: "Mm",
    what: "A message in a channel",
    help: "In the product menu open Integrations, Incoming Webhooks, choose “Add Incoming Webhook”, pick the channel and copy the URL.",
    fields: incoming("https://chat.acme.lan/hooks/…"),
  },
  googlechat: {
    label: "Google Chat",
    mark: "Gc",
    what: "A message in a space",
    help: "In a browser, open the menu of the space, then “Apps & integrations”, choose “Add webhooks”, name it and copy its link.",
    fields: incoming("https://chat.googleapis.com/v1/spaces/…"),
  },
  gotify: {
    label: "Gotify",
    mark: "Go",
    what: "Push from your own server",
    help: "In Gotify's web page open Apps, choose “Create Application” and copy its token.",
    fields: { server: server("https://gotify.lan"), token: { label: "Application token" } },
  },
  apprise: {
    label: "Apprise",
    mark: "Ap",
    what: "A hundred more services",
    help: "Requires an Apprise API server. Save the URLs of your services there under a key and enter the key here, or enter the URLs here.",
    fields: {
      server: server("http://apprise.lan:8000"),
      key: { label: "Configuration key", hint: "Leave empty if you enter URLs.", mono: true },
      tag: {
        label: "Tags",
        hint: "Only services with these tags: “a, b” means either, “a b” means both. Leave empty for all.",
      },
      urls: {
        label: "Apprise URLs",
        placeholder: "mailto://…, json://…",
        hint: "Instead of a key, separated by commas.",
      },
    },
  },
};

/** The most asked for first. */
export const channelTypes = Object.keys(channelWords) as ChannelType[];

export const wordsOf = (type: string): ChannelWords =>
  channelWords[type as ChannelType] ?? { label: type, mark: "?", what: "", help: "", fields: {} };
