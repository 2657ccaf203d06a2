import { describe, expect, test } from "bun:test";
import { sha256 } from "../../../src/core/ids.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import type { Session } from "../../../src/http/access/session.ts";
import { sweepSessions } from "../../../src/accounts/sessions/store.ts";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import { signInMember, createPerson, signInVisitor } from "../../support/people.ts";

const hour = 3_600_000;
const people = "/dashboard/people";

describe("a session ends", () => {
  test("12 hours after the last request, not 12 hours after the first", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "viewer");
    for (let i = 0; i < 4; i++) {
      appliance.time.now += 11 * hour;
      expect((await page("GET", people)).status).toBe(200);
    }
    appliance.time.now += 12 * hour;
    expect((await page("GET", people)).status).toBe(401);
  });

  test("after 30 days, even with requests", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "viewer");
    for (let i = 0; i < 59; i++) {
      appliance.time.now += 12 * hour - 1;
      await page("GET", people);
    }
    expect((await page("GET", people)).status).toBe(200);
    appliance.time.now += 12 * hour - 1;
    expect((await page("GET", people)).status).toBe(200);
    appliance.time.now += 560;
    expect((await page("GET", people)).status).toBe(401);
  });

  test.each([1, 29])("as usual if it started with a clock %d days ahead", async (days) => {
    const appliance = await testAppliance();
    appliance.time.now += days * 24 * hour;
    const { page } = await signInMember(appliance, "viewer");
    appliance.time.now -= days * 24 * hour;
    const readSeen = () => appliance.store.atomic(appliance.appliance.sessions.collectLastSeen());
    expect((await page("GET", people)).status).toBe(200);
    await readSeen();
    appliance.time.now += 11 * hour;
    expect((await page("GET", people)).status).toBe(200);
    await readSeen();
    appliance.time.now += 12 * hour;
    expect((await page("GET", people)).status).toBe(401);
  });

  test("at once if it started with a clock months ahead", async () => {
    const appliance = await testAppliance();
    appliance.time.now += 3_650 * 24 * hour;
    const { page } = await signInMember(appliance, "viewer");
    appliance.time.now -= 3_650 * 24 * hour;
    expect((await page("GET", people)).status).toBe(401);
  });

  test("and then only it is removed from the database", async () => {
    const appliance = await testAppliance();
    const { store, time, database } = appliance;
    const { page } = await signInMember(appliance, "viewer");
    const idle = await signInMember(appliance, "viewer");
    time.now += 11 * hour;
    await page("GET", people);
    await store.atomic(appliance.appliance.sessions.collectLastSeen());
    await sweepSessions(createSweeping(store, time.now));
    expect(database.query("SELECT count(*) FROM sessions").values()).toEqual([[2]]);
    time.now += 2 * hour;
    await sweepSessions(createSweeping(store, time.now));
    const left = database.query("SELECT id FROM sessions").values().flat();
    expect([left.length, left.includes(idle.sessionId)]).toEqual([1, false]);
  });

  test("within half a second when another process removes its row", async () => {
    const appliance = await testAppliance();
    const { page, id } = await signInMember(appliance, "viewer");
    expect((await page("GET", people)).status).toBe(200);
    appliance.database.query("DELETE FROM sessions WHERE person_id = ?").run(id);
    appliance.time.now += 500;
    expect((await page("GET", people)).status).toBe(401);
  });
});

describe("a person's sessions", () => {
  test("are listed newest first, with the current one and the time of the last request", async () => {
    const appliance = await testAppliance();
    const { id, sessionId } = await signInMember(appliance, "viewer");
    appliance.time.now += 5_000;
    const second = await signInVisitor(appliance, id);
    const { json } = await second.page("GET", "/dashboard/sessions");
    expect(json.data).toEqual([
      {
        id: second.id,
        current: true,
        createdAt: "2026-11-20T10:00:05.000Z",
        lastSeenAt: "2026-11-20T10:00:05.000Z",
        address: "127.0.0.1",
        userAgent: "test",
      },
      expect.objectContaining({ id: sessionId, current: false }),
    ]);
  });

  test("last request times are written later in one batch", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "viewer");
    const before = dumpTables(appliance);
    appliance.time.now += 90_000;
    for (let i = 0; i < 20; i++) await page("GET", people);
    expect(dumpTables(appliance)).toBe(before);
    const statements = appliance.appliance.sessions.collectLastSeen();
    expect(statements).toHaveLength(1);
    await appliance.store.atomic(statements);
    expect(dumpTables(appliance)).toContain("2026-11-20T10:01:30.000Z");
    expect(appliance.appliance.sessions.collectLastSeen()).toEqual([]);
  });

  test("one of them can be ended, or all but this one", async () => {
    const appliance = await testAppliance();
    const first = await signInMember(appliance, "viewer");
    const [second, third] = [
      await signInVisitor(appliance, first.id),
      await signInVisitor(appliance, first.id),
    ];
    const ended = await first.page("DELETE", `/dashboard/sessions/${second.id}`);
    expect([ended.status, ended.json]).toEqual([200, { data: { deleted: true } }]);
    expect((await second.page("GET", people)).status).toBe(401);
    const { json } = await first.page("POST", "/dashboard/sessions/end-others");
    expect(json.data.map((one: { id: string }) => one.id)).toEqual([first.sessionId]);
    expect((await third.page("GET", people)).status).toBe(401);
    expect((await first.page("GET", people)).status).toBe(200);
  });

  test("ending the current session removes its cookie", async () => {
    const appliance = await testAppliance();
    const { page, sessionId } = await signInMember(appliance, "viewer");
    const { headers } = await page("DELETE", `/dashboard/sessions/${sessionId}`);
    expect(headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await page("GET", people)).status).toBe(401);
  });

  test("another person's session cannot be ended", async () => {
    const appliance = await testAppliance();
    const owner = await signInMember(appliance, "owner");
    const other = await signInMember(appliance, "viewer");
    for (const id of [other.sessionId, unknownId, "nonsense"])
      expect((await owner.page("DELETE", `/dashboard/sessions/${id}`)).status).toBe(404);
    expect((await other.page("GET", people)).status).toBe(200);
  });
});

const isIn = (id: string) => (session: Session) =>
  session.organizations.some((one) => one.id === id);

describe("a live stream checks whether its session is still open", () => {
  test("for its organization, without extending the session", async () => {
    const appliance = await testAppliance();
    const { sessions } = appliance.appliance;
    const { ours, theirs, time } = appliance;
    const { sessionId } = await signInMember(appliance, "viewer");
    expect(await sessions.isStillOpen(sessionId, isIn(ours.id))).toBe(true);
    expect(await sessions.isStillOpen(sessionId, isIn(theirs.id))).toBe(false);
    expect(await sessions.isStillOpen(unknownId, isIn(ours.id))).toBe(false);
    time.now += 11 * hour;
    expect(await sessions.isStillOpen(sessionId, isIn(ours.id))).toBe(true);
    time.now += hour;
    expect(await sessions.isStillOpen(sessionId, isIn(ours.id))).toBe(false);
  });

  test("a sign-in that waits for its code is not open", async () => {
    const appliance = await testAppliance();
    const viewer = await createPerson(appliance, appliance.ours.id, "viewer");
    const { id, token } = await signInVisitor(appliance, viewer.id);
    appliance.database
      .query("UPDATE sessions SET stage = 'two-factor' WHERE token_hash = ?")
      .run(sha256(token));
    expect(await appliance.appliance.sessions.isStillOpen(id, () => true)).toBe(false);
  });
});
