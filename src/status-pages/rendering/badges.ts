/** Draws SVG badges that show the status, uptime or latency of a monitor. */
import { dayMs } from "../../core/time/clock.ts";
import { escapeXml } from "../../core/text/formatting.ts";
import type { Language } from "../languages/language.ts";
import { createTimeFormats } from "../languages/times.ts";

import { findPartialStart, type PublicMonitor, computeUptime } from "../formats/public-data.ts";
import { stateKeyOf, stateTones, type Tone } from "./view.ts";

export const badgeKinds = ["status", "uptime", "latency"] as const;
export type BadgeKind = (typeof badgeKinds)[number];

/** Period of uptime badges, in days. */
export const badgeDays = 30;

const badgeColors: Record<Tone, string> = {
  up: "#12805c",
  degraded: "#9a6200",
  down: "#c2273b",
  maintenance: "#5a4fc9",
  none: "#6f6c66",
};

/** Draws the badge of a published monitor: its status, its uptime over 30 days, or its latency. */
export function renderMonitorBadge(
  kind: BadgeKind,
  monitor: PublicMonitor,
  { timeZone, now, language }: BadgeReader,
): string {
  const { text, tone } = describeBadgeValue(kind, monitor, { timeZone, now, language });
  const { name } = monitor;
  const label = kind === "status" ? name : language.translate(labelKeys[kind], { name });
  return renderBadge(label, text, tone);
}

type BadgeReader = { timeZone: string; now: number; language: Language };

const labelKeys = { uptime: "badgeUptime", latency: "badgeLatency" } as const;

/** Draws an SVG badge with the label on the left and the value on the right. */
export function renderBadge(label: string, text: string, tone: Tone): string {
  const [left, right] = [measureWidth(label), measureWidth(text)];
  const name = escapeXml(`${label}: ${text}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}"><title>${name}</title><clipPath id="r"><rect width="${left + right}" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#3a3936"/><rect x="${left}" width="${right}" height="20" fill="${badgeColors[tone]}"/></g><g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">${drawText(label, 0, left)}${drawText(text, left, right)}</g></svg>`;
}

/** Scripts that are written from right to left, from Hebrew to Arabic. */
const rightToLeft = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Draws a text in the middle of its box. Connected letters are not stretched to the box, which would separate them. */
function drawText(text: string, left: number, width: number): string {
  const spacing = rightToLeft.test(text) ? ` direction="rtl"` : ` textLength="${width - 12}"`;
  return `<text x="${left + width / 2}" y="14"${spacing}>${escapeXml(text)}</text>`;
}

function describeBadgeValue(
  kind: BadgeKind,
  monitor: PublicMonitor,
  { timeZone, now, language }: BadgeReader,
) {
  const { state, latencyMs, days } = monitor;
  const stateTone = stateTones[state];
  if (kind === "status")
    return { text: language.lower(language.translate(stateKeyOf(monitor))), tone: stateTone };
  if (kind === "latency") {
    const isKnown = state !== "unknown";
    return { text: language.latency(isKnown ? latencyMs : null), tone: stateTone };
  }
  const today = Math.floor(now / dayMs);
  const ratio = computeUptime(days, today, badgeDays);
  const since = findPartialStart(monitor, today, badgeDays);
  const words =
    since === null || ratio === null
      ? ""
      : ` ${createTimeFormats(language, timeZone, now).since(since)}`;
  return { text: language.percent(ratio) + words, tone: getTone(ratio) };
}

export function getTone(ratio: number | null): Tone {
  if (ratio === null) return "none";
  return ratio >= 0.999 ? "up" : ratio >= 0.99 ? "degraded" : "down";
}

/** Estimated width of a narrow character of Verdana at 11 px, in pixels. `textLength` corrects the difference. */
const characterPx = 6.6;

/** Estimates the width of a text with padding, in pixels. Wide East Asian characters and emoji count twice. */
function measureWidth(text: string): number {
  return Math.round(Bun.stringWidth(text) * characterPx) + 12;
}
