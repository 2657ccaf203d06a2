import { bytesInWords as inWords, notJudged, withLatencies } from "../../../src/core/text/words.ts";

export { countInWords, latencyInWords, percent, plural } from "../../../src/core/text/words.ts";

const thin = "\u202f";

/** Between facts of one line; a line never begins with it. */
export const dot = "\u00a0· ";

/** What a check said, in the forms of the page: latencies have their separators, and stay on one line as ranges such as `200–299` do. */
export const reasonInWords = (reason: string): string =>
  withLatencies(reason.replace(/(?<![-–\d])(\d+)[-–](\d+)(?![-–\d])/g, "$1\u2060–\u2060$2"));

/** The color of what the last check said: one that could not be judged is not why the monitor is down. */
export const reasonTone = (state: string, reason: string): string =>
  reason.startsWith(notJudged) ? "quiet" : state;

/** `12.4 MB`, with a thin space. */
export const bytesInWords = (bytes: number): string => inWords(bytes).replace(" ", thin);
