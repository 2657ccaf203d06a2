/** Scheduled backups: times, retention, failures, settings and buckets. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { copyDatabase, type Sealing } from "../../../src/database/backup/copy.ts";
import { openDataDirectory } from "../../../src/database/file/data-directory.ts";
import { restore } from "../../../src/database/backup/restore.ts";
import type { EventType } from "../../../src/events/catalog.ts";
import { readSince } from "../../../src/events/log.ts";
import { ScheduledBackups } from "../../../src/operations/backups/scheduler.ts";
import { type Client, dumpTables, testAppliance } from "../../support/appliance.ts";
import { startBucketService, defineTestWith } from "../../support/real-targets.ts";
import { useCheapEncryption } from "../../support/cheap-encryption.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { signInMember } from "../../support/people.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";

useCheapEncryption();

const newDirectory = createScratch();
const path = "/dashboard/backup/schedule";
const passphrase = "correct horse battery";
const hour = 3_600_000;

/** An appliance at 10:00 that backs up another data directory. */
async function createBackupWorld(denied: string[] = []) {
  const appliance = await testAppliance();
  // Signs in again for each request, because the tests pass more days than a session lasts.
  const page: Client = async (...request) =>
    (await signInMember(appliance, "owner", { administrator: true })).page(...request);
  const dataDir = join(newDirectory(), "data");
  const clock = () => appliance.time.now;
  openDataDirectory(dataDir, { migrations: getBuiltMigrations(), clock }).close();
  const folder = join(newDirectory(), "backups");
  const workIn = newDirectory();
  let broken: string | null = null;
  const { store, vault, log, leases } = appliance.appliance;
  const backups = new ScheduledBackups({
    store,
    vault,
    clock,
    leases,
    log,
    targets: createTargetGuard(() => [], { denied: denied.map((name) => ({ name })) }),
    workIn,
    copyTo: (file: string, sealing: Sealing | null) => {
      const copy = async () => {
        if (broken !== null) throw new Error(broken);
        await copyDatabase(dataDir, file, sealing);
      };
      return { done: copy(), cancel: () => {} };
    },
  });
  return {
    ...appliance,
    page,
    folder,
    workIn,
    backups,
    set: async (body: object) => {
      const { status, json, text } = await page("PATCH", path, { body });
      expect([status, text]).toEqual([200, text]);
      return json.data;
    },
    shown: async () => (await page("GET", path)).json.data,
    breaks: (why: string | null) => (broken = why),
    /** Advances the clock by hours, running the scheduler each minute. */
    advance: async (hours: number) => {
      for (const end = appliance.time.now + hours * hour; appliance.time.now < end;) {
        appliance.time.now += 15 * 60_000;
        await backups.runOnce();
      }
    },
    troubles: async (type: EventType = "appliance.troubled") =>
      (await readSince(store, 0, 10_000)).filter((event) => event.type === type),
  };
}

describe("scheduled backups", () => {
  test("are off until an administrator sets a target", async () => {
    const world = await createBackupWorld();
    expect(await world.shown()).toMatchObject({ enabled: false, nextAt: null, last: null });
    await world.advance(48);
    expect((await world.page("PATCH", path, { body: { enabled: true } })).status).toBe(422);
    const { page } = await signInMember(world, "owner");
    for (const [method, at] of [
      ["GET", path],
      ["PATCH", path],
      ["POST", `${path}/run`],
    ] as const)
      expect((await page(method, at, method === "PATCH" ? { body: {} } : {})).status).toBe(403);
  });

  test("are created once a day at their time in their zone", async () => {
    const world = await createBackupWorld();
    const set = await world.set({
      enabled: true,
      folder: world.folder,
      time: "04:30",
      timeZone: "Europe/Berlin",
    });
    expect(set.nextAt).toBe("2026-11-21T03:30:00.000Z");
    await world.advance(17);
    expect(await world.shown()).toMatchObject({ last: null, failure: null });
    await world.advance(31);
    const names = readdirSync(world.folder).toSorted();
    expect(names).toEqual(["signalbox-2026-11-21-033000.db", "signalbox-2026-11-22-033000.db"]);
    expect(statSync(join(world.folder, names[0]!)).mode & 0o777).toBe(0o600);
    expect(await world.shown()).toMatchObject({
      last: {
        at: "2026-11-22T03:30:00.000Z",
        name: names[1],
        bytes: statSync(join(world.folder, names[1]!)).size,
      },
      failure: null,
      nextAt: "2026-11-23T03:30:00.000Z",
    });
    const copy = new Database(join(world.folder, names[1]!), { readonly: true });
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    copy.close();
  });

  test("are caught up after downtime", async () => {
    const world = await createBackupWorld();
    await world.set({ enabled: true, folder: world.folder });
    world.time.now += 5 * 24 * hour;
    await world.backups.runOnce();
    await world.backups.runOnce();
    expect(readdirSync(world.folder)).toHaveLength(1);
  });

  test("are removed when the retention no longer includes them, and nothing else is", async () => {
    const world = await createBackupWorld();
    const keep = { keepDaily: 2, keepWeekly: 0, keepMonthly: 0 };
    await world.set({ enabled: true, folder: world.folder, ...keep });
    await world.advance(24);
    writeFileSync(join(world.folder, "letters.txt"), "Dear");
    writeFileSync(join(world.folder, "signalbox-2026-11-19-030000.db.part"), "half");
    writeFileSync(join(world.folder, "signalbox-2019-11-19-0300.db"), "by hand");
    await world.advance(72);
    expect(readdirSync(world.folder).toSorted()).toEqual([
      "letters.txt",
      "signalbox-2019-11-19-0300.db",
      "signalbox-2026-11-23-030000.db",
      "signalbox-2026-11-24-030000.db",
    ]);
  });

  test("that fail are reported to administrators once a day, and retried after an hour", async () => {
    const world = await createBackupWorld();
    await world.set({ enabled: true, folder: world.folder });
    world.breaks("No space left on device");
    await world.advance(20);
    expect(await world.shown()).toMatchObject({
      last: null,
      failure: { since: "2026-11-21T03:00:00.000Z", reason: "No space left on device." },
    });
    const messages = await world.troubles();
    const [ours] = world.database
      .query("select id from organizations where slug = 'ours'")
      .values();
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({
      organizationId: ours?.[0],
      data: { message: "The scheduled backup failed: No space left on device." },
    });
    await world.advance(24);
    expect(await world.troubles()).toHaveLength(2);
    world.breaks(null);
    await world.advance(2);
    expect(await world.shown()).toMatchObject({ failure: null });
    expect(readdirSync(world.folder)).toHaveLength(1);
    await world.advance(3);
    expect(readdirSync(world.folder)).toHaveLength(1);
    expect(await world.troubles()).toHaveLength(2);
    expect(await world.troubles("appliance.recovered")).toMatchObject([
      { organizationId: ours?.[0], data: { problem: "backup" } },
    ]);
  });

  test("that fail are no longer a problem once they are turned off", async () => {
    const world = await createBackupWorld();
    await world.set({ enabled: true, folder: world.folder });
    world.breaks("No space left on device");
    await world.advance(24);
    await world.set({ enabled: false });
    expect(await world.troubles("appliance.recovered")).toMatchObject([
      { data: { message: "Scheduled backups are off." } },
    ]);
  });

  test("with older ones that can't be removed report it, and are not repeated each hour", async () => {
    const world = await createBackupWorld();
    const keep = { keepDaily: 1, keepWeekly: 0, keepMonthly: 0 };
    await world.set({ enabled: true, folder: world.folder, ...keep });
    await world.advance(24);
    // A directory with the name of a backup can't be removed.
    mkdirSync(join(world.folder, "signalbox-2026-01-01-030000.db"));
    await world.advance(24);
    const { failure, last } = await world.shown();
    expect(failure.reason).toStartWith("It was made, but older ones can't be removed: ");
    expect(last.at).toBe("2026-11-22T03:00:00.000Z");
    rmSync(join(world.folder, "signalbox-2026-01-01-030000.db"), { recursive: true });
    await world.advance(24);
    expect((await world.shown()).failure).toBeNull();
    expect(readdirSync(world.folder)).toEqual(["signalbox-2026-11-23-030000.db"]);
  });

  test("can be encrypted, and restored with only the passphrase", async () => {
    const world = await createBackupWorld();
    const set = await world.set({
      enabled: true,
      folder: world.folder,
      passphrase,
      includeKey: true,
    });
    expect(set.secretsSet).toEqual(["passphrase"]);
    await world.backups.runNow();
    const [name = ""] = readdirSync(world.folder);
    expect(name).toEndWith(".age");
    const migrations = getBuiltMigrations();
    const file = join(world.folder, name);
    const dataDir = join(newDirectory(), "restored");
    await restore({ dataDir, file, passphrase, migrations, clock: Date.now });
    openDataDirectory(dataDir, { migrations, clock: Date.now }).close();
  });

  test("can be started at once if they are on", async () => {
    const world = await createBackupWorld();
    expect(await world.backups.runNow().catch(String)).toContain("are off");
    await world.set({ enabled: true, folder: world.folder });
    await world.backups.runNow();
    expect(readdirSync(world.folder)).toEqual(["signalbox-2026-11-20-100000.db"]);
    world.breaks("No space left on device");
    expect(await world.backups.runNow().catch(String)).toContain(
      "The backup failed: No space left on device.",
    );
  });
});

const bucket = {
  endpoint: "https://s3.lan:9000",
  bucket: "backups",
  accessKeyId: "id",
  secretAccessKey: "CANARY-secret",
};

describe("backup settings", () => {
  test.each<[string, object, string]>([
    ["a relative folder", { folder: "backups" }, "folder"],
    ["a path with parent folders", { folder: "/backups/../etc" }, "folder"],
    ["an invalid time", { time: "24:00" }, "time"],
    ["an unknown time zone", { timeZone: "Mars/Base" }, "timeZone"],
    ["a retention of zero", { keepDaily: 0 }, "keepDaily"],
    ["a key without a passphrase", { includeKey: true }, "includeKey"],
    ["a short passphrase", { passphrase: "short" }, "passphrase"],
    [
      "a bucket address with a path",
      { s3: { ...bucket, endpoint: "https://s3.lan/x" } },
      "s3.endpoint",
    ],
    [
      "a bucket at a metadata address",
      { s3: { ...bucket, endpoint: "http://169.254.169.254" } },
      "s3.endpoint",
    ],
    ["an invalid bucket name", { s3: { ...bucket, bucket: "No" } }, "s3.bucket"],
    ["a prefix with parent folders", { s3: { ...bucket, prefix: "../" } }, "s3.prefix"],
    [
      "a missing secret",
      { enabled: true, to: "s3", s3: { ...bucket, secretAccessKey: null } },
      "s3.secretAccessKey",
    ],
  ])("reject %s", async (_what, body, at) => {
    const world = await createBackupWorld();
    const readRows = () => world.database.query("select * from backup_schedule").values();
    const before = readRows();
    const { status, json } = await world.page("PATCH", path, { body });
    expect([status, json.error.details?.[0]?.path]).toEqual([422, at]);
    expect(readRows()).toEqual(before);
  });

  test("leave fields unchanged that a patch omits, and accept their own response", async () => {
    const world = await createBackupWorld();
    await world.set({ folder: world.folder, keepDaily: 3, s3: bucket, passphrase });
    const before = await world.shown();
    expect(before.secretsSet.toSorted()).toEqual(["passphrase", "s3.secretAccessKey"]);
    const after = await world.set(before);
    const { updatedAt: _before, ...unchanged } = before;
    expect(after).toMatchObject(unchanged);
    expect(await world.set({ keepDaily: 4 })).toMatchObject({ ...unchanged, keepDaily: 4 });
    expect((await world.set({ s3: null, passphrase: null })).secretsSet).toEqual([]);
  });

  test("show and store no secret, and the audit log has only field names", async () => {
    const world = await createBackupWorld();
    const { text } = await world.page("PATCH", path, { body: { s3: bucket, passphrase } });
    const all = [text, JSON.stringify(await world.shown()), dumpTables(world), ...world.logged];
    for (const one of all) {
      expect(one).not.toContain("CANARY");
      expect(one).not.toContain(passphrase);
    }
    const audited = "select action, fields from audit_entries where action like 'backup.%'";
    expect(world.database.query(audited).values()).toEqual([
      ["backup.scheduled", '["s3","passphrase"]'],
    ]);
  });

  test("never send a secret to a changed address", async () => {
    const world = await createBackupWorld();
    await world.set({ s3: bucket });
    for (const endpoint of [
      "https://s3.lan:9001",
      "https://other.lan:9000",
      "http://s3.lan:9000",
    ]) {
      const { status, json } = await world.page("PATCH", path, { body: { s3: { endpoint } } });
      expect([endpoint, status, json.error.details?.[0]?.path]).toEqual([
        endpoint,
        422,
        "s3.secretAccessKey",
      ]);
      const again = { ...bucket, endpoint };
      expect((await world.page("PATCH", path, { body: { s3: again } })).status).toBe(200);
      await world.set({ s3: bucket });
    }
    expect(
      (await world.set({ s3: { endpoint: "https://S3.lan:9000/", prefix: "a/" } })).s3.prefix,
    ).toBe("a/");
  });
});

describe("a bucket", () => {
  defineTestWith(
    ["moto_server"],
    "stores backups under its prefix, and removes expired ones",
    async () => {
      await using service = await startBucketService("backups");
      const { endpoint, bucket, accessKeyId, secretAccessKey, client } = service;
      const world = await createBackupWorld();
      await client.write("box/letters.txt", "Dear");
      await client.write("signalbox-2019-11-19-030000.db", "of another box");
      const s3 = { endpoint, bucket, accessKeyId, secretAccessKey, prefix: "box/" };
      const keep = { keepDaily: 2, keepWeekly: 0, keepMonthly: 0 };
      await world.set({ enabled: true, to: "s3", s3, passphrase, includeKey: true, ...keep });
      await world.advance(72);
      const { failure, last } = await world.shown();
      expect(failure).toBeNull();
      const keys = ((await client.list()).contents ?? []).map(({ key }) => key).toSorted();
      expect(keys).toEqual([
        "box/letters.txt",
        "box/signalbox-2026-11-22-030000.age",
        "box/signalbox-2026-11-23-030000.age",
        "signalbox-2019-11-19-030000.db",
      ]);
      const file = join(newDirectory(), "taken");
      await Bun.write(file, await client.file(keys[2]!).bytes());
      expect(statSync(file).size).toBe(last.bytes);
      const dataDir = join(newDirectory(), "restored");
      const restored = await restore({
        dataDir,
        file,
        passphrase,
        migrations: getBuiltMigrations(),
        clock: Date.now,
      });
      expect(restored.dataDir).toBe(dataDir);
      expect(readdirSync(world.workIn)).toEqual([]);
    },
  );

  test("that rejects, is missing or is denied is reported, and no parts remain", async () => {
    await using refusing = await startTarget(
      replyWith(403, "<Error><Code>AccessDenied</Code></Error>"),
    );
    const gone = await startTarget();
    await gone[Symbol.asyncDispose]();
    const world = await createBackupWorld(["denied.lan"]);
    const denied = { ...bucket, endpoint: "http://denied.lan" };
    for (const s3 of [
      { ...bucket, endpoint: refusing.at("") },
      { ...bucket, endpoint: gone.at("") },
      denied,
    ]) {
      await world.set({ enabled: true, to: "s3", s3 });
      expect(await world.backups.runNow().catch(String)).toContain("The backup failed");
      const { failure } = await world.shown();
      expect(failure.reason).toMatch(/[.]$/);
      expect(failure.reason).not.toContain("CANARY");
      expect(readdirSync(world.workIn)).toEqual([]);
    }
    expect((await world.shown()).failure.reason).toContain("--deny-target");
    expect(refusing.asked.length).toBeGreaterThan(0);
  });
});
