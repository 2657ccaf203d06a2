import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { alertedWorld } from "../support/alert-model-world.ts";
import { type Target, target } from "../support/target.ts";

let server: Target;
beforeAll(async () => void (server = await target()));
afterAll(() => server[Symbol.asyncDispose]());

type World = Awaited<ReturnType<typeof alertedWorld>>;
type Action = readonly [keyof World, ...unknown[]];

/** Mostly the first: what goes wrong takes several things that befall the same. */
const index = fc.constantFrom(0, 0, 0, 1, 2);
const yes = fc.boolean();
const status = fc.constantFrom("up", "down", "slow");
const seconds = fc.constantFrom(1, 3, 6, 11, 60, 200, 400, 600, 1_200, 1_800, 3_600, 14_400);
const one = (weight: number, name: keyof World, ...parts: fc.Arbitrary<unknown>[]) => ({
  weight,
  arbitrary: fc.tuple(fc.constant(name), ...parts) as unknown as fc.Arbitrary<Action>,
});

const action = fc.oneof(
  one(40, "report", index, status),
  one(30, "pass", seconds, fc.constantFrom(1, 1, 2, 5)),
  one(2, "pass", fc.constant(100_000), fc.constantFrom(7, 40)),
  one(8, "flutter", index, fc.integer({ min: 3, max: 13 }), fc.constantFrom(5, 60, 160), yes),
  one(4, "restart"),
  one(5, "mute", index, yes),
  one(3, "muteGroup", yes),
  one(5, "pause", index, yes),
  one(5, "renew", index),
  one(5, "maintain", index, yes),
  one(5, "attach", index, fc.subarray([0, 1, 2])),
  one(5, "remind", index, fc.constantFrom(null, 300, 600, 3_600)),
  one(3, "automatic", index, yes),
  one(3, "create", index, yes),
  one(2, "remove", index),
  one(
    4,
    "patch",
    index,
    fc.record({ enabled: yes, incidents: yes, default: yes }, { requiredKeys: [] }),
  ),
  one(10, "receive", index, fc.constantFrom("well", "well", "broken", "closed", "busy", "gone")),
  one(3, "open", fc.option(index)),
  one(
    6,
    "post",
    fc.nat(1),
    fc.constantFrom(
      { message: "More." },
      { status: "resolved" },
      { status: "identified" },
      { severity: "major" },
    ),
  ),
);

test("what channels get is what the rules of alerting say, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 1, maxLength: 40, size: "max" }),
      async (actions) => {
        const world = await alertedWorld(server);
        for (const [name, ...parts] of actions) {
          await (world[name] as (...parts: unknown[]) => unknown)(...parts);
          await world.look();
        }
        await world.heal();
        const all = Object.entries(world.compared());
        expect(all.map(([path, { got }]) => [path, got])).toEqual(
          all.map(([path, { wanted }]) => [path, wanted]),
        );
      },
    ),
    {
      numRuns: Number(process.env.RUNS ?? 30),
      ...(process.env.SEED && { seed: Number(process.env.SEED), path: process.env.FCPATH }),
    },
  );
}, 600_000);
