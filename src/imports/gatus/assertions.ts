/** Converts conditions on a body, a JSON value or a header to assertions. */
import type { Fields } from "../../core/collections/objects.ts";
import { escapeExpression } from "../../core/text/expressions.ts";
import { monitorBounds } from "../../core/limits.ts";
import {
  type Comparison,
  type Condition,
  parseExpectation,
  convertGlob,
  isSatisfied,
} from "./conditions.ts";
import { parseOperand, parseInteger } from "./values.ts";

const maxExpression = monitorBounds.assertionExpression.value;
const maxPath = monitorBounds.assertionPath.value;

/** Equivalent assertions, a constant result, or the reason why there is no equivalent. */
export type ConditionOutcome =
  { assertions: Fields[] } | { always: true } | { never: true } | { lacks: string };

type Subject = { source: "body" | "json" | "header"; path: string | null };

const alwaysHolds = { always: true } as const;
const neverHolds = { never: true } as const;
const createAssertion = (
  { source, path }: Subject,
  op: string,
  value: unknown,
): ConditionOutcome => ({
  assertions: [{ source, ...(path !== null && { path }), op, value }],
});

export function judgeBody({ placeholder, op, expected }: Condition): ConditionOutcome {
  const { call, path } = placeholder;
  if (path === "")
    return call === null
      ? judgeSubject({ source: "body", path: null }, op, expected)
      : judgeWholeBody(call, op, expected);
  const json = toJsonPath(path);
  if (json === null) return { lacks: "its path can't be followed here" };
  const subject: Subject = { source: "json", path: json };
  if (call === "has") return judgePresence(subject, op, expected);
  if (call === "len")
    return judgeComparison({ source: "json", path: `${json}.length()` }, op, expected, true);
  return judgeSubject(subject, op, expected);
}

export function judgeHeader({ placeholder, op, expected }: Condition): ConditionOutcome {
  const subject: Subject = { source: "header", path: placeholder.path };
  if (placeholder.call === "has") return judgePresence(subject, op, expected);
  if (placeholder.call === "len") return { lacks: "the length of a header can't be compared here" };
  return judgeSubject(subject, op, expected);
}

/** Judges presence or length of the body. Gatus counts the elements of a JSON list, otherwise bytes. */
function judgeWholeBody(call: "len" | "has", op: Comparison, expected: string): ConditionOutcome {
  const isHolding = (length: number) =>
    isSatisfied(op, expected, call === "has" ? String(length > 0) : String(length));
  const samples = [1, 2, 3, 100, 10_000];
  const body: Subject = { source: "body", path: null };
  // A body that contains only brackets is an empty list.
  const something = call === "has" ? "\\S" : "[^\\s\\[\\]]";
  if (samples.every(isHolding))
    return isHolding(0) ? alwaysHolds : createAssertion(body, "matches", something);
  if (!samples.some(isHolding))
    return isHolding(0) ? createAssertion(body, "notMatches", something) : neverHolds;
  return {
    lacks:
      "Gatus counts the elements of a list, but the bytes of a text. Use $.length() of the JSON value for a list",
  };
}

function judgePresence(subject: Subject, op: Comparison, expected: string): ConditionOutcome {
  const [ifThere, ifMissing] = ["true", "false"].map((text) => isSatisfied(op, expected, text));
  if (ifThere && ifMissing) return alwaysHolds;
  if (ifThere) return createAssertion(subject, "exists", null);
  return ifMissing ? createAssertion(subject, "notExists", null) : neverHolds;
}

function judgeSubject(subject: Subject, op: Comparison, expected: string): ConditionOutcome {
  return op === "==" || op === "!="
    ? judgeEquality(subject, op === "==", expected)
    : judgeComparison(subject, op, expected, false);
}

function judgeComparison(
  subject: Subject,
  op: Comparison,
  expected: string,
  isLength: boolean,
): ConditionOutcome {
  if (op === "==" || op === "!=") {
    const number = parseInteger(expected);
    if (isLength && number !== null)
      return createAssertion(subject, op === "==" ? "equals" : "notEquals", number);
    return isLength
      ? judgeEquality(subject, op === "==", expected)
      : { lacks: "it compares no numbers" };
  }
  const bound = parseOperand(expected);
  if (op === "<=") return createAssertion(subject, "lessThanOrEqual", bound);
  if (op === ">=") return createAssertion(subject, "greaterThanOrEqual", bound);
  return createAssertion(subject, op === "<" ? "lessThan" : "greaterThan", bound);
}

/** Converts a comparison with a text. Gatus treats JSON `1` and `"1"` as equal. */
function judgeEquality(subject: Subject, isWanted: boolean, expected: string): ConditionOutcome {
  const expectation = parseExpectation(expected);
  const searchSubject = (source: string) => judgePattern(subject, isWanted, source);
  if (expectation.type === "options")
    return searchSubject(`(?:${expectation.options.map(escapeExpression).join("|")})`);
  if (expectation.type === "pattern") {
    const { pattern } = expectation;
    if (/^\*+$/.test(pattern)) return isWanted ? alwaysHolds : neverHolds;
    const [, part] = /^\*([^*?[\]\\/]+)\*$/s.exec(pattern) ?? [];
    if (part !== undefined && part.trim() === part)
      return createAssertion(subject, isWanted ? "contains" : "notContains", part);
    const source = convertGlob(pattern);
    if (source === null) return isWanted ? neverHolds : alwaysHolds;
    return searchSubject(source);
  }
  const { text } = expectation;
  const integer = parseInteger(text);
  if (integer !== null) {
    const spellings = [...new Set([text, String(integer)])].map(escapeExpression);
    return searchSubject(
      spellings.length === 1 ? (spellings[0] ?? "") : `(?:${spellings.join("|")})`,
    );
  }
  if (subject.source === "body") return searchSubject(escapeExpression(text));
  if (subject.source === "json") {
    if (text === "[]" || text === "{}")
      return createAssertion(
        { source: "json", path: `${subject.path}.length()` },
        isWanted ? "equals" : "notEquals",
        0,
      );
    if (/^[[{]/.test(text)) return { lacks: "it compares a list or an object as text" };
    // Gatus treats null at a path as missing.
    if (/^(?:null|<nil>)$/.test(text)) return isWanted ? neverHolds : alwaysHolds;
    if (/^(?:true|false|-?\d+\.\d+)$/.test(text)) return searchSubject(escapeExpression(text));
  }
  return createAssertion(subject, isWanted ? "equals" : "notEquals", text);
}

/** Returns an assertion that matches the whole text. Gatus trims the body first. */
function judgePattern(subject: Subject, isWanted: boolean, source: string): ConditionOutcome {
  const flags = source.includes(".*") ? "(?s)" : "";
  const body = subject.source === "body";
  const start = body && !source.startsWith(".*") ? "^\\s*" : "^";
  const end = body && !source.endsWith(".*") ? "\\s*$" : "$";
  const expression = `${flags}${start}${source}${end}`
    .replace(/^(\(\?s\))\^\.\*/, "$1")
    .replace(/\.\*\$$/, "");
  if (Array.from(expression).length > maxExpression)
    return {
      lacks: `its text is too long for a regular expression of ${maxExpression} characters`,
    };
  return createAssertion(subject, isWanted ? "matches" : "notMatches", expression);
}

const bareName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/** Converts `data[0].user-name` to `$.data[0].user-name`; null without an equivalent. */
function toJsonPath(path: string): string | null {
  let result = "$";
  for (const key of path.split(/\.(?![^[]*\])/)) {
    const [, name = "", indexes = ""] = /^(.*?)((?:\[\d+\])*)$/s.exec(key) ?? [];
    if (name === "" && indexes === "") return null;
    if (name.includes("[") || name.includes("]")) return null;
    if (name !== "" && bareName.test(name)) result += `.${name}`;
    else if (name !== "") {
      if (/[\\\p{Cc}]/u.test(name) || (name.includes("'") && name.includes('"'))) return null;
      result += name.includes("'") ? `["${name}"]` : `['${name}']`;
    }
    result += indexes.replace(/\[0+(?=\d)/g, "[");
  }
  return result.length > maxPath - ".length()".length ? null : result;
}
