/** Decides what a mail reports: a problem, its end, or nothing, by words and expressions in its subject and text. */
import { createFairQueue } from "../../../core/collections/fair-queue.ts";
import { mailBounds } from "../../../core/limits.ts";
import {
  captureGroup,
  createSearchBudget,
  escapeExpression,
  isFound,
  type SearchBudget,
} from "../../../core/text/expressions.ts";
import type { Priority } from "../../../core/statuses.ts";
import { yieldToEventLoop } from "../../../core/time/event-loop.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import type { Report } from "../report-rules.ts";
import { type MailRules, type MailPattern, readPattern, usualEndings } from "../mail-schema.ts";
import { isUsualEnd } from "./ending-rules.ts";
import type { MailMessage } from "./message.ts";

/** Words of a problem that the key omits, so that the mail about the end has the same key. */
const problemWords =
  "problem failed failure fail fails failing unsuccessful error errors critical crit warning warn alert alarm firing down offline degraded unreachable not".split(
    " ",
  );

/** Searches one mail of an organization at a time. */
const searches = createFairQueue({ atOnce: 1, mostWaiting: mailBounds.searches.value });

/**
 * Returns the report of a mail; none for an ignored one. Throws VALIDATION_ERROR if it has no key, and RATE_LIMITED if
 * too many mails of the organization wait.
 */
export const readMailReports = (
  organizationId: string,
  mail: MailMessage,
  rules: MailRules | null,
): Promise<Report[]> =>
  searches.run(organizationId, () => searchMail(mail, rules, createSearchBudget()));

async function searchMail(
  mail: MailMessage,
  rules: MailRules | null,
  budget: SearchBudget,
): Promise<Report[]> {
  // An alert by mail of a Signalbox to its own source would open another alert, without end.
  if (mail.delivery !== "") return [];
  const { searchIn = "subject", key: keyPattern = null } = rules ?? {};
  const endings = rules?.resolvedWhen ?? usualEndings;
  const searched = searchIn === "subject" ? mail.subject : `${mail.subject}\n${mail.text}`;
  const [firstLine = ""] = mail.text.split("\n");
  const title = mail.subject || firstLine.trim() || `Mail from ${mail.from || "an unknown sender"}`;
  if (await matchesOne(rules?.ignoredWhen ?? [], searched, budget)) return [];
  const isEnd = Bun.deepEquals(endings, usualEndings)
    ? isUsualEnd(searched)
    : await matchesOne(endings, searched, budget);
  const problems = rules?.openWhen ?? [];
  if (!isEnd && problems.length > 0 && !(await matchesOne(problems, searched, budget))) return [];
  const key =
    keyPattern === null
      ? await findUsualKey(
          mail,
          [...endings, ...problems, ...problemWords, ...usualEndings],
          budget,
        )
      : await captureText(keyPattern, `${mail.subject}\n${mail.text}`, budget);
  if (key === "")
    throw invalidFieldError("mailRules.key", "finds nothing in the subject and the text");
  return [
    {
      key,
      status: isEnd ? "resolved" : "open",
      title,
      text: mail.text,
      priority: parseImportance(mail.importance),
      link: null,
      episode: null,
    },
  ];
}

/** Importance (RFC 2156), X-Priority (1 to 5) and Priority (RFC 2156). */
function parseImportance(importance: string): Priority | null {
  const first = importance.toLowerCase();
  if (/^(?:high|urgent|[12]\b)/.test(first)) return "critical";
  return /^(?:low|non-urgent|[45]\b)/.test(first) ? "low" : null;
}

/** Expressions match nothing after the searches of the mail have exceeded their limit. */
async function matchesOne(
  patterns: readonly MailPattern[],
  text: string,
  budget: SearchBudget,
): Promise<boolean> {
  for (const pattern of patterns) {
    const { word, expression } = readPattern(pattern);
    await yieldToEventLoop();
    if (
      word !== null
        ? buildWordPattern(word).test(text)
        : (await isFound(expression, text, runAfterYield, { budget })) === true
    )
      return true;
  }
  return false;
}

const runAfterYield = <T>(rest: () => Promise<T>): Promise<T> => yieldToEventLoop().then(rest);

async function captureText(
  expression: string,
  text: string,
  budget: SearchBudget,
): Promise<string> {
  const found = await captureGroup(expression, text, runAfterYield, { budget });
  return found === null || found === "too much work" ? "" : found.text.trim();
}

/** Finds whole words, without regard to case. */
const buildWordPattern = (word: string, flags = "iu") =>
  new RegExp(
    `(?<![\\p{L}\\p{N}])${escapeExpression(word.trim()).replace(/\s+/g, "\\s+")}(?![\\p{L}\\p{N}])`,
    flags,
  );

/** The subject without the words that describe the state. A subject that has only such words is replaced by the sender. */
async function findUsualKey(
  mail: MailMessage,
  patterns: readonly MailPattern[],
  budget: SearchBudget,
): Promise<string> {
  let rest = mail.subject;
  for (const pattern of new Set(patterns)) {
    const { word, expression } = readPattern(pattern);
    if (word !== null) rest = rest.replace(buildWordPattern(word, "giu"), " ");
    else {
      const found = await captureGroup(expression, rest, runAfterYield, { budget });
      if (found !== null && found !== "too much work" && found.text !== "")
        rest = rest.replace(found.text, () => " ");
    }
  }
  const key = rest
    .toLowerCase()
    .replace(/^(?:\s*(?:re|fwd?|aw|wg)\s*:)+/u, "")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
  return key === "" ? mail.from || "mail" : key;
}
