import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createByteBudget } from "../../../src/monitoring/checks/protocols/byte-budget.ts";
import { buildConditions, secretsOf } from "../../../src/monitoring/checks/protocols/assertions.ts";
import { readBody, defaultPatienceMs } from "../../../src/monitoring/checks/kinds/http-body.ts";
import { LocalFailure } from "../../../src/core/outgoing/failures.ts";
import type { HttpResponse } from "../../../src/core/outgoing/http/response.ts";
import { type Memory, uncountedMemory } from "../../../src/core/outgoing/memory.ts";
import type { MonitorSettings } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../../src/monitoring/monitors/schema.ts";
import { runCheckOfType, createCheckContext, runUntilTimedOut } from "../../support/check-runs.ts";
import { type Reply, startTarget } from "../../support/target.ts";

const kib = 1024;
const mib = 1024 * kib;

/** A response whose body arrives in these chunks, one per event-loop turn, unless it is paused. */
function buildResponse(
  chunks: Iterable<Buffer>,
  headers: Record<string, string> = {},
): HttpResponse {
  let waits: PromiseWithResolvers<void> | null = null;
  return {
    status: 200,
    headers: new Map(Object.entries(headers)),
    setCookies: [],
    length: null,
    async read(take) {
      for (const chunk of chunks) {
        take(chunk);
        await Bun.sleep(0);
        await waits?.promise;
      }
    },
    pause: () => void (waits ??= Promise.withResolvers()),
    resume() {
      waits?.resolve();
      waits = null;
    },
  };
}

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let from = 0, turn = 0; from < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

/** Tracks the current and the highest memory use. */
function createCountedMemory() {
  const heldBytes = { now: 0, most: 0 };
  const memory: Memory = {
    reserve(bytes) {
      heldBytes.now += bytes;
      heldBytes.most = Math.max(heldBytes.most, heldBytes.now);
    },
    release: (bytes) => void (heldBytes.now -= bytes),
  };
  return { memory, kept: heldBytes };
}

async function findIssue(wanted: object, response: HttpResponse, memory: Memory = uncountedMemory) {
  const usual = NewMonitor.parse({ type: "http", name: "Target", url: "http://intranet.lan" });
  const settings = { ...usual, ...wanted } as unknown as MonitorSettings<"http">;
  const collectSecrets = () => secretsOf(settings);
  const conditions = buildConditions(settings);
  const context = { ...createCheckContext(), memory };
  const limits = { allowance: { left: Infinity }, patienceMs: defaultPatienceMs };
  const body = await readBody(
    response,
    { conditions, secrets: collectSecrets, isSaved: false },
    context,
    limits,
  );
  const issue = await body.issue();
  return issue?.message.replace("but ", "") ?? null;
}

const letter = fc.constantFrom("a", "b", "ä", "€", "😀", "\ud83d\ude03", "\n");
const text = fc.array(letter, { minLength: 1, maxLength: 60 }).map((letters) => letters.join(""));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const codings: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
};

test("a text search in a stream equals a search in the whole body for any chunks and compression", async () => {
  const coding = fc.constantFrom(...Object.keys(codings));
  const filler = fc.constantFrom(0, 4_090, 16_380, 20_000);
  await fc.assert(
    fc.asyncProperty(
      text,
      text,
      sizes,
      coding,
      filler,
      async (body, wanted, sizes, coding, length) => {
        const whole = "x".repeat(length) + body;
        const bytes = codings[coding]?.(Buffer.from(whole)) ?? Buffer.alloc(0);
        const larger = length === 0 ? sizes : sizes.map((size) => size * 1_500);
        const createAnswer = () =>
          buildResponse(cut(bytes, larger), { "content-encoding": coding });
        const has = whole.includes(wanted);
        expect(await findIssue({ keyword: wanted }, createAnswer())).toBe(
          has ? null : "the keyword is missing",
        );
        expect(await findIssue({ keywordAbsent: wanted }, createAnswer())).toBe(
          has ? "it has the keyword that must be absent" : null,
        );
      },
    ),
  );
});

test("two texts are distinguished, even if they overlap or one contains the other", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, sizes, async (body, one, other, sizes) => {
      const issue = await findIssue(
        { keyword: one, keywordAbsent: other },
        buildResponse(cut(Buffer.from(body), sizes)),
      );
      const expected = !body.includes(one)
        ? "the keyword is missing"
        : body.includes(other)
          ? "it has the keyword that must be absent"
          : null;
      expect(issue).toBe(expected);
    }),
  );
});

test("a text is searched only in the first MiB, exact to the byte and without partial characters", async () => {
  for (const [before, issue] of [
    [mib - 6, null],
    [mib - 5, "the first 1 MiB of the response lack the keyword"],
  ] as const) {
    const body = Buffer.from(`${"x".repeat(before)}€nd.${"x".repeat(mib)}`);
    for (const size of [1_000, 64 * kib])
      expect(await findIssue({ keyword: "€nd." }, buildResponse(cut(body, [size])))).toBe(issue);
  }
});

describe("memory use of a response", () => {
  const body = Buffer.from(`${'{"a":"'.padEnd(mib - 8, "x")}"}`);

  test("is zero for a text search", async () => {
    const { memory, kept } = createCountedMemory();
    await findIssue(
      { keyword: "y", keywordAbsent: "z" },
      buildResponse(cut(body, [7_000])),
      memory,
    );
    expect(kept).toEqual({ now: 0, most: 0 });
  });

  test("is limited to the decompression buffer", async () => {
    const { memory, kept } = createCountedMemory();
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)));
    const bytes = gzipSync(Buffer.concat(Array.from({ length: 15 }, () => random)), { level: 0 });
    const headers = { "content-encoding": "gzip" };
    await findIssue({ keyword: "y" }, buildResponse(cut(bytes, [50_000]), headers), memory);
    expect(kept.most).toBeGreaterThan(64 * kib);
    expect(kept.most).toBeLessThanOrEqual(256 * kib);
  });

  test("is limited for JSON with any chunks", async () => {
    for (const size of [100, 3_000, 500_000]) {
      const { memory, kept } = createCountedMemory();
      expect(
        await findIssue({ jsonPath: "$.a" }, buildResponse(cut(body, [size])), memory),
      ).toBeNull();
      expect(kept.most).toBeLessThanOrEqual(mib);
    }
    const { memory, kept } = createCountedMemory();
    const small = Buffer.from(JSON.stringify({ a: "x".repeat(7_000) }));
    await findIssue({ jsonPath: "$.a" }, buildResponse(cut(small, [10])), memory);
    expect(kept.most).toBe(0);
  });
});

test("the body is not read while a header's search waits in the queue", async () => {
  let sent = 0;
  const piece = Buffer.alloc(64 * kib, "x");
  await using shop = await startTarget((response) => {
    const digits = Buffer.from(crypto.getRandomValues(new Uint8Array(15_000))).toString("hex");
    const writeMore = () => {
      do sent += piece.length;
      while (!response.destroyed && response.write(piece));
    };
    response.writeHead(200, { "x-digits": digits }).on("drain", writeMore);
    writeMore();
  });
  const value = "\\w*a\\w{30}z";
  const assertions = [{ source: "header", path: "X-Digits", op: "matches", value }];
  const message = "Not judged: too many long responses are being searched at once.";
  const waitForever = () => new Promise<never>(() => {});
  const found = await runUntilTimedOut(message, (timeoutMs) =>
    runCheckOfType("http", { url: shop.at(), assertions }, { timeoutMs, inTurn: waitForever }),
  );
  expect(found).toMatchObject({ status: "unknown", message });
  // The buffers of the operating system are filled.
  expect(sent).toBeLessThan(32 * mib);
});

describe("the memory of all responses", () => {
  const limits = { reserved: 32 * mib, shared: 32 * mib };

  test("is limited, and each organization's share stays available", () => {
    const take = fc.record({
      organization: fc.constantFrom("a", "b", "c", "d"),
      bytes: fc.integer({ min: 1, max: mib }),
      end: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(take, { maxLength: 400 }), (takes) => {
        const budget = createByteBudget(() => 4, limits);
        const heldByCheck = new Map<string, number>();
        const open = new Map<string, ReturnType<typeof budget.of>[]>();
        const share = limits.reserved / 4;
        for (const { organization, bytes, end } of takes) {
          const before = heldByCheck.get(organization) ?? 0;
          if (end) {
            for (const check of open.get(organization) ?? []) check.end();
            open.delete(organization);
            heldByCheck.delete(organization);
            continue;
          }
          const check = budget.of(organization);
          open.set(organization, [...(open.get(organization) ?? []), check]);
          try {
            check.reserve(bytes);
            heldByCheck.set(organization, before + bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(LocalFailure);
            expect(before + bytes).toBeGreaterThan(share);
          }
          const all = [...heldByCheck.values()].reduce((sum, reserved) => sum + reserved, 0);
          expect(budget.countUsed()).toBe(all);
          expect(all).toBeLessThanOrEqual(limits.reserved + limits.shared);
        }
      }),
    );
  });

  test("is released at the end of a check with any outcome, and later data is not counted", async () => {
    const budget = createByteBudget(() => 1, limits);
    const hangInBody: Reply = (response) =>
      void response.writeHead(200).write("x".repeat(200 * kib));
    const cutShort: Reply = (response) => {
      response.writeHead(200).write("x".repeat(200 * kib), () => response.destroy());
    };
    for (const reply of [hangInBody, cutShort]) {
      await using shop = await startTarget(reply);
      const memory = budget.of("ours");
      const found = await runCheckOfType(
        "http",
        { url: shop.at(), jsonPath: "$.a" },
        { timeoutMs: 500, memory },
      );
      expect([found.status, budget.countUsed()]).toEqual(["down", 0]);
      expect(() => memory.reserve(1)).toThrow(LocalFailure);
      memory.release(5);
      expect(budget.countUsed()).toBe(0);
    }
  });

  test("makes a check unknown, not down, if exhausted; checks of another organization continue", async () => {
    const budget = createByteBudget(() => 2, { reserved: 2 * mib, shared: mib });
    await using shop = await startTarget(
      (response) => void response.writeHead(200).end(JSON.stringify({ a: "x".repeat(500 * kib) })),
    );
    const hoarding = budget.of("ours");
    hoarding.reserve(2 * mib);
    const fields = { url: shop.at(), jsonPath: "$.a" };
    expect(await runCheckOfType("http", fields, { memory: budget.of("ours") })).toMatchObject({
      status: "unknown",
      message: "Not judged: too many long responses are being read at once.",
    });
    expect(await runCheckOfType("http", fields, { memory: budget.of("theirs") })).toMatchObject({
      status: "up",
    });
    hoarding.end();
    expect(await runCheckOfType("http", fields, { memory: budget.of("ours") })).toMatchObject({
      status: "up",
    });
  });
});
