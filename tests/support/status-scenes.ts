/** Data of public pages: the typical page and extreme ones. */
import type {
  DaySeconds,
  ReportedIncident,
  PageScene,
  ShownMonitor,
  State,
} from "./status-world.ts";

const day = 86_400;

/** Mostly good days with some bad ones, the same in every run. */
const createMixedDays =
  (seed: number, known = 365) =>
  (back: number): DaySeconds | null => {
    if (back >= known) return null;
    const dice = (seed * 7919 + back * 104_729) % 97;
    if (dice < 2) return { up: day - 5_400, down: 5_400 };
    if (dice < 4) return { up: day - 300, down: 300 };
    if (dice < 6) return { up: day - 7_200, degraded: 7_200 };
    if (dice < 7) return { up: day - 3_600, maintenance: 3_600 };
    return { up: day };
  };

const createMonitors = (names: string[], states: State[] = []): ShownMonitor[] =>
  names.map((name, index) => ({
    name,
    state: states[index] ?? "up",
    day: createMixedDays(index + name.length, index === names.length - 1 ? 70 : 365),
  }));

const checkout: ReportedIncident = {
  title: "Checkout fails for some customers",
  severity: "major",
  monitor: 0,
  message: "Between 8 and 12 % of payments are rejected. We are looking into it.",
  updates: [
    {
      status: "identified",
      message:
        "A deploy at 13:58 broke the payment provider's webhook signature. We are rolling back; new orders are queued and none are lost.",
    },
  ],
  hoursAgo: 1,
};

const search: ReportedIncident = {
  title: "Slow search results",
  monitor: 2,
  message: "Searches take more than 5 s.",
  updates: [
    { status: "resolved", message: "A reindex used all disk bandwidth; it now runs at night." },
  ],
  hoursAgo: 50,
};

const long = "x".repeat(255);
const words = "Payment-service-with-a-very-long-name ".repeat(6).trim();
const flood: ReportedIncident[] = Array.from({ length: 10 }, (_, index) => ({
  title: `Incident ${index + 1}: requests time out`,
  severity: (["minor", "major", "critical"] as const)[index % 3] ?? "minor",
  monitor: index % 3,
  message: "Some requests time out. We are looking into it.",
  updates: [
    { status: "identified", message: "A switch in the second rack lost its power supply." },
  ],
  hoursAgo: index + 1,
}));

export const typical: PageScene = {
  page: { title: "Acme status", timeZone: "Europe/Berlin" },
  sections: [
    {
      name: "Shop",
      monitors: createMonitors(
        ["Checkout API", "Web shop", "Search", "Payments"],
        ["down", "up", "degraded", "up"],
      ),
    },
    {
      name: "Company",
      monitors: createMonitors(["Website", "E-mail", "Support desk"], ["up", "paused"]),
    },
  ],
  incidents: [checkout, search],
};

/** Extreme pages outside of the design, which must still be complete and readable. */
export const extremes: Record<string, PageScene> = {
  empty: {},
  one: { sections: [{ name: "Shop", monitors: [{ name: "Web shop" }] }] },
  calm: {
    ...typical,
    sections: [{ name: "Shop", monitors: createMonitors(["Web shop", "Search"]) }],
    incidents: [],
  },
  "200-monitors": {
    sections: Array.from({ length: 10 }, (_, section) => ({
      name: `Region ${section + 1}`,
      monitors: createMonitors(
        Array.from({ length: 20 }, (_, index) => `Service ${section * 20 + index}`),
      ),
    })),
  },
  "10-incidents": { ...typical, incidents: flood },
  "a-year": { ...typical, page: { historyDays: 365, showLatency: true } },
  "a-week": { ...typical, page: { historyDays: 7, showLatency: true }, incidents: [] },
  "long-names": {
    page: { title: long, description: words, showLatency: true },
    sections: [
      {
        name: long,
        monitors: createMonitors([long, words, "Short"], ["down", "degraded", "pending"]),
      },
    ],
    incidents: [
      { ...checkout, title: long, message: long },
      {
        ...search,
        title: long,
        monitor: 0,
        message: long,
        updates: [{ status: "resolved", message: long }],
      },
    ],
  },
  rtl: {
    page: { title: "حالة الخدمات", description: "كل ما نشغله، وكيف حاله الآن.", language: "ar" },
    sections: [{ name: "المتجر", monitors: createMonitors(["الدفع (API v2)", "البحث"], ["down"]) }],
    incidents: [
      {
        ...checkout,
        title: "فشل الدفع لبعض العملاء (HTTP 502)!",
        message: "نحن نحقق في المشكلة.",
        updates: [{ status: "identified", message: "وجدنا السبب: الإصدار 4.2." }],
      },
    ],
  },
  "pale-accent": { ...typical, page: { accentColor: "#ffff66", description: "Pale accent." } },
  "dark-accent": { ...typical, page: { accentColor: "#101030", description: "Dark accent." } },
};
