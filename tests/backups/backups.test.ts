import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backupDesk } from "../../src/backups/desk.ts";
import type { Backups } from "../../src/http/call.ts";
import { testAppliance } from "../support/appliance.ts";
import { scratch } from "../support/scratch.ts";
import { member, visitor } from "../support/visiting.ts";

const directory = scratch();
const path = "/dashboard/backup";

/** An appliance whose database lies in memory, and its copies in a directory. */
async function appliance() {
  const folder = directory();
  const desk: { current?: Backups } = {};
  const backups: Backups = {
    make: (id) => desk.current!.make(id),
    take: (personId, id) => desk.current!.take(personId, id),
  };
  const made = await testAppliance({ backups });
  let failing = false;
  let held = Promise.resolve();
  const open = () =>
    backupDesk({
      directory: folder,
      clock: () => made.time.now,
      log: made.appliance.log,
      copyTo: (file) => {
        const done = held.then(() => {
          if (failing) throw new Error("disk full");
          made.database.query("VACUUM INTO ?").run(file);
        });
        return { done, cancel: () => {} };
      },
    });
  desk.current = open();
  return {
    ...made,
    folder,
    files: () => readdirSync(folder),
    /** Starts again; returns how to stop. */
    reopen: () => {
      const next = open();
      desk.current = next;
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

/** Somebody who owns ours and theirs. */
async function ownerOfAll(made: Awaited<ReturnType<typeof appliance>>) {
  const owner = await member(made, "owner");
  made.database
    .query("INSERT INTO memberships VALUES (?, ?, 'owner', '2027-01-01T00:00:00.000Z')")
    .run(made.theirs.id, owner.id);
  made.time.now += 500;
  return owner;
}

describe("a backup", () => {
  test("is a whole database under a name with its time, once, and nothing of it stays", async () => {
    const made = await appliance();
    const { page, cookie } = await ownerOfAll(made);
    expect((await page("GET", path)).json.data.allowed).toBe(true);
    const { status, json } = await page("POST", path);
    expect([status, json.data]).toEqual([
      201,
      {
        id: expect.any(String),
        fileName: "signalbox-2026-11-20-1000.db",
        bytes: expect.any(Number),
        expiresAt: "2026-11-20T10:10:00.500Z",
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
    expect(made.database.query(audited).values()).toEqual([[2]]);
  });

  test("is for those who own every organization of the appliance", async () => {
    const made = await appliance();
    const { page } = await member(made, "owner");
    expect((await page("GET", path)).json.data.allowed).toBe(false);
    const { status, json } = await page("POST", path);
    expect([status, json.error.message]).toEqual([
      403,
      "A backup holds every organization of this appliance: it is for those who own all of them.",
    ]);
    expect(made.files()).toEqual([]);
  });

  test("is nobody else's, and not theirs any more when an organization comes that they don't own", async () => {
    const made = await appliance();
    const owner = await ownerOfAll(made);
    const other = await ownerOfAll(made);
    const { json } = await owner.page("POST", path);
    expect((await other.page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    const again = await visitor(made, owner.id);
    made.database.query("UPDATE memberships SET role = 'admin' WHERE person_id = ?").run(owner.id);
    made.time.now += 500;
    expect((await again.page("GET", `${path}/${json.data.id}`)).status).toBe(404);
    expect(made.files()).toHaveLength(1);
  });

  test("is made one at a time", async () => {
    const made = await appliance();
    const { page } = await ownerOfAll(made);
    const release = made.hold();
    const first = page("POST", path);
    await Bun.sleep(1);
    expect((await page("POST", path)).status).toBe(409);
    release();
    expect((await first).status).toBe(201);
  });

  test("that can't be written is told of and leaves nothing", async () => {
    const made = await appliance();
    const { page } = await ownerOfAll(made);
    made.fail();
    const { status, text } = await page("POST", path);
    expect([status, text.includes("disk full")]).toEqual([503, false]);
    expect(made.logged.join()).toContain("disk full");
    expect(made.files()).toEqual([]);
  });

  test("that a crash left behind is gone after the next start, one that waits at the end", async () => {
    const made = await appliance();
    const { page } = await ownerOfAll(made);
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
