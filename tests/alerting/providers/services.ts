/** How each alert service is addressed: its settings, requests, limits and error responses, as its documentation defines them. */
import type { ChannelSettings, ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import type { Verdict } from "../../../src/alerting/provider.ts";
import {
  deliveryId,
  createDoubtfulVerdict,
  createFinalVerdict,
  monitor,
  retryVerdict,
} from "../../support/alert-receiver.ts";
import type { Json } from "../../support/json.ts";

/** The parts of a message that every service shows. */
export type RenderedText = {
  title: string;
  tone: "down" | "degraded" | "up" | "info";
  url: string;
  text: readonly string[];
  facts: readonly (readonly [label: string, value: string])[];
};

type Named = { name: string; groupName: string; message: string };

export type Service<T extends ChannelType = ChannelType> = {
  settings: ChannelSettings<T>;
  /** URL of a message. */
  url: string;
  /** Method of the request, if not POST. */
  method?: string;
  /** Whether every text ends with the address, so that an empty custom text stays empty. */
  neverEmpty?: true;
  headers?: Record<string, string>;
  /** The expected body of a message; forms are compared as objects. */
  body: (text: RenderedText) => object;
  /** Returns the part of a body that is compared. */
  shown?: (body: Json) => object;
  /** Names and messages with markup and mentions, and the text that the service shows instead. */
  hostile: { typed: Named; shown: Named; title?: string };
  /** The lines of a digest, and the limit of its size. */
  digest: { lines: (body: Json) => string[]; size: (body: Json) => number; most: number };
  /** Settings that change the URL. */
  addresses?: [changes: Partial<ChannelSettings<T>>, url: string][];
  /** Body of a response that confirms a message; `null` if the statuses mean something else. */
  confirmation?: string | null;
  responses: [status: number, body: string | object, verdict: Verdict][];
};

export const delivered: Verdict = { outcome: "delivered" };
export const badRequest = retryVerdict("The receiver responded with HTTP 400 (Bad Request).");
const serverError = retryVerdict("The receiver responded with HTTP 500 (Internal Server Error).");
const badGateway = retryVerdict("The receiver responded with HTTP 502 (Bad Gateway).");
const retryTooMany = (seconds?: number) =>
  retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", seconds);

export const colors = { down: "#d92d20", degraded: "#f79009", up: "#12a150", info: "#667085" };
const countCharacters = (text: string) => text.length;
export const split = (text: string) => text.split("\n");
export const linesOf = ({ text, facts }: RenderedText) => [
  ...text,
  ...facts.map(([label, value]) => `${label}: ${value}`),
];
export type Response = Service["responses"][number];

/** Error responses by status and code, with the expected reason. */
export const buildErrorResponses = (
  verdict: (reason: string) => Verdict,
  subject: string,
  bodyOf: (code: string) => string | object,
  known: readonly (readonly [status: number, code: string, reason: string])[],
): Response[] =>
  known.map(([status, code, reason]) => [status, bodyOf(code), verdict(`${subject} ${reason}.`)]);

export const showAsTyped = (typed: Named) => ({ typed, shown: typed });

const buildSlackText = (text: string) => ({ type: "mrkdwn", text, verbatim: true });
const readSlackBlock = (body: Json) => body.attachments[0].blocks[0].text.text as string;
const unconfirmed = retryVerdict(
  "The receiver responded with HTTP 200 (OK), but did not confirm the message.",
);

const slackGone = createFinalVerdict("Slack reports that the webhook is disabled or was removed.");

const slack: Service<"slack"> = {
  settings: { webhookUrl: "https://hooks.slack.com/services/T0/B0/token", template: null },
  url: "https://hooks.slack.com/services/T0/B0/token",
  body: ({ title, tone, url, text, facts }) => ({
    text: title,
    blocks: [{ type: "section", text: buildSlackText(`*<${url}|${title}>*`) }],
    attachments: [
      {
        color: colors[tone],
        blocks: [
          { type: "section", text: { type: "plain_text", text: text.join("\n") } },
          ...(facts.length === 0
            ? []
            : [
                {
                  type: "section",
                  fields: facts.map(([label, value]) => buildSlackText(`*${label}*\n${value}`)),
                },
              ]),
        ],
      },
    ],
  }),
  hostile: {
    typed: {
      name: "<!channel> & <https://evil.example|Shop>",
      groupName: "<@U123>",
      message: "<!here> 1 < 2 &amp;",
    },
    shown: {
      name: "&lt;!channel&gt; &amp; &lt;https://evil.example|Shop&gt;",
      groupName: "&lt;@U123&gt;",
      message: "&lt;!here&gt; 1 &lt; 2 &amp;amp;",
    },
  },
  digest: {
    lines: (body) => split(readSlackBlock(body)),
    size: (body) => readSlackBlock(body).length,
    most: 3_000,
  },
  confirmation: "ok",
  responses: [
    [200, "ok\n", delivered],
    [200, { ok: true }, delivered],
    ...["", "internal gossip", "<title>Sign in</title>", '{"ok":false}', '{"ok":"true"}', "[]"].map(
      (body): Response => [200, body, unconfirmed],
    ),
    [200, { ok: false, error: "no_service" }, slackGone],
    [200, "no_service", slackGone],
    [404, "no_service\n", slackGone],
    ...buildErrorResponses(createFinalVerdict, "Slack reports that", (code) => `${code}\n`, [
      [410, "channel_is_archived", "the channel is archived"],
      [404, "channel_not_found", "the channel does not exist"],
      [400, "user_not_found", "the person it is addressed to does not exist"],
      [400, "no_service_id", "the webhook's address is not complete"],
      [404, "no_active_hooks", "the webhook is disabled"],
      [403, "invalid_token", "the webhook's address is not valid"],
      [404, "no_team", "the workspace does not exist"],
      [403, "team_disabled", "the workspace is disabled"],
      [403, "action_prohibited", "an administrator does not allow this webhook to post"],
      [
        400,
        "posting_to_general_channel_denied",
        "this webhook is not allowed to post to the general channel",
      ],
    ]),
    [500, "rollup_error", serverError],
  ],
};

const discordError = (code: string) => ({ message: "internal gossip", code: Number(code) });
const buildDiscordWait = (seconds: unknown) => ({ global: false, retry_after: seconds });

const discord: Service<"discord"> = {
  settings: { webhookUrl: "https://discord.com/api/webhooks/1/token", template: null },
  // The response waits until the message is saved.
  url: "https://discord.com/api/webhooks/1/token?wait=true",
  body: ({ title, tone, url, text, facts }) => ({
    embeds: [
      {
        title,
        url,
        description: text.join("\n"),
        color: Number.parseInt(colors[tone].slice(1), 16),
        fields: facts.map(([name, value]) => ({ name, value, inline: true })),
        timestamp: "2026-11-20T23:02:00.000Z",
      },
    ],
    allowed_mentions: { parse: [] },
  }),
  hostile: {
    typed: {
      name: "**Shop** [here](https://evil.example)",
      groupName: "<@&1> ||x||",
      message: "@everyone <#5> `a_b` # ~~x~~ \\ > https://shop.lan/a_b?c=d#e_f",
    },
    shown: {
      name: "\\*\\*Shop\\*\\* \\[here\\](https://evil.example)",
      groupName: "\\<@&1\\> \\|\\|x\\|\\|",
      message:
        "@everyone \\<\\#5\\> \\`a\\_b\\` \\# \\~\\~x\\~\\~ \\\\ \\> https://shop.lan/a_b?c=d#e_f",
    },
  },
  digest: {
    lines: (body) => split(body.embeds[0].description),
    size: (body) => body.embeds[0].description.length,
    most: 4_096,
  },
  addresses: [
    [
      { webhookUrl: "https://discord.com/api/webhooks/1/token?thread_id=42" },
      "https://discord.com/api/webhooks/1/token?thread_id=42&wait=true",
    ],
  ],
  responses: [
    ...buildErrorResponses(createFinalVerdict, "Discord reports that", discordError, [
      [404, "10003", "the channel no longer exists"],
      [404, "10015", "the webhook no longer exists"],
      [403, "50013", "the webhook is not allowed to post to the channel"],
      [401, "50027", "the webhook's address is not valid"],
      [400, "220001", "a webhook of a forum needs a thread_id in its address"],
    ]),
    [400, discordError("50035"), badRequest],
    [429, buildDiscordWait(64.57), retryTooMany(65)],
    [429, buildDiscordWait(0.3), retryTooMany(1)],
    [429, buildDiscordWait(2e9), retryTooMany(2e9)],
    [429, '{"retry_after":1e999}', retryTooMany()],
    ...[-1, "soon", null].map((odd): Response => [429, buildDiscordWait(odd), retryTooMany()]),
    ...["null", "[10015]", "10015", '{"code":10015', ""].map((body): Response => [
      500,
      body,
      serverError,
    ]),
  ],
};

const buildTeamsRow = (...runs: object[]) => ({
  type: "RichTextBlock",
  inlines: runs.map((run) => ({ type: "TextRun", ...run })),
});
const teamsStyles = { down: "attention", degraded: "warning", up: "good", info: "accent" };
const teamsError = (code: string) => ({ error: { code, message: "internal gossip" } });
const connectorError = (status: string) =>
  `Webhook message delivery failed with error: Microsoft Teams endpoint returned ${status} with ContextId internal=gossip.`;

const teams: Service<"teams"> = {
  settings: {
    webhookUrl: "https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual?sig=token",
    template: null,
  },
  url: "https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual?sig=token",
  body: ({ title, tone, url, text, facts }) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          msteams: { width: "Full" },
          body: [
            {
              type: "Container",
              style: teamsStyles[tone],
              bleed: true,
              items: [buildTeamsRow({ text: title, weight: "Bolder", size: "Large" })],
            },
            ...text.map((line) => buildTeamsRow({ text: line })),
            ...facts.map(([label, value]) =>
              buildTeamsRow({ text: `${label}: `, weight: "Bolder" }, { text: value }),
            ),
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open in Signalbox", url }],
        },
      },
    ],
  }),
  // Text runs know neither Markdown nor mentions.
  hostile: showAsTyped({
    name: "<at>everyone</at> **Shop**",
    groupName: "[a](https://evil.example)",
    message: "_a_ <b>b</b>",
  }),
  digest: {
    lines: ({ attachments: [{ content }] }) =>
      content.body
        .slice(1)
        .map(({ inlines }: { inlines: { text: string }[] }) => inlines[0]?.text ?? ""),
    size: (body) => Buffer.byteLength(JSON.stringify(body)),
    most: 20_000,
  },
  responses: [
    [202, "", delivered],
    // Connectors, the predecessors of workflows, return 200 and report errors in the body.
    [200, "1", delivered],
    [200, connectorError("HTTP error 429"), retryTooMany()],
    [
      200,
      connectorError("HTTP error 404"),
      createDoubtfulVerdict("The receiver responded with HTTP 404 (Not Found)."),
    ],
    [200, connectorError("something"), badGateway],
    ...buildErrorResponses(createDoubtfulVerdict, "Teams reports that the workflow", teamsError, [
      [400, "WorkflowTriggerIsNotEnabled", "is turned off or was removed"],
      [404, "WorkflowNotFound", "does not exist"],
      [
        401,
        "DirectApiAuthorizationRequired",
        "does not accept requests from anyone, or that its address is not complete",
      ],
      [400, "TriggerInputSchemaMismatch", "expects something other than cards"],
    ]),
  ],
};

const mattermostError = (id: string) => ({ id: `${id}.app_error`, message: "internal gossip" });

const mattermost: Service<"mattermost"> = {
  settings: { webhookUrl: "https://chat.lan/hooks/key", template: null },
  url: "https://chat.lan/hooks/key",
  body: ({ title, tone, url, text, facts }) => ({
    attachments: [
      {
        fallback: title,
        color: colors[tone],
        title,
        title_link: url,
        text: text.join("\n"),
        fields: facts.map(([label, value]) => ({ title: label, value, short: true })),
      },
    ],
  }),
  hostile: {
    typed: {
      name: "@all_shops <!here>",
      groupName: "<!channel> @channel",
      message: "@here x-@all _@all [a](b) ops@shop.lan `c` 1 < 2 https://shop.lan/a_b",
    },
    shown: {
      name: "@\u200ball_shops <\u200b!here>",
      groupName: "<\u200b!channel\\> @\u200bchannel",
      message:
        "@\u200bhere x-@\u200ball \\_@\u200ball \\[a\\](b) ops@shop.lan \\`c\\` 1 < 2 https://shop.lan/a_b",
    },
  },
  digest: {
    lines: (body) => split(body.attachments[0].text),
    size: (body) => JSON.stringify(body).length,
    most: 7_000,
  },
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "Mattermost", mattermostError, [
      [400, "web.incoming_webhook.invalid", "does not know this webhook"],
      [501, "web.incoming_webhook.disabled", "does not accept webhooks at present"],
      [404, "web.incoming_webhook.channel", "reports that the channel does not exist"],
      [403, "web.incoming_webhook.user", "reports that the webhook's owner is gone"],
      [
        403,
        "web.incoming_webhook.permissions",
        "reports that the webhook's owner is not allowed to post to the channel",
      ],
    ]),
    [
      400,
      { id: "api.post.create_post.can_not_post_to_deleted.error" },
      createDoubtfulVerdict("Mattermost reports that the channel is archived."),
    ],
    [500, mattermostError("web.incoming_webhook.channel"), serverError],
    [400, mattermostError("web.incoming_webhook.parse"), badRequest],
  ],
};

const googlechatError = (status: string, details: unknown = []) => ({
  error: { message: "internal gossip", status, details },
});

const googlechat: Service<"googlechat"> = {
  settings: {
    webhookUrl: "https://chat.googleapis.com/v1/spaces/AAA/messages?key=k-1&token=t_2%3D",
    template: null,
  },
  // The ID prevents a repeated delivery from being shown twice.
  url: `https://chat.googleapis.com/v1/spaces/AAA/messages?key=k-1&token=t_2%3D&requestId=${deliveryId}`,
  body: ({ title, tone, url, text, facts }) => ({
    fallbackText: title,
    cardsV2: [
      {
        cardId: "alert",
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: `<font color="${colors[tone]}"><b>${title}</b></font>` } },
                { textParagraph: { text: text.join("\n") } },
                ...facts.map(([topLabel, value]) => ({
                  decoratedText: { topLabel, text: value, wrapText: true },
                })),
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
  }),
  hostile: {
    typed: {
      name: "<users/all> & <b>",
      groupName: "<users/1>",
      message: '<a href="https://evil.example">x</a>',
    },
    shown: {
      name: "&lt;users/all&gt; &amp; &lt;b&gt;",
      groupName: "&lt;users/1&gt;",
      message: '&lt;a href="https://evil.example"&gt;x&lt;/a&gt;',
    },
  },
  digest: {
    lines: (body) => split(body.cardsV2[0].card.sections[0].widgets[1].textParagraph.text),
    size: (body) => Buffer.byteLength(JSON.stringify(body)),
    most: 20_000,
  },
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "Google Chat reports that", googlechatError, [
      [401, "UNAUTHENTICATED", "the webhook's address is not valid"],
      [403, "PERMISSION_DENIED", "the webhook is not allowed to post to the space"],
      [404, "NOT_FOUND", "the space or its webhook no longer exists"],
    ]),
    [
      400,
      googlechatError("INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }]),
      createDoubtfulVerdict(
        "Google Chat reports that the key in the webhook's address is not valid.",
      ),
    ],
    [400, googlechatError("INVALID_ARGUMENT"), badRequest],
    [400, googlechatError("INVALID_ARGUMENT", "odd"), badRequest],
    [429, googlechatError("RESOURCE_EXHAUSTED"), retryTooMany()],
  ],
};

const telegramSigns = { down: "🔴", degraded: "🟠", up: "🟢", info: "🔵" };
const telegramError = (description: string) => ({ ok: false, description });
const telegramToken = "110201543:AAHd-7f3a_x";

const telegram: Service<"telegram"> = {
  settings: {
    botToken: telegramToken,
    chatId: "-100200",
    topic: null,
    silent: false,
    server: "https://api.telegram.org",
    template: null,
  },
  url: `https://api.telegram.org/bot${telegramToken}/sendMessage`,
  body: (text) => ({
    chat_id: "-100200",
    text: `${telegramSigns[text.tone]} ${text.title}\n\n${linesOf(text).join("\n")}\n\n${text.url}`,
    link_preview_options: { is_disabled: true },
  }),
  // Without a parse mode, markup is text.
  hostile: {
    typed: {
      name: "@oncall *x*",
      groupName: "Shops",
      message: "_y_ [z](https://evil.example) &lt; @boss ops@shop.lan",
    },
    shown: {
      name: "@\u200boncall *x*",
      groupName: "Shops",
      message: "_y_ [z](https://evil.example) &lt; @\u200bboss ops@shop.lan",
    },
  },
  digest: {
    lines: ({ text }) => split(text.split("\n\n")[1]),
    size: ({ text }) => text.length,
    most: 4_096,
  },
  addresses: [
    [
      { botToken: "1:A/../../x?y#z" },
      "https://api.telegram.org/bot1:A%2F..%2F..%2Fx%3Fy%23z/sendMessage",
    ],
    [
      { server: "http://bot.lan:8081/api/" },
      `http://bot.lan:8081/api/bot${telegramToken}/sendMessage`,
    ],
  ],
  confirmation: null,
  responses: [
    [200, { ok: true, result: {} }, delivered],
    ...buildErrorResponses(createDoubtfulVerdict, "Telegram reports that", telegramError, [
      [401, "internal gossip", "the bot token is not valid"],
      [404, "internal gossip", "the bot token is not valid"],
      [403, "internal gossip", "the bot is not allowed to write to the chat"],
      [400, "Bad Request: chat not found", "the bot does not know this chat"],
      [400, "Bad Request: PEER_ID_INVALID", "the bot does not know this chat"],
      [400, "Bad Request: message thread not found", "the chat has no such topic"],
      [400, "Bad Request: TOPIC_CLOSED", "the topic is closed"],
      [
        400,
        "Bad Request: not enough rights to send text messages to the chat",
        "the bot is not allowed to write to the chat",
      ],
      [
        400,
        "Bad Request: need administrator rights in the channel chat",
        "the bot is not allowed to write to the chat",
      ],
      [
        400,
        "Bad Request: group chat was upgraded to a supergroup chat",
        "the group became a supergroup, with another chat ID",
      ],
    ]),
    [429, { ok: false, parameters: { retry_after: 35 } }, retryTooMany(35)],
    [429, { ok: false, parameters: null }, retryTooMany()],
    [400, telegramError("internal gossip"), badRequest],
    [502, "<html>", badGateway],
  ],
};

const ntfyTags = {
  down: "rotating_light",
  degraded: "warning",
  up: "white_check_mark",
  info: "information_source",
};
const ntfyError = (code: string) => ({ code: Number(code), error: "internal gossip" });

const ntfy: Service<"ntfy"> = {
  settings: {
    server: "https://ntfy.sh",
    topic: "alerts",
    token: null,
    username: null,
    password: null,
    priority: 4,
    tags: [],
    template: null,
  },
  url: "https://ntfy.sh/",
  body: (text) => ({
    topic: "alerts",
    title: text.title,
    message: linesOf(text).join("\n"),
    tags: [ntfyTags[text.tone]],
    priority: text.tone === "down" ? 4 : 3,
    click: text.url,
    actions: [{ action: "view", label: "Open in Signalbox", url: text.url }],
    sequence_id: deliveryId,
  }),
  hostile: showAsTyped({
    name: '"Größe"\u0000, メール 📈 **x** {"topic":"other"}',
    groupName: "@all",
    message: "<b>",
  }),
  digest: {
    lines: ({ message }) => split(message),
    size: ({ message }) => Buffer.byteLength(message),
    most: 4_096,
  },
  addresses: [
    [{ server: "http://ntfy.lan" }, "http://ntfy.lan/"],
    [{ server: "http://ntfy.lan/ntfy" }, "http://ntfy.lan/ntfy/"],
    [{ server: "http://ntfy.lan/ntfy/" }, "http://ntfy.lan/ntfy/"],
    [{ server: "http://ntfy.lan/?auth=x#y" }, "http://ntfy.lan/"],
  ],
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "ntfy reports that", ntfyError, [
      [400, "40009", "the name of the topic is not valid"],
      [400, "40010", "the name of the topic is not allowed"],
      [401, "40101", "the access token, or the user name or password, is not valid"],
      [403, "40301", "publishing to the topic is not allowed"],
    ]),
    [429, ntfyError("42908"), retryTooMany()],
  ],
};

const gotifyPriorities = { down: 8, degraded: 5, up: 5, info: 4 };

const gotify: Service<"gotify"> = {
  settings: { server: "http://gotify.lan", token: "AzyoeNS.D4iJLVa", template: null },
  url: "http://gotify.lan/message",
  headers: { "x-gotify-key": "AzyoeNS.D4iJLVa" },
  body: (text) => ({
    title: text.title,
    message: [...linesOf(text), "", text.url].join("\n"),
    priority: gotifyPriorities[text.tone],
    extras: {
      "client::display": { contentType: "text/plain" },
      "client::notification": { click: { url: text.url } },
    },
  }),
  hostile: showAsTyped({
    name: "**Größe** ![x](https://evil.example/x.png) メール",
    groupName: "@all",
    message: "<b>",
  }),
  digest: {
    lines: ({ message }) => split(message.split("\n\n")[0]),
    size: ({ message }) => Buffer.byteLength(message),
    most: 20_000,
  },
  addresses: [
    [{ server: "http://gotify.lan/" }, "http://gotify.lan/message"],
    [{ server: "https://lan/gotify" }, "https://lan/gotify/message"],
    [{ server: "https://lan/gotify/" }, "https://lan/gotify/message"],
    [{ server: "https://lan/gotify/?token=x#y" }, "https://lan/gotify/message"],
  ],
  responses: [],
};

const noUser = createFinalVerdict("Pushover reports that the user key is not valid.");
const refusedByPushover = createFinalVerdict("Pushover rejected the message.");

const pushover: Service<"pushover"> = {
  settings: {
    userKey: "uQiRzpo4DXghDmr9",
    apiToken: "azGDORePK8gMaC0Q",
    priority: 1,
    retry: 60,
    expire: 3_600,
    template: null,
  },
  url: "https://api.pushover.net/1/messages.json",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: (text) => ({
    token: "azGDORePK8gMaC0Q",
    user: "uQiRzpo4DXghDmr9",
    title: text.title,
    message: linesOf(text).join("\n"),
    priority: text.tone === "down" ? "1" : "0",
    timestamp: String(Date.parse("2026-11-20T23:02:00.000Z") / 1_000),
    url: text.url,
    url_title: "Open in Signalbox",
  }),
  hostile: showAsTyped({
    name: "Größe&priority=2&html=1#<b>+%26 メール",
    groupName: "@all",
    message: "<b>",
  }),
  digest: {
    lines: ({ message }) => split(message),
    size: ({ message }) => countCharacters(message),
    most: 1_024,
  },
  confirmation: null,
  responses: [
    [200, { status: 1, request: "647d2300" }, delivered],
    [400, { status: 0, user: "invalid", errors: ["internal gossip"] }, noUser],
    [
      400,
      { status: 0, token: "invalid" },
      createFinalVerdict("Pushover reports that the application's token is not valid."),
    ],
    [400, { status: 0 }, refusedByPushover],
    [401, { status: 0 }, refusedByPushover],
    [413, { status: 0 }, refusedByPushover],
    [200, { status: 0, user: "invalid" }, noUser],
    [
      429,
      { status: 0 },
      retryVerdict("Pushover reports that the application has no messages left this month."),
    ],
    [500, { status: 0 }, serverError],
  ],
};

const appriseTypes = { down: "failure", degraded: "warning", up: "success", info: "info" };

const apprise: Service<"apprise"> = {
  settings: {
    server: "http://apprise.lan:8000",
    key: "ops",
    tag: null,
    urls: null,
    template: null,
  },
  url: "http://apprise.lan:8000/notify/ops",
  body: (text) => ({
    title: text.title,
    body: [...linesOf(text), "", text.url].join("\n"),
    type: appriseTypes[text.tone],
    format: "text",
    tag: "all",
  }),
  hostile: {
    typed: {
      name: "@everyone",
      groupName: "<users/all>",
      message: "<!channel> <@1> ops@shop.lan 1 < 2",
    },
    shown: {
      name: "@\u200beveryone",
      groupName: "<\u200busers/all>",
      message: "<\u200b!channel> <\u200b@\u200b1> ops@shop.lan 1 < 2",
    },
  },
  digest: {
    lines: ({ body }) => split(body.split("\n\n")[0]),
    size: ({ body }) => countCharacters(body),
    most: 1_002,
  },
  addresses: [
    [{ server: "http://apprise.lan/" }, "http://apprise.lan/notify/ops"],
    [{ server: "http://apprise.lan/a/b" }, "http://apprise.lan/a/b/notify/ops"],
    [{ server: "http://apprise.lan/a/b//" }, "http://apprise.lan/a/b/notify/ops"],
    [{ server: "http://apprise.lan/a/?x=1#y" }, "http://apprise.lan/a/notify/ops"],
    [{ server: "http://[::1]:8000" }, "http://[::1]:8000/notify/ops"],
    [{ key: "../add/ops?x#y%" }, "http://apprise.lan:8000/notify/..%2Fadd%2Fops%3Fx%23y%25"],
  ],
  responses: [
    [204, "", createDoubtfulVerdict("Apprise has no services under this key or these URLs.")],
    [
      424,
      "internal gossip",
      {
        outcome: "failed",
        reason: "Apprise could not notify all of its services.",
        failure: "passing",
        progress: { reached: null, refused: [] },
      },
    ],
  ],
};

/** Services that receive one message per alert or digest. */
export const services = {
  slack,
  discord,
  teams,
  mattermost,
  googlechat,
  telegram,
  ntfy,
  gotify,
  pushover,
  apprise,
} as const;

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const since = ["Since", "2026-11-20 23:02:00 UTC"] as const;
const group = ["Group", "Front of house"] as const;

/** The usual messages; the keys name their alerts. */
export const messages = {
  "monitor.down": {
    title: "Shop is down",
    tone: "down",
    url: page,
    text: ["The connection was refused."],
    facts: [since, group],
  },
  "monitor.up": {
    title: "Shop is up again",
    tone: "up",
    url: page,
    text: ["HTTP 200 (OK)."],
    facts: [since, ["Was down for", "12 min 34 s"], ["Latency", "42 ms"], group],
  },
  "monitor.degraded": {
    title: "Shop is degraded",
    tone: "degraded",
    url: page,
    text: ["Took longer than 500 ms."],
    facts: [since, ["Latency", "812 ms"], group],
  },
  digest: {
    title: "2 monitors are down",
    tone: "down",
    url: "https://signalbox.lan",
    text: [
      "Shop 1 is down. The connection was refused.",
      "Shop 2 is down. The connection was refused.",
    ],
    facts: [],
  },
  test: {
    title: "Test alert from Signalbox",
    tone: "info",
    url: "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc",
    text: ["Alerts of this channel arrive here."],
    facts: [],
  },
} as const satisfies Record<string, RenderedText>;
