/** On-call from outside: a router with many monitors behind it, an escalation across a kill, and an empty schedule. */
import { expect, test } from "bun:test";
import { startInbox } from "../support/inbox.ts";
import { createMachineWithKey, createServerClient, type ServerClient } from "../support/machine.ts";

const flags = ["--rate-limit", "0"];
const notify = (afterMinutes: number, type: "channel" | "schedule", id: string) => ({
  afterMinutes,
  targets: [{ type, id }],
});

type Job = { id: string; path: string };

async function createRecord(api: ServerClient, path: string, body: object) {
  const { status, json } = await api("POST", `/api/v1/${path}`, body);
  if (status !== 201) throw new Error(JSON.stringify(json));
  return json.data;
}

async function createJob(api: ServerClient, name: string, fields: object): Promise<Job> {
  const body = { type: "push", name, interval: 86_400, retries: 0, ...fields };
  const { id, pushUrl } = await createRecord(api, "monitors", body);
  return { id, path: new URL(pushUrl).pathname };
}

async function report(url: string, jobs: readonly Job[], status: "up" | "down") {
  for (const { path } of jobs)
    expect((await fetch(`${url}${path}?status=${status}`)).status).toBe(200);
}

test("200 monitors behind a router are one message, and its second step arrives in its minute after a kill", async () => {
  await using box = await createMachineWithKey();
  await using office = await startInbox();
  await using phone = await startInbox();
  let server = await box.serve({ flags });
  const api = createServerClient(server.url, box.key);
  const [channel, second] = [
    await createRecord(api, "alert-channels", { type: "webhook", name: "A", url: office.at("/") }),
    await createRecord(api, "alert-channels", { type: "webhook", name: "B", url: phone.at("/") }),
  ];
  const policy = await createRecord(api, "escalation-policies", {
    name: "Network",
    steps: [notify(0, "channel", channel.id), notify(1, "channel", second.id)],
  });
  const router = await createJob(api, "Router", {
    alertChannelIds: [],
    escalationPolicyId: policy.id,
  });
  const behind: Job[] = [];
  for (let number = 0; number < 200; number++)
    behind.push(
      await createJob(api, `Host ${number}`, {
        dependsOn: [router.id],
        alertChannelIds: [channel.id],
      }),
    );
  await report(server.url, [router, ...behind], "up");
  await report(server.url, [router], "down");
  const downAt = Date.now();
  await report(server.url, behind, "down");
  await office.waitUntilArrived((all) => all.length > 0);
  server.child.kill("SIGKILL");
  await server.child.exited;
  server = await box.serve({ flags });
  await phone.waitUntilArrived((all) => all.length > 0);
  const seconds = (Date.now() - downAt) / 1_000;
  expect(seconds).toBeGreaterThan(58);
  expect(seconds).toBeLessThan(125);
  expect(phone.listArrived().map(({ monitorId }) => monitorId)).toEqual([router.id]);
  // A message that was being sent during the kill is repeated with its id.
  const messages = new Map(office.listArrived().map((one) => [one.alertId, one]));
  expect([...messages.values()].map(({ type, monitorId }) => [type, monitorId])).toEqual([
    ["monitor.down", router.id],
  ]);
  const lasting = behind.slice(0, 3);
  await report(server.url, [router], "up");
  await report(server.url, behind.slice(3), "up");
  await report(server.url, lasting, "down");
  const isDown = ({ type, monitorId }: { type: string; monitorId: string }) =>
    type === "monitor.down" && monitorId !== router.id;
  await office.waitUntilArrived((all) => all.filter(isDown).length >= 3);
  expect(
    office
      .listArrived()
      .filter(isDown)
      .map(({ monitorId }) => monitorId)
      .toSorted(),
  ).toEqual(lasting.map(({ id }) => id).toSorted());
  expect(await server.stop()).toBe(0);
}, 180_000);

test("a step whose schedule has nobody on call is followed by the next one at once", async () => {
  await using box = await createMachineWithKey();
  await using phone = await startInbox();
  const { url } = await box.serve({ flags });
  const api = createServerClient(url, box.key);
  const channel = await createRecord(api, "alert-channels", {
    type: "webhook",
    name: "Phone",
    url: phone.at("/"),
  });
  const schedule = await createRecord(api, "schedules", { name: "Empty", timeZone: "UTC" });
  const policy = await createRecord(api, "escalation-policies", {
    name: "Shop",
    steps: [notify(0, "schedule", schedule.id), notify(30, "channel", channel.id)],
  });
  const fields = { alertChannelIds: [], escalationPolicyId: policy.id };
  const job = await createJob(api, "Shop", fields);
  await report(url, [job], "up");
  await report(url, [job], "down");
  const downAt = Date.now();
  await phone.waitUntilArrived((all) => all.length > 0);
  expect(Date.now() - downAt).toBeLessThan(60_000);
});
