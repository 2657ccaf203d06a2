/** Notices before shifts: once per shift, also across restarts, edits and overrides. */
import { describe, expect, test } from "bun:test";
import { findNotices } from "../../src/alerting/schedules/rules.ts";
import { hourMs } from "../../src/core/time/clock.ts";
import { createPersonWithPhone } from "../support/on-call.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";

/** Ada and Ben take turns by the day at noon UTC; the clock shows 10:00. */
async function createWorld(noticeHours: number | null = 6) {
  const pager = await createPager();
  const ada = await createPersonWithPhone(pager, "Ada");
  const ben = await createPersonWithPhone(pager, "Ben");
  const { api } = pager;
  const layer = {
    personIds: [ada.id, ben.id],
    unit: "days",
    start: "2026-11-20T12:00",
  };
  const { json, status, text } = await api("POST", "/api/v1/schedules", {
    body: { name: "Platform", timeZone: "UTC", layers: [layer], noticeHours },
  });
  if (status !== 201) throw new Error(text);
  const path = `/api/v1/schedules/${json.data.id}`;
  /** Advances the clock by hours, and lists the shifts that were announced since, by person. */
  const seen = { ada: 0, ben: 0 };
  const advance = async (hours: number) => {
    for (let i = 0; i < hours; i++) await pager.later(3_600);
    await pager.later(10);
    const listNew = (name: "ada" | "ben") => {
      const alerts = { ada, ben }[name]
        .received()
        .flatMap((one) => (one.type === "digest" ? one.data.alerts : [one]));
      const fresh = alerts.slice(seen[name]);
      seen[name] = alerts.length;
      return fresh.map(({ type, data }) => `${name} ${type} ${data.shift.startsAt.slice(5, 16)}`);
    };
    return [...listNew("ada"), ...listNew("ben")];
  };
  return { ...pager, ada, ben, layer, path, advance };
}

test("the person of a shift is notified once before it, even after a restart", async () => {
  const world = await createWorld();
  const { advance, restart, ada } = world;
  expect(await advance(0)).toEqual(["ada shift.starting 11-20T12:00"]);
  const [notice] = ada.received();
  expect(notice.data.message).toBe(
    "Ada is on call in Platform from 2026-11-20 12:00 until 2026-11-21 12:00 (UTC).",
  );
  expect(notice.data.acknowledgeUrl).toBeUndefined();
  expect(notice.data.url).toEndWith(world.path.replace("/api/v1/schedules", "/on-call"));
  restart();
  expect(await advance(19)).toEqual([]);
  expect(await advance(2)).toEqual(["ben shift.starting 11-21T12:00"]);
  restart();
  expect(await advance(24)).toEqual(["ada shift.starting 11-22T12:00"]);
});

test("an edit or an override announces a shift again only if its person or start changed", async () => {
  const { advance, api, path, layer, ada, ben } = await createWorld(30);
  expect(await advance(0)).toEqual([
    "ada shift.starting 11-20T12:00",
    "ben shift.starting 11-21T12:00",
  ]);
  await api("PATCH", path, { body: { name: "Platform 2", noticeHours: 29 } });
  expect(await advance(0)).toEqual([]);
  // Ada starts an hour later.
  await api("PATCH", path, { body: { layers: [{ ...layer, start: "2026-11-20T13:00" }] } });
  expect(await advance(0)).toEqual([
    "ada shift.starting 11-20T13:00",
    "ben shift.starting 11-21T13:00",
  ]);
  // Ben takes the first half of Ada's shift. She starts later, and he is on call twice.
  const override = await api("POST", `${path}/overrides`, {
    body: { personId: ben.id, startsAt: "2026-11-20T13:00:00Z", endsAt: "2026-11-20T20:00:00Z" },
  });
  expect(await advance(0)).toEqual([
    "ada shift.starting 11-20T20:00",
    "ben shift.starting 11-20T13:00",
  ]);
  // Everything is as before, and known.
  await api("DELETE", `${path}/overrides/${override.json.data.id}`);
  expect(await advance(1)).toEqual([]);
  // The override of the same person changes nothing.
  await api("POST", `${path}/overrides`, {
    body: { personId: ada.id, startsAt: "2026-11-20T15:00:00Z", endsAt: "2026-11-20T16:00:00Z" },
  });
  expect(await advance(1)).toEqual([]);
  await api("PATCH", path, { body: { noticeHours: null } });
  expect(await advance(48)).toEqual([]);
});

test("a person without a verified contact method is notified after the verification", async () => {
  const world = await createWorld(null);
  const { api, path, layer, later, advance, database } = world;
  const cat = await signInMember(world, "member", { name: "Cat" });
  await api("PATCH", path, {
    body: { noticeHours: 100, layers: [{ ...layer, personIds: [cat.id, world.ada.id] }] },
  });
  expect(await advance(0)).toEqual([
    "ada shift.starting 11-21T12:00",
    "ada shift.starting 11-23T12:00",
  ]);
  expect(database.query("select count(*) as n from schedule_notices").get()).toEqual({ n: 2 });
  await using inbox = await world.inbox();
  database.run(
    "update alert_channels set person_id = ?, after_minutes = 0, verified_at = ? where id = ?",
    [cat.id, "2026-11-20T10:00:00.000Z", inbox.id],
  );
  for (let hour = 0; hour < 25; hour++) await later(3_600);
  const alerts = inbox.alerts();
  expect(alerts.map(({ data }) => data.shift.startsAt)).toContain("2026-11-22T12:00:00.000Z");
});

describe("a notice that quiet hours would hold until its shift has started", () => {
  const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
  const quietHours = { timeZone: "UTC", hours: [{ days, from: "22:00", until: "13:00" }] };

  test("is sent before the quiet hours", async () => {
    const { advance, api, ben, path, time } = await createWorld();
    expect(await advance(1)).toEqual(["ada shift.starting 11-20T12:00"]);
    await api("PATCH", `/api/v1/contact-methods/${ben.methodId}`, { body: { quietHours } });
    await api("PATCH", path, { body: { name: "Platform 2" } });
    expect(await advance(9)).toEqual([]);
    // On the day before, instead of at 06:00.
    time.now = Date.parse("2026-11-20T21:59:00Z");
    expect(await advance(0)).toEqual(["ben shift.starting 11-21T12:00"]);
    expect(await advance(20)).toEqual([]);
  });

  test("is dropped with an explanation if they include the present", async () => {
    const { advance, api, ada, ben, path, readAlert, readMessages } = await createWorld(null);
    for (const { methodId } of [ada, ben])
      await api("PATCH", `/api/v1/contact-methods/${methodId}`, { body: { quietHours } });
    await api("PATCH", path, { body: { noticeHours: 6 } });
    expect(await advance(5)).toEqual([]);
    const notice = readMessages().find(({ type }) => type === "shift.starting");
    expect((await readAlert(notice.id)).timeline.at(-1)).toMatchObject({
      type: "skipped",
      message: "The shift had started before the notice could be sent.",
    });
  });
});

test("a power cut while a notice is written neither loses nor repeats it", async () => {
  const { advance, crashBefore, alerts, ada } = await createWorld();
  crashBefore("schedule_notices");
  await alerts.runOnce().catch(() => {});
  expect(ada.received()).toEqual([]);
  expect(await advance(1)).toEqual(["ada shift.starting 11-20T12:00"]);
  expect(await advance(1)).toEqual([]);
});

test("adjacent shifts of a person are one, and a schedule is examined at least daily", () => {
  const schedule = {
    timeZone: "UTC",
    layers: [
      {
        name: "Solo",
        personIds: ["ada"],
        every: 1,
        unit: "days" as const,
        start: "2026-01-01T00:00",
        end: null,
        hours: [],
      },
    ],
    overrides: [
      {
        id: "1",
        personId: "ada",
        startsAt: "2026-11-20T12:00:00.000Z",
        endsAt: "2026-11-20T14:00:00.000Z",
      },
    ],
  };
  const now = Date.parse("2026-11-20T10:00:00Z");
  expect(findNotices(schedule, 24, new Set(), now)).toEqual({ due: [], nextAt: now + 24 * hourMs });
});
