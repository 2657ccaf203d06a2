import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  isLinearizable,
  createMembershipModel,
  type Model,
  type Operation,
  createTimelineModel,
} from "../support/linearizability.ts";
import { recordClientHistory } from "../support/client-history.ts";
import { hasRqlite, findLeader, type RqliteNode, startCluster } from "../support/rqlite.ts";
import { createRandom } from "../support/seeded.ts";
import { createTwoNodes } from "../support/two-nodes.ts";

describe("the checker", () => {
  const post = (text: string, start: number, end: number, answered: string[] | null) =>
    ({ input: { post: text }, output: answered, start, end }) as const;
  const read = (start: number, end: number, answered: string[]) =>
    ({ input: "read", output: answered, start, end }) as const;

  test.each([
    ["one after the other", [post("a", 0, 1, ["a"]), read(2, 3, ["a"])], true],
    ["a read during a post that sees it", [post("a", 0, 3, ["a"]), read(1, 2, ["a"])], true],
    ["a read during a post that does not", [post("a", 0, 3, ["a"]), read(1, 2, [])], true],
    ["a read after a post that does not", [post("a", 0, 1, ["a"]), read(2, 3, [])], false],
    [
      "two reads of which the later sees less",
      [post("a", 0, 9, ["a"]), read(1, 2, ["a"]), read(3, 4, [])],
      false,
    ],
    ["a lost post", [post("a", 0, 2, ["a"]), post("b", 1, 3, ["b"])], false],
    ["two at once in either order", [post("a", 0, 2, ["b", "a"]), post("b", 1, 3, ["b"])], true],
    ["one applied twice", [post("a", 0, 1, ["a"]), read(2, 3, ["a", "a"])], false],
    ["an unknown one that happened", [post("a", 0, 1, null), read(2, 3, ["a"])], true],
    ["an unknown one that did not", [post("a", 0, 1, null), read(2, 3, [])], true],
    [
      "an unknown one that happened late",
      [post("a", 0, 1, null), read(2, 3, []), read(4, 5, ["a"])],
      true,
    ],
    [
      "an unknown one that was undone",
      [post("a", 0, 1, null), read(2, 3, ["a"]), read(4, 5, [])],
      false,
    ],
    [
      "an unknown one that happened before its start",
      [read(0, 1, ["a"]), post("a", 2, 3, null)],
      false,
    ],
  ] as const)("%s", (_, history, isFine) => {
    expect(isLinearizable(history, createTimelineModel(history))).toBe(isFine);
  });

  test("a monitor that leaves a group by joining another", () => {
    const model = createMembershipModel({ m: "g", n: null });
    const at = (input: object, output: (string | null)[], start: number) =>
      ({ input, output, start, end: start + 1 }) as never;
    const moves = [
      at({ group: "h", members: ["m", "n"] }, ["n", "m"], 0),
      at({ membersOf: "g" }, [], 2),
      at({ monitor: "n", to: "g" }, ["g"], 4),
      at({ membersOf: "h" }, ["m"], 6),
    ];
    expect(isLinearizable([...moves, at({ groupOf: "m" }, ["h"], 8)], model)).toBe(true);
    expect(isLinearizable([...moves, at({ groupOf: "m" }, ["g"], 8)], model)).toBe(false);
  });

  test("agrees with a brute-force search for small histories", () => {
    const random = createRandom(15);
    const pickBelow = (count: number) => Math.floor(random() * count);
    const register: Model<number, { set: number } | "get", number> = {
      initial: 0,
      step: (state, input, answered) => {
        const after = input === "get" ? state : input.set;
        return answered === null || answered === after ? after : null;
      },
    };
    type RegisterOperation = Operation<{ set: number } | "get", number>;
    const canContinue = (
      order: readonly RegisterOperation[],
      left: readonly RegisterOperation[],
      state: number,
    ): boolean =>
      left.every(({ output }) => output === null) ||
      left.some((one) => {
        if (left.some((other) => other.output !== null && other.end < one.start)) return false;
        const after = register.step(state, one.input, one.output);
        const rest = left.filter((other) => other !== one);
        return after !== null && canContinue([...order, one], rest, after);
      });
    const verdicts = [0, 0];
    for (let round = 0; round < 2_000; round++) {
      const history: RegisterOperation[] = Array.from({ length: 1 + pickBelow(6) }, () => {
        const start = pickBelow(10);
        const set = pickBelow(3);
        const isSet = random() < 0.5;
        return {
          input: isSet ? { set } : "get",
          output: random() < 0.2 ? null : isSet ? set : pickBelow(3),
          start,
          end: start + pickBelow(5),
        };
      });
      const expected = canContinue([], history, 0);
      verdicts[Number(expected)] = (verdicts[Number(expected)] ?? 0) + 1;
      expect([round, isLinearizable(history, register)]).toEqual([round, expected]);
    }
    expect(Math.min(...verdicts)).toBeGreaterThan(300);
  });
});

describe.skipIf(!hasRqlite)("two servers whose database loses its leader", () => {
  let databases: RqliteNode[];
  let nodes: Awaited<ReturnType<typeof createTwoNodes>>;
  beforeAll(async () => {
    databases = await startCluster();
    nodes = await createTwoNodes(databases);
  });
  afterAll(async () => {
    await nodes.stop();
    await Promise.all(databases.map((node) => node.kill()));
  });

  test("are linearizable", async () => {
    const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
    console.log(`history: SEED=${seed}`);
    const clients = (await nodes.world()).map(({ ours }) => ours.api);
    const history = await recordClientHistory(clients, createRandom(seed), {
      clients: 6,
      incidents: 2,
      sets: 1,
    });
    await history.waitForResponses(80);
    const leader = await findLeader(databases);
    await leader.kill();
    await history.waitForResponses(80);
    await leader.restart();
    const { timelines, sets } = await history.finish();
    for (const one of timelines)
      expect([seed, isLinearizable(one, createTimelineModel(one))]).toEqual([seed, true]);
    for (const { moves, initial } of sets)
      expect([seed, isLinearizable(moves, createMembershipModel(initial))]).toEqual([seed, true]);
  });
});
