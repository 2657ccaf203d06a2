import { expect, test } from "bun:test";
import { type Arrived, inbox, moody } from "../support/inbox.ts";
import { clientOf, machineWithKey } from "../support/outside.ts";
import { answer, hang } from "../support/target.ts";

const unlimited = ["--rate-limit", "0"];

type Box = Awaited<ReturnType<typeof machineWithKey>>;
type Job = { id: string; path: string };

/** Creates push monitors that are up, with these channels. Returns the paths for their reports. */
async function jobs(url: string, { key }: Box, count: number, alertChannelIds: string[]) {
  const api = clientOf(url, key);
  const made: Job[] = [];
  for (let number = 1; number <= count; number++) {
    const name = `Job ${number}`;
    const body = { type: "push", name, interval: 86_400, retries: 0, alertChannelIds };
    const { json } = await api("POST", "/api/v1/monitors", body);
    made.push({ id: json.data.id, path: new URL(json.data.pushUrl).pathname });
  }
  return made;
}

/** Whether the report was acknowledged. */
async function report(url: string, { path }: Job, status: "up" | "down"): Promise<boolean> {
  const answered = await fetch(`${url}${path}?status=${status}`).catch(() => null);
  await answered?.text().catch(() => "");
  return answered?.ok === true;
}

async function webhook(url: string, { key }: Box, to: string): Promise<string> {
  const body = { type: "webhook", name: "Hook", url: to };
  return (await clientOf(url, key)("POST", "/api/v1/alert-channels", body)).json.data.id;
}

/** Alternating outages and recoveries. */
const changes = (count: number) =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? "down" : "up") as "down" | "up");

test("400 changes of state, a receiver that often fails and 8 kills: every alert arrives, in order", async () => {
  await using box = await machineWithKey();
  await using hook = await inbox(moody());
  let server = await box.serve({ flags: unlimited });
  const channel = await webhook(server.url, box, hook.at("/hook"));
  const watched = await jobs(server.url, box, 40, [channel]);
  const [other] = (await jobs(server.url, box, 1, [channel])) as [Job];
  for (const job of [...watched, other]) await report(server.url, job, "up");
  // A new alert makes failed deliveries retry at once, instead of minutes later.
  const news = changes(10);
  const tellNews = () => report(server.url, other, news.shift() ?? "up");

  const perJob = changes(10);
  let acknowledged = 0;
  for (const status of perJob)
    for (const job of watched) {
      while (!(await report(server.url, job, status))) await Bun.sleep(1);
      acknowledged++;
      if (acknowledged % 50 !== 0) continue;
      // Every third kill happens in the middle of an attempt.
      if (acknowledged % 150 === 0) {
        const before = hook.asked.length;
        await tellNews();
        await hook.untilAsked(before + 1);
      }
      server.child.kill("SIGKILL");
      await server.child.exited;
      server = await box.serve({ flags: unlimited });
    }
  hook.behave(answer());
  hook.release(answer());
  await tellNews();
  const ofJobs = (all: Arrived[]) => all.filter(({ monitorId }) => monitorId !== other.id);
  await hook.untilArrived((all) => new Set(ofJobs(all).map(({ alertId }) => alertId)).size === 400);

  const first = new Map(
    hook
      .arrived()
      .toReversed()
      .map((one) => [one.alertId, one]),
  );
  const order = [...new Set(hook.arrived().map(({ alertId }) => alertId))];
  for (const { id } of watched) {
    const told = order.map((alertId) => first.get(alertId)).filter((one) => one?.monitorId === id);
    expect(told.map((one) => one?.type)).toEqual(perJob.map((status) => `monitor.${status}`));
  }
  // Duplicates have the same delivery id.
  const deliveryOf = new Map<string, string>();
  for (const { alertId, delivery } of hook.arrived())
    expect(deliveryOf.getOrInsert(alertId, delivery)).toBe(delivery);
  expect(await server.stop()).toBe(0);
}, 300_000);

test("a stop during a hanging delivery exits with 0, and the next start delivers", async () => {
  await using box = await machineWithKey();
  await using hook = await inbox(hang);
  const server = await box.serve();
  const { url } = server;
  const [job] = await jobs(url, box, 1, [await webhook(url, box, hook.at("/hook"))]);
  await report(url, job as Job, "up");
  await report(url, job as Job, "down");
  await hook.untilAsked(1);
  expect(await server.stop()).toBe(0);
  hook.behave(answer());
  await box.serve();
  await hook.untilArrived((all) => all.length > 0);
  expect(hook.arrived().map(({ type }) => type)).toEqual(["monitor.down"]);
});

test("six restarts repeat no alert", async () => {
  await using box = await machineWithKey();
  await using hook = await inbox();
  let server = await box.serve();
  const watched = await jobs(server.url, box, 20, [
    await webhook(server.url, box, hook.at("/hook")),
  ]);
  for (const job of watched) await report(server.url, job, "up");
  for (const job of watched.slice(10)) await report(server.url, job, "down");
  await hook.untilArrived((all) => all.length === 10);
  for (let round = 0; round < 6; round++) {
    await server.stop(round % 2 === 0 ? "SIGTERM" : "SIGKILL");
    server = await box.serve();
    for (const job of watched.slice(0, 10)) await report(server.url, job, "up");
    for (const job of watched.slice(10)) await report(server.url, job, "down");
  }
  // This alert arrives last; a repeated one would have arrived before it.
  await report(server.url, watched[0] as Job, "down");
  await hook.untilArrived((all) => all.length > 10);
  expect(
    hook
      .arrived()
      .slice(10)
      .map(({ monitorId }) => monitorId),
  ).toEqual([watched[0]?.id ?? ""]);
});

test("a hanging test alert or check gets a response", async () => {
  await using box = await machineWithKey();
  await using hook = await inbox(hang);
  const { url } = await box.serve();
  const api = clientOf(url, box.key);
  const channel = await webhook(url, box, hook.at("/hook"));
  const body = { type: "http", name: "Slow", url: hook.at("/"), timeout: 13, interval: 60 };
  const { id } = (await api("POST", "/api/v1/monitors", body)).json.data;
  const [sent, checked] = await Promise.all([
    api("POST", `/api/v1/alert-channels/${channel}/test`),
    api("POST", `/api/v1/monitors/${id}/check`),
  ]);
  expect([sent.status, sent.json.data.error]).toEqual([
    200,
    "Timed out after 10 s while waiting for the answer.",
  ]);
  // On a busy machine the result can be “not judged”.
  expect([checked.status, checked.json.data.message]).toEqual([
    200,
    expect.stringMatching(/^(Timed out after 13 s|Not judged: this appliance stalled)/),
  ]);
});
