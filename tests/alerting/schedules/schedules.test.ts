/** Schedules over REST: layers, overrides, swaps, shifts, the calendar, and what a person in a schedule prevents. */
import { scheduleBounds } from "../../../src/core/limits.ts";
import { describeChange } from "../../../web/pages/settings/organization/audit-values.ts";
import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { createPerson, signInMember } from "../../support/people.ts";

const path = "/api/v1/schedules";

/** An appliance on Monday, 30 November 2026, 12:00 in Berlin, with a weekly rotation of Ann and Ben. */
async function createOnCallWorld() {
  const appliance = await testAppliance();
  appliance.time.now = Date.parse("2026-11-30T11:00:00Z");
  const { ours, theirs } = appliance;
  const { api, id: organizationId } = ours;
  const ann = await createPerson(appliance, organizationId, "member", { name: "Ann" });
  const ben = await createPerson(appliance, organizationId, "member", { name: "Ben" });
  const { json } = await api("POST", path, {
    body: {
      name: "Platform",
      timeZone: "Europe/Berlin",
      layers: [{ personIds: [ann.id, ben.id], start: "2026-11-30T09:00" }],
    },
  });
  const schedule = json.data;
  const ownPath = `${path}/${schedule.id}`;
  const readShifts = async (from: string, until: string) =>
    (await api("GET", `${ownPath}/shifts?from=${from}&until=${until}`)).json.data.map(
      (shift: { startsAt: string; personName: string | null }) =>
        `${shift.startsAt.slice(5, 16)} ${shift.personName}`,
    );
  return { appliance, api, ours, theirs, ann, ben, schedule, own: ownPath, readShifts };
}

test("a schedule names who is on call now, at a time, and next", async () => {
  const { api, own, schedule, ann, ben } = await createOnCallWorld();
  expect(schedule).toMatchObject({
    name: "Platform",
    description: "",
    layers: [{ name: "Rotation", every: 1, unit: "weeks", end: null, hours: [] }],
  });
  const onCall = (await api("GET", `${own}/on-call`)).json.data;
  expect(onCall).toMatchObject({
    scheduleName: "Platform",
    at: "2026-11-30T11:00:00.000Z",
    personId: ann.id,
    personName: "Ann",
    overrideId: null,
    until: "2026-12-07T08:00:00.000Z",
    next: { personName: "Ben", startsAt: "2026-12-07T08:00:00.000Z" },
  });
  const later = await api("GET", `/api/v1/on-call?at=2026-12-08T00:00:00Z`);
  expect(later.json.data).toMatchObject([{ scheduleId: schedule.id, personId: ben.id }]);
  const before = await api("GET", `${own}/on-call?at=2026-11-01T00:00:00Z`);
  expect(before.json.data).toMatchObject({ personId: null, next: { personName: "Ann" } });
});

test("an override puts a person on call from now on, and its removal ends that", async () => {
  const { api, own, ben, readShifts } = await createOnCallWorld();
  const body = {
    personId: ben.id,
    // A phone whose clock is slow.
    startsAt: "2026-11-30T10:58:00Z",
    endsAt: "2026-11-30T13:00:00+00:00",
  };
  const { status, json } = await api("POST", `${own}/overrides`, { body });
  expect([status, json.data.startsAt]).toEqual([201, "2026-11-30T11:00:00.000Z"]);
  const span = ["2026-11-30T08:00:00Z", "2026-12-01T00:00:00Z"] as const;
  expect(await readShifts(...span)).toEqual([
    "11-30T08:00 Ann",
    "11-30T11:00 Ben",
    "11-30T13:00 Ann",
  ]);
  const listed = await api("GET", `${own}/overrides`);
  expect(listed.json.data).toEqual([json.data]);
  await api("DELETE", `${own}/overrides/${json.data.id}`);
  expect(await readShifts(...span)).toEqual(["11-30T08:00 Ann"]);
  expect((await api("DELETE", `${own}/overrides/${json.data.id}`)).status).toBe(404);
});

test("a swap exchanges two shifts, and is rejected where nobody or several people are on call", async () => {
  const { api, own, readShifts } = await createOnCallWorld();
  const first = { startsAt: "2026-12-05T00:00:00Z", endsAt: "2026-12-06T00:00:00Z" };
  const second = { startsAt: "2026-12-08T00:00:00Z", endsAt: "2026-12-09T00:00:00Z" };
  const swap = (body: object) => api("POST", `${own}/swaps`, { body });
  expect((await swap({ first, second })).status).toBe(201);
  expect(await readShifts("2026-12-04T00:00:00Z", "2026-12-10T00:00:00Z")).toEqual([
    "12-04T00:00 Ann",
    "12-05T00:00 Ben",
    "12-06T00:00 Ann",
    "12-07T08:00 Ben",
    "12-08T00:00 Ann",
    "12-09T00:00 Ben",
  ]);
  const mixed = { startsAt: "2026-12-07T00:00:00Z", endsAt: "2026-12-07T12:00:00Z" };
  const { status, json } = await swap({ first: mixed, second });
  expect([status, json.error.details]).toEqual([
    422,
    [{ path: "first", message: "must be a time with one person on call" }],
  ]);
});

test.each([
  [{ layers: [{ personIds: [], start: "2026-11-30T09:00" }] }, "layers[0].personIds"],
  [{ layers: [{ start: "2026-11-31T09:00" }] }, "layers[0].personIds"],
  [{ timeZone: "+01:00" }, "timeZone"],
])("invalid fields are named: %j", async (patch, field) => {
  const { api, own } = await createOnCallWorld();
  const { status, json } = await api("PATCH", own, { body: patch });
  expect([status, json.error.details[0].path]).toEqual([422, field]);
});

test("people of other organizations can't be in a schedule, nor on call by an override", async () => {
  const { appliance, api, own, theirs } = await createOnCallWorld();
  const foreign = await createPerson(appliance, theirs.id, "member");
  const layers = [{ personIds: [foreign.id], start: "2026-11-30T09:00" }];
  const bodies: [string, string, object][] = [
    ["POST", path, { name: "Foreign", layers }],
    ["PATCH", own, { layers }],
    [
      "POST",
      `${own}/overrides`,
      {
        personId: foreign.id,
        startsAt: "2026-12-01T00:00:00Z",
        endsAt: "2026-12-02T00:00:00Z",
      },
    ],
  ];
  for (const [method, url, body] of bodies)
    expect((await api(method, url, { body })).status).toBe(404);
  expect((await theirs.api("GET", own)).status).toBe(404);
  expect((await theirs.api("GET", "/api/v1/on-call")).json.data).toEqual([]);
});

test("a person in a schedule or an override that is not over can't be removed from the organization", async () => {
  const world = await createOnCallWorld();
  const { appliance, ours, api, own, schedule, ann } = world;
  const { page: client } = await signInMember(appliance, "owner");
  const remove = (id: string) => client("DELETE", `/dashboard/people/${id}`);
  const { status, json } = await remove(ann.id);
  expect([status, json.error.message]).toEqual([
    409,
    "The person is used by the schedule Platform. Remove it there first.",
  ]);
  expect(json.error.details).toEqual([{ path: `schedules/${schedule.id}`, message: "Platform" }]);
  const cat = await createPerson(appliance, ours.id, "member", { name: "Cat" });
  const body = {
    personId: cat.id,
    startsAt: "2026-11-30T11:00:00Z",
    endsAt: "2026-11-30T12:00:00Z",
  };
  await api("POST", `${own}/overrides`, { body });
  expect((await remove(cat.id)).status).toBe(409);
  appliance.time.now = Date.parse("2026-11-30T12:00:00Z");
  expect((await remove(cat.id)).status).toBe(200);
  await api("PATCH", own, { body: { layers: [] } });
  expect((await remove(ann.id)).status).toBe(200);
});

test("members override, and only admins change schedules", async () => {
  const { appliance, own, ben } = await createOnCallWorld();
  const { page: client } = await signInMember(appliance, "member");
  const url = `/dashboard${own}`;
  const body = {
    personId: ben.id,
    startsAt: "2026-12-01T00:00:00Z",
    endsAt: "2026-12-02T00:00:00Z",
  };
  expect((await client("POST", `${url}/overrides`, { body })).status).toBe(201);
  expect((await client("PATCH", url, { body: { name: "Mine" } })).status).toBe(403);
  expect((await client("POST", `${url}/calendar/renew`)).status).toBe(403);
});

test("the calendar has its secret address, which can be renewed and which read keys don't see", async () => {
  const { appliance, api, ours, own, schedule } = await createOnCallWorld();
  const anyone = appliance.stranger;
  const pathOf = (url: string) => new URL(url).pathname;
  const calendar = await anyone("GET", pathOf(schedule.calendarUrl));
  expect(calendar.headers.get("Content-Type")).toBe("text/calendar; charset=utf-8");
  expect(calendar.text).toContain("SUMMARY:On call: Ann\r\n");
  expect(calendar.text).toContain("DTSTART:20261130T080000Z\r\nDTEND:20261207T080000Z\r\n");
  expect(calendar.text).toContain("SUMMARY:Nobody on call\r\n");
  expect((await api("GET", own)).json.data.calendarUrl).toBe(schedule.calendarUrl);
  expect((await ours.reader("GET", own)).json.data.calendarUrl).toBe(null);
  const renewed = (await api("POST", `${own}/calendar/renew`)).json.data;
  expect(renewed.calendarUrl).not.toBe(schedule.calendarUrl);
  expect((await anyone("GET", pathOf(schedule.calendarUrl))).status).toBe(404);
  expect((await anyone("GET", pathOf(renewed.calendarUrl))).status).toBe(200);
});

test("the audit log names people, and describes layers in words", async () => {
  const { appliance, api, own, ann, ben } = await createOnCallWorld();
  await api("PATCH", own, {
    body: {
      layers: [
        {
          name: "Nights",
          personIds: [ben.id],
          every: 12,
          unit: "hours",
          start: "2026-12-01T20:00",
          hours: [{ days: ["monday", "sunday"], from: "20:00", until: "08:00" }],
        },
      ],
    },
  });
  const { page: client } = await signInMember(appliance, "owner");
  const describeUpdate = async () => {
    const [entry] = (await client("GET", "/dashboard/audit-log?noun=schedule")).json.data;
    return describeChange(entry.changes[0], entry.names);
  };
  const words: [string, string] = [
    "Nights: Ben; every 12 hours from 1 Dec 2026, 20:00; Mon, Sun 20:00–08:00",
    "Rotation: Ann, Ben; every week from 30 Nov 2026, 09:00",
  ];
  expect(await describeUpdate()).toEqual(words);
  expect((await client("DELETE", `/dashboard/people/${ann.id}`)).status).toBe(200);
  expect(await describeUpdate()).toEqual(words);
});

test.each([
  path,
  "OWN/on-call",
  "OWN/shifts",
  "/api/v1/on-call",
  "/api/v1/on-call/readiness",
  "/api/v1/escalation-policies",
  "/api/v1/monitors/MONITOR/alert-preview",
])(
  "GET %s: organizations take turns, and too many waiting requests are rejected",
  async (route) => {
    const { api, own, theirs } = await createOnCallWorld();
    const body = { type: "manual", name: "Shop" };
    const monitor = (await api("POST", "/api/v1/monitors", { body })).json.data;
    const finished: string[] = [];
    const read = async (name: string, client: typeof api, readPath: string) => {
      const { status } = await client("GET", readPath);
      finished.push(name);
      return status;
    };
    const readPath = route.replace("OWN", own).replace("MONITOR", monitor.id);
    const ours = Array.from({ length: scheduleBounds.waiting.value + 50 }, () =>
      read("ours", api, readPath),
    );
    expect(await read("theirs", theirs.api, "/api/v1/on-call")).toBe(200);
    expect(new Set(await Promise.all(ours))).toEqual(new Set([200, 429]));
    expect(finished.indexOf("theirs")).toBeLessThan(finished.lastIndexOf("ours"));
  },
);
