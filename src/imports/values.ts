import type { z } from "zod";
import type { Fields } from "../core/collections/objects.ts";

/** A monitor or channel in our words, with what is not as it was. */
export type Converted = { fields: Fields; notes: string[]; isIncomplete: boolean };

export const text = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export const within = (value: number, min: number, max: number) =>
  Math.min(max, Math.max(min, value));

/** Why a record of ours can't be like this; null where it can. */
export function issueOf(schema: z.ZodType, input: Fields): string | null {
  const result = schema.safeParse(input);
  if (result.success) return null;
  const [issue] = result.error.issues;
  return `its field ${issue?.path.join(".")} can't be taken (${issue?.message ?? "not valid"})`;
}

/** One line of text that a record can have. */
export const clean = (value: string) =>
  value
    .toWellFormed()
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ")
    .trim();

/** Running text that a record can have. */
export const paragraphs = (value: string) =>
  value
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .trim();
