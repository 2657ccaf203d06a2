/** The queue for password hashing: order and limits by network and kind of request. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../src/core/errors.ts";
import { type HashingClient, HashingQueue } from "../../src/core/security/hashing-queue.ts";

/** A queue whose tasks the test ends, in the order of their start. */
function setUpScene() {
  const time = { ms: 0 };
  const queue = new HashingQueue(() => time.ms);
  const running: { name: string; end: () => void }[] = [];
  const begun: string[] = [];
  const refused: string[] = [];
  let maxRunning = 0;
  const request = (name: string, client: HashingClient) =>
    queue
      .run(client, () => {
        begun.push(name);
        return new Promise<void>((end) => {
          running.push({ name, end });
          maxRunning = Math.max(maxRunning, running.length);
        });
      })
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        refused.push(name);
        expect([error.code, error.headers]).toEqual(["RATE_LIMITED", { "Retry-After": "1" }]);
      });
  const settle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  async function endOne(name?: string) {
    const index = name === undefined ? 0 : running.findIndex((one) => one.name === name);
    running.splice(index, 1)[0]?.end();
    await settle();
  }
  async function endAll() {
    while (running.length > 0) await endOne();
  }
  const signIn = (client: string, isKnown = false): HashingClient => ({
    lane: "sign-in",
    client,
    isKnown,
  });
  const buildPageClient = (client: string): HashingClient => ({ lane: "page", client });
  const getMostAtOnce = () => maxRunning;
  return {
    request,
    begun,
    refused,
    settle,
    endOne,
    endAll,
    signIn,
    buildPageClient,
    getMostAtOnce,
    running,
    time,
  };
}

test("while strangers from 200 networks open pages, a sign-in starts at once", async () => {
  const { request, begun, refused, settle, endAll, signIn, buildPageClient, getMostAtOnce } =
    setUpScene();
  for (let i = 0; i < 200; i++) void request(`page ${i}`, buildPageClient(`10.0.0.${i}`));
  void request("owner", signIn("192.168.1.5"));
  await settle();
  expect(begun).toEqual(["page 0", "owner"]);
  await endAll();
  expect([begun.length, refused.length, getMostAtOnce()]).toEqual([201, 0, 2]);
});

test("sign-ins do not block passwords of pages", async () => {
  const { request, begun, settle, endOne, endAll, signIn, buildPageClient, running } = setUpScene();
  for (let i = 0; i < 10; i++) void request(`sign-in ${i}`, signIn(`10.0.0.${i}`));
  void request("page", buildPageClient("10.0.1.1"));
  await settle();
  expect(begun).toEqual(["sign-in 0", "sign-in 1"]);
  await endOne();
  expect(running.map(({ name }) => name)).toEqual(["sign-in 1", "page"]);
  await endAll();
});

test("clients take turns with one task at a time: one client's many tasks do not delay another's", async () => {
  const { request, begun, settle, endAll, signIn } = setUpScene();
  const requests = ["a", "a", "a", "a", "a", "b", "b", "c"];
  for (const client of requests) void request(client, signIn(client));
  await settle();
  expect(begun).toEqual(["a", "b"]);
  await endAll();
  expect(begun).toEqual(["a", "b", "c", "b", "a", "a", "a", "a"]);
});

for (const lane of ["sign-in", "page"] as const)
  test(`while 200 networks keep guessing, another network's first password is next: ${lane}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 199 }), { maxLength: 600 }),
        fc.nat({ max: 400 }),
        async (guesses, ended) => {
          const { request, begun, refused, settle, endOne, running } = setUpScene();
          for (let index = 0; index < 200; index++)
            void request("first", { lane, client: `${index}` });
          for (const index of guesses) void request("guess", { lane, client: `${index}` });
          await settle();
          for (let count = 0; count < ended && running.length > 0; count++) await endOne();
          void request("owner", { lane, client: "owner" });
          for (const index of guesses) void request("guess", { lane, client: `${index}` });
          await endOne();
          expect(begun).toContain("owner");
          expect(refused).not.toContain("owner");
        },
      ),
      { numRuns: 30 },
    );
  });

test("the client with the fewest recent attempts is first, whether right, wrong or timed out", async () => {
  const { request, begun, settle, endOne, endAll, signIn, time } = setUpScene();
  const running = ["x", "y"].map((name) => request(name, signIn(name)));
  for (let count = 0; count < 3; count++) void request("often", signIn("often"));
  await settle();
  void request("twice", signIn("twice"));
  time.ms = 8_001;
  await endOne();
  await endOne();
  await Promise.all(running);
  // Attempts that timed out count as well.
  for (const name of ["z", "v"]) void request(name, signIn(name));
  void request("twice", signIn("twice"));
  void request("often", signIn("often"));
  await settle();
  await endAll();
  expect(begun).toEqual(["x", "y", "z", "v", "twice", "often"]);
});

test("attempts are forgotten at one per ten minutes", async () => {
  const { request, begun, settle, endAll, signIn, time } = setUpScene();
  const askAlone = async (client: string) => {
    void request(client, signIn(client));
    await settle();
    await endAll();
  };
  const orderOf = async (clients: readonly string[]) => {
    for (const busy of ["x", "y"]) void request(busy, signIn(`${busy} at ${time.ms}`));
    for (const client of clients) void request(client, signIn(client));
    await settle();
    await endAll();
    return begun.slice(-clients.length);
  };
  for (const client of ["guesser", "guesser", "guesser", "mistaken"]) await askAlone(client);
  expect(await orderOf(["mistaken", "guesser"])).toEqual(["mistaken", "guesser"]);
  // Four and two attempts count so far; of the four, one remains.
  time.ms += 3 * 600_000;
  for (let count = 0; count < 2; count++) await askAlone("mistaken");
  expect(await orderOf(["guesser", "mistaken"])).toEqual(["guesser", "mistaken"]);
});

test("of many first attempts the newest is first, and after eight seconds the others are rejected", async () => {
  const { request, begun, refused, settle, endOne, signIn, time } = setUpScene();
  for (let i = 0; i < 200; i++) void request(`stranger ${i}`, signIn(`10.0.0.${i}`));
  await settle();
  time.ms = 8_000;
  void request("owner", signIn("192.168.1.5"));
  await endOne();
  expect([begun, refused.length]).toEqual([["stranger 0", "stranger 1", "owner"], 0]);
  time.ms = 8_001;
  await endOne();
  expect(refused.length).toBe(198);
});

test("when a thousand attempts wait, the client with the most gives up one, and can't add any", async () => {
  const { request, refused, settle, endAll, begun, signIn } = setUpScene();
  for (let i = 0; i < 1_001; i++) void request(`many ${i}`, signIn("10.0.0.1"));
  await settle();
  expect(refused).toEqual([]);
  void request("another", signIn("10.0.0.2"));
  void request("third", signIn("10.0.0.3"));
  void request("one more", signIn("10.0.0.1"));
  await settle();
  expect(refused).toEqual(["many 1000", "one more"]);
  await endAll();
  expect(begun.slice(0, 4)).toEqual(["many 0", "another", "third", "many 1"]);
});

test("a network with known people precedes 200 unknown networks, within its limit", async () => {
  const { request, begun, refused, settle, endOne, signIn } = setUpScene();
  for (let i = 0; i < 200; i++) void request(`stranger ${i}`, signIn(`10.0.0.${i}`));
  await settle();
  for (let i = 0; i < 12; i++) void request(`known ${i}`, signIn("192.168.1.5", true));
  void request("new", signIn("10.0.1.1"));
  for (let i = 0; i < 10; i++) await endOne(i === 0 ? undefined : `known ${i - 1}`);
  expect(begun.slice(2)).toEqual(Array.from({ length: 10 }, (_, index) => `known ${index}`));
  await endOne();
  expect([begun.at(-1), refused]).toEqual(["new", []]);
});

test("a failing task frees its slot like any other", async () => {
  const queue = new HashingQueue();
  const client = { lane: "sign-in", client: "10.0.0.1" } as const;
  const runFailing = () => queue.run(client, () => Promise.reject(new Error("not a hash")));
  for (let i = 0; i < 3; i++) expect(runFailing()).rejects.toThrow("not a hash");
  expect(await queue.run(client, async () => "done")).toBe("done");
});
