import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/core/time/clock.ts";
import { examineTimeZones, listUsedZones } from "../../../src/operations/diagnostics/time-zones.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { createScratch } from "../../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.UTC(2026, 10, 28);

type Transition = { at: number; offset: number };

/** A file of time zone data (RFC 9636), with one type per transition. */
function createZoneFile(transitions: readonly Transition[], footer: string): Buffer {
  const header = (times: number, types: number) => {
    const counts = Buffer.alloc(44);
    counts.write("TZif2");
    counts.writeUInt32BE(times, 32);
    counts.writeUInt32BE(types, 36);
    return counts;
  };
  const times = transitions.map(({ at }) => {
    const time = Buffer.alloc(8);
    time.writeBigInt64BE(BigInt(at / 1000));
    return time;
  });
  const types = transitions.map(({ offset }) => {
    const type = Buffer.alloc(6);
    type.writeInt32BE(offset);
    return type;
  });
  return Buffer.concat([
    header(0, 0),
    header(times.length, types.length),
    ...times,
    Buffer.from(transitions.map((_, index) => index)),
    ...types,
    Buffer.from(`\n${footer}\n`),
  ]);
}

function examine(file: Buffer) {
  const folder = newDirectory();
  mkdirSync(join(folder, "Asia"));
  writeFileSync(join(folder, "Asia", "Kathmandu"), file);
  return examineTimeZones(["UTC", "Asia/Kathmandu"], now, folder);
}

const start = { at: Date.UTC(1986, 0), offset: 20_700 };

test.each([
  ["without transitions", createZoneFile([], "<+0545>-5:45")],
  ["with the same offset", createZoneFile([start], "<+0545>-5:45")],
  ["with a rule of daylight saving time", createZoneFile([start], "A-5B,M3.2.0,M11.1.0")],
  [
    "with a later transition",
    createZoneFile([start, { at: now + 500 * dayMs, offset: 0 }], "UTC0"),
  ],
])("time zone data %s agree", (_name, file) => {
  expect(examine(file)).toMatchObject([{ verdict: "ok" }]);
});

test("time zone data that are newer than those of the executable are a warning", () => {
  const change = { at: now + 10 * dayMs, offset: 21_600 };
  expect(examine(createZoneFile([start, change], "<+06>-6"))).toMatchObject([
    {
      verdict: "warning",
      subject: "Asia/Kathmandu",
      message: expect.stringContaining("from 2026-12-08 on"),
    },
  ]);
});

test.each([
  ["no zone", Buffer.from("# A text")],
  ["a zone in the format of version 1", Buffer.from(`TZif\0${" ".repeat(60)}`)],
])("a file with %s is not compared", (_name, file) => {
  expect(examine(file)).toMatchObject([{ verdict: "skipped" }]);
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
