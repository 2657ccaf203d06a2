import {
  formatBytes,
  notJudgedPrefix,
  formatLatencies,
} from "../../../src/core/text/formatting.ts";
import { translateServerText } from "../../language/server-text.ts";

export {
  formatCount,
  formatLatency,
  formatPercent,
  pluralize,
} from "../../../src/core/text/formatting.ts";

const thinSpace = "\u202f";

/** Separates facts in a line. The no-break space prevents a line from starting with it. */
export const dot = "\u00a0· ";

/**
 * Formats the reason of a check result, in the language of the page. Latencies get digit
 * separators, and ranges such as `200–299` do not wrap.
 */
export const formatReason = (reason: string): string =>
  formatLatencies(
    translateServerText(reason).replace(
      /(?<![-–\d])(\d+)[-–](\d+)(?![-–\d])/g,
      "$1\u2060–\u2060$2",
    ),
  );

/**
 * Color class of the last check's reason. A check that was not judged is gray, because it does not
 * explain the state.
 */
export const getReasonTone = (state: string, reason: string): string =>
  reason.startsWith(notJudgedPrefix) ? "quiet" : state;

/** Formats a size, such as `12.4 MB`, with a thin space before the unit. */
export const formatNarrowBytes = (bytes: number): string =>
  formatBytes(bytes).replace(" ", thinSpace);
