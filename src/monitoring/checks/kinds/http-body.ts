/** Reads the body of a response as far as its conditions need it, and judges them. */
import { parseBounded } from "../../../core/text/json.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { type Ending, readCoded, readDecoded } from "../../../core/outgoing/http/decoded-body.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpAnswer } from "../../../core/outgoing/http/response.ts";
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
} from "../protocols/assertions.ts";
import type { CheckContext } from "../check.ts";
import { valueAt } from "../protocols/json-path.ts";
import { charsetOf } from "./http-charset.ts";
import { TextSearch } from "./http-search.ts";

/** Counted before and after each decompression. */
const maxBytes = monitorBounds.responseBody.value;
const maxText = "the first 1 MiB of the answer";

type Context = Pick<CheckContext, "memory" | "signal" | "inTurn">;

type ReadBody = {
  /** Why it does not fulfil a condition; null where it fulfils all. */
  issue(): Promise<Issue | null>;
  /** The value of a part, of a body that was retained. */
  received(part: Pick<Condition, "source" | "path">): Received;
  /** Whether text that must be absent was searched for in the first 1 MiB of a longer body only. */
  isPartlySearched: boolean;
  /** Frees the body. */
  drop(): void;
};

/** Bytes that can still be read. */
export type ByteAllowance = { left: number };

/** How long a body without a known end is read once all conditions are decided, so that one that breaks off is found. */
export const usualPatienceMs = monitorBounds.endlessBody.value * 1_000;
/** How often a body without a known end is searched. */
const searchEveryMs = 100;

/** Media that have no end by their nature. */
const isStream = (contentType: string) =>
  /^(text\/event-stream|multipart\/x-mixed-replace|audio\/|video\/)/i.test(contentType);

const isSearched = (condition: Condition) =>
  condition.source === "body" && (condition.op === "contains" || condition.op === "notContains");

const isNegative = ({ source, op }: Condition) =>
  source === "body" && (op === "notContains" || op === "notMatches");

/** Conditions on a response, of which those on its body count here. */
type Wanted = {
  conditions: readonly Condition[];
  secrets: Secrets;
  /** Whether a part of the body is saved, so that all of it is retained. */
  isSaved: boolean;
};

/**
 * Reads a body until its conditions are decided. A compression bomb costs no more than 1 MiB; a body that is cut
 * short is an error of the connection. Throws TargetFailure, OwnTrouble.
 */
export async function readBody(
  answer: HttpAnswer,
  { conditions, secrets, isSaved }: Wanted,
  context: Context,
  { allowance, patienceMs }: { allowance: ByteAllowance; patienceMs: number },
): Promise<ReadBody> {
  const wanted = conditions.filter(({ source }) => source === "body" || source === "json");
  const texts = wanted.filter(isSearched).map(({ value }) => String(value));
  const isWhole = isSaved || wanted.length > texts.length;
  const isShown = wanted.some(({ number }) => number !== null);
  const contentType = answer.headers.get("content-type") ?? "";
  const search =
    texts.length === 0 ? null : new TextSearch(texts, contentType, isShown ? startNeeded : 0);
  const whole = isWhole ? growingBuffer(maxBytes, context.memory) : null;
  // Without conditions on the body, its coding does not matter either.
  const read = wanted.length === 0 && !isWhole ? readCoded : readDecoded;
  const hasEnd = answer.length !== null && !(answer.length > maxBytes);
  const watch = hasEnd
    ? null
    : new EndWatch({
        stop: () => body.stop(),
        patienceMs: isStream(contentType) ? 0 : patienceMs,
        isDecided() {
          search?.flush();
          return !isWhole && texts.every((text) => search?.found.has(text));
        },
        isFailedOnceDecided: wanted.some(({ op }) => op === "notContains"),
      });
  const body = read(answer, maxBytes, context, (chunk) => {
    allowance.left -= chunk.length;
    if (allowance.left < 0)
      throw new TargetFailure("The answers of all steps are longer than 4 MiB together.");
    search?.push(chunk);
    whole?.push(chunk);
    watch?.arrived();
  });
  watch?.look();
  const ending = await body.ending.finally(() => watch?.end());
  search?.end();
  return judged(wanted, { ending, search, whole, contentType }, secrets, context);
}

type EndOptions = {
  stop: () => void;
  patienceMs: number;
  /** Whether no further byte can change the result of a condition. */
  isDecided: () => boolean;
  /** Whether one of the conditions has failed if all are decided. */
  isFailedOnceDecided: boolean;
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

  /** Schedules a look at what has arrived. */
  arrived() {
    if (this.isOver || this.timer !== null) return;
    this.timer = setTimeout(() => this.look(), searchEveryMs);
  }

  look() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.isOver) return;
    const { isDecided, isFailedOnceDecided, patienceMs, stop } = this.options;
    if (!isDecided()) return;
    if (isFailedOnceDecided || this.isLast || patienceMs === 0) return stop();
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
  return {
    async issue() {
      for (const condition of wanted) {
        const issue = isSearched(condition)
          ? searchedIssue(condition, search, isComplete, secrets)
          : await issueOf(condition, received(condition), secrets, context);
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

function lazily<T>(compute: () => T): () => T {
  let result: { value: T } | null = null;
  return () => (result ??= { value: compute() }).value;
}

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
