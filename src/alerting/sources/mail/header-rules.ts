/** Bounds the headers of a mail before it is decoded, because the decoder takes quadratic time for long addresses. */
import { mailBounds } from "../../../core/limits.ts";
import { invalidFieldError } from "../../../core/validation.ts";

/** Headers that mails are decoded with or that they report. All others are dropped. */
const readNames = new Set([
  "content-type",
  "content-transfer-encoding",
  "content-disposition",
  "from",
  "subject",
  "message-id",
  "importance",
  "x-priority",
  "priority",
  "x-signalbox-delivery",
]);

/**
 * Drops unused and repeated headers, and truncates headers over the limit of one. A Message-ID over it is dropped, so that
 * its start can't make two mails equal. Throws VALIDATION_ERROR over the limit of all headers.
 */
export function boundHeaders(mail: Uint8Array): Buffer {
  const text = Buffer.from(mail.subarray(0, mailBounds.headers.value + 4)).toString("latin1");
  const blank = /^\r?\n|\n\r?\n/.exec(text);
  const end = blank === null ? text.length : blank.index + blank[0].length;
  if (end > mailBounds.headers.value)
    throw invalidFieldError(
      "body",
      `must be a mail with at most ${mailBounds.headers.value / 1024} KiB of headers`,
    );
  const headers = new Map<string, string>();
  // Only a space or a tab continues the header before it (RFC 5322, section 2.2.3).
  for (const header of text.slice(0, end).split(/\n(?![ \t])/)) {
    const name = header
      .slice(0, Math.max(0, header.indexOf(":")))
      .trim()
      .toLowerCase();
    if (!readNames.has(name) || headers.has(name)) continue;
    const isLong = header.length > mailBounds.header.value;
    if (isLong && name === "message-id") continue;
    headers.set(name, isLong ? header.slice(0, mailBounds.header.value) : header);
  }
  const start = [...headers.values()].map((header) => `${header.trimEnd()}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${start}\r\n`, "latin1"), mail.subarray(end)]);
}
