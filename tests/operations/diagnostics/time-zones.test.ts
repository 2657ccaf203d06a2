import { expect, test } from "bun:test";
import { $ } from "bun";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plainEnvironment } from "../../../src/core/system/programs.ts";
import { examineTimeZones, listUsedZones } from "../../../src/operations/diagnostics/time-zones.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.UTC(2026, 10, 28);

/** Compiles time zone data. In slim files, later changes follow from a rule. */
async function compileZones(data: string, style: string): Promise<string> {
  const folder = newDirectory();
  await $`zic -b ${style} -d ${folder} - < ${Buffer.from(`${data}\n`)}`;
  return folder;
}

const zones = ["Europe/Berlin", "Asia/Kathmandu"];
const createBerlin = (lastWeekOrFirst: string) => `
Rule EU 1981 max - Mar ${lastWeekOrFirst} 1:00u 1:00 S
Rule EU 1996 max - Oct lastSun 1:00u 0 -
Zone Europe/Berlin 1:00 EU CE%sT
`;
const kathmandu = "Zone Asia/Kathmandu 5:45 - +0545";

for (const style of ["slim", "fat"]) {
  test(`equal time zone data in a ${style} file agree`, async () => {
    const folder = await compileZones(createBerlin("lastSun") + kathmandu, style);
    expect(await examineTimeZones(zones, now, folder)).toMatchObject([{ verdict: "ok" }]);
  });

  test.each([
    ["rule", createBerlin("Sun>=1") + kathmandu, "Europe/Berlin", "2027-03-07"],
    [
      "offset",
      `${createBerlin("lastSun")}${kathmandu} 2026 Dec 8\n6:00 - +06`,
      "Asia/Kathmandu",
      "2026-12-08",
    ],
  ])(`a newer %s in a ${style} file is a warning`, async (_what, data, subject, day) => {
    const folder = await compileZones(data, style);
    expect(await examineTimeZones(zones, now, folder)).toMatchObject([
      { verdict: "warning", subject, message: expect.stringContaining(`from ${day} on`) },
    ]);
  });
}

test("a zone that only Signalbox knows is named", async () => {
  const folder = await compileZones(kathmandu, "slim");
  expect(await examineTimeZones(zones, now, folder)).toMatchObject([
    { verdict: "skipped", subject: "Europe/Berlin" },
  ]);
});

const nothing = [{ verdict: "skipped", subject: "time zones" }];

test("without time zone data on the machine, nothing is compared", async () => {
  expect(await examineTimeZones(zones, now, newDirectory())).toMatchObject(nothing);
});

test.each([
  ["no command `date`", ""],
  ["one that accepts a single time", "#!/bin/sh\necho +00:00\n"],
])("with %s, nothing is compared", async (_what, script) => {
  const folder = await compileZones(createBerlin("lastSun") + kathmandu, "slim");
  const commands = newDirectory();
  if (script !== "") {
    writeFileSync(join(commands, "date"), script);
    chmodSync(join(commands, "date"), 0o755);
  }
  const environment = { ...plainEnvironment, PATH: commands };
  expect(await examineTimeZones(zones, now, folder, environment)).toMatchObject(nothing);
});

test("the time zones of all records are compared", async () => {
  const { api, store } = await createDashboard();
  const hours = { days: ["monday"], from: "22:00", until: "07:00" };
  const drill = { day: 1, from: "10:00", until: "16:00" };
  const create = async (path: string, body: object) =>
    expect(await api("POST", `/api/v1/${path}`, { body })).toMatchObject({ status: 201 });
  await create("schedules", { name: "S", timeZone: "Europe/Berlin" });
  await create("status-pages", { title: "P", slug: "zones", timeZone: "America/Lima" });
  await create("maintenance-windows", {
    title: "W",
    startsAt: "2099-01-01T00:00:00Z",
    endsAt: "2099-01-01T01:00:00Z",
    timeZone: "Asia/Tokyo",
  });
  await create("alert-channels", {
    type: "webhook",
    name: "C",
    url: "https://hooks.example/",
    quietHours: { timeZone: "Africa/Cairo", hours: [hours] },
  });
  await create("escalation-policies", { name: "E", drill: { ...drill, timeZone: "Asia/Dubai" } });
  await create("monitors", {
    type: "push",
    name: "M",
    schedule: "0 1 * * *",
    timeZone: "America/Bogota",
  });
  expect(await listUsedZones(store)).toEqual(
    expect.arrayContaining([
      "Africa/Cairo",
      "America/Bogota",
      "America/Lima",
      "Asia/Dubai",
      "Asia/Tokyo",
      "Europe/Berlin",
    ]),
  );
});
