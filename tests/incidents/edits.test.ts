import { expect, test } from "bun:test";
import { createPublisher } from "../support/publisher.ts";
import { dumpTables, unknownId } from "../support/appliance.ts";
import { readWords } from "../support/visitor.ts";

async function createPublishedIncident() {
  const publisher = await createPublisher();
  const { id, updates } = await publisher.createIncident({ message: "Teh cause is unknown." });
  const path = `/api/v1/incidents/${id}`;
  const update = `${path}/updates/${updates[0].id}`;
  return {
    ...publisher,
    id: id as string,
    path,
    update,
    edit: (message: string, headers: Record<string, string> = {}) =>
      publisher.api("PATCH", update, { body: { message }, headers }),
  };
}

test("an edited update is marked as edited everywhere, stores its old text, and sends no second notification", async () => {
  await using world = await createPublishedIncident();
  await using hook = await world.addHook();
  const { edit, update, api, readHtml, restart, time, id, postUpdate, ours } = world;
  const { json: channel } = await api("POST", "/api/v1/alert-channels", {
    body: { type: "webhook", name: "Ops", url: "https://hooks.team.example/x" },
  });
  await postUpdate(id, { status: "identified", message: "Second." });
  await world.send();
  const messageCount = hook.asked.length;
  time.now += 60_000;
  const first = new Date(time.now).toISOString();
  expect((await edit("The cause is unknown.")).status).toBe(200);
  time.now += 60_000;
  const at = new Date(time.now).toISOString();
  const { json } = await edit("The cause is **known**.");
  expect(json.data.updates).toMatchObject([
    { status: "investigating", message: "The cause is **known**.", editedAt: at },
    { status: "identified", message: "Second.", editedAt: null },
  ]);
  const author = { type: "api-key", id: ours.writeKey.id, name: ours.writeKey.name };
  expect((await api("GET", `${update}/revisions`)).json.data).toEqual([
    { id: expect.any(String), message: "Teh cause is unknown.", editedAt: first, author },
    { id: expect.any(String), message: "The cause is unknown.", editedAt: at, author },
  ]);
  await world.send();
  expect(hook.asked).toHaveLength(messageCount);
  const deliveries = await api("GET", `/api/v1/alert-channels/${channel.data.id}/deliveries`);
  const alerts = deliveries.json.data.map(
    ({ alertIds }: { alertIds: string[] }) => alertIds.length,
  );
  expect(alerts.reduce((sum: number, count: number) => sum + count, 0)).toBeLessThanOrEqual(2);

  await restart();
  const { text } = await readHtml(`/status/ours/incidents/${id}`);
  expect(readWords(text, ".posted").map((words) => words.includes("Edited"))).toEqual([
    false,
    true,
  ]);
  expect(text).not.toMatch(/Teh cause|is unknown/);
  const publicUpdates = (await readHtml("/status/ours.json")).json().incidents[0].updates;
  expect(publicUpdates.map(({ editedAt }: { editedAt: unknown }) => editedAt)).toEqual([null, at]);
  const v2 = (await readHtml("/status/ours/api/v2/incidents.json")).json().incidents[0];
  expect(v2.incident_updates[1]).toMatchObject({ updated_at: at });
});

test("the same text is no edit", async () => {
  await using world = await createPublishedIncident();
  const { api, path, update, edit } = world;
  const [{ message }] = (await api("GET", path)).json.data.updates;
  const before = dumpTables(world);
  const { status, json } = await edit(message);
  expect([status, json.data.updates[0]]).toMatchObject([200, { message, editedAt: null }]);
  expect((await edit(message, { "If-Match": '"7-x"' })).status).toBe(412);
  expect(dumpTables(world)).toBe(before);
  expect((await api("GET", `${update}/revisions`)).json.data).toEqual([]);
});

test("an edited monitor update belongs to its editor; an edit records its author, its update and its base version", async () => {
  await using world = await createPublishedIncident();
  const job = await world.createJob({ name: "db-7", autoIncidentSeverity: "minor" });
  await world.publish({
    sections: [{ name: "Jobs", groupId: null, monitors: [{ id: job.id, name: "Shop" }] }],
  });
  await job.report({ status: "down" });
  const [{ id }] = (await world.api("GET", "/api/v1/incidents")).json.data;
  const { updates } = (await world.api("GET", `/api/v1/incidents/${id}`)).json.data;
  const body = { message: "The shop takes no orders." };
  const { status } = await world.api("PATCH", `/api/v1/incidents/${id}/updates/${updates[0].id}`, {
    body,
  });
  expect(status).toBe(200);
  await world.restart();
  expect((await world.readHtml(`/status/ours/incidents/${id}`)).text).toContain(body.message);

  const { api, path, update, edit } = world;
  for (const [status, answer] of [
    [404, await api("PATCH", `${path}/updates/${unknownId}`, { body })],
    [404, await api("GET", `${path}/updates/${unknownId}/revisions`)],
    // An update of another incident.
    [404, await api("PATCH", `${path}/updates/${updates[0].id}`, { body })],
    [422, await edit(" ")],
    [412, await edit("Late.", { "If-Match": '"7-x"' })],
    [403, await world.ours.reader("PATCH", update, { body })],
  ] as const)
    expect(answer.status).toBe(status);
  const actions = world.database
    .query("SELECT fields FROM audit_entries WHERE action = 'incident.updated'")
    .values();
  expect(actions).toEqual([['["updates"]']]);
});
