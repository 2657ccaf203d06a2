/** Parses conditions of Gatus, and tests whether a value satisfies one. */
import { escapeExpression } from "../../core/text/expressions.ts";
import { excerptText } from "../../core/text/formatting.ts";
import { parseOperand, parseInteger } from "./values.ts";

const comparisons = ["==", "!=", "<=", ">=", ">", "<"] as const;
/** Maximum length of a condition: twice that of an assertion's value. */
const maxLength = 2_000;
export type Comparison = (typeof comparisons)[number];

/** A placeholder such as `[BODY].user.name`, with the name `BODY` and the path `user.name`. */
type Placeholder = { name: string; path: string; call: "len" | "has" | null };

/** A comparison of a placeholder with a text. */
export type Condition = {
  written: string;
  placeholder: Placeholder;
  op: Comparison;
  expected: string;
};

export type ReadCondition =
  | Condition
  /** A comparison of two texts, whose result is constant. */
  | { written: string; isConstant: true; holds: boolean }
  | { written: string; unsupported: string };

const names = [
  "STATUS",
  "IP",
  "RESPONSE_TIME",
  "DNS_RCODE",
  "CONNECTED",
  "CERTIFICATE_EXPIRATION",
  "DOMAIN_EXPIRATION",
  "BODY",
  "HEADER",
  "CONTEXT",
];
const placeholderPattern = new RegExp(`^\\[(${names.join("|")})\\]$`, "i");
const withPath = /^\[(BODY|HEADER|CONTEXT)\](?:\.(.*)|(\[.*))$/is;

function parsePlaceholder(operand: string): Placeholder | null {
  const [, call = null, inner = operand] = /^(len|has)\((.*)\)$/s.exec(operand) ?? [];
  const [, name] = placeholderPattern.exec(inner) ?? [];
  const of = { call: call as Placeholder["call"] };
  if (name !== undefined) return { name: name.toUpperCase(), path: "", ...of };
  const [, base, path, index] = withPath.exec(inner) ?? [];
  if (base !== undefined)
    return { name: base.toUpperCase(), path: (path ?? index ?? "").replace(/^\./, ""), ...of };
  return call === null ? null : { name: "", path: "", ...of };
}

const mirroredComparisons: Record<Comparison, Comparison> = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/** Parses a condition as Gatus does: splits at the first operator between spaces, and uses the first two operands. */
export function readCondition(expression: string): ReadCondition {
  if (expression.length > maxLength)
    return { written: expression, unsupported: `has more than ${maxLength} characters` };
  const op =
    comparisons.find((one) => expression.includes(` ${one} `)) ??
    comparisons.find((one) => expression.includes(one));
  if (op === undefined) return { written: expression, unsupported: "has no operator" };
  const separator = expression.includes(` ${op} `) ? ` ${op} ` : op;
  const [left = "", right = ""] = expression.split(separator).map((operand) => operand.trim());
  const [first, second] = [parsePlaceholder(left), parsePlaceholder(right)];
  if (first !== null && second !== null)
    return {
      written: expression,
      unsupported: "compares two parts of a response with each other",
    };
  if (first !== null) return { written: expression, placeholder: first, op, expected: right };
  if (second !== null)
    return {
      written: expression,
      placeholder: second,
      op: mirroredComparisons[op],
      expected: left,
    };
  const call = [left, right].map((operand) => /^([a-z]+)\(.*\[/is.exec(operand)?.[1]).find(Boolean);
  if (call !== undefined && !["pat", "any"].includes(call))
    return { written: expression, unsupported: `calls ${call}(), which does not exist here` };
  return { written: expression, isConstant: true, holds: isSatisfied(op, right, left) };
}

/** Whether the operand satisfies the comparison by Gatus' rules. */
export const isSatisfied = (op: Comparison, expected: string, actual: string): boolean =>
  createConditionTest(op, expected)(actual);

/** Precompiled form of `isSatisfied`. */
export function createConditionTest(op: Comparison, expected: string): (actual: string) => boolean {
  if (op === "==") return createEqualityTest(expected);
  if (op === "!=") {
    const isEqual = createEqualityTest(expected);
    return (actual) => !isEqual(actual);
  }
  const bound = parseOperand(expected);
  if (op === "<") return (actual) => parseOperand(actual) < bound;
  if (op === ">") return (actual) => parseOperand(actual) > bound;
  if (op === "<=") return (actual) => parseOperand(actual) <= bound;
  return (actual) => parseOperand(actual) >= bound;
}

function createEqualityTest(expected: string): (actual: string) => boolean {
  const expectation = parseExpectation(expected);
  if (expectation.type === "pattern") return createGlobMatcher(expectation.pattern);
  if (expectation.type === "options") return (actual) => expectation.options.includes(actual);
  const integer = parseInteger(expected);
  return (actual) => {
    const other = integer === null ? null : parseInteger(actual);
    return other === null ? actual === expected : other === integer;
  };
}

type Expectation =
  | { type: "pattern"; pattern: string }
  | { type: "options"; options: string[] }
  | { type: "text"; text: string };

/** Parses `pat(…)`, `any(…)` or plain text. */
export function parseExpectation(expected: string): Expectation {
  const [, call, inner = ""] = /^(pat|any)\((.*)\)$/s.exec(expected) ?? [];
  if (call === "pat") return { type: "pattern", pattern: inner };
  if (call === "any")
    return { type: "options", options: inner.split(",").map((option) => option.trim()) };
  return { type: "text", text: expected };
}

/** Implements Go's filepath.Match without slashes, in time proportional to pattern × text. */
function createGlobMatcher(pattern: string): (text: string) => boolean {
  const sources = splitGlob(pattern.replaceAll("/", "")).map(convertGlobPart);
  if (sources.includes(null)) return () => false;
  const parts = sources.map((source) => (source === ".*" ? null : new RegExp(`^${source}$`, "su")));
  return (text) => {
    const characters = Array.from(text.replaceAll("/", ""));
    let reached = [0];
    for (const part of parts) {
      const [first = 0] = reached;
      if (reached.length === 0) return false;
      reached =
        part === null
          ? characters
              .slice(first)
              .map((_, index) => first + index)
              .concat(characters.length)
          : reached
              .filter((at) => at < characters.length && part.test(characters[at] ?? ""))
              .map((at) => at + 1);
    }
    return reached.includes(characters.length);
  };
}

/**
 * Converts a pattern of Go's filepath.Match to a regular expression for RE2 and JavaScript. Gatus removes all slashes
 * from pattern and text. Returns null for an invalid pattern.
 */
export function convertGlob(pattern: string): string | null {
  const sources = splitGlob(pattern).map(convertGlobPart);
  return sources.includes(null) ? null : sources.join("");
}

const part = /\*+|\/+|\\[\s\S]|\[\^?(?:\\[\s\S]|[^\]\\]){1,100}\]|[\s\S]/gu;
const splitGlob = (pattern: string): string[] => pattern.match(part) ?? [];

function convertGlobPart(part: string): string | null {
  if (part.startsWith("*")) return ".*";
  if (part.startsWith("/")) return "/*";
  if (part === "?") return "[^/]";
  if (part === "[" || part === "\\") return null;
  if (part.startsWith("\\")) return escapeExpression(part.slice(1));
  if (!part.startsWith("[") || part.length === 1) return escapeExpression(part);
  const [, not = "", members = ""] = /^\[(\^?)(.*)\]$/s.exec(part) ?? [];
  return `[${not}${members.replace(/\\?([\s\S])/gu, (_all, one: string) => (one === "-" ? "-" : escapeExpression(one)))}]`;
}

/** Shortens the condition for a sentence. */
export const quoteCondition = (written: string) => excerptText(written, 200);
