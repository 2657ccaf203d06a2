import { describe, expect, test } from "bun:test";
import { type Leases, soleNode } from "../../../src/cluster/leases.ts";
import { SubscriberFanOut } from "../../../src/status-pages/subscribers/fan-out.ts";
import { createAppliance } from "../../support/appliance.ts";
import { ann, bob, createPublisher, type Publisher } from "../../support/publisher.ts";
import { buildSection } from "../../support/visitor.ts";

const hour = 3_600_000;

const changeWindow = async (made: Publisher, id: string, body: object) => {
  made.time.now += 1_000;
  const { status } = await made.api("PATCH", `/api/v1/maintenance-windows/${id}`, { body });
  expect(status).toBe(200);
};

/** Moves the clock, lets two processes record starts, ends and reminders, and sends the notices. */
async function moveTo(made: Publisher, time: string) {
  made.time.now = Date.parse(time);
  const { store, appliance } = made;
  const other = createAppliance({ store, clock: () => made.time.now, vault: appliance.vault });
  await other.maintenance.runOnce();
  for (const { maintenance } of [made, other, made]) await maintenance.runOnce();
  await made.restart();
  await made.send();
}

const labelsOf = ({ listSubjects }: Publisher) =>
  listSubjects().map((subject) => (subject ?? "").replace(/:.*/, ""));

describe.concurrent("subscribers who want maintenance hear", () => {
  test("that it is planned, changed, near, running and completed, each once", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.added({ type: "email", email: bob, confirmed: true, maintenance: false });
    await using hook = await made.addHook();
    const { id } = await made.planWindow({ reminderHours: 24 });
    await made.send();
    await changeWindow(made, id, { countsUptime: true });
    await changeWindow(made, id, { title: "Firmware", monitorIds: [] });
    await made.send();
    await changeWindow(made, id, { startsAt: "2026-11-22T03:00:00Z" });
    await changeWindow(made, id, { description: "Both routers." });
    await made.send();
    for (const time of [
      "2026-11-21T02:59:59Z",
      "2026-11-21T03:00:00Z",
      "2026-11-21T20:00:00Z",
      "2026-11-22T03:00:00Z",
      "2026-11-22T03:59:00Z",
      "2026-11-22T04:00:00Z",
      "2026-11-23T04:00:00Z",
    ])
      await moveTo(made, time);
    expect(labelsOf(made)).toEqual([
      "Scheduled maintenance",
      "Maintenance changed",
      "Reminder of maintenance",
      "Maintenance in progress",
      "Maintenance completed",
    ]);
    expect(new Set(made.listRecipients())).toEqual(new Set([ann]));
    expect(made.mails[1]?.text).toContain("Both routers.");
    expect(hook.received().map(({ type }) => type)).toEqual([
      "maintenance.planned",
      "maintenance.changed",
      "maintenance.reminder",
      "maintenance.started",
      "maintenance.completed",
    ]);
    expect(Object.keys(hook.received()[1]?.data.maintenance)).not.toContain("times");
  });

  test("once that other monitors are affected, however often the window is saved afterwards", async () => {
    await using made = await createPublisher();
    const one = await made.monitor({ name: "Shop", type: "ping", host: "a.lan" });
    const other = await made.monitor({ name: "Mail", type: "ping", host: "a.lan" });
    await made.publish({ sections: [buildSection("Everything", one.id, other.id)] });
    await made.mailbox();
    await using hook = await made.addHook();
    const { id } = await made.planWindow({ monitorIds: [one.id] });
    await made.send();
    await changeWindow(made, id, { monitorIds: [other.id] });
    await made.send();
    await changeWindow(made, id, { countsUptime: true });
    await made.send();
    await changeWindow(made, id, { countsUptime: false });
    await made.send();
    expect(labelsOf(made)).toEqual(["Scheduled maintenance", "Maintenance changed"]);
    expect(Object.keys(hook.received()[1]?.data.maintenance).toSorted()).toEqual(
      "description endsAt id startsAt title".split(" "),
    );
  });

  test("that it is cancelled, if they heard of it, once, and that it is planned again", async () => {
    await using made = await createPublisher({ languages: ["de"] });
    await made.added({ type: "email", email: ann, confirmed: true, language: "de" });
    await using hook = await made.addHook();
    const every = { rrule: "FREQ=WEEKLY", timeZone: "UTC" };
    const one = await made.planWindow({ description: "Both." });
    const weekly = await made.planWindow({ title: "Weekly", progressNotices: false, ...every });
    await made.send();
    await made.mailbox(bob);
    const cancel = async ({ id }: { id: string }) => {
      expect((await made.api("DELETE", `/api/v1/maintenance-windows/${id}`)).status).toBe(200);
      await new SubscriberFanOut({ ...made.appliance, rowsAtOnce: 1 }).runOnce();
      await made.restart();
      await made.send();
    };
    await cancel(one);
    made.time.now = Date.parse("2026-11-23T00:00:00Z");
    await cancel(weekly);
    expect(made.listSubjects().slice(2)).toEqual([
      "Wartung abgesagt: Firmware – Acme status",
      "Wartung abgesagt: Weekly – Acme status",
    ]);
    expect(new Set(made.listRecipients())).toEqual(new Set([ann]));
    expect(made.mails[2]?.text).toContain("Diese Wartung ist abgesagt.");
    const last = hook.received().slice(2);
    expect(last.map(({ type }) => type)).toEqual([
      "maintenance.cancelled",
      "maintenance.cancelled",
    ]);
    expect(last.map(({ data }) => data.maintenance)).toMatchObject([
      { id: one.id, description: "Both.", startsAt: one.startsAt },
      { id: weekly.id, startsAt: "2026-11-29T02:00:00.000Z" },
    ]);
    const restored = `/api/v1/maintenance-windows/${weekly.id}/restore`;
    expect((await made.api("POST", restored)).status).toBe(200);
    // A restoration is announced with the next change.
    await changeWindow(made, weekly.id, { progressNotices: true });
    await made.send();
    await cancel(weekly);
    expect(labelsOf(made).slice(4).map(String).toSorted()).toEqual([
      "Geplante Wartung",
      "Maintenance cancelled",
      "Scheduled maintenance",
      "Wartung abgesagt",
    ]);
  });

  test("nothing of a cancellation that is undone in time, of past and of hidden work", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const path = ({ id }: { id: string }) => `/api/v1/maintenance-windows/${id}`;
    const held = await made.planWindow({ title: "Held" });
    const hidden = await made.planWindow({ title: "Hidden" });
    const past = await made.planWindow({ title: "Past", progressNotices: false });
    const silent = await made.planWindow({ title: "Silent", notify: false });
    await made.send();
    expect(made.mails).toHaveLength(3);
    const { json } = await made.api("DELETE", `${path(held)}?hold=10`);
    expect((await made.api("DELETE", `/api/v1/held-changes/${json.data.id}`)).status).toBe(200);
    await changeWindow(made, hidden.id, { public: false });
    for (const one of [hidden, silent]) await made.api("DELETE", path(one));
    made.time.now = Date.parse("2026-11-22T04:00:01Z");
    await made.api("DELETE", path(past));
    await made.send();
    expect(made.mails).toHaveLength(3);
  });

  test("of a change, each once, also if there are more of them than fit into one write", async () => {
    await using made = await createPublisher();
    for (const email of [ann, bob, "eve@team.example"]) await made.mailbox(email);
    const { id } = await made.planWindow();
    const send = async () => {
      await new SubscriberFanOut({ ...made.appliance, rowsAtOnce: 1 }).runOnce();
      await made.send();
    };
    await send();
    for (const title of ["Routers", "Switches"]) {
      await changeWindow(made, id, { title });
      await send();
    }
    expect(
      Map.groupBy(made.listRecipients(), (one) => one)
        .values()
        .map((all) => all.length)
        .toArray(),
    ).toEqual([3, 3, 3]);
  });

  test("only what the window announces", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    const times = { startsAt: "2026-11-22T02:00:00Z", endsAt: "2026-11-22T04:00:00Z" };
    const silent = await made.planWindow({ title: "Silent", notify: false, ...times });
    expect(silent).toMatchObject({ progressNotices: false, reminderHours: null });
    await made.planWindow({ title: "Hidden", public: false, reminderHours: 5, ...times });
    const quiet = await made.planWindow({ title: "Quiet", progressNotices: false, ...times });
    const loud = await made.planWindow({ title: "Loud", reminderHours: 5, ...times });
    await made.send();
    for (const { id } of [silent, quiet]) await changeWindow(made, id, { title: "Other" });
    await changeWindow(made, loud.id, { description: "A correction.", notify: false });
    for (const time of ["2026-11-21T22:00:00Z", "2026-11-22T02:00:00Z", "2026-11-22T04:00:00Z"])
      await moveTo(made, time);
    expect(made.listSubjects().map((subject) => subject?.split(" –")[0])).toEqual([
      "Scheduled maintenance: Quiet",
      "Scheduled maintenance: Loud",
      "Reminder of maintenance: Loud",
      "Maintenance in progress: Loud",
      "Maintenance completed: Loud",
    ]);
  });

  test("no reminder of work that was just planned, and one before each occurrence", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.planWindow({
      title: "Nightly",
      startsAt: "2026-11-20T12:00:00Z",
      endsAt: "2026-11-20T13:00:00Z",
      rrule: "FREQ=DAILY",
      reminderHours: 3,
      progressNotices: false,
    });
    for (let hours = 0; hours < 48; hours++)
      await made.maintenance.runOnce().then(() => void (made.time.now += hour));
    await made.send();
    expect(labelsOf(made)).toEqual([
      "Scheduled maintenance",
      "Reminder of maintenance",
      "Reminder of maintenance",
    ]);
  });

  test("one reminder, if the lease was lost while it was recorded", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.planWindow({ reminderHours: 2 });
    const { store, appliance } = made;
    let owner: string | null = null;
    const leases: Leases = {
      ...soleNode,
      findNamed: (name) => ({ name, epoch: 1, owner }),
    };
    const { maintenance } = createAppliance({
      store,
      clock: () => made.time.now,
      vault: appliance.vault,
      leases,
    });
    await maintenance.runOnce();
    made.time.now = Date.parse("2026-11-22T00:00:00Z");
    owner = "another node took it";
    await maintenance.runOnce();
    owner = null;
    await maintenance.runOnce();
    await made.send();
    expect(labelsOf(made)).toEqual(["Scheduled maintenance", "Reminder of maintenance"]);
  });

  test("one reminder, if the power fails while it is recorded", async () => {
    await using made = await createPublisher();
    await made.mailbox();
    await made.planWindow({ reminderHours: 2 });
    await made.maintenance.runOnce();
    made.crashBefore("reminded_for = ?");
    for (const time of ["2026-11-22T00:00:00Z", "2026-11-22T00:00:01Z", "2026-11-22T00:00:02Z"])
      await moveTo(made, time);
    expect(labelsOf(made)).toEqual(["Scheduled maintenance", "Reminder of maintenance"]);
  });
});
