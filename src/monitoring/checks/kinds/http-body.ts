import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { LongNumber } from "../../../core/decimals.ts";
import { release } from "../../../core/garbage.ts";
import { depthOf, maxAnswerDepth, parseExactly } from "../../../core/json.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpAnswer } from "../../../core/outgoing/http-answer.ts";
import { growingBuffer, inPieces } from "../../../core/outgoing/memory.ts";
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
import { monitorBounds } from "../../../core/limits.ts";

/** So much of a body is looked at, counted before and after decompression. */
const maxBytes = monitorBounds.answer.value;
const maxText = "the first 1 MiB of the answer";

/** A text is looked for in pieces of so many bytes: its end, which is kept, keeps the piece. */
const searchedBytes = 16 * 1024;
/** Roughly what undoing a compression takes. */
const decoderBytes = 64 * 1024;

type Context = Pick<CheckContext, "memory" | "signal" | "inTurn">;

type ReadBody = {
  /** Why it is not what was wanted; null where it is. */
  issue(): Promise<Issue | null>;
  /** What stands there, of a body that was kept. */
  received(part: Pick<Condition, "source" | "path">): Received;
  /** Lets go of what was kept. */
  drop(): void;
};

/** So much may still be read. */
export type ByteAllowance = { left: number };

const searched = (condition: Condition) =>
  condition.source === "body" && (condition.op === "contains" || condition.op === "notContains");

/**
 * What a body has to fulfil. It is read as it arrives and never beyond a bound, so an endless stream or
 * a compression bomb costs no more than that; only what is looked at as a whole is kept. A body cut short
 * is an error of the connection.
 */
export function wantedOf(conditions: readonly Condition[], secrets: Secrets, isSaved = false) {
  const wanted = conditions.filter(({ source }) => source === "body" || source === "json");
  const texts = wanted.filter(searched).map(({ value }) => String(value));
  const isKept = isSaved || wanted.length > texts.length;
  const isShown = wanted.some(({ number }) => number !== null);

  /** Throws TargetFailure, OwnTrouble. */
  async function reading(
    answer: HttpAnswer,
    context: Context,
    allowance: ByteAllowance = { left: Infinity },
  ): Promise<ReadBody> {
    if (wanted.length === 0 && !isKept) {
      await read(answer, null, context, allowance, () => {});
      return { issue: async () => null, received: () => ({ value: undefined }), drop() {} };
    }
    const decoder = decoderOf(answer, context);
    const charset = charsetOf(answer);
    const whole = isKept ? growingBuffer(maxBytes, context.memory) : null;
    const search = searchFor(texts, charset, isShown ? startNeeded : 0);
    const complete = await read(answer, decoder, context, allowance, (chunk) => {
      search.push(chunk);
      whole?.push(chunk);
    });
    const { found, start } = search.result();
    const text = lazily(() =>
      whole === null ? "" : new TextDecoder(charset).decode(whole.bytes()),
    );
    const json = lazily(() => {
      if (!complete) return tooLong;
      return jsonIn(text());
    });
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
          const issue = searched(condition)
            ? searchedIssue(condition, found, complete, start, secrets)
            : await issueOf(condition, receivedFor(condition), secrets, context);
          if (issue !== null) return issue;
        }
        return null;
      },
      received,
      drop: () => whole?.drop(),
    };
  }

  return { reading };
}

const tooDeep: Received = { unreadable: `it is nested deeper than ${maxAnswerDepth} levels` };
const tooLong: Received = { unreadable: "it is longer than the 1 MiB that are read as JSON" };

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

const isPresence = (op: Condition["op"]) => op === "exists" || op === "notExists";

/** The JSON in a text, with the exact numbers; or why it can't be read. */
export function jsonIn(text: string): Received {
  if (depthOf(text) > maxAnswerDepth) return tooDeep;
  try {
    return { value: parseExactly(text) };
  } catch {
    return { unreadable: "it is not JSON" };
  }
}

function searchedIssue(
  condition: Condition,
  found: ReadonlySet<string>,
  complete: boolean,
  start: string,
  secrets: Secrets,
): Issue | null {
  const { op, value, number } = condition;
  if (found.has(String(value)) === (op === "contains")) return null;
  if (number !== null) return otherThan(condition, start, secrets);
  if (op === "notContains") return issueFor(condition, "it has the keyword that must be absent");
  return issueFor(condition, complete ? "the keyword is missing" : `${maxText} lack the keyword`);
}

/** Looks for texts in what arrives, wherever it is cut, and keeps no more of it than they are long, and its start. */
function searchFor(
  texts: readonly string[],
  charset: Bun.Encoding | undefined,
  startLength: number,
) {
  const decoder = new TextDecoder(charset);
  const overlap = Math.max(0, ...texts.map((text) => text.length - 1));
  const found = new Set<string>();
  let start = "";
  let tail = "";
  const look = (text: string) => {
    if (start.length < startLength) start += text.slice(0, startLength - start.length);
    const searched = tail + text;
    for (const wanted of texts) if (searched.includes(wanted)) found.add(wanted);
    tail = searched.slice(Math.max(0, searched.length - overlap));
  };
  const pieces = inPieces((piece) => look(decoder.decode(piece, { stream: true })), searchedBytes);
  return {
    push(chunk: Buffer) {
      if (texts.length > 0) pieces.push(chunk);
    },
    /** Those that were found, and how the text begins; it is over. */
    result() {
      pieces.flush();
      look(decoder.decode());
      return { found, start };
    },
  };
}

/** Hands over the body, decoded, up to the bound; resolves with whether it came to its end before. */
function read(
  answer: HttpAnswer,
  decoder: Transform | null,
  { memory }: Context,
  allowance: ByteAllowance,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let length = 0;
  const arrived = (chunk: Buffer) => {
    const left = maxBytes - length;
    if (left < 0) return;
    allowance.left -= chunk.length;
    if (allowance.left < 0)
      throw new TargetFailure("The answers of all steps are longer than 4 MiB together.");
    length += chunk.length;
    take(chunk.subarray(0, left));
    if (length > maxBytes) resolve(false);
  };
  if (decoder === null) {
    answer.read(arrived).then(() => resolve(true), reject);
    return promise;
  }

  decoder.on("data", (chunk: Buffer) => {
    try {
      arrived(chunk);
    } catch (error) {
      reject(error);
    } finally {
      release(chunk);
    }
    if (length > maxBytes) decoder.destroy();
  });
  decoder.on("end", () => resolve(true));
  decoder.on("drain", answer.resume);
  decoder.on("error", () =>
    reject(new TargetFailure("The compressed body of the answer is broken.")),
  );
  let encoded = 0;
  const pieces = inPieces((piece) => {
    if (encoded > maxBytes || decoder.destroyed) return;
    encoded += piece.length;
    memory.take(piece.length);
    const isLast = encoded > maxBytes;
    const kept = Buffer.from(piece);
    const isReady = decoder.write(kept, () => {
      memory.giveBack(kept.length);
      release(kept);
      if (isLast) resolve(false);
    });
    if (!isReady) answer.pause();
  }, Infinity);
  const all = async () => {
    await answer.read((chunk) => pieces.push(chunk));
    pieces.flush();
    if (encoded === 0) resolve(true);
    else decoder.end();
  };
  all().catch(reject);
  return promise;
}

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** What undoes the Content-Encoding (RFC 9110 §8.4.1) until the check is over; null where there is none. */
function decoderOf({ headers }: HttpAnswer, { memory, signal }: Context): Transform | null {
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding === "identity" || coding === "") return null;
  const decoder = decoders.get(coding);
  if (decoder === undefined)
    throw new TargetFailure("The body of the answer has an encoding that nobody asked for.");
  memory.take(decoderBytes);
  const made = decoder();
  signal.addEventListener("abort", () => made.destroy());
  return made;
}

function charsetOf({ headers }: HttpAnswer): Bun.Encoding | undefined {
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1];
  return /^(iso-8859-1|latin1|windows-1252)$/i.test(charset ?? "") ? "windows-1252" : undefined;
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
