import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BackupDownloads } from "../../../src/operations/backups/downloads.ts";
import type { Backups } from "../../../src/operations/backups/downloads.ts";
import { type Client, testAppliance, unknownId } from "../../support/appliance.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { signInMember } from "../../support/people.ts";

const directory = createScratch();
const path = "/dashboard/backup";

/** An appliance with a database in memory and backups in a directory. */
async function setUpAppliance() {
  const folder = directory();
  const running: { current?: Backups } = {};
  const sealings: unknown[] = [];
  const backups: Backups = {
    createBackup: (...request) => running.current!.createBackup(...request),
    take: (...request) => running.current!.take(...request),
  };
  const world = await testAppliance({ backups });
  let failing = false;
  let held = Promise.resolve();
  const open = () =>
    new BackupDownloads({
      directory: folder,
      clock: () => world.time.now,
      copyTo: (file, sealing) => {
        sealings.push(sealing);
        const done = held.then(() => {
          if (failing) throw new Error("disk full");
          writeFileSync(file, world.database.serialize());
        });
        return { done, cancel: () => {} };
      },
    });
  running.current = open();
  return {
    ...world,
    folder,
    sealings,
    files: () => readdirSync(folder),
    /** Restarts the appliance; returns a stop function. */
    reopen: () => {
      const next = open();
      running.current = next;
      return () => next.end();
    },
    fail: () => (failing = true),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}

const signInAdministrator = (world: Awaited<ReturnType<typeof setUpAppliance>>) =>
  signInMember(world, "viewer", { administrator: true });

describe("a backup", () => {
  test("is a complete database named by its time, downloaded once, and then removed", async () => {
    const world = await setUpAppliance();
    const { page, cookie } = await signInAdministrator(world);
    expect((await page("GET", path)).json.data).toEqual({ dataBytes: expect.any(Number) });
    const { status, json } = await page("POST", path);
    expect([status, json.data]).toEqual([
      201,
      {
        id: expect.any(String),
        fileName: "signalbox-2026-11-20-1000.db",
        bytes: expect.any(Number),
        expiresAt: "2026-11-20T10:10:00.000Z",
      },
    ]);
    const [file = ""] = world.files();
    expect(statSync(join(world.folder, file)).mode & 0o777).toBe(0o600);
    const headers = { Host: "localhost", Cookie: cookie };
    const taken = await world.app.handle(
      new Request(`http://localhost${path}/${json.data.id}`, { headers }),
    );
    expect(taken.headers.get("content-disposition")).toBe(
      'attachment; filename="signalbox-2026-11-20-1000.db"',
    );
    expect(taken.headers.get("cache-control")).toBe("no-store");
    const copy = Database.deserialize(await taken.bytes());
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(copy.query("SELECT count(*) FROM organizations").values()).toEqual([[2]]);
    expect(world.files()).toEqual([]);
    expect((await page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    const audited = "SELECT count(*) FROM audit_entries WHERE action = 'backup.downloaded'";
    expect(world.database.query(audited).values()).toEqual([[1]]);
  });

  test("is for administrators of the appliance, regardless of their organizations", async () => {
    const world = await setUpAppliance();
    const { page } = await signInMember(world, "owner");
    for (const [method, at] of [
      ["GET", path],
      ["POST", path],
      ["GET", `${path}/${unknownId}`],
    ] as const) {
      const { status, json } = await page(method, at);
      expect([method, status, json.error.message]).toEqual([
        method,
        403,
        "This is for administrators of the appliance.",
      ]);
    }
    expect(world.files()).toEqual([]);
  });

  test("stays available when another person creates an organization", async () => {
    const world = await setUpAppliance();
    const { page } = await signInAdministrator(world);
    const other = await signInAdministrator(world);
    expect(
      (await other.page("POST", "/dashboard/organizations", { body: { name: "New" } })).status,
    ).toBe(201);
    expect((await page("POST", path)).status).toBe(201);
  });

  test("is only for its creator, while they are an administrator", async () => {
    const world = await setUpAppliance();
    const [one, other] = [await signInAdministrator(world), await signInAdministrator(world)];
    const { json } = await one.page("POST", path);
    expect((await other.page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    await other.page("DELETE", `/dashboard/administrators/${one.id}`);
    expect((await one.page("GET", `${path}/${json.data.id}`)).status).toBe(403);
    expect(world.files()).toHaveLength(1);
  });

  test("download stops when the right or the session ends", async () => {
    const world = await setUpAppliance();
    const keep = await signInAdministrator(world);
    const ends = [
      (id: string) => keep.page("DELETE", `/dashboard/administrators/${id}`),
      (_: string, page: Client) => page("POST", "/dashboard/sign-out"),
    ];
    // More than one chunk of a download.
    world.database.run("CREATE TABLE filler (text TEXT) STRICT");
    world.database.run("INSERT INTO filler VALUES (hex(randomblob(2000000)))");
    for (const end of ends) {
      const one = await signInAdministrator(world);
      const { id, bytes } = (await one.page("POST", path)).json.data;
      const headers = { Host: "localhost", Cookie: one.cookie };
      const taken = await world.app.handle(
        new Request(`http://localhost${path}/${id}`, { headers }),
      );
      const reader = taken.body!.getReader();
      let got = (await reader.read()).value?.length ?? 0;
      await end(one.id, one.page);
      const readRest = async () => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return "all of it";
          got += value.length;
        }
      };
      expect(await readRest().catch((error: unknown) => String(error))).toContain("may no longer");
      expect(got).toBeLessThan(bytes);
      expect(world.files()).toEqual([]);
    }
  });

  test("can be encrypted, with or without the key of stored secrets, as its name shows", async () => {
    const world = await setUpAppliance();
    const { page } = await signInAdministrator(world);
    const passphrase = "correct horse battery";
    for (const [body, sealing] of [
      [{}, null],
      [{ passphrase }, { passphrase, withKey: false }],
      [
        { passphrase, includeKey: true },
        { passphrase, withKey: true },
      ],
    ] as const) {
      const { status, json } = await page("POST", path, { body });
      expect([status, world.sealings.pop()]).toEqual([201, sealing]);
      const ending = sealing === null ? ".db" : ".age";
      expect(json.data.fileName).toBe(`signalbox-2026-11-20-1000${ending}`);
      expect(JSON.stringify(json)).not.toContain(passphrase);
    }
    for (const [body, at] of [
      [{ includeKey: true }, "includeKey"],
      [{ passphrase: "short" }, "passphrase"],
    ] as const) {
      const { status, json } = await page("POST", path, { body });
      expect([status, json.error.details[0].path]).toEqual([422, at]);
    }
  });

  test("is created one at a time", async () => {
    const world = await setUpAppliance();
    const { page } = await signInAdministrator(world);
    const release = world.hold();
    const first = page("POST", path);
    await Bun.sleep(1);
    expect((await page("POST", path)).status).toBe(409);
    release();
    expect((await first).status).toBe(201);
  });

  test("that can't be written is reported and leaves nothing behind", async () => {
    const world = await setUpAppliance();
    const { page } = await signInAdministrator(world);
    world.fail();
    const { status, text } = await page("POST", path);
    expect([status, text.includes("disk full")]).toEqual([503, false]);
    expect(world.logged.join()).toContain("disk full");
    expect(world.files()).toEqual([]);
  });

  test("that a crash left behind is removed by the next start", async () => {
    const world = await setUpAppliance();
    const { page } = await signInAdministrator(world);
    await page("POST", path);
    writeFileSync(join(world.folder, "signalbox.db.backup-x.part"), "half");
    writeFileSync(join(world.folder, "signalbox.db"), "mine");
    const stop = world.reopen();
    expect(world.files()).toEqual(["signalbox.db"]);
    await page("POST", path);
    stop();
    expect(world.files()).toEqual(["signalbox.db"]);
  });
});
