import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../../../src/accounts/organizations/service.ts";
import { dayMs, hourMs, readSystemClock, formatTimestamp } from "../../../src/core/time/clock.ts";
import { splitSecrets } from "../../../src/core/security/kind-secrets.ts";
import { sealAll } from "../../../src/core/security/secrets.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import {
  type DataDirectory,
  openDataDirectory,
} from "../../../src/database/file/data-directory.ts";
import { copyDatabase } from "../../../src/database/backup/copy.ts";
import { backupKinds, BackupPlan } from "../../../src/operations/backups/schedule-schema.ts";
import { putSchedule, type ScheduleRow } from "../../../src/operations/backups/schedule-store.ts";
import { examineBackups, examineBucket } from "../../../src/operations/diagnostics/backups.ts";
import { getFreePort } from "../../support/binary.ts";
import { canary } from "../../support/samples.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";

const now = Date.now();
let path: string;
let folder: string;
let data: DataDirectory;

beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  folder = join(path, "backups");
  data = openDataDirectory(path, { migrations: getBuiltMigrations(), clock: readSystemClock });
  await createOrganization(data.store, readSystemClock, "Acme");
});
afterAll(() => {
  data.close();
  rmSync(path, { recursive: true });
});

async function schedule(plan: object, outcome: Partial<ScheduleRow> = {}) {
  data.database.run("delete from backup_schedule");
  const { settings, secrets } = splitSecrets(backupKinds, "schedule", BackupPlan.parse(plan));
  const row: ScheduleRow = {
    id: 1,
    settings: JSON.stringify(settings),
    secrets: sealAll(data.vault, "appliance/backup", secrets),
    version: 1,
    updatedAt: formatTimestamp(now - hourMs),
    triedFor: now,
    retryAt: null,
    lastSuccessAt: null,
    lastFile: null,
    lastBytes: null,
    failingSince: null,
    lastError: null,
    ...outcome,
  };
  await data.store.atomic(putSchedule(data.store, row));
}

const buildDependencies = () => ({ ...data, path, targets: createTargetGuard(() => []) });
const examine = (at = now, others?: string) =>
  examineBackups({ ...buildDependencies(), clock: () => at, folder: others });

test("a new appliance needs no backup yet; an older one does", async () => {
  expect(await examine()).toMatchObject([{ verdict: "skipped" }]);
  expect(await examine(now + 2 * dayMs)).toMatchObject([
    { verdict: "warning", advice: expect.stringContaining("Settings → Backup") },
  ]);
});

test("Litestream's copies are recognized", async () => {
  const copies = join(path, ".signalbox.db-litestream");
  mkdirSync(copies);
  expect(await examine(now + 2 * dayMs)).toMatchObject([{ verdict: "ok" }]);
  rmSync(copies, { recursive: true });
});

test("a schedule is judged by its last backup", async () => {
  const plan = { enabled: true, to: "folder", folder };
  const readVerdict = async (outcome: Partial<ScheduleRow>) => {
    await schedule(plan, outcome);
    const [found, place] = await examine();
    expect(place).toMatchObject({ subject: "backup folder", verdict: "ok" });
    return [found?.verdict, found?.message];
  };
  expect((await readVerdict({}))[0]).toBe("ok");
  expect((await readVerdict({ updatedAt: formatTimestamp(now - 3 * dayMs) }))[1]).toBe(
    "scheduled for 3 d, and none was made",
  );
  expect((await readVerdict({ lastSuccessAt: formatTimestamp(now - dayMs) }))[0]).toBe("ok");
  const old = { updatedAt: formatTimestamp(now - 9 * dayMs) };
  const late = { ...old, lastSuccessAt: formatTimestamp(now - 2 * dayMs - 1) };
  expect((await readVerdict(late))[0]).toBe("problem");
  // The schedule was off in the meantime.
  expect((await readVerdict({ ...late, updatedAt: formatTimestamp(now - hourMs) }))[0]).toBe("ok");
  const failing = { failingSince: formatTimestamp(now - dayMs), lastError: "No space is left." };
  const [failed, why] = await readVerdict({
    lastSuccessAt: formatTimestamp(now - dayMs),
    ...failing,
  });
  expect([failed, why?.includes("No space is left.")]).toEqual(["problem", true]);
});

test("another program's folder is judged by its newest backup", async () => {
  expect(await examine(now, folder)).toMatchObject([{ verdict: "problem" }]);
  mkdirSync(folder);
  writeFileSync(join(folder, "notes.txt"), "no backup at all");
  expect(await examine(now, folder)).toMatchObject([
    { verdict: "problem", message: `${folder} holds no backup` },
  ]);
  await copyDatabase(path, join(folder, "monday.db"), null);
  expect(await examine(Date.now(), folder)).toMatchObject([{ verdict: "ok" }]);
  const old = new Date(now - 3 * dayMs);
  utimesSync(join(folder, "monday.db"), old, old);
  expect(await examine(now, folder)).toMatchObject([{ verdict: "problem" }]);
});

test("a bucket is queried with its credentials, which are not shown", async () => {
  let keys = ["nightly/signalbox-2026-11-22-030000.db"];
  let status = 200;
  const bucket = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        status === 200
          ? `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("")}</ListBucketResult>`
          : `<Error><Code>AccessDenied</Code><Message>${canary}</Message></Error>`,
        { status },
      ),
  });
  const at = async (endpoint: string) => {
    const s3 = {
      endpoint,
      bucket: "acme-backups",
      prefix: "nightly/",
      accessKeyId: "key",
      secretAccessKey: canary,
    };
    await schedule(
      { enabled: true, to: "s3", s3 },
      {
        lastSuccessAt: formatTimestamp(now),
        lastFile: "signalbox-2026-11-22-030000.db",
      },
    );
    const found = await examineBucket({ ...buildDependencies(), clock: () => now });
    expect(JSON.stringify(found)).not.toContain(canary);
    return found;
  };
  const here = `http://127.0.0.1:${bucket.port}`;
  expect(await at(here)).toMatchObject([
    { verdict: "ok", message: `acme-backups at ${here} responds, backups in it: 1` },
  ]);
  keys = [];
  expect(await at(here)).toMatchObject([
    { verdict: "warning", message: expect.stringContaining("does not hold signalbox-2026-11-22") },
  ]);
  status = 403;
  expect(await at(here)).toMatchObject([
    { verdict: "problem", message: expect.stringContaining("AccessDenied") },
  ]);
  await bucket.stop(true);
  expect(await at(`http://127.0.0.1:${getFreePort()}`)).toMatchObject([{ verdict: "problem" }]);
  expect(await at("http://169.254.169.254")).toMatchObject([
    { verdict: "problem", advice: expect.stringContaining("--allow-target 169.254.169.254/32") },
  ]);
});
