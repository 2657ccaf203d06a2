/** Summarizes a collapsed section of a form in one line of text. */
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { parseMarkdown, renderText } from "../../../src/core/text/markdown.ts";
import { formatCount, formatDuration, formatLatency } from "../../../src/core/text/formatting.ts";
import { labelFromName, type describeField, formatOption } from "./field-kinds.ts";
import { t, tCount } from "../../language/text.ts";

type Field = {
  name: string;
  kind: ReturnType<typeof describeField>;
  labels: FieldLabels | undefined;
  value: unknown;
  /** Mentioned even if the value is the default. */
  isKey: boolean;
};

/** Summarizes fields in one line: key fields, and fields whose values differ from the defaults. */
export function summarizeFields(fields: readonly Field[]): string {
  return fields
    .filter(({ isKey, kind, value }) => isKey || !isUsual(value, kind.initial))
    .flatMap((field) => describeValue(field) ?? [])
    .join(" · ");
}

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

const isUsual = (value: unknown, initial: unknown) =>
  (isEmpty(value) && isEmpty(initial)) || JSON.stringify(value) === JSON.stringify(initial);

/** Shows a range of numbers, such as of HTTP statuses, as elsewhere: 200–299. */
const formatRange = (text: string): string => text.replace(/^(\d+)-(\d+)$/, "$1–$2");

function describeValue({ name, kind, labels, value }: Field): string | null {
  const label = labels?.label ?? labelFromName(name);
  if (kind.secret) return isEmpty(value) ? null : label;
  if (typeof value === "boolean") return value ? label : t("{label}: no", { label });
  if (isEmpty(value))
    return kind.initial == null || kind.initial === "" ? null : t("{label}: none", { label });
  switch (kind.control) {
    case "number":
      return `${label} ${formatAmount(Number(value), labels?.unit)}`;
    case "choice":
      return `${label}: ${labels?.options?.[value as string] ?? formatOption(value as string)}`;
    case "list":
      return `${label}: ${(value as string[]).map(formatRange).join(", ")}`;
    case "assertions":
      return tCount((value as object[]).length, "{count} assertion", "{count} assertions");
    case "headers":
      return countItems(Object.keys(value as object).length, labels?.item ?? t("header"));
    case "records":
      return countItems((value as object[]).length, labels?.item ?? label);
    case "object":
      return label;
    default:
      if (labels?.markdown === true) return renderText(parseMarkdown(value as string));
      // Only the name: long values such as certificates are unreadable in one line.
      if (labels?.named === true) return label;
      return `${label}: ${String(value as string)}`;
  }
}

const countItems = (count: number, item: string) =>
  tCount(count, "{count} {item}", "{count} {item}s", { item });

function formatAmount(value: number, unit: string | undefined): string {
  if (unit === "s") return formatDuration(value);
  if (unit === "ms") return formatLatency(value);
  return unit === undefined ? formatCount(value) : `${formatCount(value)} ${unit}`;
}
