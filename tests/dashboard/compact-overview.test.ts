import { expect, test } from "bun:test";
import fc from "fast-check";
import { compactOverview, expandOverview } from "../../src/dashboard/rules.ts";

test("the page restores everything that an overview omits", () => {
  const text = fc.string({ maxLength: 5 });
  const groupIds = ["A", "B", "C"];
  const row = fc.record({
    id: fc.uuid(),
    name: text,
    type: fc.oneof(text, fc.constant("http")),
    // Including a group that was created after the groups were read.
    groupId: fc.constantFrom(...groupIds, "unknown", null),
    tags: fc.array(text, { maxLength: 2 }),
    status: fc.constantFrom("up" as const, "down" as const),
    statusSince: text,
    lastMessage: fc.option(text),
    latencyMs: fc.option(fc.nat()),
    uptime24h: fc.option(fc.constantFrom(0, 0.5, 1)),
    paused: fc.boolean(),
    pausedUntil: fc.option(fc.constant("2026-11-20T18:40:00.000Z")),
    muted: fc.boolean(),
    target: fc.option(text),
    uptime30d: fc.option(fc.constantFrom(0, 0.5, 1)),
    since: fc.option(text),
    day: fc.oneof(text, fc.constant("u".repeat(24))),
    month: fc.oneof(text, fc.constant("u".repeat(30))),
    spark: text,
  });
  const group = { name: "Shop", description: "", color: "blue", tags: [], alertChannelIds: [] };
  const groups = groupIds.map((id) => ({ ...group, id, paused: false, muted: true, version: 1 }));
  const buildPlace = (id: string | null) =>
    id === "unknown" ? 4 : [...groupIds, null].indexOf(id);
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const monitors = rows.toSorted(
        (one, other) => buildPlace(one.groupId) - buildPlace(other.groupId),
      );
      const overview = { groups, monitors, position: "p" };
      const sent = JSON.parse(JSON.stringify(compactOverview(overview)));
      expect(expandOverview(sent)).toEqual(overview);
    }),
  );
});
