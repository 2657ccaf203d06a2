/** Parses conditions of Gatus, and tests whether a value satisfies one. */
import { excerpt } from "../../core/text/words.ts";
import { comparedNumber, integerIn } from "./values.ts";

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
const plain = new RegExp(`^\\[(${names.join("|")})\\]$`, "i");
const withPath = /^\[(BODY|HEADER|CONTEXT)\](?:\.(.*)|(\[.*))$/is;

function placeholderIn(operand: string): Placeholder | null {
  const [, call = null, inner = operand] = /^(len|has)\((.*)\)$/s.exec(operand) ?? [];
  const [, name] = plain.exec(inner) ?? [];
  const of = { call: call as Placeholder["call"] };
  if (name !== undefined) return { name: name.toUpperCase(), path: "", ...of };
  const [, base, path, index] = withPath.exec(inner) ?? [];
  if (base !== undefined)
    return { name: base.toUpperCase(), path: (path ?? index ?? "").replace(/^\./, ""), ...of };
  return call === null ? null : { name: "", path: "", ...of };
}

const mirrored: Record<Comparison, Comparison> = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/** Parses a condition as Gatus does: splits at the first operator between spaces, and uses the first two operands. */
export function readCondition(written: string): ReadCondition {
  if (written.length > maxLength)
    return { written, unsupported: `has more than ${maxLength} characters` };
  const op =
    comparisons.find((one) => written.includes(` ${one} `)) ??
    comparisons.find((one) => written.includes(one));
  if (op === undefined) return { written, unsupported: "has no operator" };
  const separator = written.includes(` ${op} `) ? ` ${op} ` : op;
  const [left = "", right = ""] = written.split(separator).map((operand) => operand.trim());
  const [first, second] = [placeholderIn(left), placeholderIn(right)];
  if (first !== null && second !== null)
    return { written, unsupported: "compares two parts of an answer with each other" };
  if (first !== null) return { written, placeholder: first, op, expected: right };
  if (second !== null) return { written, placeholder: second, op: mirrored[op], expected: left };
  return { written, isConstant: true, holds: isSatisfied(op, right, left) };
}

/** Whether the operand satisfies the comparison by Gatus' rules. */
export const isSatisfied = (op: Comparison, expected: string, actual: string): boolean =>
  satisfying(op, expected)(actual);

/** Precompiled form of `isSatisfied`. */
export function satisfying(op: Comparison, expected: string): (actual: string) => boolean {
  if (op === "==") return equaling(expected);
  if (op === "!=") {
    const isEqual = equaling(expected);
    return (actual) => !isEqual(actual);
  }
  const bound = comparedNumber(expected);
  if (op === "<") return (actual) => comparedNumber(actual) < bound;
  if (op === ">") return (actual) => comparedNumber(actual) > bound;
  if (op === "<=") return (actual) => comparedNumber(actual) <= bound;
  return (actual) => comparedNumber(actual) >= bound;
}

function equaling(expected: string): (actual: string) => boolean {
  const wanted = expectationIn(expected);
  if (wanted.type === "pattern") return globMatcher(wanted.pattern);
  if (wanted.type === "options") return (actual) => wanted.options.includes(actual);
  const integer = integerIn(expected);
  return (actual) => {
    const other = integer === null ? null : integerIn(actual);
    return other === null ? actual === expected : other === integer;
  };
}

type Expectation =
  | { type: "pattern"; pattern: string }
  | { type: "options"; options: string[] }
  | { type: "text"; text: string };

/** Parses `pat(…)`, `any(…)` or plain text. */
export function expectationIn(expected: string): Expectation {
  const [, call, inner = ""] = /^(pat|any)\((.*)\)$/s.exec(expected) ?? [];
  if (call === "pat") return { type: "pattern", pattern: inner };
  if (call === "any")
    return { type: "options", options: inner.split(",").map((option) => option.trim()) };
  return { type: "text", text: expected };
}

export const escapeExpression = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Implements Go's filepath.Match without slashes, in time proportional to pattern × text. */
function globMatcher(pattern: string): (text: string) => boolean {
  const sources = partsOf(pattern.replaceAll("/", "")).map(partSource);
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
export function globSource(pattern: string): string | null {
  const sources = partsOf(pattern).map(partSource);
  return sources.includes(null) ? null : sources.join("");
}

const part = /\*+|\/+|\\[\s\S]|\[\^?(?:\\[\s\S]|[^\]\\]){1,100}\]|[\s\S]/gu;
const partsOf = (pattern: string): string[] => pattern.match(part) ?? [];

function partSource(part: string): string | null {
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
export const quoted = (written: string) => excerpt(written, 200);
