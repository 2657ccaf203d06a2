/** A pause with an end: accepted and rejected values, its effect on changes of other kinds, and the resumption. */
import { describe, expect, test } from "bun:test";
import { readSince } from "../../../src/events/log.ts";
import { computePause } from "../../../src/monitoring/monitors/pause-rules.ts";
import { copyMonitor } from "../../support/many-monitors.ts";
import { createPlanner } from "../../support/planner.ts";
import { signInMember } from "../../support/people.ts";

const route = "/api/v1/monitors";

/** An appliance whose clock shows 10:00, with one monitor. */
async function setUp() {
  const world = await createPlanner();
  const { api, monitor, maintenance, store, ours, time } = world;
  await maintenance.runOnce();
  const { id } = await monitor({ name: "Shop" });
  const other = world.createSecondAppliance();
  return {
    ...world,
    id: id as string,
    other,
    patch: async (body: object, of: string = id) => {
      const { status, json, text } = await api("PATCH", `${route}/${of}`, { body });
      return { status, data: json.data, error: status === 422 ? text : "" };
    },
    readPause: async (of: string = id) => {
      const { paused, pausedUntil, status } = (await api("GET", `${route}/${of}`)).json.data;
      return { paused, pausedUntil, status };
    },
    /** Advances the clock and ends pauses, on two nodes at once. */
    passMinutes: async (minutes: number) => {
      time.now += minutes * 60_000;
      for (const _ of [1, 2])
        await Promise.all([maintenance.runOnce(), other.maintenance.runOnce()]);
    },
    readTypes: async () =>
      (await readSince(store, 0, 100_000))
        .filter(({ organizationId }) => organizationId === ours.id)
        .map(({ type }) => type),
  };
}

const running = { paused: false, pausedUntil: null };

describe("the two fields of a pause", () => {
  const [early, late] = ["2026-11-20T11:00:00.000Z", "2026-11-21T09:00:00.000Z"];
  const forever = { paused: true, pausedUntil: null };
  const until = { paused: true, pausedUntil: early };
  test.each([
    [running, { pausedUntil: early }, until],
    [running, { paused: true, pausedUntil: early }, until],
    [running, { paused: true }, forever],
    [running, { pausedUntil: null }, running],
    [until, {}, until],
    [until, { paused: true }, forever],
    [until, { paused: false }, running],
    [until, { pausedUntil: null }, forever],
    [until, { pausedUntil: late }, { paused: true, pausedUntil: late }],
    [forever, { pausedUntil: early }, until],
  ])("%j changed by %j", (before, change, after) => {
    expect(computePause(before, change)).toEqual(after);
  });

  test("are set by POST, PATCH and a bulk change, with and without `paused`", async () => {
    const { id, api, monitor, inMinutes, patch, readPause } = await setUp();
    const end = inMinutes(60);
    const paused = { paused: true, pausedUntil: end, status: "paused" };
    expect(await readPause((await monitor({ pausedUntil: end })).id)).toEqual(paused);
    expect(await readPause((await monitor({ paused: true, pausedUntil: end })).id)).toEqual(paused);
    // A time with another offset is the same time in UTC.
    const local = end.replace("T11:00:00.000Z", "T12:00:00+01:00");
    expect((await patch({ pausedUntil: local })).data).toMatchObject(paused);
    expect((await patch({ description: "Front door" })).data).toMatchObject(paused);
    // A GET response can be sent back.
    expect((await patch((await api("GET", `${route}/${id}`)).json.data)).status).toBe(200);
    expect((await patch({ paused: true })).data).toMatchObject({ paused: true, pausedUntil: null });
    const bulk = { monitorIds: [id], change: { pausedUntil: end } };
    const { undo } = (await api("POST", `${route}/bulk`, { body: bulk })).json.data;
    expect(await readPause()).toEqual(paused);
    expect((await api("POST", `${route}/bulk`, { body: undo })).status).toBe(200);
    expect(await readPause()).toEqual({ ...paused, pausedUntil: null });
    expect((await patch({ paused: false })).data).toMatchObject({ ...running, status: "pending" });
  });

  test("reject a contradiction, a past end and one in more than a year, by name", async () => {
    const { id, api, inMinutes, patch, readPause } = await setUp();
    const buildDays = (count: number) => inMinutes(count * 24 * 60);
    const contradiction = "can't be used with paused: false";
    const rejected: [object, string][] = [
      [{ paused: false, pausedUntil: buildDays(1) }, contradiction],
      [{ pausedUntil: inMinutes(0) }, "must be in the future"],
      [{ pausedUntil: buildDays(366) }, "must be at most 365 days from now"],
      [{ pausedUntil: "tomorrow" }, "must be an RFC 3339 time"],
    ];
    const body = { type: "tcp", name: "Ledger", host: "10.0.0.9", port: 1 };
    for (const [change, message] of rejected) {
      const many = { monitorIds: [id], change };
      const attempts = [
        await api("PATCH", `${route}/${id}`, { body: change }),
        await api("POST", route, { body: { ...body, ...change } }),
        await api("POST", `${route}/bulk`, { body: many }),
        await api("POST", `${route}/bulk/preview`, { body: many }),
      ];
      for (const { status, json } of attempts) {
        const [detail] = json.error.details;
        expect([status, detail.path.replace(/^change\./, "")]).toEqual([422, "pausedUntil"]);
        expect(detail.message).toStartWith(message);
      }
    }
    expect(await readPause()).toMatchObject(running);
    expect((await patch({ pausedUntil: buildDays(365) })).status).toBe(200);
  });
});

describe("at its end, a pause is over", () => {
  test("once on two nodes, with events and an entry of the system in the audit log", async () => {
    const world = await setUp();
    const { patch, inMinutes, passMinutes, readPause, readTypes } = world;
    const { page } = await signInMember(world, "admin");
    const end = inMinutes(60);
    await patch({ pausedUntil: end });
    await passMinutes(59);
    expect(await readPause()).toMatchObject({ paused: true, pausedUntil: end });
    const known = (await readTypes()).length;
    await passMinutes(1);
    expect(await readPause()).toEqual({ ...running, status: "pending" });
    expect((await readTypes()).slice(known)).toEqual(["monitor.resumed", "monitor.updated"]);
    const [entry] = (await page("GET", "/dashboard/audit-log?actor=system")).json.data;
    expect(entry).toMatchObject({
      actor: { type: "system", id: null, name: "Signalbox" },
      action: "monitor.updated",
      subjectName: "Shop",
      changes: [
        { field: "paused", before: true, after: false },
        { field: "pausedUntil", before: end, after: null },
      ],
    });
  });

  test("after a crash in the middle, and after a time without a server", async () => {
    const { patch, inMinutes, passMinutes, readPause, time, crashBefore, ...world } = await setUp();
    await patch({ pausedUntil: inMinutes(60) });
    time.now += 60 * 60_000;
    crashBefore("insert into audit_entries");
    await world.maintenance.runOnce();
    expect(await readPause()).toMatchObject({ paused: true });
    await passMinutes(24 * 60);
    expect(await readPause()).toMatchObject(running);
  });

  test("unless a person ended or prolonged it, and without the pause of its group", async () => {
    const { id, group, pauseGroup, patch, inMinutes, passMinutes, readPause } = await setUp();
    const members = await group({ monitorIds: [id] });
    await pauseGroup(members.id, true);
    await patch({ pausedUntil: inMinutes(30) });
    await patch({ pausedUntil: inMinutes(60) });
    await passMinutes(59);
    expect(await readPause()).toMatchObject({ paused: true });
    await passMinutes(1);
    expect(await readPause()).toEqual({ ...running, status: "paused" });
    // A move does not change the end.
    await patch({ pausedUntil: inMinutes(60) });
    await patch({ groupId: null });
    expect(await readPause()).toMatchObject({ pausedUntil: inMinutes(60), status: "paused" });
  });

  test("for 10,000 monitors of an organization at once, in writes of at most 500", async () => {
    const { id, patch, inMinutes, database, store, passMinutes, time, maintenance } = await setUp();
    await patch({ pausedUntil: inMinutes(60) });
    copyMonitor(database, id, 9_999, {
      id: "printf('00000000-0000-7000-8000-%012d', i)",
      push_token_hash: "null",
    });
    let writes = 0;
    const atomic = store.atomic.bind(store);
    store.atomic = (statements) => {
      writes++;
      return atomic(statements);
    };
    time.now += 60 * 60_000;
    await maintenance.runOnce();
    expect(writes).toBe(20);
    const count = (where: string) =>
      database.query<{ n: number }, []>(`select count(*) as n from ${where}`).get()?.n;
    await passMinutes(1);
    expect(count("monitors where paused or paused_until is not null")).toBe(0);
    expect(count("monitor_states where paused")).toBe(0);
    expect(count("audit_entries where actor_type = 'system'")).toBe(10_000);
    expect(count("events where type = 'monitor.resumed'")).toBe(10_000);
  });

  test("while it is in the bin, only once it is restored", async () => {
    const { id, api, patch, inMinutes, passMinutes, readPause } = await setUp();
    await patch({ pausedUntil: inMinutes(60) });
    await api("DELETE", `${route}/${id}`);
    await passMinutes(90);
    expect((await api("POST", `${route}/${id}/restore`)).status).toBe(200);
    await passMinutes(0);
    expect(await readPause()).toEqual({ ...running, status: "pending" });
  });
});

describe("a configuration file", () => {
  const entry = { type: "tcp", name: "Ledger", host: "10.0.0.9", port: 1 };

  test("does not end a person's pause, but can replace it with one without an end", async () => {
    const { api, patch, inMinutes, readPause, passMinutes } = await setUp();
    const apply = async (fields: object) => {
      const body = { monitors: { ledger: { ...entry, ...fields } } };
      const { status, json } = await api("PUT", "/api/v1/config", { body });
      return { status, changes: json.data?.changes, error: json.error };
    };
    await apply({ paused: false });
    const id = (await api("GET", `${route}?q=Ledger`)).json.data[0].id as string;
    const end = inMinutes(60);
    await patch({ pausedUntil: end }, id);
    for (const fields of [{}, { paused: false }, { interval: 30, paused: false }]) {
      expect((await apply(fields)).status).toBe(200);
      expect(await readPause(id)).toMatchObject({ paused: true, pausedUntil: end });
    }
    const { document } = (await api("GET", "/api/v1/config")).json.data;
    expect(Object.keys(document.monitors.ledger)).not.toContain("paused");
    expect((await apply({ pausedUntil: end })).error.details[0].path).toBe(
      "monitors.ledger.pausedUntil",
    );
    await apply({ paused: true });
    expect(await readPause(id)).toMatchObject({ paused: true, pausedUntil: null });
    await patch({ pausedUntil: end }, id);
    await passMinutes(60);
    expect((await apply({ paused: false })).changes).toEqual([]);
  });
});
