import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";

const files = readdirSync(assets.migrations)
  .filter((name) => name.endsWith(".sql"))
  .toSorted();
const step = files.findIndex((name) => name.endsWith("_delivery_progress.sql"));

function run(database: Database, names: readonly string[]) {
  for (const name of names)
    for (const statement of readFileSync(join(assets.migrations, name), "utf8").split(
      "--> statement-breakpoint",
    ))
      database.run(statement);
}

test("cases that an older version opened are recognized by their original keys", () => {
  using database = new Database(":memory:");
  run(database, files.slice(0, step));
  const now = "2026-11-20T10:00:00.000Z";
  const channel = database.query(
    `insert into alert_channels (organization_id, id, name, type, enabled, is_default, incidents, settings,
       secrets, version, created_at, updated_at) values ('o', ?1, 'On-call', ?2, 1, 0, 1, '{}', '{}', 1, ?3, ?3)`,
  );
  database.run("pragma foreign_keys = off");
  for (const [id, type] of [
    ["p", "pagerduty"],
    ["g", "opsgenie"],
    ["w", "webhook"],
  ] as const)
    channel.run(id, type, now);
  database.run(
    `insert into incidents (organization_id, id, title, status, severity, origin, public, created_at,
       updated_at, version)
     values ('o', 'incident', 'Slow', 'investigating', 'major', 'manual', 1, ?1, ?1, 1)`,
    [now],
  );
  const describe = (id: string, subject: string, channelId: string, state: string) => {
    database.run(
      "insert into alerts (organization_id, id, type, at, data) values ('o', ?1, 'x', ?2, '{}')",
      [`alert-${id}`, now],
    );
    database.run(
      `insert into deliveries (organization_id, id, receiver_type, receiver_id, status, attempts,
         scheduled_attempts, created_at) values ('o', ?1, 'channel', ?2, 'delivered', 1, 1, ?3)`,
      [id, channelId, now],
    );
    database.run(
      "insert into delivery_alerts (organization_id, delivery_id, position, alert_id, withheld) values ('o', ?1, 0, ?2, 0)",
      [id, `alert-${id}`],
    );
    database.run(
      "insert or replace into open_alerts (organization_id, subject_id, channel_id, since, tellings) values ('o', ?1, ?2, ?3, ?4)",
      [
        subject,
        channelId,
        now,
        JSON.stringify([
          ["gone", "degraded"],
          [id, state],
        ]),
      ],
    );
  };
  describe("d1", "monitor", "p", "down");
  describe("d2", "monitor", "w", "down");
  describe("d3", "incident", "g", "open");
  run(database, files.slice(step, step + 1));
  const found = database
    .query(
      "select channel_id, subject_id, problem, key, alert_id from open_cases order by channel_id",
    )
    .values();
  expect(found).toEqual([
    ["g", "incident", "major", "signalbox-incident", "alert-d3"],
    ["p", "monitor", "down", "signalbox-monitor", "alert-d1"],
  ]);
  const stored = database.query("select count(*), count(case_key) from deliveries").values();
  expect(stored).toEqual([[3, 0]]);
  expect(database.query("pragma integrity_check").values()).toEqual([["ok"]]);
});
