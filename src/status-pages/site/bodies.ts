/** Compresses the bodies of cached pages, and stores long ones only in gzip. */
import { once } from "node:events";
import { promisify } from "node:util";
import {
  brotliCompress,
  constants,
  crc32,
  createBrotliCompress,
  createGzip,
  deflateRaw,
  gzip,
  inflateRaw,
} from "node:zlib";
import { statusPageBounds } from "../../core/limits.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import { pieceLength, type Pieces, createSharedBody } from "../../http/responses/large-bodies.ts";

/** A rendered body: whole, or in pieces that are rendered on demand. */
export type RenderedBody = string | Uint8Array<ArrayBuffer> | Iterable<string>;

/** A body that responses share. */
export type Body = Blob | Pieces;

/** Maximum bytes of a page stored uncompressed. Longer pages are inflated for clients that do not accept gzip. */
const maxPlain = statusPageBounds.cachedPlain.value;

const compress = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 22,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
};

/** Compresses a body for clients that accept the encoding. */
export async function compressBody(body: Body, encoding: "br" | "gzip") {
  const packed =
    body instanceof Blob
      ? await compressBytes(body, encoding)
      : await compressPieces(body, encoding);
  // Read first, because storing can free the array.
  const size = packed.length;
  return { body: storeBody(packed), size };
}

async function compressBytes(plain: Blob, encoding: "br" | "gzip") {
  const source = await plain.bytes();
  const packed = await compress[encoding](source);
  releaseBytes(source);
  return packed;
}

/** Minimum bytes of an array to free. Smaller arrays can share their buffer with others. */
const minReleasedBytes = 64 * 1024;

/** Frees a copy's memory at once: garbage of this size grows faster than it is collected. */
function releaseBytes({ buffer, byteLength }: Uint8Array) {
  if (byteLength >= minReleasedBytes && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Stores bytes as a body, and frees them if the body is a copy. */
function storeBody(bytes: Uint8Array<ArrayBuffer>): Body {
  const body = createSharedBody(bytes);
  if (body instanceof Blob) releaseBytes(bytes);
  return body;
}

type CollectedBody = {
  identity: Body;
  /** Stored bytes of a long body, from which `identity` is inflated. */
  gzip?: Body;
  /** Size of the stored body, in bytes. */
  size: number;
  hash: bigint;
};

/** Collects a rendered body. Other work can run while a long page is rendered. */
export async function collectBody(body: RenderedBody): Promise<CollectedBody> {
  if (body instanceof Uint8Array)
    return { identity: createSharedBody(body), size: body.length, hash: BigInt(Bun.hash(body)) };
  const buffer = new TextBuffer();
  let hash = 0n;
  let long = null as ReturnType<typeof createDeflater> | null;
  const takePart = () => {
    const part = buffer.take();
    hash = BigInt(Bun.hash(part, hash));
    return part;
  };
  await forEachYielding(typeof body === "string" ? [body] : body, (piece) => {
    buffer.append(piece);
    if (buffer.length <= maxPlain) return undefined;
    long ??= createDeflater();
    return long.write(takePart());
  });
  const lastPart = takePart();
  if (long === null) {
    // A copy, because the buffer is reused.
    const wholeText = lastPart.slice();
    buffer.free();
    return { size: wholeText.length, identity: storeBody(wholeText), hash };
  }
  const { pieces: identity, gzip, size } = await long.end(lastPart);
  buffer.free();
  return { identity, gzip, size, hash };
}

const encoder = new TextEncoder();

/** Buffers for reuse. Otherwise each page leaves megabytes of garbage, which grow faster than they are collected. */
const freeBuffers: Uint8Array<ArrayBuffer>[] = [];
/** Maximum bytes of a reused buffer. Larger ones are rare: a single long piece needed them. */
const maxBuffer = 4 * maxPlain;

/** Encodes pieces of text into a reused buffer, one after the other. */
class TextBuffer {
  length = 0;
  #bytes = freeBuffers.pop() ?? new Uint8Array(64 * 1024);

  append(piece: string) {
    // A UTF-16 code unit needs up to three bytes in UTF-8.
    const needed = this.length + 3 * piece.length;
    if (needed > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
      longer.set(this.#bytes.subarray(0, this.length));
      releaseBytes(this.#bytes);
      this.#bytes = longer;
    }
    this.length += encoder.encodeInto(piece, this.#bytes.subarray(this.length)).written;
  }

  /** Returns the bytes since the last call. They are valid until the next `append`. */
  take(): Uint8Array<ArrayBuffer> {
    const part = this.#bytes.subarray(0, this.length);
    this.length = 0;
    return part;
  }

  free() {
    if (this.#bytes.length <= maxBuffer) freeBuffers.push(this.#bytes);
  }
}

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Inflates a piece into one buffer: the default of four takes three times the CPU time. */
const wholePiece = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: pieceLength + 64 };

/** A long page, stored only in gzip. `pieces` inflates one piece at a time. */
type Deflated = { pieces: Pieces; gzip: Body; size: number };

/** Header of a gzip member without a time (RFC 1952 §2.3). */
const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** An empty final block of DEFLATE (RFC 1951 §3.2.6). */
const finalBlock = [3, 0];

/** Compresses pieces into segments that can each be inflated alone. */
export function createDeflater() {
  const segments: Uint8Array[] = [];
  let checksum = 0;
  let length = 0;

  async function write(piece: Uint8Array) {
    for (let at = 0; at < piece.length; at += pieceLength) {
      const part = piece.subarray(at, at + pieceLength);
      checksum = crc32(part, checksum);
      length += part.length;
      segments.push(await deflate(part, { finishFlush: constants.Z_FULL_FLUSH }));
    }
  }

  return {
    write,
    async end(piece: Uint8Array): Promise<Deflated> {
      await write(piece);
      const packed = joinBytes([gzipHead, ...segments, buildTail(checksum, length)]);
      let end = gzipHead.length;
      const parts = segments.map((segment) => packed.subarray(end, (end += segment.length)));
      const inflatedPieces = {
        length,
        count: parts.length,
        at: (index: number) => inflate(parts[index] ?? new Uint8Array(), wholePiece),
      };
      return { pieces: inflatedPieces, gzip: createSharedBody(packed), size: packed.length };
    },
  };
}

function buildTail(checksum: number, length: number): Uint8Array {
  const tail = new Uint8Array(10);
  tail.set(finalBlock);
  const view = new DataView(tail.buffer);
  view.setUint32(2, checksum, true);
  view.setUint32(6, length, true);
  return tail;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// A smaller window than for short pages, because the encoder's memory is a multiple of it.
const brotli = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20 },
};

/** Compresses a body piece by piece. */
export async function compressPieces(
  pieces: Pieces,
  encoding: "br" | "gzip",
): Promise<Uint8Array<ArrayBuffer>> {
  const packer = encoding === "br" ? createBrotliCompress(brotli) : createGzip();
  const chunks: Buffer[] = [];
  packer.on("data", (chunk: Buffer) => void chunks.push(chunk));
  const ended = once(packer, "end");
  for (let index = 0; index < pieces.count; index++) {
    const piece = await pieces.at(index);
    await new Promise<void>((resolve, reject) => {
      packer.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
  packer.end();
  await ended;
  return joinBytes(chunks);
}
