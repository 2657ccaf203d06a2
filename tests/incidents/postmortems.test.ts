import { expect, test } from "bun:test";
import { dayMs } from "../../src/core/time/clock.ts";
import { createPublisher } from "../support/publisher.ts";
import { readWords } from "../support/visitor.ts";

async function setUpResolved() {
  const publisher = await createPublisher();
  const { id } = await publisher.createIncident({ title: "Checkout fails" });
  const path = `/api/v1/incidents/${id}`;
  const readSeen = async () => {
    await publisher.restart();
    const { text } = await publisher.readHtml(`/status/ours/incidents/${id}`);
    return readWords(text, "#postmortem .md")[0] ?? null;
  };
  return {
    ...publisher,
    id: id as string,
    path,
    readSeen,
    write: (body: object) => publisher.api("PATCH", `${path}/postmortem`, { body }),
  };
}

test("a postmortem is internal until it is published, which needs a resolved incident and a text", async () => {
  await using world = await setUpResolved();
  const { write, readSeen, postUpdate, api, path, id, time } = world;
  const readConflict = async (body: object) => (await write(body)).json.error.code;
  expect(await readConflict({ published: true })).toBe("CONFLICT");
  const before = (await api("GET", path)).json.data;
  time.now += 1_000;
  const at = new Date(time.now).toISOString();
  const draft = { message: "CANARY draft", publishedAt: null, updatedAt: at };
  const { status, json } = await write({ message: "CANARY draft" });
  // A draft changes nothing public, not even `updatedAt`.
  expect([status, json.data]).toEqual([200, { ...before, postmortem: draft }]);
  expect(await readConflict({ published: true })).toBe("CONFLICT");
  await postUpdate(id, { status: "resolved" });
  expect(await readSeen()).toBeNull();
  for (const part of [".json", "/feed.atom", "/api/v2/incidents.json", "/history", ""])
    expect((await world.readHtml(`/status/ours${part}`)).text).not.toContain("CANARY");
  await write({ message: "**Cause**: a key.", published: true });
  expect(await readSeen()).toBe("Cause: a key.");
  await write({ message: "Cause: an old key." });
  expect(await readSeen()).toBe("Cause: an old key.");
  // A reopened incident hides its postmortem.
  await postUpdate(id, { status: "monitoring" });
  expect(await readSeen()).toBeNull();
  await postUpdate(id, { status: "resolved" });
  expect(await readSeen()).not.toBeNull();
  await write({ published: false });
  expect(await readSeen()).toBeNull();
  await write({ published: true });
  expect((await api("DELETE", `${path}/postmortem`)).status).toBe(200);
  expect(await readSeen()).toBeNull();
  expect((await api("GET", path)).json.data.postmortem).toBeNull();
  expect((await api("DELETE", `${path}/postmortem`)).status).toBe(404);
  expect((await write({ notify: true })).status).toBe(422);
  const actions = world.database
    .query("SELECT action FROM audit_entries WHERE action LIKE 'incident.postmortem%' ORDER BY seq")
    .values()
    .flat();
  const [updated, published] = ["incident.postmortem-updated", "incident.postmortem-published"];
  expect(actions).toEqual([
    updated,
    published,
    updated,
    updated,
    published,
    "incident.postmortem-deleted",
  ]);
});

test("a published postmortem is in the feeds and the Statuspage API, and sent to subscribers on demand", async () => {
  await using world = await setUpResolved();
  await using hook = await world.addHook();
  await world.mailbox();
  const { write, postUpdate, id, time, readHtml } = world;
  await postUpdate(id, { status: "resolved" });
  await world.send();
  const messageCount = hook.asked.length;
  await write({ message: "Quietly.", published: true });
  await world.send();
  expect(hook.asked).toHaveLength(messageCount);
  await write({ published: false });
  time.now += 20 * dayMs;
  await write({ message: "**Cause**: a key.", published: true, notify: true });
  await world.send();
  expect(hook.received().slice(messageCount)).toMatchObject([
    {
      type: "incident.postmortem",
      data: { message: "**Cause**: a key.", incident: { id, status: "resolved" } },
    },
  ]);
  expect(world.listSubjects().at(-1)).toBe("Postmortem: Checkout fails – Acme status");
  await world.restart();
  const at = new Date(time.now).toISOString();
  const { incidents } = (await readHtml("/status/ours.json")).json();
  expect(incidents[0].postmortem).toEqual({ message: "**Cause**: a key.", publishedAt: at });
  const [v2] = (await readHtml("/status/ours/api/v2/incidents.json")).json().incidents;
  expect(v2.status).toBe("postmortem");
  expect(v2.incident_updates[0]).toMatchObject({
    status: "postmortem",
    body: "Cause: a key.",
    created_at: at,
  });
  expect((await readHtml("/status/ours/feed.atom")).text).toContain(`<updated>${at}</updated>`);
  const history = (await readHtml("/status/ours/history?month=2026-11")).text;
  expect(readWords(history, ".row p a")).toEqual(["Postmortem"]);
});

test("lists show which incidents have a postmortem, published or not", async () => {
  await using world = await setUpResolved();
  const { api, write, postUpdate, id, createIncident } = world;
  const other = await createIncident({ title: "Search is slow" });
  await postUpdate(id, { status: "resolved" });
  await postUpdate(other.id, { status: "resolved" });
  const listWith = async (query: string) => {
    const { data } = (await api("GET", `/api/v1/incidents${query}`)).json;
    return (data as { title: string; hasPostmortem: boolean }[])
      .filter(({ hasPostmortem }) => hasPostmortem)
      .map(({ title }) => title);
  };
  const queries = ["", "?status=resolved", "?q=checkout"];
  for (const query of queries) expect(await listWith(query)).toEqual([]);
  await write({ message: "A key had expired." });
  for (const query of queries) expect(await listWith(query)).toEqual(["Checkout fails"]);
  await api("DELETE", `/api/v1/incidents/${id}/postmortem`);
  for (const query of queries) expect(await listWith(query)).toEqual([]);
});
