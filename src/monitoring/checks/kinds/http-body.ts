import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { discarded } from "../../../core/garbage.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpAnswer } from "../../../core/outgoing/http-answer.ts";
import { growingBuffer, inPieces } from "../../../core/outgoing/memory.ts";
import type { CheckContext, CheckKind } from "../check.ts";

/** So much of a body is looked at, counted before and after decompression. */
const maxBytes = 1024 * 1024;
const maxText = "the first 1 MiB of the answer";

/** A text is looked for in pieces of so many bytes: its end, which is kept, keeps the piece. */
const searchedBytes = 16 * 1024;
/** Roughly what undoing a compression takes. */
const decoderBytes = 64 * 1024;

type Context = Pick<CheckContext, "memory" | "signal">;
type Settings = Parameters<CheckKind<"http">>[0];
type Assertions = Pick<Settings, "keyword" | "keywordAbsent" | "jsonPath" | "jsonEquals">;

/**
 * What a body has to fulfil. It is read as it arrives and never beyond a bound, so an endless stream or
 * a compression bomb costs no more than that; only JSON is kept as a whole. A body cut short is an error
 * of the connection.
 */
export function wantedOf({ keyword, keywordAbsent, jsonPath, jsonEquals }: Assertions) {
  const texts = [keyword, keywordAbsent].filter((text) => text !== null);
  return {
    /** Why the answer is not what was wanted, to follow “but”; null when it is. Throws TargetFailure, OwnTrouble. */
    async issueOf(answer: HttpAnswer, context: Context): Promise<string | null> {
      if (texts.length === 0 && jsonPath === null) {
        await read(answer, null, context, () => {});
        return null;
      }
      const decoder = decoderOf(answer, context);
      const whole = jsonPath === null ? null : growingBuffer(maxBytes, context.memory);
      const search = searchFor(texts, charsetOf(answer));
      const complete = await read(answer, decoder, context, (chunk) => {
        search.push(chunk);
        whole?.push(chunk);
      });
      const found = search.found();
      if (keyword !== null && !found.has(keyword))
        return complete ? "the keyword is missing" : `${maxText} lack the keyword`;
      if (keywordAbsent !== null && found.has(keywordAbsent))
        return "it has the keyword that must be absent";
      if (jsonPath === null || whole === null) return null;
      if (!complete) return "it is longer than the 1 MiB that are read as JSON";
      const text = new TextDecoder(charsetOf(answer)).decode(whole.bytes());
      discarded(whole.bytes().length);
      return validateJson(text, jsonPath, jsonEquals);
    },
  };
}

/** Looks for texts in what arrives, wherever it is cut, and keeps no more of it than they are long. */
function searchFor(texts: readonly string[], charset: Bun.Encoding | undefined) {
  const decoder = new TextDecoder(charset);
  const overlap = Math.max(0, ...texts.map((text) => text.length - 1));
  const found = new Set<string>();
  let tail = "";
  const look = (text: string) => {
    const searched = tail + text;
    for (const wanted of texts) if (searched.includes(wanted)) found.add(wanted);
    tail = searched.slice(Math.max(0, searched.length - overlap));
  };
  const pieces = inPieces((piece) => look(decoder.decode(piece, { stream: true })), searchedBytes);
  return {
    push(chunk: Buffer) {
      if (texts.length > 0) pieces.push(chunk);
    },
    /** Those that were found; the text is over. */
    found() {
      pieces.flush();
      look(decoder.decode());
      return found;
    },
  };
}

function validateJson(text: string, path: string, wanted: string | number | boolean | null) {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  const value = valueAt(json, path);
  if (value === undefined) return `it has nothing at ${path}`;
  return wanted === null || value === wanted ? null : `the value at ${path} is another`;
}

/** Hands over the body, decoded, up to the bound; resolves with whether it came to its end before. */
function read(
  answer: HttpAnswer,
  decoder: Transform | null,
  { memory }: Context,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let length = 0;
  const arrived = (chunk: Buffer) => {
    const left = maxBytes - length;
    if (left < 0) return;
    length += chunk.length;
    take(chunk.subarray(0, left));
    discarded(chunk.length);
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
    const isReady = decoder.write(piece, () => {
      memory.giveBack(piece.length);
      discarded(piece.length);
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

/** The value at a path such as `$.items[0]['state']` (names and indexes of RFC 9535); undefined where there is none. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const [, name, index, quoted, doubleQuoted] of path.matchAll(step)) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = name ?? index ?? quoted ?? doubleQuoted ?? "";
    if (Array.isArray(value) !== (index !== undefined) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
