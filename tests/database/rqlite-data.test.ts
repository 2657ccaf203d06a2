/** Data on rqlite: tables, upgrades, waiting machines, keys and copies. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOrganization, listOrganizations } from "../../src/accounts/organizations/service.ts";
import { buildFirstId } from "../../src/core/ids.ts";
import { parseClusterAddress, hasPassword, findAddressIssue } from "../../src/database/address.ts";
import { downloadSnapshot } from "../../src/database/rqlite/cluster-image.ts";
import { readContent, listDifferences } from "../../src/database/backup/content.ts";
import { resolveCluster, openData } from "../../src/database/data.ts";
import { openDataDirectory, type OpenOptions } from "../../src/database/file/data-directory.ts";
import { restore } from "../../src/database/backup/restore.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { copyCluster, isOlder } from "../../src/database/rqlite/data.ts";
import { useCheapEncryption } from "../support/cheap-encryption.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import {
  getBuiltMigrations,
  writeMigrationFolder,
  copyMigrationsBefore,
} from "../support/migration-folder.ts";
import { buildClusterAddress, hasRqlite, createNodeStarters } from "../support/rqlite.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const clock = Date.now;
const usual = { migrations: getBuiltMigrations(), clock };
const { oneNode, cluster: threeNodes } = createNodeStarters();

/** A cluster of one node, and machines that open it, each with its own directory. */
async function startCluster(flags: string[] = [], credentials = "") {
  const node = await oneNode(flags);
  const database = `rqlite://${credentials}${node.host}`;
  const client = new RqliteClient(buildClusterAddress(node));
  const setUpMachine = (directory = newDirectory()) => ({
    directory,
    open: (options: Partial<OpenOptions> = {}) =>
      openData({ dataDir: directory, database }, { ...usual, ...options }),
    refusal: (options: Partial<OpenOptions> = {}) =>
      openData({ dataDir: directory, database }, { ...usual, ...options }).then(
        () => null,
        ({ code, message }) => ({ code, message }),
      ),
  });
  const readRows = async (text: string) => (await client.query([[text]]))[0]?.values ?? [];
  const write = (...texts: string[]) =>
    client.execute(
      texts.map((text) => [text] as const),
      async () => false,
    );
  return { node, database, setUpMachine, readRows, write };
}

const organizationsSql = "select sql from sqlite_schema where name = 'organizations'";

/** A migration that adds a column by a rebuild, as drizzle-kit generates it. */
const rebuildOf = (text: string) =>
  [
    "PRAGMA foreign_keys=OFF;",
    text.replace(/organizations/, "__new_organizations").replace(/\)([^)]*)$/, ", rank integer)$1"),
    "INSERT INTO __new_organizations SELECT *, 7 FROM organizations;",
    "DROP TABLE `organizations`;",
    "ALTER TABLE __new_organizations RENAME TO organizations;",
    "PRAGMA foreign_keys=ON;",
  ].join("--> statement-breakpoint\n");

const schema = `select type, name, sql from sqlite_schema where name not like 'sqlite_%'
  and tbl_name not in ('write_markers', 'migration_lease') order by type, name`;

describe.skipIf(!hasRqlite)("opening a cluster", () => {
  test("creates the same tables as in a file, at the first use", async () => {
    const { setUpMachine, readRows } = await startCluster();
    const data = await setUpMachine().open();
    expect(data.migrated).toBeGreaterThan(10);
    const file = openDataDirectory(newDirectory(), usual);
    expect(await readRows(schema)).toEqual(file.database.query(schema).values() as never);
    const again = await createOrganization(data.store, clock, "Ours");
    expect((await listOrganizations(data.store)).map(({ id }) => id)).toEqual([again.id]);
    await data.close();
    file.close();
  });

  test("two machines at once: one upgrades, the other waits; the directory contains no database", async () => {
    const { setUpMachine, readRows } = await startCluster();
    const [one, other] = [setUpMachine(), setUpMachine()];
    writeFileSync(join(one.directory, "secret.key"), "07".repeat(32));
    copyFileSync(join(one.directory, "secret.key"), join(other.directory, "secret.key"));
    const data = await Promise.all([one.open(), other.open()]);
    const [[count] = []] = await readRows("select count(*) from __drizzle_migrations");
    expect(data.map(({ migrated }) => migrated).toSorted((a, b) => a - b)).toEqual([
      0,
      Number(count),
    ]);
    expect(await readRows("select * from migration_lease")).toEqual([]);
    expect(readdirSync(one.directory)).toEqual(["secret.key"]);
    await Promise.all(data.map((each) => each.close()));
  });

  test("the key is the same on every machine", async () => {
    const { setUpMachine } = await startCluster();
    const [first, second] = [setUpMachine(), setUpMachine()];
    await (await first.open()).close();
    expect(await second.refusal()).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringMatching(/secret\.key is missing. All machines .* have the same/),
    });
    const key = join(second.directory, "secret.key");
    writeFileSync(key, "08".repeat(32));
    expect(await second.refusal()).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringContaining("another key than that of this database"),
    });
    copyFileSync(join(first.directory, "secret.key"), key);
    await (await second.open()).close();
  });

  test("older data is upgraded on request, after a copy; newer data and another history are rejected", async () => {
    const { setUpMachine } = await startCluster();
    const { directory, open, refusal } = setUpMachine();
    const older = copyMigrationsBefore(newDirectory(), "index_statistics");
    await (await open({ migrations: older })).close();
    expect(await refusal()).toMatchObject({
      code: "MIGRATION_REFUSED",
      message: expect.stringContaining("written by an older Signalbox"),
    });
    const data = await open({ upgrade: true });
    expect(data.migrated).toBeGreaterThan(0);
    await data.close();
    expect(readdirSync(directory).toSorted()).toEqual([
      "secret.key",
      expect.stringMatching(/^signalbox\.db\.before-upgrade-\d+$/),
    ]);
    expect(await refusal({ migrations: older, upgrade: true })).toMatchObject({
      code: "MIGRATION_REFUSED",
      message: expect.stringContaining("written by a newer Signalbox"),
    });
    const edited = writeMigrationFolder(
      newDirectory(),
      ["create table other (id text) strict"],
      null,
    );
    expect((await refusal({ migrations: edited }))?.code).toBe("MIGRATION_REFUSED");
  });

  test.each([
    [
      "a statement fails",
      "create table half (id text) strict;--> statement-breakpoint\ninsert into nowhere values (1)",
      "no such table",
    ],
    [
      "a rebuilt table leaves rows without their parent",
      "create table half (id text) strict;--> statement-breakpoint\nDROP TABLE `organizations`",
      "it would leave 4 rows that refer to deleted ones",
    ],
    [
      "a reference is dangling",
      "create table half (id text references organizations (id)) strict;--> statement-breakpoint\npragma defer_foreign_keys = on;--> statement-breakpoint\ninsert into half values ('gone')",
      "constraint failed",
    ],
  ])("if %s, a migration changes nothing", async (_, text, why) => {
    const { setUpMachine, readRows } = await startCluster();
    const { open, refusal } = setUpMachine();
    const data = await open();
    await createOrganization(data.store, clock, "Ours");
    await data.close();
    const before = await readRows(schema);
    const migrations = writeMigrationFolder(newDirectory(), [text]);
    expect(await refusal({ migrations, upgrade: true })).toMatchObject({
      code: "MIGRATION_REFUSED",
      message: expect.stringContaining(why),
    });
    expect(await readRows(schema)).toEqual(before);
    expect(await readRows("select name from organizations")).toEqual([["Ours"]]);
    expect(await readRows("select * from migration_lease")).toEqual([]);
  });

  test("a table with rows is rebuilt like in a file: no reference is lost, and no one writes meanwhile", async () => {
    const { node, setUpMachine, readRows } = await startCluster();
    const { migrations: older } = usual;
    const [onFile, onCluster] = [newDirectory(), setUpMachine()];
    const file = openDataDirectory(onFile, { ...usual, migrations: older });
    const { id } = await createOrganization(file.store, clock, "Ours");
    await createOrganization(file.store, clock, "Theirs");
    file.database.run("insert into guards (holds) values (1)");
    file.close();
    copyFileSync(join(onFile, "secret.key"), join(onCluster.directory, "secret.key"));
    const body = await Bun.file(join(onFile, "signalbox.db")).bytes();
    await fetch(`http://${node.host}/boot`, { method: "POST", body });
    const children = await readRows("select organization_id from organization_settings order by 1");
    expect(children).toHaveLength(2);

    const [[result] = []] = await readRows(organizationsSql);
    const migrations = writeMigrationFolder(newDirectory(), [rebuildOf(String(result))]);
    const upgrade = { ...usual, migrations, upgrade: true };
    const before = await onCluster.open({ migrations: older });
    // Another machine's write either succeeds or is rejected with Retry-After.
    const write = () =>
      before.store.atomic([{ text: "delete from guards", parameters: [] }]).then(
        () => "written",
        ({ code }: { code: string }) => code,
      );
    let isOver = false;
    const outcomes = new Set<string>();
    const writing = (async () => {
      while (!isOver) outcomes.add(await write());
    })();
    const data = await onCluster.open(upgrade);
    isOver = true;
    await writing;
    expect([...outcomes].filter((outcome) => !/^(written|UNAVAILABLE)$/.test(outcome))).toEqual([]);
    await data.store.atomic([{ text: "delete from guards", parameters: [] }]);
    await Promise.all([before.close(), data.close()]);

    openDataDirectory(onFile, { ...usual, migrations, upgrade: true }).close();
    using original = new Database(join(onFile, "signalbox.db"), { readonly: true });
    const copy = join(newDirectory(), "copy.db");
    await downloadSnapshot(new RqliteClient(buildClusterAddress(node)), copy);
    using found = new Database(copy, { readonly: true });
    expect(listDifferences(readContent(original), readContent(found))).toEqual(["guards"]);
    expect(await readRows("select organization_id from organization_settings order by 1")).toEqual(
      children,
    );
    expect(await readRows(`select rank from organizations where id = '${id}'`)).toEqual([[7]]);
    expect(await readRows("select name from sqlite_schema where name like 'upgrade%'")).toEqual([]);
    expect(await readRows("pragma foreign_keys")).toEqual([[1]]);
  });

  test("data of the first version becomes the same on three nodes as in a file, including rebuilds", async () => {
    const cluster = await threeNodes();
    const [onFile, onCluster] = [newDirectory(), newDirectory()];
    const readStored = (name: string) =>
      Bun.file(join(import.meta.dir, "../released/0.1.0-first-schema", name));
    const body = Bun.gunzipSync(await readStored("signalbox.db.gz").bytes());
    await Bun.write(join(onFile, "signalbox.db"), body);
    for (const directory of [onFile, onCluster])
      await Bun.write(join(directory, "secret.key"), readStored("secret.key"));
    const [{ host } = { host: "" }] = cluster;
    await fetch(`http://${host}/db/load`, { method: "POST", body });

    const newData = openDataDirectory(newDirectory(), usual);
    const [[result] = []] = newData.database.query(organizationsSql).values();
    newData.close();
    const migrations = writeMigrationFolder(newDirectory(), [rebuildOf(String(result))]);
    const upgrade = { ...usual, migrations, upgrade: true };
    const database = `rqlite://${cluster.map((node) => node.host).join(",")}`;
    const clusterData = await openData({ dataDir: onCluster, database }, upgrade);
    const localData = openDataDirectory(onFile, upgrade);
    const copy = join(newDirectory(), "copy.db");
    await downloadSnapshot(new RqliteClient(buildClusterAddress(...cluster)), copy);
    using found = new Database(copy, { readonly: true });
    expect(listDifferences(readContent(localData.database), readContent(found))).toEqual([]);
    expect(clusterData.migrated).toBe(localData.migrated);
    expect(found.query("select distinct rank from organizations").values()).toEqual([[7]]);
    localData.close();
    await clusterData.close();
  });

  test("a machine that died during a rebuild blocks writers until its lease expires", async () => {
    const { setUpMachine, write } = await startCluster();
    const { open } = setUpMachine();
    const data = await open();
    const refuseUntil = (time: number) =>
      write(
        "drop trigger if exists upgrade_of_dead",
        `create trigger upgrade_of_dead before insert on write_markers when new.id < '${buildFirstId(time)}'
         begin select raise(abort, 'the data is being upgraded'); end`,
      );
    const create = () =>
      createOrganization(data.store, clock, "Ours").then(
        () => "made",
        ({ code }: { code: string }) => code,
      );
    await refuseUntil(clock() + 60_000);
    expect(await create()).toBe("UNAVAILABLE");
    await refuseUntil(clock());
    expect(await create()).toBe("made");
    await data.close();
  });

  test("a machine that died during an upgrade is waited for until its lease expires", async () => {
    const { setUpMachine, readRows, write } = await startCluster();
    const { open } = setUpMachine();
    const older = copyMigrationsBefore(newDirectory(), "index_statistics");
    await (await open({ migrations: older })).close();
    await write(
      `insert into migration_lease (one, owner, ends_at) values (1, 'dead', ${clock() + 60_000})`,
    );
    let waits = 0;
    const { promise: isOver, resolve } = Promise.withResolvers<unknown>();
    const data = await open({
      upgrade: true,
      onWait: () => {
        waits++;
        resolve(write(`update migration_lease set ends_at = ${clock() - 1}`));
      },
    });
    await isOver;
    expect(data.migrated).toBeGreaterThan(0);
    expect(waits).toBe(1);
    expect(await readRows("select * from migration_lease")).toEqual([]);
    await data.close();
  });

  test("a machine with a wrong clock is rejected; after a jump it writes nothing until the clock is right", async () => {
    const { setUpMachine } = await startCluster();
    const { open, refusal } = setUpMachine();
    const wrong = await refusal({ clock: () => Date.now() + 90_000 });
    expect(wrong).toEqual({
      code: "DATA_UNUSABLE",
      message: expect.stringMatching(/^The clock of this machine is (89|90|91) s ahead of/),
    });
    let offset = 0;
    const data = await open({ clock: () => Date.now() + offset });
    const { store, shared } = data;
    expect(Math.abs(shared?.clockOffsetMs() ?? Infinity)).toBeLessThan(2_000);
    offset = -90_000;
    const refused = await createOrganization(store, clock, "Ours").catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "UNAVAILABLE",
      cause: { message: expect.stringContaining("behind those of the database") },
    });
    offset = 0;
    await createOrganization(store, clock, "Theirs");
    expect((await listOrganizations(store)).map(({ name }) => name)).toEqual(["Theirs"]);
    await data.close();
  });

  test("a node without foreign keys is rejected", async () => {
    const { setUpMachine } = await startCluster(["-fk=false"]);
    expect(await setUpMachine().refusal()).toMatchObject({
      code: "DATA_UNUSABLE",
      message: expect.stringMatching(/^The database node .* start it with -fk\.$/),
    });
  });

  test("a wrong password is reported without its value; one from a file is accepted", async () => {
    const directory = newDirectory();
    const auth = join(directory, "auth.json");
    const password = "p@ss:w/rd%";
    writeFileSync(auth, JSON.stringify([{ username: "box", password, perms: ["all"] }]));
    const { node, setUpMachine, database } = await startCluster(["-auth", auth], "box:wrong-one@");
    const refused = await setUpMachine().refusal();
    expect(refused?.message).toBe(
      "No node of the database can be used. It rejects this user or password.",
    );
    const databasePasswordFile = join(directory, "password");
    writeFileSync(databasePasswordFile, `${password}\n`);
    const dataDir = newDirectory();
    await (await openData({ dataDir, database, databasePasswordFile }, usual)).close();
    const encoded = `rqlite://box:${encodeURIComponent(password)}@${node.host}`;
    await (await openData({ dataDir, database: encoded }, usual)).close();
  });

  test("TLS is verified with the CA file in the address", async () => {
    const { cert, key } = writeSelfSigned(newDirectory(), "node", "IP:127.0.0.1");
    const { node, setUpMachine } = await startCluster(["-http-cert", cert, "-http-key", key]);
    const dataDir = setUpMachine().directory;
    const open = (database: string) => openData({ dataDir, database }, usual);
    await (await open(`rqlites://${node.host}?ca=${cert}`)).close();
    const refused = await open(`rqlites://${node.host}`).catch(({ message }) => message);
    expect(refused).toMatch(/No node of the database can be used. .*certificate/);
  });

  test("an unreachable cluster is a temporary error, so that a service manager retries", async () => {
    const { node, setUpMachine } = await startCluster();
    await node.kill();
    expect(await setUpMachine().refusal()).toEqual({
      code: undefined,
      message: expect.stringMatching(/^No node of the database can be used\. /),
    });
  });
});

describe.skipIf(!hasRqlite)("a copy of a cluster", () => {
  useCheapEncryption();
  test("is a backup like any other: restored, it is the same data in a file", async () => {
    const { setUpMachine, database } = await startCluster();
    const { directory, open } = setUpMachine();
    const data = await open();
    await createOrganization(data.store, clock, "Ours");
    const file = join(newDirectory(), "backup.db");
    const cluster = resolveCluster({ dataDir: directory, database });
    if (cluster === null) throw new Error("there is a cluster");
    const sealing = { passphrase: "a long passphrase", withKey: true };
    await copyCluster(cluster, directory, file, sealing);
    await data.close();
    expect(readdirSync(directory)).toEqual(["secret.key"]);

    const dataDir = join(newDirectory(), "restored");
    const migrations = getBuiltMigrations();
    await restore({
      dataDir,
      file,
      key: undefined,
      passphrase: sealing.passphrase,
      dryRun: false,
      migrations,
      clock,
    });
    const restored = openDataDirectory(dataDir, usual);
    expect((await listOrganizations(restored.store)).map(({ name }) => name)).toEqual(["Ours"]);
    const ownTablesText =
      "select name from sqlite_schema where name in ('write_markers', 'migration_lease')";
    expect(restored.database.query(ownTablesText).values()).toEqual([]);
    restored.close();
  });
});

test("the address of a cluster", () => {
  const file = join(newDirectory(), "ca.pem");
  writeFileSync(file, "PEM");
  expect(parseClusterAddress(`rqlites://a%40b:c%3Ad@one,two:81,[::1]:4001?ca=${file}`)).toEqual({
    hosts: ["one:4001", "two:81", "[::1]:4001"],
    user: "a@b",
    password: "c:d",
    isSecure: true,
    ca: "PEM",
  });
  expect(parseClusterAddress("rqlite://one")).toMatchObject({
    user: null,
    password: null,
    ca: null,
  });
  expect([hasPassword("rqlite://a:b@one"), hasPassword("rqlite://a@one")]).toEqual([true, false]);
  for (const wrong of [
    "",
    "one:4001",
    "http://one",
    "rqlite://",
    "rqlite://one,",
    "rqlite://one?x=1",
    "rqlite://one/db",
    "rqlite://o ne",
  ])
    expect([wrong, findAddressIssue(wrong)]).toEqual([
      wrong,
      expect.stringContaining("must be an address such as"),
    ]);
});

test.each([
  ["8.26", false],
  ["v8.26.8", false],
  ["8", false],
  ["10.0.1", false],
  ["9", false],
  ["8.25.9", true],
  ["7.21.4", true],
  ["", true],
])("rqlite %p is older than 8.26: %p", (version, is) => {
  expect(isOlder(version, "8.26")).toBe(is);
});
