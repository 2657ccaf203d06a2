/** Converts conditions on a body, a JSON value or a header to assertions. */
import type { Fields } from "../../core/collections/objects.ts";
import { monitorBounds } from "../../core/limits.ts";
import {
  type Comparison,
  type Condition,
  escapeExpression,
  expectationIn,
  globSource,
  isSatisfied,
} from "./conditions.ts";
import { comparedNumber, integerIn } from "./values.ts";

const maxExpression = monitorBounds.assertionExpression.value;
const maxPath = monitorBounds.assertionPath.value;

/** Equivalent assertions, a constant result, or the reason why there is no equivalent. */
export type Judged =
  { assertions: Fields[] } | { always: true } | { never: true } | { lacks: string };

type Subject = { source: "body" | "json" | "header"; path: string | null };

const always = { always: true } as const;
const never = { never: true } as const;
const about = ({ source, path }: Subject, op: string, value: unknown): Judged => ({
  assertions: [{ source, ...(path !== null && { path }), op, value }],
});

export function judgedBody({ placeholder, op, expected }: Condition): Judged {
  const { call, path } = placeholder;
  if (path === "")
    return call === null
      ? judged({ source: "body", path: null }, op, expected)
      : judgedWholeBody(call, op, expected);
  const json = jsonPath(path);
  if (json === null) return { lacks: "its path can't be followed here" };
  const subject: Subject = { source: "json", path: json };
  if (call === "has") return presence(subject, op, expected);
  if (call === "len")
    return compared({ source: "json", path: `${json}.length()` }, op, expected, true);
  return judged(subject, op, expected);
}

export function judgedHeader({ placeholder, op, expected }: Condition): Judged {
  const subject: Subject = { source: "header", path: placeholder.path };
  if (placeholder.call === "has") return presence(subject, op, expected);
  if (placeholder.call === "len") return { lacks: "the length of a header can't be compared here" };
  return judged(subject, op, expected);
}

/** Judges presence or length of the body. Gatus counts the elements of a JSON list, otherwise bytes. */
function judgedWholeBody(call: "len" | "has", op: Comparison, expected: string): Judged {
  const holdsFor = (length: number) =>
    isSatisfied(op, expected, call === "has" ? String(length > 0) : String(length));
  const samples = [1, 2, 3, 100, 10_000];
  const body: Subject = { source: "body", path: null };
  // A body that contains only brackets is an empty list.
  const something = call === "has" ? "\\S" : "[^\\s\\[\\]]";
  if (samples.every(holdsFor)) return holdsFor(0) ? always : about(body, "matches", something);
  if (!samples.some(holdsFor)) return holdsFor(0) ? about(body, "notMatches", something) : never;
  return {
    lacks:
      "Gatus counts the elements of a list, but the bytes of a text. Use $.length() of the JSON value for a list",
  };
}

function presence(subject: Subject, op: Comparison, expected: string): Judged {
  const [ifThere, ifMissing] = ["true", "false"].map((text) => isSatisfied(op, expected, text));
  if (ifThere && ifMissing) return always;
  if (ifThere) return about(subject, "exists", null);
  return ifMissing ? about(subject, "notExists", null) : never;
}

function judged(subject: Subject, op: Comparison, expected: string): Judged {
  return op === "==" || op === "!="
    ? equality(subject, op === "==", expected)
    : compared(subject, op, expected, false);
}

function compared(subject: Subject, op: Comparison, expected: string, isLength: boolean): Judged {
  if (op === "==" || op === "!=") {
    const number = integerIn(expected);
    if (isLength && number !== null)
      return about(subject, op === "==" ? "equals" : "notEquals", number);
    return isLength
      ? equality(subject, op === "==", expected)
      : { lacks: "it compares no numbers" };
  }
  const bound = comparedNumber(expected);
  if (op === "<=") return about(subject, "lessThanOrEqual", bound);
  if (op === ">=") return about(subject, "greaterThanOrEqual", bound);
  return about(subject, op === "<" ? "lessThan" : "greaterThan", bound);
}

/** Converts a comparison with a text. Gatus treats JSON `1` and `"1"` as equal. */
function equality(subject: Subject, isWanted: boolean, expected: string): Judged {
  const expectation = expectationIn(expected);
  const search = (source: string) => searched(subject, isWanted, source);
  if (expectation.type === "options")
    return search(`(?:${expectation.options.map(escapeExpression).join("|")})`);
  if (expectation.type === "pattern") {
    const { pattern } = expectation;
    if (/^\*+$/.test(pattern)) return isWanted ? always : never;
    const [, part] = /^\*([^*?[\]\\/]+)\*$/s.exec(pattern) ?? [];
    if (part !== undefined && part.trim() === part)
      return about(subject, isWanted ? "contains" : "notContains", part);
    const source = globSource(pattern);
    if (source === null) return isWanted ? never : always;
    return search(source);
  }
  const { text } = expectation;
  const integer = integerIn(text);
  if (integer !== null) {
    const spellings = [...new Set([text, String(integer)])].map(escapeExpression);
    return search(spellings.length === 1 ? (spellings[0] ?? "") : `(?:${spellings.join("|")})`);
  }
  if (subject.source === "body") return search(escapeExpression(text));
  if (subject.source === "json") {
    if (text === "[]" || text === "{}")
      return about(
        { source: "json", path: `${subject.path}.length()` },
        isWanted ? "equals" : "notEquals",
        0,
      );
    if (/^[[{]/.test(text)) return { lacks: "it compares a list or an object as text" };
    // Gatus treats null at a path as missing.
    if (/^(?:null|<nil>)$/.test(text)) return isWanted ? never : always;
    if (/^(?:true|false|-?\d+\.\d+)$/.test(text)) return search(escapeExpression(text));
  }
  return about(subject, isWanted ? "equals" : "notEquals", text);
}

/** Returns an assertion that matches the whole text. Gatus trims the body first. */
function searched(subject: Subject, isWanted: boolean, source: string): Judged {
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
  return about(subject, isWanted ? "matches" : "notMatches", expression);
}

const bareName = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/** Converts `data[0].user-name` to `$.data[0].user-name`; null without an equivalent. */
function jsonPath(path: string): string | null {
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
