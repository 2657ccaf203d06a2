import { expect, spyOn, test } from "bun:test";
import { searchBounds } from "../../src/core/limits.ts";
import { api, dashboard } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { testAppliance } from "../support/appliance.ts";
import { createSampleRecord, nounOf } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

type Appliance = Awaited<ReturnType<typeof testAppliance>>;

function addIncidents({ database, ours, time }: Appliance, count: number, title: string) {
  const insert = database.query(
    `INSERT INTO incidents (organization_id, id, title, status, severity, origin, public, version,
     created_at, updated_at) VALUES (?, ?, ?, 'identified', 'minor', 'manual', 1, 1, ?, ?)`,
  );
  const at = new Date(time.now).toISOString();
  database.transaction(() => {
    for (let index = 0; index < count; index++)
      insert.run(ours.id, Bun.randomUUIDv7("hex", time.now + index), title, at, at);
  })();
}

const search = ({ ours }: Appliance, q: string) =>
  ours.api("GET", `/api/v1/incidents?q=${encodeURIComponent(q)}`);

/** Letters with upper and lower case. */
const letters = Array.from({ length: 32 }, (_, index) => String.fromCodePoint(0x430 + index));

const crafted = {
  "a text that nearly matches everywhere": ["ä".repeat(498) + "öx", `${"ä".repeat(99)}x`],
  "a plain text that nearly matches everywhere": ["a".repeat(499), `${"a".repeat(99)}b`],
  "many different letters": [letters.join("").repeat(15), `${letters.join("").repeat(3)}x`],
  "the wildcards of other languages": ["%_".repeat(250), "%_*?[a]".repeat(14)],
} as const;

for (const [what, [title, q]] of Object.entries(crafted))
  test(`a search for ${what} reads few rows at a time, and other requests run in between`, async () => {
    const appliance = await testAppliance();
    addIncidents(appliance, 3_000, title);
    const plans: number[] = [];
    const query = appliance.store.query.bind(appliance.store);
    const spy = spyOn(appliance.store, "query").mockImplementation((text, parameters) => {
      if (text.includes("instr(")) plans.push(parameters.length);
      return query(text, parameters);
    });
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const { status, json } = await search(appliance, q);
    isOver = true;
    spy.mockRestore();
    expect([status, json.meta.total]).toEqual([200, 0]);
    expect(plans.length).toBeGreaterThanOrEqual(3_000 / searchBounds.stride.value);
    expect(turns).toBeGreaterThanOrEqual(plans.length - 1);
  });

test("more different letters make the strides shorter", async () => {
  const readStatements = async (q: string) => {
    const appliance = await testAppliance();
    addIncidents(appliance, 2_000, "Плохо");
    let count = 0;
    const query = appliance.store.query.bind(appliance.store);
    const spy = spyOn(appliance.store, "query").mockImplementation((text, parameters) => {
      if (text.includes("instr(")) count++;
      return query(text, parameters);
    });
    await search(appliance, q);
    spy.mockRestore();
    return count;
  };
  const [few, many] = [await readStatements("x"), await readStatements(letters.join(""))];
  expect(many).toBeGreaterThan(10 * few);
});

test("an organization runs one search at a time, a limited number waits, and other organizations are not delayed", async () => {
  const appliance = await testAppliance();
  addIncidents(appliance, 3_000, "a".repeat(400));
  const many = Array.from({ length: 30 }, () => search(appliance, "needle"));
  const theirs = await appliance.theirs.api("GET", "/api/v1/incidents?q=needle");
  const statuses = (await Promise.all(many)).map(({ status }) => status);
  expect(theirs.status).toBe(200);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(
    searchBounds.waiting.value,
  );
});

test("a search that would read too many rows is rejected with a reason", async () => {
  const { createWorkCounter } = await import("../../src/database/search.ts");
  const count = createWorkCounter(51);
  count(searchBounds.work.value / 51 - 1);
  expect(() => count(2)).toThrow("The search would read too much.");
});

const searchable = ([...api.routes, ...dashboard.routes] as unknown as Route[]).filter(
  ({ method, hooks }) =>
    method === "GET" && Object.hasOwn(Object(hooks.detail?.endpoint?.query)?.shape ?? {}, "q"),
);

test.each(searchable.map(({ path }) => path))(
  "%s accepts a search of 100 characters, and no longer one",
  async (route) => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "owner");
    const id = route.includes(":id")
      ? await createSampleRecord(appliance.ours.api, nounOf(route))
      : "";
    const path = route.replace(":id", id).replace(/\/$/, "");
    const client = path.startsWith("/dashboard") ? page : appliance.ours.api;
    const get = (length: number) =>
      client("GET", `${path}?q=${encodeURIComponent("😀".repeat(length))}`);
    expect((await get(100)).status).toBe(200);
    const { status, json } = await get(101);
    expect([status, json.error.details[0].path]).toEqual([422, "q"]);
  },
);

test("every search of the product is covered", () => {
  expect(searchable.length).toBeGreaterThanOrEqual(7);
});
