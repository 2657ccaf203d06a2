import { dayMs } from "../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";
import { defaultLook } from "../../src/status-pages/look-schema.ts";
import fc from "fast-check";
import type {
  Totals,
  PublicData,
  PublicIncident,
  PublicMonitor,
} from "../../src/status-pages/formats/public-data.ts";
import { formatPercent } from "../../src/core/text/formatting.ts";
import { parseRule } from "../../src/monitoring/maintenance/recurrence-rules.ts";
import { getLanguage } from "../../src/status-pages/languages/catalog.ts";
import { buildView, describeDay, type DayView } from "../../src/status-pages/rendering/view.ts";

const english = getLanguage("en");

const now = Date.parse("2026-11-20T10:00:00.000Z");
const today = Math.floor(now / dayMs);
const page: PublicData["page"] = {
  id: "p",
  slug: "ours",
  title: "Ours",
  description: "",
  accentColor: null,
  look: defaultLook,
  theme: "auto",
  logoUrl: null,
  files: { favicon: null, fontStyle: null, stylesheet: null },
  showLatency: false,
  historyDays: 90,
  timeZone: "UTC",
  indexing: true,
  language: "en",
  languages: [],
  createdAt: "2026-11-01T10:00:00.000Z",
  updatedAt: "2026-11-01T10:00:00.000Z",
};

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
  lastCheckedAt: "2026-11-20T09:59:30.000Z",
  createdAt: "2026-11-01T10:00:00.000Z",
  since: "2026-11-01T10:00:00.000Z",
  ...fields,
});

const buildIncident = (fields: Partial<PublicIncident> = {}): PublicIncident => ({
  id: "i",
  earlier: 0,
  title: "Slow answers",
  status: "investigating",
  severity: "minor",
  monitors: [],
  createdAt: "2026-11-20T09:51:30.000Z",
  updatedAt: "2026-11-20T09:51:30.000Z",
  resolvedAt: null,
  postmortem: null,
  updates: [],
  ...fields,
});

type Shown = {
  monitors?: PublicMonitor[];
  incidents?: PublicIncident[];
  windows?: PublicData["windows"];
  page?: Partial<PublicData["page"]>;
};
function view({ monitors = [], incidents = [], windows = [], ...rest }: Shown, at = now) {
  const sections = [{ id: "services", name: "Services", monitors }];
  const shownPage = {
    page: { ...page, ...rest.page },
    sections,
    incidents,
    windows,
    marks: [],
    takesMail: false,
  };
  return buildView(shownPage, at, english);
}

const buildTotals = (fields: Partial<Totals>): Totals => ({
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  maintenanceSeconds: 0,
  ...fields,
});

/** Puts a thin space before `%`. */
const narrowSpaces = (text: string) => text.replaceAll(" %", "\u202f%");

function viewDay(fields: Partial<Totals>) {
  const days = new Map([[today, buildTotals(fields)]]);
  const [shown] = view({ monitors: [buildMonitor({ days })] }).sections[0]?.monitors ?? [];
  return shown?.days.at(-1);
}

const describeShown = (day: DayView | undefined) =>
  day && { tone: day.tone, text: `${day.date}: ${describeDay(day.facts, english)}` };

describe("a day", () => {
  const day = 86_400;
  const cases: [words: string, tone: string, fields: Partial<Totals>, text: string][] = [
    ["without a failure is green", "up", { upSeconds: day }, "100 % up"],
    [
      "with one second of outage is red, and never 100 %",
      "down",
      { upSeconds: day - 2, degradedSeconds: 1, downSeconds: 1 },
      "99.99 % up, 1 s down, 1 s degraded",
    ],
    ["of nothing but outage is red", "down", { downSeconds: day }, "0.00 % up, 1 d down"],
    [
      "with one second degraded is yellow",
      "degraded",
      { upSeconds: day - 1, degradedSeconds: 1 },
      "100 % up, 1 s degraded",
    ],
    [
      "of nothing but maintenance is shown as such",
      "maintenance",
      { maintenanceSeconds: 3_600 },
      "1 h maintenance",
    ],
    [
      "is judged by its measurements outside of maintenance",
      "down",
      { downSeconds: 60, maintenanceSeconds: 86_340 },
      "0.00 % up, 1 min down, 23 h 59 min maintenance",
    ],
    ["without measurements has no data", "none", {}, "no data"],
  ];
  for (const [words, tone, fields, text] of cases)
    test(words, () =>
      expect(describeShown(viewDay(fields))).toEqual({
        tone: tone as "up",
        text: `2026-11-20: ${narrowSpaces(text)}`,
      }),
    );

  test("is placed by its date in UTC, in any time zone of the page; today is the last", () => {
    const days = new Map([[today - 89, buildTotals({ downSeconds: 60 })]]);
    const timeZone = "Pacific/Auckland";
    const section = view({ monitors: [buildMonitor({ days })], page: { timeZone } }).sections[0];
    const bars = section?.monitors[0]?.days ?? [];
    expect(bars).toHaveLength(90);
    expect(bars[0]).toMatchObject({ tone: "down", date: "2026-08-23" });
    expect(bars.at(-1)).toEqual({ tone: "none", date: "2026-11-20", facts: undefined });
  });
});

describe("uptime", () => {
  test("is that of the displayed days, not of earlier ones", () => {
    const days = new Map([
      [today, buildTotals({ upSeconds: 60 })],
      [today - 30, buildTotals({ downSeconds: 60 })],
    ]);
    const buildUptime = (historyDays: number) =>
      view({ monitors: [buildMonitor({ days })], page: { historyDays } }).sections[0]?.monitors[0]
        ?.figures.uptime;
    expect([buildUptime(30), buildUptime(31)]).toEqual(["100 %", "50.00 %"].map(narrowSpaces));
  });

  test("without measurements is a dash, and maintenance alone is no measurement", () => {
    const days = new Map([[today, buildTotals({ maintenanceSeconds: 60 })]]);
    const shownMonitors = view({ monitors: [buildMonitor(), buildMonitor({ days })] }).sections[0]
      ?.monitors;
    expect(shownMonitors?.map(({ figures }) => figures.uptime)).toEqual(["–", "–"]);
  });

  test("has two decimals, is never rounded up, and is 100 % only without failures", () => {
    const seconds = fc.integer({ min: 0, max: 365 * 86_400 });
    fc.assert(
      fc.property(seconds, seconds, (up, down) => {
        fc.pre(up + down > 0);
        const text = formatPercent(up / (up + down));
        expect(text).toMatch(/^(100|\d{1,2}\.\d\d)\u202f%$/);
        const hundredths = BigInt(Math.round(Number.parseFloat(text) * 100));
        const [part, whole] = [BigInt(up) * 10_000n, BigInt(up + down)];
        expect(hundredths * whole <= part && part - hundredths * whole < whole * 2n).toBe(true);
        expect(text.startsWith("100")).toBe(down === 0);
      }),
    );
  });
});

test("of a narrow window covers only its displayed days", () => {
  const days = new Map([
    [today, buildTotals({ upSeconds: 60 })],
    [today - 30, buildTotals({ downSeconds: 60 })],
  ]);
  const createdAt = "2026-10-01T00:00:00.000Z";
  const [shown] =
    view({ monitors: [buildMonitor({ days, createdAt })] }).sections[0]?.monitors ?? [];
  expect(shown?.figures).toEqual({ uptime: narrowSpaces("50.00 %"), since: "since 1 Oct" });
  expect(shown?.recentFigures).toEqual({ uptime: narrowSpaces("100 %"), since: null });
});

describe("the headline", () => {
  const buildStates = (...all: PublicMonitor["state"][]) =>
    all.map((state, index) => buildMonitor({ state, name: String.fromCodePoint(65 + index) }));
  const major = buildIncident({ severity: "major" });
  const resolvedIncident = buildIncident({
    status: "resolved",
    resolvedAt: "2026-11-20T09:59:00.000Z",
  });
  const times = { startsAt: "2026-11-20T09:00:00.000Z", endsAt: "2026-11-20T11:00:00.000Z" };
  const message = { announcedAt: times.startsAt, changedAt: times.startsAt, isOver: false };
  const publicWindow = {
    id: "w",
    occurrenceId: "w",
    title: "Moving",
    description: "",
    monitors: [],
  };
  const recurrence = { plan: parseRule(null, now), timeZone: "UTC" };
  const window = { ...recurrence, ...publicWindow, ...times, ...message };
  const cases: [tone: string, text: string, shown: Shown][] = [
    ["none", "No status yet", {}],
    ["none", "No status yet", { monitors: buildStates("paused", "pending") }],
    ["degraded", "Some systems are affected", { incidents: [buildIncident()] }],
    ["up", "All systems are up", { monitors: buildStates("up", "up") }],
    ["up", "All systems are up", { monitors: buildStates("up", "paused", "pending") }],
    ["up", "All systems are up", { monitors: buildStates("up"), incidents: [resolvedIncident] }],
    [
      "up",
      "All systems are up",
      { monitors: buildStates("up"), windows: [{ ...window, isRunning: false }] },
    ],
    [
      "down",
      "B is down, C is degraded. Everything else is up.",
      { monitors: buildStates("up", "down", "degraded") },
    ],
    ["down", "A is down", { monitors: buildStates("down") }],
    [
      "down",
      "A, B and C are down. Everything else is up.",
      { monitors: buildStates("down", "down", "down", "up", "paused") },
    ],
    [
      "down",
      "A, B and 2 more are down. 1 of 5 works.",
      { monitors: buildStates("down", "down", "down", "down", "up") },
    ],
    ["down", "A is down. 1 of 3 works.", { monitors: buildStates("down", "up", "maintenance") }],
    [
      "down",
      "A is down. 2 of 4 work.",
      {
        monitors: buildStates("down", "up", "up", "up"),
        incidents: [buildIncident({ monitors: [{ id: "b", name: "B", impact: null }] })],
      },
    ],
    [
      "down",
      "A, B and 3 more are down, F is degraded. 2 of 8 work.",
      { monitors: buildStates("down", "down", "down", "down", "down", "degraded", "up", "up") },
    ],
    ["down", "A is down", { monitors: buildStates("down", "up"), incidents: [buildIncident()] }],
    [
      "down",
      "A is down. Everything else is up.",
      {
        monitors: buildStates("down", "up"),
        incidents: [buildIncident({ monitors: [{ id: "a", name: "A", impact: null }] })],
      },
    ],
    [
      "down",
      "One system is down. Everything else is up.",
      { monitors: [buildMonitor({ state: "down", name: "x".repeat(255) }), ...buildStates("up")] },
    ],
    [
      "down",
      "All systems are down",
      { monitors: buildStates("down", "down", "paused", "pending") },
    ],
    [
      "degraded",
      "B is degraded. 1 of 3 works.",
      { monitors: buildStates("up", "degraded", "maintenance") },
    ],
    [
      "degraded",
      "Some systems are affected",
      { monitors: buildStates("up"), incidents: [buildIncident()] },
    ],
    ["degraded", "Some systems are affected", { monitors: buildStates("up"), incidents: [major] }],
    ["maintenance", "Maintenance in progress", { monitors: buildStates("up", "maintenance") }],
    ["maintenance", "Maintenance in progress", { windows: [{ ...window, isRunning: true }] }],
  ];
  for (const [tone, text, shown] of cases)
    test(`is “${text}” with ${JSON.stringify({
      monitors: shown.monitors?.map(({ state }) => state) ?? [],
      incidents: shown.incidents?.map(({ severity, status }) => `${severity} ${status}`) ?? [],
    })}${shown.windows ? " and a window" : ""}`, () =>
      expect(view(shown).headline).toMatchObject({ tone, text }));

  test("counts the open incidents", () => {
    const buildDetail = (...incidents: PublicIncident[]) =>
      view({ monitors: buildStates("up"), incidents }).headline.detail;
    expect(buildDetail(resolvedIncident)).toBe("No open incidents.");
    expect(buildDetail(buildIncident(), resolvedIncident)).toBe("One incident is being worked on.");
    expect(buildDetail(buildIncident(), buildIncident())).toBe("2 incidents are being worked on.");
  });
});

describe("an incident", () => {
  test("shows its duration so far in whole minutes, or its total duration", () => {
    const [shown] = view({ incidents: [buildIncident()] }).incidents;
    expect(shown).toMatchObject({ isOpen: true, length: "8 min" });
    const end = { status: "resolved", resolvedAt: "2026-11-20T09:52:29.000Z" } as const;
    const after = view({ incidents: [buildIncident(end)] });
    expect(after.incidents).toEqual([]);
    expect(after.all).toMatchObject([{ isOpen: false, length: "less than a minute" }]);
  });

  test("is summarized by its newest update and the monitor's public name", () => {
    const update = {
      status: "identified",
      isMarkdown: true,
      createdAt: "2026-11-20T09:55:00.000Z",
      editedAt: null,
      reports: null,
    };
    const updates = [
      { ...update, id: "2", message: "Found it." },
      { ...update, id: "1", message: "Looking." },
    ];
    const affected = { id: "m", name: "Shop", impact: null };
    const [shown] = view({ incidents: [buildIncident({ updates, monitors: [affected] })] }).all;
    expect(shown).toMatchObject({ summary: "Found it.", affects: ["Shop"], severity: "Minor" });
    expect(shown?.updates[0]).toMatchObject({
      status: "Identified",
      time: { at: update.createdAt, text: "20 Nov 09:55" },
    });
  });
});

describe("past incidents", () => {
  const listPast = (at: string, timeZone: string, createdAt: string, resolvedAt: string | null) => {
    const status = resolvedAt === null ? ("identified" as const) : ("resolved" as const);
    const incidents = [buildIncident({ createdAt, resolvedAt, status })];
    return view({ incidents, page: { timeZone } }, Date.parse(at)).past;
  };

  test("started or ended in the last seven days of the page's time zone", () => {
    const cases: [createdAt: string, resolvedAt: string | null, isPast: boolean][] = [
      ["2026-11-13T22:59:00.000Z", "2026-11-13T22:59:59.000Z", false],
      ["2026-11-13T23:00:00.000Z", "2026-11-13T23:00:01.000Z", true],
      ["2026-10-01T00:00:00.000Z", "2026-11-14T00:00:00.000Z", true],
      ["2026-11-20T09:00:00.000Z", "2026-11-20T09:30:00.000Z", true],
      ["2026-11-20T09:00:00.000Z", null, false],
    ];
    for (const [createdAt, resolvedAt, isPast] of cases)
      expect([
        createdAt,
        listPast("2026-11-20T10:00:00.000Z", "Europe/Berlin", createdAt, resolvedAt).length,
      ]).toEqual([createdAt, isPast ? 1 : 0]);
  });

  test("cover seven days also across clock changes", () => {
    const count = (at: string, createdAt: string) =>
      listPast(at, "Europe/Berlin", createdAt, createdAt).length;
    expect(count("2026-03-30T22:30:00.000Z", "2026-03-24T23:00:00.000Z")).toBe(1);
    expect(count("2026-03-30T22:30:00.000Z", "2026-03-24T22:59:59.000Z")).toBe(0);
    expect(count("2026-10-27T22:30:00.000Z", "2026-10-20T22:00:00.000Z")).toBe(1);
    expect(count("2026-10-27T22:30:00.000Z", "2026-10-20T21:59:59.000Z")).toBe(0);
  });

  test("show their days, times and duration", () => {
    const readText = (createdAt: string, resolvedAt: string) => {
      const [one] = listPast("2026-11-20T10:00:00.000Z", "Europe/Berlin", createdAt, resolvedAt);
      return one && [one.day, one.hours, one.length];
    };
    expect(readText("2026-11-19T08:14:00.000Z", "2026-11-19T08:17:30.000Z")).toEqual([
      "19 Nov",
      "09:14–09:17",
      "3 min",
    ]);
    expect(readText("2026-11-19T08:14:00.000Z", "2026-11-19T08:14:30.000Z")).toEqual([
      "19 Nov",
      "09:14",
      "less than a minute",
    ]);
    expect(readText("2026-11-18T08:14:00.000Z", "2026-11-19T09:14:00.000Z")).toEqual([
      "18 Nov",
      "09:14 – 19 Nov 10:14",
      "1 d 1 h",
    ]);
  });
});

describe("planned work", () => {
  const at = "2026-11-20T09:00:00.000Z";
  const buildWindow = (fields: Partial<PublicData["windows"][number]>) => ({
    id: "w",
    occurrenceId: "w",
    title: "Moving",
    description: "",
    monitors: [],
    startsAt: at,
    endsAt: "2026-11-20T11:00:00.000Z",
    announcedAt: at,
    changedAt: at,
    isRunning: false,
    isOver: false,
    plan: parseRule(null, now),
    timeZone: "UTC",
    ...fields,
  });

  test("of a recurring window is shown once with its next times; running work is separate", () => {
    const windows = [
      buildWindow({ isRunning: true, monitors: [{ id: "m", name: "Shop" }] }),
      buildWindow({ startsAt: "2026-11-27T09:00:00.000Z", endsAt: "2026-11-27T11:00:00.000Z" }),
      buildWindow({ startsAt: "2026-12-04T09:00:00.000Z", endsAt: "2026-12-04T11:00:00.000Z" }),
      buildWindow({ id: "other", title: "Later", startsAt: "2026-12-05T09:00:00.000Z" }),
    ];
    const { running, scheduled } = view({ windows });
    expect(running).toMatchObject([{ id: "w", affects: ["Shop"] }]);
    expect(running[0]?.times).toHaveLength(1);
    expect(scheduled).toMatchObject([
      {
        id: "w",
        times: [{ text: "Fri 27 Nov 09:00–11:00 UTC" }, { text: "Fri 4 Dec 09:00–11:00 UTC" }],
      },
      { id: "other", title: "Later" },
    ]);
  });

  test("that recurs at the same time of day has its rule in words, unless clocks or days differ", () => {
    const buildRecurring = (day: string, fields = {}) =>
      buildWindow({
        startsAt: `${day}T21:22:00.000Z`,
        endsAt: `${day}T22:22:00.000Z`,
        plan: parseRule("FREQ=DAILY", now),
        ...fields,
      });
    const listRules = (windows: PublicData["windows"], timeZone = "UTC") =>
      view({ windows, page: { timeZone } }).scheduled.map((one) => one.every);
    const days = ["2026-11-20", "2026-11-21"];
    expect(listRules(days.map((day) => buildRecurring(day)))).toEqual(["Every day 21:22–22:22"]);
    expect(
      listRules(days.map((day) => buildRecurring(day, { plan: parseRule(null, now) }))),
    ).toEqual([null]);
    expect(
      listRules(
        days.map((day) => buildRecurring(day)),
        "Asia/Tokyo",
      ),
    ).toEqual([null]);
    const aroundClockChange = ["2026-10-24", "2026-10-25"].map((day) =>
      buildRecurring(day, { timeZone: "UTC" }),
    );
    expect(listRules(aroundClockChange, "Europe/Berlin")).toEqual([null]);
  });
});

describe("on a page of more than 20 monitors", () => {
  const sectionsOf = (...sizes: number[]) =>
    sizes.map((size, section) => ({
      id: `s${section}`,
      name: `Section ${section}`,
      monitors: Array.from({ length: size }, (_, index) =>
        buildMonitor({ id: `${section}-${index}` }),
      ),
    }));
  const listFolded = (sections: PublicData["sections"]) =>
    buildView(
      { page, sections, incidents: [], windows: [], marks: [], takesMail: false },
      now,
      english,
    ).sections.map(({ isFolded }) => isFolded);

  test("sections without trouble are folded, unless there is only one", () => {
    const troubled = {
      id: "t",
      name: "T",
      monitors: [buildMonitor(), buildMonitor({ state: "degraded" })],
    };
    expect(listFolded(sectionsOf(12, 9))).toEqual([true, true]);
    expect(listFolded([...sectionsOf(12, 9), troubled])).toEqual([true, true, false]);
    expect(listFolded(sectionsOf(12, 8))).toEqual([false, false]);
    expect(listFolded(sectionsOf(40))).toEqual([false]);
  });

  test("a section with trouble lists it first, and folds two or more monitors that are up", () => {
    const createSection = (id: string, up: number, folding: "auto" | "open" = "auto") => ({
      id,
      name: id,
      folding,
      monitors: [
        ...Array.from({ length: up }, (_, index) => buildMonitor({ id: `${id}-up-${index}` })),
        buildMonitor({ id: `${id}-down`, state: "down" as const }),
      ],
    });
    const countParts = (sections: PublicData["sections"]) =>
      buildView(
        { page, sections, incidents: [], windows: [], marks: [], takesMail: false },
        now,
        english,
      ).sections.map(({ listed, rest }) => [listed.length, rest.length]);
    const long = [createSection("a", 20), createSection("b", 1), createSection("c", 5, "open")];
    expect(countParts(long)).toEqual([
      [1, 20],
      [2, 0],
      [6, 0],
    ]);
    expect(countParts([createSection("a", 4), createSection("b", 5)])).toEqual([
      [5, 0],
      [6, 0],
    ]);
  });
});

test("past incidents of earlier days fill the list up to five", () => {
  const marks = Array.from({ length: 7 }, (_, index) => ({
    id: `m${index}`,
    title: `Outage ${index}`,
    severity: "minor" as const,
    monitors: [],
    createdAt: `2026-10-${20 - index}T09:00:00.000Z`,
    resolvedAt: `2026-10-${20 - index}T10:00:00.000Z`,
  }));
  const resolved = buildIncident({ status: "resolved", resolvedAt: "2026-11-20T09:59:00.000Z" });
  const publicData = {
    page,
    sections: [],
    incidents: [resolved],
    windows: [],
    marks,
    takesMail: false,
  };
  const { past } = buildView(publicData, now, english);
  expect(past.map(({ id }) => id)).toEqual(["i", "m0", "m1", "m2", "m3"]);
  expect(past.at(-1)).toMatchObject({ day: "17 Oct", hours: "09:00–10:00", length: "1 h" });
});

test("a latency is shown only if the page is set to show it", () => {
  const viewLatency = (showLatency: boolean, latencyMs: number | null) =>
    view({ monitors: [buildMonitor({ latencyMs })], page: { showLatency } }).sections[0]
      ?.monitors[0]?.latency;
  expect([viewLatency(false, 34), viewLatency(true, null), viewLatency(true, 34)]).toEqual([
    null,
    null,
    "34\u202fms",
  ]);
});

test("the time of the last check is shown, and nothing without one", () => {
  expect(view({}).checked).toBeNull();
  expect(view({ monitors: [buildMonitor({ lastCheckedAt: null })] }).checked).toBeNull();
  const earlier = buildMonitor({ lastCheckedAt: "2026-11-19T00:00:00.000Z" });
  expect(view({ monitors: [earlier, buildMonitor()] }).checked?.at).toBe(
    "2026-11-20T09:59:30.000Z",
  );
});
