import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { startRestored } from "../../src/operations/backups/after-restore.ts";
import { copiedVersion } from "../../src/database/backup/backup-file.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { dayMs } from "../../src/core/time/clock.ts";
import type { Route } from "../../src/http/openapi.ts";
import { HeldChangeSender } from "../../src/http/held-changes/sender.ts";
import { sweepHeldChanges } from "../../src/http/held-changes/store.ts";
import { requestBounds } from "../../src/core/limits.ts";
import { apiRoutes } from "../support/records.ts";
import { createAppliance, dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import { signInMember } from "../support/people.ts";
import { createPublisher } from "../support/publisher.ts";

const path = "/api/v1/held-changes";

async function createHeldChange(
  change: object = { status: "resolved", message: "Back to normal." },
) {
  const world = await testAppliance();
  const { api } = world.ours;
  const opening = await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  const incident = `/api/v1/incidents/${opening.json.data.id}`;
  const before = dumpTables(world);
  const answer = await api("PATCH", `${incident}?hold=10`, { body: change });
  const { id } = answer.json.data;
  return {
    ...world,
    api,
    incident,
    before,
    answer,
    id,
    read: async () => (await api("GET", incident)).json.data,
    readHeld: async () => (await api("GET", `${path}/${id}`)).json.data,
    sendAfter: (seconds: number) => {
      world.time.now += seconds * 1000;
      return world.held.runOnce();
    },
  };
}

/** Fills the limit of each organization with copies of its held change. */
function copyHeld(database: Database) {
  for (let index = 1; index < requestBounds.heldChanges.value; index++)
    database.run(
      `insert into held_changes select organization_id, id || ${index}, operation, params, change,
        subject_id, title, actor_type, actor_id, actor_name, request_id, state, created_at, due_at,
        sent_at, error, origin from held_changes where length(id) = 36`,
    );
}

test("a held update changes nothing until its hold is over, then it is sent once", async () => {
  const {
    answer,
    incident,
    id,
    read,
    readHeld,
    sendAfter,
    held: sender,
  } = await createHeldChange();
  const before = await read();
  expect([answer.status, answer.headers.get("location")]).toEqual([202, null]);
  expect(answer.json.data).toEqual({
    id,
    operation: "updateIncident",
    subjectId: incident.split("/").at(-1),
    title: "Slow",
    origin: "manual",
    change: { status: "resolved", message: "Back to normal." },
    author: { type: "api-key", id: expect.any(String), name: "write" },
    state: "waiting",
    secondsLeft: 10,
    createdAt: "2026-11-20T10:00:00.000Z",
    dueAt: "2026-11-20T10:00:10.000Z",
    sentAt: null,
    error: null,
  });
  expect(await sendAfter(9)).toBe(1000);
  expect(await readHeld()).toMatchObject({ state: "waiting", secondsLeft: 1 });
  expect(await read()).toEqual(before);
  expect(await sendAfter(1)).toBeNull();
  const after = await read();
  expect([after.status, after.resolvedAt]).toEqual(["resolved", "2026-11-20T10:00:10.000Z"]);
  expect(after.updates).toHaveLength(2);
  expect(await readHeld()).toMatchObject({
    state: "sent",
    secondsLeft: 0,
    sentAt: "2026-11-20T10:00:10.000Z",
  });
  await sender.runOnce();
  expect((await read()).updates).toHaveLength(2);
});

test("an undone change leaves no trace but two entries of the event log", async () => {
  const world = await createHeldChange();
  const { api, before, id, sendAfter, database } = world;
  expect((await api("DELETE", `${path}/${id}`)).json).toEqual({ data: { deleted: true } });
  expect(await sendAfter(60)).toBeNull();
  expect((await api("GET", `${path}/${id}`)).status).toBe(404);
  const logged = "from events where type like 'held-change.%'";
  expect(database.query(`select count(*) as count ${logged}`).get()).toEqual({ count: 2 });
  database.run(`delete ${logged}`);
  database.run(
    "update sqlite_sequence set seq = (select max(seq) from events) where name = 'events'",
  );
  expect(dumpTables(world)).toBe(before);
});

test("a sent change can't be undone or sent again", async () => {
  const { api, id, sendAfter } = await createHeldChange();
  await sendAfter(10);
  for (const [method, at] of [
    ["DELETE", `${path}/${id}`],
    ["POST", `${path}/${id}/send`],
  ] as const) {
    const { status, json } = await api(method, at);
    expect([status, json.error.message]).toEqual([409, "This change was already sent."]);
  }
});

test("“Send now” ends the hold, and the audit log names the person at the time of sending", async () => {
  const { api, id, read, sendAfter, database } = await createHeldChange();
  const { status, json } = await api("POST", `${path}/${id}/send`);
  expect([status, json.data.secondsLeft]).toEqual([200, 0]);
  await sendAfter(0);
  expect((await read()).status).toBe("resolved");
  const audited = database
    .query("select action, actor_name as name, at from audit_entries order by seq desc limit 1")
    .get();
  expect(audited).toEqual({
    action: "incident.resolved",
    name: "write",
    at: "2026-11-20T10:00:00.000Z",
  });
});

test("two processes that send the same change at once write it once", async () => {
  const { store, time, appliance, read, held: one } = await createHeldChange();
  const { held: other } = createAppliance({ store, clock: () => time.now, vault: appliance.vault });
  time.now += 10_000;
  await Promise.all([one.runOnce(), other.runOnce()]);
  expect((await read()).updates).toHaveLength(2);
});

test("after a kill during the hold, the change is sent by the next process, or can still be undone", async () => {
  for (const undoes of [false, true]) {
    const { store, time, appliance, api, id, read } = await createHeldChange();
    time.now += 3_000;
    const { held: next } = createAppliance({
      store,
      clock: () => time.now,
      vault: appliance.vault,
    });
    expect(await next.runOnce()).toBe(7_000);
    if (undoes) expect((await api("DELETE", `${path}/${id}`)).status).toBe(200);
    time.now += 7_000;
    await next.runOnce();
    expect((await read()).updates).toHaveLength(undoes ? 1 : 2);
  }
});

test("a clock that was set back does not extend the hold", async () => {
  const { time, read, sendAfter } = await createHeldChange();
  time.now -= 3_600_000;
  await sendAfter(0);
  expect((await read()).status).toBe("resolved");
});

test.each([-500 * dayMs, -3_600_000, -5_000, 5_000, 3_600_000, 500 * dayMs])(
  "a clock that is set by %d ms during the hold neither shortens nor extends it",
  async (jump) => {
    const { appliance, app, time, read } = await createHeldChange();
    let monotonic = 0;
    const sender = new HeldChangeSender({
      ...appliance,
      listRoutes: async () => app.routes as unknown as Route[],
      monotonic: () => monotonic,
    });
    expect(await sender.runOnce()).toBe(10_000);
    time.now += jump;
    monotonic = 9_999;
    expect(await sender.runOnce()).toBe(1);
    expect((await read()).status).toBe("investigating");
    monotonic = 10_000;
    expect(await sender.runOnce()).toBeNull();
    expect((await read()).status).toBe("resolved");
  },
);

test("a change that can no longer be stored is reported, and can be dismissed", async () => {
  const { api, incident, id, readHeld, sendAfter } = await createHeldChange();
  await api("DELETE", incident);
  expect(await sendAfter(10)).toBeNull();
  expect(await readHeld()).toMatchObject({
    state: "failed",
    sentAt: null,
    error: expect.stringContaining("incident"),
  });
  expect((await api("DELETE", `${path}/${id}`)).status).toBe(200);
});

describe("rights that end during the hold stop the change", () => {
  const body = { message: "Back to normal." };
  const failed = {
    state: "failed",
    sentAt: null,
    error: "Its author no longer has the right to make this change.",
  };

  test.each([
    ["a person who becomes a viewer", "PATCH", { role: "viewer" }],
    ["a person who is removed", "DELETE", undefined],
  ])("of %s", async (_, method, change) => {
    const world = await createHeldChange();
    const { incident, sendAfter, api, read } = world;
    await sendAfter(10);
    const owner = await signInMember(world, "owner");
    const author = await signInMember(world, "member");
    const asking = await author.page("PATCH", `/dashboard${incident}?hold=10`, { body });
    expect(asking.status).toBe(202);
    const before = await read();
    const options = change && { body: change };
    const at = `/dashboard/people/${author.id}`;
    expect((await owner.page(method, at, options)).status).toBe(200);
    await sendAfter(10);
    expect((await api("GET", `${path}/${asking.json.data.id}`)).json.data).toMatchObject(failed);
    expect(await read()).toEqual(before);
  });

  test("of an API key that is revoked or expires", async () => {
    for (const ends of ["revoked", "expired"]) {
      const world = await createHeldChange();
      const { incident, ours, client, sendAfter, read } = world;
      await sendAfter(10);
      const { id, key } = await ours.keyOf("write", ends === "expired" ? 5_000 : null);
      const asking = await client(key)("PATCH", `${incident}?hold=10`, { body });
      expect(asking.status).toBe(202);
      const before = await read();
      const { page } = await signInMember(world, "owner");
      if (ends === "revoked") await page("POST", `/dashboard/api-keys/${id}/revoke`);
      await sendAfter(10);
      const { json } = await ours.api("GET", `${path}/${asking.json.data.id}`);
      expect(json.data).toMatchObject(failed);
      expect(await read()).toEqual(before);
    }
  });
});

describe("If-Match", () => {
  async function holdConditionally(change: object) {
    const world = await createHeldChange();
    const { api, incident, sendAfter } = world;
    await sendAfter(10);
    const etag = (await api("GET", incident)).headers.get("etag") ?? "";
    const hold = async (body: object, seconds = 10) =>
      (await api("PATCH", `${incident}?hold=${seconds}`, { body, headers: { "If-Match": etag } }))
        .json.data.id as string;
    return {
      ...world,
      hold,
      id: await hold(change),
      outcome: async (id: string) => (await api("GET", `${path}/${id}`)).json.data,
    };
  }
  const stale = { state: "failed", error: expect.stringContaining("was changed since") };

  test("is a condition at the end of the hold, too", async () => {
    const { api, incident, id, sendAfter, outcome, read } = await holdConditionally({
      title: "Slow checkout",
    });
    await api("PATCH", incident, { body: { title: "Checkout fails" } });
    await sendAfter(10);
    expect(await outcome(id)).toMatchObject(stale);
    expect((await read()).title).toBe("Checkout fails");
  });

  test("ignores changes of the record that were held earlier, but no others", async () => {
    const { api, incident, id, hold, time, sendAfter, outcome, read } = await holdConditionally({
      status: "monitoring",
    });
    time.now += 1_000;
    const next = await hold({ status: "resolved" });
    const last = await hold({ title: "Slow checkout" }, 20);
    await sendAfter(10);
    expect(await outcome(id)).toMatchObject({ state: "sent" });
    expect(await outcome(next)).toMatchObject({ state: "sent" });
    expect((await read()).status).toBe("resolved");
    await api("PATCH", incident, { body: { title: "Checkout fails" } });
    await sendAfter(11);
    expect(await outcome(last)).toMatchObject(stale);
  });

  test("fails after a change that was held later, but sent earlier", async () => {
    const {
      id,
      hold,
      time,
      held: sender,
      sendAfter,
      outcome,
    } = await holdConditionally({
      status: "monitoring",
    });
    time.now += 1_000;
    const next = await hold({ status: "resolved" }, 1);
    time.now += 1_000;
    await sender.runOnce();
    expect(await outcome(next)).toMatchObject({ state: "sent" });
    await sendAfter(10);
    expect(await outcome(id)).toMatchObject(stale);
  });
});

test("a change of an incident that was deleted and restored during the hold is sent", async () => {
  const { api, incident, readHeld, sendAfter, read } = await createHeldChange();
  await api("DELETE", incident);
  await api("POST", `${incident}/restore`);
  await sendAfter(10);
  expect(await readHeld()).toMatchObject({ state: "sent" });
  expect((await read()).status).toBe("resolved");
});

test("organizations take turns, so that one with many due changes delays no other", async () => {
  const { database, ours, theirs, sendAfter } = await createHeldChange();
  await theirs.api("POST", "/api/v1/incidents?hold=1", { body: { title: "Slow" } });
  copyHeld(database);
  await sendAfter(10);
  const sent = database
    .query<{ id: string }, []>(
      "select organization_id as id from events where type = 'held-change.sent' order by seq",
    )
    .all();
  expect(sent).toHaveLength(2 * requestBounds.heldChanges.value);
  expect(sent.slice(0, 2).map(({ id }) => id)).toContain(ours.id);
});

describe("errors appear at once, and nothing is held", () => {
  test.each([
    ["a wrong field", {}, { status: "gone" }, 422],
    ["a monitor of nobody", {}, { monitorIds: [unknownId] }, 404],
    ["a stale If-Match", { "If-Match": '"7-x"' }, { message: "Hello" }, 412],
  ])("%s", async (_, headers, body, status) => {
    const { api, incident, sendAfter } = await createHeldChange();
    await sendAfter(10);
    const answer = await api("PATCH", `${incident}?hold=10`, { body, headers });
    expect(answer.status).toBe(status);
    expect((await api("GET", `${path}?state=waiting`)).json.data).toEqual([]);
  });

  test.each(["61", "-1", "1.5", "", "x"])("hold=%s", async (hold) => {
    const { api, incident } = await createHeldChange();
    const { status, json } = await api("PATCH", `${incident}?hold=${hold}`, {
      body: { message: "Hello" },
    });
    expect([status, json.error.details[0].path]).toEqual([422, "hold"]);
  });
});

test("without hold, and with hold=0, a script's change takes effect at once", async () => {
  const { api, incident } = await createHeldChange();
  for (const query of ["", "?hold=0"]) {
    const { status, json } = await api("PATCH", `${incident}${query}`, {
      body: { message: "Hello" },
    });
    expect([status, json.data.updates.at(-1).message]).toEqual([200, "Hello"]);
  }
});

test("a repeated request with an Idempotency-Key holds one change", async () => {
  const { api, incident } = await createHeldChange();
  const options = { body: { message: "Hello" }, headers: { "Idempotency-Key": "once" } };
  const first = await api("PATCH", `${incident}?hold=10`, options);
  const second = await api("PATCH", `${incident}?hold=10`, options);
  expect([second.status, second.json]).toEqual([202, first.json]);
  expect((await api("GET", `${path}?state=waiting`)).json.meta.total).toBe(2);
});

test("an organization can hold a limited number of changes", async () => {
  const { ours, database } = await testAppliance();
  const { api } = ours;
  const body = { title: "Slow" };
  await api("POST", "/api/v1/incidents?hold=60", { body });
  copyHeld(database);
  const { status } = await api("POST", "/api/v1/incidents?hold=60", { body });
  expect(status).toBe(429);
});

test("outcomes are removed after a day, waiting changes never", async () => {
  const { api, store, time, incident, sendAfter } = await createHeldChange();
  await sendAfter(10);
  await api("PATCH", `${incident}?hold=60`, { body: { message: "Later" } });
  await sweepHeldChanges(createSweeping(store, time.now + 25 * 3_600_000));
  const { json } = await api("GET", path);
  expect(json.data.map(({ state }: { state: string }) => state)).toEqual(["waiting"]);
});

test("a change that waits in a backup is not sent after its restore", async () => {
  const { store, time, database, sendAfter, read } = await createHeldChange();
  database.run(`pragma user_version = ${copiedVersion}`);
  await startRestored(store, () => time.now);
  await sendAfter(60);
  expect((await read()).updates).toHaveLength(1);
});

test("what a held change needs of its route is only its scope, parameters and body", async () => {
  const names = apiRoutes.flatMap(({ hooks }) => hooks.detail?.endpoint ?? []);
  const holdable = names.filter(({ query }) => query?.safeParse({ hold: "1" }).success === true);
  expect(holdable.map(({ name }) => name).toSorted()).toEqual([
    "changeMonitors",
    "createMaintenanceWindow",
    "deleteIncident",
    "deleteIncidentNote",
    "deleteIncidentPostmortem",
    "deleteIncidentTemplate",
    "deleteMaintenanceWindow",
    "deleteMonitor",
    "deleteSchedule",
    "deleteSubscriber",
    "openIncident",
    "resolveIncident",
    "restoreMaintenanceWindow",
    "sendReportMail",
    "updateIncident",
    "updateIncidentPostmortem",
    "updateMaintenanceWindow",
  ]);
});

describe("pages, feeds, mails and channels", () => {
  const announcements = [
    ["a new incident", "/api/v1/incidents", { title: "Checkout fails", message: "We look." }],
    [
      "a maintenance window",
      "/api/v1/maintenance-windows",
      {
        title: "Firmware",
        startsAt: "2026-11-22T02:00:00.000Z",
        endsAt: "2026-11-22T04:00:00.000Z",
      },
    ],
  ] as const;

  test.each(announcements)(
    "show nothing of %s before its hold is over, and all of it after",
    async (_, at, body) => {
      await using world = await createPublisher();
      const { api, get, mailbox, held, time, sendAfter, mails, listRecipients } = world;
      await mailbox();
      const paths = ["/status/ours", "/status/ours/feed.atom", "/status/ours/feed.json"];
      const readAll = () => Promise.all(paths.map(async (one) => (await get(one)).text));
      const before = await readAll();
      for (const undoes of [true, false]) {
        const { status, json } = await api("POST", `${at}?hold=10`, { body });
        expect(status).toBe(202);
        await sendAfter(9);
        await held.runOnce();
        expect(mails).toEqual([]);
        for (const page of await readAll()) expect(page).not.toContain(body.title);
        if (undoes) await api("DELETE", `${path}/${json.data.id}`);
        time.now += 1_000;
        await held.runOnce();
        await sendAfter(60);
      }
      expect(listRecipients()).toEqual(["ann@team.example"]);
      expect(before.join()).not.toContain(body.title);
      expect((await readAll())[0]).toContain(body.title);
    },
  );

  test.each([
    ["a deletion of a window", "DELETE", undefined],
    ["a change of a window", "PATCH", { title: "Cables" }],
  ] as const)("show nothing of %s before its hold is over", async (_, method, body) => {
    await using world = await createPublisher();
    const { api, get, held, time, planWindow } = world;
    const { id } = await planWindow();
    const hold = async () => {
      const at = `/api/v1/maintenance-windows/${id}?hold=10`;
      const { status, json } = await api(method, at, body && { body });
      expect([status, json.data.title]).toEqual([202, body?.title ?? "Firmware"]);
      return json.data.id;
    };
    const readAll = async () => {
      const paths = ["/status/ours", "/status/ours/calendar.ics", "/status/ours/feed.json"];
      return (await Promise.all(paths.map(async (one) => (await get(one)).text))).join();
    };
    const undone = await hold();
    time.now += 9_000;
    await held.runOnce();
    expect(await readAll()).toContain("Firmware");
    expect((await api("DELETE", `${path}/${undone}`)).status).toBe(200);
    time.now += 60_000;
    await held.runOnce();
    expect(await readAll()).toContain("Firmware");
    await hold();
    time.now += 10_000;
    await held.runOnce();
    expect(await readAll()).not.toContain("Firmware");
  });

  test("hear of a monitor's deletion, which resolves its incident, after its hold", async () => {
    const { api, incident, database, held: sender, time, read } = await createHeldChange();
    const body = { type: "tcp", name: "Shop", host: "127.0.0.1", port: 1 };
    const { id } = (await api("POST", "/api/v1/monitors", { body })).json.data;
    await api("PATCH", incident, { body: { monitorIds: [id] } });
    database.run("update incidents set origin = 'monitor'");
    database.run("delete from held_changes");
    const answer = await api("DELETE", `/api/v1/monitors/${id}?hold=10`);
    expect([answer.status, answer.json.data.title]).toEqual([202, "Shop"]);
    time.now += 9_000;
    await sender.runOnce();
    expect((await read()).status).toBe("investigating");
    time.now += 1_000;
    await sender.runOnce();
    expect((await read()).status).toBe("resolved");
  });

  test("a held deletion of a note names the note, not its incident", async () => {
    const world = await createHeldChange();
    const { api, incident, sendAfter } = world;
    const note = await api("POST", `${incident}/notes`, { body: { message: "x" } });
    const at = `${incident}/notes/${note.json.data.id}?hold=10`;
    const { json } = await api("DELETE", at);
    expect(json.data).toMatchObject({
      operation: "deleteIncidentNote",
      subjectId: note.json.data.id,
    });
    await sendAfter(10);
    expect((await api("GET", incident)).json.data.notes).toEqual([]);
  });
});
