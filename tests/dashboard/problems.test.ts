import { expect, test } from "bun:test";
import { recordProblem } from "../../src/events/problems.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";
import { signInMember } from "../support/people.ts";

async function createProblemWorld() {
  const pager = await createPager();
  const { page } = await signInMember(pager, "viewer");
  return {
    ...pager,
    read: async (path: string) => {
      const { status, json, text } = await page("GET", `/dashboard/${path}`);
      expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
      return json.data;
    },
  };
}

test("a failing channel is a problem until it delivers, with the undelivered alerts and the time", async () => {
  const { inbox, createWatchedJob, later, read, api, changeChannel } = await createProblemWorld();
  const [good, bad] = [
    await inbox({ name: "Pager" }),
    await inbox({ name: "Chat" }, replyWith(503)),
  ];
  const job = await createWatchedJob([good, bad]);
  expect((await read("problems")).channels).toEqual([]);
  await api("POST", `/api/v1/alert-channels/${bad.id}/test`);
  const [tested] = (await read("problems")).channels;
  expect(tested).toMatchObject({ name: "Chat", undelivered: 0 });
  await job.changeState("down");
  await later();
  const { channels } = await read("problems");
  expect(channels).toEqual([
    {
      id: bad.id,
      name: "Chat",
      since: tested.since,
      error: "The receiver responded with HTTP 503 (Service Unavailable).",
      undelivered: 1,
    },
  ]);
  await changeChannel(bad, { enabled: false });
  expect((await read("problems")).channels).toEqual([]);
  await changeChannel(bad, { enabled: true });
  bad.setReply(replyWith(), "/hook");
  await later(60);
  expect((await read("problems")).channels).toEqual([]);
});

test("a delivery without attempts is a problem", async () => {
  const { inbox, createWatchedJob, alerts, read, time } = await createProblemWorld();
  const chat = await inbox({ name: "Chat" });
  const job = await createWatchedJob([chat]);
  await job.changeState("down");
  // The alert is decided, but no notifier runs.
  await alerts.runOnce();
  expect((await read("problems")).channels).toEqual([]);
  time.now += 600_000;
  expect((await read("problems")).channels).toMatchObject([{ name: "Chat", undelivered: 1 }]);
});

test("problems of the appliance are shown to its administrators until they are over", async () => {
  const { store, ours, time, read } = await createProblemWorld();
  const disk = { name: "disk", stage: "", severity: "error", message: "It is full." } as const;
  await store.atomic([
    ...recordProblem([ours.id], { ...disk, until: null }, time.now),
    ...recordProblem([ours.id], { ...disk, name: "loop", until: time.now + 1_000 }, time.now),
  ]);
  const readTitles = async () =>
    (await read("problems")).appliance.map(({ title }: { title: string }) => title);
  expect(await readTitles()).toEqual(["Signalbox: the disk is nearly full", "Signalbox stalled"]);
  time.now += 2_000;
  expect(await readTitles()).toEqual(["Signalbox: the disk is nearly full"]);
});

test("a down monitor shows the notified channels, the failed ones and its incident", async () => {
  const { inbox, createWatchedJob, monitor, later, read, api } = await createProblemWorld();
  const [good, bad] = [
    await inbox({ name: "Pager" }),
    await inbox({ name: "Chat" }, replyWith(503)),
  ];
  const job = await createWatchedJob([good, bad]);
  await monitor({ name: "Fine" });
  expect(await read("attention")).toEqual([]);
  await job.changeState("down");
  const [unheard] = await read("attention");
  expect(unheard).toEqual({
    monitorId: job.id,
    attached: 2,
    notified: [],
    alertId: null,
    acknowledgedBy: [],
    incident: null,
  });
  await later();
  const body = { title: "No backups", monitorId: job.id };
  const { json } = await api("POST", "/api/v1/incidents", { body });
  const [message] = await read("attention");
  expect(message).toMatchObject({
    monitorId: job.id,
    notified: [
      { id: good.id, name: "Pager", status: "delivered", error: null },
      { id: bad.id, name: "Chat", status: "pending", error: expect.stringContaining("HTTP 503") },
    ],
    incident: { id: json.data.id, title: "No backups", severity: "minor" },
  });
  // Alerts of the previous outage do not count.
  await job.changeState("up");
  await later();
  expect(await read("attention")).toEqual([]);
  await job.changeState("down");
  expect((await read("attention"))[0].notified).toEqual([]);
});

test("an alert that waits behind a failing one counts as undelivered", async () => {
  const { inbox, createWatchedJob, later, read, alerts } = await createProblemWorld();
  const chat = await inbox({ name: "Chat" }, replyWith(503));
  const [first, second] = [await createWatchedJob([chat]), await createWatchedJob([chat])];
  await first.changeState("down");
  await later();
  await second.changeState("down");
  // The alert is decided, and the channel waits for its next attempt.
  await alerts.runOnce();
  const messages: { monitorId: string; notified: object[] }[] = await read("attention");
  for (const { id } of [first, second])
    expect(messages.find(({ monitorId }) => monitorId === id)?.notified).toMatchObject([
      { name: "Chat", status: "pending", error: expect.stringContaining("HTTP 503") },
    ]);
});
