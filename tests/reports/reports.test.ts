import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatTimestamp, hourMs } from "../../src/core/time/clock.ts";
import {
  getMonthSpan,
  findOutages,
  listReportDays,
  nameReportFile,
  splitPeriods,
} from "../../src/reports/rules.ts";
import type { Report, ReportFigures } from "../../src/reports/schema.ts";

import { type HeartbeatRow, insertHeartbeats } from "../../src/monitoring/uptime/store.ts";
import { unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { signInMember } from "../support/people.ts";

const at = (text: string) => Date.parse(text);

/** An organization with three monitors, one of them without a group, and helpers that write results and states. */
async function setUpReport() {
  const dashboard = await createDashboard();
  const { database, store, api, time } = dashboard;
  time.now = at("2026-01-01T00:00:00.000Z");
  const group = await dashboard.group({ name: "=Payments" });
  const ids: string[] = [];
  for (const [index, name] of ["Checkout", '"Cards", +EU', "Blog"].entries())
    ids.push((await dashboard.monitor({ name, groupId: index < 2 ? group.id : null })).id);
  time.now = at("2026-11-20T10:00:00.000Z");
  // The state history starts with the first of these.
  database.run("UPDATE events SET at = '2026-01-01T00:00:00.000Z'");
  const [checkout = "", cards = "", blog = ""] = ids;
  const keyOf = (id: string) =>
    database
      .query<{ key: number }, [string]>("SELECT key FROM monitor_states WHERE monitor_id = ?")
      .get(id)?.key ?? 0;
  const report = async (query: Record<string, string> = {}): Promise<Report> => {
    const { status, json } = await api("GET", `/api/v1/reports?${new URLSearchParams(query)}`);
    expect([status, json.error]).toEqual([200, undefined]);
    return json.data;
  };
  return {
    ...dashboard,
    group,
    checkout,
    cards,
    blog,
    report,
    csv: async (query: Record<string, string> = {}) =>
      (await api("GET", `/api/v1/reports/csv?${new URLSearchParams(query)}`)).text,
    measure: (id: string, row: Partial<HeartbeatRow> & { at: number }) =>
      store.atomic(
        insertHeartbeats([
          {
            monitorKey: keyOf(id),
            status: "up",
            latencyMs: 20,
            seconds: 60,
            message: null,
            ...row,
          },
        ]),
      ),
    state: (id: string, type: string, time: string) =>
      store.atomic([
        {
          text: `insert into events (organization_id, at, type, subject_id, data)
            select organization_id, ?, ?, id, '{"message":"HTTP 502"}' from monitors where id = ?`,
          parameters: [time, `monitor.${type}`, id],
        },
      ]),
  };
}

const seconds = [
  "upSeconds",
  "degradedSeconds",
  "downSeconds",
  "unknownSeconds",
  "maintenanceSeconds",
] as const;
const secondsOf = (one: ReportFigures) => seconds.map((name) => one[name]);
const buildTotal = (all: readonly ReportFigures[]) =>
  seconds.map((name) => all.reduce((sum, one) => sum + one[name], 0));

describe("a month", () => {
  test.each([
    ["2026-03", "Europe/Berlin", 31 * 24 - 1],
    ["2026-10", "Europe/Berlin", 31 * 24 + 1],
    ["2026-02", "UTC", 28 * 24],
    ["2026-11", "America/New_York", 30 * 24 + 1],
    ["2026-12", "Pacific/Kiritimati", 31 * 24],
    ["2026-06", "Asia/Kathmandu", 30 * 24],
  ])("%s in %s has %d hours, however its clocks are moved", (month, zone, hours) => {
    const span = getMonthSpan(month, zone);
    expect((span.to - span.from) / hourMs).toBe(hours);
    const periods = splitPeriods(span);
    expect(periods.hours.length + 24 * periods.days.length).toBe(hours);
  });

  test("follows the previous one without gap or overlap, in every zone", () => {
    const zones = ["Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "UTC"];
    const hoursOf = ({ hours, days }: ReturnType<typeof splitPeriods>) =>
      [
        ...hours,
        ...days.flatMap((day) => Array.from({ length: 24 }, (_, hour) => day * 24 + hour)),
      ].sort((one, other) => one - other);
    for (const zone of zones) {
      const all = Array.from({ length: 24 }, (_, index) => {
        const month = `${2025 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;
        return hoursOf(splitPeriods(getMonthSpan(month, zone)));
      }).flat();
      expect(all).toEqual(all.map((_, index) => (all[0] ?? 0) + index));
    }
  });

  test("starts and ends in the requested time zone, or the organization's", async () => {
    const { report, measure, checkout } = await setUpReport();
    // 1 October has begun in Berlin, and not in UTC.
    await measure(checkout, { at: at("2026-09-30T22:30:00.000Z") });
    const berlin = await report({ month: "2026-10", timeZone: "Europe/Berlin" });
    expect([berlin.from, berlin.to, berlin.isRunning]).toEqual([
      "2026-09-30T22:00:00.000Z",
      "2026-10-31T23:00:00.000Z",
      false,
    ]);
    expect(berlin.summary.upSeconds).toBe(60);
    expect((await report({ month: "2026-10" })).summary.upSeconds).toBe(0);
    expect((await report({ month: "2026-09" })).summary.upSeconds).toBe(60);
  });

  test("that is not over ends now; a future or invalid month is rejected", async () => {
    const { report, api } = await setUpReport();
    const { month, isRunning, to } = await report();
    expect([month, isRunning, to]).toEqual(["2026-11", true, "2026-11-20T10:00:00.000Z"]);
    for (const query of ["month=2026-12", "month=2026-13", "slaTarget=2", "slaTarget=1e-1"])
      expect([query, (await api("GET", `/api/v1/reports?${query}`)).status]).toEqual([query, 422]);
    expect((await api("GET", `/api/v1/reports?groupId=${unknownId}`)).status).toBe(404);
    const two = `monitorId=${unknownId}&groupId=${unknownId}`;
    expect((await api("GET", `/api/v1/reports?${two}`)).status).toBe(422);
  });
});

describe("days", () => {
  test("of a month have the worst status of each monitor, group and of all", async () => {
    const { report, measure, checkout, cards, blog, group } = await setUpReport();
    const measured = [
      [checkout, "2026-10-01T05:00:00.000Z", "down"],
      [checkout, "2026-10-02T05:00:00.000Z", "up"],
      [cards, "2026-10-02T05:00:00.000Z", "degraded"],
      [blog, "2026-10-31T23:59:00.000Z", "maintenance"],
    ] as const;
    for (const [id, time, status] of measured) await measure(id, { at: at(time), status });
    const { days, monitors, groups } = await report({ month: "2026-10" });
    expect([days.length, days[0]?.date, days.at(-1)?.date]).toEqual([
      31,
      "2026-10-01",
      "2026-10-31",
    ]);
    expect(days[0]).toMatchObject({ tone: "down", ratio: 0, downSeconds: 60 });
    expect([days[1]?.tone, days[2]?.tone, days[30]?.tone]).toEqual([
      "degraded",
      "none",
      "maintenance",
    ]);
    const tonesOf = (id: string) => monitors.find((one) => one.id === id)?.days.slice(0, 3);
    expect([checkout, cards, blog].map(tonesOf)).toEqual([
      ["down", "up", "none"],
      ["none", "degraded", "none"],
      ["none", "none", "none"],
    ]);
    const inGroup = groups.find(({ id }) => id === group.id);
    expect(inGroup?.days.slice(0, 3)).toEqual(["down", "degraded", "none"]);
    expect(inGroup?.downRatios.slice(0, 3)).toEqual([1, 0, 0]);
    // A running month ends today.
    const { days: running } = await report();
    expect([running.length, running.at(-1)?.date]).toEqual([20, "2026-11-20"]);
  });

  test.each(["Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "UTC"])(
    "are as many as the month has in %s",
    (zone) => {
      for (const [month, count] of [
        ["2026-10", 31],
        ["2026-02", 28],
        ["2026-03", 31],
      ] as const)
        expect(listReportDays(getMonthSpan(month, zone), false).length).toBe(count);
    },
  );
});

describe("figures", () => {
  test("of the whole are sums of its groups and monitors, and of the month's measurements", async () => {
    const { report, measure, checkout, cards, blog, group, store } = await setUpReport();
    const from = at("2026-09-20T00:00:00.000Z");
    const result = fc.record({
      monitor: fc.constantFrom(checkout, cards, blog),
      minute: fc.nat({ max: 60 * 24 * 61 }),
      status: fc.constantFrom("up", "degraded", "down", "unknown", "maintenance" as const),
      seconds: fc.integer({ min: 1, max: 600 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(result, { maxLength: 40, selector: ({ minute }) => minute }),
        fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"),
        async (results, timeZone) => {
          await store.atomic(
            ["heartbeats", "uptime_hours", "uptime_days"].map((table) => ({
              text: `delete from ${table}`,
              parameters: [],
            })),
          );
          for (const { monitor, minute, status, seconds } of results)
            await measure(monitor, { at: from + minute * 60_000, status, seconds });
          const months = ["2026-09", "2026-10", "2026-11"];
          const reports = await Promise.all(months.map((month) => report({ month, timeZone })));
          for (const one of reports) {
            expect(secondsOf(one.summary)).toEqual(buildTotal(one.monitors));
            expect(secondsOf(one.summary)).toEqual(buildTotal(one.groups));
            const span = getMonthSpan(one.month, timeZone);
            const inMonth = results.filter(({ minute }) => {
              const hour = Math.floor((from + minute * 60_000) / hourMs) * hourMs;
              return hour >= span.from && hour < span.to;
            });
            for (const name of ["up", "degraded", "down"] as const)
              expect(one.summary[`${name}Seconds`]).toBe(
                inMonth
                  .filter(({ status }) => status === name)
                  .reduce((sum, { seconds }) => sum + seconds, 0),
              );
            const { upSeconds, degradedSeconds, downSeconds, ratio } = one.summary;
            const measured = upSeconds + degradedSeconds + downSeconds;
            expect(ratio).toBe(measured === 0 ? null : (upSeconds + degradedSeconds) / measured);
          }
          const [, october] = reports;
          const part = await report({ month: "2026-10", timeZone, groupId: group.id });
          expect(part.summary).toEqual({
            ...(october?.groups[0] as ReportFigures),
            ...({
              id: undefined,
              name: undefined,
              monitors: undefined,
              days: undefined,
              downRatios: undefined,
            } as object),
          });
        },
      ),
      { numRuns: 12 },
    );
  });

  test("contain the number and duration of outages, and whether the target was met", async () => {
    const { report, measure, state, checkout, cards, group, ours } = await setUpReport();
    for (let hour = 0; hour < 10; hour++)
      await measure(checkout, {
        at: at("2026-10-05T00:00:00.000Z") + hour * hourMs,
        seconds: 3_600,
      });
    await measure(checkout, { at: at("2026-10-05T10:00:00.000Z"), status: "down", seconds: 600 });
    // Since before the month, within it, and until after it.
    for (const [type, time] of [
      ["down", "2026-09-30T23:50:00.000Z"],
      ["up", "2026-10-01T00:05:00.000Z"],
      ["down", "2026-10-05T10:00:00.000Z"],
      ["maintenance", "2026-10-05T10:10:00.000Z"],
      ["up", "2026-10-05T12:00:00.000Z"],
      ["down", "2026-10-31T23:58:00.000Z"],
      ["up", "2026-11-01T01:00:00.000Z"],
    ] as const)
      await state(checkout, type, time);
    const october = await report({ month: "2026-10", groupId: group.id, slaTarget: "0.99" });
    expect(october.summary).toMatchObject({
      outages: 3,
      mttrSeconds: 340,
      mtbfSeconds: 12_000,
      longestOutageSeconds: 600,
      isMet: false,
    });
    expect(october.outages.map(({ seconds, from, to }) => [seconds, from, to])).toEqual([
      [300, "2026-09-30T23:50:00.000Z", "2026-10-01T00:05:00.000Z"],
      [600, "2026-10-05T10:00:00.000Z", "2026-10-05T10:10:00.000Z"],
      [120, "2026-10-31T23:58:00.000Z", null],
    ]);
    const [of, none] = october.monitors;
    expect([of?.isMet, none?.id, none?.outages, none?.mttrSeconds, none?.isMet]).toEqual([
      false,
      cards,
      0,
      null,
      null,
    ]);
    expect((await report({ month: "2026-10", slaTarget: "0.98" })).summary.isMet).toBe(true);
    expect((await report({ month: "2026-10" })).summary.isMet).toBeNull();
    expect(ours.id).not.toBe("");
  });

  test("compare with the target of the query, the subject, the group or the organization, in this order", async () => {
    const world = await setUpReport();
    const { report, csv, measure, checkout, blog, group, api } = world;
    const { page } = await signInMember(world, "admin");
    for (const id of [checkout, blog])
      for (const [day, status] of [
        ["05", "up"],
        ["06", "down"],
      ] as const)
        await measure(id, { at: at(`2026-10-${day}T10:00:00.000Z`), status, seconds: 3_600 });
    const setTarget = async (path: string, slaTarget: number | null) =>
      expect((await api("PATCH", path, { body: { slaTarget } })).json.data.slaTarget).toBe(
        slaTarget,
      );
    const groupPath = `/api/v1/monitor-groups/${group.id}`;
    await setTarget(groupPath, 0.4);
    expect(
      (await page("PATCH", "/dashboard/organization", { body: { slaTarget: 0.9 } })).status,
    ).toBe(200);
    const { json } = await api("POST", "/api/v1/status-pages", {
      body: { slug: "shop", title: "Shop", sections: [{ groupId: group.id }] },
    });
    const statusPageId = json.data.id;
    const targetsOf = async (query: Record<string, string>) => {
      const { slaTarget, summary, groups, monitors } = await report({ month: "2026-10", ...query });
      const first = monitors.find(({ id }) => id === checkout) ?? monitors[0];
      const rows = [summary, groups[0], first].map((one) => [one?.slaTarget, one?.isMet]);
      return [slaTarget, ...rows];
    };
    const [met, missed] = [
      [0.4, true],
      [0.9, false],
    ];
    expect(await targetsOf({})).toEqual([0.9, missed, met, met]);
    expect(await targetsOf({ groupId: group.id })).toEqual([0.4, met, met, met]);
    expect(await targetsOf({ monitorId: checkout })).toEqual([0.4, met, met, met]);
    expect(await targetsOf({ monitorId: blog })).toEqual([0.9, missed, missed, missed]);
    expect(await targetsOf({ statusPageId })).toEqual([0.9, missed, met, met]);
    await setTarget(`/api/v1/status-pages/${statusPageId}`, 0.6);
    const page60 = [0.6, false];
    expect(await targetsOf({ statusPageId })).toEqual([0.6, page60, page60, page60]);
    const explicit = [0.5, true];
    expect(await targetsOf({ statusPageId, slaTarget: "0.5" })).toEqual([
      0.5,
      explicit,
      explicit,
      explicit,
    ]);
    const [head = "", , line = ""] = (await csv({ month: "2026-10" })).split("\r\n");
    const column = head.split(",").indexOf("slaTargetPercent");
    expect(line.split(",").slice(column, column + 2)).toEqual(["40", "yes"]);
    await setTarget(groupPath, null);
    expect(await targetsOf({ groupId: group.id })).toEqual([0.9, missed, missed, missed]);
    expect((await api("PATCH", groupPath, { body: { slaTarget: 0 } })).json.error.details).toEqual([
      { path: "slaTarget", message: "must be more than 0" },
    ]);
  });

  test("contain no mean longer than the longest outage: unconfirmed down time does not count", async () => {
    const { report, measure, state, checkout, blog } = await setUpReport();
    for (const [id, minutes] of [
      [checkout, 10],
      [blog, 4],
    ] as const) {
      await measure(id, { at: at("2026-10-05T10:00:00.000Z"), status: "down", seconds: 1_800 });
      await state(id, "down", "2026-10-05T10:02:00.000Z");
      await state(id, "up", formatTimestamp(at("2026-10-05T10:02:00.000Z") + minutes * 60_000));
    }
    const { summary, monitors } = await report({ month: "2026-10" });
    expect(monitors.map(({ mttrSeconds }) => mttrSeconds)).toEqual([600, null, 240]);
    expect(summary).toMatchObject({
      outages: 2,
      downSeconds: 3_600,
      mttrSeconds: 420,
      longestOutageSeconds: 600,
    });
  });

  test("have no outages if results are older than the monitor: imported history has no states", async () => {
    const { report, csv, measure, state, monitor, time, checkout } = await setUpReport();
    time.now = at("2026-11-10T00:00:00.000Z");
    const { id } = await monitor({ name: "Imported" });
    time.now = at("2026-11-20T10:00:00.000Z");
    for (const month of ["2026-10", "2026-11"]) {
      await measure(id, { at: at(`${month}-05T10:00:00.000Z`), seconds: 86_400 });
      await measure(id, { at: at(`${month}-06T10:00:00.000Z`), status: "down", seconds: 3_720 });
      await measure(checkout, { at: at(`${month}-06T10:00:00.000Z`), seconds: 3_600 });
    }
    await state(id, "down", "2026-11-12T10:00:00.000Z");
    const unknown = {
      outages: null,
      longestOutageSeconds: null,
      mttrSeconds: null,
      mtbfSeconds: null,
    };
    for (const month of ["2026-10", "2026-11"]) {
      const { summary, groups, monitors, outages } = await report({ month });
      const imported = monitors.find((one) => one.id === id);
      expect(imported).toMatchObject({ ...unknown, downSeconds: 3_720 });
      expect(summary).toMatchObject(unknown);
      expect(groups.find((one) => one.id === null)).toMatchObject(unknown);
      expect(monitors.find((one) => one.id === checkout)).toMatchObject({ outages: 0 });
      expect(outages.filter(({ monitorId }) => monitorId === id)).toEqual([]);
      const lines = (await csv({ month })).split("\r\n").map((line) => line.split(","));
      const [head = []] = lines;
      const row = lines.find(([, rowId]) => rowId === id) ?? [];
      for (const name of Object.keys(unknown)) expect(row[head.indexOf(name)]).toBe("");
    }
  });

  test("of a monitor created within the month contain its start", async () => {
    const { report, time, monitor } = await setUpReport();
    time.now = at("2026-10-12T08:00:00.000Z");
    const { id } = await monitor({ name: "Young" });
    time.now = at("2026-11-20T10:00:00.000Z");
    const { summary } = await report({ month: "2026-10", monitorId: id });
    expect([summary.from, summary.isPartial]).toEqual(["2026-10-12T08:00:00.000Z", true]);
    expect((await report({ month: "2026-11", monitorId: id })).summary.isPartial).toBe(false);
  });

  test("start with the first measured hour if known, otherwise with the day", async () => {
    const { report, measure, monitor, time, store } = await setUpReport();
    time.now = at("2026-11-10T00:00:00.000Z");
    const { id } = await monitor({ name: "Imported" });
    time.now = at("2026-11-20T10:00:00.000Z");
    await measure(id, { at: at("2026-10-05T12:30:00.000Z"), seconds: 3_600 });
    const readStart = async (timeZone: string) => {
      const { summary } = await report({ month: "2026-10", monitorId: id, timeZone });
      return summary.from;
    };
    for (const timeZone of ["UTC", "America/New_York", "Asia/Tokyo"])
      expect([timeZone, await readStart(timeZone)]).toEqual([timeZone, "2026-10-05T12:00:00.000Z"]);
    await store.atomic([{ text: "delete from uptime_hours", parameters: [] }]);
    expect(await readStart("UTC")).toBe("2026-10-05T00:00:00.000Z");
  });

  test("count an incident of several monitors once per group", async () => {
    const { report, api, time, checkout, cards, blog, group } = await setUpReport();
    time.now = at("2026-10-12T08:00:00.000Z");
    const open = async (title: string, monitorIds: string[]) =>
      (await api("POST", "/api/v1/incidents", { body: { title, monitorIds } })).json.data.id;
    const incidentOfBoth = await open("Both", [checkout, cards]);
    await open("No monitor's", []);
    time.now = at("2026-11-02T08:00:00.000Z");
    await api("POST", `/api/v1/incidents/${incidentOfBoth}/resolve`);
    await open("Blog", [blog]);
    time.now = at("2026-11-20T10:00:00.000Z");
    const october = await report({ month: "2026-10" });
    expect(october.incidents.map(({ title }) => title)).toEqual(["No monitor's", "Both"]);
    expect(october.summary.incidents).toBe(2);
    expect(october.groups.map(({ incidents }) => incidents)).toEqual([1, 0]);
    expect(october.monitors.map(({ incidents }) => incidents)).toEqual([1, 1, 0]);
    const groupReport = await report({ month: "2026-11", groupId: group.id });
    expect(groupReport.incidents.map(({ title }) => title)).toEqual(["Both"]);
    expect((await report({ month: "2026-11" })).summary.incidents).toBe(3);
    expect((await report({ month: "2026-09" })).summary.incidents).toBe(0);
  });

  test("an outage with its end before its start, after a clock correction, has no duration", () => {
    const message = "HTTP 503";
    const states = [
      { isDown: true, at: 3_000_000, message },
      { isDown: false, at: 2_000_000, message: null },
    ];
    const [from, to] = [formatTimestamp(3_000_000), formatTimestamp(3_000_000)];
    expect(findOutages("m", states, { from: 1_000_000, to: 5_000_000 })).toEqual([
      { monitorId: "m", from, to, seconds: 0, message },
    ]);
  });

  test("outages are within their range and in order, for any order of states", () => {
    const span = { from: 1_000_000, to: 5_000_000 };
    fc.assert(
      fc.property(
        fc.array(fc.record({ isDown: fc.boolean(), at: fc.nat({ max: 6_000_000 }) })),
        (found) => {
          const states = found
            .map((one) => ({ ...one, message: null }))
            .sort((one, other) => one.at - other.at);
          const outages = findOutages("m", states, span);
          let down = 0;
          for (const [index, { isDown, at }] of states.entries()) {
            const until = Math.min(states[index + 1]?.at ?? span.to, span.to);
            if (isDown) down += Math.max(0, until - Math.max(at, span.from));
          }
          const sum = outages.reduce((total, { seconds }) => total + seconds, 0);
          expect(Math.abs(sum - down / 1000)).toBeLessThanOrEqual(outages.length / 2 + 1e-6);
          for (const [index, { from }] of outages.entries())
            expect(Date.parse(from)).toBeGreaterThanOrEqual(
              Date.parse(outages[index - 1]?.to ?? "1970-01-01T00:00:00.000Z"),
            );
        },
      ),
    );
  });
});

describe("as CSV", () => {
  test("it has a line for the whole, each group and each monitor, and no spreadsheet formula", async () => {
    const { csv, measure, checkout } = await setUpReport();
    await measure(checkout, { at: at("2026-10-05T00:00:00.000Z"), seconds: 2 });
    await measure(checkout, { at: at("2026-10-05T01:00:00.000Z"), seconds: 1, status: "down" });
    const text = await csv({ month: "2026-10", slaTarget: "0.999" });
    const lines = text.split("\r\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => line.split(",")[0])).toEqual([
      "kind",
      "organization",
      "group",
      "group",
      "monitor",
      "monitor",
      "monitor",
    ]);
    expect(lines[2]).toContain(",'=Payments,");
    expect(lines[5]).toContain(',"""Cards"", +EU",');
    expect(lines[1]).toContain(",66.666666,2,0,1,0,0,0,,,0,0,99.9,no");
  });
});

test("the CSV has an ETag, and HEAD has the headers of GET", async () => {
  const { api } = await setUpReport();
  const path = "/api/v1/reports/csv?month=2026-10";
  const [get, head] = [await api("GET", path), await api("HEAD", path)];
  for (const name of ["etag", "content-type", "content-disposition"])
    expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
  const etag = get.headers.get("etag") ?? "";
  expect(etag).toMatch(/^".+"$/);
  const again = await api("GET", path, { headers: { "If-None-Match": etag } });
  expect([again.status, again.text]).toEqual([304, ""]);
  expect((await api("HEAD", `${path}&monitorId=${unknownId}`)).status).toBe(404);
});

test("the report of a year has the figures of its months, and counts an outage of two months once", async () => {
  const { report, measure, state, checkout, blog, group, api, theirs } = await setUpReport();
  const timeZone = "Europe/Berlin";
  for (const [when, status] of [
    // 1 October in Berlin.
    ["2026-09-30T22:00:00.000Z", "down"],
    ["2026-10-05T10:00:00.000Z", "up"],
    ["2026-10-06T10:00:00.000Z", "maintenance"],
    ["2026-10-31T23:00:00.000Z", "up"],
  ] as const)
    await measure(checkout, { at: at(when), status, seconds: 3_600 });
  await measure(blog, { at: at("2026-03-03T10:00:00.000Z"), seconds: 3_600 });
  await state(checkout, "down", "2026-09-30T21:30:00.000Z");
  await state(checkout, "up", "2026-09-30T23:00:00.000Z");
  const read = async (query: Record<string, string>) => {
    const search = new URLSearchParams({ year: "2026", timeZone, ...query });
    const { status, json } = await api("GET", `/api/v1/reports/year?${search}`);
    expect([status, json.error]).toEqual([200, undefined]);
    return json.data;
  };
  for (const query of [{}, { groupId: group.id }, { maintenance: "down" }] as Record<
    string,
    string
  >[]) {
    const year = await read({ slaTarget: "0.9", ...query });
    expect(year.months).toHaveLength(11);
    for (const [index, { month, outages: _outages, ...figures }] of year.months.entries()) {
      const { summary, groups, monitors } = await report({
        month,
        timeZone,
        slaTarget: "0.9",
        ...query,
      });
      const { isRunning, ...numbers } = figures;
      expect(isRunning).toBe(month === "2026-11");
      expect(summary).toMatchObject(numbers);
      for (const [rows, monthly] of [
        [year.groups, groups],
        [year.monitors, monitors],
      ])
        expect(rows.map(({ ratios }: { ratios: number[] }) => ratios[index])).toEqual(
          monthly.map(({ ratio }: ReportFigures) => ratio),
        );
    }
  }
  const { summary, months, monitors } = await read({});
  expect(summary).toMatchObject({
    upSeconds: 10_800,
    downSeconds: 3_600,
    outages: 1,
    incidents: 0,
  });
  expect(months.map(({ outages }: { outages: number }) => outages)).toEqual([
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0,
  ]);
  expect(monitors.map(({ id }: { id: string }) => id)).toContain(checkout);
  const statusOf = async (search: string) =>
    (await api("GET", `/api/v1/reports/year?${search}`)).status;
  expect(await statusOf("year=2027")).toBe(422);
  expect(await statusOf("year=26")).toBe(422);
  expect(await statusOf("month=2026-10")).toBe(422);
  expect(await statusOf(`monitorId=${checkout}&groupId=${group.id}`)).toBe(422);
  expect((await theirs.api("GET", `/api/v1/reports/year?groupId=${group.id}`)).status).toBe(404);
});

test("a viewer downloads it by a URL that contains the organization", async () => {
  const world = await setUpReport();
  const { page } = await signInMember(world, "viewer");
  const path = `/dashboard/api/v1/reports/csv?month=2026-10&organization=${world.ours.id}`;
  const { status, headers, text } = await page("GET", path);
  expect([status, headers.get("content-disposition")]).toEqual([
    200,
    'attachment; filename="report-2026-10.csv"',
  ]);
  expect(text).toStartWith("kind,id,name,group,month,");
});

test("the file of a weekly report is named after its first day, in the time zone of the report", () => {
  const report = {
    subject: { type: "organization", id: unknownId, name: "Acme" },
    month: "2026-11",
    from: "2026-11-15T23:00:00.000Z",
    timeZone: "Europe/Berlin",
  } as Report;
  expect(nameReportFile(report, "pdf", "weekly")).toBe("report-week-2026-11-16.pdf");
  expect(nameReportFile(report, "pdf")).toBe("report-2026-11.pdf");
});

describe("of a status page", () => {
  test("it has the monitors of its sections, grouped and single", async () => {
    const { report, api, group, blog, checkout, cards } = await setUpReport();
    const body = {
      title: "Public",
      slug: "public",
      sections: [
        { name: null, groupId: group.id, monitors: [] },
        { name: "Others", groupId: null, monitors: [{ id: blog, name: null }] },
      ],
    };
    const { json } = await api("POST", "/api/v1/status-pages", { body });
    const { subject, monitors } = await report({ statusPageId: json.data.id });
    expect(subject).toEqual({ type: "status-page", id: json.data.id, name: "Public" });
    expect(monitors.map(({ id }) => id)).toEqual([checkout, cards, blog]);
  });
});
