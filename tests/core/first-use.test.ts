import { expect, test } from "bun:test";
import { createOnFirstUse } from "../../src/core/first-use.ts";

test("callers at the same time share one creation, and its value stays", async () => {
  let created = 0;
  const made = createOnFirstUse(async () => ++created);
  expect([made.current, made.pending]).toEqual([null, null]);
  expect(await Promise.all([made.get(), made.get()])).toEqual([1, 1]);
  expect([made.current, await made.get(), created]).toEqual([1, 1, 1]);
});

test("after a failure, the next caller tries again", async () => {
  const results = [() => Promise.reject(new Error("The database has no leader.")), async () => 1];
  const made = createOnFirstUse(() => results.shift()!());
  const failing = [made.get(), made.get()];
  const failure = { status: "rejected", reason: { message: "The database has no leader." } };
  expect(await Promise.allSettled(failing)).toMatchObject([failure, failure]);
  expect([made.current, made.pending]).toEqual([null, null]);
  expect(await made.get()).toBe(1);
});
