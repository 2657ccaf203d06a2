import { describe, expect, test } from "bun:test";
import { createApiKey } from "../../../src/accounts/api-keys/service.ts";
import { sha256 } from "../../../src/core/ids.ts";
import { jobBounds } from "../../../src/core/limits.ts";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import { switchGroup } from "../../../src/monitoring/groups/service.ts";
import type { TestAppliance } from "../../support/appliance.ts";
import { createWatch } from "../../support/check-board.ts";

const run = "123e4567-e89b-12d3-a456-426614174000";
const otherRun = "123e4567-e89b-12d3-a456-426614174001";

type OpenedOrganization = TestAppliance["ours"];

/** An appliance with one push monitor, and a function that pings it. */
async function createPingedJob(fields: object = {}) {
  const watch = await createWatch();
  const job = await watch.createJob(fields);
  await watch.engine.runOnce();
  const uuid = job.path.slice("/push/".length);
  const send = (path: string, method = "GET", raw?: string) =>
    watch.stranger(method, `/ping/${path}`, {
      ...(raw !== undefined && { raw, headers: { "Content-Type": "text/plain" } }),
    });
  return {
    ...watch,
    ...job,
    uuid,
    send,
    ping: (path = "", method?: string) => send(`${uuid}${path}`, method),
    post: (path: string, body: string) => send(`${uuid}${path}`, "POST", body),
    job: async (id = job.id) => (await watch.api("GET", `/api/v1/monitors/${id}/job`)).json.data,
  };
}

const createPingKey = async ({ scope }: OpenedOrganization) =>
  (await createApiKey(scope, { name: "Jobs", scope: "ping", expiresInMs: null })).key;

describe("a ping", () => {
  test("responds as Healthchecks does, to HEAD, GET and POST", async () => {
    const { ping, uuid, job } = await createPingedJob();
    expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    for (const method of ["HEAD", "GET", "POST"]) {
      const { headers, status, text } = await ping("", method);
      expect([method, status, text]).toEqual([method, 200, method === "HEAD" ? "" : "OK"]);
      expect(headers.get("ping-body-limit")).toBe("10000");
      expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(headers.get("access-control-allow-origin")).toBe("*");
    }
    expect((await job()).reports).toHaveLength(3);
  });

  test("resumes a paused monitor at the end of a run, but not one of a paused group", async () => {
    const { ping, id, changeMonitor, readMonitor, readStatus, api, engine, job, ours } =
      await createPingedJob();
    await changeMonitor(id, { paused: true });
    await engine.runOnce();
    for (const path of ["/start", "/log"]) await ping(path);
    expect(await readStatus(id)).toBe("paused");
    expect((await ping()).text).toBe("OK");
    expect(await readMonitor(id)).toMatchObject({ paused: false, status: "up" });
    expect((await job()).reports).toHaveLength(1);
    const { json } = await api("POST", "/api/v1/monitor-groups", { body: { name: "Jobs" } });
    await changeMonitor(id, { groupId: json.data.id });
    await switchGroup(ours.scope, json.data.id as string, "group.paused");
    await engine.runOnce();
    expect((await ping("/fail")).text).toBe("OK");
    expect(await readStatus(id)).toBe("paused");
  });

  test("reports a start, a failure, a log and an exit status", async () => {
    const { ping, readStatus, id, time, job, readMonitor } = await createPingedJob({ retries: 3 });
    await ping("/start");
    expect(await readStatus(id)).toBe("pending");
    time.now += 90_000;
    await ping("/3");
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "Reported exit status 3.",
      latencyMs: 90_000,
    });
    await ping("/log");
    expect(await readStatus(id)).toBe("down");
    await ping("/0/");
    expect(await readStatus(id)).toBe("up");
    await ping("/fail");
    expect(await readStatus(id)).toBe("down");
    expect((await job()).reports).toMatchObject([
      { kind: "failure", exitStatus: null },
      { kind: "success", exitStatus: 0, durationMs: null },
      { kind: "log" },
      { kind: "failure", exitStatus: 3, durationMs: 90_000 },
      { kind: "start", durationMs: null },
    ]);
  });

  test("with a wrong address, exit status or run ID is rejected with the text of Healthchecks", async () => {
    const { ping, send, job } = await createPingedJob();
    for (const [response, status, text] of [
      [await ping("/256"), 400, "invalid url format"],
      [await ping("?rid=1"), 400, "invalid uuid format"],
      [await ping(`?rid=${run.toUpperCase()}`), 400, "invalid uuid format"],
      [await ping("/finished"), 404, "not found"],
      [await send(run), 404, "not found"],
      [await send(`${run}/start`), 404, "not found"],
      [await send("no-such-key/job"), 404, "not found"],
      [await send("no-such-key/job?create=1"), 404, "not found"],
    ] as const)
      expect([response.status, response.text]).toEqual([status, text]);
    expect((await job()).reports).toEqual([]);
  });

  test("has the duration of its own run when runs overlap", async () => {
    const { ping, time, job } = await createPingedJob();
    await ping(`/start?rid=${run}`);
    time.now += 10_000;
    await ping(`/start?rid=${otherRun}`);
    time.now += 10_000;
    await ping(`?rid=${run}`);
    time.now += 10_000;
    expect((await job()).startedAt).not.toBe(null);
    await ping(`/fail?rid=${otherRun}`);
    await ping(`?rid=${otherRun}`);
    const { reports, startedAt } = await job();
    expect(startedAt).toBe(null);
    expect(reports.map((one: { durationMs: number | null }) => one.durationMs)).toEqual([
      null,
      20_000,
      20_000,
      null,
      null,
    ]);
  });

  test("stores the start of its body, without escape sequences, and only the last 100", async () => {
    const { post, job, id, api } = await createPingedJob();
    await post("", "\u001b[31mcopied\u001b[0m\r\n12 tables");
    await post("/log", `${"ä".repeat(500_000)}`);
    const { reports } = await job();
    expect(reports[1].body).toBe("copied\n12 tables");
    expect(reports[0].body).toBe("ä".repeat(5_000));
    for (let count = 0; count < 105; count++) await post("/log", `${count}`);
    const { json } = await api("GET", `/api/v1/monitors/${id}/job?limit=100`);
    const bodies = json.data.reports.map((report: { body: string }) => report.body);
    expect([bodies.length, bodies[0], bodies.at(-1)]).toEqual([100, "104", "5"]);
  });

  test("fails if its body has a failure keyword, or no success keyword", async () => {
    const { post, ping, readMonitor, id } = await createPingedJob({
      failureKeywords: ["ERROR"],
      successKeywords: ["done"],
    });
    for (const [body, status] of [
      ["done", "up"],
      ["done, 1 ERROR", "down"],
      ["done", "up"],
      ["copied", "down"],
    ] as const) {
      await post("", body);
      expect((await readMonitor(id)).status).toBe(status);
    }
    await post("/0", "done");
    await ping();
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "The output contains no keyword of a success.",
    });
  });

  test("from Alertmanager's Watchdog is a failure when the alert ends", async () => {
    const { post, readStatus, id } = await createPingedJob();
    const send = (status: string) =>
      post(
        "",
        JSON.stringify({
          receiver: "watchdog",
          status,
          alerts: [{ status: "firing", labels: { alertname: "Watchdog" } }],
          version: "4",
          groupKey: "{}:{}",
        }),
      );
    await send("firing");
    expect(await readStatus(id)).toBe("up");
    await send("resolved");
    expect(await readStatus(id)).toBe("down");
  });
});

describe("a flapping job", () => {
  const changes = jobBounds.stateChanges.value;

  test("has all its reports stored, and a bounded number of state changes, of which the last is right", async () => {
    const { ping, readStateChanges, readBeats, readStatus, readMonitor, advance, id } =
      await createPingedJob();
    for (let round = 0; round < changes; round++) {
      expect((await ping("")).status).toBe(200);
      expect((await ping("/fail")).status).toBe(200);
    }
    await ping("/0");
    await ping("/7");
    await ping("/0");
    expect(await readBeats(id)).toHaveLength(2 * changes + 3);
    expect(await readStateChanges()).toHaveLength(changes);
    expect(await readStatus(id)).toBe("down");
    await advance(61);
    expect(await readStatus(id)).toBe("up");
    expect(await readStateChanges()).toHaveLength(changes + 1);
    await ping("/7");
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "Reported exit status 7.",
    });
  });

  test("does not get a postponed state of before a pause", async () => {
    const { ping, advance, readStatus, changeMonitor, engine, id } = await createPingedJob();
    for (let round = 0; round < changes / 2; round++) {
      await ping("");
      await ping("/fail");
    }
    await ping("");
    expect(await readStatus(id)).toBe("down");
    await changeMonitor(id, { paused: true });
    await engine.runOnce();
    await changeMonitor(id, { paused: false });
    await advance(61);
    expect(await readStatus(id)).toBe("pending");
  });

  test("gets its right state even after a restart", async () => {
    const { ping, readStatus, id, appliance } = await createPingedJob();
    for (let round = 0; round < changes / 2; round++) {
      await ping("/fail");
      await ping("");
    }
    await ping("/fail");
    expect(await readStatus(id)).toBe("up");
    const restarted = new CheckEngine({ ...appliance, monotonic: appliance.clock });
    await restarted.runOnce();
    expect(await readStatus(id)).toBe("down");
  });
});

test("a token is found by its hash, which no stored or queried text reveals", async () => {
  const { ping, uuid, store } = await createPingedJob();
  const queried: unknown[] = [];
  const query = store.query.bind(store);
  store.query = (text, parameters) => {
    queried.push(text, ...parameters);
    return query(text, parameters);
  };
  await ping("");
  await ping("/start");
  store.query = query;
  expect(JSON.stringify(queried)).not.toContain(uuid);
  const [found] = await store.query<{ hash: string }>(
    "select push_token_hash as hash from monitors where push_token_hash = ?",
    [sha256(uuid)],
  );
  expect(found?.hash).toHaveLength(64);
});

test("a deleted job is not found any more", async () => {
  const { ping, api, id } = await createPingedJob();
  expect((await ping("")).status).toBe(200);
  await api("DELETE", `/api/v1/monitors/${id}`);
  expect((await ping("")).status).toBe(404);
});

describe("a ping with a ping key", () => {
  test("finds the monitor by its slug, and creates it on request", async () => {
    const watch = await createPingedJob({ slug: "database-backup" });
    const { send, id, job, api, monitor } = watch;
    const key = await createPingKey(watch.ours);
    expect(await send(`${key}/database-backup/start`)).toMatchObject({ status: 200, text: "OK" });
    expect((await job()).reports).toHaveLength(1);
    expect(await send(`${key}/srv01`)).toMatchObject({ status: 404, text: "not found" });
    const responses = await Promise.all([
      send(`${key}/srv01?create=1`),
      send(`${key}/srv01/start?create=1`),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201]);
    const { json } = await api("GET", "/api/v1/monitors?q=srv01");
    expect(json.data).toMatchObject([
      { name: "srv01", slug: "srv01", interval: 86_400, grace: 3_600 },
    ]);
    expect(json.data[0].id).not.toBe(id);
    expect(await send(`${key}/srv01/0?create=1`)).toMatchObject({ status: 200, text: "OK" });
    expect((await job(json.data[0].id)).reports).toHaveLength(3);
    await monitor({ type: "push", name: "Other", slug: "srv01" });
    expect(await send(`${key}/srv01`)).toMatchObject({ status: 409, text: "ambiguous slug" });
  });

  test("neither reaches another organization, nor reads or writes anything else", async () => {
    const watch = await createPingedJob({ slug: "nightly" });
    const { send, theirs, stranger } = watch;
    const key = await createPingKey(theirs);
    expect((await send(`${key}/nightly`)).status).toBe(404);
    const ours = await createPingKey(watch.ours);
    for (const path of ["/api/v1/monitors", "/metrics", "/mcp"]) {
      const { status } = await stranger("GET", path, {
        headers: { Authorization: `Bearer ${ours}` },
      });
      expect([path, status]).toEqual([path, 401]);
    }
  });
});

describe("a run", () => {
  test("that takes longer than its maximum is down, and up when it finishes", async () => {
    const { ping, advance, readMonitor, id } = await createPingedJob({
      interval: 86_400,
      maximumRunTime: 120,
    });
    await ping();
    await ping("/start");
    await advance(110);
    expect((await readMonitor(id)).status).toBe("up");
    await advance(20);
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "It started, and did not finish within 2 min.",
    });
    await ping();
    expect((await readMonitor(id)).status).toBe("up");
  });

  test("without a maximum must finish within the grace period, as in Healthchecks", async () => {
    const { ping, advance, readStatus, id } = await createPingedJob({
      interval: 86_400,
      grace: 300,
    });
    await ping("/start");
    await advance(290);
    expect(await readStatus(id)).toBe("pending");
    await advance(20);
    expect(await readStatus(id)).toBe("down");
  });
});

describe("a schedule", () => {
  // The clock of the test starts on Friday, 2026-11-20.
  test("decides when a job is late, with its grace period", async () => {
    const { ping, advance, readMonitor, readStatus, id, time, job } = await createPingedJob({
      schedule: "*/10 * * * *",
      timeZone: "Europe/Berlin",
      grace: 30,
    });
    const toNext = 600 - ((time.now / 1000) % 600);
    await ping();
    const { nextDueAt, overdueAt } = await job();
    const due = time.now + toNext * 1000;
    expect(nextDueAt.map(Date.parse)).toEqual([due, due + 600_000, due + 1_200_000]);
    expect(Date.parse(overdueAt)).toBe(due + 30_000);
    await advance(toNext + 20);
    expect(await readStatus(id)).toBe("up");
    await advance(20);
    expect(await readMonitor(id)).toMatchObject({ status: "down" });
    expect((await readMonitor(id)).lastMessage).toMatch(/^It was due at .* UTC, and nothing/);
    await ping();
    expect(await readStatus(id)).toBe("up");
  });

  test("that is invalid is rejected with its field", async () => {
    const { api } = await createPingedJob();
    for (const [schedule, message] of [
      ["61 * * * *", "has an invalid minute"],
      ["0 0 * * mun", "has an invalid day of the week"],
      ["0 0 31 2 *", "never occurs"],
      ["sometimes", "must be a cron expression with five fields"],
    ] as const) {
      const body = { type: "push", name: "Job", schedule };
      const { status, json } = await api("POST", "/api/v1/monitors", { body });
      expect(status).toBe(422);
      expect(json.error.details[0].path).toBe("schedule");
      expect(json.error.details[0].message).toStartWith(message);
    }
  });
});

test("a result of Gatus' external endpoints is a report", async () => {
  const { stranger, uuid, readMonitor, id } = await createPingedJob();
  const send = (query: string, token = uuid) =>
    stranger("POST", `/api/v1/endpoints/core_job/external?${query}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
  expect((await send("success=true&duration=1.5s")).status).toBe(200);
  expect(await readMonitor(id)).toMatchObject({ status: "up", latencyMs: 1_500 });
  expect((await send("success=false&error=disk%20full")).status).toBe(200);
  expect(await readMonitor(id)).toMatchObject({ status: "down", lastMessage: "disk full" });
  expect((await send("success=maybe")).status).toBe(400);
  expect((await send("success=true", "wrong")).status).toBe(404);
});
