import { bytesInWords as inWords } from "../../src/core/text.ts";

const thin = "\u2009";
/** Made once: the first of a kind is what costs. */
const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** `84 ms`; an en dash for nothing. */
export const inMs = (ms: number | null | undefined): string =>
  ms == null ? "–" : `${integer.format(ms)}${thin}ms`;

/** `99.98 %`, never rounded up; an en dash where nothing was measured. */
export function percent(ratio: number | null | undefined): string {
  if (ratio == null) return "–";
  if (ratio === 1) return `100${thin}%`;
  return `${(Math.floor(ratio * 10_000 + 1e-9) / 100).toFixed(2)}${thin}%`;
}

/** Ranges such as `200–299` stay on one line. */
export const withWholeRanges = (text: string): string =>
  text.replace(/(\d)[-–](?=\d)/g, "$1\u2060–\u2060");

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${integer.format(count)} ${count === 1 ? one : many}`;

/** `12.4 MB`, with a thin space. */
export const bytesInWords = (bytes: number): string => inWords(bytes).replace(" ", thin);
