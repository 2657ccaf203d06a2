import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { inflater } from "../../src/status-pages/long-pages.ts";

const page = new Uint8Array(5_000_000).fill(65);
const compressed = new Blob([gzipSync(page)]);

test("a page is inflated as its client takes it, and one that takes nothing holds no more than a few chunks", async () => {
  const reader = inflater()(compressed).getReader();
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    expect(read.value.length).toBeLessThanOrEqual(64 * 1024);
    length += read.value.length;
  }
  expect(length).toBe(page.length);
});

test("where too many are being read, the one that began first is cut short, and never taken for whole", async () => {
  const inflated = inflater(2);
  const [first, second, third] = [0, 1, 2].map(() => inflated(compressed).getReader());
  await second?.read();
  await second?.cancel();
  // One that is over makes room by itself.
  const fourth = inflated(compressed).getReader();
  expect((await third?.read())?.done).toBe(false);
  expect((await fourth.read()).done).toBe(false);
  const readAll = async () => {
    for (let read = await first?.read(); read && !read.done; read = await first?.read());
  };
  expect(readAll()).rejects.toThrow("Premature close");
});
