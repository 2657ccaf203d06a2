import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { findWrongIncidents } from "../support/writers.ts";
import { findWrongAlerts, findWrongGroups, findWrongRows } from "./invariants.ts";

// A soak without findings proves something only if the invariants detect these faults.

const buildAlert = (alertId: string, type: string, delivery = `d-${alertId}`) => ({
  alertId,
  delivery,
  monitorId: "m",
  type,
});
const [down, up] = [buildAlert("1", "monitor.down"), buildAlert("2", "monitor.up")];
const changes = new Map([["m", ["monitor.down", "monitor.up"]]]);

test.each([
  ["every alert in order", [down, up], 0],
  ["a duplicate of the same delivery", [down, down, up], 0],
  ["a duplicate in another delivery", [down, buildAlert("1", "monitor.down", "other"), up], 1],
  ["a missing alert", [down], 1],
  ["an up without its down", [up], 1],
  ["the wrong order", [up, down], 1],
  ["an unknown alert", [down, up, buildAlert("3", "monitor.down")], 1],
  [
    "an alert of a monitor that never changed",
    [down, up, { ...down, alertId: "4", monitorId: "n" }],
    1,
  ],
])("alerts: %s", (_, arrived, count) => {
  expect(findWrongAlerts(arrived, changes)).toHaveLength(count);
});

test.each([
  ["consistent records", [{ id: "g", monitorIds: ["m"] }], [{ id: "m", groupId: "g" }], 0],
  [
    "a monitor in two groups",
    ["g", "h"].map((id) => ({ id, monitorIds: ["m"] })),
    [{ id: "m", groupId: "h" }],
    1,
  ],
  [
    "a monitor that names another group",
    [{ id: "g", monitorIds: [] }],
    [{ id: "m", groupId: "g" }],
    1,
  ],
])("groups: %s", (_, groups, monitors, count) => {
  expect(findWrongGroups(groups, monitors)).toHaveLength(count);
});

test("incidents and rows: exactly the planted faults are found", async () => {
  await using box = await createMachineWithKey();
  const server = await box.serve();
  const api = createServerClient(server.url, box.key);
  const messages = ["One, opened"];
  const { headers } = await api("POST", "/api/v1/incidents", {
    title: "One",
    message: messages[0],
  });
  const notified = [{ path: headers.get("location") ?? "", title: "One", messages }];
  const { pushUrl } = (await api("POST", "/api/v1/monitors", { type: "push", name: "Job" })).json
    .data;
  expect((await fetch(`${pushUrl}?latency_ms=7`)).status).toBe(200);
  expect(await findWrongIncidents(api, notified)).toEqual([]);
  const lost = { ...notified[0], path: "/api/v1/incidents/lost", title: "Lost", messages };
  expect(await findWrongIncidents(api, [...notified, lost])).toEqual([
    "Lost was acknowledged and is not there.",
  ]);
  expect(
    await findWrongIncidents(api, [{ ...lost, ...notified[0], messages: ["1", "2"] }]),
  ).toHaveLength(1);
  await server.stop();

  const file = join(box.dataDir, "signalbox.db");
  expect(findWrongRows(file)).toEqual([]);
  const plantFault = (sql: string) => {
    using database = new Database(file);
    database.run("pragma foreign_keys = off");
    database.run("begin");
    database.run(sql);
    database.run("commit");
  };
  const isFound = (pattern: RegExp) =>
    expect(findWrongRows(file)).toContainEqual(expect.stringMatching(pattern));
  plantFault("update uptime_hours set up_seconds = up_seconds + 1");
  isFound(/^uptime_hours lacks/);
  plantFault("delete from uptime_hours");
  isFound(/^uptime_hours lacks/);
  plantFault("update uptime_days set latency_max = 8");
  isFound(/^uptime_days has/);
  plantFault("update incident_updates set incident_id = 'lost'");
  isFound(/^A row without its parent: incident_updates/);
  plantFault(`insert into events (organization_id, at, type, subject_id, data)
    select organization_id, at, type, subject_id, data from events where type = 'monitor.up'`);
  isFound(/twice in a row/);
});
