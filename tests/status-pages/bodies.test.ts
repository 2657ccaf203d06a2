import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Pieces } from "../../src/http/responses/large-bodies.ts";
import { createDeflater, compressPieces } from "../../src/status-pages/site/bodies.ts";

const createRandomBytes = (bytes: number) => {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return all;
};
/** A page that compresses well in some parts and not at all in others. */
const page = Buffer.concat([
  Buffer.alloc(3_000_000, "<i class=up></i>"),
  createRandomBytes(300_001),
]);

async function collectPieces(pieces: Pieces): Promise<Uint8Array[]> {
  return Promise.all(Array.from({ length: pieces.count }, async (_, index) => pieces.at(index)));
}

async function collectBytes(body: Blob | Pieces): Promise<Buffer> {
  if (body instanceof Blob) return Buffer.from(await body.bytes());
  return Buffer.concat(await collectPieces(body));
}

async function deflateSizes(sizes: readonly number[]) {
  const packing = createDeflater();
  let at = 0;
  for (const size of sizes) await packing.write(page.subarray(at, (at += size)));
  return packing.end(page.subarray(at));
}

test("a long page is one gzip member, and each piece inflates alone", async () => {
  for (const sizes of [[], [1, 65_536, 65_537, 1_000_000]]) {
    const { pieces, gzip, size } = await deflateSizes(sizes);
    const packed = await collectBytes(gzip);
    expect(packed.length).toBe(size);
    expect(gunzipSync(packed).equals(page)).toBe(true);
    const inflated = await collectPieces(pieces);
    for (const piece of inflated) expect(piece.length).toBeLessThanOrEqual(65_536);
    expect(pieces.length).toBe(page.length);
    expect(Buffer.concat(inflated).equals(page)).toBe(true);
  }
});

test("an empty page is one gzip member as well", async () => {
  const { gzip, pieces } = await createDeflater().end(new Uint8Array());
  expect(gunzipSync(await collectBytes(gzip))).toHaveLength(0);
  expect(pieces.length).toBe(0);
});

test("the other encodings are created piece by piece and decode to the same page", async () => {
  const { pieces } = await deflateSizes([]);
  expect(brotliDecompressSync(await compressPieces(pieces, "br")).equals(page)).toBe(true);
  expect(gunzipSync(await compressPieces(pieces, "gzip")).equals(page)).toBe(true);
});
