/** Renders a message as the text and the HTML of a mail. */
import { cutText, type Message } from "../sending/messages.ts";
import {
  bytesOf,
  toneColors,
  escapeEntities,
  listLinks,
  renderWithin,
  splitMessage,
} from "./formatting.ts";

/** Texts and headers of a mail around its message. */
export type MailStyle = {
  /** Label of the link. */
  link: string;
  headers: Record<string, string>;
  /** Why the recipient gets the mail, and links to change that. */
  footer: { text: string; links: readonly { label: string; url: string }[] } | null;
  /** Language of the mail, with its direction of writing; English by default. */
  language?: { readonly tag: string; readonly dir: "ltr" | "rtl" };
  attachments?: readonly { filename: string; content: Buffer; contentType: string }[];
};

const english: NonNullable<MailStyle["language"]> = { tag: "en", dir: "ltr" };

export const colleagueStyle: MailStyle = { link: "Open in Signalbox", headers: {}, footer: null };

/** Renders the text and the HTML of a mail. */
export function renderMail(message: Message, mailStyle: MailStyle = colleagueStyle) {
  const { footer } = mailStyle;
  const ending =
    footer === null
      ? []
      : ["", "-- ", footer.text, ...footer.links.map(({ label, url }) => `${label}: ${url}`)];
  const lines = [message.title, "", ...splitParagraphs(message), "", ...listLinks(message)];
  return {
    text: `${[...lines, ...ending].join("\n")}\n`,
    html: renderHtml(message, mailStyle),
  };
}

// Maximum length, the same as for other digests.
const maxBytes = 18_000;

/** Renders a mail of a limited size: shortens the lines of a digest, and the facts of other messages. */
export function renderShortMail(message: Message, sizeOf: (mail: object) => number = bytesOf) {
  if (message.facts.length === 0)
    return renderWithin(
      maxBytes,
      message.lines,
      (lines) => renderMail({ ...message, lines }),
      sizeOf,
    );
  for (let limit = 8_000; ; limit /= 2) {
    const mail = renderMail(shortenFacts(message, limit));
    if (sizeOf(mail) <= maxBytes || limit <= 250) return mail;
  }
}

function shortenFacts({ lines, facts, ...message }: Message, limit: number): Message {
  const shorter = facts.map(({ label, value, html }) =>
    value.length > limit || html === undefined
      ? { label, value: cutText(value, limit) }
      : { label, value, html },
  );
  const others = lines.slice(0, lines.length - facts.length);
  const ownLines = shorter.map(({ label, value }) => (label === "" ? value : `${label}: ${value}`));
  return { ...message, lines: [...others, ...ownLines], facts: shorter };
}

/** Returns the lines of a message. An empty line separates a multi-line text from the facts. */
function splitParagraphs({ lines, facts }: Message): readonly string[] {
  const labeled = facts.findIndex(({ label }) => label !== "");
  if (facts[labeled - 1]?.value.includes("\n") !== true) return lines;
  const at = lines.length - facts.length + labeled;
  return [...lines.slice(0, at), "", ...lines.slice(at)];
}

const buttonStyle =
  "display:inline-block;padding:8px 16px;border:1px solid currentColor;border-radius:8px;font-weight:600;text-decoration:none";

// Sets no text or background colors, because mail programs have their own, including dark ones.
function renderHtml(message: Message, { link, footer, language = english }: MailStyle): string {
  // Many mail programs know no logical properties.
  const [start, padding] =
    language.dir === "rtl" ? ["right", "2px 0 2px 16px"] : ["left", "2px 16px 2px 0"];
  const cell = `padding:${padding};vertical-align:top;text-align:${start}`;
  const { type, tone, title, url, acknowledgeUrl } = message;
  const { text: lines, fields } = splitMessage(message);
  // The heading shows the title.
  const text = lines.filter((line) => line !== title);
  const textLines =
    type === "digest"
      ? `<ul style="margin:0;padding-${start}:20px">${text.map((line) => `<li>${escapeHtml(line)}</li>`).join("\n")}</ul>`
      : (message.facts.find(({ label, html }) => label === "" && html !== undefined)?.html ??
        text
          .map((line) => `<p style="margin:0;white-space:pre-line">${escapeHtml(line)}</p>`)
          .join("\n"));
  const rows = fields.map(
    ({ label, value, html = escapeHtml(value) }) =>
      `<tr><th style="${cell};font-weight:normal;opacity:0.7">${escapeHtml(label)}</th><td style="${cell}">${html}</td></tr>`,
  );
  const table =
    rows.length === 0
      ? ""
      : `<table style="margin-top:12px;border-spacing:0">\n${rows.join("\n")}\n</table>`;
  const acknowledgeButton =
    acknowledgeUrl === null
      ? ""
      : `<p style="margin:16px 0 0"><a href="${escapeHtml(acknowledgeUrl)}" style="${buttonStyle}">Acknowledge</a></p>\n`;
  const ending =
    footer === null
      ? ""
      : `<p style="margin:24px 0 0;font-size:13px;opacity:0.7">${[
          escapeHtml(footer.text),
          ...footer.links.map(
            ({ label, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
          ),
        ].join(" ")}</p>`;
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.dir}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:16px;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:15px;line-height:1.5">
<table role="presentation" style="width:100%;max-width:640px;border-spacing:0">
<tr><td style="padding-${start}:16px;border-${start}:4px solid ${toneColors[tone]}">
<h1 style="margin:0 0 8px;font-size:20px;line-height:1.3">${escapeHtml(title)}</h1>
${textLines}
${table}
${acknowledgeButton}<p style="margin:16px 0 0"><a href="${escapeHtml(url)}">${escapeHtml(link)}</a></p>${ending}
</td></tr>
</table>
</body>
</html>
`;
}

const escapeHtml = (text: string) => escapeEntities(text).replaceAll('"', "&quot;");
