import { afterEach, expect, test } from "bun:test";
import type { Role } from "../../../src/core/roles.ts";
import type { Client } from "../../support/appliance.ts";
import { type CrawledResponse, crawlRoutes, readRoutes } from "../../support/crawler.ts";
import { openStream } from "../../support/live.ts";
import { createPager } from "../../support/pager.ts";
import { createSampleRecord } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const live of running.splice(0)) await live.stop();
});

/** An organization with a push monitor that sent an alert and appears in all lists and on a status page. */
async function createJob() {
  const pager = await createPager();
  const { api, channel, group } = pager;
  const hook = await pager.inbox();
  running.push({ stop: async () => hook[Symbol.asyncDispose]() });
  const groupId = (await group()).id;
  const { id, path, report } = await pager.createJob({ groupId, alertChannelIds: [hook.id] });
  const token = path.split("/").at(-1) ?? "";
  await report({ status: "down", msg: "Disk full" });
  await pager.advance(1);
  await pager.later();
  const sections = [{ name: "All", groupId: null, monitors: [{ id, name: null }] }];
  const ids: Record<string, string> = {
    monitors: id,
    "monitor-groups": groupId,
    "alert-channels": (await channel()).id,
    incidents: await createSampleRecord(api, "incidents", { monitorId: id }),
    "maintenance-windows": await createSampleRecord(api, "maintenance-windows"),
    "status-pages": await createSampleRecord(api, "status-pages", { sections }),
  };
  return { ...pager, hook, ids, id, token };
}

const listPathsWithToken = (responses: readonly CrawledResponse[], token: string) =>
  [...new Set(responses.filter(({ text }) => text.includes(token)).map(({ path }) => path))].sort();

test("no response to a read key or a viewer contains the token of a push monitor, before or after a writer's request", async () => {
  const job = await createJob();
  const { ours, token, id } = job;
  const viewer = (await signInMember(job, "viewer")).page;
  const owner = (await signInMember(job, "owner")).page;
  const readers = [
    { routes: readRoutes.api, client: ours.reader },
    { routes: readRoutes.dashboard, client: viewer },
  ];
  const writers = [
    { routes: readRoutes.api, client: ours.api },
    { routes: readRoutes.dashboard, client: owner },
  ];
  expect(token).toMatch(/^[0-9a-f-]{36}$/);
  for (const round of [readers, writers, readers])
    for (const { routes, client } of round) {
      const responses = await crawlRoutes(routes, job.ids, client);
      if (routes === readRoutes.api)
        responses.push({ path: "/metrics", ...(await client("GET", "/metrics")) });
      const found = responses.filter(({ status }) => status === 200).map(({ path }) => path);
      expect(found).toContainEqual(expect.stringContaining(id));
      const holding = listPathsWithToken(responses, token);
      if (round === readers) expect(holding).toEqual([]);
      else
        expect(holding.map((path) => path.replace(/^\/dashboard/, ""))).toEqual([
          "/api/v1/monitors/",
          `/api/v1/monitors/${id}`,
        ]);
    }
});

test("pushUrl is null without write access, which has a different ETag, and complete with write access", async () => {
  const job = await createJob();
  const { ours, id, token } = job;
  const path = `/api/v1/monitors/${id}`;
  const readPushUrl = async (client: Client, prefix = "") => {
    const { json, headers } = await client("GET", `${prefix}${path}`);
    return { url: json.data.pushUrl as string | null, etag: headers.get("etag") };
  };
  const whole = { url: `http://localhost/push/${token}` };
  const roles: [Role, object][] = [
    ["viewer", { url: null }],
    ["member", whole],
    ["admin", whole],
    ["owner", whole],
  ];
  for (const [role, shown] of roles)
    expect(await readPushUrl((await signInMember(job, role)).page, "/dashboard")).toMatchObject(
      shown,
    );
  const [reader, writer] = [await readPushUrl(ours.reader), await readPushUrl(ours.api)];
  expect([reader.url, writer.url]).toEqual([null, whole.url]);
  expect(reader.etag).not.toBe(writer.etag);
  const known = await ours.reader("GET", path, { headers: { "If-None-Match": writer.etag ?? "" } });
  expect(known.status).toBe(200);
});

test("neither alerts nor the live stream contain the token", async () => {
  const job = await createJob();
  const { hook, token, id } = job;
  expect(hook.asked.length).toBeGreaterThan(0);
  expect(JSON.stringify(hook.asked)).not.toContain(token);
  await job.live.start();
  running.push(job.live);
  const stream = await openStream(job, (await signInMember(job, "viewer")).cookie);
  await stream.next();
  await job.changeMonitor(id, { name: "Nightly job" });
  job.appliance.signals.emit("results", job.ours.id, [{ monitorId: id, at: "2026" }]);
  const messages = await stream.readUntil(({ event }) => event === "monitors");
  expect(JSON.stringify(messages)).toContain("Nightly job");
  expect(JSON.stringify(messages)).not.toContain(token);
});

test("a creator who was demoted since does not get the stored idempotent response", async () => {
  const job = await createJob();
  const { id, page } = await signInMember(job, "member");
  const body = { type: "push", name: "Backup" };
  const again = { body, headers: { "Idempotency-Key": "once" } };
  const result = await page("POST", "/dashboard/api/v1/monitors", again);
  expect(result.json.data.pushUrl).toContain("/push/");
  job.database.query("UPDATE memberships SET role = 'viewer' WHERE person_id = ?").run(id);
  job.time.now += 1_000;
  const { status, text } = await page("POST", "/dashboard/api/v1/monitors", again);
  expect([status, text.includes("/push/")]).toEqual([403, false]);
});
