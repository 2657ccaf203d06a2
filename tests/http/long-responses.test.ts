import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { z } from "zod";
import { requestBounds } from "../../src/core/limits.ts";
import { yieldToEventLoop } from "../../src/core/time/event-loop.ts";
import { renderJsonPieces } from "../../src/http/responses/api-response.ts";
import { testAppliance } from "../support/appliance.ts";
import { createSampleRecord } from "../support/records.ts";

const Row = z.object({ id: z.int(), name: z.string().optional(), tags: z.array(z.string()) });
const Response = z.object({
  data: z.object({
    rows: z.array(Row),
    first: Row.nullable(),
    byName: z.record(z.string(), Row),
    sections: z.array(z.object({ rows: z.array(Row) })),
    free: z.unknown(),
    sorted: z.array(z.int()).refine((all) => all.every((one, at) => at === 0 || one > 0)),
  }),
  meta: z.object({ total: z.int() }).optional(),
});

/** Rows like the results of services, with fields that the schema does not declare. */
const row = fc.record(
  {
    id: fc.integer(),
    name: fc.string(),
    tags: fc.array(fc.string(), { maxLength: 30 }),
    secret: fc.string(),
  },
  { requiredKeys: ["id", "tags"] },
);
const rows = fc.array(row, { maxLength: 40 });
const payload = fc.record(
  {
    data: fc.record({
      rows,
      first: fc.option(row),
      byName: fc.dictionary(fc.string(), row, { maxKeys: 30, noNullPrototype: true }),
      sections: fc.array(fc.record({ rows, secret: rows }), { maxLength: 30 }),
      free: fc.jsonValue(),
      sorted: fc.array(fc.integer({ min: 1 }), { maxLength: 40 }),
    }),
    meta: fc.option(fc.record({ total: fc.integer() }), { nil: undefined }),
  },
  { requiredKeys: ["data"] },
);
const runs = { numRuns: 60 };

test("a long response is the same in pieces as at once, and has only declared fields", () => {
  fc.assert(
    fc.property(payload, (value) => {
      const text = [...renderJsonPieces(Response, value)].join("");
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(Response.parse(value))));
    }),
    runs,
  );
});

test("a response that does not match its schema is rejected, wherever the mismatch is", () => {
  const wrong = fc.constantFrom<object>(
    { id: "one", tags: [] },
    { id: 1 },
    { id: 1, tags: [1] },
    { id: 1.5, tags: [] },
  );
  const place = fc.constantFrom("rows", "sections", "byName", "sorted", "missing");
  fc.assert(
    fc.property(payload, wrong, place, fc.nat(), ({ data }, bad, where, at) => {
      const insertInto = <T>(all: readonly T[], one: unknown) =>
        all.toSpliced(at % (all.length + 1), 0, one as T);
      const { rows: _rows, ...rest } = data;
      const broken = {
        rows: { ...data, rows: insertInto(data.rows, bad) },
        sections: { ...data, sections: insertInto(data.sections, { rows: [bad] }) },
        byName: { ...data, byName: { ...data.byName, bad } },
        sorted: { ...data, sorted: [1, ...data.sorted, 0] },
        missing: { ...rest, sorted: Array.from({ length: 40 }, (_, index) => index + 1) },
      }[where];
      expect(() => [...renderJsonPieces(Response, { data: broken })]).toThrow(
        "does not fit its schema",
      );
    }),
    runs,
  );
});

test("a long response has a timeout of a minute, and a route with its own timeout has that", async () => {
  const { appliance, ours } = await testAppliance();
  const given: number[] = [];
  appliance.extendTimeout = (_request, seconds) => void given.push(seconds);
  await ours.api("GET", "/api/v1/monitor-groups");
  await ours.api("GET", "/api/v1/config");
  await ours.api("GET", "/api/v1/incidents");
  expect(given).toEqual([60, 120]);
});

test.each(["/api/v1/config", "/api/v1/reports", "/api/v1/reports/csv", "/metrics"])(
  "%s is created one at a time per organization, and at most 20 requests wait",
  async (path) => {
    const { ours, store } = await testAppliance();
    await createSampleRecord(ours.api, "monitors");
    // The key's organization is cached from now on; the next request waits for others.
    await ours.api("GET", path);
    await yieldToEventLoop();
    const open = Promise.withResolvers<void>();
    const query = store.query.bind(store);
    let requestCount = 0;
    store.query = async (text, parameters) => {
      requestCount++;
      await open.promise;
      return query(text, parameters);
    };
    let refused = 0;
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const { status } = await ours.api("GET", path);
        if (status !== 429 || ++refused < 39) return status;
        expect(requestCount).toBeLessThanOrEqual(1);
        open.resolve();
        return status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(21);
  },
);

test("a write is never rejected after it was stored, however many clients write at once", async () => {
  const { ours, database } = await testAppliance();
  const id = await createSampleRecord(ours.api, "incidents");
  const path = `/api/v1/incidents/${id}`;
  const clients = requestBounds.waitingFullReads.value * 3;
  const readUpdates = async (): Promise<unknown[]> =>
    (await ours.api("GET", path)).json.data.updates;
  // A long timeline, whose response takes several turns of the event loop.
  database.run(
    `insert into incident_updates (organization_id, incident_id, seq, id, status, message, created_at)
      select organization_id, incident_id, -value, u.id || value, status, ?, created_at
      from incident_updates u, json_each(?) where incident_id = ?`,
    ["x".repeat(5_000), JSON.stringify(Array.from({ length: 200 }, (_, index) => index + 1)), id],
  );
  const before = (await readUpdates()).length;
  const writes = Array.from({ length: clients }, (_, index) =>
    index % 2 === 0
      ? ours.api("PATCH", path, { body: { message: `Update ${index}` } })
      : ours.api("POST", `${path}/resolve`),
  );
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await readUpdates()).toHaveLength(before + clients);
});
