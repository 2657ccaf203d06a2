import { expect, test } from "bun:test";
import { AppError } from "../../src/core/errors.ts";
import { createFairQueue } from "../../src/core/collections/fair-queue.ts";

/** A queue whose tasks the test ends, with the order in which they started. */
function createWorld(settings?: Parameters<typeof createFairQueue>[0]) {
  const queue = createFairQueue(settings);
  const begun: string[] = [];
  const endings: (() => void)[] = [];
  return {
    queue,
    begun,
    add: (lane: string) =>
      queue.run(lane, async () => {
        begun.push(lane);
        await new Promise<void>((end) => endings.push(end));
        return lane;
      }),
    /** Ends the running tasks one by one until none is left. */
    endAll: async () => {
      for (let quiet = 0; quiet < 3;) {
        quiet = endings.length === 0 ? quiet + 1 : 0;
        endings.shift()?.();
        await new Promise((next) => setImmediate(next));
      }
    },
  };
}

test("lanes take turns, however many tasks wait in one of them", async () => {
  const { add, begun, endAll } = createWorld({ atOnce: 1 });
  const lanes = "aaaaaabbc".split("");
  const all = lanes.map(add);
  await endAll();
  expect(await Promise.all(all)).toEqual(lanes);
  expect(begun.join("")).toBe("abcabaaaa");
});

test("a limited number of tasks run at once, and one per lane", async () => {
  const { add, begun, endAll } = createWorld({ atOnce: 2 });
  for (const lane of "aaab") void add(lane);
  await Promise.resolve();
  expect(begun).toEqual(["a", "b"]);
  void add("c");
  await Promise.resolve();
  expect(begun).toEqual(["a", "b"]);
  await endAll();
  expect(begun).toEqual(["a", "b", "c", "a", "a"]);
});

test("a task for a full lane is rejected; other lanes are not full", async () => {
  const { add, endAll } = createWorld({ atOnce: 1, mostWaiting: 2 });
  const stored = [add("a"), add("a"), add("a")];
  const refused = await add("a").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AppError);
  expect(refused).toMatchObject({ code: "RATE_LIMITED", headers: { "Retry-After": "1" } });
  stored.push(add("b"));
  await endAll();
  expect(await Promise.all(stored)).toEqual(["a", "a", "a", "b"]);
});

test("a failing task frees its slot like any other", async () => {
  const { add, queue, endAll } = createWorld({ atOnce: 1 });
  const failed = queue.run("a", () => Promise.reject(new Error("No."))).catch(String);
  const next = add("a");
  expect(await failed).toBe("Error: No.");
  await endAll();
  expect(await next).toBe("a");
});
