import { expect, test } from "bun:test";
import { findEffect, type EventEffects, type EventType } from "../../src/events/catalog.ts";
import { appendEvent } from "../../src/events/log.ts";

const effects: EventEffects<"all" | "one" | null> = {
  "alert-channel.*": "all",
  "maintenance.created": "one",
  "person.*": "all",
  "person.signed-in": null,
};

test("an event has its own effect or else that of its noun, and by default none", () => {
  expect(findEffect(effects, "alert-channel.deleted")).toBe("all");
  expect(findEffect(effects, "maintenance.created")).toBe("one");
  expect(findEffect(effects, "maintenance.ended")).toBeUndefined();
  expect(findEffect(effects, "person.updated")).toBe("all");
  expect(findEffect(effects, "person.signed-in")).toBeNull();
  expect(findEffect(effects, "monitor.down")).toBeUndefined();
});

test("an event of another version of this program has no effect of its own", () => {
  expect(findEffect(effects, "maintenance.postponed" as EventType)).toBeUndefined();
  expect(findEffect(effects, "robot.created" as EventType)).toBeUndefined();
});

test("an unknown event, one with wrong data and an effect of an unknown event don't compile", () => {
  const about = { organizationId: "o", at: "2026-11-20T10:00:00.000Z", subjectId: "s" };
  // @ts-expect-error: no event of this name
  appendEvent({ ...about, type: "monitor.lost" });
  // @ts-expect-error: data is missing
  appendEvent({ ...about, type: "channel.failed" });
  // @ts-expect-error: another event's data
  appendEvent({ ...about, type: "channel.failed", data: { updateId: "u" } });
  // @ts-expect-error: it has none
  appendEvent({ ...about, type: "group.updated", data: { message: "Moved." } });
  // @ts-expect-error: no event of this name
  const mistyped: EventEffects<true> = { "monitor.lost": true };
  expect(findEffect(mistyped, "monitor.down")).toBeUndefined();
});
