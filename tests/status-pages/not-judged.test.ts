import { describe, expect, test } from "bun:test";
import { defaultLook } from "../../src/status-pages/look-schema.ts";
import { badgeKinds, renderMonitorBadge } from "../../src/status-pages/rendering/badges.ts";
import type { LoadedPage } from "../../src/status-pages/load.ts";
import { renderJson } from "../../src/status-pages/formats/json.ts";
import type { PublicData, PublicMonitor } from "../../src/status-pages/formats/public-data.ts";
import { buildV2Response } from "../../src/status-pages/formats/statuspage-v2.ts";
import { getLanguage } from "../../src/status-pages/languages/catalog.ts";
import { buildView } from "../../src/status-pages/rendering/view.ts";

const english = getLanguage("en");

const now = Date.parse("2026-11-20T10:00:00.000Z");
const since = "2026-11-20T09:30:00.000Z";

const buildMonitor = (fields: Partial<PublicMonitor>): PublicMonitor => ({
  id: fields.name ?? "m",
  name: "Shop",
  description: null,
  state: "unknown",
  impact: null,
  lastKnown: "up",
  notJudgedSince: since,
  latencyMs: 42,
  days: new Map(),
  lastCheckedAt: since,
  createdAt: since,
  since,
  ...fields,
});

const pageOf = (...monitors: PublicMonitor[]): PublicData => ({
  page: {
    id: "p",
    slug: "ours",
    title: "Ours",
    description: "",
    accentColor: null,
    look: defaultLook,
    theme: "auto",
    logoUrl: null,
    files: { favicon: null, fontStyle: null, stylesheet: null },
    showLatency: true,
    historyDays: 2,
    timeZone: "UTC",
    indexing: true,
    language: "en",
    languages: [],
    createdAt: since,
    updatedAt: since,
  },
  sections: [{ id: "all", name: "All", monitors }],
  incidents: [],
  windows: [],
  marks: [],
  takesMail: false,
});

const up = buildMonitor({ name: "Mail", state: "up", notJudgedSince: null });

describe("a page whose monitors can't be judged", () => {
  test("has no headline that says up or down", () => {
    const { headline } = buildView(
      pageOf(buildMonitor({}), buildMonitor({ name: "Blog" })),
      now,
      english,
    );
    expect(headline).toMatchObject({ tone: "none", text: "The current status is not known" });
    const some = buildView(pageOf(buildMonitor({}), up), now, english).headline;
    expect(some).toMatchObject({ tone: "none", text: "One system can't be judged right now" });
    const worse = buildView(
      pageOf(buildMonitor({}), up, buildMonitor({ name: "Blog", state: "down" })),
      now,
      english,
    );
    expect(worse.headline.text).toBe("Blog is down");
  });

  test("shows each monitor with its last known state and the time of its last result", () => {
    const [shown] = buildView(pageOf(buildMonitor({})), now, english).sections[0]?.monitors ?? [];
    expect(shown).toMatchObject({
      tone: "none",
      word: "Not judged",
      lastKnown: "Not judged since 20 Nov 09:30. Last known: up.",
      latency: null,
    });
    const down = buildMonitor({ state: "down", lastKnown: "down" });
    const [stillDown] = buildView(pageOf(down), now, english).sections[0]?.monitors ?? [];
    expect(stillDown).toMatchObject({
      word: "Down",
      lastKnown: "Not judged since 20 Nov 09:30. Last known: down.",
    });
    const [judged] = buildView(pageOf(up), now, english).sections[0]?.monitors ?? [];
    expect(judged?.lastKnown).toBeNull();
  });

  test("shows the same as JSON, in Statuspage's API, and in badges", async () => {
    const data = pageOf(buildMonitor({}), up);
    const view = buildView(data, now, english);
    const message = JSON.parse([...renderJson(data, view, now)].join(""));
    expect(message).toMatchObject({
      status: "none",
      headline: "One system can't be judged right now",
    });
    expect(message.sections[0].monitors).toMatchObject([
      { status: "unknown", lastKnownStatus: "up", notJudgedSince: since },
      { status: "up", lastKnownStatus: "up", notJudgedSince: null },
    ]);
    const loaded = {
      ...data,
      readLimitedEndedWindows: async () => [],
      lastChange: async () => null,
    };
    const v2 = await buildV2Response("summary", loaded as unknown as LoadedPage, {
      url: "https://a.example",
      now,
      language: english,
    });
    expect(v2).toMatchObject({
      status: { indicator: "minor", description: "Partially Degraded Service" },
    });
    const badges = badgeKinds.map((kind) =>
      renderMonitorBadge(kind, buildMonitor({}), { timeZone: "UTC", now, language: english }),
    );
    expect(badges[0]).toContain("<title>Shop: not judged</title>");
    for (const badge of badges) expect(badge).not.toContain("42 ms");
  });
});
