import { expect, test } from "bun:test";
import { type EventTable, type EventType, valueIn } from "../../src/events/catalogue.ts";
import { appendEvent } from "../../src/events/log.ts";

const table: EventTable<"all" | "one" | null> = {
  "alert-channel": "all",
  "api-key": null,
  appliance: null,
  backup: null,
  channel: null,
  group: null,
  incident: null,
  "incident-template": null,
  invitation: null,
  maintenance: { created: "one", updated: null, deleted: null, started: null, ended: null },
  monitor: null,
  organization: null,
  person: null,
  settings: null,
  "status-page": null,
  subscriber: null,
};

test("a table gives every event its value: its noun's, or its own", () => {
  expect(valueIn(table, "alert-channel.deleted")).toBe("all");
  expect(valueIn(table, "maintenance.created")).toBe("one");
  expect(valueIn(table, "maintenance.ended")).toBeNull();
  expect(valueIn(table, "monitor.down")).toBeNull();
});

test("a table gives nothing to what another version of this program wrote", () => {
  expect(valueIn(table, "maintenance.postponed" as EventType)).toBeUndefined();
  expect(valueIn(table, "robot.created" as EventType)).toBeUndefined();
});

test("an unknown event, one with wrong data and a table that forgets one don't compile", () => {
  const about = { organizationId: "o", at: "2026-11-20T10:00:00.000Z", subjectId: "s" };
  // @ts-expect-error: no event of this name
  appendEvent({ ...about, type: "monitor.lost" });
  // @ts-expect-error: data is missing
  appendEvent({ ...about, type: "channel.failed" });
  // @ts-expect-error: another event's data
  appendEvent({ ...about, type: "channel.failed", data: { updateId: "u" } });
  // @ts-expect-error: it has none
  appendEvent({ ...about, type: "group.updated", data: { message: "Moved." } });
  // @ts-expect-error: its other verbs are missing
  const forgetful: EventTable<boolean | null | string> = { ...table, incident: { opened: true } };
  expect(valueIn(forgetful, "incident.opened")).toBe(true);
});
