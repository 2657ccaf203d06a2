/** Builds the MIME mail of a delivery. */
import { domainToASCII } from "node:url";
import MailComposer from "nodemailer/lib/mail-composer";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import type { Message } from "../sending/messages.ts";
import { type MailStyle, renderMail, colleagueStyle } from "./mail-texts.ts";

export type Mail = { envelope: { from: string; to: string[]; size: number }; bytes: Buffer };

/**
 * Builds the mail of a delivery. ID and date are the same on every attempt. An outage and its end
 * are in one thread.
 */
export async function buildMail(
  message: Message,
  to: readonly string[],
  sender: string,
  mailStyle: MailStyle = colleagueStyle,
): Promise<Mail> {
  const { id, at, title, problem } = message;
  const from = parseSender(sender);
  const domain = domainToASCII(from.address.slice(from.address.lastIndexOf("@") + 1));
  const thread = problem === null ? undefined : `<${problem.key}@${domain}>`;
  const composer = new MailComposer({
    from,
    to: to.map((address) => ({ name: "", address })),
    // Mail programs would decode text that looks like an encoded word (RFC 2047).
    subject: title.includes("=?") ? encodeWord(title, "B", 52) : title,
    messageId: `<${id}@${domain}>`,
    inReplyTo: thread,
    references: thread,
    date: new Date(at),
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Signalbox-Delivery": id,
      ...mailStyle.headers,
    },
    ...renderMail(message, mailStyle),
    attachments: [...(mailStyle.attachments ?? [])],
    textEncoding: "quoted-printable",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const bytes = await composer.compile().build();
  return { envelope: { from: from.address, to: [...to], size: bytes.length }, bytes };
}

/** Parses a sender from the settings: an address, alone or as `Name <address>`. */
function parseSender(text: string): { name: string; address: string } {
  const [, name = "", address = text] = /^([^<>]*)<([^<>]+)>$/.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, "$1"), address };
}
