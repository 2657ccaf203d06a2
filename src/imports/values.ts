import type { z } from "zod";
import type { Fields } from "../core/collections/objects.ts";
import { isBlank, truncateCodePoints } from "../core/text/formatting.ts";
import { findFirstIssue } from "../core/validation.ts";
import { isJsonTemplate } from "../core/text/placeholders.ts";

/** A converted monitor or channel, with notes about differences from the source. */
export type ConvertedRecord = { fields: Fields; notes: string[]; isIncomplete: boolean };

export const toText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export const clamp = (value: number, min: number, max: number) =>
  Math.min(max, Math.max(min, value));

/** Returns the first validation error of the input; null if it is valid. */
export function findIssue(schema: z.ZodType, input: Fields): string | null {
  const issue = findFirstIssue(schema, input);
  return issue && `its field ${issue.path.join(".")} can't be imported (${issue.message})`;
}

/** Returns the format of a webhook's body, in which its placeholders are escaped. */
export function findBodyType(body: string): "json" | "xml" | "form" | "text" {
  if (isJsonTemplate(body)) return "json";
  if (/^\s*<[?\w]/.test(body)) return "xml";
  return /^[\w.-]+=[^\s&]*(&[\w.-]+=[^\s&]*)*$/.test(body) ? "form" : "text";
}

/** Reduces text to one valid line of at most `max` characters; empty if nothing visible is left. */
export const toCleanLine = (value: string, max = Infinity) =>
  truncateVisible(
    value
      .toWellFormed()
      .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ")
      .trim(),
    max,
  );

/** Reduces text to valid paragraphs of at most `max` characters; empty if nothing visible is left. */
export const toParagraphs = (value: string, max = Infinity) =>
  truncateVisible(
    value
      .toWellFormed()
      .replace(/\r\n?/g, "\n")
      .replace(/[^\P{Cc}\n\t]/gu, " ")
      .trim(),
    max,
  );

const truncateVisible = (text: string, max: number) =>
  isBlank(text) ? "" : truncateCodePoints(text, max);
