/** Fills a data directory with the history of an appliance that ran for a year. */
import type { Database } from "bun:sqlite";
import { createCommandLineScope } from "../../src/cli/support/with-data.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { createApiKey } from "../../src/accounts/api-keys/service.ts";
import { dayMs, hourMs, formatTimestamp } from "../../src/core/time/clock.ts";
import { createId } from "../../src/core/ids.ts";
import { deliveryDays } from "../../src/alerting/sending/retention.ts";
import { eventDays } from "../../src/events/retention.ts";
import type { DataDirectory } from "../../src/database/file/data-directory.ts";
import { createInsert, type Prepared } from "../../src/database/store.ts";
import {
  alerts,
  deliveries,
  deliveryAlerts,
  deliveryAttempts,
} from "../../src/database/tables/alerting.ts";
import { auditEntries, events } from "../../src/database/tables/events.ts";
import {
  incidentMonitors,
  incidents,
  incidentUpdates,
} from "../../src/database/tables/incidents.ts";
import { createAppliance } from "./appliance.ts";
import type { Json } from "./json.ts";

const minuteMs = 60_000;
/** The latency bucket, as in `percentiles.ts`. */
const bucketText = "iif(latency_ms < 1, 0, 1 + cast(floor(log2(latency_ms) * 8) AS INTEGER))";

type Plan = {
  monitors: number;
  /** Days of history, and days with single results. */
  days: number;
  resultDays: number;
  /** End of the year, at a full hour. */
  end: number;
  outagesPerDay?: number;
  perGroup?: number;
  /** Group name and fields of a monitor, by its number. */
  group?: (number: number) => string;
  monitor?: (number: number) => object;
};

const rows = {
  event: createInsert(events),
  audit: createInsert(auditEntries),
  alert: createInsert(alerts),
  delivery: createInsert(deliveries),
  told: createInsert(deliveryAlerts),
  attempt: createInsert(deliveryAttempts),
  incident: createInsert(incidents),
  update: createInsert(incidentUpdates),
  affected: createInsert(incidentMonitors),
};

/** Pseudo-random numbers from 0 to 1 with a fixed seed. */
const noiseOf = (n: number) => (n * 0.618033988749895) % 1;

/**
 * An appliance after a long run. Its monitors, channel and page are created through the API. The
 * rows of that time are written directly, in the order in which recording would have written them.
 */
export async function createSimulatedYear(data: DataDirectory, plan: Plan) {
  const { database, store, vault } = data;
  const { outagesPerDay = 65, perGroup = 25 } = plan;
  // Events of a day besides checks: outages of 5 minutes, every tenth with an incident, and changes by people.
  const perDay = { outages: outagesPerDay, changes: Math.round((outagesPerDay * 200) / 65) };
  const start = plan.end - plan.days * dayMs;
  const endDay = Math.floor(plan.end / dayMs);
  const firstDay = endDay - plan.days;
  const firstResults = endDay - plan.resultDays;
  const { app } = createAppliance({ store, vault, clock: () => start });
  const { id: organizationId } = await createOrganization(store, () => start, "Bench");
  const scope = { ...createCommandLineScope(data, organizationId), clock: () => start };
  const { key } = await createApiKey(scope, { name: "bench", scope: "write", expiresInMs: null });

  async function callApi(method: string, path: string, sent?: object) {
    const body = sent && JSON.stringify(sent);
    const response = await app.handle(
      new Request(`http://localhost/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${key}`,
          Host: "localhost",
          ...(body && {
            "Content-Type": "application/json",
            "Content-Length": String(Buffer.byteLength(body)),
          }),
        },
        ...(body && { body }),
      }),
    );
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return ((await response.json()) as { data: Json }).data;
  }

  const channel = await callApi("POST", "/alert-channels", {
    type: "webhook",
    name: "Pager",
    url: "http://127.0.0.1:9/",
    default: true,
  });
  const ids: string[] = [];
  const groups: string[] = [];
  const namesOf = new Map<string, string>();
  for (let number = 0; number < plan.monitors; number++) {
    if (number % perGroup === 0) {
      const name = plan.group?.(number) ?? `Group ${number / perGroup}`;
      groups.push((await callApi("POST", "/monitor-groups", { name })).id);
    }
    const { id, name } = await callApi("POST", "/monitors", {
      type: "http",
      name: `Service ${number}`,
      url: "http://127.0.0.1:9/",
      retries: 10,
      groupId: groups.at(-1),
      ...plan.monitor?.(number),
    });
    ids.push(id);
    namesOf.set(id, name);
  }
  const [page] = await callApi("GET", "/status-pages");
  const sections = groups.slice(0, 4).map((groupId) => ({ name: null, groupId, monitors: [] }));
  await callApi("PATCH", `/status-pages/${page.id}`, { sections });

  const keys = new Map(
    database
      .query<{ key: number; id: string }, []>("SELECT key, monitor_id AS id FROM monitor_states")
      .all()
      .map(({ key, id }) => [id, key]),
  );
  database.run(
    "UPDATE monitor_states SET status = 'up', last_checked_at = ?, since = ?, last_message = 'HTTP 200 (OK) in 120 ms, first byte after 118 ms.', latency_ms = 120",
    [formatTimestamp(plan.end), formatTimestamp(start)],
  );
  database.run("CREATE TEMP TABLE checked (place INTEGER PRIMARY KEY, key INTEGER, phase INTEGER)");
  const checked = [...keys.values()]
    .map((key) => ({ key, phase: Math.floor(noiseOf(key) * minuteMs) }))
    .sort((one, other) => one.phase - other.phase);
  for (const { key, phase } of checked)
    database.run("INSERT INTO checked (key, phase) VALUES (?, ?)", [key, phase]);

  const run = ({ text, parameters }: Prepared) => database.query(text).run(...parameters);
  /** Older days copy the sums of later days, so they need the same events. */
  const sourceDayOf = (day: number) =>
    day < firstResults ? firstResults + ((day - firstDay) % plan.resultDays) : day;
  const buildOutage = (day: number, number: number) => {
    const n = sourceDayOf(day) * perDay.outages + number;
    const id = ids[Math.floor(noiseOf(n) * ids.length)] ?? "";
    const from = day * dayMs + Math.floor((number / perDay.outages) * (dayMs - hourMs));
    return { n, id, key: keys.get(id) ?? 0, from, to: from + 5 * minuteMs };
  };

  /** Events of a day besides check results; for old days only the retained ones. */
  function writeActivity(day: number, age = 0) {
    for (let number = 0; number < perDay.changes; number++) {
      const at = formatTimestamp(day * dayMs + Math.floor((number / perDay.changes) * dayMs));
      const subjectId = ids[(day + number) % ids.length] ?? "";
      run(
        rows.audit({
          organizationId,
          at,
          actorType: "person",
          actorId: ids[0] ?? "",
          actorName: "Ada Lovelace",
          action: "monitor.updated",
          subjectId,
          fields: '["interval","timeout"]',
          requestId: ids[1] ?? "",
        }),
      );
      if (age <= eventDays)
        run(rows.event({ organizationId, at, type: "monitor.updated", subjectId, data: null }));
    }
    for (let number = 0; number < perDay.outages; number++) {
      const { n, id, from, to } = buildOutage(day, number);
      const message = "HTTP 503 (Service Unavailable), expected 200-299.";
      const monitor = {
        id,
        name: namesOf.get(id) ?? "",
        type: "http",
        groupId: groups[0] ?? null,
        groupName: "Group",
        target: "http://127.0.0.1:9/",
        tags: [],
        description: "",
      };
      for (const [type, at, before] of [
        ["monitor.down", from, "up"],
        ["monitor.up", to, "down"],
      ] as const) {
        const data = { before, since: formatTimestamp(at - hourMs), message, latencyMs: 120 };
        run(
          rows.event({
            organizationId,
            at: formatTimestamp(at),
            type,
            subjectId: id,
            data: JSON.stringify(data),
          }),
        );
        if (age > deliveryDays) continue;
        const [alertId, deliveryId] = [createId(at), createId(at)];
        const alert = { monitor, since: formatTimestamp(at), message, latencyMs: 120 };
        run(
          rows.alert({
            organizationId,
            id: alertId,
            type,
            at: formatTimestamp(at),
            monitorId: id,
            data: JSON.stringify(alert),
          }),
        );
        run(
          rows.delivery({
            organizationId,
            id: deliveryId,
            receiverType: "channel",
            receiverId: channel.id,
            status: "delivered",
            attempts: 1,
            scheduledAttempts: 1,
            firstAttemptAt: at,
            lastAttemptAt: at,
            createdAt: formatTimestamp(at),
            deliveredAt: formatTimestamp(at),
          }),
        );
        run(
          rows.told({
            organizationId,
            deliveryId,
            position: 0,
            alertId,
            follows: null,
            withheld: false,
          }),
        );
        run(
          rows.attempt({
            organizationId,
            deliveryId,
            number: 1,
            at: formatTimestamp(at),
            durationMs: 120,
            delivered: true,
            message: "HTTP 200 (OK)",
          }),
        );
      }
      if (n % 10 === 0) insertIncident(id, from, to, message);
    }
  }

  function insertIncident(monitorId: string, from: number, to: number, message: string) {
    const id = createId(from);
    run(
      rows.incident({
        organizationId,
        id,
        title: `${namesOf.get(monitorId) ?? ""} is down`,
        status: "resolved",
        severity: "major",
        monitorId,
        origin: "monitor",
        public: true,
        resolvedAt: formatTimestamp(to),
        version: 2,
        createdAt: formatTimestamp(from),
        updatedAt: formatTimestamp(to),
        automatic: JSON.stringify({ kind: "down", monitor: namesOf.get(monitorId) ?? "" }),
        entries: 0,
        textBytes: 0,
      }),
    );
    run(rows.affected({ organizationId, incidentId: id, monitorId, position: 0 }));
    for (const [seq, status, at] of [
      [1, "investigating", from],
      [2, "resolved", to],
    ] as const)
      run(
        rows.update({
          organizationId,
          incidentId: id,
          seq,
          id: createId(at),
          status,
          message,
          createdAt: formatTimestamp(at),
          automatic: '{"kind":"down","message":"HTTP 503"}',
        }),
      );
  }

  /** Results of all monitors for every minute of a part of a day, with their sums. */
  function insertResults(from: number, to: number) {
    const minutes = Math.round((to - from) / minuteMs);
    database.run(
      `WITH RECURSIVE m(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM m WHERE n < ?2 - 1)
       INSERT INTO heartbeats (monitor_key, at, status, latency_ms, seconds, message)
       SELECT key, ?1 + n * ${minuteMs} + phase, 0, 80 + (key * 7919 + n * 104729 + ?1 / ${hourMs} * 31) % 60 + iif(n % 37 = key % 37, 240, 0), 60, NULL
       FROM m CROSS JOIN checked`,
      [from, minutes],
    );
    const day = Math.floor(from / dayMs);
    for (let number = 0; number < perDay.outages; number++) {
      const one = buildOutage(day, number);
      database.run(
        `UPDATE heartbeats SET status = 2, message = 'HTTP 503 (Service Unavailable), expected 200-299.'
         WHERE monitor_key = ? AND at BETWEEN ? AND ? AND at >= ? AND at < ?`,
        [one.key, one.from, one.to - 1, from, to],
      );
    }
    addUp("uptime_hours", hourMs, from, to);
    addUp("uptime_days", dayMs, from, to);
  }

  function addUp(table: string, periodMs: number, from: number, to: number) {
    const [first, last] = [Math.floor(from / periodMs), Math.floor((to - 1) / periodMs)];
    database.run(
      `INSERT OR REPLACE INTO ${table}
       SELECT at / ${periodMs} AS period, monitor_key, total(seconds) FILTER (WHERE status = 0),
         total(seconds) FILTER (WHERE status = 1), total(seconds) FILTER (WHERE status = 2),
         total(seconds) FILTER (WHERE status = 3), total(seconds) FILTER (WHERE status = 4),
         count(latency_ms), total(latency_ms), min(latency_ms), max(latency_ms),
         (SELECT json_group_object(bucket, checks) FROM (
           SELECT ${bucketText} AS bucket, count(*) AS checks FROM heartbeats b
           WHERE b.monitor_key = key AND b.at / ${periodMs} = heartbeats.at / ${periodMs}
             AND b.at >= ?1 AND b.at < ?2 GROUP BY 1))
       FROM checked JOIN heartbeats ON monitor_key = key AND at >= ?1 AND at < ?2
       GROUP BY period, monitor_key ORDER BY period, monitor_key`,
      [first * periodMs, (last + 1) * periodMs],
    );
  }

  for (let day = firstResults; day < endDay; day++) insertResults(day * dayMs, (day + 1) * dayMs);
  if (plan.end > endDay * dayMs) insertResults(endDay * dayMs, plan.end);
  insertOlderSums(database, firstDay, firstResults, plan.resultDays);
  database.run("BEGIN");
  for (let day = firstDay; day < endDay; day++) writeActivity(day, endDay - day);
  const last = database.query<{ seq: number }, []>("SELECT max(seq) AS seq FROM events").get();
  for (const name of ["alerting", "subscribers"])
    database.run("INSERT OR REPLACE INTO followers (name, seq, version) VALUES (?, ?, 1)", [
      name,
      last?.seq ?? 0,
    ]);
  database.run("COMMIT");
  return { organizationId, key, ids, results: insertResults, writeActivity };
}

/** Sums of days without results, copied from days with results. */
function insertOlderSums(database: Database, from: number, to: number, templates: number) {
  for (const [table, period, hours] of [
    ["uptime_hours", "hour", 24],
    ["uptime_days", "day", 1],
  ] as const) {
    // Oldest first, in the order of writing.
    database.run(`CREATE TEMP TABLE young AS SELECT * FROM ${table}`);
    database.run(`CREATE INDEX temp.young_by_period ON young (${period})`);
    database.run(`DELETE FROM ${table}`);
    const others =
      "up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum, latency_min, latency_max, latency_counts";
    for (let day = from; day < to; day++) {
      const template = to + ((day - from) % templates);
      database.run(
        `INSERT INTO ${table} SELECT ${period} - ?1, monitor_key, ${others} FROM young
         WHERE ${period} >= ?2 AND ${period} < ?3 ORDER BY ${period}, monitor_key`,
        [(template - day) * hours, template * hours, (template + 1) * hours],
      );
    }
    database.run(`INSERT INTO ${table} SELECT * FROM young ORDER BY ${period}, monitor_key`);
    database.run("DROP TABLE young");
  }
}

/** Counted nouns and their tables. */
export const counted: Record<string, { count: string; names: string }> = {
  "Results of checks": { count: "SELECT count(*) FROM heartbeats", names: "heartbeats" },
  "Hourly sums": { count: "SELECT count(*) FROM uptime_hours", names: "uptime_hours" },
  "Daily sums": { count: "SELECT count(*) FROM uptime_days", names: "uptime_days" },
  "Changes of a monitor's state": { count: "SELECT count(*) FROM events", names: "events" },
  "Audit log": { count: "SELECT count(*) FROM audit_entries", names: "audit_entries" },
  "Alerts and their deliveries": {
    count: "SELECT count(*) FROM deliveries",
    names: "alerts deliver",
  },
  Incidents: { count: "SELECT count(*) FROM incidents", names: "incident" },
};

/** Bytes per row, indexes included; null without rows. */
export function measureBytes(database: Database, what: string): number | null {
  const { count, names } = counted[what] ?? {};
  if (count === undefined || names === undefined) return null;
  const [[rows] = []] = database.query(count).values();
  const [[size] = []] = database
    .query(
      `SELECT sum(d.pgsize) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
       JOIN json_each(?) wanted ON s.tbl_name LIKE wanted.value || '%'`,
    )
    .values(JSON.stringify(names.split(" ")));
  return Number(size) / Number(rows);
}
