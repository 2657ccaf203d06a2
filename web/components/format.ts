import { bytesInWords as inWords, countInWords, latencyInWords } from "../../src/core/text.ts";

export { countInWords, latencyInWords, percent } from "../../src/core/text.ts";

const thin = "\u2009";

/** What a check said, in the forms of the page: ranges such as `200–299` stay on one line, latencies have their separators. */
export const reasonInWords = (reason: string): string =>
  reason
    .replace(/(?<![-–\d])(\d+)[-–](\d+)(?![-–\d])/g, "$1\u2060–\u2060$2")
    .replace(/(?<![\d.,])(\d+) ms\b/g, (_, ms: string) => latencyInWords(Number(ms)));

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countInWords(count)} ${count === 1 ? one : many}`;

/** `12.4 MB`, with a thin space. */
export const bytesInWords = (bytes: number): string => inWords(bytes).replace(" ", thin);
