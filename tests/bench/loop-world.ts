/** A very large organization, for measuring how long its requests block the event loop. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { dayMs, hourMs, formatTimestamp } from "../../src/core/time/clock.ts";
import { startOwnedMachine } from "../support/admin-world.ts";
import { copyMonitor, buildCopyId } from "../support/many-monitors.ts";

const groups = 40;
const incidents = 5_000;
const updates = 200;
const smallPage = 60;

/** Markdown of all kinds, as long as a field allows. */
const buildMarkdown = (length: number) =>
  `Between **8 and 12 %** of payments are *rejected* by [the provider](https://status.example.com/a_b).

- The provider answers \`503\` since the deploy_of_today
- Orders are queued; **none _are_ lost**
  1. Restart the workers
  2. See https://wiki.example.com/runbooks/payments (internal)

> What comes next is \`known\`.

`
    .repeat(Math.ceil(length / 280))
    .slice(0, length);

/** An organization with very many records of every kind; stopped, with the id of one of each. */
export async function createLoopWorld(monitors: number) {
  const world = await startOwnedMachine();
  const { ask, box } = world;
  const groupIds: string[] = [];
  for (let number = 0; number < groups; number++)
    groupIds.push(
      (await ask("POST", "/api/v1/monitor-groups", { name: `Group ${number}`, tags: ["eu"] })).id,
    );
  const { id: template } = await ask("POST", "/api/v1/monitors", {
    type: "http",
    name: "Service 0",
    url: "https://shop.example/checkout?step=payment",
    keyword: "Thank you",
    description: buildMarkdown(500),
    tags: ["customers"],
    paused: true,
  });
  const channels: string[] = [];
  for (let number = 0; number < 20; number++)
    channels.push(
      (
        await ask("POST", "/api/v1/alert-channels", {
          type: "webhook",
          name: `Hook ${number}`,
          url: "http://10.0.0.1/",
          enabled: false,
        })
      ).id,
    );
  for (let number = 0; number < 200; number++)
    await ask("POST", "/api/v1/incident-templates", {
      name: `Template ${number}`,
      message: buildMarkdown(5_000),
    });
  const { id: incident } = await ask("POST", "/api/v1/incidents", {
    title: "Payments are rejected",
    monitorIds: [template],
    message: buildMarkdown(5_000),
  });
  await ask("POST", `/api/v1/incidents/${incident}/resolve`);
  await ask("PATCH", `/api/v1/incidents/${incident}/postmortem`, {
    message: buildMarkdown(10_000),
    published: true,
  });
  const formatHoursAhead = (hours: number) =>
    formatTimestamp(Math.floor(Date.now() / hourMs) * hourMs + hours * hourMs);
  const windows: string[] = [];
  for (let number = 0; number < 200; number++)
    windows.push(
      (
        await ask("POST", "/api/v1/maintenance-windows", {
          title: `Window ${number}`,
          description: buildMarkdown(2_000),
          startsAt: formatHoursAhead(number),
          endsAt: formatHoursAhead(number + 1),
          monitorIds: [template],
          ...(number % 2 === 0 && { rrule: "FREQ=DAILY" }),
        })
      ).id,
    );
  const [page] = await ask("GET", "/api/v1/status-pages");
  const services = {
    name: "Services",
    monitors: Array.from({ length: smallPage }, (_, index) => ({
      id: buildCopyId(index + 1),
      showDescription: true,
    })),
  };
  await ask("PATCH", "/api/v1/settings", {
    smtp: { host: "127.0.0.1", port: 9, tls: "none", from: "status@acme.example" },
  });
  await world.stop();

  const database = new Database(join(box.dataDir, "signalbox.db"));
  database.run("PRAGMA synchronous = OFF");
  database.run("CREATE TEMP TABLE own (i INTEGER PRIMARY KEY, id TEXT)");
  for (const [index, id] of groupIds.entries())
    database.run("INSERT INTO own VALUES (?, ?)", [index, id]);
  const now = Date.now();
  const long = { checked: formatTimestamp(now), since: formatTimestamp(now - dayMs) };
  copyMonitor(
    database,
    template,
    monitors - 1,
    {
      name: "'Service ' || i",
      group_id: `(SELECT id FROM own WHERE own.i = n.i * ${groups} / ${monitors})`,
      position: "i",
      // Only requests are measured, so no checks run.
      interval_seconds: "86400",
      tags: `iif(i % 5, '[]', '["customers","region-' || (i % 50) || '"]')`,
    },
    {
      status: "CASE i % 97 WHEN 0 THEN 'down' ELSE 'up' END",
      paused: "0",
      since: `'${long.since}'`,
      last_checked_at: `'${long.checked}'`,
      last_message: "'HTTP 503 (Service Unavailable), expected 200-299.'",
      latency_ms: "80 + i % 60",
    },
  );
  const organizationId = database
    .query<{ id: string }, []>("SELECT id FROM organizations")
    .get()?.id;
  if (organizationId === undefined) throw new Error("There is no organization.");
  const counts = `'{"52":40,"55":18,"60":2}'`;
  const readSums = (table: string, length: number, back: number, condition: string) =>
    database.run(
      `WITH RECURSIVE b(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM b WHERE n < ${back - 1})
       INSERT OR IGNORE INTO ${table}
       SELECT ${Math.floor(now / length)} - n, key, ${(length / 1_000) * 0.98}, ${(length / 1_000) * 0.01},
         ${(length / 1_000) * 0.01}, 0, 0, ${length / 60_000}, ${length / 600}, 12, 900, ${counts}
       FROM b CROSS JOIN monitor_states WHERE ${condition} ORDER BY 1, 2`,
    );
  const first = `key <= (SELECT min(key) + ${smallPage} FROM monitor_states)`;
  database.transaction(() => {
    readSums("uptime_hours", hourMs, 24 * 365, first);
    readSums("uptime_hours", hourMs, 24 * 3, "true");
    readSums("uptime_days", dayMs, 365, first);
    readSums("uptime_days", dayMs, 90, "true");
    const buildSeries = (count: number, from = 1) =>
      `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    const buildIdSql = (prefix: string, value = "i") =>
      `printf('${prefix}-7000-8000-%012d', ${value})`;
    const buildTimeSql = (stepMs: number, value = "i") =>
      `strftime('%Y-%m-%dT%H:%M:%fZ', ${now / 1_000} - (${value}) * ${stepMs / 1_000}, 'unixepoch')`;
    const text = buildMarkdown(5_000).replaceAll("'", "''");
    const one = buildCopyId(1);
    database.run(
      `${buildSeries(14 * 1_440)} INSERT INTO heartbeats
       SELECT (SELECT key FROM monitor_states WHERE monitor_id = '${one}'), ${now} - i * 60000,
         iif(i % 50, 0, 2), 80 + i % 60, 60, iif(i % 50, NULL, 'HTTP 503 (Service Unavailable)') FROM n`,
    );
    // The newest incidents have as many updates as a status page shows.
    database.run(
      `${buildSeries(incidents)} INSERT INTO incidents
       SELECT '${organizationId}', ${buildIdSql("0199a3f0-0000", `${incidents} - i`)}, 'Incident ' || i,
         iif(i < 20, 'investigating', 'resolved'), 'major', '${one}', 'manual', 1,
         iif(i < 20, NULL, ${buildTimeSql(hourMs, "(i - 0.5)")}), 6, ${buildTimeSql(hourMs)}, ${buildTimeSql(hourMs)}, NULL, NULL FROM n`,
    );
    database.run(
      `INSERT INTO incident_monitors SELECT organization_id, id, monitor_id, 0 FROM incidents WHERE true
       ON CONFLICT DO NOTHING`,
    );
    database.run(
      `${buildSeries(5)} INSERT INTO incident_updates
       SELECT '${organizationId}', incidents.id, n.i, ${buildIdSql("0199a3f1-0000", "random() & 0xffffffffff")}, 'identified', '${text}' || i,
         incidents.created_at, NULL, NULL FROM incidents CROSS JOIN n WHERE incidents.id LIKE '0199a3f0%'`,
    );
    database.run(
      `${buildSeries(updates, 10)} INSERT INTO incident_updates
       SELECT '${organizationId}', '${incident}', i, ${buildIdSql("0199a3f2-0000")}, 'identified', '${text}' || i,
         ${buildTimeSql(60_000)}, NULL, NULL FROM n`,
    );
    database.run(
      `${buildSeries(200)} INSERT INTO incident_notes
       SELECT '${organizationId}', '${incident}', ${buildIdSql("0199a3f3-0000")}, '${text}', ${buildTimeSql(60_000)}, 'person', NULL, 'Ada' FROM n`,
    );
    database.run(
      `${buildSeries(50_000)} INSERT INTO events (organization_id, at, type, subject_id, data)
       SELECT '${organizationId}', ${buildTimeSql(120_000, "50000 - i")}, iif(i % 2, 'monitor.down', 'monitor.up'), iif(i % 4 < 2, '${one}', ${buildIdSql("00000000-0000", `1 + i % ${monitors - 2}`)}),
         '{"before":"up","since":"${long.since}","message":"HTTP 503 (Service Unavailable), expected 200-299.","latencyMs":120}' FROM n`,
    );
    database.run("UPDATE followers SET seq = (SELECT max(seq) FROM events)");
    database.run(
      `${buildSeries(50_000)} INSERT INTO audit_entries (organization_id, at, actor_type, actor_id, actor_name, action, subject_id, fields, request_id)
       SELECT '${organizationId}', ${buildTimeSql(60_000, "50000 - i")}, 'person', '${one}', 'Ada Lovelace', 'monitor.updated', ${buildIdSql("00000000-0000", `1 + i % ${monitors - 2}`)},
         '["interval","timeout"]', '${one}' FROM n`,
    );
    database.run(
      `${buildSeries(20_000)} INSERT INTO alerts
       SELECT '${organizationId}', ${buildIdSql("0199a3f4-0000")}, 'monitor.down', ${buildTimeSql(60_000, "20000 - i")}, '${one}', NULL,
         '{"monitor":{"id":"${one}","name":"Service 1","type":"http","groupId":null,"groupName":null,"target":"shop.example","tags":[],"description":""},"since":"${long.since}","message":"HTTP 503","latencyMs":120}' FROM n`,
    );
    database.run(
      `${buildSeries(20_000)} INSERT INTO deliveries (organization_id, id, receiver_type, receiver_id, status, attempts, scheduled_attempts, first_attempt_at, last_attempt_at, created_at, delivered_at)
       SELECT '${organizationId}', ${buildIdSql("0199a3f5-0000")}, 'channel', '${channels[0]}', 'delivered', 1, 1, ${now}, ${now}, ${buildTimeSql(60_000, "20000 - i")}, ${buildTimeSql(60_000, "20000 - i")} FROM n`,
    );
    database.run(
      `${buildSeries(20_000)} INSERT INTO delivery_alerts
       SELECT '${organizationId}', ${buildIdSql("0199a3f5-0000")}, 0, ${buildIdSql("0199a3f4-0000")}, NULL, 0 FROM n`,
    );
    for (const [position, channel] of channels.slice(0, 3).entries())
      database.run(
        `INSERT INTO monitor_channels SELECT organization_id, id, '${channel}', ${position} FROM monitors WHERE true ON CONFLICT DO NOTHING`,
      );
    database.run(
      `${buildSeries(5_000)} INSERT INTO subscribers (organization_id, id, page_id, type, address, address_key, secrets, confirmed_at, asked, version, created_at)
       SELECT '${organizationId}', ${buildIdSql("0199a3f6-0000")}, '${page.id}', 'email', 'customer-' || i || '@example.com', 'customer-' || i || '@example.com', '{}', '${long.since}', 1, 1, '${long.since}' FROM n`,
    );
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return {
    dataDir: box.dataDir,
    monitor: buildCopyId(1),
    group: groupIds[0] ?? "",
    incident: incident as string,
    channel: channels[0] ?? "",
    window: windows[0] ?? "",
    page: page as { id: string; slug: string },
    pages: [
      { slug: "small", sections: [services] },
      { slug: "large", sections: groupIds.map((groupId) => ({ groupId })) },
    ],
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
