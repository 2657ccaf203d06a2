import { expect, test } from "bun:test";
import { loadSnapshot } from "../../src/alerting/deciding/snapshot.ts";
import { isKeyOf } from "../../src/database/sealed-values.ts";
import {
  listAncestorIds,
  listCompositeIds,
  listFailingDependentIds,
} from "../../src/monitoring/dependencies/store.ts";
import { listMaintainedMonitors } from "../../src/monitoring/maintenance/store.ts";
import { testAppliance } from "../support/appliance.ts";
import { crawlRoutes, readRoutes } from "../support/crawler.ts";
import { createSampleRecord, sampleBodies } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

/** Tables that grow over time. */
const growing = new Set([
  "alerts",
  "audit_entries",
  "deliveries",
  "delivery_alerts",
  "delivery_attempts",
  "events",
  "heartbeats",
  "incident_monitors",
  "incident_updates",
  "incidents",
  "notices",
  "uptime_days",
  "uptime_hours",
]);

/**
 * Statements that may read all of an organization's rows, because they end early or read only an
 * index.
 */
const allowed = [
  // A page of everything, in the order of an index.
  /where \S*organization_id"? = \+\? order by \S+ desc limit \+\?( offset \+\?)?$/i,
  /^select at from events order by seq limit 1$/,
  /^select max\(seq\) as seq from events where organization_id = \+\?$/,
  /^select count\(\*\)( as total)? from ("alerts"|audit_entries e) where \S*organization_id"? = \+\?$/,
  // SQLite skips conditions that are always false.
  / and false\)/,
];

/** Queries with filters, whose statements differ from those without. */
const narrowed = [
  "/audit-log?q=a",
  "/audit-log?noun=monitor&actor=person&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z",
  "/audit-log?subjectId=0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10&action=monitor.updated&fold=true",
  "/audit-log/export.csv?q=a",
  "/overview?q=a&status=up&type=http&tag=eu",
  "/overview/rows?q=a&tag=eu",
  "/api/v1/incidents?q=a",
];

test("a start finds secrets and maintenance without reading every monitor", async () => {
  const { database, store, appliance } = await testAppliance();
  const query = database.query.bind(database);
  const texts: string[] = [];
  database.query = ((text: string) => {
    texts.push(text);
    return query(text);
  }) as typeof database.query;
  isKeyOf(database, appliance.vault);
  await listMaintainedMonitors(store);
  database.query = query;
  const steps = texts
    .flatMap((text) => query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all())
    .map(({ detail }) => detail);
  expect(steps).toContain("SCAN t USING INDEX monitors_with_secrets");
  expect(steps).toContain("SCAN monitor_states USING COVERING INDEX monitor_states_maintained");
});

test("a decision reads the dependencies of its monitors alone, not those of all", async () => {
  const { database, store, ours } = await testAppliance();
  const texts: string[] = [];
  const spied = {
    ...store,
    query: (text: string) => {
      texts.push(text);
      return Promise.resolve(text.startsWith("with own") ? [{ id: "a", parentId: "b" }] : []);
    },
  };
  const tenant = { store: spied as unknown as typeof store, organizationId: ours.id };
  await loadSnapshot(tenant.store, ours.id, { monitorIds: ["a"], incidentIds: [], joins: true });
  await listFailingDependentIds(tenant, ["a"]);
  await listCompositeIds(tenant, ["a"]);
  await listAncestorIds(tenant, ["a"]);
  const wholes = texts
    .filter((text) => /dependencies|alert_memory/.test(text))
    .flatMap((text) => database.query(`EXPLAIN QUERY PLAN ${text}`).all())
    .map((row) => (row as { detail: string }).detail)
    .filter((step) => /^(SCAN|SEARCH) [adms] .*(INDEX|KEY)/.test(step))
    .filter((step) => step.startsWith("SCAN") || step.endsWith("(organization_id=?)"));
  expect(texts.length).toBeGreaterThan(10);
  expect(wholes).toEqual([]);
});

test("a round of the alert engine reads due alerts alone, not those of the whole organization", async () => {
  const { database, alerts } = await testAppliance();
  const texts = new Set<string>();
  const query = database.query.bind(database);
  database.query = ((text: string) => {
    texts.add(text);
    return query(text);
  }) as typeof database.query;
  await alerts.runOnce();
  database.query = query;
  const due = [...texts].filter((text) => /alert_(records|notifications|memory)\b/.test(text));
  const steps = due
    .flatMap((text) => query(`EXPLAIN QUERY PLAN ${text}`).all())
    .map((row) => (row as { detail: string }).detail);
  expect(due.length).toBeGreaterThan(3);
  expect(steps.filter((step) => step.endsWith("(organization_id=?)"))).toEqual([]);
});

test("no request scans a table that grows over time", async () => {
  const appliance = await testAppliance();
  const { database, ours } = appliance;
  const { page } = await signInMember(appliance, "owner");
  const ids: Record<string, string> = {};
  for (const noun of Object.keys(sampleBodies))
    ids[noun] = await createSampleRecord(ours.api, noun);
  const texts = new Set<string>();
  const query = database.query.bind(database);
  database.query = ((text: string) => {
    texts.add(text);
    return query(text);
  }) as typeof database.query;
  const responses = await crawlRoutes(readRoutes.dashboard, ids, page);
  for (const path of narrowed)
    expect([path, (await page("GET", `/dashboard${path}`)).status]).toEqual([path, 200]);
  database.query = query;
  expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(70);
  const selects = [...texts].filter((text) => /^\s*(select|with)\b/i.test(text));
  expect(selects.length).toBeGreaterThan(50);
  const found = selects
    .map((text) => text.trim().replace(/\s+/g, " "))
    .filter((text) => !allowed.some((one) => one.test(text)))
    .flatMap((text) => findFullScans(text).map((step) => ({ step, text })));
  expect(found).toEqual([]);
  // Sorting a window first would read all of the index.
  const windows = selects.filter((text) => /limit \+\?\) m\b/.test(text));
  expect(windows.length).toBeGreaterThan(1);
  expect(windows.filter((text) => plan(text).some((step) => /TEMP B-TREE/.test(step)))).toEqual([]);

  function plan(text: string): string[] {
    return query(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map((row) => (row as { detail: string }).detail);
  }

  /** The steps of a plan that read a whole growing table, or all of an organization's rows. */
  function findFullScans(text: string): string[] {
    const tables = new Map(
      [...text.matchAll(/\b(?:from|join) "?(\w+)"?(?: (?:as )?"?(\w+)"?)?/gi)].flatMap(
        ([, table = "", alias = table]) => [
          [table, table],
          [alias, table],
        ],
      ) as [string, string][],
    );
    return plan(text).filter((step) => {
      const [, how, name = ""] = /^(SCAN|SEARCH) (\w+)/.exec(step) ?? [];
      if (!growing.has(tables.get(name) ?? name)) return false;
      return how === "SCAN" || step.endsWith("(organization_id=?)");
    });
  }
});
