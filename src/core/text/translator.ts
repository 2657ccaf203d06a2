/**
 * Translates texts that the server writes in English: reasons of checks and deliveries, errors, problems and titles of
 * alerts. Unknown texts stay English.
 */
import { placeholders } from "./texts.ts";

export type Dictionary = Readonly<Record<string, string>>;

/** Placeholders whose values are translated too, if they are known. */
const partlyKnown = new Set(["reason", "value"]);
/** Placeholders whose values are translated too. If one is not known, the pattern does not match. */
const translatedPlaceholders = new Set(["event", "step", "subject"]);

/** A status of HTTP with its phrase, such as `503 (Service Unavailable)`, but not the rest of a sentence. */
const statusPattern = /^\d+( \([^()]*\))?$/;

/** A text with placeholders, as a pattern of the server's texts. */
type Pattern = {
  english: string;
  /** The text around the placeholders. */
  texts: string[];
  names: string[];
  translation: string;
  /** 1 if the text starts with a placeholder, which could match the start of another pattern. */
  rank: number;
  /** Characters outside the placeholders. */
  size: number;
};
/** Learns of the entries that were used, and of the parts that stayed as they are. */
type Listener = { onUse(english: string): void; onKeep(text: string): void };

const maxTranslatedTexts = 2_000;
/** Maximum characters of a translated text. Longer ones contain other programs' text. */
const maxLength = 2_000;
/** Maximum sentences and colons at which a text is split to translate its parts. */
const maxSplits = 12;
/** Maximum depth of texts within texts. */
const maxLevels = 6;

/** Returns a function that translates a text. If several patterns match, the longest is used. */
export function createTranslator(
  dictionary: Dictionary,
  listener?: Listener,
): (text: string) => string {
  const translator = new Translator(dictionary, listener);
  const translated = new Map<string, string>();
  return (text) => {
    let found = translated.get(text);
    if (found === undefined) {
      found = translator.translateText(text) ?? translator.keep(text);
      if (translated.size >= maxTranslatedTexts) translated.clear();
      translated.set(text, found);
    }
    return found;
  };
}

class Translator {
  private patterns: Pattern[] | undefined;
  /** Results for parts of the current text, by part and rank of the patterns. */
  private readonly found = new Map<string, string | null>();
  private level = 0;
  private readonly dictionary: Dictionary;
  private readonly listener: Listener | undefined;

  constructor(dictionary: Dictionary, listener: Listener | undefined) {
    this.dictionary = dictionary;
    this.listener = listener;
  }

  /** Returns the translation; null for an unknown text. */
  translateText(text: string): string | null {
    this.found.clear();
    return text.length > maxLength ? null : this.translatePart(text);
  }

  private translate(text: string): string | null {
    return (
      this.findExact(text) ??
      this.fillFirst(text, 0) ??
      this.translateSentences(text) ??
      this.fillFirst(text, 1) ??
      this.translateBeforeQuote(text)
    );
  }

  keep(text: string): string {
    this.listener?.onKeep(text);
    return text;
  }

  private findExact(text: string): string | null {
    const found = Object.hasOwn(this.dictionary, text) ? this.dictionary[text] : undefined;
    if (found === undefined) return null;
    this.listener?.onUse(text);
    return found;
  }

  private find(text: string): string | null {
    return this.findExact(text) ?? this.fillFirst(text, 0) ?? this.fillFirst(text, 1);
  }

  /** Fills the translation of the first pattern of a rank that matches. */
  private fillFirst(text: string, rank: number): string | null {
    const key = `${rank}${text}`;
    const known = this.found.get(key);
    if (known !== undefined) return known;
    const filled = this.level < maxLevels ? this.fillPatterns(text, rank) : null;
    this.found.set(key, filled);
    return filled;
  }

  private fillPatterns(text: string, rank: number): string | null {
    this.patterns ??= listPatterns(this.dictionary);
    this.level++;
    try {
      for (const pattern of this.patterns) {
        const filled = pattern.rank === rank ? this.fill(pattern, text) : null;
        if (filled === null) continue;
        this.listener?.onUse(pattern.english);
        return filled;
      }
      return null;
    } finally {
      this.level--;
    }
  }

  private fill(pattern: Pattern, text: string): string | null {
    const { names, translation } = pattern;
    const values = matchPattern(pattern, text);
    if (values === null) return null;
    const shown = values.map((value, index) => {
      const name = names[index] ?? "";
      if (translatedPlaceholders.has(name)) return this.find(value);
      return partlyKnown.has(name) ? this.translatePart(value) : value;
    });
    if (
      shown.some((value, index) => value === null && translatedPlaceholders.has(names[index] ?? ""))
    )
      return null;
    return translation.replaceAll(placeholders, (_, name: string) => {
      const index = names.indexOf(name);
      const value = values[index] ?? "";
      return shown[index] === null || shown[index] === value
        ? this.keep(value)
        : (shown[index] ?? "");
    });
  }

  /** Translates a text that can be a sentence without its capital letter or full stop. */
  private translatePart(text: string): string | null {
    const sentence = this.findExact(`${text}.`);
    const whole = sentence?.replace(/\.$/, "") ?? this.translate(text);
    if (whole !== null) return whole;
    const capital = text.charAt(0).toUpperCase() + text.slice(1);
    const found = this.find(capital) ?? this.find(`${capital}.`)?.replace(/\.$/, "");
    if (found != null) return found;
    if (!text.endsWith(".")) return null;
    const clause = this.find(text.charAt(0).toLowerCase() + text.slice(1, -1));
    return clause && `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
  }

  /** Translates the first sentences of a text, and the rest if it is known. */
  private translateSentences(text: string): string | null {
    for (const at of listPositions(text, ". ")) {
      const start = this.find(text.slice(0, at + 1));
      const rest = text.slice(at + 2);
      if (start !== null) return `${start} ${this.translate(rest) ?? this.keep(rest)}`;
    }
    return null;
  }

  /** Translates a sentence up to the text of others that follows a colon. */
  private translateBeforeQuote(text: string): string | null {
    for (const at of listPositions(text, ": ")) {
      const start = this.find(`${text.slice(0, at)}.`);
      if (start !== null) return start.replace(/\.$/, "") + this.keep(text.slice(at));
    }
    return null;
  }
}

function listPositions(text: string, mark: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    found.push(at);
    if (found.length === maxSplits) break;
  }
  return found;
}

const listPatterns = (dictionary: Dictionary): Pattern[] =>
  Object.entries(dictionary)
    .filter(([english]) => english.includes("{"))
    .map(([english, translation]) => toPattern(english, translation))
    .sort((one, other) => other.size - one.size);

function toPattern(english: string, translation: string): Pattern {
  const parts = english.split(placeholders);
  const texts = parts.filter((_, index) => index % 2 === 0);
  return {
    english,
    texts,
    names: parts.filter((_, index) => index % 2 === 1),
    translation,
    rank: texts[0] === "" ? 1 : 0,
    size: texts.join("").length,
  };
}

/** Returns the values of the placeholders, each as short as possible; null if the text does not match. */
function matchPattern({ texts, names }: Pattern, text: string): string[] | null {
  const [start = "", ...others] = texts;
  const end = others.at(-1) ?? "";
  if (!text.startsWith(start) || !text.endsWith(end)) return null;
  const values: string[] = [];
  let at = start.length;
  for (const [index, part] of others.entries()) {
    const isLast = index === others.length - 1;
    const next = isLast ? text.length - end.length : text.indexOf(part, at + 1);
    if (next <= at) return null;
    values.push(text.slice(at, next));
    at = next + part.length;
  }
  const isStatus = values.every(
    (value, index) => names[index] !== "status" || statusPattern.test(value),
  );
  return isStatus ? values : null;
}
