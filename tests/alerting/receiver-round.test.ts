import { expect, test } from "bun:test";
import { createReceiverRound, type ReceiverType } from "../../src/alerting/sending/queue.ts";
import { testAppliance } from "../support/appliance.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");

/** Waiting deliveries: the number of receivers per organization and of deliveries per receiver. */
async function setUpWaiting() {
  const { store, database } = await testAppliance();
  database.run("pragma foreign_keys = off");
  const insert = database.query(
    `insert into deliveries (organization_id, id, receiver_type, receiver_id, status, attempts,
       scheduled_attempts, due_at, held_until, created_at) values (?1, ?2, ?3, ?4, 'sending', ?5, ?5, ?6, ?7, 'x')`,
  );
  let count = 0;
  return {
    round: createReceiverRound(store),
    add: (
      organizationId: string,
      receiverId: string,
      {
        type = "webhook" as ReceiverType,
        attempts = 0,
        dueIn = 0,
        heldFor = null as number | null,
      } = {},
    ) =>
      insert.run(
        organizationId,
        `d${count++}`,
        type,
        receiverId,
        attempts,
        now + dueIn,
        heldFor === null ? null : now + heldFor,
      ),
  };
}

test("a poll examines a limited part of all receivers in rounds, and omits no organization", async () => {
  const { add, round } = await setUpWaiting();
  for (let number = 0; number < 4_000; number++)
    for (const _ of [1, 2, 3]) add("large", `r${String(number).padStart(4, "0")}`);
  for (const organization of ["b", "c", "d"])
    for (let number = 0; number < 4; number++) add(organization, `s${number}`);
  const seen = new Map<string, number>();
  const looks: boolean[] = [];
  for (let isMore = true; isMore; looks.push(isMore)) {
    const found = await round.find(now);
    ({ isMore } = found);
    expect(found.waiting.length).toBeLessThanOrEqual(1_500);
    expect(new Set(found.waiting.map((one) => one.organizationId)).size).toBe(4);
    for (const { receiverId, organizationId } of found.waiting) {
      const name = `${organizationId} ${receiverId}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  expect(seen.size).toBe(4_012);
  const many = [...seen].filter(([name]) => name.startsWith("large"));
  expect(many.every(([, times]) => times === 1)).toBe(true);
  const again = await round.find(now);
  expect(again.waiting.some(({ receiverId }) => receiverId === "r0000")).toBe(true);
});

const minute = 60_000;

test.each<[string, { attempts?: number; dueIn?: number; heldFor?: number }[], boolean]>([
  ["due deliveries", [{}], true],
  ["no deliveries that are not due", [{ dueIn: 1 }], false],
  ["deliveries made distant by a clock that was set back", [{ dueIn: 600 * minute }], true],
  ["no deliveries held by a Retry-After", [{ attempts: 1, dueIn: -1, heldFor: minute }, {}], false],
  ["those after it has passed", [{ attempts: 1, dueIn: -1, heldFor: 0 }, {}], true],
  ["those after the clock was set back", [{ attempts: 1, dueIn: -1, heldFor: 600 * minute }], true],
])("a poll finds %s", async (_what, deliveries, isFound) => {
  for (const type of ["channel", "webhook", "mailbox"] as const) {
    const { add, round } = await setUpWaiting();
    for (const one of deliveries) add("a", "r", { type, ...one });
    const { waiting: found } = await round.find(now);
    expect(found.map(({ receiverId }) => receiverId)).toEqual(isFound ? ["r"] : []);
  }
});

test("a receiver behind a failing delivery is found if a new one causes an early retry", async () => {
  const { add, round } = await setUpWaiting();
  const failing = { attempts: 3, dueIn: 5 * minute };
  for (const [id, dueIn] of [
    ["late", -30 * minute],
    ["news", -minute],
  ] as const) {
    add("a", id, failing);
    add("a", id, { dueIn });
  }
  const { waiting: found } = await round.find(now);
  expect(found).toEqual([
    { receiverType: "webhook", organizationId: "a", receiverId: "news", failing: true },
  ]);
});

test("receivers without failures are first", async () => {
  const { add, round } = await setUpWaiting();
  add("a", "failing", { attempts: 1 });
  add("a", "well");
  const { waiting: found } = await round.find(now);
  expect(found.map(({ receiverId, failing }) => [receiverId, failing])).toEqual([
    ["well", false],
    ["failing", true],
  ]);
});
