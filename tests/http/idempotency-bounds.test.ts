import { expect, test } from "bun:test";
import { requestBounds } from "../../src/core/limits.ts";
import { createResourceFinder } from "../../src/http/resources.ts";
import { type Client, dumpTables, testAppliance } from "../support/appliance.ts";
import { apiRoutes, fillIds } from "../support/records.ts";

const text = "x".repeat(5_000);

/** An incident whose responses have more than 64 KiB. */
async function createLongIncident(api: Client) {
  const { json } = await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  const path = `/api/v1/incidents/${json.data.id}`;
  for (let count = 0; count < 20; count++)
    await api("POST", `${path}/notes`, { body: { message: text } });
  return path;
}

const buildKeyHeader = (key: string) => ({ "Idempotency-Key": key });

test("of a response above 64 KiB only status and location are stored, and a replay reads the resource again", async () => {
  const { ours, database } = await testAppliance();
  const { api } = ours;
  const path = await createLongIncident(api);
  const send = (method: string, at: string, body: object | undefined, key: string) =>
    api(method, at, { ...(body && { body }), headers: buildKeyHeader(key) });
  const updateId = (await api("GET", path)).json.data.updates[0].id;
  const writes = [
    ["PATCH", path, { message: "Found it." }],
    ["PATCH", `${path}/updates/${updateId}`, { message: "Opened." }],
    ["PATCH", `${path}/postmortem`, { message: "A key." }],
    ["POST", `${path}/resolve`, undefined],
  ] as const;
  for (const [index, [method, at, body]] of writes.entries()) {
    const first = await send(method, at, body, `key-${index}`);
    const again = await send(method, at, body, `key-${index}`);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.json).toEqual(first.json);
    expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  }
  const stored = database
    .query("SELECT max(octet_length(body)), count(*) FROM idempotent_answers")
    .values();
  expect(stored).toEqual([[0, writes.length]]);
  // A replay contains later changes.
  await api("PATCH", path, { body: { title: "Slower" } });
  expect((await send(...writes[0], "key-0")).json.data.title).toBe("Slower");
  await api("DELETE", path);
  const gone = await send(...writes[0], "key-0");
  expect([gone.status, gone.headers.get("idempotency-replayed")]).toEqual([404, "true"]);
});

test("a long record that a POST creates is read again at its location", async () => {
  const { api } = (await testAppliance()).ours;
  const body = {
    slug: "long",
    title: "Long",
    sections: Array.from({ length: 100 }, () => ({ name: "🚦".repeat(255) })),
  };
  const send = () => api("POST", "/api/v1/status-pages", { body, headers: buildKeyHeader("once") });
  const [first, again] = [await send(), await send()];
  expect(Buffer.byteLength(first.text)).toBeGreaterThan(requestBounds.idempotentBody.value);
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect(again.headers.get("location")).toBe(first.headers.get("location"));
  expect((await api("GET", "/api/v1/status-pages")).json.data).toHaveLength(2);
});

/** Sets the counters of the triggers, like many requests would. */
async function createUsedAppliance(rows: number, bytes: number) {
  const appliance = await testAppliance();
  appliance.database
    .query(
      `INSERT INTO organization_usage (organization_id, table_name, row_count, byte_count)
       VALUES (?, 'idempotent_answers', ?, ?)`,
    )
    .run(appliance.ours.id, rows, bytes);
  return appliance;
}

test("beyond the stored responses that an organization can have, a request is rejected and changes nothing", async () => {
  const world = await createUsedAppliance(requestBounds.idempotentResponses.value, 0);
  const { api } = world.ours;
  const before = dumpTables(world);
  const { status, headers, json } = await api("POST", "/api/v1/incidents", {
    body: { title: "Slow" },
    headers: buildKeyHeader("once"),
  });
  expect([status, json.error.code]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(dumpTables(world)).toBe(before);
  // Other organizations, and requests without a key, are not affected.
  expect((await api("POST", "/api/v1/incidents", { body: { title: "Slow" } })).status).toBe(201);
  const theirs = await world.theirs.api("POST", "/api/v1/incidents", {
    body: { title: "Slow" },
    headers: buildKeyHeader("once"),
  });
  expect(theirs.status).toBe(201);
});

test("an organization at its limit of stored bytes stores no more bodies, and repeats nothing", async () => {
  const world = await createUsedAppliance(1, requestBounds.idempotentBodies.value);
  const { api } = world.ours;
  const send = () =>
    api("POST", "/api/v1/incidents", { body: { title: "Slow" }, headers: buildKeyHeader("once") });
  const [first, again] = [await send(), await send()];
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect((await api("GET", "/api/v1/incidents")).json.meta.total).toBe(1);
  expect(
    world.database.query("SELECT octet_length(body) FROM idempotent_answers").values(),
  ).toEqual([[0]]);
});

test("every POST and PATCH that returns a record with lists has an address to read it again", () => {
  const find = createResourceFinder(apiRoutes);
  const id = "01a1fb99-1f06-7255-b6bc-740f65e2dffd";
  const unreadable = apiRoutes
    .filter(({ method }) => method === "POST" || method === "PATCH")
    // A POST that only reads takes no key.
    .filter(({ hooks }) => hooks.detail?.endpoint?.access !== "read")
    .filter(({ method, path }) => {
      const at = fillIds(path, id, id);
      return find(method, at, `${at.replace(/\/$/, "")}/${id}`) === null;
    })
    .map(({ hooks }) => hooks.detail?.endpoint?.name ?? "")
    .toSorted((one, other) => one.localeCompare(other));
  // A note, an alert, a result, overrides, a token, counts, the name of a restored record or report, a delivery: short by their schemas.
  // The undo of a bulk change is at most as long as a request.
  expect(unreadable).toEqual([
    "acknowledgeAlert",
    "addAlertNote",
    "addIncidentNote",
    "changeMonitors",
    "checkNow",
    "createScheduleOverride",
    "createStatusPageAccessToken",
    "drillEscalationPolicy",
    "drillPerson",
    "importSubscribers",
    "previewChangeOfMonitors",
    "replayAlertSourceRequest",
    "restoreAlertChannel",
    "restoreAlertSource",
    "restoreIncident",
    "restoreMaintenanceWindow",
    "restoreMonitor",
    "restoreMonitorGroup",
    "restoreStatusPage",
    "revokeAlertLinks",
    "sendReportMail",
    "sendVerificationCode",
    "snoozeAlert",
    "swapShifts",
    "testAlertChannel",
    "testContactMethod",
    "unacknowledgeAlert",
  ]);
});
