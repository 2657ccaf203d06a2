/** Alert sources over the wire: from a request of another tool to the messages about its alert. */
import { describe, expect, test } from "bun:test";
import { sourceBounds } from "../../../src/core/limits.ts";
import { unknownId } from "../../support/appliance.ts";
import type { Json } from "../../support/json.ts";
import { createPersonWithPhone } from "../../support/on-call.ts";
import { replyWith } from "../../support/target.ts";
import { createPager } from "../../support/pager.ts";

const path = "/api/v1/alert-sources";

const episode = "2026-11-20T09:00:00Z";
const group = (...alerts: object[]) => ({ version: "4", status: "firing", alerts });
const buildFiring = (key: string, more: object = {}) => ({
  status: "firing",
  labels: { alertname: "DiskFull", severity: "warning" },
  annotations: { summary: `Disk ${key} is full` },
  startsAt: episode,
  fingerprint: key,
  ...more,
});
const setUpResolved = (key: string, more: object = {}) =>
  buildFiring(key, { status: "resolved", ...more });

/** Number of entries of a parameter that is a list in JSON. */
const countEntries = (parameter: unknown): number[] =>
  typeof parameter === "string" && parameter.startsWith("[")
    ? [(JSON.parse(parameter) as unknown[]).length]
    : [];

async function createWorld() {
  const pager = await createPager();
  const { app, api } = pager;
  const inbox = await pager.inbox({ name: "Ops" });
  /** Creates a source that notifies the inbox. Returns it with a function that sends a body to its address. */
  async function createSource(fields: object = {}) {
    const body = {
      name: "Prometheus",
      type: "alertmanager",
      alertChannelIds: [inbox.id],
      ...fields,
    };
    const { status, json, text } = await api("POST", path, { body });
    if (status !== 201) throw new Error(text);
    const source = json.data as Json;
    const at = new URL(source.address as string).pathname;
    return {
      ...source,
      id: source.id as string,
      at,
      send: (sent: unknown, rest = "") => send(at + rest, sent),
    };
  }
  async function send(to: string, sent: unknown, headers: Record<string, string> = {}) {
    const text = typeof sent === "string" ? sent : JSON.stringify(sent);
    const response = await app.handle(
      new Request(`http://localhost${to}`, {
        method: "POST",
        headers: { Host: "localhost", "Content-Length": `${Buffer.byteLength(text)}`, ...headers },
        body: text,
      }),
    );
    return { status: response.status, json: (await response.json()) as Json };
  }
  const listLog = async (id: string): Promise<Json[]> =>
    (await api("GET", `${path}/${id}/requests?per_page=100`)).json.data;
  return { ...pager, createInbox: pager.inbox, inbox, createSource, send, listLog };
}

describe("an alert of another tool", () => {
  test("is opened, deduplicated by its key, and resolved, with one message each", async () => {
    const { createSource, later, inbox, readAlerts, readAlert } = await createWorld();
    const { send, id } = await createSource();
    expect((await send(group(buildFiring("a"), buildFiring("b")))).json).toMatchObject({
      opened: 2,
    });
    expect((await send(group(buildFiring("a"), buildFiring("b")))).json).toMatchObject({
      opened: 0,
    });
    await later();
    expect(inbox.listTitles()).toHaveLength(2);
    const [first] = await readAlerts("&status=open");
    expect(first).toMatchObject({
      type: "source.opened",
      title: "Disk a is full",
      subject: { type: "source", id },
      status: "open",
      priority: "normal",
    });
    await send(group(setUpResolved("a")));
    await later();
    expect(await readAlert(first?.["id"] as string)).toMatchObject({
      status: "resolved",
      resolvedBecause: "recovered",
    });
    expect(inbox.alerts().map(({ type }) => type)).toEqual([
      "source.opened",
      "source.opened",
      "source.resolved",
    ]);
    expect(inbox.alerts().at(-1)?.data).toMatchObject({
      source: { name: "Prometheus" },
      report: { key: "a", title: "Disk a is full" },
    });
    expect((await readAlerts("&status=open")).map(({ title }) => title)).toEqual([
      "Disk b is full",
    ]);
  });

  test("is not over for a channel that did not get it yet: its end waits for it", async () => {
    const { createSource, createInbox, later } = await createWorld();
    let fails = true;
    const slow = await createInbox({ name: "Slow" }, (response) => {
      replyWith(fails ? 500 : 200)(response);
      fails = false;
    });
    const { send } = await createSource({ alertChannelIds: [slow.id] });
    // More than fits into one message.
    const keys = Array.from({ length: 30 }, (_, index) => `${index} ${"x".repeat(1_000)}`);
    await send(group(...keys.map((key) => buildFiring(key))));
    await send(group(setUpResolved(keys[0] ?? "")));
    await later();
    await later();
    const [failed, ...arrived] = slow.received();
    const listTypes = (all: typeof arrived) =>
      all.flatMap(({ data }) => data.alerts as { type: string }[]).map(({ type }) => type);
    expect(failed?.data.alerts.length).toBeLessThan(30);
    expect(listTypes(arrived).toSorted()).toEqual([
      ...keys.map(() => "source.opened"),
      "source.resolved",
    ]);
  });

  test("that flaps is notified a bounded number of times, and ends when its end is a minute old", async () => {
    const { createSource, later, inbox, readAlerts, listLog, time, appliance } =
      await createWorld();
    const { send, id } = await createSource();
    const rounds = sourceBounds.changes.value + 5;
    const startOf = (round: number) => ({
      startsAt: `2026-11-20T09:${10 + (round % 50)}:${10 + (round % 7)}Z`,
    });
    for (let round = 0; round < rounds; round++) {
      await send(group(buildFiring("a", startOf(round))));
      expect((await send(group(setUpResolved("a", startOf(round))))).status).toBe(200);
    }
    expect(await listLog(id)).toHaveLength(100);
    await later();
    expect(await readAlerts("&status=open")).toHaveLength(1);
    time.now += 61_000;
    await appliance.sourceWriter.resolveSilent();
    await later();
    expect(await readAlerts("&status=open")).toEqual([]);
    const opened = inbox.alerts().filter(({ type }) => type === "source.opened");
    expect(opened.length).toBeLessThanOrEqual(sourceBounds.changes.value + 1);
  });

  test("that starts again before the end of its last occurrence stays open until its own end", async () => {
    const { createSource } = await createWorld();
    const { send } = await createSource();
    const again = { startsAt: "2026-11-20T10:30:00Z" };
    await send(group(buildFiring("a")));
    await send(group(buildFiring("a", again)));
    expect((await send(group(setUpResolved("a")))).json).toMatchObject({ resolved: 0 });
    expect((await send(group(setUpResolved("a", again)))).json).toMatchObject({ resolved: 1 });
  });

  test("a more urgent report notifies again; another text only changes the alert", async () => {
    const { createSource, later, inbox, readAlerts } = await createWorld();
    const { send } = await createSource();
    await send(group(buildFiring("a")));
    await later();
    const values = { annotations: { summary: "Disk a is full", description: "96 %" } };
    expect((await send(group(buildFiring("a", values)))).json).toMatchObject({ changed: 1 });
    await later();
    expect(inbox.received()).toHaveLength(1);
    const [alert] = await readAlerts();
    expect(alert?.["data"]).toMatchObject({ message: expect.stringContaining("96 %") });
    const labels = { alertname: "DiskFull", severity: "critical" };
    await send(group(buildFiring("a", { labels })));
    await later();
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.changed"]);
    expect((await readAlerts())[0]).toMatchObject({ priority: "critical", type: "source.opened" });
  });

  test("follows an escalation policy until the tool reports an acknowledgment", async () => {
    const world = await createWorld();
    const { createSource, later, api, readAlerts, send } = world;
    await using ada = await createPersonWithPhone(world, "Ada");
    const target = { targets: [{ type: "person", id: ada.id }] };
    const steps = [
      { afterMinutes: 0, ...target },
      { afterMinutes: 10, ...target },
      { afterMinutes: 20, ...target },
    ];
    const policy = await api("POST", "/api/v1/escalation-policies", {
      body: { name: "Shop", steps },
    });
    const fields = { type: "pagerduty", escalationPolicyId: policy.json.data.id };
    const source = await createSource({ ...fields, alertChannelIds: [] });
    const key = source.at.slice("/in/".length);
    const buildEvent = (action: string) => ({
      routing_key: key,
      event_action: action,
      dedup_key: "k",
      payload: { summary: "The boiler is cold", source: "cellar", severity: "critical" },
    });
    const { status, json } = await send("/v2/enqueue", buildEvent("trigger"));
    expect([status, json]).toEqual([
      202,
      { status: "success", message: "Event processed", dedup_key: "k" },
    ]);
    await later();
    await later(600);
    await later();
    expect(ada.received().length).toBe(2);
    await send("/v2/enqueue", buildEvent("acknowledge"));
    await later();
    expect((await readAlerts())[0]).toMatchObject({
      status: "acknowledged",
      acknowledgments: [{ type: "system", name: "Prometheus" }],
    });
    await later(1_200);
    await later();
    expect(ada.received().length).toBe(2);
    await send("/v2/enqueue", buildEvent("resolve"));
    await later();
    await later();
    expect(ada.received().at(-1)?.type).toBe("source.resolved");
    // A policy in use can't be deleted.
    const deleted = await api("DELETE", `/api/v1/escalation-policies/${policy.json.data.id}`);
    expect([deleted.status, deleted.json.error.details[0].path]).toEqual([
      409,
      `alert-sources/${source.id}`,
    ]);
  });

  test("can be acknowledged, snoozed and noted like any other", async () => {
    const { createSource, later, inbox, api, readAlerts, time } = await createWorld();
    const { send } = await createSource();
    await send(group(buildFiring("a")));
    await later();
    const [alert] = await readAlerts();
    const act = (action: string, body: object = {}) =>
      api("POST", `/api/v1/alerts/${alert?.["id"]}/${action}`, { body });
    expect((await act("acknowledge")).status).toBe(200);
    const until = new Date(time.now + 3_600_000).toISOString();
    expect((await act("snooze", { until })).status).toBe(200);
    expect((await act("notes", { message: "We look." })).status).toBe(201);
    await later(3_700);
    await later();
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.opened"]);
    expect((await readAlerts())[0]?.["status"]).toBe("open");
  });

  test("is resolved in time without further reports, even if the clock was ahead", async () => {
    const { createSource, readAlerts, later, appliance, time } = await createWorld();
    const { send } = await createSource({ resolveAfterMinutes: 30 });
    await appliance.sourceWriter.resolveSilent();
    time.now += 86_400_000;
    await send(group(buildFiring("a")));
    await appliance.sourceWriter.resolveSilent();
    time.now -= 86_400_000;
    const waitMinutes = async (minutes: number) => {
      await appliance.sourceWriter.resolveSilent();
      time.now += minutes * 60_000;
      await appliance.sourceWriter.resolveSilent();
      await later();
      return (await readAlerts())[0]?.["status"];
    };
    expect(await waitMinutes(29)).toBe("open");
    expect(await waitMinutes(2)).toBe("resolved");
  });

  test("is resolved without further reports, if the source says so", async () => {
    const { createSource, later, inbox, readAlerts, appliance } = await createWorld();
    const { send } = await createSource({ resolveAfterMinutes: 30 });
    const endSilent = async (seconds: number) => {
      await later(seconds);
      await appliance.sourceWriter.resolveSilent();
    };
    await send(group(buildFiring("a")));
    await endSilent(1_200);
    await send(group(buildFiring("a")));
    await endSilent(1_200);
    expect((await readAlerts())[0]?.["status"]).toBe("open");
    await endSilent(700);
    await later();
    expect((await readAlerts())[0]).toMatchObject({ resolvedBecause: "recovered" });
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.resolved"]);
    // The problem was not over: its tool reports the same start again.
    expect((await send(group(buildFiring("a")))).json).toMatchObject({ opened: 1 });
  });

  test("opens an incident, which does not notify the channels of the source again", async () => {
    const { createSource, later, inbox, api, createInbox } = await createWorld();
    const other = await createInbox({ name: "All incidents" });
    const { send, id } = await createSource({ incidentSeverity: "major" });
    await send(group(buildFiring("a")));
    await later();
    const readIncidents = async (): Promise<Json[]> =>
      (await api("GET", "/api/v1/incidents")).json.data;
    expect(await readIncidents()).toMatchObject([
      { title: "Disk a is full", severity: "major", status: "investigating", public: false },
    ]);
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened"]);
    expect(other.alerts().map(({ type }) => type)).toEqual(["incident.opened"]);
    await send(group(setUpResolved("a")));
    await later();
    expect(await readIncidents()).toMatchObject([{ status: "resolved" }]);
    await send(group(buildFiring("a", { startsAt: "2026-11-20T12:00:00Z" })));
    expect((await readIncidents()).map(({ status }) => status)).toEqual([
      "investigating",
      "resolved",
    ]);
    expect((await api("DELETE", `${path}/${id}`)).status).toBe(200);
    expect((await readIncidents()).map(({ status }) => status)).toEqual(["resolved", "resolved"]);
  });

  test("has the priority of the source, if that has one", async () => {
    const { createSource, later, readAlerts } = await createWorld();
    const { send } = await createSource({ priority: "low" });
    await send(group(buildFiring("a")));
    await later();
    expect((await readAlerts())[0]?.["priority"]).toBe("low");
  });
});

describe("the address", () => {
  test("Opsgenie's API accepts the token as its key", async () => {
    const { createSource, send, later, inbox } = await createWorld();
    const { at } = await createSource({ type: "opsgenie" });
    const headers = { Authorization: `GenieKey ${at.slice(4)}` };
    const created = await send("/v2/alerts", { message: "Cold", alias: "boiler" }, headers);
    expect([created.status, created.json.result]).toEqual([202, "Request will be processed"]);
    await later();
    const closed = await send("/v2/alerts/boiler/close?identifierType=alias", {}, headers);
    expect(closed.status).toBe(202);
    await later();
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.resolved"]);
    const wrong = await send("/v2/alerts", { message: "Cold" }, { Authorization: "GenieKey x" });
    expect([wrong.status, wrong.json.message]).toEqual([403, "The API key is not valid."]);
    const invalid = await send("/v2/alerts", { alias: "boiler" }, headers);
    expect([invalid.status, invalid.json.message]).toEqual([
      422,
      expect.stringContaining("message is required"),
    ]);
  });

  test("PagerDuty's path rejects events as PagerDuty does", async () => {
    const { createSource, send } = await createWorld();
    const { at } = await createSource({ type: "pagerduty" });
    const other = await createSource({ name: "Other" });
    const sendRejected = async (event: object) => (await send("/v2/enqueue", event)).json;
    const routing_key = at.slice(4);
    expect(await sendRejected({ routing_key, event_action: "resolve" })).toEqual({
      status: "invalid event",
      message: "Event object is invalid",
      errors: ["'dedup_key' is required"],
    });
    const unknown = { event_action: "resolve", dedup_key: "k", routing_key: "x".repeat(32) };
    expect((await sendRejected(unknown)).errors).toEqual(["'routing_key' is not valid"]);
    expect((await sendRejected({ ...unknown, routing_key: other.at.slice(4) })).errors).toEqual([
      "'routing_key' is of a source of the type alertmanager, not pagerduty",
    ]);
  });

  test("wrong, deleted and replaced ones get the same response, and many are limited", async () => {
    const { createSource, send, api, ...world } = await createWorld();
    const rotated = await createSource();
    const deleted = await createSource({ name: "Deleted" });
    const fresh = await api("POST", `${path}/${rotated.id}/rotate`);
    expect(fresh.status).toBe(200);
    await api("DELETE", `${path}/${deleted.id}`);
    const sendAndReadError = async (to: string) => {
      const { status, json } = await send(to, group(buildFiring("a")));
      return [status, json.error.code, json.error.message];
    };
    const expected = await sendAndReadError(`/in/${"x".repeat(32)}`);
    expect(expected[0]).toBe(404);
    for (const to of [rotated.at, deleted.at, "/in/x"])
      expect(await sendAndReadError(to)).toEqual(expected);
    const next = new URL(fresh.json.data.address).pathname;
    expect((await send(next, group(buildFiring("a")))).status).toBe(200);
    for (let count = 0; count < 60; count += 1) await send("/in/wrong", {});
    expect((await send("/in/wrong", {})).status).toBe(429);
    expect((await send(next, group(buildFiring("a")))).status).toBe(200);
    world.time.now += 61_000;
    expect((await api("POST", `${path}/${deleted.id}/restore`)).status).toBe(200);
    expect((await send(deleted.at, group(buildFiring("a")))).json).toMatchObject({ opened: 1 });
  });

  test("a viewer and a key that only reads don't see it, and other organizations see nothing", async () => {
    const { createSource, ours, theirs } = await createWorld();
    const { id } = await createSource();
    expect((await ours.reader("GET", `${path}/${id}`)).json.data.address).toBeNull();
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/requests"],
      ["POST", "/rotate"],
      ["DELETE", ""],
    ] as const)
      expect((await theirs.api(method, `${path}/${id}${rest}`)).status).toBe(404);
    expect((await theirs.api("GET", path)).json.data).toEqual([]);
  });
});

describe("requests", () => {
  test("are verified by a replay if their signature was rejected", async () => {
    const { createSource, api, listLog, database } = await createWorld();
    const { id, send } = await createSource({ type: "aws-sns" });
    const notification = { Type: "Notification", MessageId: "1", Message: "It failed." };
    const forged = { ...notification, SigningCertURL: "https://a.example/" };
    expect((await send(forged)).status).toBe(422);
    const replay = async () => {
      const [newest] = await listLog(id);
      return (await api("POST", `${path}/${id}/requests/${newest?.["id"]}/replay`)).status;
    };
    expect(await replay()).toBe(422);
    // The signature of the request was valid when it arrived, and the certificate can be replaced later.
    database.run("update alert_source_requests set status = 200");
    expect(await replay()).toBe(200);
  });

  test("are logged without the token, also rejected ones, and can be replayed", async () => {
    const { createSource, send, api, listLog, database } = await createWorld();
    const source = await createSource({ type: "pagerduty" });
    const routing_key = source.at.slice(4);
    await send("/v2/enqueue", { routing_key, event_action: "trigger" });
    await send(`${source.at}?from=${routing_key}`, "no json");
    const [second, first] = await listLog(source.id);
    expect(first).toMatchObject({
      status: 422,
      outcome: expect.stringContaining("payload.summary is required"),
      body: '{"routing_key":"TOKEN","event_action":"trigger"}',
    });
    expect(second).toMatchObject({ path: "?from=TOKEN", outcome: expect.stringContaining("JSON") });
    const rows = database.query("select * from alert_source_requests").all();
    expect(JSON.stringify(rows)).not.toContain(routing_key);
    // The format was wrong, and a replay applies the right one.
    const mapping = { key: "$.event_action", title: "$.event_action" };
    await api("PATCH", `${path}/${source.id}`, { body: { type: "json", mapping } });
    const replayed = await api("POST", `${path}/${source.id}/requests/${first?.["id"]}/replay`);
    expect(replayed.json.data.outcome).toBe("Opened 1 alert.");
    const [newest] = await listLog(source.id);
    expect(newest).toMatchObject({ replayOf: first?.["id"], status: 200 });
    const unknown = await api("POST", `${path}/${source.id}/requests/${unknownId}/replay`);
    expect(unknown.status).toBe(404);
  });

  test("with more than 1,000 alerts are rejected", async () => {
    const { createSource } = await createWorld();
    const { send } = await createSource();
    const many = Array.from({ length: 1_001 }, (_, index) => buildFiring(`${index}`));
    expect((await send(group(...many))).status).toBe(422);
  });

  test("that arrive at once share writes: none is lost, and none is applied twice", async () => {
    const { createSource, store, database, ...world } = await createWorld();
    const first = await createSource();
    const second = await createSource({ name: "Second" });
    let writes = 0;
    const atomic = store.atomic.bind(store);
    store.atomic = (statements) => {
      writes += 1;
      return atomic(statements);
    };
    const sent = Array.from({ length: 400 }, (_, index) =>
      (index % 2 === 0 ? first : second).send(group(buildFiring(`${index % 100}`))),
    );
    const responses = await Promise.all(sent);
    store.atomic = atomic;
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    expect(responses.reduce((sum, { json }) => sum + (json["opened"] as number), 0)).toBe(100);
    expect(writes).toBeLessThan(40);
    const [{ count }] = database
      .query<{ count: number }, []>("select count(*) as count from alert_source_requests")
      .all() as [{ count: number }];
    expect(count).toBe(400);
    await world.later();
    expect(await world.readAlerts("&status=open")).toHaveLength(100);
  });

  test("with many alerts each don't share one long write", async () => {
    const { createSource, store, database } = await createWorld();
    const countAlerts = () =>
      (database.query("select count(*) as count from source_alerts").get() as { count: number })
        .count;
    const stored: number[] = [];
    const atomic = store.atomic.bind(store);
    store.atomic = async (statements) => {
      const before = countAlerts();
      const outcome = await atomic(statements);
      stored.push(countAlerts() - before);
      return outcome;
    };
    const sent = [1, 2, 3, 4].map(async (name) => {
      const { send } = await createSource({ name: `Source ${name}`, alertChannelIds: [] });
      const buildMany = (from: number) =>
        group(...Array.from({ length: 150 }, (_, index) => buildFiring(`${from + index}`)));
      return Promise.all([0, 1, 2].map((part) => send(buildMany(part * 150))));
    });
    const responses = (await Promise.all(sent)).flat();
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(stored.reduce((sum, count) => sum + count, 0)).toBe(1_800);
    expect(Math.max(...stored)).toBeLessThanOrEqual(300);
  });

  test("with a thousand alerts are written in portions, between which others are served", async () => {
    const { createSource, store, database } = await createWorld();
    const { send } = await createSource({ alertChannelIds: [] });
    const portions: number[] = [];
    const atomic = store.atomic.bind(store);
    store.atomic = (statements) => {
      for (const statement of statements)
        if ("text" in statement && /^insert into (?:source_alerts|events)/.test(statement.text))
          portions.push(...statement.parameters.flatMap(countEntries));
      return atomic(statements);
    };
    const many = Array.from({ length: 1_000 }, (_, index) => buildFiring(`${index}`));
    expect((await send(group(...many))).json).toMatchObject({ opened: 1_000 });
    expect(portions).toHaveLength(8);
    expect(Math.max(...portions)).toBe(250);
    const { count } = database.query("select count(*) as count from source_alerts").get() as {
      count: number;
    };
    expect(count).toBe(1_000);
  });

  test("with a hundred thousand values are rejected before they are parsed", async () => {
    const { createSource } = await createWorld();
    const { send } = await createSource();
    const wide = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join()},"alerts":[]}`;
    expect((await send(wide(40_000))).status).toBe(200);
    expect((await send(wide(60_000))).json["error"]).toMatchObject({
      message: "body must have at most 100,000 names and values.",
    });
  });

  test("a write that fails answers with an error, and the repeated request opens one alert", async () => {
    const { createSource, crashBefore, later, readAlerts } = await createWorld();
    const { send } = await createSource();
    const hasFailed = crashBefore("source_alerts");
    expect((await send(group(buildFiring("a")))).status).toBe(500);
    expect(hasFailed()).toBe(true);
    expect((await send(group(buildFiring("a")))).json).toMatchObject({ opened: 1 });
    await later();
    expect(await readAlerts()).toHaveLength(1);
  });

  test("beyond the open alerts of a source are rejected, and others go on", async () => {
    const { createSource } = await createWorld();
    const { send } = await createSource({ alertChannelIds: [] });
    const buildKeys = (from: number, count: number) =>
      group(...Array.from({ length: count }, (_, index) => buildFiring(`${from + index}`)));
    for (let from = 0; from < sourceBounds.openAlerts.value; from += 1_000)
      expect((await send(buildKeys(from, 1_000))).status).toBe(200);
    expect((await send(buildKeys(9_000, 1))).status).toBe(429);
    expect((await send(group(setUpResolved("1"), buildFiring("9001")))).status).toBe(200);
  }, 30_000);

  test("that are equal and in a row are one entry of the log for an hour", async () => {
    const { createSource, listLog, api, time, store } = await createWorld();
    const { send, id } = await createSource();
    const firingGroup = group(buildFiring("a"));
    await Promise.all(Array.from({ length: 20 }, () => send(firingGroup)));
    time.now += 60_000;
    await Promise.all([send(firingGroup), send(firingGroup)]);
    await send(group(buildFiring("b")));
    await send(firingGroup);
    const readShown = async () =>
      (await listLog(id)).map(({ outcome, count, lastAt }) => [outcome, count, lastAt]);
    const unchanged = "It changed no alert.";
    const single = [unchanged, 1, null];
    const entries = [
      single,
      ["Opened 1 alert.", 1, null],
      [unchanged, 21, new Date(time.now).toISOString()],
      ["Opened 1 alert.", 1, null],
    ];
    expect(await readShown()).toEqual(entries);
    const [newest] = await listLog(id);
    await api("POST", `${path}/${id}/requests/${newest?.["id"]}/replay`);
    await send(firingGroup);
    time.now += 3_600_000;
    await send(firingGroup);
    expect(await readShown()).toEqual([single, single, single, ...entries]);
    const { json } = await api("GET", `${path}/${id}`);
    expect(json.data.lastRequestAt).toBe(new Date(time.now).toISOString());
    // Another node has removed the entry.
    await store.atomic([{ text: "delete from alert_source_requests", parameters: [] }]);
    await send(firingGroup);
    expect(await readShown()).toEqual([single]);
  });

  test("the log of a source is bounded", async () => {
    const { createSource, database, ours } = await createWorld();
    const { send, id } = await createSource({ enabled: false });
    const maxLogged = sourceBounds.loggedRequests.value;
    database.run(
      `insert into alert_source_requests (organization_id, source_id, id, at, path, headers, bytes, status, outcome)
        select ?, ?, 'old ' || value, '2026-11-20T09:00:00.000Z', '', '{}', 10, 200, ''
        from (with recursive n(value) as (select 1 union all select value + 1 from n where value < ?)
          select value from n)`,
      [ours.id, id, maxLogged + 200],
    );
    await Promise.all(Array.from({ length: 100 }, () => send(group())));
    const [{ count }] = database
      .query<{ count: number }, []>("select count(*) as count from alert_source_requests")
      .all() as [{ count: number }];
    expect(count).toBe(maxLogged);
  });
});

describe("a source", () => {
  test("that is disabled or deleted ends its alerts, without a message", async () => {
    const { createSource, later, inbox, api, readAlerts } = await createWorld();
    const disabled = await createSource();
    const deleted = await createSource({ name: "Deleted" });
    for (const { send } of [disabled, deleted]) await send(group(buildFiring("a")));
    await later();
    await api("PATCH", `${path}/${disabled.id}`, { body: { enabled: false } });
    await api("DELETE", `${path}/${deleted.id}`);
    await later();
    expect((await readAlerts()).map((one) => one["resolvedBecause"])).toEqual([
      "disabled",
      "deleted",
    ]);
    expect((await disabled.send(group(buildFiring("b")))).json).toMatchObject({ opened: 0 });
    await api("PATCH", `${path}/${disabled.id}`, { body: { enabled: true } });
    expect((await disabled.send(group(buildFiring("a")))).json).toMatchObject({ opened: 1 });
    expect(inbox.alerts().map(({ type }) => type)).toEqual(["source.opened", "source.opened"]);
  });

  test("is previewed on a sample, with the path that finds nothing", async () => {
    const { api } = await createWorld();
    const preview = (body: object) => api("POST", `${path}/preview`, { body });
    const mapping = { key: "$.id", title: "$.title" };
    const sample = { type: "json", mapping, body: '{"id":"1","title":"Cold"}' };
    expect((await preview(sample)).json.data.alerts).toEqual([
      { key: "1", status: "open", title: "Cold", text: "", priority: null, link: null },
    ]);
    const wrong = await preview({ ...sample, mapping: { ...mapping, key: "$.key" } });
    expect(wrong.json.error.details).toMatchObject([{ path: "$.key" }]);
    expect((await preview({ ...sample, mapping: null })).json.error.details).toMatchObject([
      { path: "mapping" },
    ]);
  });

  test("is part of a configuration, with its channels and policy by key", async () => {
    const { api } = await createWorld();
    const put = async (body: object) =>
      (await api("PUT", "/api/v1/config?prune&yes", { body })).json;
    const alertChannels = { ops: { type: "email", name: "#ops", to: ["ops@team.example"] } };
    const escalationPolicies = { shop: { name: "Shop" } };
    const prometheus = {
      name: "Prometheus",
      type: "alertmanager",
      alertChannels: ["ops"],
      escalationPolicy: "shop",
    };
    const whole = { alertChannels, escalationPolicies, alertSources: { prometheus } };
    expect((await put(whole)).data.changes).toHaveLength(3);
    expect((await put(whole)).data.changes).toEqual([]);
    const [source] = (await api("GET", path)).json.data;
    expect(source).toMatchObject({ name: "Prometheus", alertChannelIds: [expect.any(String)] });
    const bad = {
      ...whole,
      alertSources: { prometheus: { ...prometheus, mapping: { key: "$.a" } } },
    };
    expect((await put(bad)).error.details[0].path).toStartWith("alertSources.prometheus.mapping");
    expect((await put({})).data.changes).toHaveLength(3);
    expect((await api("GET", path)).json.data).toEqual([]);
  });
});
