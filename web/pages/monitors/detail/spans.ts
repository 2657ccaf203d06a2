import type { Uptime } from "../../../../src/monitoring/uptime/schema.ts";

export const spanLabels = { "24h": "24 h", "7d": "7 d", "30d": "30 d", "90d": "90 d" };
export type SpanName = keyof typeof spanLabels;
const spanNames = Object.keys(spanLabels) as SpanName[];

/** URL parameters: the time range of the page, and the part of it that the chart shows. */
export type SpanSearch = { span?: SpanName; from?: number; to?: number };

export function parseSpanSearch({ span, from, to }: Record<string, unknown>): SpanSearch {
  const isPart =
    Number.isSafeInteger(from) && Number.isSafeInteger(to) && (from as number) < (to as number);
  return {
    ...(typeof span === "string" && span in spanLabels && { span: span as SpanName }),
    ...(isPart && { from: from as number, to: to as number }),
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

/** The requested time range, or the longest one on offer. */
export function chooseSpan(uptime: Uptime, { span = "24h" }: SpanSearch): SpanName {
  const shown = listShownSpans(uptime);
  return shown.includes(span) ? span : (shown.at(-1) ?? "24h");
}
