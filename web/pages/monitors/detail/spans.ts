/** The time span of a monitor's page: parsed from its address, chosen from the spans on offer, and moved. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import type { Uptime } from "../../../../src/monitoring/uptime/schema.ts";

export const spanLabels = { "24h": "24 h", "7d": "7 d", "30d": "30 d", "90d": "90 d" };
export type SpanName = keyof typeof spanLabels;
const spanNames = Object.keys(spanLabels) as SpanName[];

const maxLengthMs = 90 * dayMs;
/** The last instant of a `Date`. */
const lastInstant = 8.64e15;

/** URL parameters: a span that ends now, or a period in the past in Unix milliseconds. */
export type SpanSearch = { span?: SpanName; from?: number; to?: number };

export function parseSpanSearch({ span, from, to }: Record<string, unknown>): SpanSearch {
  const isPeriod =
    Number.isSafeInteger(from) &&
    Number.isSafeInteger(to) &&
    0 <= (from as number) &&
    (from as number) < (to as number) &&
    (to as number) <= Math.min(lastInstant, (from as number) + maxLengthMs);
  return {
    ...(typeof span === "string" && span in spanLabels && { span: span as SpanName }),
    ...(isPeriod && { from: from as number, to: to as number }),
  };
}

/**
 * Time ranges to offer. For a monitor younger than a range, longer ones would be equal and are
 * omitted.
 */
export function listShownSpans({ spans }: Uptime): SpanName[] {
  const first = spanNames.findIndex((name) => spans[name].isPartial);
  return first === -1 ? spanNames : spanNames.slice(0, first + 1);
}

/** The span of all figures, charts and lists of the page. `to` is null if it ends now. */
export type PageSpan = { name: SpanName; from: number; to: number | null };

/** The span of the address: its period, or else its named span, or the longest one on offer. */
export function choosePageSpan(uptime: Uptime, { span = "24h", from, to }: SpanSearch): PageSpan {
  const shownSpans = listShownSpans(uptime);
  const name = shownSpans.includes(span) ? span : (shownSpans.at(-1) ?? "24h");
  if (from !== undefined && to !== undefined) return { name, from, to };
  return { name, from: Date.parse(uptime.spans[name].from), to: null };
}

/** URL parameters of the equally long period before (-1) or after (1). After the present there is the named span. */
export function moveSpan({ name, from, to }: PageSpan, direction: -1 | 1, now: number): SpanSearch {
  const end = to ?? now;
  const length = Math.min(end - from, maxLengthMs);
  const next = { from: from + direction * length, to: from + direction * length + length };
  return next.to >= now && direction === 1
    ? { span: name }
    : { span: name, from: Math.max(0, Math.round(next.from)), to: Math.round(next.to) };
}
