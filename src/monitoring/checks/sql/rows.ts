/** Converts SQL values to JSON values, within limits on the work for one query. */
import { monitorBounds } from "../../../core/limits.ts";
import { parseBounded } from "../../../core/text/json.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/** Values by column name. */
export type Row = Record<string, unknown>;
/** Rows of a statement, or one list of rows per statement if there are several. */
export type Rows = Row[] | Row[][];

/** Maximum values in all rows of a query. Building 20,000 blocks the event loop for less than 20 ms. */
const maxValues = monitorBounds.rowValues.value;
/** Maximum bytes of JSON in all rows of a query. Parsing 64 KiB blocks the event loop for up to 20 ms. */
const maxJsonBytes = monitorBounds.rowJson.value;
/** Maximum bytes of binary values in all rows of a query. */
const maxBinaryBytes = monitorBounds.rowJson.value;

/** Limits the work of building the rows of one query. */
export class RowBudget {
  private values = 0;
  private jsonBytes = 0;
  private bytes = 0;

  /** Counts values. Throws TargetFailure above the maximum. */
  countValues(count: number) {
    this.values += count;
    if (this.values > maxValues)
      throw new TargetFailure(`The rows have more than ${maxValues} values.`);
  }

  /** Counts bytes of binary values, which become lists of numbers. Throws TargetFailure above the maximum. */
  countBytes(count: number) {
    this.bytes += count;
    if (this.bytes > maxBinaryBytes)
      throw new TargetFailure(
        `The bytes in the rows are more than ${maxBinaryBytes / 1024} KiB: use a query that returns text.`,
      );
  }

  /** Parses JSON. Throws TargetFailure if it is invalid, too deep or too long. */
  parseJson(text: string): unknown {
    this.jsonBytes += text.length;
    if (this.jsonBytes > maxJsonBytes)
      throw new TargetFailure(`The JSON in the rows is longer than ${maxJsonBytes / 1024} KiB.`);
    const parsed = parseBounded(text);
    if ("value" in parsed) return parsed.value;
    throw new TargetFailure(`The JSON in the rows can't be read: ${parsed.unreadable}.`);
  }
}

/** Converts a whole number. Returns it as text if a JSON number would round it. */
export function parseWholeNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** Converts a floating-point number; null for infinity and NaN, which JSON lacks. */
export function parseFloatNumber(text: string): number | null {
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Converts bytes to the format that `JSON.stringify` uses for a Buffer. */
export const bytesToJson = (bytes: Uint8Array) => Buffer.from(bytes).toJSON();

const timePattern =
  /^(\d{4,6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?(?:([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)?( BC)?$/;

/** Converts an ISO 8601 date or time to RFC 3339 in UTC; null for infinity and impossible dates. */
export function instantToJson(text: string): string | null {
  const [, year, month, day, hour, minute, second, fraction = "", sign, ...offset] =
    timePattern.exec(text) ?? [];
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(0, 3).map((part) => Number(part ?? 0));
  const isBeforeChrist = offset[3] !== undefined;
  if (year === undefined || Number(month) === 0 || Number(day) === 0) return null;
  const date = new Date(0);
  date.setUTCFullYear(
    isBeforeChrist ? 1 - Number(year) : Number(year),
    Number(month) - 1,
    Number(day),
  );
  date.setUTCHours(
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
    Number(fraction.padEnd(3, "0").slice(0, 3)),
  );
  const offsetMs = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  const at = date.getTime() - (sign === "-" ? -offsetMs : offsetMs);
  return Number.isNaN(new Date(at).getTime()) ? null : new Date(at).toISOString();
}
