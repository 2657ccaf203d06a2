import { beforeAll, describe, expect, test } from "bun:test";
import { compactMonitor, expandMonitor, expandOverview } from "../../src/dashboard/rules.ts";
import type { CompactMonitor, Overview } from "../../src/dashboard/schema.ts";
import { maxRowsAtOnce } from "../../src/dashboard/service.ts";
import { type Filters, isMatching } from "../../web/pages/monitors/list/filters.ts";
import type { Client } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { copyMonitor } from "../support/many-monitors.ts";
import { signInMember } from "../support/people.ts";

const count = maxRowsAtOnce + 150;
/** An organization with slightly more monitors than one response contains. */
let world: Awaited<ReturnType<typeof createLargeAppliance>>;
beforeAll(async () => {
  world = await createLargeAppliance();
});

/** Copies of one monitor, of all states, in three groups and in none. */
async function createLargeAppliance() {
  const dashboard = await createDashboard();
  const { page } = await signInMember(dashboard, "viewer");
  const groups: string[] = [];
  for (const name of ["Zürich", "Berlin", "Empty", "Wien"])
    groups.push((await dashboard.group({ name, tags: [name === "Wien" ? "eu" : "dach"] })).id);
  const { id } = await dashboard.monitor({
    type: "http",
    name: "First",
    url: "https://a.example/x",
  });
  copyMonitor(
    dashboard.database,
    id,
    count - 1,
    {
      name: "'Service ' || i || CASE i % 7 WHEN 0 THEN ' Über' ELSE '' END",
      group_id: `CASE WHEN i < 1300 THEN '${groups[1]}' WHEN i < 1400 THEN '${groups[0]}'
        WHEN i < 1500 THEN '${groups[3]}' END`,
      position: "(i * 7919) % 1000003",
      tags: `CASE i % 11 WHEN 0 THEN '["eu"]' ELSE '[]' END`,
      type: "CASE i % 5 WHEN 0 THEN 'tls' ELSE 'http' END",
      settings: `CASE i % 5 WHEN 0 THEN '{"host":"h' || i || '.example","port":8443}'
        ELSE '{"url":"https://s' || i || '.example/health"}' END`,
      muted: "i % 2",
    },
    {
      status: `CASE WHEN i % 97 = 0 THEN 'down' WHEN i % 89 = 0 THEN 'degraded' ELSE 'up' END`,
      paused: "i % 41 = 0",
      since: "printf('2026-11-%02dT%02d:00:00.000Z', 1 + i % 19, i % 24)",
      last_message: "CASE i % 83 WHEN 0 THEN 'Not judged: no network' END",
    },
  );
  return { ...dashboard, page, groups };
}

const read = async (page: Client, query: Record<string, string> = {}): Promise<Overview> =>
  expandOverview(
    (await page("GET", `/dashboard/overview?${new URLSearchParams(query).toString()}`)).json.data,
  );

const folderOf = (groupId: string | null) => (groupId === null ? {} : { groupId });

/** All rows, combined from several responses. */
async function readWholeOverview(page: Client, query: Filters = {}) {
  const { groups, totals } = await read(page, query as Record<string, string>);
  const rows = [];
  for (const groupId of [...groups.map(({ id }) => id), null]) {
    for (let from = 0; ; from += 500) {
      const rowsQuery = { ...query, ...folderOf(groupId), from: String(from), count: "500" };
      const search = new URLSearchParams(rowsQuery as Record<string, string>).toString();
      const { data } = (await page("GET", `/dashboard/overview/rows?${search}`)).json;
      rows.push(...(data as CompactMonitor[]).map((row) => expandMonitor(row, groupId)));
      if (data.length < 500) break;
    }
  }
  return { groups, rows, totals };
}

const statesOf = (rows: readonly { groupId: string | null; status: string }[]) =>
  [...Map.groupBy(rows, ({ groupId }) => groupId)]
    .map(([groupId, monitors]) => ({
      groupId,
      states: Object.fromEntries(
        [...Map.groupBy(monitors, ({ status }) => status)].map(([status, all]) => [
          status,
          all.length,
        ]),
      ),
    }))
    .sort((one, other) => String(one.groupId).localeCompare(String(other.groupId)));

describe("the Monitors page with more monitors than one response contains", () => {
  test("has the first rows of its folders, in order, and totals of all rows", async () => {
    const { page } = world;
    const { groups, rows, totals } = await readWholeOverview(page);
    expect(rows.length).toBe(count);
    const first = await read(page);
    expect(first.monitors.length).toBe(200);
    expect(first.monitors).toEqual(rows.slice(0, 200));
    expect(
      totals?.folders.toSorted((one, other) =>
        String(one.groupId).localeCompare(String(other.groupId)),
      ),
    ).toEqual(statesOf(rows));
    expect(groups.length).toBe(4);
    expect(totals?.types).toEqual(["http", "tls"]);
    expect(totals?.tags).toEqual(["eu"]);
  });

  test("has the worst monitors, down before degraded and the latest first", async () => {
    const { page } = world;
    const { rows, totals } = await readWholeOverview(page);
    const worst = rows
      .filter(({ status }) => status === "down" || status === "degraded")
      .sort(
        (one, other) =>
          Number(one.status === "degraded") - Number(other.status === "degraded") ||
          other.statusSince.localeCompare(one.statusSince),
      )
      .map(({ status, statusSince }) => `${status} ${statusSince}`);
    const troubled = totals?.troubled ?? [];
    expect(troubled.length).toBe(Math.min(50, worst.length));
    expect(troubled.map(({ status, statusSince }) => `${status} ${statusSince}`)).toEqual(
      worst.slice(0, 50),
    );
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const row of troubled)
      expect(compactMonitor(row)).toEqual(compactMonitor(known.get(row.id) ?? row));
  });

  const filters: Filters[] = [
    { q: "service 12" },
    { q: "ÜBER" },
    { q: "berlin 1.example" },
    { q: "h50.example:8443" },
    { q: "100%" },
    { status: "down" },
    { status: "unknown" },
    { status: "paused", type: "tls" },
    { tag: "eu" },
    { tag: "eu", q: "wien", status: "up" },
    { type: "http" },
  ];
  test.each(filters.map((filter) => [JSON.stringify(filter), filter] as const))(
    "filtered by %s has the rows that the page itself finds among all rows",
    async (_, filter) => {
      const { page } = world;
      const { groups, rows } = await readWholeOverview(page);
      const byId = new Map(groups.map((group) => [group.id, group]));
      const matching = rows.filter((row) => isMatching(row, byId.get(row.groupId ?? ""), filter));
      const { monitors, totals } = await read(page, filter as Record<string, string>);
      expect(totals).toBeUndefined();
      expect(monitors.map(({ id }) => id)).toEqual(matching.map(({ id }) => id));
    },
  );

  test("with too many matches has the first rows and totals of the matches", async () => {
    const { page } = world;
    const { rows, totals } = await readWholeOverview(page, { q: "example" });
    expect(rows.length).toBe(count);
    expect(totals?.folders.length).toBe(4);
  });
});

test("another organization's folder has no rows", async () => {
  const { page, theirs } = world;
  const { id } = (await theirs.api("POST", "/api/v1/monitor-groups", { body: { name: "Theirs" } }))
    .json.data;
  expect((await page("GET", `/dashboard/overview/rows?groupId=${id}`)).json.data).toEqual([]);
});
