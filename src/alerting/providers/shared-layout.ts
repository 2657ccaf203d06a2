import { type Fact, fitted, type Message, type Tone } from "../messages.ts";

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
