import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { unknownId } from "../../support/appliance.ts";
import type { Json } from "../../support/json.ts";
import { createPager } from "../../support/pager.ts";
import { signInMember } from "../../support/people.ts";

const minute = 60_000;

/** A monitor that is down and reminds every minute, with one channel. */
async function createWorld(fields: object = {}) {
  const pager = await createPager();
  const hook = await pager.inbox();
  const job = await pager.createWatchedJob([hook], {
    name: "A",
    reminderInterval: 60,
    degradedAfterMs: 100,
    ...fields,
  });
  await job.changeState("down");
  await pager.later();
  const [{ id }] = (await pager.readAlerts()) as [Json];
  const path = `/api/v1/alerts/${id}`;
  const act = (action: string, body?: object, api = pager.api) =>
    api("POST", `${path}/${action}`, body === undefined ? {} : { body });
  const readStatus = async () => (await pager.readAlert(id)).status as string;
  const advance = async (minutes: number) => {
    for (let i = 0; i < 3 * minutes; i++) await pager.later(20);
  };
  return { ...pager, hook, job, id: id as string, act, readStatus, advance };
}

describe("acknowledging", () => {
  test("stops reminders until it is undone, and later messages name the person", async () => {
    const { hook, act, advance, readStatus, job, later } = await createWorld();
    await using _ = hook;
    await advance(2);
    expect(hook.listTitles()).toEqual(["monitor.down A", "monitor.reminder A"]);
    // The second reminder is already on its way.
    await later();
    const { status: code, json } = await act("acknowledge");
    expect([code, json.data.status]).toEqual([200, "acknowledged"]);
    const name = json.data.acknowledgments[0].name as string;
    await advance(10);
    expect(hook.asked).toHaveLength(3);
    expect((await act("unacknowledge")).json.data).toMatchObject({
      status: "open",
      acknowledgments: [],
    });
    await advance(2);
    expect(hook.asked.length).toBeGreaterThan(3);
    await act("acknowledge");
    await later();
    const before = hook.alerts().length;
    await job.changeState("up");
    await later();
    expect(hook.alerts().slice(before)).toMatchObject([
      { type: "monitor.up", data: { acknowledgedBy: [name] } },
    ]);
    expect(await readStatus()).toBe("resolved");
    expect((await act("acknowledge")).status).toBe(409);
  });

  test("is possible for several people, once each, and is on the timeline and in the audit log", async () => {
    const world = await createWorld();
    await using _ = world.hook;
    const { act, id, readAlert } = world;
    const ada = await signInMember(world, "admin", { name: "Ada" });
    const ben = await signInMember(world, "member", { name: "Ben" });
    const vic = await signInMember(world, "viewer", { name: "Vic" });
    const post = (person: typeof ada, action: string, body?: object) =>
      person.page("POST", `/dashboard/api/v1/alerts/${id}/${action}`, body && { body });
    expect((await post(ada, "acknowledge")).status).toBe(200);
    expect((await post(ada, "acknowledge")).status).toBe(200);
    expect((await post(ben, "acknowledge")).status).toBe(200);
    for (const action of ["acknowledge", "unacknowledge"])
      expect((await post(vic, action)).status).toBe(403);
    expect((await post(vic, "notes", { message: "Hi." })).status).toBe(403);
    const alert = await readAlert(id);
    expect(alert.acknowledgments.map(({ name }: Json) => name)).toEqual(["Ada", "Ben"]);
    const attention = (await ada.page("GET", "/dashboard/attention")).json.data;
    expect(attention).toMatchObject([{ alertId: alert.id, acknowledgedBy: ["Ada", "Ben"] }]);
    const entries = alert.timeline.filter(({ type }: Json) => type === "acknowledged");
    expect(entries.map(({ actor }: Json) => actor.name)).toEqual(["Ada", "Ben"]);
    const log = (await ada.page("GET", `/dashboard/audit-log?subjectId=${id}`)).json.data;
    expect(log.map(({ action, subjectName }: Json) => [action, subjectName])).toEqual([
      ["alert.acknowledged", "A"],
      ["alert.acknowledged", "A"],
    ]);
    expect((await act("notes", { message: "The provider works on it." })).status).toBe(201);
    expect((await readAlert(id)).timeline).toContainEqual(
      expect.objectContaining({ type: "noted", message: "The provider works on it." }),
    );
  });

  test("is an internal note of the open incident that names the monitor", async () => {
    const { hook, act, api } = await createWorld({ autoIncidentSeverity: "major" });
    await using _ = hook;
    await act("acknowledge");
    await act("snooze", { until: "2026-11-21T00:00:00Z" });
    const [incident] = (await api("GET", "/api/v1/incidents?open=true")).json.data;
    const { notes, updates } = (await api("GET", `/api/v1/incidents/${incident.id}`)).json.data;
    expect(notes.map(({ message }: Json) => message)).toEqual(
      expect.arrayContaining([
        "Acknowledged the alert “A is down”.",
        "Snoozed the alert “A is down” until 2026-11-21 00:00 UTC.",
      ]),
    );
    expect(JSON.stringify(updates)).not.toContain("Acknowledged");
  });

  test("outlives a restart, and survives that the monitor gets worse", async () => {
    const world = await createWorld();
    await using _ = world.hook;
    const { act, job, later, readStatus, restart } = world;
    await job.changeState("slow");
    await later();
    await act("acknowledge");
    restart();
    await job.changeState("down");
    await later();
    expect(await readStatus()).toBe("acknowledged");
    expect(world.hook.alerts().at(-1)).toMatchObject({
      type: "monitor.down",
      data: { acknowledgedBy: [expect.any(String)] },
    });
  });
});

describe("a snooze", () => {
  test("is silent until it ends, then the alert returns without its acknowledgments", async () => {
    const { hook, act, advance, readStatus, time, id, readAlert } = await createWorld();
    await using _ = hook;
    await act("acknowledge");
    const until = new Date(time.now + 30 * minute).toISOString();
    expect((await act("snooze", { until })).json.data).toMatchObject({
      status: "snoozed",
      snoozedUntil: until,
    });
    await advance(28);
    expect([hook.asked.length, await readStatus()]).toEqual([1, "snoozed"]);
    await advance(3);
    expect(await readStatus()).toBe("open");
    expect(hook.listTitles().slice(0, 2)).toEqual(["monitor.down A", "monitor.reminder A"]);
    const alert = await readAlert(id);
    expect([alert.acknowledgments, alert.snoozedUntil]).toEqual([[], null]);
    expect(alert.timeline.map(({ type }: Json) => type)).toContain("returned");
  });

  test("that outlasts the problem sends nothing", async () => {
    const { hook, act, advance, readStatus, time, job } = await createWorld();
    await using _ = hook;
    await act("snooze", { until: new Date(time.now + 5 * minute).toISOString() });
    await job.changeState("up");
    await advance(10);
    expect(hook.listTitles()).toEqual(["monitor.down A", "monitor.up A"]);
    expect(await readStatus()).toBe("resolved");
  });

  test("ends with a message about an incident and a degraded monitor, too", async () => {
    const { hook, act, advance, time, job, later, api, readAlerts } = await createWorld();
    await using _ = hook;
    await job.changeState("slow");
    await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
    await later();
    const until = new Date(time.now + 5 * minute).toISOString();
    await act("snooze", { until });
    const incident = (await readAlerts()).at(-1);
    await api("POST", `/api/v1/alerts/${incident.id}/snooze`, { body: { until } });
    const before = hook.alerts().length;
    await advance(7);
    expect(hook.listTitles().slice(before).toSorted()).toEqual([
      "incident.updated Slow",
      "monitor.degraded A",
    ]);
  });

  test("needs a time within the next 30 days", async () => {
    const { hook, act, time } = await createWorld();
    await using _ = hook;
    for (const until of [time.now, time.now + 31 * 24 * 60 * minute])
      expect((await act("snooze", { until: new Date(until).toISOString() })).status).toBe(422);
    expect((await act("snooze", {})).status).toBe(422);
    expect((await act("snooze", { until: "tomorrow" })).status).toBe(422);
  });
});

test("a full timeline accepts no note, and prevents no other action", async () => {
  const { hook, act, id, store, readStatus, readAlert, database, time } = await createWorld();
  await using _ = hook;
  await store.atomic([
    sql`insert into alert_timeline (organization_id, record_id, at, type)
      select organization_id, r.id, at, 'changed'
      from alert_records r, json_each(${JSON.stringify(Array(999).fill(0))})`,
  ]);
  const readTypes = async () => {
    const timeline: Json[] = (await readAlert(id)).timeline;
    return timeline.map(({ type }) => type as string).filter((type) => type !== "changed");
  };
  const until = new Date(time.now + 30 * minute).toISOString();
  const before = await readTypes();
  expect((await act("notes", { message: "The last one." })).status).toBe(201);
  expect((await act("notes", { message: "Too many." })).status).toBe(409);
  expect((await act("acknowledge")).status).toBe(200);
  expect(await readStatus()).toBe("acknowledged");
  expect((await act("unacknowledge")).status).toBe(200);
  expect((await act("revoke-links")).status).toBe(200);
  expect((await act("snooze", { until })).status).toBe(200);
  expect(await readStatus()).toBe("snoozed");
  expect((await readTypes()).toSorted()).toEqual([...before, "noted"].toSorted());
  const audit = database
    .query<{ action: string }, []>("SELECT action FROM audit_entries ORDER BY seq DESC LIMIT 4")
    .all();
  expect(audit.map(({ action }) => action)).toEqual([
    "alert.snoozed",
    "alert.links-revoked",
    "alert.unacknowledged",
    "alert.acknowledged",
  ]);
});

test("no action works on an alert of another organization, or on an unknown one", async () => {
  const { hook, act, theirs, readStatus, api } = await createWorld();
  await using _ = hook;
  for (const [action, body] of [
    ["acknowledge", undefined],
    ["unacknowledge", undefined],
    ["snooze", { until: "2026-11-21T00:00:00Z" }],
    ["notes", { message: "Hello." }],
  ] as const) {
    expect((await act(action, body, theirs.api)).status).toBe(404);
    const unknown = await api("POST", `/api/v1/alerts/${unknownId}/${action}`, body && { body });
    expect(unknown.status).toBe(404);
  }
  expect(await readStatus()).toBe("open");
});
