import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { lintMetrics } from "../../support/metrics.ts";
import { defineTestWith } from "../../support/real-targets.ts";

type TestSetUp = Awaited<ReturnType<typeof testAppliance>>;

async function readMetrics({ app }: TestSetUp, key: string): Promise<string> {
  const headers = { Host: "localhost", Authorization: `Bearer ${key}` };
  return (await app.handle(new Request("http://localhost/metrics", { headers }))).text();
}

/** A monitor in each relevant state, with names and groups that need escaping. */
async function createMeasuredWorld() {
  const appliance = await testAppliance();
  const { api, writeKey } = appliance.ours;
  const make = async (path: string, body: object) =>
    (await api("POST", path, { body })).json.data.id as string;
  const ids: Record<string, string> = {};
  for (const status of ["up", "degraded", "down", "pending", "maintenance"]) {
    const name = status === "up" ? `Söder "shop" \\ ٣` : status;
    ids[status] = await make("/api/v1/monitors", { type: "tcp", name, host: "a.lan", port: 1 });
    appliance.database.run(
      "UPDATE monitor_states SET status = ?, latency_ms = 42, certificate_expires_at = ? WHERE monitor_id = ?",
      [status, status === "up" ? "2026-11-30T22:00:00.000Z" : null, ids[status]],
    );
  }
  ids["paused"] = await make("/api/v1/monitors", { type: "push", name: "paused", paused: true });
  await make("/api/v1/monitor-groups", { name: 'The "one"', monitorIds: [ids["up"]] });
  return { ...appliance, ids, text: await readMetrics(appliance, writeKey.key) };
}

test("each monitor has its state, whether it is up, latency, uptime and the days of its certificate", async () => {
  const { ids, text, store, ours, ...world } = await createMeasuredWorld();
  const labels = `id="${ids["up"]}",monitor="Söder \\"shop\\" \\\\ ٣",type="tcp",group="The \\"one\\""`;
  const buildSeries = (name: string) =>
    text.split("\n").filter((line) => line.startsWith(`signalbox_monitor_${name}{`));
  expect(buildSeries("status")).toHaveLength(6);
  expect(buildSeries("status")).toContain(`signalbox_monitor_status{${labels},status="up"} 1`);
  expect(buildSeries("up").map((line) => line.slice(-2))).toEqual([" 1", " 1", " 0"]);
  expect(buildSeries("latency_seconds")[0]).toBe(
    `signalbox_monitor_latency_seconds{${labels}} 0.042`,
  );
  expect(buildSeries("certificate_expiry_timestamp_seconds")).toEqual([
    `signalbox_monitor_certificate_expiry_timestamp_seconds{${labels}} 1796076000`,
  ]);
  expect(buildSeries("uptime_ratio")).toEqual([]);
  const [state] = await store.query<{ key: number }>(
    "select key from monitor_states where monitor_id = ?",
    [ids["up"] ?? ""],
  );
  world.database.run(
    "INSERT INTO uptime_hours (hour, monitor_key, up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum) VALUES (?, ?, 300, 0, 100, 0, 0, 0, 0)",
    [Math.floor(world.time.now / 3_600_000), state?.key ?? 0],
  );
  expect(await readMetrics({ ...world, store, ours }, ours.writeKey.key)).toContain(
    `signalbox_monitor_uptime_ratio{${labels}} 0.75\n`,
  );
});

defineTestWith(
  ["promtool"],
  "Prometheus' own linter accepts it with any names of monitors",
  async () => {
    const { text } = await createMeasuredWorld();
    expect(await lintMetrics(text)).toBe("");
  },
);

test("process metrics are exported only while there is a single organization", async () => {
  const appliance = await testAppliance();
  const { key } = appliance.ours.writeKey;
  expect(await readMetrics(appliance, key)).not.toContain("process_");
  appliance.database.run("PRAGMA foreign_keys = OFF");
  appliance.database.run("DELETE FROM organizations WHERE id = ?", [appliance.theirs.id]);
  expect(await readMetrics(appliance, key)).toMatch(/^process_resident_memory_bytes \d+$/m);
});

test("Prometheus reads its own organization's metrics with a read key, and strangers get none", async () => {
  const { ours, theirs, app, stranger } = await testAppliance();
  await ours.api("POST", "/api/v1/incidents", { body: { title: "Slow", severity: "major" } });
  const ping = { type: "ping", name: "Router", host: "192.168.1.1" };
  await ours.api("POST", "/api/v1/monitors", { body: ping });
  await ours.api("POST", "/api/v1/monitors", { body: { ...ping, paused: true } });
  const readMetrics = async (key: string) => {
    const headers = { Host: "localhost", Authorization: `Bearer ${key}` };
    return (await app.handle(new Request("http://localhost/metrics", { headers }))).text();
  };
  const text = await readMetrics((await ours.keyOf("read")).key);
  expect(text).toContain('signalbox_incidents{status="investigating",severity="major"} 1\n');
  expect(text).toContain('signalbox_monitors{type="ping",status="pending"} 1\n');
  expect(text).toContain('signalbox_monitors{type="ping",status="paused"} 1\n');
  expect(await readMetrics((await theirs.keyOf("read")).key)).not.toContain("signalbox_monitors{");
  expect((await stranger("GET", "/metrics")).status).toBe(401);
});

test("with Basic authentication, Home Assistant and Grafana get Uptime Kuma's metrics", async () => {
  const world = await createMeasuredWorld();
  const { ours, theirs, app, ids } = world;
  const read = (user: string, key: string) =>
    app.handle(
      new Request("http://localhost/metrics", {
        headers: { Host: "localhost", Authorization: `Basic ${btoa(`${user}:${key}`)}` },
      }),
    );
  const text = await (await read("", ours.readKey.key)).text();
  expect(text).not.toContain("signalbox_");
  const buildSeries = (name: string) =>
    text.split("\n").filter((line) => line.startsWith(`monitor_${name}{`));
  const labels = `monitor_name="Söder \\"shop\\" \\\\ ٣",monitor_type="port",monitor_url="null",monitor_hostname="a.lan",monitor_port="1"`;
  const isUp = (line: string) => line.includes(labels);
  expect(buildSeries("status").find(isUp)).toEndWith("} 1");
  expect(buildSeries("status").map((line) => line.slice(-2))).toEqual([
    " 1",
    " 1",
    " 0",
    " 2",
    " 3",
  ]);
  expect(buildSeries("response_time").find(isUp)).toEndWith("} 42");
  expect(buildSeries("cert_days_remaining").filter(isUp)).toEqual(
    buildSeries("cert_days_remaining"),
  );
  expect(buildSeries("cert_is_valid").find(isUp)).toEndWith("} 1");
  // Home Assistant's library parses the id as an integer, and merges series with the same one.
  const numbers = buildSeries("status").map((line) => /monitor_id="(\d+)"/.exec(line)?.[1]);
  expect(numbers.map((number) => Number.isSafeInteger(Number(number)))).not.toContain(false);
  expect(new Set(numbers).size).toBe(5);
  world.database.run(
    "INSERT INTO uptime_hours (hour, monitor_key, up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum) SELECT ?, key, 300, 0, 100, 0, 0, 0, 0 FROM monitor_states WHERE monitor_id = ?",
    [Math.floor(world.time.now / 3_600_000), ids["up"] ?? ""],
  );
  const later = await (await read("grafana", ours.writeKey.key)).text();
  expect(later).toMatch(/^monitor_uptime_ratio\{.*window="1d"\} 0\.75$/m);
  const foreign = await (await read("", theirs.writeKey.key)).text();
  expect(foreign).not.toContain("monitor_name");
  for (const key of ["", "sbx_wrong", `${ours.readKey.key}x`])
    expect((await read("", key)).status).toBe(401);
  // Other routes don't accept Basic authentication.
  const other = new Request("http://localhost/api/v1/monitors", {
    headers: { Host: "localhost", Authorization: `Basic ${btoa(`:${ours.readKey.key}`)}` },
  });
  expect((await app.handle(other)).status).toBe(401);
});
