import { type Fact, fitted, type Message, type Tone } from "../sending/messages.ts";

export const colours: Record<Tone, string> = {
  down: "#d92d20",
  degraded: "#f79009",
  up: "#12a150",
  info: "#667085",
};

/** A message as running text, never empty, and fields beside it. */
export function partsOf({ title, lines, facts }: Message): { text: string[]; fields: Fact[] } {
  const said =
    facts.length === 0
      ? lines
      : facts.filter(({ label }) => label === "").map(({ value }) => value);
  const text = said.filter((line) => line.trim() !== "");
  return {
    text: text.length > 0 ? text : [title],
    fields: facts.filter(({ label, value }) => label !== "" && value !== ""),
  };
}

/**
 * What `written` makes of as many lines as keep its size within `max`. Escaping makes text longer, and
 * cutting it afterwards could go through an escape.
 */
export function within<T>(
  max: number,
  lines: readonly string[],
  written: (lines: readonly string[]) => T,
  sizeOf: (made: T) => number,
): T {
  for (let available = max; ; available = Math.floor(available * 0.9)) {
    const made = written(fitted(lines, available));
    if (sizeOf(made) <= max || available < 10) return made;
  }
}

/** Lines as one text of at most `max` characters once each is `escaped`. */
export function textWithin(
  max: number,
  lines: readonly string[],
  escaped: (text: string) => string,
): string {
  const written = (kept: readonly string[]) => kept.map(escaped).join("\n");
  return within(max, lines, written, ({ length }) => length);
}

export const bytesOf = (body: object) => Buffer.byteLength(JSON.stringify(body));

/** Text that Markdown shows as it is. Addresses stay whole, so that people can open them. */
export function markdown(text: string): string {
  return text.replace(
    /(https?:\/\/[^\s<>()[\]*`~|\\@]+)|[\\*_~`|>#[\]]/g,
    (found, address?: string) => address ?? `\\${found}`,
  );
}

/** Text that HTML, and what took its escapes from it, shows as it is. */
export function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Text in which `@all`, `<!all>` and `<users/all>` call nobody: a space of no width follows the sign. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<![A-Za-z0-9])@|<(?=\S)/g, (sign) => `${sign}\u200b`);
}

/** The address of `path` on a server that may itself stand under a path, with or without a slash behind it. */
export function addressOn(server: string, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  url.search = "";
  url.hash = "";
  return url.href;
}

/**
 * Whether services take this for the address of a page: an appliance is often opened under a name without
 * a dot (`http://nas:3210`), which Discord refuses with the whole message, and behind which the buttons of
 * Teams open nothing. https://github.com/grafana/grafana/issues/65270 and
 * https://github.com/MicrosoftDocs/msteams-docs/issues/4033
 */
export function hasDottedHost(url: string): boolean {
  return new URL(url).hostname.replace(/\.$/, "").includes(".");
}
