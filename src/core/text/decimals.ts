/** Compares decimal numbers exactly, and detects numbers that a double would round. */

const decimalPattern = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d{1,15}))?$/i;

/** A decimal `0.DIGITS × 10^exponent` without leading and trailing zeros. Zero has no digits. */
type Decimal = { isNegative: boolean; digits: string; exponent: number };

function parseDecimal(text: string): Decimal | null {
  const [whole, sign, integer = "", fraction = "", bare = "", power = "0"] =
    decimalPattern.exec(text.trim()) ?? [];
  if (whole === undefined) return null;
  const all = `${integer}${fraction}${bare}`;
  let from = 0;
  while (all[from] === "0") from++;
  // A loop, because a regular expression would scan each run of zeros repeatedly.
  let to = all.length;
  while (to > from && all[to - 1] === "0") to--;
  const digits = all.slice(from, to);
  const exponent = integer.length - from + Number(power);
  return { isNegative: sign === "-" && digits !== "", digits, exponent };
}

/** Whether the text is a decimal number, such as `-12`, `0.50` or `1e3`. */
export const isDecimal = (text: string): boolean => decimalPattern.test(text.trim());

/**
 * Compares two decimal numbers of any length without rounding. Returns a negative number, 0 or a positive number; NaN
 * for invalid numbers.
 */
export function compareDecimals(one: string, other: string): number {
  const [a, b] = [parseDecimal(one), parseDecimal(other)];
  if (a === null || b === null) return Number.NaN;
  if (a.isNegative !== b.isNegative) return a.isNegative ? -1 : 1;
  return a.isNegative ? compareSizes(b, a) : compareSizes(a, b);
}

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.digits === "" || b.digits === "") return a.digits.length - b.digits.length;
  if (a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}

/** Largest number of a monitor. Sums of larger ones could exceed the range of a double. */
export const largestNumber = 1e30;

/** Message for an input number that a double would round. */
export const tooManyDigitsIssue =
  "has more digits than a number can hold: write it as text, in quotes";

/** Returns the number in a text, or the text itself if a double would round it. */
export function parseExactNumber(text: string): number | string {
  const number = Number(text);
  return compareDecimals(String(number), text) === 0 ? number : text;
}

/** A number that a double might round, as text in its original notation. */
export class LongNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** Serializes the original digits without quotes. */
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(this.text);
  }
}
