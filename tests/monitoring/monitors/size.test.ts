import { describe, expect, test } from "bun:test";
import { monitorBounds } from "../../../src/core/limits.ts";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import { signInMember } from "../../support/people.ts";

const path = "/api/v1/monitors";
const url = "https://intranet.example";
const http = { type: "http", name: "Intranet", url };

/** Monitors that are too large, with their largest field. */
const large: Record<string, { fields: object; field: string; message: string }> = {
  "a body and many assertions": {
    fields: {
      ...http,
      method: "POST",
      body: "x".repeat(60_000),
      assertions: Array.from({ length: 20 }, (_, index) => ({
        source: "body",
        op: "contains",
        value: `${index}${"y".repeat(900)}`,
      })),
    },
    field: "body",
    message: "must be shorter: all fields of a monitor can have 64 KiB together",
  },
  "many variables": {
    fields: {
      ...http,
      variables: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`v${index}`, "s".repeat(1_000)]),
      ),
    },
    field: "variables",
    message: "must be shorter: all secrets of a monitor can have 16 KiB together",
  },
  "many headers": {
    fields: {
      ...http,
      headers: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`X-${index}`, "s".repeat(1_000)]),
      ),
    },
    field: "headers",
    message: "must be shorter: all secrets of a monitor can have 16 KiB together",
  },
};

for (const [what, { fields, field, message }] of Object.entries(large))
  describe(`a monitor with ${what}`, () => {
    test("can't be created, changed or tested, and the error names the largest field", async () => {
      const appliance = await testAppliance();
      const { api } = appliance.ours;
      const { page } = await signInMember(appliance, "owner");
      const { id } = (await api("POST", path, { body: http })).json.data;
      const before = dumpTables(appliance);
      const { type: _type, ...change } = fields as { type: string };
      const responses = [
        await api("POST", path, { body: fields }),
        await api("PATCH", `${path}/${id}`, { body: change }),
        await page("POST", "/dashboard/checks", { body: fields }),
      ].filter(({ status }) => status !== 404);
      for (const { status, json } of responses) {
        expect([status, json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
        const [detail] = json.error.details;
        expect(detail.path.startsWith(field)).toBe(true);
        expect(detail.message).toBe(message);
      }
      expect(dumpTables(appliance)).toBe(before);
    });

    test("is rejected in a configuration file at its entry", async () => {
      const { api } = (await testAppliance()).ours;
      const { status, json } = await api("PUT", "/api/v1/config", {
        body: { source: "main", monitors: { large: fields } },
      });
      expect([status, json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
      expect(json.error.details[0].path.startsWith(`monitors.large.${field}`)).toBe(true);
    });
  });

test("a larger monitor stored by an earlier version can be changed but can't grow", async () => {
  const { ours, database } = await testAppliance();
  const { fields } = large["a body and many assertions"] ?? {};
  const { assertions, ...others } = fields as { assertions: object[] };
  const { id } = (await ours.api("POST", path, { body: others })).json.data;
  database
    .query(
      "UPDATE monitors SET settings = json_set(settings, '$.assertions', json(?)) WHERE id = ?",
    )
    .run(JSON.stringify(assertions), id);
  const patch = (body: object) => ours.api("PATCH", `${path}/${id}`, { body });
  expect((await patch({ name: "The whole intranet", interval: 30 })).status).toBe(200);
  expect((await patch({ body: "x".repeat(60_001) })).status).toBe(422);
  expect((await patch({ body: "x".repeat(59_999) })).status).toBe(200);
});

test("all monitors of an organization share a size limit on every way of writing them", async () => {
  const appliance = await testAppliance();
  const { api, id } = appliance.ours;
  const monitor = (await api("POST", path, { body: http })).json.data;
  appliance.database
    .query(
      "UPDATE organization_usage SET byte_count = ? WHERE organization_id = ? AND table_name = 'monitors'",
    )
    .run(monitorBounds.totalSize.value, id);
  const before = dumpTables(appliance);
  const refused = [
    await api("POST", path, { body: { ...http, name: "Second" } }),
    await api("PATCH", `${path}/${monitor.id}`, { body: { description: "Longer than before." } }),
    await api("PUT", "/api/v1/config", {
      body: { source: "main", monitors: { third: { ...http, name: "Third" } } },
    }),
  ];
  for (const { status, json } of refused) {
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    expect(json.error.message).toContain("128 MiB");
  }
  expect(dumpTables(appliance)).toBe(before);
  // Changes that do not increase the size are accepted.
  expect((await api("PATCH", `${path}/${monitor.id}`, { body: { name: "Other" } })).status).toBe(
    200,
  );
  expect((await appliance.theirs.api("POST", path, { body: http })).status).toBe(201);
});

test("every change updates the total size of all monitors", async () => {
  const { ours, database } = await testAppliance();
  const readCounts = () =>
    database
      .query("SELECT row_count, byte_count FROM organization_usage WHERE table_name = 'monitors'")
      .values();
  const measureStored = () =>
    database
      .query(
        "SELECT count(*), sum(octet_length(description) + octet_length(settings) + octet_length(secrets)) FROM monitors",
      )
      .values();
  const ids: string[] = [];
  for (let index = 0; index < 3; index++)
    ids.push((await ours.api("POST", path, { body: { ...http, description: "ä" } })).json.data.id);
  expect(readCounts()).toEqual(measureStored());
  await ours.api("PATCH", `${path}/${ids[0]}`, { body: { bearerToken: "token", description: "" } });
  expect(readCounts()).toEqual(measureStored());
  await ours.api("DELETE", `${path}/${ids[1]}`);
  expect(readCounts()).toEqual(measureStored());
});

test("a page of very large monitors is streamed in chunks and equals the single responses", async () => {
  const { ours, app, database } = await testAppliance();
  const ids: string[] = [];
  for (let index = 0; index < 80; index++)
    ids.push(
      (await ours.api("POST", path, { body: { ...http, name: `Shop ${index}` } })).json.data.id,
    );
  database
    .query("UPDATE monitors SET settings = json_set(settings, '$.body', ?)")
    .run("x".repeat(65_000));
  const [one] = [(await ours.api("GET", `${path}/${ids[3]}`)).json.data];
  for (const filter of ["", "&q=shop", "&type=http"]) {
    const { status, json } = await ours.api("GET", `${path}?per_page=100${filter}`);
    expect([status, json.meta]).toEqual([200, { page: 1, per_page: 100, total: 80 }]);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(json.data[76]).toEqual(one);
  }
  const response = await app.handle(
    new Request(`http://localhost${path}?per_page=100`, {
      headers: { Host: "localhost", Authorization: `Bearer ${ours.readKey.key}` },
    }),
  );
  const lengths: number[] = [];
  for await (const chunk of response.body ?? []) lengths.push((chunk as Uint8Array).length);
  expect(lengths.length).toBeGreaterThan(5);
  expect(Math.max(...lengths)).toBeLessThan(1_500_000);
  // A small page is not streamed.
  const secondPage = await ours.api("GET", `${path}?per_page=2&page=2`);
  expect(secondPage.json.data.map(({ id }: { id: string }) => id)).toEqual([ids[77], ids[76]]);
});
