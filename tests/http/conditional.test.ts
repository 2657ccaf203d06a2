import { describe, expect, test } from "bun:test";
import { type Client, dumpTables, testAppliance } from "../support/appliance.ts";
import { createSampleMembers } from "../support/people.ts";
import {
  apiRoutes,
  buildInput,
  createSampleRecord,
  nounOf,
  sampleBodies,
  fillIds,
  createRecordForRoute,
  sampleOverride,
  samplePeople,
} from "../support/records.ts";

async function etagOf(api: Client, path: string): Promise<string> {
  const etag = (await api("GET", path)).headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[^"]+"$/);
  return etag;
}

async function oneOf(noun: string) {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  const id = await createSampleRecord(api, noun);
  const list = `/api/v1/${noun}`;
  const body = sampleBodies[noun]?.patch;
  return { ...appliance, api, id, list, path: `${list}/${id}`, body };
}

describe.each(Object.keys(sampleBodies))("of %s", (noun) => {
  test("an unchanged record or list has no body in the response; a changed one has another ETag", async () => {
    const { api, list, path, body } = await oneOf(noun);
    for (const url of [list, path]) {
      const etag = await etagOf(api, url);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const response = await api("GET", url, { headers: { "If-None-Match": known } });
        expect([known, response.status, response.text]).toEqual([known, 304, ""]);
        expect(response.headers.get("etag")).toBe(etag);
      }
      const other = await api("GET", url, { headers: { "If-None-Match": '"other"' } });
      expect(other.status).toBe(200);
    }
    const before = [await etagOf(api, list), await etagOf(api, path)];
    expect((await api("PATCH", path, { body })).status).toBe(200);
    for (const [index, url] of [list, path].entries()) {
      const headers = { "If-None-Match": before[index] ?? "" };
      expect((await api("GET", url, { headers })).status).toBe(200);
    }
  });

  test("a write with a stale ETag is rejected and changes nothing", async () => {
    const appliance = await oneOf(noun);
    const { api, path, body } = appliance;
    const read = await etagOf(api, path);
    const written = await api("PATCH", path, { body, headers: { "If-Match": read } });
    expect(written.status).toBe(200);
    const before = dumpTables(appliance);
    const current = written.headers.get("etag") ?? "";
    for (const stale of [read, `W/${current}`, '"1"', "nonsense"])
      for (const method of ["PATCH", "DELETE"]) {
        const response = await api(method, path, {
          ...(method === "PATCH" && { body }),
          headers: { "If-Match": stale },
        });
        expect([method, stale, response.status, response.json.error?.code]).toEqual([
          method,
          stale,
          412,
          "PRECONDITION_FAILED",
        ]);
      }
    expect(dumpTables(appliance)).toBe(before);
    const any = await api("PATCH", path, { body, headers: { "If-Match": "*" } });
    expect(any.status).toBe(200);
    const latest = `"other", ${any.headers.get("etag")}`;
    expect((await api("DELETE", path, { headers: { "If-Match": latest } })).status).toBe(200);
  });

  test("of ten writers with the same ETag exactly one succeeds", async () => {
    const { api, path, body } = await oneOf(noun);
    const headers = { "If-Match": await etagOf(api, path) };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => api("PATCH", path, { body, headers })),
    );
    const won = responses.filter(({ status }) => status === 200);
    const lost = responses.filter(({ status }) => status === 412);
    expect([won.length, lost.length]).toEqual([1, 9]);
  });
});

test("a monitor's new state changes its ETag without making edits stale", async () => {
  const { api, list, path, body, store } = await oneOf("monitors");
  const [read, readList] = [await etagOf(api, path), await etagOf(api, list)];
  const text =
    "UPDATE monitor_states SET status = 'down', last_message = 'refused', latency_ms = 3";
  await store.atomic([{ text, parameters: [] }]);
  expect(await etagOf(api, path)).not.toBe(read);
  expect(await etagOf(api, list)).not.toBe(readList);
  const { status, json } = await api("PATCH", path, { body, headers: { "If-Match": read } });
  expect([status, json.data.status]).toEqual([200, "down"]);
});

test("a group's ETag depends on its monitors, and a monitor's on its group and channels", async () => {
  const { api } = (await testAppliance()).ours;
  const [group, monitor, channel] = [
    await createSampleRecord(api, "monitor-groups"),
    await createSampleRecord(api, "monitors"),
    await createSampleRecord(api, "alert-channels"),
  ];
  const paths = [`/api/v1/monitor-groups/${group}`, `/api/v1/monitors/${monitor}`] as const;
  const [groupPath, monitorPath] = paths;
  const writes: [method: string, path: string, body?: object][] = [
    ["PATCH", monitorPath, { groupId: group }],
    ["PATCH", groupPath, { monitorIds: [] }],
    ["PATCH", groupPath, { alertChannelIds: [channel], monitorIds: [monitor] }],
    ["DELETE", `/api/v1/alert-channels/${channel}`],
  ];
  for (const [method, path, body] of writes) {
    const before = await Promise.all(paths.map((path) => etagOf(api, path)));
    await api(method, path, { body });
    const after = await Promise.all(paths.map((path) => etagOf(api, path)));
    for (const index of paths.keys()) {
      const stored = await api("PATCH", paths[index] ?? "", {
        body: { description: "Late" },
        headers: { "If-Match": before[index] ?? "" },
      });
      expect([method, path, after[index] === before[index], stored.status]).toEqual([
        method,
        path,
        false,
        412,
      ]);
    }
  }
});

test("every change and deletion is rejected if its If-Match does not match", async () => {
  const appliance = await testAppliance();
  await createSampleMembers(appliance);
  const { api } = appliance.ours;
  const ids = new Map<string, string>();
  for (const noun of Object.keys(sampleBodies)) ids.set(noun, await createSampleRecord(api, noun));
  ids.set("contact-methods", await createSampleRecord(api, "contact-methods"));
  ids.set("people", samplePeople[0] ?? "");
  ids.set("held-changes", await createSampleRecord(api, "held-changes"));
  const idOf = (noun: string) => ids.get(noun) ?? "";
  const within = `/api/v1/incidents/${idOf("incidents")}`;
  const createChild = async (path: string, body: object) =>
    (await api("POST", path, { body })).json.data as { id: string };
  const childIds: Record<string, string> = {
    notes: (await createChild(`${within}/notes`, { message: "Seen." })).id,
    subscribers: (
      await createChild(`/api/v1/status-pages/${idOf("status-pages")}/subscribers`, {
        type: "webhook",
        url: "https://hooks.team.example/status",
      })
    ).id,
    "access-tokens": (
      await createChild(`/api/v1/status-pages/${idOf("status-pages")}/access-tokens`, {
        name: "Feeds",
      })
    ).id,
    updates: (await api("GET", within)).json.data.updates[0].id,
    overrides: (
      await createChild(`/api/v1/schedules/${idOf("schedules")}/overrides`, sampleOverride)
    ).id,
  };
  const deletedId = await createRecordForRoute(api, { path: "/api/v1/deleted-records/:id" });
  await api("PATCH", within, { body: { status: "resolved" } });
  await api("PATCH", `${within}/postmortem`, { body: { message: "Why" } });
  const routes = apiRoutes.filter(({ method }) => ["PATCH", "PUT", "DELETE"].includes(method));
  expect(routes.length).toBeGreaterThan(20);
  const before = dumpTables(appliance);
  for (const route of routes) {
    const kind = Object.keys(childIds).find((name) => route.path.includes(`/${name}/:`)) ?? "";
    const path = fillIds(
      route.path,
      route.path.includes("deleted-records") ? deletedId : idOf(nounOf(route.path)),
      childIds[kind],
    );
    const specialBody = { settings: { smtp: null }, config: {} }[nounOf(route.path)];
    const input = specialBody === undefined ? buildInput(route) : { body: specialBody };
    for (const stale of ['"0-x"', '"x-gzip"', 'W/"1-x"', "nonsense"]) {
      const headers = { ...input.headers, "If-Match": stale };
      const { status } = await api(route.method, path, { ...input, headers });
      expect([route.method, route.path, stale, status]).toEqual([
        route.method,
        route.path,
        stale,
        412,
      ]);
    }
  }
  expect(dumpTables(appliance)).toBe(before);
});

test("of two configurations based on the same read, one is rejected", async () => {
  const { api } = (await testAppliance()).ours;
  for (const encoding of ["identity", "gzip"]) {
    const read = await api("HEAD", "/api/v1/config", { headers: { "Accept-Encoding": encoding } });
    const headers = { "If-Match": read.headers.get("etag") ?? "" };
    const responses = await Promise.all(
      ["one", "other"].map((key) =>
        api("PUT", "/api/v1/config", {
          body: { source: encoding, groups: { [key]: { name: `${key} ${encoding}` } } },
          headers,
        }),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 412]));
  }
});
