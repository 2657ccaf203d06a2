/** Helpers for providers: escaping, shortening and colors. */
import { alertBounds } from "../../core/limits.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import { boundValues } from "../../core/text/placeholders.ts";
import { cutText, type Fact, fitLines, type Message, type Tone } from "../sending/messages.ts";

export const toneColors: Record<Tone, string> = {
  down: "#d92d20",
  degraded: "#f79009",
  up: "#12a150",
  info: "#667085",
};

/** Splits a message into text, which is never empty, and labeled fields. */
export function splitMessage({ title, lines, facts }: Message): { text: string[]; fields: Fact[] } {
  const textLines =
    facts.length === 0
      ? lines
      : facts.filter(({ label }) => label === "").map(({ value }) => value);
  const text = textLines.filter((line) => line.trim() !== "");
  return {
    text: text.length > 0 ? text : [title],
    fields: facts.filter(({ label, value }) => label !== "" && value !== ""),
  };
}

/** Returns the last lines of a text message: the link that acknowledges the alert, if there is one, and the page. */
export const listLinks = ({ acknowledgeUrl, url }: Message): string[] => [
  ...(acknowledgeUrl === null ? [] : [`Acknowledge: ${acknowledgeUrl}`]),
  url,
];

/**
 * Returns the links of a message as buttons and as lines of text, because services reject buttons
 * whose host has no dot.
 */
export function splitLinks({
  acknowledgeUrl,
  url,
  linkLabel = "Open in Signalbox",
  furtherLink,
}: Message) {
  const acknowledge = acknowledgeUrl !== null && { label: "Acknowledge", url: acknowledgeUrl };
  const links = [
    ...(acknowledge ? [acknowledge] : []),
    { label: linkLabel, url },
    ...(furtherLink ? [furtherLink] : []),
  ];
  return {
    buttons: links.filter((link) => hasDottedHost(link.url)),
    lines: links
      .filter((link) => !hasDottedHost(link.url))
      .map((link) =>
        link === acknowledge || link === furtherLink ? `${link.label}: ${link.url}` : link.url,
      ),
  };
}

/** Renders as many lines as fit into `max`. Shortening the escaped text afterwards could split an escape sequence. */
export function renderWithin<T>(
  max: number,
  lines: readonly string[],
  render: (lines: readonly string[]) => T,
  sizeOf: (rendered: T) => number,
): T {
  for (let available = max; ; available = Math.floor(available * 0.9)) {
    const rendered = render(fitLines(lines, available));
    if (sizeOf(rendered) <= max || available < 10) return rendered;
  }
}

/** The lines and links of a message, in at most 4,000 bytes of JSON. */
export const renderLinesAndLinks = (message: Message): string =>
  renderWithin(
    4_000,
    message.lines,
    (lines) => [...lines, "", ...listLinks(message)].join("\n"),
    (text) => bytesOf([text]),
  );

/** A message as fields for automations. `key` is the same from the start of a problem to its end. */
export function buildEvent(message: Message) {
  const { id, at, type, severity, title, problem, url } = message;
  const status = problem?.isOver === true ? "resolved" : "triggered";
  const key = problem?.key ?? id;
  const text = renderLinesAndLinks(message);
  return { id, key, status, type, severity, time: at, title, message: text, url };
}

/** Joins lines into one text of at most `max` characters after escaping. */
export function joinWithin(
  max: number,
  lines: readonly string[],
  escaped: (text: string) => string,
): string {
  const renderLines = (lines: readonly string[]) => lines.map(escaped).join("\n");
  return renderWithin(max, lines, renderLines, ({ length }) => length);
}

type TextStyle = {
  escape?: (text: string) => string;
  /** Marks up the escaped title. */
  title?: (escaped: string) => string;
  /** Size that is limited; UTF-16 units by default. */
  sizeOf?: (text: string) => number;
};

/** Renders a whole message as one text of at most `max`: title, lines and links. The lines are shortened. */
export function renderText(message: Message, max: number, style: TextStyle = {}): string {
  const { escape = String, title = String, sizeOf = ({ length }: string) => length } = style;
  const head = title(escape(cutText(message.title, 300)));
  const links = listLinks(message);
  const renderLines = (lines: readonly string[]) =>
    [head, ...lines.map(escape), "", ...links].join("\n");
  return renderWithin(max, message.lines, renderLines, sizeOf);
}

export const countBytes = (text: string) => Buffer.byteLength(text);

export const bytesOf = (body: object) => Buffer.byteLength(JSON.stringify(body));

/** Escapes text for Markdown. URLs stay unchanged so that they remain clickable. */
export function escapeMarkdown(text: string): string {
  return text.replace(
    /(https?:\/\/[^\s<>()[\]*`~|\\@]+)|[\\*_~`|>#[\]]/g,
    (found, address?: string) => address ?? `\\${found}`,
  );
}

/** Escapes text for HTML and for formats with the same escapes. */
export function escapeEntities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Disables mentions of services that have no other sign for them. */
export const disarmAt = (text: string): string => text.replaceAll("@", "@\u200b");

/** Disables mentions such as `@all`, `<!all>` and `<users/all>` by inserting a zero-width space. */
export function disarmMentions(text: string): string {
  return text.replace(/(?<![A-Za-z0-9])@|<(?=\S)/g, (sign) => `${sign}\u200b`);
}

/** Returns the URL of `path` on a server, below the server's own path. */
export function joinUrl(server: string, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  url.search = "";
  url.hash = "";
  return url.href;
}

/**
 * Whether services accept this URL. Appliances often have a host name without a dot, such as
 * `http://nas:3210`. Discord rejects messages with it, and Teams buttons with it do nothing.
 * https://github.com/grafana/grafana/issues/65270
 * https://github.com/MicrosoftDocs/msteams-docs/issues/4033
 */
export function hasDottedHost(url: string): boolean {
  return new URL(url).hostname.replace(/\.$/, "").includes(".");
}

/** Returns the state of its case that a message reports. */
export function findCaseState({ problem }: Message): "open" | "acknowledged" | "over" {
  if (problem?.isOver === true) return "over";
  return problem?.change?.type === "acknowledge" ? "acknowledged" : "open";
}

/** Returns the header of a token or password, if one is set. */
export function buildLogin({ token, username, password }: Login): Record<string, string> {
  if (token !== null) return { Authorization: `Bearer ${token}` };
  return username === null ? {} : { Authorization: encodeBasic(username, password ?? "") };
}

type Login = { token: string | null; username: string | null; password: string | null };

/** Returns the headers and body of a form. */
export const encodeForm = (fields: Readonly<Record<string, string>>) => ({
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString(),
});

/** Returns the value of the header `Authorization` for Basic authentication. */
export const encodeBasic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Bounds the values that the placeholders of one request insert. */
export const boundMessageValues = (valueOf: (name: string) => string | number | boolean) =>
  boundValues(
    valueOf,
    alertBounds.insertedText.value,
    () => new TargetFailure("Its values make the request larger than 256 kB.", true),
  );
