import { expect, test } from "bun:test";
import { revokeApiKey } from "../../src/accounts/api-keys/service.ts";
import { testAppliance } from "../support/appliance.ts";
import { signInMember } from "../support/people.ts";
import { createSampleRecord } from "../support/records.ts";
import { waitUntil } from "../support/poll.ts";

const text = JSON.stringify({ title: "Slow" });

/** Starts a request whose body ends only after `change`, a moment later. Returns the status. */
async function sendLate(
  { app }: Awaited<ReturnType<typeof testAppliance>>,
  path: string,
  headers: Record<string, string>,
  change: () => Promise<unknown> | void,
) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers: {
      Host: "localhost",
      "Content-Type": "application/json",
      "Content-Length": String(text.length),
      ...headers,
    },
    body: readable,
  });
  const response = Promise.resolve(app.handle(request));
  await writer.write(Buffer.from(text.slice(0, 5)));
  await change();
  const startedAt = performance.now();
  await waitUntil(() => performance.now() - startedAt > 300);
  await Promise.all([writer.write(Buffer.from(text.slice(5))), writer.close(), response]);
  return (await response).status;
}

test("a key that is revoked while the body arrives writes nothing, and another one does", async () => {
  const appliance = await testAppliance();
  const { ours } = appliance;
  const revoked = await ours.keyOf("write");
  const sendWith = ({ key }: { key: string }, change: () => Promise<unknown> | void) =>
    sendLate(appliance, "/api/v1/incidents", { Authorization: `Bearer ${key}` }, change);
  expect(await sendWith(revoked, () => revokeApiKey(ours.scope, revoked.id))).toBe(401);
  expect((await ours.api("GET", "/api/v1/incidents")).json.data).toEqual([]);
  expect(await sendWith(await ours.keyOf("write"), () => {})).toBe(201);
});

test("a person who loses a right while the body arrives writes nothing", async () => {
  const appliance = await testAppliance();
  const { database, ours } = appliance;
  const group = await createSampleRecord(ours.api, "monitor-groups", { name: "Shop" });
  const changes: [status: number, change: string, parameters: string[]][] = [
    [403, "UPDATE memberships SET role = 'viewer' WHERE person_id = ?", []],
    [403, "UPDATE memberships SET group_ids = ? WHERE person_id = ?", [JSON.stringify([group])]],
    [404, "DELETE FROM memberships WHERE person_id = ?", []],
    [401, "DELETE FROM sessions WHERE person_id = ?", []],
  ];
  for (const [status, change, parameters] of changes) {
    const { id, cookie } = await signInMember(appliance, "member");
    const headers = { Cookie: cookie, "Sec-Fetch-Site": "same-origin", "X-Organization": ours.id };
    const sent = await sendLate(appliance, "/dashboard/api/v1/incidents", headers, () => {
      database.run(change, [...parameters, id]);
      appliance.time.now += 1_000;
    });
    expect([change, sent]).toEqual([change, status]);
  }
  expect((await ours.api("GET", "/api/v1/incidents")).json.data).toEqual([]);
});
