/** What the body of a response has to fulfil, and how much of it is read to know. */
import { LongNumber } from "../../../core/decimals.ts";
import { parseBounded } from "../../../core/json.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { type Ending, readCoded, readDecoded } from "../../../core/outgoing/decoded-body.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpAnswer } from "../../../core/outgoing/http-answer.ts";
import { growingBuffer } from "../../../core/outgoing/memory.ts";
import {
  type Condition,
  type Issue,
  issueFor,
  issueOf,
  otherThan,
  type Received,
  type Secrets,
  startNeeded,
} from "../assertions.ts";
import type { CheckContext } from "../check.ts";
import { charsetOf } from "./http-charset.ts";
import { TextSearch } from "./http-search.ts";

/** Counted before and after each decompression. */
const maxBytes = monitorBounds.answer.value;
const maxText = "the first 1 MiB of the answer";

type Context = Pick<CheckContext, "memory" | "signal" | "inTurn">;

export type ReadBody = {
  /** Why it does not fulfil a condition; null where it fulfils all. */
  issue(): Promise<Issue | null>;
  /** The value of a part, of a body that was retained. */
  received(part: Pick<Condition, "source" | "path">): Received;
  /** Whether something that must be absent was looked for in the first 1 MiB of a longer body alone. */
  isPartlySearched: boolean;
  /** Frees the body. */
  drop(): void;
};

/** Bytes that can still be read. */
export type ByteAllowance = { left: number };

/** How long a body without a known end is read once all conditions are decided: one that breaks off is still found. */
export const patienceMs = monitorBounds.answerPatience.value * 1_000;
/** How often a body without a known end is searched. */
const searchEveryMs = 100;

/** Media that have no end by their nature. */
const isStream = (contentType: string) =>
  /^(text\/event-stream|multipart\/x-mixed-replace|audio\/|video\/)/i.test(contentType);

const isSearched = (condition: Condition) =>
  condition.source === "body" && (condition.op === "contains" || condition.op === "notContains");

const isNegative = ({ source, op }: Condition) =>
  source === "body" && (op === "notContains" || op === "notMatches");

/** What a body has to fulfil. A compression bomb costs no more than 1 MiB; a body cut short is an error of the connection. */
export function wantedOf(conditions: readonly Condition[], secrets: Secrets, isSaved = false) {
  const wanted = conditions.filter(({ source }) => source === "body" || source === "json");
  const texts = wanted.filter(isSearched).map(({ value }) => String(value));
  const isWhole = isSaved || wanted.length > texts.length;
  const isShown = wanted.some(({ number }) => number !== null);

  /** Throws TargetFailure, OwnTrouble. */
  async function reading(
    answer: HttpAnswer,
    context: Context,
    allowance: ByteAllowance = { left: Infinity },
    patience = patienceMs,
  ): Promise<ReadBody> {
    const contentType = answer.headers.get("content-type") ?? "";
    const search =
      texts.length === 0 ? null : new TextSearch(texts, contentType, isShown ? startNeeded : 0);
    const found = search?.found ?? new Set<string>();
    const whole = isWhole ? growingBuffer(maxBytes, context.memory) : null;
    // Nothing of the body is looked at, not even its coding.
    const read = wanted.length === 0 && !isWhole ? readCoded : readDecoded;
    const hasEnd = answer.length !== null && !(answer.length > maxBytes);
    const options = {
      stop: () => body.stop(),
      patienceMs: isStream(contentType) ? 0 : patience,
      isDecided() {
        search?.flush();
        return whole === null && wanted.every(({ value }) => found.has(String(value)));
      },
      isFailed: () => wanted.some(({ op }) => op === "notContains"),
    };
    const watch = hasEnd ? null : new EndWatch(options);
    const body = read(answer, maxBytes, context, (chunk) => {
      allowance.left -= chunk.length;
      if (allowance.left < 0)
        throw new TargetFailure("The answers of all steps are longer than 4 MiB together.");
      search?.push(chunk);
      whole?.push(chunk);
      watch?.arrived();
    });
    watch?.look();
    const ending = await (watch === null ? body.ending : body.ending.finally(() => watch.end()));
    search?.end();
    return judged(wanted, { ending, search, whole, contentType }, secrets, context);
  }

  return { reading };
}

type EndOptions = {
  stop: () => void;
  patienceMs: number;
  /** Whether it is known of every condition if it holds, whatever else arrives. */
  isDecided: () => boolean;
  /** Whether one of the decided ones does not hold. */
  isFailed: () => boolean;
};

/** Stops reading a body without a known end once more of it changes nothing. */
class EndWatch {
  private timer: NodeJS.Timeout | null = null;
  private isLast = false;
  private isOver = false;
  private readonly options: EndOptions;

  constructor(options: EndOptions) {
    this.options = options;
  }

  /** Something arrived, which is looked at soon. */
  arrived() {
    if (this.isOver || this.timer !== null) return;
    this.timer = setTimeout(() => this.look(), searchEveryMs);
  }

  look() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.isOver) return;
    const { isDecided, isFailed, patienceMs, stop } = this.options;
    if (!isDecided()) return;
    if (isFailed() || this.isLast || patienceMs === 0) return stop();
    this.isLast = true;
    this.timer = setTimeout(() => this.look(), patienceMs);
  }

  end() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.isOver = true;
  }
}

type Parts = {
  ending: Ending;
  search: TextSearch | null;
  whole: ReturnType<typeof growingBuffer> | null;
  contentType: string;
};

function judged(
  wanted: readonly Condition[],
  { ending, search, whole, contentType }: Parts,
  secrets: Secrets,
  context: Context,
): ReadBody {
  const isComplete = ending === "whole";
  const text = lazily(() => {
    const bytes = whole?.bytes() ?? Buffer.alloc(0);
    return new TextDecoder(charsetOf(contentType, bytes)).decode(bytes);
  });
  const json = lazily(() => (isComplete ? parseBounded(text()) : tooLong));
  const received: ReadBody["received"] = ({ source, path }) => {
    if (source === "body") return { value: text() };
    const all = json();
    return "unreadable" in all ? all : { value: valueAt(all.value, path ?? "") };
  };
  const receivedFor = (condition: Condition): Received =>
    condition.source === "body" && isPresence(condition.op) && text() === ""
      ? { value: undefined }
      : received(condition);
  return {
    async issue() {
      for (const condition of wanted) {
        const issue = isSearched(condition)
          ? searchedIssue(condition, search, isComplete, secrets)
          : await issueOf(condition, receivedFor(condition), secrets, context);
        if (issue !== null) return issue;
      }
      return null;
    },
    received,
    isPartlySearched: ending === "long" && wanted.some(isNegative),
    drop: () => whole?.drop(),
  };
}

const tooLong: Received = { unreadable: "it is longer than the 1 MiB that are read as JSON" };

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

const isPresence = (op: Condition["op"]) => op === "exists" || op === "notExists";

function searchedIssue(
  condition: Condition,
  search: TextSearch | null,
  isComplete: boolean,
  secrets: Secrets,
): Issue | null {
  const { op, value, number } = condition;
  const { found, start } = search ?? { found: new Set<string>(), start: "" };
  if (found.has(String(value)) === (op === "contains")) return null;
  if (number !== null) return otherThan(condition, start, secrets);
  if (op === "notContains") return issueFor(condition, "it has the keyword that must be absent");
  return issueFor(condition, isComplete ? "the keyword is missing" : `${maxText} lack the keyword`);
}

const step = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/gu;

const lengthCall = ".length()";

/** The value at a path such as `$.items[0]['state']` (names and indexes of RFC 9535); undefined where there is none. */
export function valueAt(json: unknown, path: string): unknown {
  if (path.endsWith(lengthCall)) return lengthOf(valueAt(json, path.slice(0, -lengthCall.length)));
  let value = json;
  for (const [, name, index, quoted, doubleQuoted] of path.matchAll(step)) {
    if (typeof value !== "object" || value === null || value instanceof LongNumber)
      return undefined;
    const key = name ?? index ?? quoted ?? doubleQuoted ?? "";
    if (Array.isArray(value) !== (index !== undefined) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Characters of a text, elements of a list, members of an object (RFC 9535 §2.4.4); undefined for other values. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string") return Array.from(value).length;
  if (typeof value !== "object" || value === null || value instanceof LongNumber) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
