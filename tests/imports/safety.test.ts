import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { sweepImports } from "../../src/imports/store.ts";
import { listImports, undoImport } from "../../src/imports/undo-service.ts";
import { sweepRemovedMonitors } from "../../src/monitoring/uptime/retention.ts";
import { dumpTables, testAppliance, type TestAppliance } from "../support/appliance.ts";
import { copyFixture, inflateFixture, importKuma } from "../support/kuma-fixtures.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

async function setUpWorld() {
  const appliance = await testAppliance();
  appliance.time.now = Date.parse("2026-11-22T06:00:00.000Z");
  return appliance;
}

/** All rows, without numbers that are never reused. */
const stateOf = (appliance: TestAppliance) =>
  dumpTables(appliance)
    .replace(/,?\["monitor_states",\d+\]/, "")
    .replace(/\["housekeeping".*?\]\]\]/, "");

const big = "x".repeat(600_000);

describe("an invalid file changes nothing and is rejected with a reason:", () => {
  const cases: [what: string, make: (folder: string) => string, why: RegExp][] = [
    [
      "cut off",
      (folder) => {
        const file = copyFixture("kuma-2-acme.db", folder);
        truncateSync(file, 200_000);
        return file;
      },
      /is cut off: 200000 of \d+ bytes/,
    ],
    [
      "empty",
      (folder) => {
        writeFileSync(join(folder, "kuma.db"), "");
        return folder;
      },
      /empty or cut off/,
    ],
    [
      "encrypted",
      (folder) => {
        writeFileSync(join(folder, "kuma.db"), crypto.getRandomValues(new Uint8Array(8_192)));
        return folder;
      },
      /neither a SQLite database nor a JSON backup/,
    ],
    [
      "damaged",
      (folder) => {
        const file = copyFixture("kuma-2-acme.db", folder);
        const bytes = readFileSync(file);
        bytes.fill(0xee, 4_096, bytes.length);
        writeFileSync(file, bytes);
        return file;
      },
      /is damaged/,
    ],
    [
      "of another program",
      (folder) => {
        const database = new Database(join(folder, "kuma.db"), { create: true });
        database.run("create table monitor (id integer)");
        database.close();
        return folder;
      },
      /not one of Uptime Kuma/,
    ],
    [
      "with a view instead of a table",
      (folder) =>
        copyFixture(
          "kuma-2-acme.db",
          folder,
          "alter table notification rename to hidden",
          "create view notification as select *, randomblob(1000000000) as more from hidden",
        ),
      /notification is not an ordinary table/,
    ],
    [
      "with computed columns",
      (folder) =>
        copyFixture(
          "kuma-2-acme.db",
          folder,
          "alter table monitor add column bomb text as (hex(zeroblob(500000000)))",
        ),
      /monitor has computed columns/,
    ],
    [
      "with a huge value",
      (folder) =>
        copyFixture("kuma-2-acme.db", folder, `update monitor set body = '${big}' where id = 7`),
      /a value in its table monitor has 600000 bytes/,
    ],
    [
      "behind a symbolic link",
      (folder) => {
        symlinkSync("/etc/passwd", join(folder, "kuma.db"));
        return folder;
      },
      /is a symbolic link/,
    ],
    [
      "JSON of something else",
      (folder) => {
        writeFileSync(join(folder, "backup.json"), '{"version": 1}');
        return join(folder, "backup.json");
      },
      /not a backup of Uptime Kuma/,
    ],
    [
      "endlessly nested JSON",
      (folder) => {
        writeFileSync(join(folder, "backup.json"), `{"a":${"[".repeat(100_000)}`);
        return join(folder, "backup.json");
      },
      /nested deeper than 32/,
    ],
  ];
  for (const [what, make, why] of cases)
    test(what, async () => {
      const appliance = await setUpWorld();
      const before = dumpTables(appliance);
      expect(importKuma(appliance.ours.scope, make(newDirectory()))).rejects.toThrow(why);
      await importKuma(appliance.ours.scope, make(newDirectory())).catch(() => {});
      expect(dumpTables(appliance)).toBe(before);
    });

  test("a trigger in it does not run, and a database is read with its log", async () => {
    const appliance = await setUpWorld();
    const folder = newDirectory();
    copyFixture(
      "kuma-2-acme.db",
      folder,
      "create trigger trap after insert on monitor begin delete from monitor; end",
      "pragma journal_mode = wal",
    );
    // The log remains while the database is open.
    const open = new Database(join(folder, "kuma.db"));
    open.run("update monitor set name = 'From the log' where id = 6");
    const copy = newDirectory();
    for (const end of ["", "-wal"])
      copyFileSync(join(folder, `kuma.db${end}`), join(copy, `kuma.db${end}`));
    open.close();
    const bytes = readFileSync(join(copy, "kuma.db"));
    const { report } = await importKuma(appliance.ours.scope, copy);
    expect(
      report.items.find(({ noun, externalId }) => noun === "monitor" && externalId === "6")?.name,
    ).toBe("From the log");
    expect(readFileSync(join(copy, "kuma.db")).equals(bytes)).toBe(true);
  });
});

test("the logo is imported from a data directory, but not through links to outside", async () => {
  const appliance = await setUpWorld();
  const folder = newDirectory();
  copyFixture("kuma-2-acme.db", folder);
  mkdirSync(join(folder, "upload"));
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  writeFileSync(join(folder, "upload", "logo1.png"), png);
  await importKuma(appliance.ours.scope, folder);
  const readLogo = () =>
    appliance.database
      .query<{ data: string | null }, []>(
        "select logo_data as data from status_pages where slug = 'acme-public'",
      )
      .get()?.data;
  expect(readLogo()).toBe(png.toString("base64"));
});

describe("an interrupted import", () => {
  for (const writes of [1, 2, 3])
    test(`stays invisible if killed after ${writes} writes, and is removed`, async () => {
      const appliance = await setUpWorld();
      const { ours, store, time } = appliance;
      const before = stateOf(appliance);
      let left = writes;
      const dying = {
        ...store,
        atomic: (statements: Parameters<typeof store.atomic>[0]) =>
          left-- > 0 ? store.atomic(statements) : Promise.reject(new Error("killed")),
      };
      const dead = importKuma(ours.scope, inflateFixture("kuma-1-acme.db"), {}, (scope) => ({
        ...scope,
        store: dying,
      }));
      expect(dead).rejects.toThrow("killed");
      await dead.catch(() => {});
      for (const table of ["monitors", "alert_channels", "monitor_groups", "incidents"])
        expect(appliance.database.query(`select * from ${table}`).all()).toEqual([]);
      expect(await listImports(ours.scope)).toMatchObject([{ status: "running" }]);
      time.now += 11 * 60_000;
      await sweepImports(createSweeping(store, time.now));
      await sweepRemovedMonitors(createSweeping(store, time.now));
      expect(stateOf(appliance)).toBe(before);
    });

  test("with an error leaves nothing, and another can follow at once", async () => {
    const appliance = await setUpWorld();
    const { ours, store } = appliance;
    const before = stateOf(appliance);
    let left = 2;
    const failing = {
      ...store,
      atomic: (statements: Parameters<typeof store.atomic>[0]) =>
        left-- === 0 ? Promise.reject(new Error("disk")) : store.atomic(statements),
    };
    await importKuma(ours.scope, inflateFixture("kuma-1-acme.db"), {}, (scope) => ({
      ...scope,
      store: failing,
    })).catch(() => {});
    await sweepRemovedMonitors(createSweeping(store, appliance.time.now));
    expect(stateOf(appliance)).toBe(before);
    expect(
      (await importKuma(ours.scope, inflateFixture("kuma-1-acme.db"))).report.history.heartbeats,
    ).toBeGreaterThan(500);
  });
});

test("undoing an import removes its records, and it can be repeated", async () => {
  const appliance = await setUpWorld();
  const { ours } = appliance;
  const { api } = ours;
  const mine = { type: "tcp", name: "Mine", host: "127.0.0.1", port: 9 };
  const stored = (await api("POST", "/api/v1/monitors", { body: mine })).json.data;
  const { id } = await importKuma(ours.scope, inflateFixture("kuma-2-acme.db"));
  expect((await undoImport(ours.scope, id ?? "")).status).toBe("undone");
  expect(
    (await api("GET", "/api/v1/monitors")).json.data.map((one: { id: string }) => one.id),
  ).toEqual([stored.id]);
  for (const noun of ["alert-channels", "monitor-groups", "incidents", "maintenance-windows"])
    expect([noun, (await api("GET", `/api/v1/${noun}`)).json.data]).toEqual([noun, []]);
  expect((await api("GET", "/api/v1/status-pages")).json.data).toHaveLength(1);
  expect(undoImport(ours.scope, id ?? "")).rejects.toThrow("undone already");
  const again = await importKuma(ours.scope, inflateFixture("kuma-2-acme.db"));
  expect(
    again.report.items.filter(({ decision }) => decision === "created").length,
  ).toBeGreaterThan(70);
});

test("deleted records stay deleted after a repeated import", async () => {
  const appliance = await setUpWorld();
  const { ours } = appliance;
  await importKuma(ours.scope, inflateFixture("kuma-2-acme.db"));
  const [website] = (await ours.api("GET", "/api/v1/monitors?q=Acme%20website")).json.data;
  await ours.api("DELETE", `/api/v1/monitors/${website.id}`);
  const { report } = await importKuma(ours.scope, inflateFixture("kuma-2-acme.db"));
  expect(report.items.find(({ name }) => name === "Acme website")?.decision).toBe("not-taken");
  expect((await ours.api("GET", "/api/v1/monitors?q=Acme%20website")).json.data).toEqual([]);
});

test("the JSON backup of 1.x has the same monitors and channels as its database", async () => {
  const [one, other] = [await setUpWorld(), await setUpWorld()];
  await importKuma(one.ours.scope, inflateFixture("kuma-1-acme.db"));
  await importKuma(other.ours.scope, inflateFixture("kuma-1-acme.json"));
  // The backup has neither Docker hosts nor proxies: monitors with one are imported paused.
  const setUpStored = ({ database }: TestAppliance) => {
    const monitors = database
      .query<{ name: string; tags: string }, []>(
        `select m.name, m.type, m.tags, m.interval_seconds, m.retries, m.paused, m.settings, g.name as groupName,
           (select count(*) from monitor_channels c where c.monitor_id = m.id) as channels
         from monitors m left join monitor_groups g on g.id = m.group_id
         where m.type <> 'docker' and m.name <> 'Partner feed via proxy' order by m.name`,
      )
      .all()
      .map((row) => ({ ...row, tags: (JSON.parse(row.tags) as string[]).toSorted() }));
    const channels = database
      .query("select name, type, enabled, is_default, settings from alert_channels order by name")
      .all();
    return { monitors, channels };
  };
  expect(setUpStored(other)).toEqual(setUpStored(one));
});
