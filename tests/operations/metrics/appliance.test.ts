import { expect, test } from "bun:test";
import { metricsToken, type TestAppliance } from "../../support/appliance.ts";
import { expectHistograms, lintMetrics, parseScrape } from "../../support/metrics.ts";
import { createPager } from "../../support/pager.ts";
import { defineTestWith } from "../../support/real-targets.ts";
import { replyWith, hang } from "../../support/target.ts";
import { testAppliance } from "../../support/appliance.ts";

async function scrapeMetrics({ client }: Pick<TestAppliance, "client">) {
  const { status, text } = await client(metricsToken)("GET", "/metrics");
  expect(status).toBe(200);
  return parseScrape(text);
}

test("requests are counted by route pattern, and requests without a route under one name", async () => {
  const appliance = await testAppliance();
  const { ours, theirs, stranger, client } = appliance;
  const { json } = await ours.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  for (const api of [ours.api, ours.reader, theirs.api])
    await api("GET", `/api/v1/incidents/${json.data.id}`);
  await ours.api("HEAD", "/api/v1/incidents/");
  await ours.api("GET", "/api/v1/incidents?per_page=0");
  await ours.reader("PATCH", `/api/v1/incidents/${json.data.id}`, { body: { message: "x" } });
  for (let i = 0; i < 20; i++) {
    await ours.api("GET", `/api/v1/made-up-${i}`);
    await stranger("GET", `/${i}`);
    await stranger("PROPFIND", "/healthz");
  }
  await stranger("GET", "/api/v1/incidents");
  await stranger("PUT", "/healthz");
  await client("wrong".repeat(10))("GET", "/metrics");
  await scrapeMetrics(appliance);
  const scrape = await scrapeMetrics(appliance);
  expect(scrape.of("signalbox_http_request_duration_seconds_count")).toEqual({
    "route=/api/v1/incidents,method=POST,status=2xx": 1,
    "route=/api/v1/incidents/:id,method=GET,status=2xx": 2,
    "route=/api/v1/incidents/:id,method=GET,status=4xx": 1,
    "route=/api/v1/incidents,method=HEAD,status=2xx": 1,
    "route=/api/v1/incidents,method=GET,status=4xx": 1,
    "route=/api/v1/incidents/:id,method=PATCH,status=4xx": 1,
    "route=unknown,method=GET,status=4xx": 42,
    "route=unknown,method=other,status=4xx": 20,
    "route=unknown,method=PUT,status=4xx": 1,
    "route=/metrics,method=GET,status=2xx": 1,
  });
  expectHistograms(scrape);
});

test("every route is counted under its pattern, with any path", async () => {
  const appliance = await testAppliance();
  const { app, ours } = appliance;
  // The files below `/assets` have a route each, and are counted together.
  const patterns = new Set(["unknown", "/assets/*"]);
  for (const { method, path } of app.routes) {
    patterns.add(path.replace(/(.)\/$/, "$1"));
    await ours.api(method, path.replace(/:\w+/g, "canary-in-path"));
  }
  const scrape = await scrapeMetrics(appliance);
  expect(scrape.text).not.toContain("canary");
  const counted = Object.keys(scrape.of("signalbox_http_request_duration_seconds_count"));
  const routes = counted.map((labels) => /route=([^,]*)/.exec(labels)?.[1] ?? "");
  expect(routes.filter((route) => !patterns.has(route))).toEqual([]);
  // Requests to the admin page have no session here, and are rejected before routing.
  const countedRoutes = app.routes.filter(({ path }) => /^\/(api\/v1|push)\//.test(path));
  expect(countedRoutes.length).toBeGreaterThan(50);
  for (const { path } of countedRoutes) expect(routes).toContain(path.replace(/(.)\/$/, "$1"));
});

test("checks, results and deliveries are counted", async () => {
  const pager = await createPager();
  const { createSite, advance, createJob, time, later } = pager;
  await using good = await pager.inbox({ default: true });
  await using gone = await pager.inbox({ default: true }, replyWith(410));
  await using shop = await createSite({ interval: 20 });
  await using slow = await createSite({ interval: 20, degradedAfterMs: 1 });
  slow.setReply((response) => void setTimeout(() => replyWith()(response), 5));
  await advance(40);
  shop.failNow();
  await advance(20);
  const backup = await createJob({ alertChannelIds: [] });
  await backup.report({ status: "down" });
  await backup.report({ status: "up" });
  await later();
  time.now += 1_000;
  const requestCount = good.asked.length;
  expect(requestCount).toBeGreaterThan(0);
  const scrape = await scrapeMetrics(pager);
  const failed =
    shop.asked.length - (scrape.of("signalbox_checks_total")["type=http,outcome=up"] ?? 0);
  expect(failed).toBeGreaterThan(0);
  expect(scrape.of("signalbox_checks_total")).toEqual({
    "type=http,outcome=up": shop.asked.length - failed,
    "type=http,outcome=down": failed,
    "type=http,outcome=degraded": slow.asked.length,
    "type=push,outcome=down": 1,
    "type=push,outcome=up": 1,
  });
  const checks = shop.asked.length + slow.asked.length;
  expect(scrape.of("signalbox_check_duration_seconds_count")).toEqual({ "type=http": checks });
  expect(scrape.of("signalbox_check_lateness_seconds_count")).toEqual({ "": checks });
  expect(scrape.of("signalbox_monitors")).toEqual({
    "type=http,status=down": 1,
    "type=http,status=degraded": 1,
    "type=push,status=up": 1,
  });
  expect(scrape.of("signalbox_deliveries_total")).toEqual({
    "receiver=channel,type=webhook,outcome=delivered": requestCount,
    "receiver=channel,type=webhook,outcome=failed": gone.asked.length,
  });
  expect(scrape.of("signalbox_delivery_attempt_duration_seconds_count")).toEqual({
    "receiver=channel,type=webhook,outcome=delivered": requestCount,
    "receiver=channel,type=webhook,outcome=failed": gone.asked.length,
  });
  expect(scrape.of("signalbox_outbox_deliveries")).toEqual({});
  expectHistograms(scrape);
});

test("waiting work is reported with its age", async () => {
  const pager = await createPager();
  const { store, time, engine, later } = pager;
  await using ill = await pager.inbox({ default: true }, replyWith(500));
  await using shop = await pager.createSite();
  shop.failNow();
  await engine.runOnce();
  await later(60);
  await later();
  const scrape = await scrapeMetrics(pager);
  const [{ dueAt } = { dueAt: 0 }] = await store.query<{ dueAt: number }>(
    "select min(due_at) as dueAt from deliveries where due_at is not null",
    [],
  );
  expect(scrape.of("signalbox_outbox_deliveries")).toEqual({
    "receiver=channel,state=retrying": 1,
  });
  expect(scrape.of("signalbox_outbox_delay_seconds")).toEqual({});
  time.now = dueAt + 42_000;
  expect((await scrapeMetrics(pager)).of("signalbox_outbox_delay_seconds")).toEqual({
    "receiver=channel": 42,
  });
  expect(ill.asked.length).toBeGreaterThan(1);
});

test("all waiting deliveries are counted, for any number of receivers", async () => {
  const appliance = await testAppliance();
  appliance.database.run(
    `insert into deliveries (organization_id, id, receiver_type, receiver_id, status, attempts,
       scheduled_attempts, due_at, created_at)
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 7999)
     select iif(i % 2, ?, ?), i, iif(i % 4 < 3, 'mailbox', 'channel'), i / 2, 'sending', i % 8 = 0, 0, ? - i * 1000, ''
     from n`,
    [appliance.ours.id, appliance.theirs.id, appliance.time.now],
  );
  const scrape = await scrapeMetrics(appliance);
  expect(scrape.of("signalbox_outbox_deliveries")).toEqual({
    "receiver=mailbox,state=waiting": 5_000,
    "receiver=mailbox,state=retrying": 1_000,
    "receiver=channel,state=waiting": 2_000,
  });
  expect(scrape.of("signalbox_outbox_delay_seconds")).toEqual({
    "receiver=mailbox": 7_998,
    "receiver=channel": 7_999,
  });
});

test("running checks are counted until they end", async () => {
  const pager = await createPager();
  await using stuck = await pager.createSite();
  stuck.setReply(hang);
  const hanging = pager.engine.runOnce();
  await stuck.waitUntilRequested(1);
  expect((await scrapeMetrics(pager)).of("signalbox_checks_running")).toEqual({ "": 1 });
  stuck.release();
  await hanging;
  expect((await scrapeMetrics(pager)).of("signalbox_checks_running")).toEqual({});
});

test("while the database can't be read, failed collectors are counted and all others report", async () => {
  const appliance = await testAppliance();
  const before = await scrapeMetrics(appliance);
  expect(before.of("signalbox_collectors_failed")).toEqual({});
  appliance.store.query = () => Promise.reject(new Error("The database is away."));
  const scrape = await scrapeMetrics(appliance);
  expect(scrape.of("signalbox_collectors_failed")).toEqual({ "": 3 });
  expect([...before.types.keys()].filter((name) => !scrape.types.has(name))).toEqual([
    "signalbox_organizations",
    "signalbox_incidents",
    "signalbox_deliveries_total",
    "signalbox_delivery_attempt_duration_seconds",
    "signalbox_outbox_deliveries",
    "signalbox_outbox_delay_seconds",
    "signalbox_event_follower_lag",
    "signalbox_event_backlog_organizations",
    "signalbox_problems",
  ]);
});

test("metrics name no organization and contain no text of people", async () => {
  const pager = await createPager();
  const { ours, theirs, store } = pager;
  await using hook = await pager.inbox({ name: "canary-channel", default: true });
  await using shop = await pager.createSite({ name: "canary-monitor" });
  shop.failNow();
  await pager.engine.runOnce();
  await pager.later();
  expect(hook.asked.length).toBeGreaterThan(0);
  for (const { api } of [ours, theirs])
    await api("POST", "/api/v1/incidents", { body: { title: "canary-incident" } });
  const scrape = await scrapeMetrics(pager);
  expect(scrape.of("signalbox_incidents")).toEqual({ "status=investigating,severity=minor": 2 });
  expect(scrape.of("signalbox_organizations")).toEqual({ "": 2 });
  const names = await store.query<{ id: string; name: string; slug: string }>(
    "select id, name, slug from organizations",
    [],
  );
  expect(names).toHaveLength(2);
  for (const text of ["canary", shop.id, hook.id, ...names.flatMap((one) => Object.values(one))])
    expect(scrape.text).not.toContain(text);
});

test("an organization's key gets no metrics of the appliance, and the token none of an organization", async () => {
  const { ours, client, stranger } = await testAppliance();
  const { text } = await ours.api("GET", "/metrics");
  expect(text).not.toMatch(/signalbox_(checks|deliver|http|outbox|organizations)/);
  const scraper = client(metricsToken);
  const refused = await client("m".repeat(31))("GET", "/metrics");
  for (const path of ["/api/v1/incidents", "/api/v1/openapi.jso", "/api/v1/metrics", "/metrics/x/"])
    expect([path, (await scraper("GET", path)).status]).toEqual([
      path,
      path.startsWith("/metrics/") ? 404 : 401,
    ]);
  expect(refused.status).toBe(401);
  expect(refused.json.error).toEqual({
    ...(await stranger("GET", "/metrics")).json.error,
    requestId: refused.json.error.requestId,
  });
  for (const [method, status] of [
    ["HEAD", 200],
    ["POST", 405],
    ["OPTIONS", 204],
  ] as const)
    expect([method, (await scraper(method, "/metrics")).status]).toEqual([method, status]);
  expect((await scraper("GET", "/metrics/")).headers.get("content-type")).toBe(
    "text/plain; version=0.0.4; charset=utf-8",
  );
});

defineTestWith(["promtool"], "Prometheus' own linter accepts it, empty and in use", async () => {
  const pager = await createPager();
  expect(await lintMetrics((await scrapeMetrics(pager)).text)).toBe("");
  await using _hook = await pager.inbox({ default: true });
  await using shop = await pager.createSite();
  shop.failNow();
  await pager.engine.runOnce();
  await pager.later();
  expect(await lintMetrics((await scrapeMetrics(pager)).text)).toBe("");
});
