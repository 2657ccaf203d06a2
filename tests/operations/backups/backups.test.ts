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
async function appliance() {
  const folder = directory();
  const running: { current?: Backups } = {};
  const sealings: unknown[] = [];
  const backups: Backups = {
    createBackup: (...asked) => running.current!.createBackup(...asked),
    take: (...asked) => running.current!.take(...asked),
  };
  const made = await testAppliance({ backups });
  let failing = false;
  let held = Promise.resolve();
  const open = () =>
    new BackupDownloads({
      directory: folder,
      clock: () => made.time.now,
      copyTo: (file, sealing) => {
        sealings.push(sealing);
        const done = held.then(() => {
          if (failing) throw new Error("disk full");
          writeFileSync(file, made.database.serialize());
        });
        return { done, cancel: () => {} };
      },
    });
  running.current = open();
  return {
    ...made,
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

const administrator = (made: Awaited<ReturnType<typeof appliance>>) =>
  signInMember(made, "viewer", { administrator: true });

describe("a backup", () => {
  test("is a complete database named by its time, downloaded once, and then removed", async () => {
    const made = await appliance();
    const { page, cookie } = await administrator(made);
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
    const [file = ""] = made.files();
    expect(statSync(join(made.folder, file)).mode & 0o777).toBe(0o600);
    const headers = { Host: "localhost", Cookie: cookie };
    const taken = await made.app.handle(
      new Request(`http://localhost${path}/${json.data.id}`, { headers }),
    );
    expect(taken.headers.get("content-disposition")).toBe(
      'attachment; filename="signalbox-2026-11-20-1000.db"',
    );
    expect(taken.headers.get("cache-control")).toBe("no-store");
    const copy = Database.deserialize(await taken.bytes());
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    expect(copy.query("SELECT count(*) FROM organizations").values()).toEqual([[2]]);
    expect(made.files()).toEqual([]);
    expect((await page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    const audited = "SELECT count(*) FROM audit_entries WHERE action = 'backup.downloaded'";
    expect(made.database.query(audited).values()).toEqual([[1]]);
  });

  test("is for administrators of the appliance, regardless of their organizations", async () => {
    const made = await appliance();
    const { page } = await signInMember(made, "owner");
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
    expect(made.files()).toEqual([]);
  });

  test("stays available when another person creates an organization", async () => {
    const made = await appliance();
    const { page } = await administrator(made);
    const other = await administrator(made);
    expect(
      (await other.page("POST", "/dashboard/organizations", { body: { name: "New" } })).status,
    ).toBe(201);
    expect((await page("POST", path)).status).toBe(201);
  });

  test("is only for its creator, while they are an administrator", async () => {
    const made = await appliance();
    const [one, other] = [await administrator(made), await administrator(made)];
    const { json } = await one.page("POST", path);
    expect((await other.page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    await other.page("DELETE", `/dashboard/administrators/${one.id}`);
    expect((await one.page("GET", `${path}/${json.data.id}`)).status).toBe(403);
    expect(made.files()).toHaveLength(1);
  });

  test("download stops when the right or the session ends", async () => {
    const made = await appliance();
    const keep = await administrator(made);
    const ends = [
      (id: string) => keep.page("DELETE", `/dashboard/administrators/${id}`),
      (_: string, page: Client) => page("POST", "/dashboard/sign-out"),
    ];
    // More than one chunk of a download.
    made.database.run("CREATE TABLE filler (text TEXT) STRICT");
    made.database.run("INSERT INTO filler VALUES (hex(randomblob(2000000)))");
    for (const end of ends) {
      const one = await administrator(made);
      const { id, bytes } = (await one.page("POST", path)).json.data;
      const headers = { Host: "localhost", Cookie: one.cookie };
      const taken = await made.app.handle(
        new Request(`http://localhost${path}/${id}`, { headers }),
      );
      const reader = taken.body!.getReader();
      let got = (await reader.read()).value?.length ?? 0;
      await end(one.id, one.page);
      const rest = async () => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return "all of it";
          got += value.length;
        }
      };
      expect(await rest().catch((error: unknown) => String(error))).toContain("may no longer");
      expect(got).toBeLessThan(bytes);
      expect(made.files()).toEqual([]);
    }
  });

  test("can be encrypted, with or without the key of stored secrets, as its name shows", async () => {
    const made = await appliance();
    const { page } = await administrator(made);
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
      expect([status, made.sealings.pop()]).toEqual([201, sealing]);
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
    const made = await appliance();
    const { page } = await administrator(made);
    const release = made.hold();
    const first = page("POST", path);
    await Bun.sleep(1);
    expect((await page("POST", path)).status).toBe(409);
    release();
    expect((await first).status).toBe(201);
  });

  test("that can't be written is reported and leaves nothing behind", async () => {
    const made = await appliance();
    const { page } = await administrator(made);
    made.fail();
    const { status, text } = await page("POST", path);
    expect([status, text.includes("disk full")]).toEqual([503, false]);
    expect(made.logged.join()).toContain("disk full");
    expect(made.files()).toEqual([]);
  });

  test("that a crash left behind is removed by the next start", async () => {
    const made = await appliance();
    const { page } = await administrator(made);
    await page("POST", path);
    writeFileSync(join(made.folder, "signalbox.db.backup-x.part"), "half");
    writeFileSync(join(made.folder, "signalbox.db"), "mine");
    const stop = made.reopen();
    expect(made.files()).toEqual(["signalbox.db"]);
    await page("POST", path);
    stop();
    expect(made.files()).toEqual(["signalbox.db"]);
  });
});
