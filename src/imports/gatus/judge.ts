/** Converts the conditions of a Gatus endpoint to monitor fields. */
import type { Fields } from "../../core/collections/objects.ts";
import { clamp } from "../values.ts";
import { judgeBody, judgeHeader, type ConditionOutcome } from "./assertions.ts";
import {
  type Condition,
  parseExpectation,
  isSatisfied,
  quoteCondition,
  type ReadCondition,
  readCondition,
  createConditionTest,
} from "./conditions.ts";
import type { Target } from "./targets.ts";
import { parseOperand, parseInteger } from "./values.ts";

const daySeconds = 86_400;

/** Requirements that need more than fields of the monitor. */
export type Judgment = {
  /** Whether the monitor is up when the check fails. */
  inverted: boolean;
  /** Addresses that the host must resolve to, from `[IP]` conditions. */
  addresses: string[];
  /** Minimum days until the domain expires; null without such a condition. */
  domainDays: number | null;
  /** Whether a missing value fails a comparison here. Gatus compares it as 0. */
  comparesNumbers: boolean;
};

const anyStatus = "100-599";
const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
/** Maximum number of conditions, above the number of assertions of a monitor. */
const maxConditions = 100;
/** Maximum number of ranges in `expectedStatus`. */
const maxRanges = 20;

/** Adds all conditions to the target's fields, notes and missing parts. */
export function applyConditions(conditions: readonly string[], target: Target): Judgment {
  const { missing, notes, type } = target;
  const judgment: Judgment = {
    inverted: false,
    addresses: [],
    domainDays: null,
    comparesNumbers: false,
  };
  if (conditions.length > maxConditions)
    missing.push(`${conditions.length - maxConditions} of ${conditions.length} conditions`);
  const statusConditions: Condition[] = [];
  for (const expression of conditions.slice(0, maxConditions)) {
    const condition = readCondition(expression);
    if ("placeholder" in condition && isMisread(condition))
      notes.push(
        `Gatus compares with 0 in ${quoteCondition(expression)}: “${quoteCondition(condition.expected)}” is not a number.`,
      );
    if ("placeholder" in condition && condition.placeholder.name === "STATUS" && type === "http")
      statusConditions.push(condition);
    else applyJudgment(judgeCondition(condition, target, judgment), expression, target);
  }
  applyStatuses(statusConditions, target);
  if (type === "dns" && String(target.fields["expected"]) === "")
    notes.push("Also down if the name has no such record. Gatus only reads the response code.");
  const { assertions = [], expectedStatus = anyStatus } = target.fields;
  const judgesAnswers =
    (assertions as unknown[]).length > 0 || String(expectedStatus) !== anyStatus;
  if (judgment.inverted && judgesAnswers)
    missing.push("[CONNECTED] == false together with conditions on a response");
  return judgment;
}

function applyJudgment(
  judged: ConditionOutcome | "done",
  written: string,
  { fields, missing, notes }: Target,
) {
  if (judged === "done") return;
  if ("lacks" in judged) missing.push(`the condition ${quoteCondition(written)}: ${judged.lacks}`);
  else if ("never" in judged)
    missing.push(`the condition ${quoteCondition(written)}: it never holds in Gatus either`);
  else if ("always" in judged)
    notes.push(
      `Without the condition ${quoteCondition(written)}, which is always satisfied in Gatus.`,
    );
  else addAssertions(fields, judged.assertions);
}

/** Returns a test for status codes. `has([STATUS])` is always true. */
function createStatusTest({ op, expected, placeholder }: Condition): (status: number) => boolean {
  if (placeholder.call === "has") return () => isSatisfied(op, expected, "true");
  // Avoids parsing 500 status texts.
  const number = parseInteger(expected);
  if (number !== null && op === "==") return (status) => status === number;
  if (number !== null && op === "!=") return (status) => status !== number;
  const isFine = createConditionTest(op, expected);
  return (status) => isFine(String(status));
}

/** Whether Gatus reads the compared text as 0. This happens with a second condition after `&&`. */
const isMisread = ({ op, expected }: Condition) =>
  /[<>]/.test(op) && parseOperand(expected) === 0 && !/^[+-]?[0.]+[a-zµμ]*$/.test(expected);

const judgeConstant = (holds: boolean): ConditionOutcome =>
  holds ? { always: true } : { never: true };

function addAssertions(fields: Fields, assertions: readonly Fields[]) {
  const known = fields["assertions"] as Fields[];
  for (const assertion of assertions)
    if (!known.some((one) => JSON.stringify(one) === JSON.stringify(assertion)))
      known.push(assertion);
}

/** Sets the status codes that satisfy all conditions. */
function applyStatuses(conditions: readonly Condition[], { fields, missing, notes }: Target) {
  if (conditions.length === 0) return;
  const tests = conditions.map(createStatusTest);
  const isSatisfyingAll = (status: number) => tests.every((test) => test(status));
  const ranges = formatRanges(listCandidates(conditions).filter(isSatisfyingAll));
  const writtenConditions = conditions.map((one) => quoteCondition(one.written)).join(" and ");
  if (ranges.length === 0)
    missing.push(
      [600, 999].some(isSatisfyingAll)
        ? `the condition ${writtenConditions}: HTTP has no status above 599`
        : `the condition ${writtenConditions}: no status satisfies it`,
    );
  else if (ranges.length > maxRanges)
    missing.push(
      `the condition ${writtenConditions}: it has more than ${maxRanges} ranges of statuses`,
    );
  else {
    fields["expectedStatus"] = ranges;
    const odd = conditions.filter(({ expected }) => /^any\(.*\b[6-9]\d\d\b/.test(expected));
    for (const one of odd)
      notes.push(
        `HTTP has no status above 599: that part of ${quoteCondition(one.written)} is left out.`,
      );
  }
}

/** Returns the status codes to test. A condition usually requires one code, so only that one is tested. */
function listCandidates(conditions: readonly Condition[]): readonly number[] {
  for (const { op, expected, placeholder } of conditions) {
    const number = op === "==" && placeholder.call === null ? parseInteger(expected) : null;
    if (number !== null) return number >= 100 && number <= 999 ? [number] : [];
  }
  return statuses;
}

/** Formats `204`, or `200-299` for three or more consecutive codes. */
function formatRanges(numbers: readonly number[]): string[] {
  const ranges: string[] = [];
  for (let index = 0; index < numbers.length;) {
    const from = numbers[index] as number;
    let length = 1;
    while (numbers[index + length] === from + length) length++;
    if (length > 2) ranges.push(`${from}-${from + length - 1}`);
    else for (let offset = 0; offset < length; offset++) ranges.push(String(from + offset));
    index += length;
  }
  return ranges;
}

function judgeCondition(
  condition: ReadCondition,
  target: Target,
  judgment: Judgment,
): ConditionOutcome | "done" {
  if ("unsupported" in condition) return { lacks: `it ${condition.unsupported}` };
  if ("isConstant" in condition) return judgeConstant(condition.holds);
  const { name, call } = condition.placeholder;
  if (call === "has" && !["BODY", "HEADER", "CONTEXT", ""].includes(name))
    return judgeConstant(isSatisfied(condition.op, condition.expected, "true"));
  if (call === "len" && name !== "BODY" && name !== "HEADER")
    return { lacks: "the length of this value can't be compared" };
  switch (name) {
    case "STATUS":
      // Without HTTP, the status is 0 in Gatus, for example after an SSH greeting.
      return isSatisfied(condition.op, condition.expected, "0") ? "done" : { never: true };
    case "CONNECTED":
      return judgeConnection(condition, judgment);
    case "RESPONSE_TIME":
      return judgeTime(condition, target);
    case "DNS_RCODE":
      return judgeCode(condition, target);
    case "CERTIFICATE_EXPIRATION":
      return judgeCertificate(condition, target);
    case "DOMAIN_EXPIRATION":
      return judgeDomain(condition, judgment);
    case "IP":
      return judgeAddress(condition, judgment);
    case "BODY":
      return judgeBodyCondition(condition, target, judgment);
    case "HEADER":
      return target.type === "http"
        ? judgeHeader(condition)
        : { lacks: "only an HTTP response has headers" };
    default:
      return { lacks: "this placeholder has no counterpart" };
  }
}

function judgeConnection(
  { op, expected }: Condition,
  judgment: Judgment,
): ConditionOutcome | "done" {
  const [whenUp, whenDown] = ["true", "false"].map((text) => isSatisfied(op, expected, text));
  if (whenUp === whenDown) return judgeConstant(whenUp === true);
  if (whenDown === true) judgment.inverted = true;
  return "done";
}

function judgeTime(
  { op, expected }: Condition,
  { fields, notes }: Target,
): ConditionOutcome | "done" {
  const ms = parseOperand(expected);
  if ("assertions" in fields) {
    const assertLatency = (op: string, value: number): ConditionOutcome => ({
      assertions: [{ source: "latency", op, value }],
    });
    if (op === "<") return assertLatency("lessThan", ms);
    if (op === "<=") return assertLatency("lessThanOrEqual", ms);
    if (op === ">") return assertLatency("greaterThan", ms);
    if (op === ">=") return assertLatency("greaterThanOrEqual", ms);
    return assertLatency(op === "==" ? "equals" : "notEquals", ms);
  }
  if ((op !== "<" && op !== "<=") || ms < 1)
    return { lacks: "this type only has an upper bound of the latency" };
  const from = clamp(op === "<" ? ms : ms + 1, 1, 60_000);
  const before = Number(fields["degradedAfterMs"] ?? Infinity);
  fields["degradedAfterMs"] = Math.min(before, from);
  notes.push(`Degraded, not down, from ${from} ms on.`);
  return "done";
}

/** Judges a condition on the DNS response code. Here, a DNS monitor is up only with NOERROR. */
function judgeCode({ op, expected }: Condition, { type }: Target): ConditionOutcome | "done" {
  if (type !== "dns") return judgeConstant(isSatisfied(op, expected, ""));
  return isSatisfied(op, expected, "NOERROR")
    ? "done"
    : { lacks: "only NOERROR is a good response code here" };
}

function judgeCertificate(
  { op, expected }: Condition,
  { fields, notes }: Target,
): ConditionOutcome | "done" {
  if (!("certificateExpiryDays" in fields)) return { lacks: "this type sees no certificate" };
  const days = parseOperand(expected) / 1000 / daySeconds;
  if (op === ">" || op === ">=") {
    const before = Number(fields["certificateExpiryDays"] ?? 0);
    const wholeDays = clamp(Math.ceil(days), 1, 3_650);
    fields["certificateExpiryDays"] = Math.max(before, wholeDays);
    notes.push(
      `Degraded, not down, once the certificate expires within ${wholeDays === 1 ? "a day" : `${wholeDays} days`}.`,
    );
    return "done";
  }
  if (!("assertions" in fields) || op === "==" || op === "!=")
    return { lacks: "only a lower bound of the days is possible" };
  const ownOperator = op === "<" ? "lessThan" : "lessThanOrEqual";
  return { assertions: [{ source: "certificateDays", op: ownOperator, value: days }] };
}

function judgeDomain({ op, expected }: Condition, judgment: Judgment): ConditionOutcome | "done" {
  if (op !== ">" && op !== ">=") return { lacks: "only a lower bound of the days is possible" };
  const days = clamp(Math.ceil(parseOperand(expected) / 1000 / daySeconds), 1, 3_650);
  judgment.domainDays = Math.max(judgment.domainDays ?? 0, days);
  return "done";
}

function judgeAddress({ op, expected }: Condition, judgment: Judgment): ConditionOutcome | "done" {
  const expectation = parseExpectation(expected);
  const isOne = op === "==" && expectation.type === "text" && /^[\da-f.:]+$/i.test(expected);
  if (!isOne) return { lacks: "addresses are only compared with one address" };
  judgment.addresses.push(expected);
  return "done";
}

function judgeBodyCondition(
  condition: Condition,
  target: Target,
  judgment: Judgment,
): ConditionOutcome | "done" {
  const { type, fields, notes } = target;
  const { op, expected, placeholder } = condition;
  if (type === "http") {
    const judged = judgeBody(condition);
    if (placeholder.path !== "" && /[<>]/.test(op) && "assertions" in judged)
      judgment.comparesNumbers = true;
    return judged;
  }
  const isWhole = placeholder.call === null && placeholder.path === "";
  if (type === "grpc") {
    const actual = isWhole
      ? '{"status":"SERVING"}'
      : placeholder.path === "status"
        ? "SERVING"
        : null;
    const isFine =
      actual !== null && placeholder.call === null && isSatisfied(op, expected, actual);
    return isFine ? "done" : { lacks: "only the status SERVING is good here" };
  }
  if (type === "dns" && isWhole && op === "==" && parseExpectation(expected).type === "text") {
    (fields["expected"] as string[]).push(expected);
    return "done";
  }
  if (
    (type === "tcp" || type === "websocket") &&
    isWhole &&
    op === "==" &&
    fields["expect"] === null
  ) {
    const part = parseExpectedPart(expected);
    if (part !== null) {
      fields["expect"] = part.text;
      if (!part.isExact)
        notes.push(`Up when the response contains “${part.text}”. Gatus compares all of it.`);
      return "done";
    }
  }
  return { lacks: "a response of this type can't be compared like this" };
}

/** Returns the text that the response must contain; null for a more complex pattern. */
function parseExpectedPart(expected: string): { text: string; isExact: boolean } | null {
  const expectation = parseExpectation(expected);
  if (expectation.type === "text")
    return expected === "" ? null : { text: expected, isExact: false };
  if (expectation.type !== "pattern") return null;
  const [, before, text, after] = /^(\*?)([^*?[\]\\]+)(\*?)$/s.exec(expectation.pattern) ?? [];
  return text === undefined ? null : { text, isExact: before === "*" && after === "*" };
}
