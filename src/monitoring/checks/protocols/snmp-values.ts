/** Converts the value of an SNMP object to text, by the type that the device reports (RFC 2578 §7.1). */
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/**
 * Type numbers: https://www.rfc-editor.org/rfc/rfc3416#section-3. Not imported from the library, which is loaded with
 * the first check.
 */
const typeNumbers = { octetString: 4, opaque: 68, counter64: 70 };

/** Converts a value to text; numbers become exact decimals. Throws TargetFailure for a value that its type excludes. */
export function formatSnmpValue(type: number, value: unknown): string {
  if (typeof value === "string") return value;
  if (!Buffer.isBuffer(value)) return value === null ? "" : JSON.stringify(value);
  if (type === typeNumbers.counter64) return formatUnsigned(value);
  if (type === typeNumbers.opaque) return formatOpaque(value);
  return type === typeNumbers.octetString ? formatOctets(value) : formatHex(value);
}

/** Reads an unsigned integer of up to 64 bits. Devices can omit the leading zero byte that marks it as positive. */
function formatUnsigned(bytes: Buffer): string {
  let from = 0;
  while (bytes[from] === 0) from++;
  const digits = bytes.subarray(from);
  if (digits.length > 8) throw new TargetFailure("The response is not valid for SNMP.");
  return BigInt(`0x0${digits.toString("hex")}`).toString();
}

const formatSigned = (bytes: Buffer) =>
  BigInt.asIntN(bytes.length * 8, BigInt(`0x0${bytes.toString("hex")}`)).toString();

/** Reads numbers that net-snmp and similar agents wrap in an Opaque: 0x9f, type number, length, value. */
function formatOpaque(value: Buffer): string {
  const [mark, type, length] = value;
  const bytes = value.subarray(3);
  if (mark !== 0x9f || length !== bytes.length || bytes.length > 8 || length === 0)
    return formatHex(value);
  if (type === 0x78 && length === 4) return formatFloat(bytes.readFloatBE());
  if (type === 0x79 && length === 8) return String(bytes.readDoubleBE());
  if (type === 0x76 || type === 0x7b) return formatUnsigned(bytes);
  return type === 0x7a ? formatSigned(bytes) : formatHex(value);
}

/** Returns the shortest text of a single-precision number: 0.1 instead of 0.10000000149011612. */
function formatFloat(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}

const unprintablePattern = /[^\t\n\r\P{C}]/u;

function formatOctets(bytes: Buffer): string {
  let end = bytes.length;
  // C strings end with NUL.
  while (end > 0 && bytes[end - 1] === 0) end--;
  if (end === 0) return bytes.length === 0 ? "" : formatHex(bytes);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes.subarray(0, end),
    );
    if (!unprintablePattern.test(text)) return text;
  } catch {
    // Not UTF-8.
  }
  return formatDateAndTime(bytes) ?? formatHex(bytes);
}

/** Converts a DateAndTime (RFC 2579 §2) to RFC 3339, without an offset if it has none. Null for other bytes. */
function formatDateAndTime(bytes: Buffer): string | null {
  if (bytes.length !== 8 && bytes.length !== 11) return null;
  const [, , month = 0, day = 0, hour = 0, minute = 0, second = 0, tenth = 0] = bytes;
  const [sign = 0x2b, zoneHour = 0, zoneMinute = 0] = bytes.subarray(8);
  const year = bytes.readUInt16BE();
  const isDate = year >= 1900 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  const isTime = hour < 24 && minute < 60 && second <= 60 && tenth < 10;
  const isZone = (sign === 0x2b || sign === 0x2d) && zoneHour <= 14 && zoneMinute < 60;
  if (!isDate || !isTime || !isZone) return null;
  const padTwo = (value: number) => String(value).padStart(2, "0");
  const zone =
    bytes.length === 8
      ? ""
      : `${String.fromCharCode(sign)}${padTwo(zoneHour)}:${padTwo(zoneMinute)}`;
  return `${year}-${padTwo(month)}-${padTwo(day)}T${padTwo(hour)}:${padTwo(minute)}:${padTwo(second)}.${tenth}${zone}`;
}

/** Formats bytes as SNMP tools do: `0A 1B`. */
const formatHex = (bytes: Buffer) =>
  (bytes.toString("hex").match(/../g) ?? []).join(" ").toUpperCase();
