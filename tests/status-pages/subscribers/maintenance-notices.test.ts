import { describe, expect, test } from "bun:test";
import { type Leases, soleNode } from "../../../src/cluster/leases.ts";
import { SubscriberFanOut } from "../../../src/status-pages/subscribers/fan-out.ts";
import { createAppliance } from "../../support/appliance.ts";
import { ann, bob, createPublisher, type Publisher } from "../../support/publisher.ts";
import { buildSection } from "../../support/visitor.ts";

const hour = 3_600_000;

const changeWindow = async (publisher: Publisher, id: string, body: object) => {
  publisher.time.now += 1_000;
  const { status } = await publisher.api("PATCH", `/api/v1/maintenance-windows/${id}`, { body });
  expect(status).toBe(200);
};

/** Moves the clock, lets two processes record starts, ends and reminders, and sends the notices. */
async function moveTo(publisher: Publisher, time: string) {
  publisher.time.now = Date.parse(time);
  const { store, appliance } = publisher;
  const other = createAppliance({ store, clock: () => publisher.time.now, vault: appliance.vault });
  await other.maintenance.runOnce();
  for (const { maintenance } of [publisher, other, publisher]) await maintenance.runOnce();
  await publisher.restart();
  await publisher.send();
}

const labelsOf = ({ listSubjects }: Publisher) =>
  listSubjects().map((subject) => (subject ?? "").replace(/:.*/, ""));

describe.concurrent("subscribers who want maintenance hear", () => {
  test("that it is planned, changed, near, running and completed, each once", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.added({ type: "email", email: bob, confirmed: true, maintenance: false });
    await using hook = await publisher.addHook();
    const { id } = await publisher.planWindow({ reminderHours: 24 });
    await publisher.send();
    await changeWindow(publisher, id, { countsUptime: true });
    await changeWindow(publisher, id, { title: "Firmware", monitorIds: [] });
    await publisher.send();
    await changeWindow(publisher, id, { startsAt: "2026-11-22T03:00:00Z" });
    await changeWindow(publisher, id, { description: "Both routers." });
    await publisher.send();
    for (const time of [
      "2026-11-21T02:59:59Z",
      "2026-11-21T03:00:00Z",
      "2026-11-21T20:00:00Z",
      "2026-11-22T03:00:00Z",
      "2026-11-22T03:59:00Z",
      "2026-11-22T04:00:00Z",
      "2026-11-23T04:00:00Z",
    ])
      await moveTo(publisher, time);
    expect(labelsOf(publisher)).toEqual([
      "Scheduled maintenance",
      "Maintenance changed",
      "Reminder of maintenance",
      "Maintenance in progress",
      "Maintenance completed",
    ]);
    expect(new Set(publisher.listRecipients())).toEqual(new Set([ann]));
    expect(publisher.mails[1]?.text).toContain("Both routers.");
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
    await using publisher = await createPublisher();
    const one = await publisher.monitor({ name: "Shop", type: "ping", host: "a.lan" });
    const other = await publisher.monitor({ name: "Mail", type: "ping", host: "a.lan" });
    await publisher.publish({ sections: [buildSection("Everything", one.id, other.id)] });
    await publisher.mailbox();
    await using hook = await publisher.addHook();
    const { id } = await publisher.planWindow({ monitorIds: [one.id] });
    await publisher.send();
    await changeWindow(publisher, id, { monitorIds: [other.id] });
    await publisher.send();
    await changeWindow(publisher, id, { countsUptime: true });
    await publisher.send();
    await changeWindow(publisher, id, { countsUptime: false });
    await publisher.send();
    expect(labelsOf(publisher)).toEqual(["Scheduled maintenance", "Maintenance changed"]);
    expect(Object.keys(hook.received()[1]?.data.maintenance).toSorted()).toEqual(
      "description endsAt id startsAt title".split(" "),
    );
  });

  test("that it is cancelled, if they heard of it, once, and that it is planned again", async () => {
    await using publisher = await createPublisher({ languages: ["de"] });
    await publisher.added({ type: "email", email: ann, confirmed: true, language: "de" });
    await using hook = await publisher.addHook();
    const every = { rrule: "FREQ=WEEKLY", timeZone: "UTC" };
    const one = await publisher.planWindow({ description: "Both." });
    const weekly = await publisher.planWindow({
      title: "Weekly",
      progressNotices: false,
      ...every,
    });
    await publisher.send();
    await publisher.mailbox(bob);
    const cancel = async ({ id }: { id: string }) => {
      expect((await publisher.api("DELETE", `/api/v1/maintenance-windows/${id}`)).status).toBe(200);
      await new SubscriberFanOut({ ...publisher.appliance, rowsAtOnce: 1 }).runOnce();
      await publisher.restart();
      await publisher.send();
    };
    await cancel(one);
    publisher.time.now = Date.parse("2026-11-23T00:00:00Z");
    await cancel(weekly);
    expect(publisher.listSubjects().slice(2)).toEqual([
      "Wartung abgesagt: Firmware – Acme status",
      "Wartung abgesagt: Weekly – Acme status",
    ]);
    expect(new Set(publisher.listRecipients())).toEqual(new Set([ann]));
    expect(publisher.mails[2]?.text).toContain("Diese Wartung ist abgesagt.");
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
    expect((await publisher.api("POST", restored)).status).toBe(200);
    await publisher.send();
    await cancel(weekly);
    expect(labelsOf(publisher).slice(4).map(String).toSorted()).toEqual([
      "Geplante Wartung",
      "Maintenance cancelled",
      "Scheduled maintenance",
      "Wartung abgesagt",
    ]);
  });

  test("nothing of a restoration without a cancellation before, with notify: false, or undone in time", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const window = await publisher.planWindow({ title: "Firmware" });
    const silent = await publisher.planWindow({ title: "Silent", notify: false });
    await publisher.send();
    const path = `/api/v1/maintenance-windows/${window.id}`;
    const remove = async (at: string) => {
      expect((await publisher.api("DELETE", at)).status).toBe(200);
      await publisher.send();
    };
    await remove(path);
    await remove(`/api/v1/maintenance-windows/${silent.id}`);
    expect(publisher.mails).toHaveLength(2);
    const held = await publisher.api("POST", `${path}/restore?hold=10`, { body: {} });
    expect([held.status, held.json.data.title]).toEqual([202, "Firmware"]);
    const undo = `/api/v1/held-changes/${held.json.data.id}`;
    expect((await publisher.api("DELETE", undo)).status).toBe(200);
    const restore = (id: string, body?: object) =>
      publisher.api("POST", `/api/v1/maintenance-windows/${id}/restore`, body && { body });
    expect((await restore(silent.id)).status).toBe(200);
    expect((await restore(window.id, { notify: false })).status).toBe(200);
    await publisher.send();
    expect(publisher.mails).toHaveLength(2);
    // Subscribers were last told that the window is cancelled.
    await remove(path);
    expect((await restore(window.id)).status).toBe(200);
    await publisher.send();
    expect(publisher.listSubjects().slice(2)).toHaveLength(1);
  });

  test("nothing of a cancellation that is undone in time, of past and of hidden work", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const buildPath = ({ id }: { id: string }) => `/api/v1/maintenance-windows/${id}`;
    const held = await publisher.planWindow({ title: "Held" });
    const hidden = await publisher.planWindow({ title: "Hidden" });
    const past = await publisher.planWindow({ title: "Past", progressNotices: false });
    const silent = await publisher.planWindow({ title: "Silent", notify: false });
    await publisher.send();
    expect(publisher.mails).toHaveLength(3);
    const { json } = await publisher.api("DELETE", `${buildPath(held)}?hold=10`);
    expect((await publisher.api("DELETE", `/api/v1/held-changes/${json.data.id}`)).status).toBe(
      200,
    );
    await changeWindow(publisher, hidden.id, { public: false });
    for (const one of [hidden, silent]) await publisher.api("DELETE", buildPath(one));
    publisher.time.now = Date.parse("2026-11-22T04:00:01Z");
    await publisher.api("DELETE", buildPath(past));
    await publisher.send();
    expect(publisher.mails).toHaveLength(3);
  });

  test("of a change, each once, even if there are more of them than fit into one write", async () => {
    await using publisher = await createPublisher();
    for (const email of [ann, bob, "eve@team.example"]) await publisher.mailbox(email);
    const { id } = await publisher.planWindow();
    const send = async () => {
      await new SubscriberFanOut({ ...publisher.appliance, rowsAtOnce: 1 }).runOnce();
      await publisher.send();
    };
    await send();
    for (const title of ["Routers", "Switches"]) {
      await changeWindow(publisher, id, { title });
      await send();
    }
    expect(
      Map.groupBy(publisher.listRecipients(), (one) => one)
        .values()
        .map((all) => all.length)
        .toArray(),
    ).toEqual([3, 3, 3]);
  });

  test("only what the window announces", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    const times = { startsAt: "2026-11-22T02:00:00Z", endsAt: "2026-11-22T04:00:00Z" };
    const silent = await publisher.planWindow({ title: "Silent", notify: false, ...times });
    expect(silent).toMatchObject({ progressNotices: false, reminderHours: null });
    await publisher.planWindow({ title: "Hidden", public: false, reminderHours: 5, ...times });
    const quiet = await publisher.planWindow({ title: "Quiet", progressNotices: false, ...times });
    const loud = await publisher.planWindow({ title: "Loud", reminderHours: 5, ...times });
    await publisher.send();
    for (const { id } of [silent, quiet]) await changeWindow(publisher, id, { title: "Other" });
    await changeWindow(publisher, loud.id, { description: "A correction.", notify: false });
    for (const time of ["2026-11-21T22:00:00Z", "2026-11-22T02:00:00Z", "2026-11-22T04:00:00Z"])
      await moveTo(publisher, time);
    expect(publisher.listSubjects().map((subject) => subject?.split(" –")[0])).toEqual([
      "Scheduled maintenance: Quiet",
      "Scheduled maintenance: Loud",
      "Reminder of maintenance: Loud",
      "Maintenance in progress: Loud",
      "Maintenance completed: Loud",
    ]);
  });

  test("no reminder of work that was just planned, and one before each occurrence", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.planWindow({
      title: "Nightly",
      startsAt: "2026-11-20T12:00:00Z",
      endsAt: "2026-11-20T13:00:00Z",
      rrule: "FREQ=DAILY",
      reminderHours: 3,
      progressNotices: false,
    });
    for (let hours = 0; hours < 48; hours++)
      await publisher.maintenance.runOnce().then(() => void (publisher.time.now += hour));
    await publisher.send();
    expect(labelsOf(publisher)).toEqual([
      "Scheduled maintenance",
      "Reminder of maintenance",
      "Reminder of maintenance",
    ]);
  });

  test("one reminder, if the lease was lost while it was recorded", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.planWindow({ reminderHours: 2 });
    const { store, appliance } = publisher;
    let owner: string | null = null;
    const leases: Leases = {
      ...soleNode,
      findNamed: (name) => ({ name, epoch: 1, owner }),
    };
    const { maintenance } = createAppliance({
      store,
      clock: () => publisher.time.now,
      vault: appliance.vault,
      leases,
    });
    await maintenance.runOnce();
    publisher.time.now = Date.parse("2026-11-22T00:00:00Z");
    owner = "another node took it";
    await maintenance.runOnce();
    owner = null;
    await maintenance.runOnce();
    await publisher.send();
    expect(labelsOf(publisher)).toEqual(["Scheduled maintenance", "Reminder of maintenance"]);
  });

  test("one reminder, if the power fails while it is recorded", async () => {
    await using publisher = await createPublisher();
    await publisher.mailbox();
    await publisher.planWindow({ reminderHours: 2 });
    await publisher.maintenance.runOnce();
    publisher.crashBefore("reminded_for = ?");
    for (const time of ["2026-11-22T00:00:00Z", "2026-11-22T00:00:01Z", "2026-11-22T00:00:02Z"])
      await moveTo(publisher, time);
    expect(labelsOf(publisher)).toEqual(["Scheduled maintenance", "Reminder of maintenance"]);
  });
});
