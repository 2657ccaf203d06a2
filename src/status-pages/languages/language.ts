/** Writes texts, numbers, durations and lists in the language of a status page. */
import type { PageLanguage } from "../../core/languages.ts";
import {
  formatCount,
  formatDuration,
  formatLatency,
  formatPercent,
} from "../../core/text/formatting.ts";
import { type Dictionary, en } from "./en.ts";

/** Keys of texts, and of texts that depend on a number. */
export type TextKey = {
  [K in keyof typeof en]: (typeof en)[K] extends string ? K : never;
}[keyof typeof en];
type CountKey = Exclude<keyof typeof en, TextKey>;

type Placeholder<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
type TextOf<K extends keyof typeof en> = (typeof en)[K] extends { other: infer Text extends string }
  ? Text
  : Extract<(typeof en)[K], string>;
type Values<Name extends string, Value> = { readonly [K in Name]: Value };

/** A part of a sentence: our words, or the value of a placeholder. */
export type Part<Value> = { text: string } | { value: Value };

const placeholder = /\{(\w+)\}/;

const rightToLeft = /^(?:ar|fa|he|ur)\b/;

/** Units of durations, from the largest, with their seconds. */
const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A language with its words. English has the number formats of the admin page. */
export class Language {
  /** BCP 47 tag, as in `lang` attributes. */
  readonly tag: string;
  /** Locale of numbers and dates. */
  readonly locale: string;
  readonly dir: "ltr" | "rtl";
  readonly #words: Dictionary;
  readonly #isEnglish: boolean;
  readonly #plurals: Intl.PluralRules;
  readonly #conjunction: Intl.ListFormat;
  readonly #numbers = new Map<string, Intl.NumberFormat>();

  constructor(tag: string, words: Dictionary) {
    this.tag = tag;
    this.#isEnglish = tag === "en";
    this.locale = this.#isEnglish ? "en-GB" : tag;
    this.dir = rightToLeft.test(tag) ? "rtl" : "ltr";
    this.#words = words;
    this.#plurals = new Intl.PluralRules(this.locale);
    this.#conjunction = new Intl.ListFormat(this.locale);
  }

  /** Returns a text, with `values` in its placeholders. */
  translate<K extends TextKey>(
    key: K,
    ...[values]: [Placeholder<TextOf<K>>] extends [never]
      ? []
      : [values: Values<Placeholder<TextOf<K>>, string | number>]
  ): string {
    return this.#fill(this.#textOf(key), values ?? {});
  }

  /** Returns a text in the plural form of `count`, which also fills its placeholder of that name. */
  count<K extends CountKey>(
    key: K,
    count: number,
    ...[values]: [Exclude<Placeholder<TextOf<K>>, "count">] extends [never]
      ? []
      : [values: Values<Exclude<Placeholder<TextOf<K>>, "count">, string | number>]
  ): string {
    return this.#fill(this.#formOf(key, count), { count: this.number(count), ...values });
  }

  /** Isolates values with other letters in right-to-left text, because a Latin name would reorder the words around it. */
  #fill(text: string, values: Readonly<Record<string, string | number>>): string {
    if (this.dir === "ltr") return fillText(text, values);
    const isolated = Object.entries(values).map(([name, value]) => [name, isolate(String(value))]);
    return fillText(text, Object.fromEntries(isolated));
  }

  /** Splits a text into our words and values that are not text, such as elements. */
  split<Value>(key: TextKey, values: Readonly<Record<string, Value>>): Part<Value>[] {
    return splitText(this.#textOf(key), values);
  }

  /** Splits a text in the plural form of `count`. */
  splitCount<Value>(
    key: CountKey,
    count: number,
    values: Readonly<Record<string, Value>>,
  ): Part<Value>[] {
    return splitText(this.#formOf(key, count), values);
  }

  #textOf(key: TextKey): string {
    return (this.#words as Record<TextKey, string>)[key];
  }

  #formOf(key: CountKey, count: number): string {
    const forms = this.#words[key];
    return forms[this.#plurals.select(count)] ?? forms.other;
  }

  /** Returns the words before and after the value of a text with one placeholder. */
  around(key: TextKey): [before: string, after: string] {
    const [before = "", , after = ""] = this.#textOf(key).split(placeholder);
    return [before, after];
  }

  /** Returns a text in lower case, as inside a sentence. German nouns remain capitalized. */
  lower(text: string): string {
    return this.tag === "de" ? text : text.toLocaleLowerCase(this.locale);
  }

  /** Returns a text with a capital first letter. */
  capitalize(text: string): string {
    return text.charAt(0).toLocaleUpperCase(this.locale) + text.slice(1);
  }

  list(items: readonly string[]): string {
    return this.#conjunction.format(items);
  }

  /** Lists values that are not text, such as elements. */
  splitList<Value>(values: readonly Value[]): Part<Value>[] {
    const parts = this.#conjunction.formatToParts(values.map((_, index) => String(index)));
    return parts.map(({ type, value }) =>
      type === "element" ? { value: values[Number(value)] as Value } : { text: value },
    );
  }

  number(count: number): string {
    return this.#isEnglish ? formatCount(count) : this.#format({ maximumFractionDigits: 0 }, count);
  }

  /** Formats a ratio, rounded down to two decimals, so that 100 % means no failure; `–` for none. */
  percent(ratio: number | null): string {
    if (this.#isEnglish || ratio === null) return formatPercent(ratio);
    if (ratio === 1) return this.#format({ style: "percent" }, 1);
    // The binary value of a hundredth of a percent can be slightly too small.
    const hundredths = Math.min(9_999, Math.floor(ratio * 10_000 + 1e-9));
    return this.#format({ style: "percent", minimumFractionDigits: 2 }, hundredths / 10_000);
  }

  /** Formats a duration in its two largest units, such as `3 h 20 min`. */
  duration(seconds: number): string {
    if (this.#isEnglish) return formatDuration(seconds);
    const first = units.findIndex(([, length]) => seconds >= length);
    if (first === -1) return `<${this.#formatUnit(1, "second")}`;
    let secondsLeft = seconds;
    return units
      .slice(first, first + 2)
      .flatMap(([unit, length]) => {
        const count = Math.floor(secondsLeft / length);
        secondsLeft -= count * length;
        return count === 0 ? [] : [this.#formatUnit(count, unit)];
      })
      .join(" ");
  }

  /** Formats a latency, such as `84 ms`, or `12.4 s` from ten seconds; `–` for none. */
  latency(ms: number | null): string {
    if (this.#isEnglish || ms === null) return formatLatency(ms);
    if (ms < 1) return `<${this.#formatUnit(1, "millisecond")}`;
    return ms < 10_000
      ? this.#formatUnit(Math.round(ms), "millisecond")
      : this.#format(
          {
            style: "unit",
            unit: "second",
            unitDisplay: "short",
            minimumFractionDigits: 1,
            maximumFractionDigits: 1,
          },
          ms / 1000,
        );
  }

  /** Formats a time in the future, such as `in 10 minutes`. */
  fromNow(count: number, unit: "second" | "minute" | "hour"): string {
    if (this.#isEnglish) return formatFromNow(count, unit);
    return new Intl.RelativeTimeFormat(this.locale).format(count, unit);
  }

  #formatUnit(count: number, unit: string): string {
    return this.#format({ style: "unit", unit, unitDisplay: "short" }, count);
  }

  #format(options: Intl.NumberFormatOptions, value: number): string {
    const key = JSON.stringify(options);
    const format = this.#numbers.get(key) ?? new Intl.NumberFormat(this.locale, options);
    this.#numbers.set(key, format);
    return format.format(value);
  }
}

function formatFromNow(count: number, unit: string): string {
  if (count === 1) return `in ${unit === "hour" ? "an" : "a"} ${unit}`;
  return `in ${count === 10 ? "ten" : count} ${unit}s`;
}

const hasOtherLetters = /(?![\u0590-\u08ff\ufb1d-\ufefc])\p{L}/u;

/**
 * Wraps a text in the characters FSI and PDI (UAX #9), unless all its letters are right-to-left. Otherwise a line that
 * contains only isolates would be left-to-right.
 */
const isolate = (text: string) => (hasOtherLetters.test(text) ? `\u2068${text}\u2069` : text);

const fillText = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.includes("{")
    ? text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""))
    : text;

function splitText<Value>(text: string, values: Readonly<Record<string, Value>>): Part<Value>[] {
  return text.split(placeholder).flatMap((piece, index): Part<Value>[] => {
    if (index % 2 === 1) return [{ value: values[piece] as Value }];
    return piece === "" ? [] : [{ text: piece }];
  });
}

export type { PageLanguage };
