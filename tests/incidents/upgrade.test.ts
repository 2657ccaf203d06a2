import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { openDatabase } from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

/** Copies the migrations before the one with this name. */
function copyMigrations(name: string): string {
  const folder = newDirectory();
  cpSync(assets.migrations, folder, { recursive: true });
  const file = join(folder, "meta", "_journal.json");
  const journal = JSON.parse(readFileSync(file, "utf8")) as { entries: { tag: string }[] };
  const index = journal.entries.findIndex(({ tag }) => tag.endsWith(name));
  expect(index).toBeGreaterThan(0);
  journal.entries.length = index;
  writeFileSync(file, JSON.stringify(journal));
  return folder;
}

type Step = { by: "monitor" | "person"; action: string; message: string; fields?: string[] };

test("the monitor of an incident is the first of its monitors", () => {
  const database = openDatabase(":memory:");
  migrate(database, copyMigrations("_incident_monitors"));
  database.run("INSERT INTO organizations VALUES ('o', 'ours', 'Ours', '', NULL)");
  database.run(`INSERT INTO monitors (organization_id, id, name, type, description, tags, position,
      interval_seconds, timeout_seconds, retries, retry_interval_seconds, paused, muted, settings,
      secrets, version, created_at, updated_at)
    VALUES ('o', 'm', 'Shop', 'ping', '', '[]', 0, 60, 10, 1, 10, 0, 0, '{}', '{}', 1, '', '')`);
  for (const [id, monitor] of [
    ["with", "m"],
    ["without", null],
  ] as const)
    database.run(
      `INSERT INTO incidents VALUES ('o', ?, 'Slow', 'resolved', 'minor', ?, 'manual', 1, NULL, 1, '', '', NULL)`,
      [id, monitor],
    );
  migrate(database, assets.migrations);
  expect(database.query("SELECT * FROM incident_monitors").values()).toEqual([
    ["o", "with", "m", 0],
  ]);
});

test("old monitor updates without facts are distinguished from people's", () => {
  const database = openDatabase(":memory:");
  migrate(database, copyMigrations("_incident_facts"));
  database.run("INSERT INTO organizations VALUES ('o', 'ours', 'Ours', '')");
  const formatTime = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`;
  const createIncident = (id: string, origin: string, title: string, steps: Step[]) => {
    database.run(
      "INSERT INTO incidents VALUES ('o', ?, ?, 'resolved', 'minor', NULL, ?, 1, ?, 9, ?, ?)",
      [id, title, origin, formatTime(9), formatTime(0), formatTime(9)],
    );
    steps.forEach(({ by, action, message, fields }, index) => {
      database.run("INSERT INTO incident_updates VALUES ('o', ?, ?, ?, 'resolved', ?, ?)", [
        id,
        index + 1,
        `${id}-${index}`,
        message,
        formatTime(index),
      ]);
      database.run(
        `INSERT INTO audit_entries (organization_id, at, actor_type, actor_name, action, subject_id, fields)
         VALUES ('o', ?, ?, 'db-7 is up', ?, ?, ?)`,
        [formatTime(index), by, `incident.${action}`, id, fields ? JSON.stringify(fields) : null],
      );
    });
  };
  const opened: Step = { by: "monitor", action: "opened", message: "Answered 500." };
  createIncident("plain", "monitor", "db-7 is up is down", [
    opened,
    { by: "monitor", action: "updated", message: "db-7 is up answers again, but is degraded. x" },
    { by: "person", action: "updated", message: "db-7 is up is down again.", fields: ["message"] },
    { by: "monitor", action: "updated", message: "db-7 is up is down again. x" },
    { by: "monitor", action: "resolved", message: "db-7 is up is up again after 5 min." },
  ]);
  createIncident("edited", "monitor", "The shop is down", [
    opened,
    { by: "person", action: "resolved", message: "Incident resolved.", fields: ["status"] },
  ]);
  createIncident("manual", "manual", "db-7 is up is down", [{ ...opened, by: "person" }]);
  migrate(database, assets.migrations);
  const titles = database.query("SELECT id, automatic FROM incidents ORDER BY id").values();
  expect(titles).toEqual([
    ["edited", null],
    ["manual", null],
    ["plain", '{"kind":"down"}'],
  ]);
  const updates = database
    .query("SELECT incident_id, automatic FROM incident_updates ORDER BY incident_id, seq")
    .values();
  expect(updates).toEqual([
    ["edited", '{"kind":"down"}'],
    ["edited", null],
    ["manual", null],
    ["plain", '{"kind":"down"}'],
    ["plain", '{"kind":"degraded"}'],
    ["plain", null],
    ["plain", '{"kind":"down-again"}'],
    ["plain", '{"kind":"up","downSeconds":null}'],
  ]);
});
