/** Reads and decodes bodies of HTTP responses, up to a limit. */
import { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { releaseBuffer } from "../../system/garbage-collection.ts";
import { parseBounded } from "../../text/json.ts";
import { monitorBounds } from "../../limits.ts";
import type { OutgoingContext } from "../context.ts";
import { TargetFailure } from "../failures.ts";
import type { HttpResponse } from "./response.ts";
import { type Head, parseList, parseTransferCodings } from "./head.ts";
import { createGrowingBuffer, collectPieces } from "../memory.ts";

type Context = Pick<OutgoingContext, "memory" | "signal">;

/** Approximate memory of one decoder. */
const decoderBytes = 64 * 1024;
const maxCodings = monitorBounds.responseCodings.value;

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createAnyInflate],
  ["br", createBrotliDecompress],
]);

/** Values that some servers send for an unencoded body. S3 stores `aws-chunked`. */
const noCodings = new Set(["identity", "none", "binary", "7bit", "8bit", "text", "aws-chunked"]);

/** Codings that a message can name. An unknown one is text of the target. */
const unsupported = new Set(["zstd", "compress", "x-compress", "dcb", "dcz"]);
const describeUnsupported = (name: string) =>
  unsupported.has(name)
    ? `the encoding ${name}, which is not supported`
    : "an encoding that is not supported";

/** Whether the name is a charset, which some servers send instead of a coding. */
function isCharset(name: string): boolean {
  try {
    return new TextDecoder(name as Bun.Encoding).encoding !== "";
  } catch {
    return false;
  }
}

/**
 * Decodes `deflate` with its zlib wrapper (RFC 9110 §8.4.1.2), or raw, as some servers send it. No encoder starts a
 * raw stream with the first byte of a zlib header.
 */
function createAnyInflate(): Transform {
  let inner: Transform | null = null;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (inner === null) {
        const isWrapped = ((chunk[0] ?? 0) & 0x8f) === 0x08;
        inner = isWrapped ? createInflate() : createInflateRaw();
        inner.on("data", (data: Buffer) => this.push(data));
        inner.on("error", (error) => this.destroy(error));
      }
      inner.write(chunk, () => done());
    },
    flush(done) {
      if (inner === null) return done();
      inner.on("end", done);
      inner.end();
    },
    destroy(error, done) {
      inner?.destroy();
      done(error);
    },
  });
}

/**
 * Creates the decoders of a body, for the most recently applied coding first. Throws TargetFailure for an unknown
 * coding.
 */
function createDecoders(head: Pick<Head, "headers">, { memory, signal }: Context): Transform[] {
  const coded = [...parseList(head.headers.get("content-encoding")), ...parseTransferCodings(head)];
  const codings = coded.filter((coding) => coding !== "chunked" && !noCodings.has(coding));
  const makers = codings.flatMap((coding) => {
    const maker = decoders.get(coding);
    if (maker === undefined && !isCharset(coding))
      throw new TargetFailure(`The response body has ${describeUnsupported(coding)}.`);
    return maker ?? [];
  });
  if (makers.length > maxCodings)
    throw new TargetFailure(`The response body is encoded more than ${maxCodings} times.`);
  if (makers.length === 0) return [];
  memory.reserve(decoderBytes * makers.length);
  const chain = makers.reverse().map((maker) => maker());
  signal.addEventListener("abort", () => chain.forEach((decoder) => decoder.destroy()));
  return chain;
}

/** Whether the body was complete, exceeded the limit, or was stopped. */
export type Ending = "whole" | "long" | "stopped";

type BodyReading = {
  /** Rejects with TargetFailure if the body is truncated or can't be decoded. */
  ending: Promise<Ending>;
  stop(): void;
};

/**
 * Passes the decoded body to `take` in pieces. Reads at most `maxBytes` before and after each decoder. Throws
 * TargetFailure for an unknown coding.
 */
export const readDecoded = (
  response: HttpResponse,
  maxBytes: number,
  context: Context,
  onChunk: (chunk: Buffer) => void,
): BodyReading => readBody(response, createDecoders(response, context), maxBytes, context, onChunk);

/** Passes the body to `take` without decoding it. */
export const readEncoded: typeof readDecoded = (response, ...rest) =>
  readBody(response, [], ...rest);

function readBody(
  response: HttpResponse,
  chain: readonly Transform[],
  maxBytes: number,
  context: Context,
  take: (chunk: Buffer) => void,
): BodyReading {
  const { promise: ending, resolve, reject } = Promise.withResolvers<Ending>();
  let length = 0;
  const acceptDecoded = (chunk: Buffer) => {
    const bytesLeft = maxBytes - length;
    if (bytesLeft < 0) return;
    length += chunk.length;
    try {
      take(chunk.subarray(0, bytesLeft));
    } catch (error) {
      reject(error);
    }
    if (length > maxBytes) stop("long");
  };
  function stop(ending: Ending) {
    resolve(ending);
    for (const decoder of chain) decoder.destroy();
  }
  if (chain.length === 0) response.read(acceptDecoded).then(() => resolve("whole"), reject);
  else
    pipeThroughDecoders(response, chain, maxBytes, context, acceptDecoded, {
      resolve,
      reject,
      stop,
    });
  return { ending, stop: () => stop("stopped") };
}

type Settlement = {
  resolve: (ending: Ending) => void;
  reject: (error: unknown) => void;
  stop: (ending: Ending) => void;
};

/** Pipes the body through all decoders and passes the result to `decoded`. */
function pipeThroughDecoders(
  response: HttpResponse,
  chain: readonly Transform[],
  maxBytes: number,
  { memory }: Context,
  decoded: (chunk: Buffer) => void,
  { resolve, reject, stop }: Settlement,
) {
  const [first, ...others] = chain;
  let last = first as Transform;
  for (const decoder of chain)
    decoder.on("error", () =>
      reject(new TargetFailure("The compressed response body is corrupt.")),
    );
  for (const next of others) {
    let length = 0;
    // A few bytes can expand to gigabytes between two decoders, so this limits each of them.
    last.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) stop("long");
    });
    last = last.pipe(next);
  }
  last.on("data", (chunk: Buffer) => {
    decoded(chunk);
    releaseBuffer(chunk);
  });
  last.on("end", () => resolve("whole"));
  first?.on("drain", response.resume);
  let encoded = 0;
  const pieces = collectPieces((piece) => {
    if (encoded > maxBytes || first === undefined || first.destroyed) return;
    encoded += piece.length;
    memory.reserve(piece.length);
    const isLast = encoded > maxBytes;
    const copy = Buffer.from(piece);
    const isReady = first.write(copy, () => {
      memory.release(copy.length);
      releaseBuffer(copy);
      if (isLast) resolve("long");
    });
    if (!isReady) response.pause();
  }, Infinity);
  const decodeAll = async () => {
    await response.read((chunk) => pieces.push(chunk));
    pieces.flush();
    // An empty body is valid in every encoding.
    if (encoded === 0) resolve("whole");
    else first?.end();
  };
  decodeAll().catch(reject);
}

/** Reads the whole decoded body. Throws TargetFailure if it is longer than `maxBytes`. */
export async function readWholeBody(response: HttpResponse, maxBytes: number, context: Context) {
  const body = createGrowingBuffer(maxBytes, context.memory);
  const { ending } = readDecoded(response, maxBytes, context, (chunk) => body.push(chunk));
  if ((await ending) !== "whole")
    throw new TargetFailure(`The response is longer than ${maxBytes / 1024} KiB.`);
  return body.bytes();
}

/** Parses JSON; null for invalid JSON, and for JSON beyond the limits of `parseBounded`. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const parsed = parseBounded(new TextDecoder().decode(bytes), JSON.parse);
  return "value" in parsed ? parsed.value : null;
}
