/** Summarizes a collapsed section of a form in one line of text. */
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { parseMarkdown, toText } from "../../../src/core/text/markdown.ts";
import { countInWords, durationInWords, latencyInWords } from "../../../src/core/text/words.ts";
import { plural } from "../display/format.ts";
import { inWords, type kindOf, optionWords } from "./field-kinds.ts";

type Field = {
  name: string;
  kind: ReturnType<typeof kindOf>;
  labels: FieldLabels | undefined;
  value: unknown;
  /** Mentioned even if the value is the default. */
  isKey: boolean;
};

/** Summarizes fields in one line: key fields, and fields whose values differ from the defaults. */
export function summaryOf(fields: readonly Field[]): string {
  return fields
    .filter(({ isKey, kind, value }) => isKey || !isUsual(value, kind.initial))
    .flatMap((field) => wordsFor(field) ?? [])
    .join(" · ");
}

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

const isUsual = (value: unknown, initial: unknown) =>
  (isEmpty(value) && isEmpty(initial)) || JSON.stringify(value) === JSON.stringify(initial);

function wordsFor({ name, kind, labels, value }: Field): string | null {
  const label = labels?.label ?? inWords(name);
  if (kind.secret) return isEmpty(value) ? null : label;
  if (typeof value === "boolean") return value ? label : `${label}: no`;
  if (isEmpty(value)) return kind.initial == null || kind.initial === "" ? null : `${label}: none`;
  switch (kind.control) {
    case "number":
      return `${label} ${amountOf(Number(value), labels?.unit)}`;
    case "choice":
      return `${label}: ${labels?.options?.[value as string] ?? optionWords(value as string)}`;
    case "list":
      return `${label}: ${(value as string[]).join(", ")}`;
    case "assertions":
      return plural((value as object[]).length, "assertion");
    case "headers":
      return plural(Object.keys(value as object).length, labels?.item ?? "header");
    case "records":
      return plural((value as object[]).length, labels?.item ?? label);
    case "object":
      return label;
    default:
      if (labels?.markdown === true) return toText(parseMarkdown(value as string));
      // Only the name: long values such as certificates are unreadable in one line.
      if (labels?.named === true) return label;
      return `${label}: ${String(value as string)}`;
  }
}

function amountOf(value: number, unit: string | undefined): string {
  if (unit === "s") return durationInWords(value);
  if (unit === "ms") return latencyInWords(value);
  return unit === undefined ? countInWords(value) : `${countInWords(value)} ${unit}`;
}
