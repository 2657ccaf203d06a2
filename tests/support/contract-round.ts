/** Basic contracts that every kind of deployment must satisfy. */
import { expect } from "bun:test";
import { unknownId } from "./appliance.ts";
import { startInbox } from "./inbox.ts";
import type { ServerClient } from "./machine.ts";
import { sampleBodies } from "./records.ts";

/** Tests the basic contract of a running server with a key and with another organization's key. */
export async function runContractRound(api: ServerClient, stranger: ServerClient) {
  for (const [noun, { create, patch }] of Object.entries(sampleBodies)) {
    const all = `/api/v1/${noun}`;
    const listRecords = async (by = api) => {
      const { data, meta } = (await by("GET", all)).json;
      const ids: string[] = data.map((one: { id: string }) => one.id);
      return { ids, total: meta?.total ?? ids.length };
    };
    const before = (await listRecords()).total;
    const body = { ...create };
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const created = await api("POST", all, body, key);
    expect([noun, created.status]).toEqual([noun, 201]);
    const { id } = created.json.data;
    const path = `${all}/${id}`;
    expect(new URL(created.headers.get("location") ?? "", "http://x").pathname).toBe(path);
    const again = await api("POST", all, body, key);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    expect(again.json).toEqual(created.json);
    const reused = await api("POST", all, { ...body, ...patch }, key);
    expect([reused.status, reused.json.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    expect((await api("POST", all, {})).status).toBe(422);

    const read = await api("GET", path);
    expect([read.status, read.json.data.id]).toEqual([200, id]);
    const list = await listRecords();
    expect([noun, list.total]).toEqual([noun, before + 1]);
    expect(list.ids).toContain(id);

    for (const [method, patchBody] of [["GET"], ["PATCH", patch], ["DELETE"]] as const) {
      const [foreignResponse, none] = [
        await stranger(method, path, patchBody),
        await stranger(method, `${all}/${unknownId}`, patchBody),
      ];
      for (const { json } of [foreignResponse, none]) delete json.error.requestId;
      expect([noun, method, foreignResponse.status, foreignResponse.json]).toEqual([
        noun,
        method,
        404,
        none.json,
      ]);
    }
    expect((await listRecords(stranger)).ids).not.toContain(id);

    const etag = { "If-Match": read.headers.get("etag") ?? "" };
    const patched = await api("PATCH", path, patch, etag);
    expect([noun, patched.status, patched.json.data]).toEqual([
      noun,
      200,
      expect.objectContaining(patch),
    ]);
    for (const method of ["PATCH", "DELETE"]) {
      const stale = await api(method, path, method === "PATCH" ? patch : undefined, etag);
      expect([noun, method, stale.status]).toEqual([noun, method, 412]);
    }
    const deleted = await api("DELETE", path);
    expect([noun, deleted.status, deleted.json]).toEqual([noun, 200, { data: { deleted: true } }]);
    expect((await api("GET", path)).status).toBe(404);
    expect((await listRecords()).total).toBe(before);
  }
}

/** Expects an outage and its recovery to be reported once and in order. */
export async function runAlertRound(api: ServerClient) {
  await using hook = await startInbox();
  const postForId = async (path: string, body: object) =>
    (await api("POST", `/api/v1/${path}`, body)).json.data;
  const to = { type: "webhook", name: "Round", url: hook.at("/hook"), incidents: false };
  const alertChannelIds = [(await postForId("alert-channels", to)).id];
  const job = { type: "push", name: "Round", interval: 86_400, retries: 0, alertChannelIds };
  const { id, pushUrl } = await postForId("monitors", job);
  for (const status of ["up", "down", "down", "up"])
    expect((await fetch(`${pushUrl}?status=${status}`)).status).toBe(200);
  await hook.waitUntilArrived((all) => all.length >= 2);
  const arrived = hook.listArrived().map(({ type, monitorId }) => [type, monitorId]);
  expect(arrived).toEqual([
    ["monitor.down", id],
    ["monitor.up", id],
  ]);
  await api("DELETE", `/api/v1/monitors/${id}`);
  await api("DELETE", `/api/v1/alert-channels/${alertChannelIds[0]}`);
}
