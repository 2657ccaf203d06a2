/** `notifyOn`: the kinds of messages that a channel gets. */
import { expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

async function createShop(notifyOn: string[], fields: object = {}) {
  const pager = await createPager();
  const inbox = await pager.inbox({ name: "Office", notifyOn });
  const job = await pager.createWatchedJob([inbox], {
    name: "Shop",
    degradedAfterMs: 500,
    ...fields,
  });
  const change = async (status: "up" | "down" | "slow", seconds = 10) => {
    await job.changeState(status);
    await pager.later(seconds);
  };
  return { ...pager, inbox, job, change };
}

test("a channel gets only the kinds of its list, and recoveries of what it was notified of", async () => {
  const { inbox, change } = await createShop(["recovery", "down"]);
  await change("slow");
  await change("up");
  expect(inbox.listTitles()).toEqual([]);
  await change("slow");
  await change("down");
  await change("up");
  expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
});

test("a channel without reminders is notified of an alert that returns after a snooze", async () => {
  const { inbox, change, later, readAlerts, api, time } = await createShop(["down"], {
    reminderInterval: 60,
  });
  await change("down", 70);
  expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  const [alert] = await readAlerts();
  const body = { until: new Date(time.now + 60_000).toISOString() };
  await api("POST", `/api/v1/alerts/${alert?.id}/snooze`, { body });
  await later(70);
  await later();
  expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.reminder Shop"]);
});

test("a channel can leave out incidents and problems of Signalbox", async () => {
  const { inbox, api, later, changeChannel } = await createShop(["down"]);
  await api("POST", "/api/v1/incidents", {
    body: { title: "Slow", severity: "minor", message: "We look." },
  });
  await later();
  expect(inbox.listTitles()).toEqual([]);
  await changeChannel(inbox, { notifyOn: ["incident"] });
  await api("POST", "/api/v1/incidents", {
    body: { title: "Slower", severity: "minor", message: "We look." },
  });
  await later();
  expect(inbox.listTitles()).toEqual(["incident.opened Slower"]);
});

test("a policy notifies its channels regardless of their list", async () => {
  const { inbox, job, api, change } = await createShop(["certificate"]);
  const targets = [{ type: "channel", id: inbox.id }];
  const { json } = await api("POST", "/api/v1/escalation-policies", {
    body: { name: "Shop", steps: [{ afterMinutes: 0, targets }] },
  });
  await job.change({ escalationPolicyId: json.data.id });
  await change("down");
  expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
});

test("a list is stored without repetitions, in the order of the kinds, and is never empty", async () => {
  const { inbox, changeChannel, readChannel } = await createShop(["down"]);
  await changeChannel(inbox, { notifyOn: ["recovery", "down", "down"] });
  expect((await readChannel(inbox)).notifyOn).toEqual(["down", "recovery"]);
  const { status, text } = await changeChannel(inbox, { notifyOn: [] });
  expect([status, text]).toEqual([422, expect.stringContaining("notifyOn")]);
});
