import { expect, test } from "bun:test";
import { sweepAlerts } from "../../src/alerting/sending/retention.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { createPager } from "../support/pager.ts";

const day = 86_400_000;

test("the delivery log is stored for 90 days, and waiting deliveries until they end", async () => {
  const { inbox, createWatchedJob, later, store, time, api, database } = await createPager();
  await using hook = await inbox();
  const backup = await createWatchedJob([hook]);
  const countStored = async () => {
    const deliveries = await api("GET", `/api/v1/alert-channels/${hook.id}/deliveries`);
    const alerts = await api("GET", "/api/v1/alerts");
    return [deliveries.json.meta.total, alerts.json.meta.total];
  };
  await backup.changeState("down");
  await later();
  await backup.changeState("up");
  await later();
  time.now += 60 * day;
  await backup.changeState("down");
  await later();
  expect(await countStored()).toEqual([3, 2]);

  await sweepAlerts(createSweeping(store, time.now + 29 * day));
  expect(await countStored()).toEqual([3, 2]);
  await sweepAlerts(createSweeping(store, time.now + 31 * day));
  expect(await countStored()).toEqual([1, 1]);

  database.run("UPDATE deliveries SET status = 'sending', due_at = 0");
  await sweepAlerts(createSweeping(store, time.now + 365 * day));
  expect(await countStored()).toEqual([1, 1]);
});

test("the end of an outage is sent even if the log no longer has its start", async () => {
  const { inbox, createWatchedJob, later, store, time } = await createPager();
  await using hook = await inbox();
  const backup = await createWatchedJob([hook]);
  await backup.changeState("down");
  await later();
  time.now += 100 * day;
  await sweepAlerts(createSweeping(store, time.now));
  await backup.changeState("up");
  await later();
  expect(hook.listTitles()).toEqual(["monitor.down Backup", "monitor.up Backup"]);
});

test("a sweep has any number of portions, and can be stopped between two", async () => {
  const { inbox, later, store, time, createJob, api, database } = await createPager();
  await using hook = await inbox();
  const result = await createJob({ interval: 86_400, alertChannelIds: [hook.id] });
  await result.report({ status: "up" });
  for (let round = 0; round < 45; round++) {
    time.now += 3_000;
    await api("POST", `/api/v1/alert-channels/${hook.id}/test`);
  }
  await later();
  const readTotal = () =>
    database.query<{ n: number }, []>("SELECT count(*) AS n FROM alerts").get()?.n ?? 0;
  await sweepAlerts(createSweeping(store, time.now + 100 * day, () => true));
  expect(readTotal()).toBe(45);
  await sweepAlerts(createSweeping(store, time.now + 100 * day));
  expect(readTotal()).toBe(0);
});
