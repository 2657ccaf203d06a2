/** Events and timers that can't be handled: they block nothing for long, and someone is notified of them. */
import { expect, test } from "bun:test";
import { AlertFanOut } from "../../src/alerting/deciding/fan-out.ts";
import { formatTimestamp } from "../../src/core/time/clock.ts";
import { createOutboxRoom } from "../../src/alerting/sending/outbox-room.ts";
import { examineProblems } from "../../src/operations/diagnostics/server.ts";
import { createPager } from "../support/pager.ts";
import { createPerson } from "../support/people.ts";

type Pager = Awaited<ReturnType<typeof createPager>>;

/** Seconds between five tries. */
const pauses = [1, 2, 4, 8];

async function passPauses({ alerts, time }: Pager) {
  for (const seconds of [0, 0, 0, ...pauses, 0, 0]) {
    time.now += seconds * 1_000;
    await alerts.runOnce().catch(() => {});
  }
}

test("an event that can't be handled is set aside after five tries, and its organization is notified", async () => {
  const pager = await createPager();
  const { database, ours, theirs, time, inbox: createInbox, createWatchedJob, store, api } = pager;
  await createPerson(pager, theirs.id, "viewer", { administrator: true });
  const inbox = await createInbox({ default: true, incidents: true });
  const job = await createWatchedJob([inbox], { name: "Shop" });
  await pager.later();
  const insertDamaged = () =>
    database.run(
      "insert into events (organization_id, at, type, subject_id, data) values (?, ?, ?, ?, null)",
      [ours.id, formatTimestamp(time.now), "monitor.down", job.id],
    );
  await api("POST", "/api/v1/incidents", { body: { title: "Before" } });
  insertDamaged();
  await api("POST", "/api/v1/incidents", { body: { title: "After" } });
  const listTitles = () =>
    inbox.listTitles().map((title) => title.replace(/^incident\.opened /, ""));
  await passPauses(pager);
  await pager.later();
  expect(listTitles().slice(0, 2)).toEqual(["Before", "After"]);
  const countReports = () =>
    JSON.stringify(inbox.received()).split('"appliance.troubled"').length - 1;
  expect(countReports()).toBe(1);
  const [finding, ...others] = await examineProblems(store, () => time.now);
  const sentence =
    "The event monitor.down (number NUMBER) of 2026-11-20 10:00 UTC could not be handled, and was set aside after 5 tries so that it delays nothing else. No alert about it was sent";
  const messages = [finding, ...others].map((one) =>
    one?.message.replace(/number \d+/, "number NUMBER"),
  );
  expect(messages.join("\n")).toContain(sentence);
  const listMessages = (id: string) =>
    database
      .query<{ message: string }, [string]>(
        "select message from problems where organization_id = ?",
      )
      .all(id)
      .map(({ message }) => message);
  expect(listMessages(ours.id)).toHaveLength(1);
  // Administrators of another organization learn whose event it is.
  expect(listMessages(theirs.id).join()).toContain("of the organization “");
  // A second one is another stage of the problem.
  insertDamaged();
  await passPauses(pager);
  await pager.later();
  expect(countReports()).toBe(2);
});

test("an event whose report can't be handled either ends there, and leaves the problem open", async () => {
  const pager = await createPager();
  const { database, ours, time, alerts } = pager;
  const insert = (type: string) =>
    database.run(
      "insert into events (organization_id, at, type, subject_id, data) values (?, ?, ?, 'clock', null)",
      [ours.id, formatTimestamp(time.now), type],
    );
  insert("appliance.troubled");
  insert("monitor.down");
  await passPauses(pager);
  await passPauses(pager);
  const listBacklogs = () =>
    database.query("select name from followers where name like 'alerting/%'").all();
  await alerts.runOnce();
  expect(listBacklogs()).toEqual([]);
  const names = database.query("select name from problems").values();
  expect(names).toEqual([["unhandled"]]);
});

test("an outage of the database sets nothing aside", async () => {
  const pager = await createPager();
  const { store, api, inbox: createInbox, database } = pager;
  const inbox = await createInbox({ default: true, incidents: true });
  await pager.later();
  await api("POST", "/api/v1/incidents", { body: { title: "Cable cut" } });
  const atomic = store.atomic.bind(store);
  store.atomic = () => Promise.reject(new Error("disk I/O error"));
  await passPauses(pager);
  await passPauses(pager);
  store.atomic = atomic;
  await pager.later();
  expect(inbox.listTitles()).toEqual(["incident.opened Cable cut"]);
  expect(database.query("select name from problems").values()).toEqual([]);
});

test("a timer that can't be handled delays no other, is tried again every ten minutes, and is reported", async () => {
  const pager = await createPager();
  const { database, ours, time, inbox: createInbox, createWatchedJob, alerts } = pager;
  const inbox = await createInbox({ default: true });
  const bad = await createWatchedJob([inbox], { name: "Bad", reminderInterval: 60 });
  const good = await createWatchedJob([inbox], { name: "Good", reminderInterval: 60 });
  await bad.changeState("down");
  await good.changeState("down");
  await pager.later();
  const setChanges = (changes: string) =>
    database.run("update alert_memory set changes = ? where monitor_id = ?", [changes, bad.id]);
  setChanges("[");
  time.now += 61_000;
  const count = (title: string) => inbox.listTitles().filter((one) => one === title).length;
  await passPauses(pager);
  await pager.later();
  expect([count("monitor.reminder Good") > 0, count("monitor.reminder Bad")]).toEqual([true, 0]);
  const listProblemMessages = () =>
    database
      .query<{ message: string }, [string]>(
        "select message from problems where organization_id = ?",
      )
      .all(ours.id)
      .map(({ message }) => message);
  expect(listProblemMessages()[0]).toMatch(
    /^Work for alerts keeps failing: a reminder or a held alert \(memory /,
  );
  await pager.later();
  expect(JSON.stringify(inbox.received())).toContain("appliance.troubled");
  setChanges("[]");
  await alerts.runOnce();
  expect(count("monitor.reminder Bad")).toBe(0);
  time.now += 600_000;
  await pager.later();
  expect(count("monitor.reminder Bad")).toBe(1);
});

test("periodic work of an organization that fails delays no other organization", async () => {
  const { store, appliance, ours, theirs, time } = await createPager();
  const { clock, origin, signals } = appliance;
  const room = createOutboxRoom(store, "alerts");
  const { follower } = new AlertFanOut({ store, clock, origin, signals, room });
  const mark = (organizationId: string) => ({
    text: "insert into housekeeping (name, value) values (?, 1)",
    parameters: [organizationId],
  });
  const broken = {
    text: "insert into housekeeping (name, value) values (null, 1)",
    parameters: [],
  };
  const run = (decideOurs: () => (typeof broken)[]) =>
    follower.write("testing", [
      { organizationId: ours.id, decide: decideOurs },
      { organizationId: theirs.id, decide: () => [mark(theirs.id)] },
    ]);
  const tries: string[] = [];
  const fail = () => {
    tries.push("failed");
    throw new Error("Damaged.");
  };
  expect(await run(fail)).toEqual([theirs.id]);
  await store.atomic([
    { text: "delete from housekeeping where name = ?", parameters: [theirs.id] },
  ]);
  expect(await run(fail)).toEqual([theirs.id]);
  expect(tries).toHaveLength(1);
  time.now += 1_000;
  await store.atomic([
    { text: "delete from housekeeping where name = ?", parameters: [theirs.id] },
  ]);
  expect(await run(() => [broken])).toEqual([theirs.id]);
  time.now += 2_000;
  await store.atomic([
    { text: "delete from housekeeping where name = ?", parameters: [theirs.id] },
  ]);
  expect(await run(() => [])).toEqual([theirs.id]);
});
