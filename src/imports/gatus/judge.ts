/** Converts the conditions of a Gatus endpoint to monitor fields. */
import type { Fields } from "../../core/collections/objects.ts";
import { within } from "../values.ts";
import { judgedBody, judgedHeader, type Judged } from "./assertions.ts";
import {
  type Condition,
  expectationIn,
  isSatisfied,
  quoted,
  type ReadCondition,
  readCondition,
  satisfying,
} from "./conditions.ts";
import type { Target } from "./targets.ts";
import { comparedNumber, integerIn } from "./values.ts";

const daySeconds = 86_400;

/** Requirements that need more than fields of the monitor. */
export type Judgement = {
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
export function applyConditions(conditions: readonly string[], target: Target): Judgement {
  const { missing, notes, type } = target;
  const judgement: Judgement = {
    inverted: false,
    addresses: [],
    domainDays: null,
    comparesNumbers: false,
  };
  if (conditions.length > maxConditions)
    missing.push(`${conditions.length - maxConditions} of ${conditions.length} conditions`);
  const ofStatus: Condition[] = [];
  for (const written of conditions.slice(0, maxConditions)) {
    const condition = readCondition(written);
    if ("placeholder" in condition && isMisread(condition))
      notes.push(
        `Gatus compares with 0 in ${quoted(written)}: “${quoted(condition.expected)}” is not a number.`,
      );
    if ("placeholder" in condition && condition.placeholder.name === "STATUS" && type === "http")
      ofStatus.push(condition);
    else apply(judgedBy(condition, target, judgement), written, target);
  }
  takeStatuses(ofStatus, target);
  const { assertions = [], expectedStatus = anyStatus } = target.fields;
  const judgesAnswers =
    (assertions as unknown[]).length > 0 || String(expectedStatus) !== anyStatus;
  if (judgement.inverted && judgesAnswers)
    missing.push("[CONNECTED] == false together with conditions on an answer");
  return judgement;
}

function apply(judged: Judged | "done", written: string, { fields, missing, notes }: Target) {
  if (judged === "done") return;
  if ("lacks" in judged) missing.push(`the condition ${quoted(written)}: ${judged.lacks}`);
  else if ("never" in judged)
    missing.push(`the condition ${quoted(written)}: it never holds in Gatus either`);
  else if ("always" in judged)
    notes.push(`Without the condition ${quoted(written)}, which is always satisfied in Gatus.`);
  else addAssertions(fields, judged.assertions);
}

/** Returns a test for status codes. `has([STATUS])` is always true. */
function satisfyingStatus({ op, expected, placeholder }: Condition): (status: number) => boolean {
  if (placeholder.call === "has") return () => isSatisfied(op, expected, "true");
  // Avoids parsing 500 status texts.
  const number = integerIn(expected);
  if (number !== null && op === "==") return (status) => status === number;
  if (number !== null && op === "!=") return (status) => status !== number;
  const isFine = satisfying(op, expected);
  return (status) => isFine(String(status));
}

/** Whether Gatus reads the compared text as 0. This happens with a second condition after `&&`. */
const isMisread = ({ op, expected }: Condition) =>
  /[<>]/.test(op) && comparedNumber(expected) === 0 && !/^[+-]?[0.]+[a-zµμ]*$/.test(expected);

const always = (holds: boolean): Judged => (holds ? { always: true } : { never: true });

function addAssertions(fields: Fields, assertions: readonly Fields[]) {
  const known = fields["assertions"] as Fields[];
  for (const assertion of assertions)
    if (!known.some((one) => JSON.stringify(one) === JSON.stringify(assertion)))
      known.push(assertion);
}

/** Sets the status codes that satisfy all conditions. */
function takeStatuses(conditions: readonly Condition[], { fields, missing, notes }: Target) {
  if (conditions.length === 0) return;
  const tests = conditions.map(satisfyingStatus);
  const satisfiesAll = (status: number) => tests.every((test) => test(status));
  const ranges = rangesOf(candidatesFor(conditions).filter(satisfiesAll));
  const written = conditions.map((one) => quoted(one.written)).join(" and ");
  if (ranges.length === 0)
    missing.push(
      [600, 999].some(satisfiesAll)
        ? `the condition ${written}: HTTP has no status above 599`
        : `the condition ${written}: no status satisfies it`,
    );
  else if (ranges.length > maxRanges)
    missing.push(`the condition ${written}: it has more than ${maxRanges} ranges of statuses`);
  else {
    fields["expectedStatus"] = ranges;
    const odd = conditions.filter(({ expected }) => /^any\(.*\b[6-9]\d\d\b/.test(expected));
    for (const one of odd)
      notes.push(`HTTP has no status above 599: that part of ${quoted(one.written)} is left out.`);
  }
}

/** Returns the status codes to test. A condition usually requires one code, so only that one is tested. */
function candidatesFor(conditions: readonly Condition[]): readonly number[] {
  for (const { op, expected, placeholder } of conditions) {
    const number = op === "==" && placeholder.call === null ? integerIn(expected) : null;
    if (number !== null) return number >= 100 && number < 600 ? [number] : [];
  }
  return statuses;
}

/** Formats `204`, or `200-299` for three or more consecutive codes. */
function rangesOf(numbers: readonly number[]): string[] {
  const ranges: string[] = [];
  for (let index = 0; index < numbers.length;) {
    const from = numbers[index] as number;
    let length = 1;
    while (numbers[index + length] === from + length) length++;
    if (length > 2) ranges.push(`${from}-${from + length - 1}`);
    else for (let more = 0; more < length; more++) ranges.push(String(from + more));
    index += length;
  }
  return ranges;
}

function judgedBy(condition: ReadCondition, target: Target, judgement: Judgement): Judged | "done" {
  if ("unsupported" in condition) return { lacks: `it ${condition.unsupported}` };
  if ("isConstant" in condition) return always(condition.holds);
  const { name, call } = condition.placeholder;
  if (call === "has" && !["BODY", "HEADER", "CONTEXT", ""].includes(name))
    return always(isSatisfied(condition.op, condition.expected, "true"));
  if (call === "len" && name !== "BODY" && name !== "HEADER")
    return { lacks: "the length of this value can't be compared" };
  switch (name) {
    case "STATUS":
      // Without HTTP, the status is 0 in Gatus, for example after an SSH greeting.
      return isSatisfied(condition.op, condition.expected, "0") ? "done" : { never: true };
    case "CONNECTED":
      return judgedConnection(condition, judgement);
    case "RESPONSE_TIME":
      return judgedTime(condition, target);
    case "DNS_RCODE":
      return judgedCode(condition, target);
    case "CERTIFICATE_EXPIRATION":
      return judgedCertificate(condition, target);
    case "DOMAIN_EXPIRATION":
      return judgedDomain(condition, judgement);
    case "IP":
      return judgedAddress(condition, judgement);
    case "BODY":
      return judgedAnswer(condition, target, judgement);
    case "HEADER":
      return target.type === "http"
        ? judgedHeader(condition)
        : { lacks: "only an answer of HTTP has headers" };
    default:
      return { lacks: "this placeholder has no counterpart" };
  }
}

function judgedConnection({ op, expected }: Condition, judgement: Judgement): Judged | "done" {
  const [whenUp, whenDown] = ["true", "false"].map((text) => isSatisfied(op, expected, text));
  if (whenUp === whenDown) return always(whenUp === true);
  if (whenDown === true) judgement.inverted = true;
  return "done";
}

function judgedTime({ op, expected }: Condition, { fields, notes }: Target): Judged | "done" {
  const ms = comparedNumber(expected);
  if ("assertions" in fields) {
    const latency = (op: string, value: number): Judged => ({
      assertions: [{ source: "latency", op, value }],
    });
    if (op === "<") return latency("lessThan", ms);
    if (op === "<=") return latency("lessThanOrEqual", ms);
    if (op === ">") return latency("greaterThan", ms);
    if (op === ">=") return latency("greaterThanOrEqual", ms);
    return latency(op === "==" ? "equals" : "notEquals", ms);
  }
  if ((op !== "<" && op !== "<=") || ms < 1)
    return { lacks: "this type only has an upper bound of the latency" };
  const from = within(op === "<" ? ms : ms + 1, 1, 60_000);
  const before = Number(fields["degradedAfterMs"] ?? Infinity);
  fields["degradedAfterMs"] = Math.min(before, from);
  notes.push(`Degraded, not down, from ${from} ms on.`);
  return "done";
}

/** Judges a condition on the DNS response code. Here, a DNS monitor is up only with NOERROR. */
function judgedCode({ op, expected }: Condition, { type }: Target): Judged | "done" {
  if (type !== "dns") return always(isSatisfied(op, expected, ""));
  return isSatisfied(op, expected, "NOERROR")
    ? "done"
    : { lacks: "only NOERROR is a good response code here" };
}

function judgedCertificate(
  { op, expected }: Condition,
  { fields, notes }: Target,
): Judged | "done" {
  if (!("certificateExpiryDays" in fields)) return { lacks: "this type sees no certificate" };
  const days = comparedNumber(expected) / 1000 / daySeconds;
  if (op === ">" || op === ">=") {
    const before = Number(fields["certificateExpiryDays"] ?? 0);
    const wanted = within(Math.ceil(days), 1, 3_650);
    fields["certificateExpiryDays"] = Math.max(before, wanted);
    notes.push(
      `Degraded, not down, once the certificate expires within ${wanted === 1 ? "a day" : `${wanted} days`}.`,
    );
    return "done";
  }
  if (!("assertions" in fields) || op === "==" || op === "!=")
    return { lacks: "only a lower bound of the days is possible" };
  const own = op === "<" ? "lessThan" : "lessThanOrEqual";
  return { assertions: [{ source: "certificateDays", op: own, value: days }] };
}

function judgedDomain({ op, expected }: Condition, judgement: Judgement): Judged | "done" {
  if (op !== ">" && op !== ">=") return { lacks: "only a lower bound of the days is possible" };
  const days = within(Math.ceil(comparedNumber(expected) / 1000 / daySeconds), 1, 3_650);
  judgement.domainDays = Math.max(judgement.domainDays ?? 0, days);
  return "done";
}

function judgedAddress({ op, expected }: Condition, judgement: Judgement): Judged | "done" {
  const expectation = expectationIn(expected);
  const isOne = op === "==" && expectation.type === "text" && /^[\da-f.:]+$/i.test(expected);
  if (!isOne) return { lacks: "addresses are only compared with one address" };
  judgement.addresses.push(expected);
  return "done";
}

function judgedAnswer(condition: Condition, target: Target, judgement: Judgement): Judged | "done" {
  const { type, fields, notes } = target;
  const { op, expected, placeholder } = condition;
  if (type === "http") {
    const judged = judgedBody(condition);
    if (placeholder.path !== "" && /[<>]/.test(op) && "assertions" in judged)
      judgement.comparesNumbers = true;
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
  if (type === "dns" && isWhole && op === "==" && expectationIn(expected).type === "text") {
    (fields["expected"] as string[]).push(expected);
    return "done";
  }
  if (
    (type === "tcp" || type === "websocket") &&
    isWhole &&
    op === "==" &&
    fields["expect"] === null
  ) {
    const part = expectedPart(expected);
    if (part !== null) {
      fields["expect"] = part.text;
      if (!part.isExact)
        notes.push(`Up when the answer contains “${part.text}”. Gatus compares all of it.`);
      return "done";
    }
  }
  return { lacks: "an answer of this type can't be compared like this" };
}

/** Returns the text that the response must contain; null for a more complex pattern. */
function expectedPart(expected: string): { text: string; isExact: boolean } | null {
  const expectation = expectationIn(expected);
  if (expectation.type === "text")
    return expected === "" ? null : { text: expected, isExact: false };
  if (expectation.type !== "pattern") return null;
  const [, before, text, after] = /^(\*?)([^*?[\]\\]+)(\*?)$/s.exec(expectation.pattern) ?? [];
  return text === undefined ? null : { text, isExact: before === "*" && after === "*" };
}
