import { bytesInWords as inWords, countInWords } from "../../src/core/text.ts";

export { countInWords, latencyInWords, percent } from "../../src/core/text.ts";

const thin = "\u2009";

/** Ranges such as `200–299` stay on one line. */
export const withWholeRanges = (text: string): string =>
  text.replace(/(\d)[-–](?=\d)/g, "$1\u2060–\u2060");

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countInWords(count)} ${count === 1 ? one : many}`;

/** `12.4 MB`, with a thin space. */
export const bytesInWords = (bytes: number): string => inWords(bytes).replace(" ", thin);
