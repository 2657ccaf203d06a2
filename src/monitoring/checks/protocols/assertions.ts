/** Judges a response by assertions, and keeps the secrets of the monitor out of failure messages. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { credentialName } from "../../../core/fields.ts";
import { compareDecimals, LongNumber } from "../../../core/text/decimals.ts";
import { isFound, type SearchOutcome } from "../../../core/text/expressions.ts";
import { escapeXml, excerptText } from "../../../core/text/formatting.ts";
import type { Assertion } from "../../monitors/assertions-schema.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import type { CheckContext } from "../check.ts";

type Settings = MonitorSettings<"http">;
/** Returns the values that a monitor sends and that messages must not contain. */
export type Secrets = () => readonly string[];
type SearchContext = Pick<CheckContext, "inTurn" | "signal">;

/** A condition on a response: a numbered assertion, or a short form such as `keyword`, which has no number. */
export type Condition = Pick<Assertion, "source" | "path"> & {
  op: Assertion["op"] | "within";
  value: Assertion["value"] | readonly string[];
  number: number | null;
};

type Conditions = Pick<
  Settings,
  "expectedStatus" | "keyword" | "keywordAbsent" | "jsonPath" | "jsonEquals" | "assertions"
>;

/** Lists the conditions of a request or step in the order in which they are judged: short forms, then assertions. */
export function buildConditions(settings: Conditions): readonly Condition[] {
  const { expectedStatus, keyword, keywordAbsent, jsonPath, jsonEquals, assertions } = settings;
  const shorthand = { path: null, number: null };
  const conditions: Condition[] = [
    { ...shorthand, source: "status", op: "within", value: expectedStatus },
  ];
  if (keyword !== null)
    conditions.push({ ...shorthand, source: "body", op: "contains", value: keyword });
  if (keywordAbsent !== null)
    conditions.push({ ...shorthand, source: "body", op: "notContains", value: keywordAbsent });
  if (jsonPath !== null) {
    const op = jsonEquals === null ? "exists" : "equals";
    conditions.push({ ...shorthand, source: "json", path: jsonPath, op, value: jsonEquals });
  }
  for (const [index, assertion] of assertions.entries())
    conditions.push({ ...assertion, number: index + 1 });
  return conditions;
}

/**
 * Why a condition is violated, as the end of a sentence. `serverText` also quotes the response, for the organization only.
 */
export type Issue = { message: string; serverText?: string };

/** A part of a response: its value, undefined if it is absent, or the reason why it can't be read. */
export type Received = { value: unknown } | { unreadable: string };

/** Returns why the received value violates the condition; null if it satisfies it. */
export async function findIssue(
  condition: Condition,
  received: Received,
  secrets: Secrets,
  context: SearchContext,
): Promise<Issue | null> {
  if ("unreadable" in received) return buildIssue(condition, received.unreadable);
  const { op } = condition;
  const isPresence = op === "exists" || op === "notExists";
  const isNothing = condition.source === "body" && isPresence && received.value === "";
  const value = isNothing ? undefined : received.value;
  const found = isSearch(op)
    ? await matchesExpression(String(condition.value), value, context)
    : isFulfilled(condition, value);
  if (found === (op !== "notMatches")) return null;
  if (found === "too much work")
    return buildIssue(condition, "its expression is too expensive for this response");
  return describeMismatch(condition, value, secrets);
}

/** Creates the issue for a value other than the expected one. */
export function describeMismatch(condition: Condition, value: unknown, secrets: Secrets): Issue {
  const { number, path, op } = condition;
  if (op === "within")
    return { message: `expected ${(condition.value as readonly string[]).join(" or ")}` };
  if (number === null)
    return buildIssue(
      condition,
      value === undefined ? `it has nothing at ${path}` : `the value at ${path} is another`,
    );
  return buildIssue(
    condition,
    describeRequirement(condition),
    `, received ${formatShown(condition, value, secrets)}`,
  );
}

/** Creates an issue. For an assertion, the message contains its number. */
export function buildIssue({ number }: Condition, why: string, received?: string): Issue {
  const message = number === null ? `but ${why}` : `but assertion ${number} failed: ${why}`;
  return received === undefined ? { message } : { message, serverText: `${message}${received}` };
}

/** Whether the operator searches with a regular expression, which can take several turns of the event loop. */
export const isSearch = (op: Condition["op"]) => op === "matches" || op === "notMatches";

/** Whether a value satisfies a condition without a regular expression. */
export function isFulfilled({ op, value }: Condition, received: unknown): boolean {
  switch (op) {
    case "within":
      return (value as readonly string[]).some((range) => isInRange(range, Number(received)));
    case "exists":
      return received !== undefined;
    case "notExists":
      return received === undefined;
    case "equals":
      return isEqual(received, value);
    case "notEquals":
      return !isEqual(received, value);
    case "contains":
      return containsValue(received, value);
    case "notContains":
      return !containsValue(received, value);
    case "lessThan":
      return compareValues(received, value) < 0;
    case "lessThanOrEqual":
      return compareValues(received, value) <= 0;
    case "greaterThan":
      return compareValues(received, value) > 0;
    case "greaterThanOrEqual":
      return compareValues(received, value) >= 0;
    case "matches":
    case "notMatches":
      throw new Error("An expression is searched for.");
  }
}

export function isInRange(range: string, status: number): boolean {
  const [from, to = from] = range.split("-");
  return Number(from) <= status && status <= Number(to);
}

function containsValue(received: unknown, value: Condition["value"]): boolean {
  if (Array.isArray(received)) return received.some((element) => isEqual(element, value));
  if (typeof value !== "string") return false;
  if (received instanceof LongNumber) return received.text.includes(value);
  return typeof received === "string" && received.includes(value);
}

/** Whether value and type are equal. A long number also equals its text. */
function isEqual(received: unknown, value: Condition["value"]): boolean {
  if (!(received instanceof LongNumber)) return received === value;
  if (typeof value !== "number") return received.text === value;
  return Number(received.text) === value && compareDecimals(received.text, String(value)) === 0;
}

/**
 * Compares two numbers exactly, also as text. Returns NaN unless both are numbers, so that all comparisons are false.
 */
function compareValues(received: unknown, value: Condition["value"]): number {
  return isScalar(received) ? compareDecimals(String(received), String(value)) : Number.NaN;
}

async function matchesExpression(
  expression: string,
  received: unknown,
  context: SearchContext,
): Promise<SearchOutcome> {
  if (!isScalar(received)) return false;
  return isFound(expression, String(received), context.inTurn, { signal: context.signal });
}

/** Whether a value is a text, a number or a boolean. */
const isScalar = (value: unknown): value is string | number | boolean | LongNumber =>
  ["string", "number", "boolean"].includes(typeof value) || value instanceof LongNumber;

const sourceNames: Record<Assertion["source"], string> = {
  status: "the status",
  header: "the header",
  body: "the body",
  json: "the value at",
  latency: "the latency in ms",
  certificateDays: "the days until the certificate expires",
  redirectCount: "the number of redirects",
};

const requirements: Record<Condition["op"], string> = {
  within: "must be within",
  equals: "must be",
  notEquals: "must not be",
  contains: "must contain",
  notContains: "must not contain",
  matches: "must match",
  notMatches: "must not match",
  lessThan: "must be less than",
  lessThanOrEqual: "must be at most",
  greaterThan: "must be greater than",
  greaterThanOrEqual: "must be at least",
  exists: "must be there",
  notExists: "must not be there",
};

/** Describes a condition, such as `the value at $.queue must be less than 100`. */
function describeRequirement({ source, path, op, value }: Condition): string {
  const subject =
    path === null ? sourceNames[source] : `${sourceNames[source]} ${excerptText(path)}`;
  const compares = op !== "exists" && op !== "notExists";
  return `${subject} ${requirements[op]}${compares ? ` ${formatValue(value)}` : ""}`;
}

/** Maximum characters of a received value in a message. */
const maxShown = 100;

/** Maximum UTF-16 units of a text in a message, for at most 200 code points. */
const shownUnits = 2 * 200 + 2;
/** UTF-16 units at the start of a text that are needed to write an issue. */
export const startNeeded = 2 * shownUnits;

function formatShown({ source, path }: Condition, value: unknown, secrets: Secrets): string {
  const text = isScalar(value) ? String(value) : "";
  const isCredential =
    (source === "header" || source === "json") && credentialName.test(path ?? "");
  if (value !== undefined && (isCredential || repeatsSecret(text, secrets)))
    return "what may hold a credential and is not shown";
  return formatValue(value);
}

function formatValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (value instanceof LongNumber) return excerptText(value.text, maxShown);
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "string" ? `"${excerptText(value, maxShown)}"` : JSON.stringify(value);
}

/** Whether the value of a header may be shown. All other headers of a monitor count as secrets. */
export const isPlainHeader = (name: string) =>
  /^(accept.*|cache-control|content-type|pragma|sec-websocket-protocol|user-agent)$/i.test(name);

/** Lists the secrets that a monitor sends. Messages must not contain them, although a response can repeat them. */
export function secretsOf(settings: Settings): string[] {
  const { basicAuth, bearerToken, oauth2, headers, variables } = settings;
  const { proxyUsername, proxyPassword } = settings;
  const { username = "", password } = basicAuth ?? {};
  const encodePair = (name: string, word: string) =>
    Buffer.from(`${name}:${word}`).toString("base64");
  const sent = [
    bearerToken,
    oauth2?.clientSecret,
    ...Object.values(variables),
    password,
    password == null ? null : encodePair(username, password),
    proxyPassword,
    proxyPassword === null ? null : encodePair(proxyUsername ?? "", proxyPassword),
    ...Object.entries(headers).map(([name, value]) => (isPlainHeader(name) ? null : value)),
  ];
  return sent.filter((text): text is string => typeof text === "string");
}

/** UTF-16 units of a secret to compare: more than a message contains, because invisible characters are ignored. */
const comparedUnits = 2 * shownUnits;
/** Minimum UTF-16 units at the end of the shown text that count as the start of a secret. */
const minUnits = 4;

/** Whether the shown part of a text contains a secret or ends with the start of one, in any encoding. */
export const repeatsSecret = (text: string, secrets: Secrets): boolean =>
  createSecretFinder(secrets)(text);

/** Creates a `repeatsSecret` for several texts. Computes the starts of secrets once, and full encodings only after a match. */
export function createSecretFinder(secrets: Secrets): (text: string) => boolean {
  let known: { secret: string; starts: string[] }[] | null = null;
  return (text) => {
    const shownPart = text.slice(0, shownUnits);
    const normalized = normalizeSeen(shownPart);
    if (normalized === "") return false;
    known ??= secrets().map((secret) => ({ secret, starts: listStarts(secret) }));
    const isCut = shownPart.length < text.length;
    return known.some(
      ({ secret, starts }) =>
        starts.some((start) => normalized.includes(start)) &&
        listSpellings(secret).some((spelling) => isShown(spelling, normalized, isCut)),
    );
  };
}

/** Returns the starts of all encodings of a secret, with and without its leading invisible characters. */
function listStarts(secret: string): string[] {
  const first = secret.slice(0, 2 * minUnits);
  const seen = normalizeSeen(first);
  const visible =
    seen.length === first.length
      ? ""
      : normalizeSeen(secret.slice(0, comparedUnits)).slice(0, first.length);
  const starts = [...listSpellings(first), ...listSpellings(visible)];
  return [...new Set(starts.map((start) => start.slice(0, minUnits)))];
}

/** Whether a text contains the secret, or ends with its start if the text was cut. */
function isShown(secret: string, text: string, isCut: boolean): boolean {
  if (text.includes(secret)) return true;
  if (!isCut) return false;
  const start = secret.slice(0, minUnits);
  const last = text.at(-1);
  for (let from = text.indexOf(start); from !== -1; from = text.indexOf(start, from + 1))
    if (secret[text.length - from - 1] === last && secret.startsWith(text.slice(from))) return true;
  return false;
}

/** Returns the encodings in which a response can repeat a secret, normalized by `normalizeSeen`. */
function listSpellings(whole: string): string[] {
  const secret = whole.slice(0, comparedUnits);
  if (secret === "") return [];
  const bytes = Buffer.from(secret);
  const spellings = [
    secret,
    bytes.toString("base64"),
    bytes.toString("hex"),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    // Form, XML and HTML encoding.
    new URLSearchParams({ secret }).toString().slice("secret=".length),
    escapeXml(secret),
    Bun.escapeHTML(secret),
  ];
  return [...new Set(spellings.map(normalizeSeen))].filter((spelling) => spelling !== "");
}

/** Removes invisible characters and letter case, so that such differences do not hide a secret. */
const normalizeSeen = (text: string) => text.replace(/[\p{C}\p{Z}]/gu, "").toLowerCase();

/**
 * Throws TargetFailure for the first violated assertion. The message starts with `opening`. `received` returns the value
 * that an assertion compares.
 */
export async function assertAllHold(
  assertions: readonly Assertion[],
  received: (assertion: Assertion) => Received,
  opening: string,
  secrets: Secrets,
  context: SearchContext,
) {
  for (const [index, assertion] of assertions.entries()) {
    const condition = { ...assertion, number: index + 1 };
    const issue = await findIssue(condition, received(assertion), secrets, context);
    if (issue === null) continue;
    const formatSentence = (words: string) => `${opening}, ${words}.`;
    throw new TargetFailure(
      formatSentence(issue.message),
      false,
      issue.serverText && formatSentence(issue.serverText),
    );
  }
}
