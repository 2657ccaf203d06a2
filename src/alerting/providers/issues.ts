/** Opens, comments and closes issues of a tracker: one issue per case, which is found by a mark in its text. */
import { isObject, parseJsonOrNull } from "../../core/collections/objects.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { cutText, type Message } from "../sending/messages.ts";
import {
  createStatusVerdict,
  type DeliveryContext,
  failTemporarily,
  failUnconfirmed,
  type Provider,
  type ProviderRequest,
  sendProviderRequest,
  type Verdict,
} from "../provider.ts";
import { disarmAt, escapeMarkdown, findCaseState } from "./formatting.ts";

type IssueType = "github" | "gitlab" | "gitea";

/** The requests of a tracker. */
type Tracker<S> = {
  service: string;
  headers: (settings: S) => Record<string, string>;
  /** URL of a page of open issues, which can contain the one with this key. */
  list: (settings: S, key: string, page: number) => string;
  /** Fields of an issue: its number and its text. */
  fields: { number: string; text: string };
  open: (settings: S, title: string, text: string) => ProviderRequest;
  comment: (settings: S, number: number, text: string) => ProviderRequest;
  close: (settings: S, number: number) => ProviderRequest;
};

const pageSize = 100;
const maxPages = 3;
const maxListBytes = 2 * 1024 * 1024;
/** Maximum time for the body of a list. */
const listTimeoutMs = 5_000;

const withoutIssue: Verdict = {
  outcome: "delivered",
  detail: "Nothing was sent, because the case has no open issue.",
};

/** Creates the provider of a tracker. The issue of an earlier attempt contains the ID of its delivery. */
export const createIssueProvider = <T extends IssueType>(
  tracker: Tracker<ChannelSettings<T>>,
): Provider<T> => ({
  digests: false,
  async deliver(settings, message, context) {
    const send = ({ headers, ...request }: ProviderRequest) =>
      sendProviderRequest(
        { ...request, headers: { ...headers, ...tracker.headers(settings) } },
        context,
        (response) => judgeTracker(tracker.service, response),
      );
    const state = findCaseState(message);
    const key = message.problem?.key ?? message.id;
    const found = await findIssue(tracker, settings, key, context);
    if (found !== null && "outcome" in found) return found;
    if (found === null)
      return state === "open"
        ? send(tracker.open(settings, cutText(message.title, 250), renderIssue(message, key)))
        : withoutIssue;
    if (found.text.includes(message.id)) return { outcome: "delivered" };
    const comment = tracker.comment(settings, found.number, renderComment(message));
    if (state !== "over") return send(comment);
    // Closed first, so that a repeated attempt adds no second comment.
    const closed = await send(tracker.close(settings, found.number));
    if (closed.outcome === "delivered") await send(comment);
    return closed;
  },
});

type Issue = { number: number; text: string };

/** Finds the open issue of a case; null if there is none, or a failure. */
async function findIssue<S>(
  { service, headers, list, fields }: Tracker<S>,
  settings: S,
  key: string,
  context: DeliveryContext,
): Promise<Issue | Verdict | null> {
  for (let page = 1; page <= maxPages; page++) {
    const response = await context.exchange(
      {
        url: new URL(list(settings, key, page)),
        method: "GET",
        headers: headers(settings),
        body: null,
        verifyTls: true,
      },
      { ...context, bodyMs: listTimeoutMs, maxBytes: maxListBytes },
    );
    const verdict = judgeTracker(service, response);
    if (verdict.outcome === "failed") return verdict;
    if (response.isUnfinished === true)
      return failTemporarily(`${service} did not send its open issues in time.`);
    const issues = parseJsonOrNull(response.body);
    if (!Array.isArray(issues)) return failUnconfirmed(response);
    for (const issue of issues.filter(isObject)) {
      const { [fields.number]: number, [fields.text]: text } = issue;
      if (typeof number === "number" && typeof text === "string" && text.includes(`${key} `))
        return { number, text };
    }
    if (issues.length < pageSize) return null;
  }
  return null;
}

const judgeTracker = (service: string, response: ShortResponse): Verdict => {
  const { headers, status } = response;
  // GitHub limits requests with 403, too.
  const isLimited = headers.get("x-ratelimit-remaining") === "0" || headers.has("retry-after");
  if (status === 403 && isLimited)
    return failTemporarily(`${service} accepts no more requests at present.`);
  return createStatusVerdict(service, {
    401: "the token is not valid",
    403: "the token is not allowed to change issues",
    404: "the project does not exist, or the token can't see it",
    410: "issues are switched off in the project",
  })(response);
};

/** Escapes Markdown, HTML, mentions, and the quick actions of GitLab, which start with a slash. */
const escapeText = (text: string): string =>
  disarmAt(escapeMarkdown(text).replaceAll("<", "\\<")).replace(/^\s*\//gm, "\\/");

const renderLines = (lines: readonly string[]): string =>
  cutText(lines.map(escapeText).join("\n").replaceAll("\n", "  \n"), 4_000);

const renderIssue = ({ id, lines, url }: Message, key: string): string =>
  `${renderLines(lines)}\n\nOpen in Signalbox: ${url}\n\n<!-- ${key} ${id} -->`;

function renderComment({ title, lines, problem }: Message): string {
  const note = problem?.change?.note;
  return renderLines(note === undefined ? [title, ...lines] : [note]);
}
