import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGunzip, createGzip, type Gunzip } from "node:zlib";

/** So many are inflated at a time, each for one client; whoever began first makes room. */
const maxInflating = 200;

/** Compresses what is written, piece by piece; a piece may be used again once it is written. */
export function gzipped() {
  const gzip = createGzip();
  const chunks: Buffer<ArrayBuffer>[] = [];
  gzip.on("data", (chunk) => void chunks.push(chunk));
  return {
    write: (piece: Uint8Array) =>
      new Promise<void>((resolve, reject) => {
        gzip.write(piece, (error) => (error ? reject(error) : resolve()));
      }),
    async end(piece: Uint8Array): Promise<Blob> {
      gzip.end(piece);
      await once(gzip, "end");
      return new Blob(chunks);
    },
  };
}

/** The same as Brotli, with a smaller window than short pages have: an encoder's memory is many times that. */
export async function brotliOf(compressed: Blob): Promise<Blob> {
  const chunks: Buffer<ArrayBuffer>[] = [];
  const gunzip = createGunzip();
  gunzip.end(await compressed.bytes());
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 20 };
  await pipeline(gunzip, createBrotliCompress({ params }), async (packed) => {
    for await (const chunk of packed) chunks.push(chunk);
  });
  return new Blob(chunks);
}

/** Sends pages inflated, each no faster than its client takes it: a slow one holds a few chunks, and not the page. */
export function inflater(most = maxInflating) {
  const open = new Set<Gunzip>();

  return (compressed: Blob): ReadableStream<Uint8Array> => {
    const gunzip = createGunzip();
    const chunks = gunzip[Symbol.asyncIterator]();
    // Cut short, it is an error of the connection.
    if (open.size >= most) open.values().next().value?.destroy();
    open.add(gunzip);
    gunzip.on("close", () => open.delete(gunzip));
    return new ReadableStream<Uint8Array>(
      {
        start: async () => void gunzip.end(await compressed.bytes()),
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => void gunzip.destroy(),
      },
      { highWaterMark: 0 },
    );
  };
}
