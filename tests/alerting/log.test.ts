import { describe, expect, test } from "bun:test";
import { exchange } from "../../src/core/outgoing/http/exchange.ts";
import { dumpTables, unknownId } from "../support/appliance.ts";
import { startMailServer } from "../support/mail-server.ts";
import { createPager } from "../support/pager.ts";
import { apiRoutes } from "../support/records.ts";
import { canary, newChannels } from "../support/samples.ts";
import { replyWith, startTarget } from "../support/target.ts";

/** Two monitors that went down and recovered, an incident, and a test, each at a different time. */
async function createHistory() {
  const pager = await createPager();
  const { api, later } = pager;
  const hook = await pager.inbox();
  const [a, b] = [
    await pager.createWatchedJob([hook], { name: "A" }),
    await pager.createWatchedJob([hook], { name: "B" }),
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
  return { ...pager, hook, a, b, incidentId };
}

describe("the log of a channel's deliveries", () => {
  test("shows waiting, retrying, delivered and failed deliveries", async () => {
    const { inbox, createWatchedJob, later, readDeliveries, time } = await createPager();
    await using hook = await inbox({}, replyWith(500));
    const backup = await createWatchedJob([hook]);
    await backup.changeState("down");
    await later(0);
    const begun = time.now;
    const formatTime = (seconds: number) => new Date(begun + seconds * 1000).toISOString();
    const waiting = {
      id: expect.any(String),
      channelId: hook.id,
      type: "monitor.down",
      status: "pending",
      caseChange: null,
      alertIds: [expect.any(String)],
      attempts: [],
      error: null,
      nextAttemptAt: formatTime(5),
      createdAt: formatTime(0),
      deliveredAt: null,
      receipt: null,
      receiptAt: null,
    };
    expect(await readDeliveries(hook)).toEqual([waiting]);
    await later(10);
    const error = "The receiver responded with HTTP 500 (Internal Server Error).";
    const durationMs = expect.any(Number);
    const failed = { at: formatTime(10), outcome: "failed", message: error, durationMs };
    const failing = { ...waiting, attempts: [failed], error, nextAttemptAt: formatTime(15) };
    expect(await readDeliveries(hook)).toEqual([failing]);
    hook.setReply(replyWith());
    await later(10);
    const taken = { at: formatTime(20), outcome: "delivered", message: "Delivered.", durationMs };
    const attempts = [failed, taken];
    const arrived = {
      status: "delivered",
      error: null,
      nextAttemptAt: null,
      deliveredAt: formatTime(20),
    };
    expect(await readDeliveries(hook)).toEqual([{ ...waiting, attempts, ...arrived }]);
    hook.setReply(replyWith(410));
    for (const status of ["up", "down"] as const) await backup.changeState(status);
    await later();
    expect((await readDeliveries(hook))[1]).toMatchObject({
      type: "digest",
      status: "failed",
      alertIds: [expect.any(String), expect.any(String)],
      nextAttemptAt: null,
    });
  });

  test("is newest first and has pages, also for viewers", async () => {
    const { ours, hook } = await createHistory();
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
  const world = await createHistory();
  const { theirs, hook, a } = world;
  await using _ = hook;
  const [alert] = await world.readAlerts();
  const before = dumpTables(world);
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
    const responses = [
      await messageOf(method, pathOf(id)),
      await messageOf(method, pathOf(unknownId)),
    ];
    expect(responses[0]?.[0]).toBe(404);
    expect(responses[0]).toEqual(responses[1]);
  }
  expect(dumpTables(world)).toBe(before);
});

test("no secret of a channel or mail server, and no text of a receiver, is in a response, the log or the database", async () => {
  const gossip = "GOSSIP-91c2";
  await using echo = await startTarget();
  echo.setReply((response) => {
    const { req } = response;
    const text = JSON.stringify([gossip, req.url, req.headers, echo.asked.at(-1)?.body]);
    replyWith(500, text, { "x-said": gossip, "retry-after": gossip })(response);
  });
  await using mail = await startMailServer({ users: { signalbox: "right" } });
  const pager = await createPager({
    exchange: (request, context) => {
      const url = new URL(request.url.pathname + request.url.search, echo.at());
      return exchange({ ...request, url }, context);
    },
  });
  const { api, later } = pager;
  const { host, port, from } = mail.smtp();
  const smtp = { host, port, from, tls: "none", user: "signalbox", password: canary };
  expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
  const channels: { id: string }[] = [];
  for (const [type, { secrets, others }] of Object.entries(newChannels))
    channels.push(await pager.channel({ type, ...others, ...secrets }));
  const backup = await pager.createWatchedJob(channels, { autoIncidentSeverity: "major" });
  await backup.changeState("down");
  for (const seconds of [10, 6, 16, 61]) await later(seconds);
  for (const { id } of channels) await api("POST", `/api/v1/alert-channels/${id}/test`);
  // All channels were attempted; otherwise this would prove nothing.
  for (const channel of channels)
    expect((await pager.readDeliveries(channel)).map(({ status }) => status)).not.toContain(
      "delivered",
    );
  expect(echo.asked.length).toBeGreaterThan(40);
  expect(JSON.stringify(echo.asked)).toContain(canary);

  const ids = [
    ...channels,
    ...(await pager.readAlerts()),
    ...pager.readMessages(),
    { id: backup.id },
  ].map(({ id }) => id as string);
  const responses: string[] = [];
  for (const { method, path } of apiRoutes.filter(({ method }) => method === "GET"))
    for (const id of path.includes(":id") ? ids : [""])
      responses.push((await api(method, path.replace(":id", id))).text);
  const all = [...responses, ...pager.logged, dumpTables(pager)].join("\n");
  expect(all).toContain("HTTP 500");
  for (const secret of [canary, gossip, "said the server", Buffer.from(canary).toString("base64")])
    expect(all.split("\n").filter((line) => line.includes(secret))).toEqual([]);
});
