import { describe, expect, test } from "bun:test";
import { exchange } from "../../src/core/outgoing/http/exchange.ts";
import { dumpTables, unknownId } from "../support/appliance.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createPager } from "../support/pager.ts";
import { apiRoutes } from "../support/records.ts";
import { canary, newChannels } from "../support/samples.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** Two monitors that went down and recovered, an incident, and a test, each at a different time. */
async function history() {
  const made = await createPager();
  const { api, later } = made;
  const hook = await made.inbox();
  const [a, b] = [
    await made.createWatchedJob([hook], { name: "A" }),
    await made.createWatchedJob([hook], { name: "B" }),
  ];
  for (const status of ["down", "up"] as const)
    for (const job of [a, b]) {
      await job.changeState(status);
      await later();
    }
  const { json } = await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  const incidentId: string = json.data.id;
  await later();
  await api("POST", `/api/v1/alert-channels/${hook.id}/test`);
  return { ...made, hook, a, b, incidentId };
}

describe("the log of alerts", () => {
  test("has all alerts, newest first, with their texts", async () => {
    const { ours, hook, a } = await history();
    await using _ = hook;
    const { status, json } = await ours.reader("GET", "/api/v1/alerts");
    expect([status, json.meta]).toEqual([200, { page: 1, per_page: 20, total: 6 }]);
    const types = ["monitor.down", "monitor.down", "monitor.up", "monitor.up"];
    expect(json.data.map(({ type }: { type: string }) => type).toReversed()).toEqual([
      ...types,
      "incident.opened",
      "test",
    ]);
    expect(json.data.map(({ id }: { id: string }) => id).toReversed()).toEqual(
      hook.alerts().map(({ data }) => data.alertId),
    );
    const first = hook.alerts()[0];
    expect(json.data.at(-1)).toMatchObject({
      type: "monitor.down",
      at: first?.timestamp,
      data: { monitor: { id: a.id, name: "A" }, message: "Reported down.", latencyMs: null },
    });
  });

  test("can be filtered by monitor, incident and type, and has pages", async () => {
    const { readAlerts: told, hook, a, incidentId, api } = await history();
    await using _ = hook;
    const types = async (query: string) => (await told(query)).map(({ type }) => type);
    expect(await types(`&monitorId=${a.id}`)).toEqual(["monitor.down", "monitor.up"]);
    expect(await types(`&incidentId=${incidentId}`)).toEqual(["incident.opened"]);
    expect(await types("&type=test")).toEqual(["test"]);
    expect(await types(`&monitorId=${a.id}&type=monitor.up`)).toEqual(["monitor.up"]);
    expect(await types(`&monitorId=${unknownId}`)).toEqual([]);
    const whole = (await api("GET", "/api/v1/alerts")).json.data;
    const { json } = await api("GET", "/api/v1/alerts?page=2&per_page=4");
    expect(json).toEqual({ data: whole.slice(4), meta: { page: 2, per_page: 4, total: 6 } });
    for (const query of ["type=fax", "monitorId=7", "page=0", "colour=red"])
      expect((await api("GET", `/api/v1/alerts?${query}`)).status).toBe(422);
  });

  test("has each alert with all its deliveries", async () => {
    const {
      inbox,
      createWatchedJob: watched,
      later,
      readAlerts: told,
      api,
      readDeliveries: deliveriesOf,
    } = await createPager();
    await using first = await inbox();
    await using second = await inbox({}, replyWith(500));
    const backup = await watched([first, second]);
    await backup.changeState("down");
    await later();
    const [alert] = await told();
    const { json } = await api("GET", `/api/v1/alerts/${alert.id}`);
    const deliveries = [...(await deliveriesOf(first)), ...(await deliveriesOf(second))];
    expect(json.data).toEqual({ ...alert, deliveries });
  });

  test("retains alerts of a renamed or deleted monitor", async () => {
    const { api, readAlerts: told, hook, a } = await history();
    await using _ = hook;
    await a.change({ name: "Renamed" });
    const before = await told();
    expect((await api("DELETE", `/api/v1/monitors/${a.id}`)).status).toBe(200);
    expect(await told()).toEqual(before);
    expect(before[0].data.monitor.name).toBe("A");
  });

  test("has no events that notified no channel", async () => {
    const { inbox, createWatchedJob: watched, later, readAlerts: told } = await createPager();
    await using off = await inbox({ enabled: false });
    await (await watched([off])).changeState("down");
    await later();
    expect(await told()).toEqual([]);
  });
});

describe("the log of a channel's deliveries", () => {
  test("shows waiting, retrying, delivered and failed deliveries", async () => {
    const {
      inbox,
      createWatchedJob: watched,
      later,
      readDeliveries: deliveriesOf,
      time,
    } = await createPager();
    await using hook = await inbox({}, replyWith(500));
    const backup = await watched([hook]);
    await backup.changeState("down");
    await later(0);
    const begun = time.now;
    const at = (seconds: number) => new Date(begun + seconds * 1000).toISOString();
    const waiting = {
      id: expect.any(String),
      channelId: hook.id,
      type: "monitor.down",
      status: "pending",
      alertIds: [expect.any(String)],
      attempts: [],
      error: null,
      nextAttemptAt: at(5),
      createdAt: at(0),
      deliveredAt: null,
    };
    expect(await deliveriesOf(hook)).toEqual([waiting]);
    await later(10);
    const error = "The receiver responded with HTTP 500 (Internal Server Error).";
    const durationMs = expect.any(Number);
    const failed = { at: at(10), outcome: "failed", message: error, durationMs };
    const failing = { ...waiting, attempts: [failed], error, nextAttemptAt: at(15) };
    expect(await deliveriesOf(hook)).toEqual([failing]);
    hook.setReply(replyWith());
    await later(10);
    const taken = { at: at(20), outcome: "delivered", message: "Delivered.", durationMs };
    const attempts = [failed, taken];
    const arrived = { status: "delivered", error: null, nextAttemptAt: null, deliveredAt: at(20) };
    expect(await deliveriesOf(hook)).toEqual([{ ...waiting, attempts, ...arrived }]);
    hook.setReply(replyWith(410));
    for (const status of ["up", "down"] as const) await backup.changeState(status);
    await later();
    expect((await deliveriesOf(hook))[1]).toMatchObject({
      type: "digest",
      status: "failed",
      alertIds: [expect.any(String), expect.any(String)],
      nextAttemptAt: null,
    });
  });

  test("is newest first and has pages, also for viewers", async () => {
    const { ours, hook } = await history();
    await using _ = hook;
    const path = `/api/v1/alert-channels/${hook.id}/deliveries`;
    const { json } = await ours.reader("GET", path);
    const ids = json.data.map(({ id }: { id: string }) => id);
    expect(ids.toReversed()).toEqual(hook.received().map(({ id }) => id));
    const second = await ours.reader("GET", `${path}?page=2&per_page=4`);
    expect(second.json).toEqual({
      data: json.data.slice(4),
      meta: { page: 2, per_page: 4, total: 6 },
    });
  });
});

test("another organization sees none of it, and gets the same responses as for an unknown id", async () => {
  const made = await history();
  const { theirs, hook, a, readAlerts: told } = made;
  await using _ = hook;
  const [alert] = await told();
  const before = dumpTables(made);
  expect((await theirs.api("GET", "/api/v1/alerts")).json.data).toEqual([]);
  const filtered = await theirs.api("GET", `/api/v1/alerts?monitorId=${a.id}`);
  expect(filtered.json.data).toEqual([]);
  const messageOf = async (method: string, path: string) => {
    const { status, json } = await theirs.api(method, path);
    return [status, json.error.code, json.error.message];
  };
  for (const [method, pathOf, id] of [
    ["GET", (id: string) => `/api/v1/alerts/${id}`, alert.id],
    ["GET", (id: string) => `/api/v1/alert-channels/${id}/deliveries`, hook.id],
    ["POST", (id: string) => `/api/v1/alert-channels/${id}/test`, hook.id],
    ["GET", (id: string) => `/api/v1/monitors/${id}/alert-preview`, a.id],
  ] as const) {
    const answers = [
      await messageOf(method, pathOf(id)),
      await messageOf(method, pathOf(unknownId)),
    ];
    expect(answers[0]?.[0]).toBe(404);
    expect(answers[0]).toEqual(answers[1]);
  }
  expect(dumpTables(made)).toBe(before);
});

test("no secret of a channel or mail server, and no text of a receiver, is in a response, the log or the database", async () => {
  const gossip = "GOSSIP-91c2";
  await using echo = await startTarget();
  echo.setReply((response) => {
    const { req } = response;
    const said = JSON.stringify([gossip, req.url, req.headers, echo.asked.at(-1)?.body]);
    replyWith(500, said, { "x-said": gossip, "retry-after": gossip })(response);
  });
  await using mail = await startMailServer({ users: { signalbox: "right" } });
  const made = await createPager({
    exchange: (request, context) => {
      const url = new URL(request.url.pathname + request.url.search, echo.at());
      return exchange({ ...request, url }, context);
    },
  });
  const { api, later, readAlerts: told } = made;
  const { host, port, from } = mail.smtp();
  const smtp = { host, port, from, tls: "none", user: "signalbox", password: canary };
  expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
  const channels: { id: string }[] = [];
  for (const [type, { secrets, others }] of Object.entries(newChannels))
    channels.push(await made.channel({ type, ...others, ...secrets }));
  const backup = await made.createWatchedJob(channels, { autoIncidentSeverity: "major" });
  await backup.changeState("down");
  for (const seconds of [10, 6, 16, 61]) await later(seconds);
  for (const { id } of channels) await api("POST", `/api/v1/alert-channels/${id}/test`);
  // All channels were attempted; otherwise this would prove nothing.
  for (const channel of channels)
    expect((await made.readDeliveries(channel)).map(({ status }) => status)).not.toContain(
      "delivered",
    );
  expect(echo.asked.length).toBeGreaterThan(40);
  expect(JSON.stringify(echo.asked)).toContain(canary);

  const ids = [...channels, ...(await told()), { id: backup.id }].map(({ id }) => id as string);
  const answers: string[] = [];
  for (const { method, path } of apiRoutes.filter(({ method }) => method === "GET"))
    for (const id of path.includes(":id") ? ids : [""])
      answers.push((await api(method, path.replace(":id", id))).text);
  const all = [...answers, ...made.logged, dumpTables(made)].join("\n");
  expect(all).toContain("HTTP 500");
  for (const secret of [canary, gossip, "said the server", Buffer.from(canary).toString("base64")])
    expect(all.split("\n").filter((line) => line.includes(secret))).toEqual([]);
});
