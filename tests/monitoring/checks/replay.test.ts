import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  replayThresholds,
  type StoredResult,
} from "../../../src/monitoring/checks/replay-rules.ts";
import { createWatch } from "../../support/check-board.ts";
import { signInMember } from "../../support/people.ts";
import { limitTries } from "../../support/property-runs.ts";

const minute = 60_000;
const usual = { retries: 0, successThreshold: 1, degradedAfterMs: null };

/** One result per letter and minute: u up, d down, s slow, m maintenance, ? not judged. */
const read = (letters: string): StoredResult[] =>
  letters.split("").map((letter, index) => ({
    at: index * minute,
    status: ({ u: "up", d: "down", s: "degraded", m: "maintenance" } as const)[letter] ?? "unknown",
    latencyMs: letter === "s" ? 900 : letter === "u" ? 100 : null,
    isSlow: letter === "s",
  }));

test("a replay counts the outages that more retries would have ignored, and their duration", () => {
  const replay = replayThresholds(read("uduuddduudduu"), usual, { ...usual, retries: 2 });
  expect(replay).toEqual({
    from: "1970-01-01T00:00:00.000Z",
    checks: 13,
    saved: { outages: 3, slowPeriods: 0 },
    requested: { outages: 1, slowPeriods: 0 },
    missed: 2,
    longestMissedSeconds: 120,
  });
});

test("a replay judges latencies again, and nothing during maintenance or without a result", () => {
  const slowAfter = (degradedAfterMs: number | null, letters: string) =>
    replayThresholds(read(letters), usual, { ...usual, degradedAfterMs }).requested;
  expect(slowAfter(500, "ussuus")).toEqual({ outages: 0, slowPeriods: 2 });
  expect(slowAfter(50, "uuu")).toEqual({ outages: 0, slowPeriods: 1 });
  expect(slowAfter(1_000, "ussu")).toEqual({ outages: 0, slowPeriods: 0 });
  expect(slowAfter(null, "um??mu")).toEqual({ outages: 0, slowPeriods: 0 });
  // A degraded result with another reason stays degraded.
  const expiring: StoredResult = { at: 0, status: "degraded", latencyMs: 10, isSlow: false };
  expect(replayThresholds([expiring], usual, usual).requested.slowPeriods).toBe(1);
});

test("more retries never report more outages, and the saved thresholds miss none", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("u", "d", "s", "m", "?"), { maxLength: 80 }),
      fc.nat(5),
      fc.nat(5),
      (letters, retries, further) => {
        const saved = { ...usual, retries };
        const results = read(letters.join(""));
        const more = replayThresholds(results, saved, { ...saved, retries: retries + further });
        expect(more.requested.outages).toBeLessThanOrEqual(more.saved.outages);
        expect(replayThresholds(results, saved, saved).missed).toBe(0);
      },
    ),
    limitTries(200),
  );
});

test("the route replays the stored checks of a monitor, and rejects thresholds out of bounds", async () => {
  const made = await createWatch();
  await using shop = await made.createSite({ interval: 60, retries: 0 });
  const { page } = await signInMember(made, "viewer");
  for (const isDown of [false, true, false, true, true, false]) {
    if (isDown) shop.failNow();
    else shop.recoverNow();
    made.time.now += minute;
    await made.engine.runOnce();
  }
  const path = `/dashboard/monitors/${shop.id}/replay`;
  const { json } = await page("GET", `${path}?retries=1&successThreshold=1`);
  expect(json.data).toMatchObject({
    saved: { outages: 2 },
    requested: { outages: 1 },
    missed: 1,
  });
  expect((await page("GET", `${path}?retries=11&successThreshold=1`)).status).toBe(422);
  const { id } = await made.createJob();
  const replayed = await page(
    "GET",
    `/dashboard/monitors/${id}/replay?retries=1&successThreshold=1`,
  );
  expect(replayed.status).toBe(409);
});
