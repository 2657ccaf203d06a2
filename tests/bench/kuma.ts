import { Database } from "bun:sqlite";
import { copyFileSync } from "node:fs";
import { inflateFixture } from "../support/kuma-fixtures.ts";

/** A database of Uptime Kuma 2 with this many monitors, each with as many beats, a minute apart up to `now`. */
export function writeLargeKuma(file: string, monitors: number, heartbeats: number, now: number) {
  copyFileSync(inflateFixture("kuma-2-acme.db"), file);
  const database = new Database(file);
  database.run("PRAGMA synchronous = OFF");
  database.run("PRAGMA foreign_keys = OFF");
  for (const table of ["heartbeat", "stat_hourly", "stat_daily", "stat_minutely", "monitor_tag"])
    database.run(`delete from ${table}`);
  database.run("delete from monitor_group");
  database.run("delete from monitor_maintenance");
  database.run("delete from monitor_notification");
  database.run("delete from monitor");
  const count = (n: number) =>
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < ${n - 1})`;
  database.run(`${count(monitors)} insert into monitor (id, name, active, user_id, interval, url, type)
    select i + 1, 'Service ' || i, 1, 1, 60, 'http://host' || i || '.example/', 'http' from n`);
  const start = Math.floor(now / 1_000) - heartbeats * 60;
  database.run(`${count(monitors * heartbeats)} insert into heartbeat (important, monitor_id, status, msg, time, ping)
    select 0, i % ${monitors} + 1, i % 97 > 0, '200 - OK',
      strftime('%Y-%m-%d %H:%M:%f', ${start} + (i / ${monitors}) * 60, 'unixepoch'), 20 + i % 83 from n`);
  const hours = Math.ceil(heartbeats / 60);
  for (const [table, seconds, rows] of [
    ["stat_hourly", 3_600, hours],
    ["stat_daily", 86_400, Math.ceil(hours / 24)],
  ] as const)
    database.run(`${count(monitors * rows)} insert into ${table} (monitor_id, timestamp, ping, ping_min, ping_max, up, down)
      select i % ${monitors} + 1, (${Math.floor(now / 1_000 / seconds)} - i / ${monitors}) * ${seconds}, 60, 20, 103, ${seconds / 60 - 1}, 1 from n`);
  database.close();
}
