import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/database/file/embedded.ts";
import { testAppliance, type TestAppliance } from "../support/appliance.ts";
import { createSampleRecord } from "../support/records.ts";
import { signInMember } from "../support/people.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

type Table = { name: string; type: string; strict: number };
type Reference = { id: number; table: string; from: string; to: string };

function tablesOf({ database }: TestAppliance): Table[] {
  return database
    .query<Table, []>("PRAGMA table_list")
    .all()
    .filter(({ name, type }) => type === "table" && !name.startsWith("sqlite_"));
}

test("every connection has the settings for durable writes and enforced references", () => {
  const database = openDatabase(join(newDirectory(), "settings.db"));
  const settings = {
    journal_mode: "wal",
    synchronous: 2,
    busy_timeout: 5000,
    foreign_keys: 1,
    trusted_schema: 0,
    cell_size_check: 1,
    journal_size_limit: 67108864,
  };
  for (const [name, value] of Object.entries(settings))
    expect([name, database.query(`PRAGMA ${name}`).values()]).toEqual([name, [[value]]]);
  database.close();
});

test("every table is STRICT", async () => {
  const tables = tablesOf(await testAppliance());
  expect(tables.length).toBeGreaterThan(10);
  expect(tables.filter(({ strict }) => strict === 0)).toEqual([]);
});

/** Foreign keys of every table. */
const referencesOf = (appliance: TestAppliance) =>
  tablesOf(appliance).flatMap(({ name }) => {
    const columns = appliance.database
      .query<Reference, []>(`PRAGMA foreign_key_list("${name}")`)
      .all();
    return [...Map.groupBy(columns, ({ id }) => id).values()].map((pairs) => ({
      name: `${name} to ${pairs[0]?.table}`,
      child: name,
      table: pairs[0]?.table,
      columns: pairs.map(({ from }) => from),
      pairs: pairs.map(({ from, to }) => `${from}=${to}`),
    }));
  });

test("deleting a record finds its references by an index, without reading the whole organization", async () => {
  const appliance = await testAppliance();
  const scans = referencesOf(appliance).flatMap(({ name, child, columns }) => {
    const where = columns.map((column) => `"${column}" = ?`).join(" AND ");
    const plan = appliance.database
      .query<{ detail: string }, null[]>(
        `EXPLAIN QUERY PLAN SELECT * FROM "${child}" WHERE ${where}`,
      )
      .all(...columns.map(() => null))
      .map(({ detail }) => detail)
      .join();
    return columns.every((column) => plan.includes(`${column}=?`)) ? [] : [[name, plan]];
  });
  expect(scans).toEqual([]);
});

test("every reference between records includes the organization on both sides", async () => {
  const references = referencesOf(await testAppliance());
  // People can belong to several organizations, and sign-in providers can open several.
  const shared = ["organizations", "people", "identity_providers"];
  const between = references.filter(({ table }) => !shared.includes(table ?? ""));
  expect(between.length).toBeGreaterThan(5);
  for (const { name, pairs } of between)
    expect([name, pairs]).toEqual([
      name,
      expect.arrayContaining(["organization_id=organization_id"]),
    ]);
});

test("the schema rejects references to another organization's records", async () => {
  const appliance = await testAppliance();
  const { database, ours, theirs } = appliance;
  const [monitor, group, incident] = [
    await createSampleRecord(ours.api, "monitors"),
    await createSampleRecord(ours.api, "monitor-groups"),
    await createSampleRecord(ours.api, "incidents"),
  ];
  const foreign = {
    monitor: await createSampleRecord(theirs.api, "monitors"),
    group: await createSampleRecord(theirs.api, "monitor-groups"),
    channel: await createSampleRecord(theirs.api, "alert-channels"),
    incident: await createSampleRecord(theirs.api, "incidents"),
  };
  const attempts: [statement: string, parameters: string[]][] = [
    ["UPDATE monitors SET group_id = ? WHERE id = ?", [foreign.group, monitor]],
    ["UPDATE incidents SET monitor_id = ? WHERE id = ?", [foreign.monitor, incident]],
    [
      "UPDATE incident_updates SET incident_id = ? WHERE incident_id = ?",
      [foreign.incident, incident],
    ],
    ["INSERT INTO monitor_channels VALUES (?, ?, ?, 0)", [ours.id, monitor, foreign.channel]],
    ["INSERT INTO monitor_channels VALUES (?, ?, ?, 0)", [theirs.id, monitor, foreign.channel]],
    ["INSERT INTO monitor_group_channels VALUES (?, ?, ?, 0)", [ours.id, group, foreign.channel]],
    ["UPDATE monitors SET organization_id = ? WHERE id = ?", [theirs.id, monitor]],
  ];
  for (const [statement, parameters] of attempts)
    expect(() => database.query(statement).run(...parameters)).toThrow(
      "FOREIGN KEY constraint failed",
    );
});

test("the schema rejects unknown states", async () => {
  const appliance = await testAppliance();
  const { database, ours } = appliance;
  await createSampleRecord(ours.api, "monitors");
  await createSampleRecord(ours.api, "incidents");
  await signInMember(appliance, "viewer");
  for (const statement of [
    "UPDATE incidents SET status = 'gone'",
    "UPDATE incidents SET severity = 'huge'",
    "UPDATE incidents SET origin = 'rumour'",
    "UPDATE monitor_states SET status = 'paused'",
    "UPDATE api_keys SET scope = 'admin'",
    "UPDATE memberships SET role = 'god'",
    "UPDATE sessions SET stage = 'open'",
  ])
    expect(() => database.run(statement)).toThrow("CHECK constraint failed");
  expect(() => database.run("UPDATE incidents SET version = 'two'")).toThrow("cannot store TEXT");
});
