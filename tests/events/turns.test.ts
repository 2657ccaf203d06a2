import { expect, test } from "bun:test";
import { createOrganizationTurns } from "../../src/events/organization-turns.ts";

test("a waiting request of a disconnected client does no work", async () => {
  const first = Promise.withResolvers<void>();
  const caller = new AbortController();
  const done: string[] = [];
  const createWork = (name: string, until?: Promise<void>) => async () => {
    await until;
    done.push(name);
  };
  const inTurn = createOrganizationTurns();
  const scope = { organizationId: "a", signal: null };
  const all = [
    inTurn(scope, createWork("first", first.promise)),
    inTurn({ ...scope, signal: caller.signal }, createWork("gone")),
    inTurn(scope, createWork("last")),
  ];
  caller.abort();
  first.resolve();
  const ends = await Promise.allSettled(all);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(done).toEqual(["first", "last"]);
});
