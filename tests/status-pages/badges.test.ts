import { dayMs } from "../../src/core/time/clock.ts";
import { parseXml } from "@rgrove/parse-xml";
import { describe, expect, test } from "bun:test";
import { badgeKinds, renderMonitorBadge } from "../../src/status-pages/rendering/badges.ts";
import { getLanguage } from "../../src/status-pages/languages/catalog.ts";
import type { PublicMonitor } from "../../src/status-pages/formats/public-data.ts";

import { publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { unknownId } from "../support/appliance.ts";
import { buildSection, createVisitor } from "../support/visitor.ts";

const english = getLanguage("en");

const now = Date.parse("2026-11-20T10:00:00.000Z");
const today = Math.floor(now / dayMs);
const reader = { timeZone: "UTC", now, language: english };
const buildMonitor = (fields: Partial<PublicMonitor> = {}): PublicMonitor => ({
  lastKnown: "up",
  notJudgedSince: null,
  id: "m",
  name: "Shop",
  description: null,
  state: "up",
  impact: null,
  latencyMs: 34,
  days: new Map(),
  lastCheckedAt: null,
  createdAt: "2026-10-01T10:00:00.000Z",
  since: "2026-11-01T10:00:00.000Z",
  ...fields,
});

/** Text and color of a badge. */
function readText(svg: string) {
  parseXml(svg);
  const title = /<title>(.*?)<\/title>/.exec(svg)?.[1];
  const colours = [...svg.matchAll(/<rect [^>]*fill="(#\w+)"/g)].map(([, colour]) => colour);
  return [title, colours[1]];
}

const [green, yellow, red, violet, gray] = ["#12805c", "#9a6200", "#c2273b", "#5a4fc9", "#6f6c66"];

describe("a badge", () => {
  const states = [
    ["up", "up", green],
    ["degraded", "degraded", yellow],
    ["down", "down", red],
    ["maintenance", "maintenance", violet],
    ["pending", "not checked yet", gray],
    ["paused", "paused", gray],
  ] as const;
  for (const [state, text, colour] of states)
    test(`shows that a monitor is ${text}, in words and in color`, () =>
      expect(readText(renderMonitorBadge("status", buildMonitor({ state }), reader))).toEqual([
        `Shop: ${text}`,
        colour,
      ]));

  const uptimes: [down: number, text: string, colour: string | undefined][] = [
    [0, "100\u202f%", green],
    [1, "99.99\u202f%", green],
    [100, "99.90\u202f%", green],
    [101, "99.89\u202f%", yellow],
    [1_000, "99.00\u202f%", yellow],
    [1_001, "98.99\u202f%", red],
  ];
  for (const [downSeconds, text, colour] of uptimes)
    test(`shows an uptime of ${text}, never rounded up`, () => {
      const sums = { upSeconds: 100_000 - downSeconds, downSeconds, degradedSeconds: 0 };
      const days = new Map([[today, { ...sums, maintenanceSeconds: 0 }]]);
      const badge = renderMonitorBadge("uptime", buildMonitor({ days }), reader);
      expect(readText(badge)).toEqual([`Shop uptime: ${text}`, colour ?? ""]);
    });

  test("shows a dash without measurements", () => {
    const withoutLatency = buildMonitor({ latencyMs: null });
    expect(readText(renderMonitorBadge("uptime", withoutLatency, reader))).toEqual([
      "Shop uptime: –",
      gray ?? "",
    ]);
    expect(readText(renderMonitorBadge("latency", withoutLatency, reader))).toEqual([
      "Shop latency: –",
      green ?? "",
    ]);
    expect(readText(renderMonitorBadge("latency", buildMonitor(), reader))).toEqual([
      "Shop latency: 34\u202fms",
      green ?? "",
    ]);
  });

  test("is as wide as its text", () => {
    const buildWidth = (name: string) =>
      Number(
        /width="(\d+)"/.exec(renderMonitorBadge("status", buildMonitor({ name }), reader))?.[1],
      );
    expect(buildWidth("A".repeat(40))).toBeGreaterThan(buildWidth("A".repeat(20)) + 100);
    const empty = buildWidth("");
    const buildWidths = (count: number, glyph: string) =>
      (buildWidth(glyph.repeat(count)) - empty) / count;
    // Verdana at 11 px and its fallback fonts.
    for (const wide of ["稼", "ア", "한", "😀", "👨‍👩‍👧", "🇩🇪", "❤️"]) {
      expect([wide, buildWidths(20, wide) >= 11]).toEqual([wide, true]);
      expect([wide, buildWidths(20, wide) <= 14]).toEqual([wide, true]);
    }
    for (const narrow of ["a", "é", "e\u0301", "ｱ", "й"])
      expect([narrow, Math.round(buildWidths(20, narrow))]).toEqual([narrow, 7]);
  });
});

test("badges exist for monitors of public pages and can be embedded anywhere", async () => {
  await using visitor = await createVisitor();
  const { get, group, createJob, publish, restart } = visitor;
  const { id, report } = await createJob({ name: "db-1.internal" });
  await report({ latency_ms: "34" });
  const groupId = (await group({ monitorIds: [id] })).id;
  const readStatuses = async () => {
    await restart();
    const all = [];
    for (const kind of badgeKinds) all.push((await get(`/badge/monitor/${id}/${kind}.svg`)).status);
    return all;
  };
  expect(await readStatuses()).toEqual([404, 404, 404]);
  await publish({ sections: [buildSection("Jobs", [id, "Orders"])] });
  expect(await readStatuses()).toEqual([200, 200, 404]);
  await publish({ sections: [{ groupId }], showLatency: true });
  expect(await readStatuses()).toEqual([200, 200, 200]);
  await publish({ visibility: "hidden" });
  expect(await readStatuses()).toEqual([404, 404, 404]);
});

test("a badge has its monitor's public name, its type and no script", async () => {
  await using visitor = await createVisitor();
  const { id, report } = await visitor.createJob({ name: "db-1.internal" });
  await report();
  await visitor.publish({ sections: [buildSection("Jobs", [id, "Orders"])] });
  for (const kind of ["status", "uptime"]) {
    const { text, type, headers } = await visitor.readHtml(`/badge/monitor/${id}/${kind}.svg`);
    expect([
      type,
      headers.get("access-control-allow-origin"),
      headers.get("x-content-type-options"),
    ]).toEqual(["image/svg+xml; charset=utf-8", "*", "nosniff"]);
    expect(text).toContain(kind === "status" ? "Orders: up" : "Orders uptime: ");
    expect(text).not.toMatch(/db-1|script|\son\w+=/);
  }
});

test("a badge that is not public is a 404 without an HTML page", async () => {
  await using visitor = await createVisitor();
  const { get, restart } = visitor;
  await restart();
  const types: [path: string, type: string][] = [
    ...badgeKinds.map((kind): [string, string] => [
      `/badge/monitor/${unknownId}/${kind}.svg`,
      "image/svg+xml",
    ]),
    ["/badge/monitor/nothing/status.svg", "image/svg+xml"],
    ["/api/badge/9999/status", "image/svg+xml"],
    ["/status/nowhere", "text/html"],
  ];
  for (const [path, type] of types) {
    const seen = await get(path);
    expect([path, seen.status, seen.type?.split(";")[0]]).toEqual([path, 404, type]);
    expect(seen.headers.get("x-content-type-options")).toBe("nosniff");
    if (type === "image/svg+xml") expect(readText(seen.text)[0]).toBe("badge: not found");
  }
});

const optionsOf = (path: string) =>
  new Request(`http://signalbox.lan${path}`, {
    method: "OPTIONS",
    headers: { Host: "signalbox.lan" },
  });

test("OPTIONS lists the methods of every public path, even without a record", async () => {
  await using visitor = await createVisitor();
  for (const [name, path] of Object.entries(publicPaths)) {
    const parameters: Record<string, string> = {
      slug: "nowhere",
      id: unknownId,
      name: "summary",
      kind: "status",
      verb: "confirm",
      token: "a.b",
      file: "status.css",
      number: "7",
      measure: "uptime",
      span: "24h",
    };
    const at = path.replace(/:(\w+)/g, (_, parameter: string) => parameters[parameter] ?? "");
    const response = await visitor.respondAlone(optionsOf(at));
    const takesForms = ["page", "subscribe", "link"].includes(name);
    expect([name, response?.status, response?.headers.get("allow")]).toEqual([
      name,
      204,
      takesForms ? "GET, HEAD, OPTIONS, POST" : "GET, HEAD, OPTIONS",
    ]);
  }
  for (const path of ["/status/nowhere/nothing", "/badge/monitor/x.svg", "/api/badge/x"])
    expect([path, (await visitor.respondAlone(optionsOf(path)))?.status]).toEqual([path, 404]);
});
