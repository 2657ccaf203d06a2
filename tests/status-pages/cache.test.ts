/** The cache of public pages: renders, invalidation, memory and encodings. */
import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createFairQueue } from "../../src/core/collections/fair-queue.ts";
import { PageCache, type Rendered } from "../../src/status-pages/site/cache.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";

/** A cache whose clock the test sets, and one page whose body counts its renders. */
function createCache() {
  const time = { ms: 0 };
  const logged: string[] = [];
  const write = (message: string) => void logged.push(message);
  const cache = new PageCache(
    { info: write, warn: write, error: write },
    createFairQueue(),
    () => time.ms,
  );
  let times = 0;
  let meanwhile: () => Promise<void> | void = () => {};
  const make = async () => {
    times++;
    const readAt = time.ms;
    await meanwhile();
    const rendered = { status: 200, type: "text/plain", body: `made ${times} times` };
    return { organizationId: "ours", readAt, rendered };
  };
  const request = (headers: Record<string, string> = {}) =>
    new Request("http://localhost/status/ours", { headers });
  return {
    cache,
    time,
    logged,
    request,
    make,
    whileMaking: (work: () => Promise<void> | void) => void (meanwhile = work),
    /** Like the site: returns the cached page or renders it. */
    ask: async (headers?: Record<string, string>, path = "/status/ours") =>
      cache.respondCached(request(headers), path) ??
      (await cache.respondOrRender(request(headers), path, "ours", make)),
    async body(path?: string) {
      return (await this.ask({}, path))?.text();
    },
  };
}

describe("a page", () => {
  test("is rendered once per 30 s while nothing changes", async () => {
    const page = createCache();
    expect(await page.body()).toBe("made 1 times");
    page.time.ms = 29_999;
    expect(await page.body()).toBe("made 1 times");
    page.time.ms = 30_000;
    expect(await page.body()).toBe("made 2 times");
  });

  test("shows the first changes at once, however new it is", async () => {
    const page = createCache();
    await page.body();
    for (const [ms, times] of [
      [1, 2],
      [2, 3],
      [400, 4],
    ] as const) {
      page.time.ms = ms;
      page.cache.touch("ours");
      page.time.ms = ms + 0.5;
      expect(await page.body()).toBe(`made ${times} times`);
    }
    page.time.ms = 30_400;
    expect(await page.body()).toBe("made 4 times");
  });

  test("shows further changes within the same second together", async () => {
    const page = createCache();
    await page.body();
    for (let change = 0; change < 3; change++) {
      page.time.ms = 10 * change;
      page.cache.touch("ours");
      await page.body();
    }
    page.time.ms = 100;
    page.cache.touch("ours");
    page.time.ms = 990;
    expect(await page.body()).toBe("made 4 times");
    page.time.ms = 1_020;
    expect(await page.body()).toBe("made 5 times");
  });

  test("is rendered once a second during constant changes, after three immediate renders", async () => {
    const page = createCache();
    for (page.time.ms = 0; page.time.ms < 10_000; page.time.ms += 50) {
      page.cache.touch("ours");
      await page.body();
    }
    page.time.ms = 10_000;
    expect(await page.body()).toBe("made 13 times");
  });

  test("shows a change at once again after a quiet second", async () => {
    const page = createCache();
    for (page.time.ms = 0; page.time.ms < 5_000; page.time.ms += 50) {
      page.cache.touch("ours");
      await page.body();
    }
    const before = Number((await page.body())?.split(" ")[1]);
    page.time.ms += 1_000;
    await page.body();
    page.time.ms += 1_000;
    page.cache.touch("ours");
    expect(await page.body()).toBe(`made ${before + 2} times`);
  });

  test("stays cached when another organization's page changes", async () => {
    const page = createCache();
    await page.body();
    page.time.ms = 5_000;
    page.cache.touch("theirs");
    expect(await page.body()).toBe("made 1 times");
  });

  test("is not served after a publication", async () => {
    const page = createCache();
    await page.body();
    page.cache.drop("theirs");
    expect(await page.body()).toBe("made 1 times");
    page.cache.drop("ours");
    expect(page.cache.respondCached(page.request(), "/status/ours")).toBeNull();
    page.time.ms = 1;
    expect(await page.body()).toBe("made 2 times");
  });

  test("that changes during its render is rendered again", async () => {
    const page = createCache();
    page.whileMaking(() => page.cache.touch("ours"));
    await page.body();
    page.whileMaking(() => {});
    page.time.ms = 1_000;
    expect(await page.body()).toBe("made 2 times");
  });

  test("is rendered once for all clients that request it during the render", async () => {
    const page = createCache();
    const { promise, resolve } = Promise.withResolvers<void>();
    page.whileMaking(() => promise);
    const asked = Array.from({ length: 50 }, () => page.body());
    resolve();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["made 1 times"]));
  });

  test("that fails to render is served from the cache, and as an error without a cached copy", async () => {
    const page = createCache();
    page.whileMaking(() => Promise.reject(new Error("The disk is gone.")));
    expect(await page.body().catch(String)).toBe("Error: The disk is gone.");
    page.whileMaking(() => {});
    expect(await page.body()).toBe("made 2 times");
    page.time.ms = 30_000;
    page.whileMaking(() => Promise.reject(new Error("The disk is gone.")));
    expect(await page.body()).toBe("made 2 times");
    expect(page.logged).toEqual(["a status page could not be rendered again"]);
    page.whileMaking(() => {});
    expect(await page.body()).toBe("made 4 times");
  });

  test("that was removed is not served any more", async () => {
    const page = createCache();
    const renderNothing = async () => null;
    expect(
      await page.cache.respondOrRender(page.request(), "/status/ours", "ours", renderNothing),
    ).toBeNull();
    expect(page.cache.respondCached(page.request(), "/status/ours")).toBeNull();
    await page.body();
    page.time.ms = 30_000;
    expect(
      await page.cache.respondOrRender(page.request(), "/status/ours", "ours", renderNothing),
    ).toBeNull();
    expect(page.cache.respondCached(page.request(), "/status/ours")).toBeNull();
  });

  test("that was not found is looked up again after a second or a publication", async () => {
    const page = createCache();
    const renderNothing = async () => null;
    const look = (key: string) =>
      page.cache.respondOrRender(page.request(), key, "ours", renderNothing);
    await look("/none");
    expect(page.cache.isMissing("/none")).toBe(true);
    page.time.ms = 1_000;
    expect(page.cache.isMissing("/none")).toBe(false);
    await look("/none");
    page.cache.drop("ours");
    expect(page.cache.isMissing("/none")).toBe(false);
    await look("/first");
    for (let count = 0; count < 1_000; count++) await look(`/${count}`);
    expect([page.cache.isMissing("/first"), page.cache.isMissing("/0")]).toEqual([false, true]);
  });

  test("that changes during every render is not served", async () => {
    const page = createCache();
    page.whileMaking(() => page.cache.drop("ours"));
    expect(await page.ask()).toBeNull();
  });
});

describe("the memory", () => {
  /** A cache of a million bytes, and functions that put and find pages of organizations. */
  function createSmall() {
    const doNothing = () => {};
    const log = { info: doNothing, warn: doNothing, error: doNothing };
    const cache = new PageCache(log, createFairQueue(), () => 0, 1_000_000);
    const request = (accepted: string) =>
      new Request("http://localhost/", { headers: { "Accept-Encoding": accepted } });
    return {
      cache,
      keep: (organizationId: string, key: string, body: Rendered["body"], accepted = "identity") =>
        cache.respondOrRender(request(accepted), key, organizationId, async () => ({
          organizationId,
          readAt: 0,
          rendered: { status: 200, type: "text/plain", body },
        })),
      has: (key: string, accepted = "identity") =>
        cache.respondCached(request(accepted), key) !== null,
    };
  }
  const createRandomHex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex();

  test("is limited in bytes: the least recently read pages are evicted", async () => {
    const { keep, has } = createSmall();
    for (const key of ["a", "b", "c"]) await keep("ours", key, "x".repeat(320_000));
    expect(["a", "b", "c"].map((key) => has(key))).toEqual([true, true, true]);
    await keep("ours", "d", "x".repeat(320_000));
    expect(["a", "b", "c", "d"].map((key) => has(key))).toEqual([false, true, true, true]);
    for (let count = 0; count < 2_000; count++) await keep("ours", `small ${count}`, "x");
    const left = Array.from({ length: 2_000 }, (_, count) => has(`small ${count}`));
    expect(left.filter(Boolean).length).toBeLessThan(1_000);
    expect(left.at(-1)).toBe(true);
  });

  test("is limited across the languages of pages, and headers and unknown languages add no entry", async () => {
    const rendered = new Set<string>();
    await using visitor = await createVisitor();
    await visitor.publish({ title: "Status", language: "en", languages: ["de", "fr"] });
    for (let count = 0; count < 300; count++) {
      const requestedLanguage = ["de", "fr", "en", "ja", `x${count}`][count % 5] ?? "";
      const query = count % 2 === 0 ? "" : `?lang=${requestedLanguage}&n=${count}`;
      const { text } = await visitor.readHtml(`/status/ours${query}`, {
        headers: { "Accept-Language": `${requestedLanguage};q=0.${(count % 9) + 1}, xx-${count}` },
      });
      rendered.add(text);
    }
    expect(rendered.size).toBe(3);
    const { keep, has } = createSmall();
    for (let page = 0; page < 10; page++)
      for (const tag of ["en", "de", "fr"])
        await keep("ours", `page ${page} ${tag}`, "x".repeat(100_000));
    const left = Array.from({ length: 10 }, (_, page) =>
      ["en", "de", "fr"].filter((tag) => has(`page ${page} ${tag}`)),
    );
    expect(left.flat().length).toBeLessThan(10);
    expect(left.at(-1)).toEqual(["en", "de", "fr"]);
  });

  test("counts every encoding of a page", async () => {
    const { keep, has } = createSmall();
    // Hexadecimal digits compress to half their size.
    for (const key of ["a", "b", "c"]) await keep("ours", key, createRandomHex(150_000));
    for (const key of ["a", "b", "c"]) expect([key, has(key)]).toEqual([key, true]);
    expect((await keep("ours", "c", "", "gzip"))?.headers.get("content-encoding")).toBe("gzip");
    expect(["a", "b", "c"].map((key) => has(key))).toEqual([false, true, true]);
  });

  test("of one organization is not evicted by another's many pages", async () => {
    const { keep, has } = createSmall();
    await keep("theirs", "theirs", "x".repeat(100_000));
    for (let count = 0; count < 100; count++) await keep("ours", `${count}`, "x".repeat(100_000));
    expect([has("theirs"), has("99"), has("0")]).toEqual([true, true, false]);
  });

  test("does not grow with pages that are rendered again or removed", async () => {
    const { cache, keep, has } = createSmall();
    await keep("theirs", "theirs", "x".repeat(400_000));
    for (let count = 0; count < 20; count++) {
      await keep("ours", "ours", "x".repeat(400_000));
      cache.drop("ours");
    }
    expect(has("theirs")).toBe(true);
  });

  test("does not store a page larger than itself, which is served anyway", async () => {
    const { keep, has } = createSmall();
    // Random bytes stay large when compressed.
    const body = createRandomHex(2_000_000);
    const answer = await keep("ours", "large", body);
    expect((await answer?.text()) === body).toBe(true);
    expect(has("large")).toBe(false);
  });

  test("a page is compressed once for all concurrent requests, also in pieces", async () => {
    const { keep } = createSmall();
    const pieces = ["<p>", "Zürich", "</p>"];
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => keep("ours", "page", pieces, "gzip")),
    );
    const tags = new Set(answers.map((answer) => answer?.headers.get("etag")));
    expect(tags.size).toBe(1);
    const plain = await keep("ours", "page", "");
    expect(await plain?.text()).toBe("<p>Zürich</p>");
  });

  test("counts only the compressed size of a long page, whose encodings all match", async () => {
    const { cache, keep, has } = createSmall();
    const pieces = Array.from({ length: 30_000 }, (_, count) =>
      `<p>Zürich 😀 ${count}</p>\n`.repeat(5),
    );
    const body = pieces.join("");
    for (const key of ["a", "b", "c"]) await keep("ours", key, pieces);
    expect(["a", "b", "c"].map((key) => has(key))).toEqual([true, true, true]);
    const tags = new Set<string | null | undefined>();
    for (const [accepted, inflate] of [
      ["identity", (bytes: Buffer) => bytes],
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
    ] as const) {
      const answer = await keep("ours", "a", "", accepted);
      const bytes = inflate(Buffer.from((await answer?.bytes()) ?? []));
      expect([accepted, bytes.toString() === body]).toEqual([accepted, true]);
      const etag = answer?.headers.get("etag") ?? "";
      tags.add(etag);
      const headers = { "Accept-Encoding": accepted, "If-None-Match": etag };
      const again = cache.respondCached(new Request("http://localhost/", { headers }), "a");
      expect([again?.status, again?.headers.get("etag")]).toEqual([304, etag]);
    }
    expect(tags.size).toBe(3);
    const before = (await keep("ours", "a", "", "gzip"))?.headers.get("etag");
    await keep("ours", "other", [...pieces.slice(0, -1), "another end"]);
    expect((await keep("ours", "other", "", "gzip"))?.headers.get("etag")).not.toBe(before);
  });

  test("other tasks run while a long page is rendered", async () => {
    const { keep } = createSmall();
    const order: string[] = [];
    let isDone = false;
    const tick = () => {
      order.push("other");
      if (!isDone) setImmediate(tick);
    };
    function* renderSlowly() {
      for (let piece = 0; piece < 5; piece++) {
        order.push("piece");
        // Longer than one turn of the event loop.
        for (const until = performance.now() + 10; performance.now() < until;);
        yield "x";
      }
    }
    setImmediate(tick);
    await keep("ours", "page", renderSlowly());
    isDone = true;
    const between = order.slice(order.indexOf("piece"), order.lastIndexOf("piece"));
    expect(between.filter((one) => one === "other").length).toBeGreaterThanOrEqual(4);
  });
});

describe("its bytes", () => {
  const readBytes = async (accepted: string | null) => {
    const headers: Record<string, string> =
      accepted === null ? {} : { "Accept-Encoding": accepted };
    const answer = await createCache().ask(headers);
    const encoding = answer?.headers.get("content-encoding") ?? "identity";
    const bytes = new Uint8Array((await answer?.arrayBuffer()) ?? []);
    const plain =
      encoding === "br"
        ? brotliDecompressSync(bytes)
        : encoding === "gzip"
          ? gunzipSync(bytes)
          : bytes;
    expect(new TextDecoder().decode(plain)).toBe("made 1 times");
    expect(answer?.headers.get("vary")).toBe("Accept-Encoding");
    return encoding;
  };
  const cases: [accepted: string | null, encoding: string][] = [
    [null, "identity"],
    ["", "identity"],
    ["identity", "identity"],
    ["deflate, zstd", "identity"],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br; q=0.0 , gzip;q=0", "identity"],
    ["br;q=0.1", "br"],
  ];
  for (const [accepted, encoding] of cases)
    test(`are ${encoding} for Accept-Encoding: ${accepted ?? "(none)"}`, async () =>
      expect(await readBytes(accepted)).toBe(encoding));

  test("are not sent again to a client that has them, in any encoding", async () => {
    const page = createCache();
    for (const encoding of ["identity", "gzip", "br"]) {
      const accepting = { "Accept-Encoding": encoding };
      const etag = (await page.ask(accepting))?.headers.get("etag") ?? "";
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const answer = await page.ask({ ...accepting, "If-None-Match": known });
        expect([answer?.status, await answer?.text()]).toEqual([304, ""]);
        expect(answer?.headers.get("etag")).toBe(etag);
      }
      const other = await page.ask({ ...accepting, "If-None-Match": '"other"' });
      expect(other?.status).toBe(200);
    }
  });

  test("have a new ETag when they change", async () => {
    const page = createCache();
    const known = (await page.ask())?.headers.get("etag") ?? "";
    page.time.ms = 30_000;
    const answer = await page.ask({ "If-None-Match": known });
    expect([answer?.status, await answer?.text()]).toEqual([200, "made 2 times"]);
  });
});

test("a query is ignored, except for a month of the history", async () => {
  await using visitor = await createVisitor();
  const { get, createIncident, time } = visitor;
  const november = time.now;
  time.now = Date.parse("2026-10-05T10:00:00.000Z");
  await createIncident({ title: "In October" });
  time.now = november;
  await createIncident();
  const plain = await get("/status/ours");
  for (const query of ["?", "?x=1", "?month=2026-10", "?slug=theirs", "?%00"])
    expect((await get(`/status/ours${query}`)).text).toBe(plain.text);
  const october = await get("/status/ours/history?month=2026-10&x=2");
  expect(october.text).toContain("In October");
  const response = await get("/status/ours/history?x=3");
  expect(response.text).toContain("November 2026");
  for (const query of [
    "?month=",
    "?month=2026-13",
    "?month=2026-1",
    "?month=<b>",
    "?Month=2026-10",
    "?month=2026-11",
  ])
    expect((await get(`/status/ours/history${query}`)).text).toBe(response.text);
});

test("only months since the page's first incident exist", async () => {
  await using visitor = await createVisitor();
  const { get, createIncident, theirs, time } = visitor;
  const november = time.now;
  const openAt = async (at: string, open: () => Promise<unknown>) => {
    time.now = Date.parse(at);
    await open();
  };
  const openTheirs = () => theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
  await openAt("2026-03-05T10:00:00.000Z", openTheirs);
  await openAt("2026-06-05T10:00:00.000Z", () => createIncident({ public: false }));
  await openAt("2026-09-30T23:59:59.999Z", createIncident);
  time.now = november;
  const requestStatus = async (month: string) =>
    (await get(`/status/ours/history?month=${month}`)).status;
  for (const month of ["2026-09", "2026-10", "2026-11"])
    expect([month, await requestStatus(month)]).toEqual([month, 200]);
  for (const month of ["0000-01", "1999-12", "2026-03", "2026-06", "2026-08", "2026-12", "9999-12"])
    expect([month, await requestStatus(month)]).toEqual([month, 404]);
  expect((await get("/status/ours/history?month=2026-09")).text).not.toContain("Earlier");
});

/** Polls until the condition is true: pages follow a commit once they can be rendered again. */
async function waitUntilTrue({ passPageTime }: Visitor, isReached: () => Promise<boolean>) {
  while (!(await isReached())) {
    passPageTime(100);
    await Bun.sleep(1);
  }
}

test("a new incident, a change of state and a new title appear without a restart", async () => {
  await using visitor = await createVisitor();
  const { get, createIncident, createJob, publish } = visitor;
  const { id, report } = await createJob();
  await publish({ sections: [{ name: "Jobs", monitors: [{ id }] }] });
  await waitUntilTrue(
    visitor,
    async () => (await get("/status/ours.json")).json().sections.length === 1,
  );
  await createIncident({ title: "Card payments fail" });
  await waitUntilTrue(visitor, async () =>
    (await get("/status/ours")).text.includes("Card payments fail"),
  );
  await report({ status: "down" });
  await waitUntilTrue(visitor, async () => (await get("/status/ours")).text.includes(" is down"));
  await publish({ title: "Renamed" });
  await waitUntilTrue(visitor, async () =>
    (await get("/status/ours")).text.includes("Renamed</b>"),
  );
  await publish({ visibility: "hidden" });
  await waitUntilTrue(visitor, async () => (await get("/status/ours")).status === 404);
});

test("a host name works from when a page has it until the page loses it", async () => {
  await using visitor = await createVisitor();
  const { ask, publish } = visitor;
  const host = "status.team.example";
  expect(await ask("/", { host })).toBeNull();
  await publish({ hosts: [host] });
  await waitUntilTrue(visitor, async () => (await ask("/", { host }))?.status === 200);
  await publish({ hosts: [] });
  await waitUntilTrue(visitor, async () => (await ask("/", { host })) === null);
});

test("a page that is hidden during its render is not cached", async () => {
  await using visitor = await createVisitor();
  const { get, monitor, publish } = visitor;
  await publish({ sections: [buildSection("All", (await monitor()).id)], historyDays: 365 });
  // The first render of a year takes long enough to overlap with the change.
  const first = get("/status/ours");
  await publish({ visibility: "hidden" });
  await first;
  await waitUntilTrue(visitor, async () => (await get("/status/ours")).status === 404);
});
