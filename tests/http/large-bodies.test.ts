/** Limits of large response bodies in flight, by network. */
import { describe, expect, test } from "bun:test";
import {
  createBodyResponse,
  largeFrom,
  createOwnBytesResponse,
  splitIntoPieces,
  createSharedBody,
  createTransferLimit,
} from "../../src/http/responses/large-bodies.ts";

const mebibyte = 1024 * 1024;
const large = new Uint8Array(4 * mebibyte).fill(65);
const request = (init: RequestInit = {}) => new Request("http://localhost/page", init);
const createLargeResponse = () => createBodyResponse(createSharedBody(large), {});

/** A limit with a clock of the test; `ask` returns the response, or null if it is rejected. */
function createLimit(most: number) {
  const time = { ms: 0 };
  const limit = createTransferLimit(most, () => time.ms);
  const ask = (address: string, response = createLargeResponse(), asked = request()) =>
    limit.admit(response, asked, () => address);
  return { time, limit, ask };
}

describe("a large body", () => {
  test("arrives complete with its length, in pieces of at most 64 KiB", async () => {
    const response = createLargeResponse();
    expect(response.headers.get("content-length")).toBe(String(large.length));
    let length = 0;
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      expect(piece.length).toBeLessThanOrEqual(65_536);
      length += piece.length;
    }
    expect(length).toBe(large.length);
  });

  test("is not computed before its client reads", async () => {
    let computed = 0;
    const pieces = splitIntoPieces(large);
    const counted = { ...pieces, at: (index: number) => (computed++, pieces.at(index)) };
    const reader = createBodyResponse(counted, {}).body?.getReader();
    await Bun.sleep(0);
    expect(computed).toBe(0);
    await reader?.read();
    expect(computed).toBe(1);
    await reader?.cancel();
    expect(computed).toBe(1);
  });

  test("starts at 256 KiB; smaller ones are sent directly and do not count", () => {
    const { limit, ask } = createLimit(0);
    expect(createSharedBody(new Uint8Array(largeFrom - 1))).toBeInstanceOf(Blob);
    expect(ask("192.0.2.1", new Response("small"))).not.toBeNull();
    expect(
      ask("192.0.2.1", createOwnBytesResponse(new Uint8Array(largeFrom - 1), {})),
    ).not.toBeNull();
    expect(ask("192.0.2.1")).toBeNull();
    const head = ask("192.0.2.1", createLargeResponse(), request({ method: "HEAD" }));
    expect([head?.body, head?.headers.get("content-length")]).toEqual([null, String(large.length)]);
    expect(limit.held()).toBe(0);
  });
});

describe("large bodies in flight", () => {
  const askMany = (
    ask: ReturnType<typeof createLimit>["ask"],
    address: (number: number) => string,
  ) =>
    Array.from({ length: 500 }, (_, number) => ask(address(number))).filter((one) => one !== null);

  test("of one network get a small share of the free bytes, from any of its addresses", () => {
    for (const address of [
      (number: number) => `192.0.2.${number % 256}`,
      (number: number) => `2001:db8:1:2::${number.toString(16)}`,
      (number: number) => `::ffff:192.0.2.${number % 256}`,
    ]) {
      const { ask } = createLimit(33 * mebibyte);
      // 16 of 64 KiB each are 1 MiB, 1/32 of the remaining 32 MiB.
      expect(askMany(ask, address)).toHaveLength(16);
      expect(ask("192.0.3.1")).not.toBeNull();
      expect(ask("2001:db8:1:3::1")).not.toBeNull();
    }
  });

  test("of 100 networks leave space for another", () => {
    const { ask, limit } = createLimit(128 * mebibyte);
    for (let number = 0; number < 100; number++) askMany(ask, () => `10.0.${number}.1`);
    expect(limit.held()).toBeLessThan(126 * mebibyte);
    expect(ask("192.0.2.1")).not.toBeNull();
  });

  test("that are not read make way for another network when no bytes are free", () => {
    const { ask, time, limit } = createLimit(8 * mebibyte);
    expect(askMany(ask, () => "10.0.0.1")).toHaveLength(3);
    for (let number = 1; limit.held() < 8 * mebibyte; number++) ask(`10.0.${number}.1`);
    expect(ask("192.0.2.1")).toBeNull();
    time.ms = 1_000;
    expect(ask("192.0.2.1")).not.toBeNull();
    expect(ask("192.0.3.1")).not.toBeNull();
    // Each network has one now, and its last one is not cut for another network.
    expect(ask("192.0.4.1")).toBeNull();
  });

  test("that are not read make way for others of the same network, but not for strangers", async () => {
    const { ask, time } = createLimit(33 * mebibyte);
    const first = askMany(ask, () => "192.0.2.1");
    const readers = first.map((one) => one.body?.getReader());
    expect(ask("192.0.2.2")).toBeNull();
    time.ms = 1_000;
    expect(ask("198.51.100.1")).not.toBeNull();
    // The first one reads.
    expect((await readers[0]?.read())?.done).toBe(false);
    expect(ask("192.0.2.2")).not.toBeNull();
    const all = await Promise.allSettled(readers.map(async (one) => one?.read()));
    const cut = all.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
    expect(cut).toEqual([1]);
  });

  test("release their bytes when they have arrived, were cancelled or lost their client", async () => {
    const { ask, limit } = createLimit(9 * mebibyte);
    await ask("192.0.2.1")?.bytes();
    expect(limit.held()).toBe(0);
    await ask("192.0.2.1")?.body?.cancel();
    expect(limit.held()).toBe(0);
    const client = new AbortController();
    ask("192.0.2.1", createLargeResponse(), request({ signal: client.signal }));
    expect(limit.held()).toBe(65_536);
    client.abort();
    expect(limit.held()).toBe(0);
  });

  test("count in full if no other response shares their bytes", () => {
    const { ask, limit } = createLimit(9 * mebibyte);
    const createOwnResponse = () => createOwnBytesResponse(new Uint8Array(4 * mebibyte), {});
    expect(ask("192.0.2.1", createOwnResponse())).not.toBeNull();
    expect(ask("192.0.2.1", createOwnResponse())).toBeNull();
    expect(ask("192.0.3.1", createOwnResponse())).not.toBeNull();
    expect(ask("192.0.4.1", createOwnResponse())).toBeNull();
    expect(limit.held()).toBe(2 * (4 * mebibyte + 65_536));
  });
});
