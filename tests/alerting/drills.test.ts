/** Drills: pages to practice, once or every month, and their acknowledgments. */
import { describe, expect, test } from "bun:test";
import { findDrillTime, isWithinDrillHours } from "../../src/alerting/drills/rules.ts";
import type { MonthlyDrill } from "../../src/alerting/drills/schema.ts";
import { prepareRestoredAlerts } from "../../src/alerting/deciding/restored-alerts.ts";
import { examineDrills } from "../../src/operations/diagnostics/on-call.ts";
import type { Json } from "../support/json.ts";
import { createPersonWithPhone } from "../support/on-call.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";

/** A policy that pages Ada at once and an inbox after 10 minutes. */
async function createWorld(policy: object = {}) {
  const pager = await createPager();
  const ada = await createPersonWithPhone(pager, "Ada");
  const inbox = await pager.inbox({ name: "Ops", default: true });
  const { api } = pager;
  const steps = [
    { afterMinutes: 0, targets: [{ type: "person", id: ada.id }] },
    { afterMinutes: 10, targets: [{ type: "channel", id: inbox.id }] },
  ];
  const { json, status, text } = await api("POST", "/api/v1/escalation-policies", {
    body: { name: "Shop", steps, ...policy },
  });
  if (status !== 201) throw new Error(text);
  const path = `/api/v1/escalation-policies/${json.data.id}`;
  /** Advances the clock in steps of a minute. */
  const advance = async (minutes: number) => {
    for (let i = 0; i < minutes; i++) await pager.later(60);
  };
  const start = (body?: object) => api("POST", `${path}/drill`, body && { body });
  const listDrills = async () => pager.readAlerts("&type=drill");
  const examine = () =>
    examineDrills({ store: pager.appliance.store, clock: pager.appliance.clock });
  return {
    ...pager,
    ada,
    inbox,
    path,
    policyId: json.data.id as string,
    advance,
    start,
    listDrills,
    examine,
  };
}

describe("a drill of a policy", () => {
  test("pages step by step, is marked, and ends with an acknowledgment by the link", async () => {
    const world = await createWorld();
    const { ada, inbox, start, advance, listDrills, api, examine, readMessages } = world;
    const preview = (await api("GET", `${world.path}/drill-preview`)).json.data;
    expect(preview.steps.map(({ step, message }: Json) => [step, message])).toEqual([
      [1, "Ada"],
      [2, "Ops"],
      [null, "Ops"],
    ]);
    const created = await start();
    expect([created.status, created.json.data.status, created.json.data.title]).toEqual([
      201,
      "open",
      "Drill: Shop",
    ]);
    expect((await start()).json.error).toMatchObject({
      code: "CONFLICT",
      message: "A drill of Shop is already running.",
    });
    await advance(1);
    const [page] = ada.received();
    expect([page.type, page.data.drill.name, page.data.escalation.step]).toEqual([
      "drill",
      "Shop",
      1,
    ]);
    expect(page.data.message).toStartWith("This is a drill");
    expect(inbox.received()).toEqual([]);
    const link = new URL(page.data.acknowledgeUrl);
    const response = await world.stranger("POST", link.pathname);
    expect(response.status).toBe(200);
    // The second press shows who acknowledged it, and when.
    for (const method of ["POST", "GET"]) {
      const again = await world.stranger(method, link.pathname);
      expect([again.status, again.text.includes("<button>")]).toEqual([200, false]);
      expect(again.text).toContain("Acknowledged by Ada.");
      expect(again.text).toContain("Acknowledged on 2026-11-20 10:01 UTC");
    }
    await advance(30);
    expect([ada.received().length, inbox.received().length]).toEqual([1, 0]);
    const [drill] = await listDrills();
    expect(drill).toMatchObject({
      status: "resolved",
      resolvedBecause: "acknowledged",
      secondsToAcknowledge: 60,
      subject: { type: "policy", id: world.policyId },
      acknowledgments: [{ type: "link", name: "Ada" }],
    });
    expect(await examine()).toEqual([]);
    // A drill opens no incident, and nothing reports its end.
    expect((await api("GET", "/api/v1/incidents")).json.data).toEqual([]);
    expect(readMessages().filter(({ type }) => type !== "test")).toHaveLength(1);
    const audit = world.database
      .query<{ action: string }, []>(
        "select action from audit_entries where action like '%.drilled'",
      )
      .all();
    expect(audit).toEqual([{ action: "escalation-policy.drilled" }]);
  });

  test("that nobody acknowledges ends after its last step, and is a problem until the next one", async () => {
    const world = await createWorld();
    const { ada, inbox, start, advance, listDrills, readAlert, examine, restart } = world;
    await start();
    await advance(5);
    restart();
    await advance(25);
    expect([ada.received().length, inbox.listTitles()]).toEqual([1, ["drill"]]);
    const [drill] = await listDrills();
    expect(drill).toMatchObject({ resolvedBecause: "unacknowledged", secondsToAcknowledge: null });
    const { timeline } = await readAlert(drill?.id);
    expect(
      timeline.filter(({ type }: Json) => type === "escalated").map(({ message }: Json) => message),
    ).toEqual(["Step 1 of 2: Ada.", "Step 2 of 2: Ops.", "Nobody acknowledged."]);
    expect((await examine()).map(({ problem }) => problem?.message)).toEqual([
      expect.stringContaining("Nobody acknowledged the drill of Shop on 2026-11-20."),
    ]);
    const again = (await start()).json.data;
    // A drill that runs has no result yet.
    expect(await examine()).toHaveLength(1);
    await world.api("POST", `/api/v1/alerts/${again.id}/acknowledge`);
    expect(await examine()).toEqual([]);
  });

  test("ends when the policy is deleted, and needs steps", async () => {
    const { api, path, start, advance, listDrills, ada, examine } = await createWorld();
    await start();
    expect((await api("DELETE", path)).status).toBe(200);
    await advance(1);
    expect((await listDrills())[0]).toMatchObject({ resolvedBecause: "deleted" });
    expect([ada.received().length <= 1, await examine()]).toEqual([true, []]);
    const { json } = await api("POST", "/api/v1/escalation-policies", { body: { name: "None" } });
    const missingPolicy = `/api/v1/escalation-policies/${json.data.id}`;
    expect((await api("POST", `${missingPolicy}/drill`)).status).toBe(409);
    expect((await api("GET", `${missingPolicy}/drill-preview`)).status).toBe(409);
  });
});

test("a drill is over after the restore of a backup", async () => {
  const { start, advance, inbox, listDrills, store, time, examine } = await createWorld();
  await start();
  await advance(1);
  await store.atomic(prepareRestoredAlerts(time.now));
  await advance(15);
  expect((await listDrills())[0]).toMatchObject({ resolvedBecause: "deleted" });
  expect([inbox.received(), await examine()]).toEqual([[], []]);
});

describe("a drill of a person", () => {
  test("uses all contact methods of the priority, and waits for the last one", async () => {
    const world = await createWorld();
    const { advance, listDrills } = world;
    await using ben = await createPersonWithPhone(world, "Ben", {
      role: "viewer",
      afterMinutes: 12,
      criticalAfterMinutes: null,
    });
    const path = `/dashboard/api/v1/people/${ben.id}/drill`;
    expect((await ben.page("POST", path, { body: { priority: "normal" } })).status).toBe(201);
    await advance(11);
    expect(ben.received()).toEqual([]);
    await advance(3);
    expect(ben.received().map(({ type, data }) => [type, data.escalation])).toEqual([
      ["drill", undefined],
    ]);
    await advance(1);
    expect((await listDrills())[0]?.status).toBe("open");
    await advance(4);
    expect((await listDrills())[0]).toMatchObject({
      resolvedBecause: "unacknowledged",
      subject: { type: "person", id: ben.id },
    });
    // Nothing reaches Ben at critical priority, so the drill ends at once, and he did not fail.
    await ben.page("POST", path, { body: { priority: "critical" } });
    await advance(1);
    expect((await listDrills()).at(-1)).toMatchObject({ resolvedBecause: "unreached" });
    expect(ben.received()).toHaveLength(1);
  });

  test("notifies again after a snooze, and ends when nobody acknowledges it then", async () => {
    const world = await createWorld();
    const { ada, api, advance, listDrills, time } = world;
    const snooze = async () => {
      const until = new Date(time.now + 3_600_000).toISOString();
      const path = `/api/v1/alerts/${(await listDrills()).at(-1)?.id}`;
      expect((await api("POST", `${path}/snooze`, { body: { until } })).status).toBe(200);
      return path;
    };
    await api("POST", `/api/v1/people/${ada.id}/drill`);
    await advance(1);
    await snooze();
    await advance(59);
    expect(ada.received()).toHaveLength(1);
    await advance(3);
    expect(ada.received()).toHaveLength(2);
    const path = await snooze();
    await advance(1);
    expect((await api("POST", `${path}/unacknowledge`)).status).toBe(200);
    expect((await listDrills()).at(-1)?.status).toBe("open");
    await advance(5);
    expect((await listDrills()).at(-1)).toMatchObject({ resolvedBecause: "unacknowledged" });
    expect(ada.received()).toHaveLength(2);
  });

  test("does not start while quiet hours hold its messages, unless it is critical", async () => {
    const world = await createWorld();
    const { ada, api, advance, path, listDrills, policyId } = world;
    const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    const quietHours = { timeZone: "UTC", hours: [{ days, from: "09:00", until: "18:00" }] };
    const method = `/api/v1/contact-methods/${ada.methodId}`;
    await api("PATCH", method, { body: { quietHours, criticalAfterMinutes: 0 } });
    const startDrill = async (of: string, body: object = {}) => {
      const { status, json } = await api("POST", `${of}/drill`, { body });
      return [status, json.error?.message];
    };
    const person = `/api/v1/people/${ada.id}`;
    expect(await startDrill(person)).toEqual([
      409,
      "Quiet hours hold all messages of a drill of Ada until 18:00 (UTC). Choose critical priority to send it now.",
    ]);
    // The second step of the policy notifies a channel without quiet hours.
    expect((await startDrill(path))[0]).toBe(201);
    await api("POST", `/api/v1/alerts/${(await listDrills())[0]?.id}/acknowledge`);
    const steps = [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }];
    await api("PATCH", path, { body: { steps } });
    expect((await startDrill(path))[0]).toBe(409);
    await api("PATCH", method, { body: { criticalAfterMinutes: null } });
    expect((await startDrill(person))[1]).toEndWith("until 18:00 (UTC).");
    // A monthly drill starts anyway. Nobody failed to acknowledge it.
    await advance(1);
    world.database.run("update escalation_policies set drill = ?, drill_due_at = ? where id = ?", [
      JSON.stringify({ day: 20, from: "10:00", until: "12:00", timeZone: "UTC" }),
      world.time.now,
      policyId,
    ]);
    await advance(2);
    expect((await listDrills()).at(-1)).toMatchObject({ resolvedBecause: "unreached" });
    expect((await world.examine()).map(({ problem }) => problem?.message)).toEqual([
      expect.stringContaining("No message of the drill of Shop on 2026-11-20 arrived."),
    ]);
  });

  test("can be acknowledged by the viewer whom it notified, and by no other viewer", async () => {
    const world = await createWorld();
    const { advance, listDrills } = world;
    await using ben = await createPersonWithPhone(world, "Ben", { role: "viewer" });
    const other = await signInMember(world, "viewer", { name: "Eve" });
    await world.api("POST", `/api/v1/people/${ben.id}/drill`);
    await advance(1);
    const path = `/dashboard/api/v1/alerts/${(await listDrills())[0]?.id}`;
    expect((await ben.page("GET", path)).json.data.notifiedPeople).toEqual([
      { id: ben.id, name: "Ben" },
    ]);
    expect((await other.page("POST", `${path}/acknowledge`)).status).toBe(403);
    for (const action of ["snooze", "unacknowledge"])
      expect((await ben.page("POST", `${path}/${action}`, { body: {} })).status).toBe(403);
    expect((await ben.page("POST", `${path}/acknowledge`)).status).toBe(200);
    expect((await listDrills())[0]).toMatchObject({
      resolvedBecause: "acknowledged",
      acknowledgments: [{ type: "person", name: "Ben" }],
    });
  });

  test("is for oneself, or for admins; only admins drill policies", async () => {
    const world = await createWorld();
    const { ada, path } = world;
    const admin = await signInMember(world, "admin", { name: "Cat" });
    const drill = `/dashboard/api/v1/people/${ada.id}/drill`;
    const other = await signInMember(world, "member", { name: "Dan" });
    expect((await other.page("POST", drill)).status).toBe(403);
    expect((await ada.page("POST", `/dashboard${path}/drill`)).status).toBe(403);
    expect((await ada.page("POST", drill)).status).toBe(201);
    expect((await admin.page("POST", `/dashboard${path}/drill`)).status).toBe(201);
    expect((await world.theirs.api("POST", `${path}/drill`)).status).toBe(404);
    expect((await world.theirs.api("POST", `/api/v1/people/${ada.id}/drill`)).status).toBe(404);
  });
});

const minute = 60_000;
const monthly: MonthlyDrill = {
  day: "tuesday",
  from: "10:00",
  until: "12:00",
  timeZone: "Europe/Berlin",
};

describe("a monthly drill", () => {
  test("starts within its hours, on the day of the month or the first weekday, once a month", () => {
    const days: MonthlyDrill["day"][] = [1, 28, "monday", "sunday"];
    for (const day of days) {
      const drill = { ...monthly, day };
      let at = Date.parse("2026-01-01T00:00:00Z");
      const months: string[] = [];
      for (let i = 0; i < 24; i++) {
        at = findDrillTime("policy", drill, at);
        expect(isWithinDrillHours(drill, at)).toBe(true);
        const local =
          Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("Europe/Berlin");
        expect([10, 11]).toContain(local.hour);
        if (typeof day === "number") expect(local.day).toBe(day);
        else expect([local.day <= 7, local.dayOfWeek]).toEqual([true, day === "monday" ? 1 : 7]);
        months.push(`${local.year}-${local.month}`);
      }
      expect(new Set(months).size).toBe(24);
      // Any earlier time of the same month leads to the same minute.
      expect(findDrillTime("policy", drill, at - 1)).toBe(at);
    }
  });

  test("whose hours a clock change skips starts that much later", () => {
    // On 28 March 2027, 02:00 to 03:00 does not exist in Berlin.
    for (const [from, until, start, end] of [
      ["02:30", "03:00", "01:30", "02:00"],
      ["02:00", "02:59", "01:00", "01:59"],
      ["02:30", "03:15", "01:30", "02:15"],
      ["01:30", "02:30", "00:30", "01:30"],
    ] as const) {
      const drill = { ...monthly, day: 28, from, until };
      const at = findDrillTime("policy", drill, Date.parse("2027-03-02T00:00:00Z"));
      expect(isWithinDrillHours(drill, at)).toBe(true);
      const time = new Date(at).toISOString();
      expect([time >= `2027-03-28T${start}`, time < `2027-03-28T${end}`]).toEqual([true, true]);
    }
  });

  test("is started by the engine, is not repeated after an edit, and is left out while off", async () => {
    const world = await createWorld({ drill: monthly });
    const { time, later, listDrills, api, path, policyId, ada } = world;
    const findNextDrill = () => findDrillTime(policyId, monthly, time.now);
    time.now = findNextDrill() - minute;
    await later(30);
    expect(await listDrills()).toEqual([]);
    await later(60);
    await later(10);
    expect(await listDrills()).toHaveLength(1);
    expect(ada.received()[0]?.data.drill.name).toBe("Shop");
    expect((await api("PATCH", path, { body: { name: "Shop 2" } })).status).toBe(200);
    await api("POST", `/api/v1/alerts/${(await listDrills())[0]?.id}/acknowledge`);
    for (let hour = 0; hour < 3; hour++) await later(3_600);
    expect(await listDrills()).toHaveLength(1);
    // Off during the hours of the next month.
    time.now = findNextDrill() + 3 * 60 * minute;
    await later(60);
    expect(await listDrills()).toHaveLength(1);
    time.now = findNextDrill();
    await later(10);
    expect(await listDrills()).toHaveLength(2);
    await api("PATCH", path, { body: { drill: null } });
    await api("POST", `/api/v1/alerts/${(await listDrills()).at(-1)?.id}/acknowledge`);
    time.now = findNextDrill();
    await later(10);
    expect(await listDrills()).toHaveLength(2);
  });

  test("that was planned while the clock was years ahead is planned again", async () => {
    const world = await createWorld({ drill: monthly });
    const { time, later, listDrills, policyId } = world;
    const start = time.now;
    time.now += 800 * 24 * 60 * minute;
    await later(10);
    time.now = start;
    await later(10);
    time.now = findDrillTime(policyId, monthly, start);
    await later(10);
    expect(await listDrills()).toHaveLength(1);
  });

  test("of a person is started by the engine, and ends with the membership", async () => {
    const world = await createWorld();
    const { time, later, advance, listDrills, api } = world;
    await using ben = await createPersonWithPhone(world, "Ben");
    const path = `/api/v1/people/${ben.id}`;
    const drill = { drill: monthly };
    expect((await api("GET", `${path}/monthly-drill`)).json.data).toEqual({ drill: null });
    for (let i = 0; i < 2; i++)
      expect((await api("PUT", `${path}/monthly-drill`, { body: drill })).json.data).toEqual(drill);
    const readiness = (await api("GET", "/api/v1/on-call/readiness")).json.data;
    expect(readiness.people.find(({ id }: Json) => id === ben.id)).toMatchObject({
      uses: [],
      ...drill,
    });
    const findNextDrill = () => findDrillTime(ben.id, monthly, time.now);
    time.now = findNextDrill() - minute;
    await later(30);
    expect(await listDrills()).toEqual([]);
    await later(60);
    await later(10);
    expect(ben.received()[0]?.data.drill).toEqual({ type: "person", id: ben.id, name: "Ben" });
    await advance(10);
    expect(await listDrills()).toMatchObject([
      { resolvedBecause: "unacknowledged", subject: { type: "person", id: ben.id } },
    ]);
    // Off during the hours of the next month.
    time.now = findNextDrill() + 3 * 60 * minute;
    await later(60);
    expect(await listDrills()).toHaveLength(1);
    const admin = await signInMember(world, "admin", { name: "Cat" });
    expect((await admin.page("DELETE", `/dashboard/people/${ben.id}`)).status).toBe(200);
    time.now = findNextDrill();
    await later(10);
    expect(await listDrills()).toHaveLength(1);
    const actions = world.database
      .query<{ n: number }, []>(
        "select count(*) as n from audit_entries where action = 'person.drill-changed'",
      )
      .get();
    expect(actions?.n).toBe(1);
  });

  test("of a person is set by that person, by admins, and by no one else", async () => {
    const world = await createWorld();
    await using ben = await createPersonWithPhone(world, "Ben", { role: "viewer" });
    const other = await signInMember(world, "member", { name: "Dan" });
    const admin = await signInMember(world, "admin", { name: "Cat" });
    const path = `/api/v1/people/${ben.id}/monthly-drill`;
    const put = (page: typeof admin.page, drill: MonthlyDrill | null) =>
      page("PUT", `/dashboard${path}`, { body: { drill } });
    expect((await put(other.page, monthly)).status).toBe(403);
    expect((await put(ben.page, monthly)).status).toBe(200);
    expect((await put(admin.page, null)).status).toBe(200);
    for (const method of ["GET", "PUT"])
      expect(
        (await world.theirs.api(method, path, method === "GET" ? {} : { body: { drill: monthly } }))
          .status,
      ).toBe(404);
    expect((await world.api("GET", path)).json.data).toEqual({ drill: null });
  });

  test("with hours that end before they start is rejected", async () => {
    const { api, path, ada } = await createWorld();
    for (const [drill, field] of [
      [{ ...monthly, until: "09:00" }, "drill.until"],
      [{ ...monthly, day: 29 }, "drill.day"],
    ] as const)
      for (const { status, json } of [
        await api("PATCH", path, { body: { drill } }),
        await api("PUT", `/api/v1/people/${ada.id}/monthly-drill`, { body: { drill } }),
      ])
        expect([status, json.error.details[0].path]).toEqual([422, field]);
  });
});
