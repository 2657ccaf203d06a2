/** Sends messages to Microsoft Teams workflows and connectors. */
import type { Fact, Message, Tone } from "../sending/messages.ts";
import {
  judgeStatus,
  createHttpProvider,
  failPermanently,
  type Verdict,
  parseFields,
} from "../provider.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import { bytesOf, splitLinks, splitMessage, renderWithin } from "./formatting.ts";
import { isObject } from "../../core/collections/objects.ts";

/**
 * Workflows respond with 202. Their predecessors, connectors, respond with 200 and report errors as
 * text.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook
 */
export const teams = createHttpProvider<"teams">({
  request: ({ webhookUrl }, message) => ({ url: webhookUrl, body: buildTeamsBody(message) }),
  judge: judgeTeamsResponse,
});

function judgeTeamsResponse(response: ShortResponse): Verdict {
  if (response.status >= 200 && response.status < 300) {
    if (!/message delivery failed|returned HTTP error/i.test(response.body))
      return judgeStatus(response);
    const [, status] = /HTTP error ([45]\d\d)/i.exec(response.body) ?? [];
    return judgeStatus({ ...response, status: status === undefined ? 502 : Number(status) });
  }
  const { error } = parseFields(response);
  const reason = isObject(error) ? teamsReasons.get(error["code"]) : undefined;
  return reason === undefined ? judgeStatus(response) : failPermanently(reason);
}

// The documented limit is about 28 KB, but cards of more than 21 KB have failed.
const maxBytes = 20_000;

function buildTeamsBody(message: Message) {
  const { text, fields } = splitMessage(message);
  const lines = text.flatMap((line) => line.split("\n")).filter((line) => line.trim() !== "");
  const renderLines = (lines: readonly string[]) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: buildCard(message, lines, fields),
      },
    ],
  });
  return renderWithin(maxBytes, lines, renderLines, bytesOf);
}

/** Builds an adaptive card from text runs, because Teams renders text blocks and facts as Markdown. */
function buildCard(message: Message, lines: readonly string[], fields: readonly Fact[]) {
  const { title, tone } = message;
  const links = splitLinks(message);
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
        items: [buildCardRow({ text: title, weight: "Bolder", size: "Large" })],
      },
      ...lines.map((text) => buildCardRow({ text })),
      ...fields.map(({ label, value }) =>
        buildCardRow({ text: `${label}: `, weight: "Bolder" }, { text: value }),
      ),
      ...links.lines.map((text) => buildCardRow({ text })),
    ],
    ...(links.buttons.length > 0 && {
      actions: links.buttons.map(({ label, url }) => createOpenAction(label, url)),
    }),
  };
}

const createOpenAction = (title: string, url: string) => ({ type: "Action.OpenUrl", title, url });

function buildCardRow(...runs: readonly object[]) {
  return { type: "RichTextBlock", inlines: runs.map((run) => ({ type: "TextRun", ...run })) };
}

const styles: Record<Tone, string> = {
  down: "attention",
  degraded: "warning",
  up: "good",
  info: "accent",
};

const teamsReasons = new Map<unknown, string>([
  ["WorkflowTriggerIsNotEnabled", "Teams reports that the workflow is turned off or was removed."],
  ["WorkflowNotFound", "Teams reports that the workflow does not exist."],
  [
    "DirectApiAuthorizationRequired",
    "Teams reports that the workflow does not accept requests from anyone, or that its address is not complete.",
  ],
  [
    "TriggerInputSchemaMismatch",
    "Teams reports that the workflow expects something other than cards.",
  ],
]);
