import { expect, test } from "bun:test";
import { Forwarding } from "../../src/cluster/forwarding.ts";
import { createMigratedStore } from "../support/engines.ts";
import { findErrorCode } from "../support/error-code.ts";
import { waitUntil } from "../support/poll.ts";

type Request = { line: string | null; text: string };

/** A node that runs forwarded requests, one with a clock that is behind, and the results. */
async function createForwarding() {
  const { store } = await createMigratedStore();
  const log = { info() {}, warn() {}, error() {} };
  const done: string[] = [];
  const failing = new Set<string>();
  const createNode = (ahead: number) =>
    new Forwarding({
      store,
      log,
      clock: () => Date.now() + ahead,
      has: (lease) => lease === "shard 0",
    });
  const [here, behind, ahead] = [createNode(0), createNode(-3_000), createNode(3_000)];
  here.onForwarded({
    async handle(request) {
      const { text } = request as Request;
      if (failing.has(text)) throw new Error(text);
      done.push(text);
    },
    lineOf: (request) => (request as Request).line,
  });
  const countRows = async () => (await store.query("select 1 from forwarded_requests", [])).length;
  /** Resolves when the request is stored, before any node runs it. */
  const ask = async (from: typeof here, line: string | null, text: string) => {
    const before = await countRows();
    const answer = from.forward("shard 0", { line, text }, 60_000);
    await waitUntil(async () => (await countRows()) !== before);
    return { answer };
  };
  return { here, behind, ahead, done, failing, ask };
}

test("requests of one queue run in the order of writing, regardless of the clients' clocks", async () => {
  const { here, behind, ahead, done, ask } = await createForwarding();
  const asked = [
    await ask(ahead, "job", "first"),
    await ask(behind, "job", "second"),
    await ask(ahead, "job", "third"),
  ];
  await here.waitUntilServed("job");
  expect(done).toEqual(["first", "second", "third"]);
  await Promise.all(asked.map(({ answer }) => answer));
});

test("a request waits for earlier ones of its queue, not for other queues", async () => {
  const { here, ahead, behind, done, failing, ask } = await createForwarding();
  failing.add("first");
  const asked = [
    await ask(ahead, "job", "first"),
    await ask(behind, "job", "second"),
    await ask(behind, "other", "alone"),
    await ask(behind, null, "free"),
  ];
  expect(await findErrorCode(here.waitUntilServed("job"))).toBe("UNAVAILABLE");
  await here.runOnce();
  expect(done.toSorted()).toEqual(["alone", "free"]);
  failing.clear();
  await Promise.all([here.waitUntilServed("job"), here.waitUntilServed("job"), here.runOnce()]);
  expect(done.slice(2)).toEqual(["first", "second"]);
  await Promise.all(asked.map(({ answer }) => answer));
});
