/** Texts that must be cut, blank texts and repeated IDs of a source prevent no import. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fields } from "../../src/core/collections/objects.ts";
import { buildGatusPlan } from "../../src/imports/gatus/plan.ts";
import { buildHealthchecksPlan } from "../../src/imports/healthchecks/plan.ts";
import { openBackup } from "../../src/imports/kuma/backup.ts";
import { openKuma } from "../../src/imports/kuma/open.ts";
import { buildKumaPlan } from "../../src/imports/kuma/plan.ts";
import type { Plan } from "../../src/imports/plan.ts";
import { runImport } from "../../src/imports/service.ts";
import { testAppliance } from "../support/appliance.ts";
import { inflateFixture } from "../support/kuma-fixtures.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-22T06:00:00.000Z");

/** Emoji have two UTF-16 units: a cut at any unit is within one of them in one of these texts. */
const emoji = "😀".repeat(6_000);
const texts = {
  "text of emoji": emoji,
  "text of emoji after a letter": `a${emoji}`,
  blank: "\u200b",
};

const kumaTexts = ["name", "title", "description", "content", "value"];

async function planKuma(text: string): Promise<Plan> {
  const source = await openKuma(inflateFixture("kuma-2-acme.db"), newDirectory());
  const replaceTexts = (row: Fields) => ({
    ...row,
    ...Object.fromEntries(kumaTexts.flatMap((name) => (name in row ? [[name, text]] : []))),
  });
  const { setting, ...tables } = source.rows;
  const changed = Object.entries(tables).map(([table, all]) => [table, all.map(replaceTexts)]);
  const rows = { ...Object.fromEntries(changed), setting } as typeof source.rows;
  const plan = buildKumaPlan({ ...source, rows }, now);
  await source.close();
  return plan;
}

function planGatus(text: string): Promise<Plan> {
  const file = join(newDirectory(), "config.json");
  const endpoint = {
    name: text,
    group: text,
    url: "http://shop.example/",
    conditions: ["[STATUS] == 200", `[BODY] == pat(${text})`],
    alerts: [{ type: "slack", description: text }],
    "extra-labels": { team: text },
  };
  const config = {
    ui: { header: text, description: text },
    announcements: [{ timestamp: "2026-11-01T00:00:00Z", type: "outage", message: text }],
    alerting: { slack: { "webhook-url": "https://hooks.example/x" } },
    endpoints: [endpoint, { ...endpoint, group: "other", conditions: ["[STATUS] == 200"] }],
  };
  writeFileSync(file, JSON.stringify(config));
  return buildGatusPlan(file, {}, { now });
}

const planHealthchecks = (text: string) =>
  planChecks([{ name: text, tags: text, desc: text, timeout: 3_600, unique_key: "a6c7" }]);

function planChecks(checks: object[]): Promise<Plan> {
  const file = join(newDirectory(), "checks.json");
  writeFileSync(file, JSON.stringify({ checks }));
  return buildHealthchecksPlan(file);
}

async function importPlan(plan: Plan) {
  const { ours } = await testAppliance();
  const options = { keepResults: 14, keepHours: 400 };
  const preview = await runImport(ours.scope, plan, null, { ...options, dryRun: true });
  const { report } = await runImport(ours.scope, plan, null, options);
  expect(preview.report.items).toEqual(report.items);
  return report.items;
}

const plans = { "Uptime Kuma": planKuma, Gatus: planGatus, Healthchecks: planHealthchecks };

for (const [product, buildPlan] of Object.entries(plans))
  describe(`an import from ${product}`, () => {
    for (const [what, text] of Object.entries(texts))
      test(`with ${what} in every field has every record`, async () => {
        const listTaken = (items: Awaited<ReturnType<typeof importPlan>>) =>
          items.filter(({ decision }) => decision === "created").map(({ noun }) => noun);
        const plain = await buildPlan("Plain");
        expect(listTaken(await importPlan(await buildPlan(text)))).toEqual(
          plain.records.flatMap(({ noun }) =>
            noun === "incident" && what === "blank" && product === "Gatus" ? [] : [noun],
          ),
        );
      });
  });

describe("a repeated ID in the source", () => {
  test("leaves the second check of Healthchecks out, with the reason", async () => {
    const check = {
      timeout: 3_600,
      ping_url: "https://hc-ping.com/31365bce-8da9-4729-8ff3-aaa71d56b712",
    };
    const items = await importPlan(
      await planChecks([
        { ...check, name: "Backup" },
        { ...check, name: "Copy" },
      ]),
    );
    expect(items.map(({ name, decision }) => [name, decision])).toEqual([
      ["Backup", "created"],
      ["Copy", "not-taken"],
    ]);
    expect(items[1]?.notes).toEqual([
      "Not imported: an earlier record of the source has the same ID.",
    ]);
  });

  test("leaves the second monitor and channel of Uptime Kuma out", async () => {
    const monitor = { id: 1, name: "Web", type: "http", url: "http://shop.example/", interval: 60 };
    const backup = { monitorList: [monitor, monitor], notificationList: [{ id: 1 }, { id: 1 }] };
    const source = openBackup(JSON.stringify(backup), "backup.json");
    const items = await importPlan(buildKumaPlan(source, now));
    expect(items.map(({ noun, decision }) => [noun, decision])).toEqual([
      ["alert-channel", "created"],
      ["monitor", "created"],
      ["alert-channel", "not-taken"],
      ["monitor", "not-taken"],
    ]);
  });
});

test("a notification of Uptime Kuma whose configuration is no object is imported disabled", async () => {
  const notificationList = [null, 7, "7", "[]", true].map((config, id) => ({
    id,
    name: "N",
    config,
  }));
  const source = openBackup(JSON.stringify({ monitorList: [], notificationList }), "backup.json");
  const items = await importPlan(buildKumaPlan(source, now));
  expect(items.map(({ decision, isIncomplete }) => [decision, isIncomplete])).toEqual(
    notificationList.map(() => ["created", true]),
  );
});
