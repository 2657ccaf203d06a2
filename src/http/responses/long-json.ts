/** Parses long JSON bodies in slices of the event loop. */
import { setOwn } from "../../core/collections/objects.ts";
import { AppError } from "../../core/errors.ts";
import { tooManyDigitsIssue } from "../../core/text/decimals.ts";
import { findLossyInteger } from "../../core/text/exact-json.ts";
import { findRepeatedName } from "../../core/text/json.ts";
import { configurationBounds, requestBounds } from "../../core/limits.ts";
import { excerptText, formatFieldPath } from "../../core/text/formatting.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";

/** Depth to which objects are parsed member by member: the document and its sections. */
const splitDepth = 2;
const turnMs = 5;
/** Characters that are scanned between two readings of the clock. */
const scannedCharacters = 16 * 1024;
/**
 * Length of an entry up to which the path of a repeated name is searched. In longer entries, only the entry is
 * reported.
 */
const searchedCharacters = 256 * 1024;

const maxNesting = requestBounds.nesting.value;
const maxList = requestBounds.listInBody.value;
const maxLists = configurationBounds.lists.value;
const maxMembers = configurationBounds.listEntries.value;
const maxEntryValues = configurationBounds.entryValues.value;
const maxString = configurationBounds.string.value;
const maxValues = configurationBounds.values.value;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

type Entry = { text: string; members: number };

/**
 * Parses a long JSON text entry by entry. Yields to the event loop between entries, and counts the values of an entry
 * before it is parsed. Throws INVALID_JSON, and VALIDATION_ERROR for repeated names and exceeded limits.
 */
export async function parseLongJson(text: string): Promise<unknown> {
  const reader = new LongJson(text);
  const value = await reader.readValue([]);
  reader.assertEnd();
  return value;
}

class LongJson {
  readonly #text: string;
  #at = 0;
  #values = 0;
  #since = performance.now();

  constructor(text: string) {
    this.#text = text;
  }

  /** Throws INVALID_JSON if text remains. */
  assertEnd() {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw notJsonError();
  }

  async readValue(path: readonly string[]): Promise<unknown> {
    this.#skipSpace();
    if (path.length < splitDepth && this.#code() === openBrace) return this.#parseObject(path);
    const entry = await this.#parseEntryText(path);
    const value = parseEntry(entry.text);
    if (countMembers(value) < entry.members)
      throw invalidFieldError(formatRepeatedPath(path, entry.text), onceIssue);
    const lossy = findLossyInteger(entry.text);
    if (lossy !== null) throw invalidFieldError(formatInnerPath(path, lossy), tooManyDigitsIssue);
    return value;
  }

  async #parseObject(path: readonly string[]): Promise<Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    const names = new Set<string>();
    this.#at++;
    for (let isFirst = true; ; isFirst = false) {
      this.#skipSpace();
      if (isFirst && this.#take(closeBrace)) return object;
      const name = this.#parseName(path);
      const at = [...path, name];
      if (names.has(name)) throw invalidFieldError(formatPath(at), onceIssue);
      const maxEntries = path.length === 0 ? maxLists : maxMembers;
      if (names.size === maxEntries)
        throw invalidFieldError(formatPath(path), formatMaximum(maxEntries, "entries"));
      names.add(name);
      this.#skipSpace();
      if (!this.#take(colon)) throw notJsonError();
      setOwn(object, name, await this.readValue(at));
      await this.#yield();
      this.#skipSpace();
      if (this.#take(closeBrace)) return object;
      if (!this.#take(comma)) throw notJsonError();
    }
  }

  #parseName(path: readonly string[]): string {
    if (this.#code() !== quote) throw notJsonError();
    const start = this.#at;
    this.#at = this.#endOfString(path, start);
    return String(parseEntry(this.#text.slice(start, this.#at)));
  }

  /** Returns the text of the next value, up to the first character that can't belong to it. */
  async #parseEntryText(path: readonly string[]): Promise<Entry> {
    const start = this.#at;
    const lists: number[] = [];
    let [members, values, checkedAt] = [0, 1, start];
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#at - checkedAt >= scannedCharacters) {
        checkedAt = this.#at;
        await this.#yield();
      }
      const code = this.#code();
      if (code === quote) this.#at = this.#endOfString(path, this.#at) - 1;
      else if (code === openBrace || code === openBracket) {
        lists.push(1);
        values++;
      } else if (code === closeBrace || code === closeBracket) {
        if (lists.length === 0) break;
        lists.pop();
      } else if (code === comma) {
        if (lists.length === 0) break;
        const length = (lists.pop() ?? 0) + 1;
        if (length > maxList)
          throw invalidFieldError(
            formatPath(path),
            `must have no list of more than ${maxList} entries`,
          );
        lists.push(length);
        values++;
      } else if (code === colon) members++;
      if (lists.length + path.length > maxNesting) throw tooDeepError();
      if (values > maxEntryValues)
        throw invalidFieldError(formatPath(path), formatMaximum(maxEntryValues, "values"));
    }
    this.#values += values;
    if (this.#values > maxValues)
      throw invalidFieldError("body", formatMaximum(maxValues, "values"));
    return { text: this.#text.slice(start, this.#at), members };
  }

  /** Returns the position after the string that starts here. */
  #endOfString(path: readonly string[], start: number): number {
    const limit = Math.min(this.#text.length, start + maxString + 2);
    for (let at = start + 1; at < limit; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === backslash) at++;
      else if (code === quote) return at + 1;
    }
    if (limit === this.#text.length) throw notJsonError();
    throw invalidFieldError(
      formatPath(path),
      `must have no text of more than ${maxString} characters`,
    );
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #take(code: number): boolean {
    const isNext = this.#code() === code;
    if (isNext) this.#at++;
    return isNext;
  }

  #skipSpace() {
    while (isSpace(this.#code())) this.#at++;
  }

  async #yield() {
    if (performance.now() - this.#since < turnMs) return;
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function parseEntry(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJsonError();
  }
}

/** Number of members in all objects of a value. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const entries = Object.values(value);
  const nameCount = Array.isArray(value) ? 0 : entries.length;
  return entries.reduce<number>((sum, entry) => sum + countMembers(entry), nameCount);
}

const onceIssue = "must be given only once";
const formatMaximum = (count: number, unit: string) => `must have at most ${count} ${unit}`;
const formatPath = (path: readonly string[]) => formatInnerPath(path, "");

function formatRepeatedPath(path: readonly string[], text: string): string {
  return formatInnerPath(
    path,
    text.length > searchedCharacters ? "" : (findRepeatedName(text) ?? ""),
  );
}

const formatInnerPath = (path: readonly string[], inner: string) =>
  excerptText([formatFieldPath(path), inner].filter(Boolean).join(".")) || "body";

export const notJsonError = () =>
  new AppError("INVALID_JSON", "The body is not valid JSON in UTF-8.");

export const tooDeepError = () =>
  new AppError("INVALID_JSON", `The body is nested deeper than ${maxNesting} levels.`);
