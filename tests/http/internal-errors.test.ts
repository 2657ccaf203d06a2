import { expect, test } from "bun:test";
import { logFormats } from "../../src/core/log.ts";
import { dumpTables, testAppliance } from "../support/appliance.ts";

const path = "/api/v1/incidents";

test.each(["api_keys", "incidents", "events"])(
  "an internal error, here a missing table %s, is reported only with its request id",
  async (table) => {
    const appliance = await testAppliance();
    const { database, logged, ours } = appliance;
    database.run(`ALTER TABLE ${table} RENAME TO gone`);
    const before = dumpTables(appliance);
    const { status, json, headers } = await ours.api("POST", path, { body: { title: "Slow" } });
    const requestId = headers.get("x-request-id") ?? "";
    expect(status).toBe(500);
    expect(json).toEqual({
      error: {
        code: "INTERNAL",
        message: "Something went wrong on our side. See the log for the cause.",
        requestId,
      },
    });
    const failed = logged.filter((line) => line.includes("request failed"));
    expect(failed).toHaveLength(logFormats.length);
    for (const line of failed) {
      expect(line).toContain(requestId);
      expect(line).toContain(`no such table`);
    }
    expect(dumpTables(appliance)).toBe(before);
  },
);

test("while the database can't be written, writes get UNAVAILABLE with Retry-After, and reads work", async () => {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  await api("GET", path);
  appliance.database.run("PRAGMA query_only = ON");
  const { status, json, headers } = await api("POST", path, { body: { title: "Slow" } });
  expect([status, json.error.code]).toEqual([503, "UNAVAILABLE"]);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(appliance.logged.join()).toContain(headers.get("x-request-id") ?? "no id");
  expect((await api("GET", path)).status).toBe(200);
  appliance.database.run("PRAGMA query_only = OFF");
  expect((await api("POST", path, { body: { title: "Slow" } })).status).toBe(201);
});
