import { expect, test } from "bun:test";
import { testAppliance, unknownId } from "../support/appliance.ts";

async function openIncident() {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  const { json } = await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  const path = `/api/v1/incidents/${json.data.id}`;
  return {
    ...appliance,
    api,
    path,
    note: (message: string) => api("POST", `${path}/notes`, { body: { message } }),
    read: async () => (await api("GET", path)).json.data,
  };
}

test("a note is stored next to the timeline, with author and time", async () => {
  const { note, read, api, path, ours, time, database } = await openIncident();
  const before = await read();
  time.now += 60_000;
  const { status, json, headers } = await note("Restart <b>worker 3</b>.\n");
  expect([status, headers.get("location")]).toEqual([201, null]);
  const author = { type: "api-key", id: ours.writeKey.id, name: ours.writeKey.name };
  expect(json.data).toEqual({
    id: expect.any(String),
    message: "Restart <b>worker 3</b>.\n",
    createdAt: new Date(time.now).toISOString(),
    author,
  });
  const second = (await note("Done.")).json.data;
  // Nothing else changes, so nothing public reveals a note.
  expect(await read()).toEqual({ ...before, notes: [json.data, second] });
  expect((await api("GET", "/api/v1/incidents")).json.data[0]).not.toHaveProperty("notes");
  expect(await (await api("DELETE", `${path}/notes/${second.id}`)).json).toEqual({
    data: { deleted: true },
  });
  expect((await read()).notes).toEqual([json.data]);
  const steps = ["incident.noted", "incident.noted", "incident.note-deleted"];
  for (const table of ["audit_entries WHERE action", "events WHERE type"])
    expect(
      database
        .query(`SELECT ${table.split(" ").at(-1)} FROM ${table} LIKE 'incident.note%' ORDER BY seq`)
        .values()
        .flat(),
    ).toEqual(steps);
  await api("DELETE", path);
  expect(database.query("SELECT count(*) FROM incident_notes").values()).toEqual([[0]]);
});

test("a note belongs to one incident, needs a text and a key with write access", async () => {
  const { note, api, path, ours } = await openIncident();
  const { id } = (await note("Ours.")).json.data;
  const { json } = await api("POST", "/api/v1/incidents", { body: { title: "Else" } });
  const elsewhere = `/api/v1/incidents/${json.data.id}/notes`;
  const responses = [
    [404, await api("DELETE", `${elsewhere}/${id}`)],
    [404, await api("DELETE", `${path}/notes/${unknownId}`)],
    [404, await api("POST", `/api/v1/incidents/${unknownId}/notes`, { body: { message: "x" } })],
    [422, await note(" ")],
    [422, await note("x".repeat(5001))],
    [403, await ours.reader("POST", `${path}/notes`, { body: { message: "x" } })],
  ] as const;
  for (const [status, answer] of responses) expect(answer.status).toBe(status);
  expect((await api("GET", path)).json.data.notes).toHaveLength(1);
});

test("an incident with very many updates and notes returns all of them in order", async () => {
  const { api, path, read, database } = await openIncident();
  await api("POST", `${path}/notes`, { body: { message: "Note 0" } });
  const count = 130;
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const readCopies = (table: string, values: Record<string, string>) => {
    const names = database
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
    database.run(
      `${numbers} INSERT INTO ${table}
       SELECT ${names.map((name) => values[name] ?? name).join(", ")} FROM n CROSS JOIN ${table}`,
    );
  };
  const id = "printf('ffffffff-0000-7000-8000-%012d', i)";
  readCopies("incident_updates", { id, seq: "seq + 2 * i", message: "'Update ' || i" });
  readCopies("incident_notes", { id, message: "'Note ' || i" });
  const { updates, notes } = await read();
  const buildMessages = (all: { message: string }[]) => all.map(({ message }) => message);
  const buildNumbered = (noun: string) => Array.from({ length: count }, (_, i) => `${noun} ${i}`);
  expect(buildMessages(updates)).toEqual(["Incident opened.", ...buildNumbered("Update").slice(1)]);
  expect(buildMessages(notes)).toEqual(buildNumbered("Note"));
  const patched = await api("PATCH", path, { body: { severity: "major" } });
  expect(patched.json.data.updates.length).toBe(count);
});
