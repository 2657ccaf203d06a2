import { expect, test } from "bun:test";
import { formatLatency, formatPercent } from "../../src/core/text/formatting.ts";
import {
  formatUntil,
  formatDateTime,
  formatPeriod,
  formatSince,
  formatTimeSpan,
  setHourCycle,
} from "../../src/core/time/times.ts";

const at = (text: string) => Date.parse(`${text}Z`);
const now = at("2026-11-22T14:40");
const zone = "Europe/Berlin";

test("a time of today has only the clock, another day its date, and another year its year", () => {
  const buildWords = (text: string) => formatDateTime(zone, at(text), now);
  expect(buildWords("2026-11-22T13:31")).toBe("14:31");
  expect(buildWords("2026-11-21T23:31")).toBe("00:31");
  expect(buildWords("2026-09-12T12:31")).toBe("12 Sept 14:31");
  expect(buildWords("2025-09-12T12:31")).toBe("12 Sept 2025 14:31");
  expect(formatDateTime(zone, at("2026-11-22T13:31:05"), now, true)).toBe("14:31:05");
  expect(formatSince(zone, at("2026-11-22T04:09"), now)).toBe("since 05:09");
  expect(formatSince(zone, at("2026-11-12T04:09"), now)).toBe("since 12 Nov");
});

test("a time span has its day once, also up to midnight, and its zone at its end", () => {
  const buildWords = (from: string, to: string) => formatTimeSpan(zone, at(from), at(to), now);
  expect(buildWords("2026-11-29T01:00", "2026-11-29T03:00")).toBe("Sun 29 Nov 02:00–04:00 CET");
  expect(buildWords("2026-11-29T21:00", "2026-11-29T23:00")).toBe("Sun 29 Nov 22:00–00:00 CET");
  expect(buildWords("2027-07-01T21:00", "2027-07-02T01:00")).toBe(
    "Thu 1 Jul 2027 23:00 – Fri 2 Jul 2027 03:00 CEST",
  );
});

test("a period is in minutes, in seconds if they are needed, and in days only if it has dates", () => {
  const buildWords = (from: string, to: string) => formatPeriod(zone, at(from), at(to), now);
  expect(buildWords("2026-11-22T11:00", "2026-11-22T12:00")).toBe("Today 12:00–13:00");
  expect(buildWords("2026-11-12T11:00", "2026-11-12T11:00:10")).toBe("12 Nov 12:00:00–12:00:10");
  expect(buildWords("2026-11-22T11:01:30", "2026-11-22T11:03")).toBe("Today 12:01:30–12:03:00");
  expect(buildWords("2026-11-11T23:00", "2026-11-12T23:00")).toBe("Thu 12 Nov");
  expect(buildWords("2026-11-11T23:00", "2026-11-13T23:00")).toBe("Thu 12 Nov – 13 Nov");
});

test("figures have a thin space and one separator, and are never rounded to a better value", () => {
  expect([0, 0.4, 84, 1_249.4, 12_400, null].map((ms) => formatLatency(ms))).toEqual([
    "<1\u202fms",
    "<1\u202fms",
    "84\u202fms",
    "1,249\u202fms",
    "12.4\u202fs",
    "–",
  ]);
  expect([1, 1 - 1e-13, 0.9729, 0, null].map(formatPercent)).toEqual([
    "100\u202f%",
    "99.99\u202f%",
    "97.29\u202f%",
    "0.00\u202f%",
    "–",
  ]);
});

test("something that expires shows its expiry, or the first one if there are later ones", () => {
  const buildWords = (...ends: string[]) =>
    formatUntil(
      zone,
      ends.map((end) => at(end)),
      now,
    );
  const [today, tomorrow] = ["2026-11-22T15:00", "2026-11-23T02:30"];
  expect(buildWords()).toBe("");
  expect(buildWords(today)).toBe(" until 16:00");
  expect(buildWords(today, today)).toBe(" until 16:00");
  expect(buildWords(tomorrow, today)).toBe(", the first until 16:00");
  expect(buildWords(tomorrow)).toBe(" until 23 Nov 03:30");
});

test("a 12-hour clock has am and pm, also at noon and midnight", () => {
  setHourCycle("h12");
  try {
    const buildWords = (text: string) => formatDateTime("UTC", at(text), now);
    expect(buildWords("2026-11-22T13:05")).toBe("1:05 pm");
    expect(buildWords("2026-11-22T00:05")).toBe("12:05 am");
    expect(buildWords("2026-09-12T12:31")).toBe("12 Sept 12:31 pm");
    expect(formatPeriod("UTC", at("2026-11-22T11:00"), at("2026-11-22T13:00"), now)).toBe(
      "Today 11:00 am–1:00 pm",
    );
  } finally {
    setHourCycle("h23");
  }
  expect(formatDateTime("UTC", at("2026-11-22T13:05"), now)).toBe("13:05");
});
