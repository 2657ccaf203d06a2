/** Converts assertions of HTTP monitors to conditions of Gatus: the reverse of `../gatus/assertions.ts`. */
import type { Fields } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";

/** An operand that Gatus reads as it is. Functions, placeholders, operators and glob characters need another form. */
export const isPlain = (value: string) =>
  !/[*?\\[\]]|^(?:pat|any|len|has|age)\(|^\s|\s$|\n| (?:[=!<>]=|[<>]) /.test(value) && value !== "";

const comparisons: Record<string, string> = {
  equals: "==",
  notEquals: "!=",
  lessThan: "<",
  lessThanOrEqual: "<=",
  greaterThan: ">",
  greaterThanOrEqual: ">=",
};

/** Returns the condition of an assertion; null without an equivalent. */
export function buildCondition({ source, path, op, value: expected }: Fields): string | null {
  const value = typeof expected === "boolean" ? String(expected) : toText(expected);
  const subject = buildSubject(String(source), path == null ? null : toText(path));
  if (subject === null) return null;
  if (op === "exists" || op === "notExists")
    return `has(${subject}) == ${op === "exists" ? "true" : "false"}`;
  if (op === "contains" || op === "notContains")
    return isPlain(value) ? `${subject} ${op === "contains" ? "==" : "!="} pat(*${value}*)` : null;
  if (op === "matches" || op === "notMatches")
    return buildPattern(subject, op === "matches" ? "==" : "!=", value);
  const operator = comparisons[String(op)];
  return operator !== undefined && isPlain(value) ? `${subject} ${operator} ${value}` : null;
}

function buildSubject(source: string, path: string | null): string | null {
  if (source === "body") return "[BODY]";
  if (source === "latency") return "[RESPONSE_TIME]";
  if (source === "header") return `[HEADER].${path}`;
  if (source !== "json" || path === null) return null;
  const [, inner = "", length] = /^\$\.?(.*?)(\.length\(\))?$/s.exec(path) ?? [];
  if (/\.\.|\*|\(|\?/.test(inner)) return null;
  const subject = inner === "" ? "[BODY]" : `[BODY]${inner.startsWith("[") ? "" : "."}${inner}`;
  return length === undefined ? subject : `len(${subject})`;
}

/** Recognizes the expressions that an import of Gatus' texts and lists creates. */
function buildPattern(subject: string, operator: string, expression: string): string | null {
  const [, inner] = /^\^(?:\\s\*)?(.*?)(?:\\s\*)?\$$/s.exec(expression) ?? [];
  if (inner === undefined) return null;
  const [, options] = /^\(\?:(.*)\)$/s.exec(inner) ?? [];
  const texts = (options === undefined ? [inner] : options.split("|")).map(unescapeLiteral);
  if (texts.some((text) => text === null || !isPlain(text) || text.includes(","))) return null;
  return `${subject} ${operator} ${options === undefined ? texts[0] : `any(${texts.join(", ")})`}`;
}

/** Returns the only text that an expression matches; null if it matches several. */
function unescapeLiteral(expression: string): string | null {
  const unescaped = expression.replace(/\\[^A-Za-z0-9]/g, "");
  return /[\\^$.*+?()[\]{}|]/.test(unescaped) ? null : expression.replace(/\\(.)/gs, "$1");
}

/** Returns the conditions on the status code. */
export function buildStatusConditions(expected: readonly string[]): string[] {
  const isAll = expected.length === 1 && /^100-[59]99$/.test(expected[0] ?? "");
  if (isAll) return [];
  const [only, ...others] = expected;
  const [, from, to] = /^(\d+)-(\d+)$/.exec(only ?? "") ?? [];
  if (others.length === 0 && from !== undefined)
    return [
      ...(from === "100" ? [] : [`[STATUS] >= ${from}`]),
      ...(to === "599" || to === "999" ? [] : [`[STATUS] <= ${to}`]),
    ];
  const codes = expected.flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return [codes.length === 1 ? `[STATUS] == ${codes[0]}` : `[STATUS] == any(${codes.join(", ")})`];
}
