import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDeliveryTurns, createTurn } from "../../src/alerting/sending/delivery-turns.ts";
import type { WaitingReceiver } from "../../src/alerting/sending/queue.ts";

/** `a1 b2!` are receivers of the organizations `a` and `b`; the last delivery to `b2` failed. */
const parseReceivers = (names: string): WaitingReceiver[] =>
  names
    .split(" ")
    .filter((name) => name !== "")
    .map((name) => ({
      organizationId: name.charAt(0),
      receiverType: "channel",
      receiverId: name.replace("!", ""),
      failing: name.endsWith("!"),
    }));

function createSlots(shared: number, reserved: number) {
  const turns = createDeliveryTurns({ shared, reserved });
  const started: ReturnType<typeof createTurn>[] = [];
  /** Starts all receivers that get a slot and returns their names. */
  const startAll = () => {
    const names: string[] = [];
    for (let next = turns.beginNext(); next !== null; next = turns.beginNext()) {
      started.push(next);
      names.push(next.receiverId);
    }
    return names.join(" ");
  };
  return {
    startAll,
    wait: (names: string) => turns.replace(parseReceivers(names).map(createTurn)),
    /** Finishes a delivery, and returns the receivers that start then. */
    ends: (name: string, again = false) => {
      const index = started.findIndex(({ receiverId }) => receiverId === name);
      const [turn] = started.splice(index, 1) as [ReturnType<typeof createTurn>];
      turns.end(turn);
      if (again) turns.add(createTurn(turn));
      return startAll();
    },
  };
}

test("a single organization has all shared slots, and its receivers take turns", () => {
  const { wait, startAll, ends } = createSlots(2, 1);
  wait("a1 a2 a3");
  expect(startAll()).toBe("a1 a2");
  expect(ends("a1", true)).toBe("a3");
  expect(ends("a2", true)).toBe("a1");
  expect(ends("a3")).toBe("a2");
});

test("an organization without a delivery gets a slot, even if others use all shared ones", () => {
  const { wait, startAll, ends } = createSlots(3, 2);
  wait("a1 a2 a3 a4 a5");
  expect(startAll()).toBe("a1 a2 a3");
  wait("a4 a5 b1 b2 c1 d1");
  expect(startAll()).toBe("b1 c1");
  expect(ends("b1")).toBe("d1");
  expect(ends("d1", true)).toBe("b2");
});

test("a freed slot is for the organization with the fewest, alternating among equals", () => {
  const { wait, startAll, ends } = createSlots(4, 0);
  wait("a1 a2 a3 a4 a5 a6");
  expect(startAll()).toBe("a1 a2 a3 a4");
  wait("a5 a6 b1 b2 b3 c1 c2");
  expect(["a1", "a2", "a3"].map((name) => ends(name, true))).toEqual(["b1", "c1", "b2"]);
  expect(ends("a4", true)).toBe("a5");
  expect(ends("b1")).toBe("c2");
});

test("failing receivers share half of their organization's slots, and use none of others", () => {
  const { wait, startAll, ends } = createSlots(4, 1);
  wait("a1! a2! a3! a4");
  expect(startAll()).toBe("a1 a2 a4");
  wait("a3! b1! b2!");
  expect(startAll()).toBe("b1");
  expect(ends("a1")).toBe("b2");
  expect(ends("a2")).toBe("a3");
});

test("a receiver that no longer waits gets no slot", () => {
  const turns = createSlots(1, 0);
  turns.wait("a1 a2 b1");
  turns.wait("b1");
  expect(turns.startAll()).toBe("b1");
});

test("every organization gets slots, however long the deliveries of others take", () => {
  const size = fc.integer({ min: 1, max: 6 });
  const organizations = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      size,
      size,
      organizations,
      fc.infiniteStream(fc.nat(1_000)),
      (shared, reserved, sizes, dice) => {
        const turns = createDeliveryTurns({ shared, reserved });
        turns.replace(
          sizes.flatMap((count, index) =>
            parseReceivers(Array.from({ length: count }, (_, n) => `${index}-${n}`).join(" ")).map(
              createTurn,
            ),
          ),
        );
        const busy: ReturnType<typeof createTurn>[] = [];
        const begun = new Map<string, number>();
        const fill = () => {
          for (let next = turns.beginNext(); next !== null; next = turns.beginNext()) {
            busy.push(next);
            begun.set(next.organizationId, (begun.get(next.organizationId) ?? 0) + 1);
          }
          expect(busy.length).toBeLessThanOrEqual(shared + reserved);
        };
        fill();
        expect(begun.size).toBeGreaterThanOrEqual(Math.min(sizes.length, reserved + 1));
        for (let step = 0; step < 200; step++) {
          const [roll = 0] = dice.take(1);
          const [one] = busy.splice(roll % busy.length, 1) as [ReturnType<typeof createTurn>];
          turns.end(one);
          turns.add(createTurn(one));
          fill();
          const busyByOrganization = [
            ...Map.groupBy(busy, ({ organizationId }) => organizationId).values(),
          ];
          for (const { length } of busyByOrganization)
            expect(length).toBeLessThanOrEqual(shared + 1);
        }
        const endless = sizes.length > shared + reserved ? 1 : 0;
        for (const [index] of sizes.entries())
          expect(begun.get(String(index)) ?? 0).toBeGreaterThan(endless);
      },
    ),
    { numRuns: 200 },
  );
});
