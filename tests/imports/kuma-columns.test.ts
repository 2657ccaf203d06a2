import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { openBackup } from "../../src/imports/kuma/backup.ts";
import { openKuma } from "../../src/imports/kuma/open.ts";
import { buildKumaPlan } from "../../src/imports/kuma/plan.ts";
import {
  type KumaSource,
  neverRead,
  type TableName,
  tables,
} from "../../src/imports/kuma/source.ts";
import type { Fields } from "../../src/core/collections/objects.ts";
import type { Plan } from "../../src/imports/plan.ts";
import { copyFixture, inflateFixture } from "../support/kuma-fixtures.ts";
import { clientCertificate, clientKey } from "../support/samples.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-22T06:00:00.000Z");
const files = ["kuma-1-acme.db", "kuma-2-acme-migrated.db", "kuma-2-acme.db"];

async function planFrom(file: string): Promise<Plan> {
  const opened = await openKuma(file, newDirectory());
  const plan = buildKumaPlan(opened, now);
  await opened.close();
  return plan;
}

const reportOf = ({ records, notTaken, hints }: Plan) =>
  [...[...records, ...notTaken].flatMap(({ notes }) => notes), ...hints].join("\n");

/** Columns without meaning outside Uptime Kuma: owners, creation times, caches. */
const internal: Record<string, string[]> = {
  monitor: [
    "user_id",
    "created_date",
    "dns_last_result",
    "save_error_response",
    "response_max_length",
  ],
  notification: ["user_id"],
  tag: ["created_date"],
  monitor_tag: ["id"],
  monitor_notification: ["id"],
  monitor_group: ["id"],
  monitor_maintenance: ["id"],
  maintenance_status_page: ["id"],
  status_page_cname: ["id"],
  setting: ["id", "type"],
  incident: ["status_page_id", "user_id"],
  group: ["created_date"],
  status_page: ["created_date", "modified_date", "analytics_type"],
  proxy: ["user_id", "created_date"],
  docker_host: ["user_id"],
  maintenance: ["user_id", "last_start_date"],
};
/** Tables whose rows are listed as not imported, each by its name. */
const listedByName = ["user", "api_key", "remote_browser"];

/** Statements that run before both plans, for columns without an effect on their own. */
const setups: Record<string, string> = {
  "monitor.tls_key": `update monitor set auth_method = 'mtls', tls_key = '${clientKey}', tls_cert = '${clientCertificate}'
    where type = 'http'`,
  "monitor.bearer_token":
    "update monitor set auth_method = 'bearer', bearer_token = 'first' where type = 'http'",
  "monitor.rabbitmq_password": `update monitor set type = 'rabbitmq', rabbitmq_username = 'probe', rabbitmq_password = 'first',
    rabbitmq_nodes = '["http://mq.example:15672"]' where id = 6`,
};

/** New values of a column: for example, negative numbers reverse the order, and `socket` is a type of Docker host. */
const probes: ((row: Fields) => unknown)[] = [
  () => "probe-7",
  () => 7,
  () => 0,
  () => 1,
  () => "2027-01-05 10:00",
  () => "[7]",
  () => '{"a":"7"}',
  () => null,
  ({ id }) => -Number(id),
  () => "socket",
];

/**
 * Opens a file and passes its rows to `run`, which can change them without writing a file each
 * time.
 */
async function runWithSource<T>(
  file: string,
  run: (source: KumaSource) => Promise<T> | T,
): Promise<T> {
  const source = await openKuma(file, newDirectory());
  const result = await run(source);
  await source.close();
  return result;
}

const maintenanceTables: readonly TableName[] = [
  "maintenance",
  "monitor_maintenance",
  "maintenance_status_page",
];

/**
 * Leaves out most rows that a column of this table does not need: planning takes most of its time for
 * maintenance and monitors.
 */
function limitRows(source: KumaSource, table: TableName): KumaSource {
  const isFirst = isFirstOf((row) => `${String(row["type"])} ${String(row["auth_method"])}`);
  const monitor = source.rows.monitor.filter(
    (row) =>
      (table === "monitor" ? isFirst(row) : Number(row["id"]) <= 8) ||
      row["proxy_id"] !== null ||
      row["docker_host"] !== null,
  );
  const maintenance = maintenanceTables.includes(table) ? source.rows.maintenance : [];
  return { ...source, rows: { ...source.rows, monitor, maintenance } };
}

/** Returns a filter that accepts one row per value. */
function isFirstOf(valueOf: (row: Fields) => unknown): (row: Fields) => boolean {
  const seen = new Set<unknown>();
  return (row) => seen.size < seen.add(valueOf(row)).size;
}

/** Whether a value of this column changes the plan, or is named in the report. */
function isColumnUsed(
  source: KumaSource,
  table: TableName,
  column: string,
  before = JSON.stringify(buildKumaPlan(source, now).records),
): boolean {
  return probes.some((probe) => {
    const changed = source.rows[table].map((row) => ({ ...row, [column]: probe(row) }));
    const after = buildKumaPlan({ ...source, rows: { ...source.rows, [table]: changed } }, now);
    return JSON.stringify(after.records) !== before || reportOf(after).includes(column);
  });
}

describe("each column of Uptime Kuma's tables is imported, or named in the report:", () => {
  // The migrated database has the tables and columns of a new one.
  for (const file of ["kuma-1-acme.db", "kuma-2-acme.db"])
    test(file, async () => {
      const database = new Database(inflateFixture(file), { readonly: true });
      const columnsOf = (table: TableName) =>
        database
          .query<{ name: string; pk: number }, []>(`pragma table_info("${table}")`)
          .all()
          .filter(({ name, pk }) => pk === 0 && !neverRead[table]?.includes(name))
          .map(({ name }) => name)
          .filter((name) => internal[table]?.includes(name) !== true);
      const ignored = await runWithSource(inflateFixture(file), async (whole) => {
        const names: string[] = [];
        for (const table of tables) {
          const unchanged = limitRows(whole, table);
          const before = JSON.stringify(buildKumaPlan(unchanged, now).records);
          for (const column of columnsOf(table)) {
            if (listedByName.includes(table)) continue;
            expect(Object.keys(unchanged.rows[table][0] ?? {})).toContain(column);
            const setup = setups[`${table}.${column}`];
            const isUsed =
              setup === undefined
                ? isColumnUsed(unchanged, table, column, before)
                : await runWithSource(copyFixture(file, newDirectory(), setup), (source) =>
                    isColumnUsed(limitRows(source, table), table, column),
                  );
            if (!isUsed) names.push(`${table}.${column}`);
          }
        }
        return names;
      });
      database.close();
      expect(ignored).toEqual([]);
    });

  test("a column of a later version is named if it is set, and not if it has its default", async () => {
    const changed = copyFixture(
      "kuma-2-acme.db",
      newDirectory(),
      "alter table monitor add column retry_budget integer default 5",
      "alter table status_page add column robots text",
      "update monitor set retry_budget = 9 where id = 6",
      "update status_page set robots = 'noindex' where slug = 'acme-public'",
    );
    const { records } = await planFrom(changed);
    const filterByColumn = (column: string) =>
      records.filter(({ notes }) => notes.some((note) => note.includes(column)));
    expect(filterByColumn("retry_budget").map(({ externalId }) => externalId)).toEqual(["6"]);
    expect(filterByColumn("robots").map(({ noun }) => noun)).toEqual(["status-page"]);
  });

  test("a page that was hidden from search engines reports that they can find it now", async () => {
    const changed = copyFixture(
      "kuma-2-acme.db",
      newDirectory(),
      "update status_page set search_engine_index = 0 where slug = 'acme-public'",
    );
    const { records } = await planFrom(changed);
    const page = records.find(({ fields }) => fields["slug"] === "acme-public");
    expect(page?.notes.join("\n")).toContain(
      "search_engine_index (search engines can index the page here)",
    );
    const usual = (await planFrom(inflateFixture("kuma-2-acme.db"))).records;
    expect(usual.flatMap(({ notes }) => notes).join("\n")).not.toContain("search_engine_index");
  });
});

/** Settings about the database itself. */
const ownSettings = [
  "database_version",
  "databasePatchedFiles",
  "initServerTimezone",
  "migrateAggregateTableState",
];
/** Settings that affect records or hints. */
const usedSettings = ["serverTimezone", "primaryBaseURL", "keepDataPeriodDays", "entryPage"];

test.each(files)(
  "%s: each setting is used or named, and no secret among them is shown",
  async (file) => {
    const database = new Database(inflateFixture(file), { readonly: true });
    const settings = database
      .query<{ key: string; value: string }, []>("select key, value from setting")
      .all();
    database.close();
    const plan = await planFrom(inflateFixture(file));
    const hint =
      plan.hints.find((one) => one.startsWith("Settings that were not imported: ")) ?? "";
    const silent = settings
      .map(({ key }) => key)
      .filter((key) => !hint.includes(key) && ![...ownSettings, ...usedSettings].includes(key));
    expect(silent).toEqual([]);
    expect(JSON.stringify(plan.hints)).not.toContain("FAKE");
  },
);

test("an import from Uptime Kuma 1 reports that figures differ for days on which it was off", async () => {
  const says = async (file: string) =>
    (await planFrom(inflateFixture(file))).hints.some((hint) =>
      hint.endsWith("Figures differ for days on which Uptime Kuma was off."),
    );
  expect(await Promise.all(files.map(says))).toEqual([true, false, false]);
});

describe("each key of the JSON backup is imported, or named:", () => {
  type Backup = Record<string, unknown> & {
    monitorList: Record<string, unknown>[];
    notificationList: (Record<string, unknown> & { config: string })[];
  };
  const text = readFileSync(inflateFixture("kuma-1-acme.json"), "utf8");
  const buildBackup = (): Backup => JSON.parse(text);
  function planWith(change: (backup: Backup) => void): Plan {
    const whole = buildBackup();
    change(whole);
    return buildKumaPlan(openBackup(JSON.stringify(whole), "backup.json"), now);
  }
  const values = ["probe-7", 7, 0, true, false, ["7"], null];
  /**
   * Keys that the API adds for its own page, that mean nothing elsewhere, or that are tested as
   * columns above.
   */
  const ownColumns =
    /^(?:weight|tlsKey|id|userId|pathName|childrenIDs|forceInactive|maintenance|screenshot|includeSensitiveData|dns_last_result)$/;

  test("of monitors", () => {
    const isFirst = isFirstOf((row) => `${String(row["type"])} ${String(row["authMethod"])}`);
    const { monitorList: all } = buildBackup();
    const firstRows = all.filter(isFirst);
    const planWithFew = (change: (monitor: Fields) => void) =>
      planWith((whole) => {
        whole.monitorList = structuredClone(firstRows);
        whole.monitorList.forEach(change);
      });
    const before = JSON.stringify(planWithFew(() => {}).records);
    const keys = new Set(all.flatMap((one) => Object.keys(one)));
    const ignored: string[] = [];
    for (const key of keys) {
      if (ownColumns.test(key)) continue;
      let isKnown = false;
      for (const value of values) {
        const plan = planWithFew((one) => (one[key] = value));
        const column = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        if (JSON.stringify(plan.records) !== before || reportOf(plan).includes(column))
          isKnown = true;
        if (isKnown) break;
      }
      if (!isKnown) ignored.push(key);
    }
    expect(ignored).toEqual([]);
  });

  test("of monitors with channels, which the report does not call lost", () => {
    const plan = planWith(() => {});
    const monitors = plan.records.filter(({ noun }) => noun === "monitor");
    expect(
      buildBackup().monitorList.some((one) => "1" in (one["notificationIDList"] as Fields)),
    ).toBe(true);
    expect(monitors.flatMap(({ notes }) => notes).join("\n")).not.toMatch(/notification_?i/);
  });

  test("of notifications of every type", () => {
    // SMTP settings are imported only with a monitor that uses them.
    const isFirst = isFirstOf((row) => JSON.stringify(row["notificationIDList"]));
    const firstMonitors = buildBackup().monitorList.filter(isFirst);
    const planWithFew = (change: (backup: Backup) => void) =>
      planWith((whole) => {
        whole.monitorList = firstMonitors;
        change(whole);
      });
    const before = new Map(planWithFew(() => {}).records.map((one) => [one.externalId, one]));
    const ignored: string[] = [];
    for (const [index, { config }] of buildBackup().notificationList.entries()) {
      const keys = Object.keys(JSON.parse(config) as object);
      for (const key of [...keys, "laterOption"]) {
        if (/^(?:name|type|isDefault|applyExisting|id|active|userId)$/.test(key)) continue;
        let isKnown = false;
        for (const value of ["probe-7", "7", 7, true, false, ""]) {
          const plan = planWithFew(({ notificationList }) => {
            const one = notificationList[index];
            if (one !== undefined)
              one.config = JSON.stringify({ ...JSON.parse(one.config), [key]: value });
          });
          const channels = plan.records.filter(({ noun }) => noun === "alert-channel");
          const isChanged = channels.some(
            (one) => JSON.stringify(one) !== JSON.stringify(before.get(one.externalId)),
          );
          // A type that does not exist here is named as a whole.
          const isStandIn = channels[index]?.isIncomplete === true;
          if (isChanged || isStandIn || reportOf(plan).includes(key)) isKnown = true;
          if (isKnown) break;
        }
        if (!isKnown) ignored.push(`${index} ${key}`);
      }
    }
    expect(ignored).toEqual([]);
  });

  test("of the backup itself", () => {
    const plan = planWith((whole) => (whole["statusPageList"] = [{ slug: "shop" }]));
    expect(plan.hints).toContain("Not imported from the backup: statusPageList.");
  });
});
