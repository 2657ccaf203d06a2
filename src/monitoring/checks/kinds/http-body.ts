/** Reads the body of an HTTP response until all conditions on it are decided, and judges them. */
import { parseBounded } from "../../../core/text/json.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { type Ending, readEncoded, readDecoded } from "../../../core/outgoing/http/decoded-body.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpResponse } from "../../../core/outgoing/http/response.ts";
import { createGrowingBuffer } from "../../../core/outgoing/memory.ts";
import {
  type Condition,
  type Issue,
  buildIssue,
  findIssue,
  describeMismatch,
  type Received,
  type Secrets,
  startNeeded,
} from "../protocols/assertions.ts";
import type { CheckContext } from "../check.ts";
import { findValue } from "../protocols/json-path.ts";
import { detectCharset } from "./http-charset.ts";
import { TextSearch } from "./http-search.ts";

/** Maximum size of a body, both before and after each decompression. */
const maxBytes = monitorBounds.responseBody.value;
const searchedPartWords = "the first 1 MiB of the response";

type Context = Pick<CheckContext, "memory" | "signal" | "inTurn">;

type ReadBody = {
  /** Returns the issue of the first violated condition; null if all are satisfied. */
  issue(): Promise<Issue | null>;
  /** Returns the body or a value in it. Requires that the whole body was retained. */
  received(part: Pick<Condition, "source" | "path">): Received;
  /** Whether only the first 1 MiB of a longer body was searched for a text that must be absent. */
  isPartlySearched: boolean;
  /** Releases the memory of the body. */
  drop(): void;
};

/** Bytes that the check is still allowed to read. */
export type ByteAllowance = { left: number };

/**
 * How long to keep reading a body of unknown length after all conditions are decided, to detect a broken connection.
 */
export const defaultPatienceMs = monitorBounds.endlessBody.value * 1_000;
/** Interval between two searches of a body of unknown length. */
const searchEveryMs = 100;

/** Whether the media type is an endless stream. */
const isStream = (contentType: string) =>
  /^(text\/event-stream|multipart\/x-mixed-replace|audio\/|video\/)/i.test(contentType);

const isSearched = (condition: Condition) =>
  condition.source === "body" && (condition.op === "contains" || condition.op === "notContains");

const isNegative = ({ source, op }: Condition) =>
  source === "body" && (op === "notContains" || op === "notMatches");

/** Conditions on a response. Only conditions on the body are judged here. */
type ExpectedResponse = {
  conditions: readonly Condition[];
  secrets: Secrets;
  /** Whether a later step needs a value from the body, so the whole body must be retained. */
  isSaved: boolean;
};

/**
 * Reads a body until its conditions are decided. Decompression stops after 1 MiB. A truncated body is a connection
 * error. Throws TargetFailure, LocalFailure.
 */
export async function readBody(
  response: HttpResponse,
  { conditions, secrets, isSaved }: ExpectedResponse,
  context: Context,
  { allowance, patienceMs }: { allowance: ByteAllowance; patienceMs: number },
): Promise<ReadBody> {
  const bodyConditions = conditions.filter(({ source }) => source === "body" || source === "json");
  const texts = bodyConditions.filter(isSearched).map(({ value }) => String(value));
  const isWhole = isSaved || bodyConditions.length > texts.length;
  const isShown = bodyConditions.some(({ number }) => number !== null);
  const contentType = response.headers.get("content-type") ?? "";
  const search =
    texts.length === 0 ? null : new TextSearch(texts, contentType, isShown ? startNeeded : 0);
  const collected = isWhole ? createGrowingBuffer(maxBytes, context.memory) : null;
  // Without conditions on the body, it is not decompressed.
  const read = bodyConditions.length === 0 && !isWhole ? readEncoded : readDecoded;
  const hasEnd = response.length !== null && !(response.length > maxBytes);
  const watch = hasEnd
    ? null
    : new BodyEndDetector({
        stop: () => body.stop(),
        patienceMs: isStream(contentType) ? 0 : patienceMs,
        isDecided() {
          search?.flush();
          return !isWhole && texts.every((text) => search?.found.has(text));
        },
        isFailedOnceDecided: bodyConditions.some(({ op }) => op === "notContains"),
      });
  const body = read(response, maxBytes, context, (chunk) => {
    allowance.left -= chunk.length;
    if (allowance.left < 0)
      throw new TargetFailure("The responses of all steps are longer than 4 MiB together.");
    search?.push(chunk);
    collected?.push(chunk);
    watch?.scheduleSearch();
  });
  watch?.checkDecided();
  const ending = await body.ending.finally(() => watch?.stopSearching());
  search?.finish();
  return judgeBody(bodyConditions, { ending, search, collected, contentType }, secrets, context);
}

type EndOptions = {
  stop: () => void;
  patienceMs: number;
  /** Whether further bytes can't change the result of any condition. */
  isDecided: () => boolean;
  /** Whether decided conditions include a failure, because a text that must be absent was found. */
  isFailedOnceDecided: boolean;
};

/** Stops reading a body of unknown length when further bytes can't change the result. */
class BodyEndDetector {
  private timer: NodeJS.Timeout | null = null;
  private isLast = false;
  private isOver = false;
  private readonly options: EndOptions;

  constructor(options: EndOptions) {
    this.options = options;
  }

  /** Schedules a search of the received bytes. */
  scheduleSearch() {
    if (this.isOver || this.timer !== null) return;
    this.timer = setTimeout(() => this.checkDecided(), searchEveryMs);
  }

  checkDecided() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.isOver) return;
    const { isDecided, isFailedOnceDecided, patienceMs, stop } = this.options;
    if (!isDecided()) return;
    if (isFailedOnceDecided || this.isLast || patienceMs === 0) return stop();
    this.isLast = true;
    this.timer = setTimeout(() => this.checkDecided(), patienceMs);
  }

  stopSearching() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.isOver = true;
  }
}

type Parts = {
  ending: Ending;
  search: TextSearch | null;
  collected: ReturnType<typeof createGrowingBuffer> | null;
  contentType: string;
};

function judgeBody(
  wanted: readonly Condition[],
  { ending, search, collected, contentType }: Parts,
  secrets: Secrets,
  context: Context,
): ReadBody {
  const isComplete = ending === "whole";
  const text = memoize(() => {
    const bytes = collected?.bytes() ?? Buffer.alloc(0);
    return new TextDecoder(detectCharset(contentType, bytes)).decode(bytes);
  });
  const json = memoize(() => (isComplete ? parseBounded(text()) : tooLongForJson));
  const getReceived: ReadBody["received"] = ({ source, path }) => {
    if (source === "body") return { value: text() };
    const all = json();
    return "unreadable" in all ? all : { value: findValue(all.value, path ?? "") };
  };
  return {
    async issue() {
      for (const condition of wanted) {
        const issue = isSearched(condition)
          ? findSearchIssue(condition, search, isComplete, secrets)
          : await findIssue(condition, getReceived(condition), secrets, context);
        if (issue !== null) return issue;
      }
      return null;
    },
    received: getReceived,
    isPartlySearched: ending === "long" && wanted.some(isNegative),
    drop: () => collected?.drop(),
  };
}

const tooLongForJson: Received = {
  unreadable: "it is longer than the 1 MiB that are read as JSON",
};

function memoize<T>(compute: () => T): () => T {
  let result: { value: T } | null = null;
  return () => (result ??= { value: compute() }).value;
}

function findSearchIssue(
  condition: Condition,
  search: TextSearch | null,
  isComplete: boolean,
  secrets: Secrets,
): Issue | null {
  const { op, value, number } = condition;
  const { found, start } = search ?? { found: new Set<string>(), start: "" };
  if (found.has(String(value)) === (op === "contains")) return null;
  if (number !== null) return describeMismatch(condition, start, secrets);
  if (op === "notContains") return buildIssue(condition, "it has the keyword that must be absent");
  return buildIssue(
    condition,
    isComplete ? "the keyword is missing" : `${searchedPartWords} lack the keyword`,
  );
}
