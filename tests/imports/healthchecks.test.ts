import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { buildHealthchecksPlan } from "../../src/imports/healthchecks/plan.ts";
import { runImport } from "../../src/imports/service.ts";
import { createWatch } from "../support/check-board.ts";
import { createScratch } from "../support/scratch-directories.ts";

const uuid = "31365bce-8da9-4729-8ff3-aaa71d56b712";

// From the example of https://healthchecks.io/docs/api/
const checks = [
  {
    name: "Filesystem Backup",
    slug: "filesystem-backup",
    tags: "backup fs",
    desc: "Runs incremental backup every hour",
    grace: 600,
    status: "up",
    success_kw: "SUCCESS",
    failure_kw: "ERROR",
    filter_subject: true,
    ping_url: `https://hc-ping.com/${uuid}`,
    timeout: 3600,
  },
  {
    name: "Database Backup",
    slug: "database-backup",
    tags: "production db",
    desc: "Runs ~/db-backup.sh",
    grace: 172_800,
    status: "paused",
    failure_kw: "ERROR, FATAL",
    filter_http_body: true,
    ping_url: "https://hc-ping.com/803f680d-e89b-492b-82ef-2be7b774a92d",
    schedule: "15 5 * * *",
    tz: "Europe/Riga",
  },
  { name: "", slug: "", tags: "", grace: 3600, unique_key: "a6c7", timeout: 604_800 },
];

const createDirectory = createScratch();

async function writeChecks(content: unknown) {
  const file = join(createDirectory(), "checks.json");
  await Bun.write(file, JSON.stringify(content));
  return file;
}

describe("an import from Healthchecks", () => {
  test("keeps the UUIDs, so that jobs only need another host", async () => {
    const { ours, engine, stranger, api } = await createWatch();
    const plan = await buildHealthchecksPlan(await writeChecks({ checks }));
    const { report } = await runImport(ours.scope, plan, null, { keepResults: 14, keepHours: 400 });
    expect(report.items.map(({ name, notes }) => [name, notes])).toEqual([
      ["Filesystem Backup", ["Without its keywords, which filter mails."]],
      ["Database Backup", ["Its grace is 1 d instead of 2 d."]],
      [
        "Check",
        ["Paused: it lacks a silence of 7 d 1 h, as the longest is two days. Set a schedule."],
      ],
    ]);
    await engine.runOnce();
    expect(await stranger("POST", `/ping/${uuid}/0`)).toMatchObject({ status: 200, text: "OK" });
    const { json } = await api("GET", "/api/v1/monitors?type=push");
    expect(json.data).toMatchObject([
      { name: "Check", status: "paused", slug: null },
      {
        name: "Database Backup",
        status: "paused",
        schedule: "15 5 * * *",
        timeZone: "Europe/Riga",
        failureKeywords: ["ERROR", "FATAL"],
      },
      {
        name: "Filesystem Backup",
        status: "up",
        pingUrl: `http://localhost/ping/${uuid}`,
        tags: ["backup", "fs"],
        interval: 3_600,
        grace: 600,
        slug: "filesystem-backup",
        successKeywords: [],
      },
    ]);
  });

  test("is never overdue earlier than in Healthchecks", async () => {
    const file = await writeChecks({
      checks: [{ name: "Nightly", timeout: 90_000, grace: 3_600 }],
    });
    const { records } = await buildHealthchecksPlan(file);
    expect(records[0]?.fields).toMatchObject({ interval: 86_400, grace: 7_200, paused: false });
    expect(records[0]?.notes).toEqual([]);
  });

  test("names each setting that a monitor does not have", async () => {
    const plan = await buildHealthchecksPlan(
      await writeChecks({
        checks: [
          {
            name: "Odd",
            ping_url: `https://hc-ping.com/${uuid}`,
            timeout: 3600,
            methods: "POST",
            manual_resume: true,
            filter_default_fail: true,
            start_kw: "BEGIN",
            color: "red",
            tags: "t".repeat(60),
            desc: "d".repeat(3_000),
          },
          {
            name: "Many",
            timeout: 3600,
            filter_http_body: true,
            start_kw: "BEGIN",
            failure_kw: Array.from({ length: 21 }, (_, index) => `F${index}`).join(","),
          },
        ],
      }),
    );
    expect(plan.records.map(({ notes }) => notes)).toEqual([
      [
        "Its description is cut to 2000 characters.",
        "Tags are cut to 50 characters.",
        "Pings by GET and HEAD count, too: link checkers must not know its address.",
        "A ping resumes it after a pause.",
        "A mail without any of the keywords is not a failure.",
        "Left out: color (no keys of Healthchecks).",
        "Without its keywords, which filter mails.",
      ],
      [
        "Without the keywords of a start: jobs report it to /start.",
        "It has at most 20 keywords of each kind.",
      ],
    ]);
  });

  test.each([
    [
      "Mon..Fri 02:30\nSat 12:00",
      "UTC",
      "its schedule has several lines. Set one, and create a monitor for each other line",
    ],
    ["30 2 * * *", "Mars/Phobos", "its time zone is not known. Set a schedule with one"],
    ["60 * * * *", "UTC", "its schedule can't be imported. Set one"],
  ])("pauses a check with the schedule %j in %s, with the reason", async (schedule, tz, why) => {
    const { ours } = await createWatch();
    const checks = [{ name: "Backup", grace: 600, unique_key: "a6c7", schedule, tz }];
    const plan = await buildHealthchecksPlan(await writeChecks({ checks }));
    const { report } = await runImport(ours.scope, plan, null, { keepResults: 14, keepHours: 400 });
    expect(report.items.map(({ notes }) => notes)).toEqual([[`Paused: ${why}.`]]);
  });

  test("rejects other files", async () => {
    for (const content of [{}, [], { checks: [1] }, { checks: "x" }, "x"]) {
      const from = await writeChecks(content);
      const error: unknown = await buildHealthchecksPlan(from).catch((reason: unknown) => reason);
      expect(String(error)).toContain(
        "checks.json can't be imported: it is not the JSON of /api/v3/checks/.",
      );
    }
  });
});
