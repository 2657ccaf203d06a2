import { once } from "node:events";
import { promisify } from "node:util";
import {
  constants,
  crc32,
  createBrotliCompress,
  createGzip,
  deflateRaw,
  inflateRaw,
} from "node:zlib";
import { pieceLength, type Pieces, sharedBody } from "../../http/responses/large-bodies.ts";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** A long page in gzip alone; `plain` inflates one piece at a time. */
type Deflated = { plain: Pieces; gzip: Blob | Pieces; size: number };

/** Begins every gzip member (RFC 1952 §2.3), without a time. */
const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** An empty final block of DEFLATE (RFC 1951 §3.2.6). */
const finalBlock = [3, 0];

/** Compresses the pieces that are written, in segments that refer to no other segment, so that each can be inflated alone. */
export function deflater() {
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
      const packed = joined([gzipHead, ...segments, tailOf(checksum, length)]);
      let end = gzipHead.length;
      const parts = segments.map((segment) => packed.subarray(end, (end += segment.length)));
      const plain = {
        length,
        count: parts.length,
        at: (index: number) =>
          inflate(parts[index] ?? new Uint8Array(), { finishFlush: constants.Z_SYNC_FLUSH }),
      };
      return { plain, gzip: sharedBody(packed), size: packed.length };
    },
  };
}

function tailOf(checksum: number, length: number): Uint8Array {
  const tail = new Uint8Array(10);
  tail.set(finalBlock);
  const view = new DataView(tail.buffer);
  view.setUint32(2, checksum, true);
  view.setUint32(6, length, true);
  return tail;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// A smaller window than short pages have: an encoder's memory is many times that.
const brotli = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20 },
};

/** Compresses a body piece by piece. */
export async function packedPieces(
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
  return joined(chunks);
}
