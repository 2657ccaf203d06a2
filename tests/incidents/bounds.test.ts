/** Limits of an incident's timeline, texts and responses. */
import { describe, expect, test } from "bun:test";
import { createId } from "../../src/core/ids.ts";
import { incidentBounds } from "../../src/core/limits.ts";
import { type Client, testAppliance } from "../support/appliance.ts";
import { createWatch } from "../support/check-board.ts";

type Appliance = Awaited<ReturnType<typeof testAppliance>>;

async function openIncident() {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  const { json } = await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  const { id, updates } = json.data;
  return { ...appliance, api, id, path: `/api/v1/incidents/${id}`, updateId: updates[0].id };
}

/** Adds updates directly to the database. */
function fill({ database }: Pick<Appliance, "database">, id: string, count: number, text = "x") {
  database
    .query(
      `INSERT INTO incident_updates (organization_id, incident_id, seq, id, status, message, created_at)
       SELECT i.organization_id, i.id, i.version + n.key + 1, n.value, 'investigating', ?2, i.created_at
       FROM incidents i, json_each(?3) n WHERE i.id = ?1`,
    )
    .run(id, text, createIds(count));
  database.query("UPDATE incidents SET version = version + ?2 WHERE id = ?1").run(id, count);
}

/** Adds notes as an earlier version would have. */
function fillNotes(
  { database }: Pick<Appliance, "database">,
  id: string,
  count: number,
  text: string,
) {
  database
    .query(
      `INSERT INTO incident_notes (organization_id, incident_id, id, message, created_at, author_type, author_name)
       SELECT i.organization_id, i.id, n.value, ?2, i.created_at, 'person', 'Ann'
       FROM incidents i, json_each(?3) n WHERE i.id = ?1`,
    )
    .run(id, text, createIds(count));
}

const createIds = (count: number) =>
  JSON.stringify(Array.from({ length: count }, () => createId(Date.now())));

const measureSize = ({ database }: Pick<Appliance, "database">, id: string) =>
  database.query("SELECT entries, text_bytes FROM incidents WHERE id = ?").values(id)[0];

const countedOf = ({ database }: Pick<Appliance, "database">, id: string) =>
  database
    .query(
      `SELECT sum(entry), sum(octet_length(message)) FROM (
         SELECT 1 AS entry, message FROM incident_updates WHERE incident_id = ?1
         UNION ALL SELECT 1, message FROM incident_update_revisions WHERE incident_id = ?1
         UNION ALL SELECT 1, message FROM incident_notes WHERE incident_id = ?1
         UNION ALL SELECT 0, message FROM incident_postmortems WHERE incident_id = ?1)`,
    )
    .values(id)[0];

/** Each way to add to a timeline. */
const additions: Record<string, (at: { api: Client; path: string; updateId: string }) => unknown> =
  {
    "an update": ({ api, path }) => api("PATCH", path, { body: { message: "Still slow." } }),
    "a note": ({ api, path }) => api("POST", `${path}/notes`, { body: { message: "A note." } }),
    "an edit": ({ api, path, updateId }) =>
      api("PATCH", `${path}/updates/${updateId}`, { body: { message: "Edited." } }),
  };

const full = {
  "the maximum number of entries": (world: Appliance & { id: string }) =>
    fill(world, world.id, incidentBounds.entries.value - 1),
  "the maximum length of text": (world: Appliance & { id: string }) =>
    fill(world, world.id, 1, "ä".repeat(incidentBounds.text.value / 2 - 8)),
};

for (const [what, make] of Object.entries(full))
  describe(`a timeline with ${what}`, () => {
    for (const [name, add] of Object.entries(additions))
      test(`is full: ${name} is a conflict with advice`, async () => {
        const world = await openIncident();
        make(world);
        const before = measureSize(world, world.id);
        const { status, json } = (await add(world)) as Awaited<ReturnType<Client>>;
        expect([status, json.error?.code]).toEqual([409, "CONFLICT"]);
        expect(json.error.message).toContain("Resolve this incident and open another one.");
        expect(measureSize(world, world.id)).toEqual(before);
      });

    test("can still be corrected and resolved, once", async () => {
      const world = await openIncident();
      make(world);
      const { api, path } = world;
      expect((await api("PATCH", path, { body: { severity: "major" } })).status).toBe(200);
      const resolved = await api("POST", `${path}/resolve`);
      expect([resolved.status, resolved.json.data.status]).toEqual([200, "resolved"]);
      expect(resolved.json.data.updates.at(-1).message).toBe("Incident resolved.");
      expect((await api("PATCH", path, { body: { status: "investigating" } })).status).toBe(409);
      expect((await api("POST", `${path}/resolve`)).status).toBe(409);
      expect((await api("DELETE", path)).status).toBe(200);
    });
  });

test("a timeline with 4,999 entries accepts one more and shows all in order", async () => {
  const world = await openIncident();
  const { api, path } = world;
  fill(world, world.id, incidentBounds.entries.value - 2);
  const { status, json } = await api("PATCH", path, { body: { message: "The last one." } });
  expect(status).toBe(200);
  expect(json.data.updates).toHaveLength(incidentBounds.entries.value);
  expect(json.data.updates.at(-1).message).toBe("The last one.");
  expect((await api("GET", path)).json.data).toEqual(json.data);
});

test("entries and bytes are counted across all changes of a timeline", async () => {
  const world = await openIncident();
  const { api, path, id, updateId } = world;
  const agree = () => expect(measureSize(world, id)).toEqual(countedOf(world, id));
  await api("PATCH", path, { body: { message: "Größer." } });
  await api("PATCH", `${path}/updates/${updateId}`, { body: { message: "Longer than before." } });
  agree();
  const note = await api("POST", `${path}/notes`, { body: { message: "Naïve." } });
  await api("PATCH", `${path}/postmortem`, { body: { message: "A long text." } });
  agree();
  await api("PATCH", `${path}/postmortem`, { body: { message: "Short." } });
  agree();
  await api("DELETE", `${path}/notes/${note.json.data.id}`);
  await api("DELETE", `${path}/postmortem`);
  agree();
  expect(measureSize(world, id)?.[0]).toBe(3);
});

test("a postmortem that makes the texts of an incident too long is a conflict; a shorter one is not", async () => {
  const world = await openIncident();
  const { api, path } = world;
  fill(world, world.id, 209, "x".repeat(10_000));
  const write = (length: number) =>
    api("PATCH", `${path}/postmortem`, { body: { message: "x".repeat(length) } });
  expect((await write(7_000)).status).toBe(200);
  expect((await write(8_000)).status).toBe(409);
  expect((await write(10)).status).toBe(200);
});

test("a monitor with a full incident adds nothing to it, changes its state as usual, and resolves it", async () => {
  const watch = await createWatch();
  const job = await watch.createJob({ autoIncidentSeverity: "critical", degradedAfterMs: 500 });
  const report = async (query: Record<string, string>) => {
    watch.time.now += 60_000;
    expect((await job.report(query)).status).toBe(200);
  };
  await report({ status: "up" });
  await report({ status: "down" });
  const [incident] = (await watch.api("GET", "/api/v1/incidents")).json.data;
  fill(watch, incident.id, incidentBounds.entries.value);
  const before = measureSize(watch, incident.id);
  for (let count = 0; count < 3; count++) {
    await report({ latency_ms: "900" });
    await report({ status: "down" });
  }
  expect(measureSize(watch, incident.id)).toEqual(before);
  expect((await watch.api("GET", `/api/v1/monitors/${job.id}`)).json.data.status).toBe("down");
  await report({ status: "up" });
  const { json } = await watch.api("GET", `/api/v1/incidents/${incident.id}`);
  expect(json.data.status).toBe("resolved");
  expect(json.data.updates.at(-1).message).toContain("is responding again");
});

test("an oversized incident from an older version is sent completely to several clients, with a stable ETag", async () => {
  const world = await openIncident();
  const { api, id, path } = world;
  const text = "ä".repeat(5_000);
  fillNotes(world, id, 400, text);
  const all = await Promise.all([api("GET", path), api("GET", path), api("GET", path)]);
  for (const { status, json } of all) {
    expect(status).toBe(200);
    expect(json.data.notes).toHaveLength(400);
    expect(json.data.notes.every(({ message }: { message: string }) => message === text)).toBe(
      true,
    );
  }
  const etag = all[0].headers.get("etag") ?? "";
  expect(all.map(({ headers }) => headers.get("etag"))).toEqual([etag, etag, etag]);
  expect((await api("GET", path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  expect((await api("HEAD", path)).headers.get("etag")).toBe(etag);
  // The response to a write has the timeline as well.
  const patched = await api("PATCH", path, {
    body: { title: "Slower" },
    headers: { "If-Match": etag },
  });
  expect([patched.status, patched.json.data.notes.length]).toEqual([200, 400]);
});

test("an organization has a limited number of long responses at a time, and finished ones free their slot", async () => {
  const world = await openIncident();
  const { id, path, app, ours } = world;
  fillNotes(world, id, 1_000, "x".repeat(5_000));
  const get = () =>
    app.handle(
      new Request(`http://localhost${path}`, {
        headers: { Host: "localhost", Authorization: `Bearer ${ours.writeKey.key}` },
      }),
    );
  const open: Response[] = [];
  for (let count = 0; count < 8; count++) open.push(await get());
  expect(open.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect((await get()).status).toBe(429);
  await open[0]?.body?.cancel();
  const next = await get();
  expect(next.status).toBe(200);
  await next.text();
  for (const response of open.slice(1)) await response.body?.cancel();
  expect((await get()).status).toBe(200);
});

test("at the limit of incidents, monitors still change their state", async () => {
  const watch = await createWatch();
  const job = await watch.createJob({ autoIncidentSeverity: "critical" });
  const first = await watch.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  watch.database
    .query("UPDATE incident_counts SET count = ? WHERE count > 0")
    .run(incidentBounds.incidents.value);
  const { status, json } = await watch.api("POST", "/api/v1/incidents", {
    body: { title: "Slow" },
  });
  expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
  expect((await job.report({ status: "up" })).status).toBe(200);
  watch.time.now += 60_000;
  expect((await job.report({ status: "down" })).status).toBe(200);
  expect((await watch.api("GET", `/api/v1/monitors/${job.id}`)).json.data.status).toBe("down");
  expect(watch.database.query("SELECT count(*) FROM incidents").values()).toEqual([[1]]);
  expect((await watch.api("POST", `/api/v1/incidents/${first.json.data.id}/resolve`)).status).toBe(
    200,
  );
});
