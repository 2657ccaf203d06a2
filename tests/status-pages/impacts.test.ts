import { describe, expect, test } from "bun:test";
import { pageLanguages } from "../../src/core/languages.ts";
import { addImpacts, listImpactSpans } from "../../src/status-pages/rendering/impacts.ts";
import { buildSection, createVisitor } from "../support/visitor.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A page with the monitors A, B and C, all up. */
async function createPage(page: object = {}) {
  const visitor = await createVisitor();
  const result = ["A", "B", "C"].map((name) => visitor.createJob({ name }));
  const jobs = await Promise.all(result);
  for (const job of jobs) await job.report();
  await visitor.advance(1);
  const [a = "", b = "", c = ""] = jobs.map(({ id }) => id);
  await visitor.publish({ sections: [buildSection("Shop", a, b, c)], ...page });
  const readMonitors = async () => {
    await visitor.restart();
    const { json } = await visitor.readHtml("/status/ours.json");
    return json().sections[0].monitors as { name: string; status: string; impact: string | null }[];
  };
  const open = (impacts: [string, string][], fields: object = {}) =>
    visitor.createIncident({
      monitorIds: impacts.map(([id]) => id),
      impacts: impacts.map(([monitorId, impact]) => ({ monitorId, impact })),
      ...fields,
    });
  return { ...visitor, jobs, a, b, c, readMonitors, open };
}

/** Fields of an incident in the page's JSON. */
const publishedFields = [
  "createdAt",
  "earlierUpdates",
  "id",
  "monitor",
  "monitors",
  "postmortem",
  "resolvedAt",
  "severity",
  "status",
  "title",
  "updates",
];

describe("the impact of an open incident", () => {
  test("is the shown state of its monitors, in all formats of the page", async () => {
    const page = await createPage();
    const { a, b, c } = page;
    const { id } = await page.open([
      [a, "degraded"],
      [b, "partial-outage"],
      [c, "major-outage"],
    ]);
    expect(await page.readMonitors()).toMatchObject([
      { status: "degraded", impact: "degraded" },
      { status: "degraded", impact: "partial-outage" },
      { status: "down", impact: "major-outage" },
    ]);
    const { text } = await page.readHtml("/status/ours");
    expect(text).toContain('<span class="word degraded">Partial outage</span>');
    expect(text).toContain('<span class="word down">Major outage</span>');
    const [incident] = (await page.readHtml("/status/ours.json")).json().incidents;
    expect(Object.keys(incident).toSorted()).toEqual(publishedFields);
    const v2 = (await page.readHtml("/status/ours/api/v2/components.json")).json();
    expect(v2.components.map(({ status }: { status: string }) => status)).toEqual([
      "partial_outage",
      "degraded_performance",
      "partial_outage",
      "major_outage",
    ]);
    expect((await page.readHtml(`/badge/monitor/${b}/status.svg`)).text).toContain(
      "partial outage",
    );
    const kuma = (await page.readHtml("/api/status-page/heartbeat/ours")).json();
    expect(kuma.heartbeatList[c].at(-1).status).toBe(0);
    expect(kuma.heartbeatList[b].at(-1).status).toBe(1);

    await page.postUpdate(id, { status: "resolved" });
    expect(await page.readMonitors()).toMatchObject([
      { status: "up", impact: null },
      { status: "up", impact: null },
      { status: "up", impact: null },
    ]);
  });

  test("never hides a worse result of a check, and the worst of several counts", async () => {
    const page = await createPage();
    const { a, b } = page;
    await page.jobs[0]?.report({ status: "down" });
    await page.advance(1);
    await page.open([
      [a, "degraded"],
      [b, "degraded"],
    ]);
    await page.open([[b, "major-outage"]]);
    expect(await page.readMonitors()).toMatchObject([
      { status: "down", impact: null },
      { status: "down", impact: "major-outage" },
      { status: "up", impact: null },
    ]);
  });

  test("of an internal incident is on no page", async () => {
    const page = await createPage();
    await page.open([[page.a, "major-outage"]], { public: false });
    expect(await page.readMonitors()).toMatchObject([{ status: "up" }, {}, {}]);
  });

  test("can be changed without an update, and ends with its monitor's part in the incident", async () => {
    const page = await createPage();
    const { a, b, api } = page;
    const { id } = await page.open([[a, "major-outage"]]);
    const patch = async (body: object) =>
      (await api("PATCH", `/api/v1/incidents/${id}`, { body })).json;
    const changed = await patch({ impacts: [{ monitorId: a, impact: "degraded" }] });
    expect(changed.data.impacts).toEqual([{ monitorId: a, impact: "degraded" }]);
    expect(changed.data.updates).toHaveLength(1);
    expect((await patch({ monitorIds: [b] })).data.impacts).toEqual([]);
    const { error } = await patch({ impacts: [{ monitorId: a, impact: "degraded" }] });
    expect(error.details).toEqual([
      { path: "impacts[0].monitorId", message: "must be one of the affected monitors" },
    ]);
    const repeatedMonitor = await patch({
      impacts: [1, 2].map(() => ({ monitorId: b, impact: "degraded" })),
    });
    expect(repeatedMonitor.error.details).toEqual([
      { path: "impacts", message: "must name each monitor once" },
    ]);
  });

  test("is lost without an error when its monitor is deleted", async () => {
    const page = await createPage();
    const { id } = await page.open([[page.a, "major-outage"]]);
    await page.api("DELETE", `/api/v1/monitors/${page.a}`);
    const { json } = await page.api("GET", `/api/v1/incidents/${id}`);
    expect(json.data).toMatchObject({ monitorIds: [], impacts: [] });
    expect(await page.readMonitors()).toMatchObject([{ name: "B", status: "up" }, { name: "C" }]);
  });

  test("is named in every language", async () => {
    const page = await createPage({ languages: pageLanguages.filter((one) => one !== "en") });
    await page.open([
      [page.a, "partial-outage"],
      [page.b, "major-outage"],
    ]);
    await page.restart();
    for (const language of pageLanguages) {
      const { text } = await page.readHtml(`/status/ours?lang=${language}`);
      expect([language, text.includes("Partial outage")]).toEqual([language, language === "en"]);
      expect([language, text.includes("Major outage")]).toEqual([language, language === "en"]);
    }
  });
});

describe("the uptime of a page", () => {
  test.each([
    [false, 1],
    [true, 0.5],
  ])(
    "with countImpacts %p counts a major outage of half the measured time: %p",
    async (countImpacts, uptime) => {
      const page = await createPage({ countImpacts });
      await page.insertPastHeartbeats(page.a, { ago: 2 * hourMs, seconds: 7_200 });
      await page.open([[page.a, "major-outage"]]);
      page.time.now += hourMs;
      await page.restart();
      const { json } = await page.readHtml("/status/ours.json");
      const [monitor] = json().sections[0].monitors;
      expect(Math.round(monitor.uptime * 10) / 10).toBe(uptime);
    },
  );

  test("counts each impact from when it was set until it was changed, and nothing while resolved", async () => {
    const page = await createPage({ countImpacts: true });
    await page.insertPastHeartbeats(page.a, { ago: 10 * hourMs, seconds: 36_000 });
    const { id } = await page.open([[page.a, "major-outage"]]);
    const patchAfter = async (hours: number, body: object) => {
      page.time.now += hours * hourMs;
      expect((await page.api("PATCH", `/api/v1/incidents/${id}`, { body })).status).toBe(200);
    };
    await patchAfter(1, { impacts: [{ monitorId: page.a, impact: "degraded" }] });
    await patchAfter(0.5, { status: "resolved" });
    await patchAfter(2, { status: "identified" });
    await patchAfter(0.25, { monitorIds: [page.b] });
    page.time.now += hourMs;
    await page.restart();
    const { json } = await page.readHtml("/status/ours.json");
    const days = json().sections[0].monitors[0].days as Record<string, number>[];
    const sum = (name: string) => days.reduce((all, one) => all + (one[name] ?? 0), 0);
    expect([sum("downSeconds"), sum("degradedSeconds")]).toEqual([3_600, 2_700]);
  });

  test("of incidents of older versions counts their last impacts for their whole length", () => {
    const monitors = [{ id: "a", name: "A", impact: "major-outage" as const }];
    const at = new Date(start).toISOString();
    const old = { id: "1", title: "Old", severity: "major" as const, monitors, createdAt: at };
    const spans = listImpactSpans([{ ...old, resolvedAt: null }], start + hourMs);
    expect(spans.get("a")).toEqual([buildSpan(0, 1)]);
  });

  const day = 20_000;
  const start = day * dayMs;
  const sums = {
    upSeconds: 80_000,
    degradedSeconds: 400,
    downSeconds: 6_000,
    maintenanceSeconds: 0,
  };
  const days = new Map([[day, sums]]);
  const buildSpan = (from: number, to: number, isOutage = true) => ({
    from: start + from * hourMs,
    to: start + to * hourMs,
    isOutage,
  });

  test("counts the longer of failed checks and outages, and overlapping incidents once", () => {
    const sumDown = (...spans: ReturnType<typeof buildSpan>[]) =>
      addImpacts(days, spans).get(day)?.downSeconds;
    expect(sumDown(buildSpan(1, 2))).toBe(6_000);
    expect(sumDown(buildSpan(1, 3))).toBe(7_200);
    expect(sumDown(buildSpan(1, 3), buildSpan(2, 3), buildSpan(5, 6))).toBe(10_800);
    expect(sumDown(buildSpan(-5, 2))).toBe(7_200);
    expect(sumDown(buildSpan(-50, 50))).toBe(86_400);
    expect(sumDown(buildSpan(25, 26))).toBe(6_000);
  });

  test("moves time between states without adding any, and invents no days", () => {
    const changed = addImpacts(days, [buildSpan(0, 10), buildSpan(10, 12, false)]).get(day);
    expect(changed).toEqual({
      upSeconds: 43_200,
      degradedSeconds: 7_200,
      downSeconds: 36_000,
      maintenanceSeconds: 0,
    });
    expect(addImpacts(days, [buildSpan(24, 48)]).get(day + 1)).toBeUndefined();
    expect(addImpacts(days, [])).toBe(days);
  });
});
