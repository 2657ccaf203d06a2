/** Reads mails: as they are sent by SMTP, and as the JSON in which they are logged. */
import { sha256 } from "../../../core/ids.ts";
import { mailBounds } from "../../../core/limits.ts";
import { toLine } from "../../../core/text/formatting.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import { toJsonObject, toText } from "../report-rules.ts";
import { parseSent } from "../request-body.ts";
import { boundHeaders } from "./header-rules.ts";
import { convertHtml } from "./html-rules.ts";

/** A decoded mail, without attachments and recipients. */
export type MailMessage = {
  /** Identity of the mail, by which a repeated one is recognized. */
  id: string;
  /** Whether the sender gave the mail this identity, rather than its content. */
  hasId: boolean;
  from: string;
  subject: string;
  text: string;
  /** Importance as the sender names it; empty for a normal one. */
  importance: string;
  /** The delivery of a Signalbox that sent the mail; empty for all others. */
  delivery: string;
};

/** Only the start of a mail is decoded, because the parser takes 10 µs per line. Attachments follow the text. */
const decodedBytes = 128 * 1024;
const decodedLines = 2_000;
/** Characters of the text that rules search and that the log stores. */
const maxTextLength = 16_000;

/** Bytes of a mail that `parseMail` needs. */
export const mailStart = decodedBytes;

/** Decodes a mail by RFC 5322 and MIME. Throws VALIDATION_ERROR. */
export async function parseMail(bytes: Uint8Array): Promise<MailMessage> {
  const { default: PostalMime } = await import("postal-mime");
  const start = boundHeaders(cutLines(bytes.subarray(0, decodedBytes)));
  const parsed = await PostalMime.parse(start, {
    forceRfc822Attachments: true,
    maxNestingDepth: 20,
    maxHeadersSize: mailBounds.headers.value,
  }).catch(() => {
    throw invalidFieldError("body", "must be a mail with at most 64 KiB of headers in 20 levels");
  });
  const readHeader = (name: string) =>
    parsed.headers.find(({ key }) => key === name)?.value.trim() ?? "";
  const { text = "", html = "" } = parsed;
  const messageId = parsed.messageId?.trim() ?? "";
  return {
    hasId: messageId !== "",
    id: messageId || `sha256 ${sha256(Buffer.from(bytes).toString("latin1"))}`,
    from: toLine(parsed.from?.address ?? "", 254),
    subject: toLine(parsed.subject ?? "", 1_000),
    text: (text.trim() === "" ? convertHtml(html) : text).trim().slice(0, maxTextLength),
    importance: toLine(
      readHeader("importance") || readHeader("x-priority") || readHeader("priority"),
      100,
    ),
    delivery: toLine(readHeader("x-signalbox-delivery"), 100),
  };
}

function cutLines(bytes: Uint8Array): Uint8Array {
  let end = -1;
  for (let lines = 0; lines < decodedLines; lines++) {
    end = bytes.indexOf(10, end + 1);
    if (end === -1) return bytes;
  }
  return bytes.subarray(0, end + 1);
}

/** Reads the JSON of a logged mail, or a mail itself. Throws INVALID_JSON, VALIDATION_ERROR. */
export async function readMailBody(text: string): Promise<MailMessage> {
  if (!text.trimStart().startsWith("{")) return parseMail(Buffer.from(text));
  const sent = toJsonObject(parseSent(text));
  return {
    hasId: true,
    id: toText(sent["id"]),
    from: toText(sent["from"]),
    subject: toLine(toText(sent["subject"]), 1_000),
    text: toText(sent["text"]).slice(0, maxTextLength),
    importance: toText(sent["importance"]),
    delivery: toText(sent["delivery"]),
  };
}
