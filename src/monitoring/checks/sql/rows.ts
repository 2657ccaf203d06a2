/** JSON values of SQL rows, and the bound on the work to build them. */
import { monitorBounds } from "../../../core/limits.ts";
import { parseBounded } from "../../../core/text/json.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/** Values by the name of their column. */
export type Row = Record<string, unknown>;
/** The rows of a statement, or those of each of several. */
export type Rows = Row[] | Row[][];

/** Values in all rows of a query: building 20,000 takes the event loop less than 20 ms. */
const maxValues = monitorBounds.rowValues.value;
/** JSON in all rows of a query: parsing 64 KiB takes the event loop up to 20 ms. */
const maxJsonBytes = monitorBounds.rowJson.value;
/** Binary values in all rows of a query. */
const maxBinaryBytes = monitorBounds.rowJson.value;

/** Bounds the work of building the rows of one query. */
export class RowBudget {
  private values = 0;
  private jsonBytes = 0;
  private bytes = 0;

  /** Throws TargetFailure. */
  takeValues(count: number) {
    this.values += count;
    if (this.values > maxValues)
      throw new TargetFailure(`The rows have more than ${maxValues} values.`);
  }

  /** Bytes that become a list of numbers. Throws TargetFailure. */
  takeBytes(count: number) {
    this.bytes += count;
    if (this.bytes > maxBinaryBytes)
      throw new TargetFailure(
        `The bytes in the rows are more than ${maxBinaryBytes / 1024} KiB: use a query that returns text.`,
      );
  }

  /** Throws TargetFailure for JSON that is too deep or too long. */
  parseJson(text: string): unknown {
    this.jsonBytes += text.length;
    if (this.jsonBytes > maxJsonBytes)
      throw new TargetFailure(`The JSON in the rows is longer than ${maxJsonBytes / 1024} KiB.`);
    const parsed = parseBounded(text);
    if ("value" in parsed) return parsed.value;
    throw new TargetFailure(`The JSON in the rows can't be read: ${parsed.unreadable}.`);
  }
}

/** A whole number, exactly: as text where a JSON number would round it. */
export function wholeNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** A floating-point number; null for those that JSON lacks. */
export function floatNumber(text: string): number | null {
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Bytes as `JSON.stringify` writes a Buffer. */
export const bytesInJson = (bytes: Uint8Array) => Buffer.from(bytes).toJSON();

const timePattern =
  /^(\d{4,6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?(?:([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)?( BC)?$/;

/** Converts an ISO 8601 date or time to RFC 3339 in UTC; null for infinity and impossible dates. */
export function instantInJson(text: string): string | null {
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
