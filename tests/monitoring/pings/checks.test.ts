import { expect, test } from "bun:test";
import { createApiKey } from "../../../src/accounts/api-keys/service.ts";
import { createWatch } from "../../support/check-board.ts";

test("dashboards of Healthchecks read the push monitors of the key's organization", async () => {
  const { createJob, engine, time, ours, theirs, stranger, changeMonitor, advance, api } =
    await createWatch();
  const backup = await createJob({
    name: "Database Backup",
    tags: ["production", "db"],
    schedule: "15 5 * * *",
    grace: 60,
    slug: "database-backup",
  });
  await createJob({ name: "Füll-Import 2", interval: 3_600, grace: 600 });
  await api("POST", "/api/v1/monitors", {
    body: { type: "tcp", name: "Router", host: "router.lan", port: 22 },
  });
  await engine.runOnce();
  const keyOf = async (
    { scope }: Pick<typeof ours, "scope">,
    kind: "read" | "write" | "ping",
    groupIds: string[] | null = null,
  ) => (await createApiKey(scope, { name: kind, scope: kind, groupIds, expiresInMs: null })).key;
  const get = (path: string, key?: string) =>
    stranger("GET", path, key === undefined ? {} : { headers: { "X-Api-Key": key } });
  const write = await keyOf(ours, "write");
  const read = await keyOf(ours, "read");
  const uuid = backup.path.slice("/push/".length);
  const ping = (path: string) => stranger("GET", `/ping/${uuid}${path}`);

  await ping("/start");
  time.now += 65_000;
  await ping("");
  const { status, json } = await get("/api/v3/checks/", write);
  expect(status).toBe(200);
  const [other, check] = json.checks;
  expect(json.checks).toHaveLength(2);
  expect(check).toEqual({
    name: "Database Backup",
    slug: "database-backup",
    tags: "production db",
    desc: "",
    grace: 60,
    n_pings: 2,
    status: "up",
    started: false,
    last_ping: "2026-11-20T10:01:05+00:00",
    next_ping: "2026-11-21T05:15:00+00:00",
    last_duration: 65,
    manual_resume: false,
    methods: "",
    subject: "",
    subject_fail: "",
    start_kw: "",
    success_kw: "",
    failure_kw: "",
    filter_subject: false,
    filter_body: false,
    schedule: "15 5 * * *",
    tz: "UTC",
    uuid,
    ping_url: `http://localhost/ping/${uuid}`,
    update_url: `http://localhost/api/v3/checks/${uuid}`,
    pause_url: `http://localhost/api/v3/checks/${uuid}/pause`,
    resume_url: `http://localhost/api/v3/checks/${uuid}/resume`,
    channels: "",
  });
  expect(other).toMatchObject({
    slug: "full-import-2",
    status: "new",
    last_ping: null,
    next_ping: null,
    timeout: 3_600,
  });

  // Homepage's widget reads one check with a read-only key.
  const single = (await get(`/api/v2/checks/${uuid}`, read)).json;
  expect(single).toMatchObject({ status: "up", last_ping: "2026-11-20T10:01:05+00:00" });
  expect(JSON.stringify(single)).not.toContain(uuid);
  expect((await get(`/api/v1/checks/${single.unique_key}`, read)).json).toMatchObject({
    name: "Database Backup",
  });
  expect((await get("/api/v3/checks/?slug=database-backup", read)).json.checks).toHaveLength(1);
  expect((await get("/api/v3/checks/?tag=db&tag=production", read)).json.checks).toHaveLength(1);
  expect((await get("/api/v3/checks/?tag=staging", read)).json.checks).toEqual([]);

  // Homer reads the list in a browser, which first asks for permission.
  const { status: allowed, headers } = await stranger("OPTIONS", "/api/v1/checks/");
  expect([allowed, headers.get("access-control-allow-headers")]).toEqual([204, "X-Api-Key"]);
  expect((await get("/api/v1/checks/", read)).headers.get("access-control-allow-origin")).toBe("*");

  await ping("/start");
  expect((await get(`/api/v1/checks/${uuid}`, read)).json.status).toBe("started");
  expect((await get(`/api/v3/checks/${uuid}`, read)).json).toMatchObject({
    status: "up",
    started: true,
  });
  await advance(70);
  expect((await get(`/api/v3/checks/${uuid}`, read)).json).toMatchObject({
    status: "down",
    next_ping: null,
  });
  await changeMonitor(backup.id, { paused: true });
  expect((await get(`/api/v3/checks/${uuid}`, read)).json.status).toBe("paused");

  // A key sees its own organization and groups only, and a ping key nothing.
  expect((await get("/api/v3/checks/", await keyOf(theirs, "write"))).json).toEqual({ checks: [] });
  expect((await get(`/api/v3/checks/${uuid}`, await keyOf(theirs, "read"))).status).toBe(404);
  const { json: group } = await api("POST", "/api/v1/monitor-groups", { body: { name: "Shop" } });
  const limited = await keyOf(ours, "read", [group.data.id]);
  expect((await get("/api/v3/checks/", limited)).json).toEqual({ checks: [] });
  expect((await get(`/api/v3/checks/${uuid}`, limited)).status).toBe(404);
  expect((await get(`/api/v3/checks/${single.unique_key}`, limited)).status).toBe(404);
  for (const key of [undefined, "wrong", await keyOf(ours, "ping")]) {
    const { status, json } = await get("/api/v3/checks/", key);
    expect([status, json.error.code]).toEqual([401, "UNAUTHORIZED"]);
  }
});
