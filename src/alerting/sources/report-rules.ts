/** Defines the reports of a request to an alert source, and reads values of untyped JSON. */
import { createLookup } from "../../core/collections/objects.ts";
import type { Priority } from "../../core/statuses.ts";
import { invalidFieldError } from "../../core/validation.ts";

export type ReportStatus = "open" | "acknowledged" | "resolved";

/** One problem in a request, in the same form for all tools. */
export type Report = {
  /** The sender's identity of the problem. All reports with the same key are about the same alert. */
  key: string;
  status: ReportStatus;
  /** One line. Empty if the sender names none; a resolved problem needs no title. */
  title: string;
  text: string;
  /** Null if the sender names none. */
  priority: Priority | null;
  /** Page of the sender with more details. */
  link: string | null;
  /** Start of the problem according to the sender. It separates late reports from new problems. Null if unknown. */
  episode?: string | null;
  /** Whether `episode` is the time of this change of state. A report that is not newer than the last one is late. */
  isTimed?: boolean;
};

/** A request, as dialects read it. */
export type SourceRequest = {
  /** Path after the token, or of the tool's own API; empty for the address itself. */
  path: string;
  query: URLSearchParams;
  /** Headers that dialects read, in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or the fields of a form. */
  body: unknown;
};

/** Reads the reports of one tool's requests. Throws VALIDATION_ERROR with the field that is missing or wrong. */
export type ReadReports = (request: SourceRequest) => Report[];

export type Json = Readonly<Record<string, unknown>>;

/** Returns an object; an empty one for anything else. */
export const toJsonObject = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns a text without blanks at its ends. Numbers and booleans are texts, too; anything else is empty. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Returns the first of these values that is a text and not empty. */
export const pickText = (...values: readonly unknown[]): string =>
  values.map(toText).find((text) => text !== "") ?? "";

/** Returns a text that must not be empty. Throws VALIDATION_ERROR. */
export function requireText(value: unknown, field: string): string {
  const text = toText(value);
  if (text === "") throw invalidFieldError(field, "is required");
  return text;
}

/**
 * Returns the first address that starts with http:// or https://; null for none. Invisible characters, such as those that
 * change the writing direction, are percent-encoded, because the address is shown next to other text.
 */
export function pickLink(...values: readonly unknown[]): string | null {
  const link = values
    .map(toText)
    .find((text) => /^https?:\/\/[^\s]+$/i.test(text) && text.length <= 2_000);
  return link?.replace(/[\p{Cc}\p{Cf}]/gu, encodeURIComponent) ?? null;
}

const priorities: Readonly<Record<string, Priority>> = createLookup({
  critical: "critical",
  crit: "critical",
  disaster: "critical",
  emergency: "critical",
  fatal: "critical",
  page: "critical",
  high: "critical",
  down: "critical",
  p1: "critical",
  error: "normal",
  major: "normal",
  average: "normal",
  medium: "normal",
  warning: "normal",
  warn: "normal",
  p2: "normal",
  p3: "normal",
  minor: "low",
  low: "low",
  info: "low",
  information: "low",
  informational: "low",
  notice: "low",
  debug: "low",
  none: "low",
  p4: "low",
  p5: "low",
});

/** Returns the priority for a severity that a tool names; null for an unknown one. */
export const parsePriority = (severity: unknown): Priority | null =>
  priorities[toText(severity).toLowerCase()] ?? null;

/** Joins the texts that are not empty, one per line. */
export const joinLines = (...lines: readonly unknown[]): string =>
  lines
    .map(toText)
    .filter((line) => line !== "")
    .join("\n");
