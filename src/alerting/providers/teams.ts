/** Sends messages to Microsoft Teams workflows and connectors. */
import type { Fact, Message, Tone } from "../sending/messages.ts";
import { judged, overHttp, permanent, type Verdict, fieldsIn } from "../provider.ts";
import type { ShortAnswer } from "../../core/outgoing/http/exchange.ts";
import { bytesOf, hasDottedHost, partsOf, within } from "./formatting.ts";
import { isObject } from "../../core/collections/objects.ts";

/**
 * Workflows respond with 202. Their predecessors, connectors, respond with 200 and report errors as
 * text.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook
 */
export const teams = overHttp<"teams">({
  request: ({ webhookUrl }, message) => ({ url: webhookUrl, body: bodyOf(message) }),
  verdict,
});

function verdict(answer: ShortAnswer): Verdict {
  if (answer.status >= 200 && answer.status < 300) {
    if (!/message delivery failed|returned HTTP error/i.test(answer.body)) return judged(answer);
    const [, status] = /HTTP error ([45]\d\d)/i.exec(answer.body) ?? [];
    return judged({ ...answer, status: status === undefined ? 502 : Number(status) });
  }
  const { error } = fieldsIn(answer);
  const reason = isObject(error) ? hopeless.get(error["code"]) : undefined;
  return reason === undefined ? judged(answer) : permanent(reason);
}

// The documented limit is about 28 KB, but cards of more than 21 KB have failed.
const maxBytes = 20_000;

function bodyOf(message: Message) {
  const { text, fields } = partsOf(message);
  const lines = text.flatMap((line) => line.split("\n")).filter((line) => line.trim() !== "");
  const written = (kept: readonly string[]) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: cardOf(message, kept, fields),
      },
    ],
  });
  return within(maxBytes, lines, written, bytesOf);
}

/** Builds an adaptive card from text runs, because Teams renders text blocks and facts as Markdown. */
function cardOf({ title, tone, url }: Message, lines: readonly string[], fields: readonly Fact[]) {
  const opens = hasDottedHost(url);
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    msteams: { width: "Full" },
    body: [
      {
        type: "Container",
        style: styles[tone],
        bleed: true,
        items: [row({ text: title, weight: "Bolder", size: "Large" })],
      },
      ...lines.map((text) => row({ text })),
      ...fields.map(({ label, value }) =>
        row({ text: `${label}: `, weight: "Bolder" }, { text: value }),
      ),
      ...(opens ? [] : [row({ text: url })]),
    ],
    ...(opens && { actions: [{ type: "Action.OpenUrl", title: "Open in Signalbox", url }] }),
  };
}

function row(...runs: readonly object[]) {
  return { type: "RichTextBlock", inlines: runs.map((run) => ({ type: "TextRun", ...run })) };
}

const styles: Record<Tone, string> = {
  down: "attention",
  degraded: "warning",
  up: "good",
  info: "accent",
};

const hopeless = new Map<unknown, string>([
  ["WorkflowTriggerIsNotEnabled", "Teams says that the workflow is turned off or was removed."],
  ["WorkflowNotFound", "Teams says that the workflow does not exist."],
  [
    "DirectApiAuthorizationRequired",
    "Teams says that the workflow does not accept requests from anyone, or that its address is not complete.",
  ],
  [
    "TriggerInputSchemaMismatch",
    "Teams says that the workflow expects something other than cards.",
  ],
]);
