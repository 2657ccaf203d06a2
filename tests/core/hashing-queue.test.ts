import { expect, test } from "bun:test";
import { AppError } from "../../src/core/errors.ts";
import { type HashingClient, hashingQueue } from "../../src/core/hashing-queue.ts";

/** A queue whose work ends when the test says so, in the order in which it began. */
function scene() {
  const queue = hashingQueue();
  const running: { name: string; end: () => void }[] = [];
  const begun: string[] = [];
  const refused: string[] = [];
  let most = 0;
  const ask = (name: string, client: HashingClient) =>
    queue
      .run(client, () => {
        begun.push(name);
        return new Promise<void>((end) => {
          running.push({ name, end });
          most = Math.max(most, running.length);
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
  const page = (client: string): HashingClient => ({ lane: "page", client });
  const mostAtOnce = () => most;
  return { ask, begun, refused, settle, endOne, endAll, signIn, page, mostAtOnce, running };
}

test("while strangers of 200 networks open pages, whoever signs in is begun at once", async () => {
  const { ask, begun, refused, settle, endAll, signIn, page, mostAtOnce } = scene();
  for (let i = 0; i < 200; i++) void ask(`page ${i}`, page(`10.0.0.${i}`));
  void ask("owner", signIn("192.168.1.5"));
  await settle();
  expect(begun).toEqual(["page 0", "owner"]);
  // What waits is bounded; everybody else is told to come back.
  expect(refused.length).toBe(187);
  await endAll();
  expect([begun.length, mostAtOnce()]).toEqual([14, 2]);
});

test("those who sign in do not keep pages closed", async () => {
  const { ask, begun, settle, endOne, endAll, signIn, page, running } = scene();
  for (let i = 0; i < 10; i++) void ask(`sign-in ${i}`, signIn(`10.0.0.${i}`));
  void ask("page", page("10.0.1.1"));
  await settle();
  expect(begun).toEqual(["sign-in 0", "sign-in 1"]);
  await endOne();
  expect(running.map(({ name }) => name)).toEqual(["sign-in 1", "page"]);
  await endAll();
});

test("clients take turns, each with one at a time: nobody's many hold up another's one", async () => {
  const { ask, begun, settle, endAll, signIn } = scene();
  const asked = ["a", "a", "a", "a", "a", "b", "b", "c"];
  for (const client of asked) void ask(client, signIn(client));
  await settle();
  expect(begun).toEqual(["a", "b"]);
  await endAll();
  expect(begun).toEqual(["a", "b", "c", "a", "b", "a", "a", "a"]);
});

test("where the queue is full, whoever has most in it makes room for somebody else", async () => {
  const { ask, begun, refused, settle, endAll, signIn } = scene();
  for (let i = 0; i < 20; i++) void ask(`many ${i}`, signIn("10.0.0.1"));
  expect(refused.length).toBe(0);
  await settle();
  expect(refused.length).toBe(7);
  void ask("another", signIn("10.0.0.2"));
  void ask("third", signIn("10.0.0.3"));
  await settle();
  expect(begun).toEqual(["many 0", "another"]);
  await endAll();
  expect(begun).toContain("third");
  expect(begun.length + refused.length).toBe(22);
});

test("strangers of 200 networks who sign in hold up nobody from where people are known", async () => {
  const { ask, begun, refused, settle, endOne, endAll, signIn } = scene();
  for (let i = 0; i < 200; i++) void ask(`stranger ${i}`, signIn(`10.0.0.${i}`));
  await settle();
  void ask("owner", signIn("192.168.1.5", true));
  await settle();
  expect(refused).not.toContain("owner");
  await endOne();
  expect(begun).toEqual(["stranger 0", "stranger 1", "owner"]);
  await endAll();
});

test("work that fails makes room like any other", async () => {
  const queue = hashingQueue();
  const client = { lane: "sign-in", client: "10.0.0.1" } as const;
  const failing = () => queue.run(client, () => Promise.reject(new Error("not a hash")));
  for (let i = 0; i < 3; i++) expect(failing()).rejects.toThrow("not a hash");
  expect(await queue.run(client, async () => "done")).toBe("done");
});
