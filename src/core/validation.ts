/** Parses input with zod, and converts zod's issues to API errors. */
import type { z } from "zod";
import { AppError, type ErrorDetail } from "./errors.ts";
import { excerptText, formatFieldPath } from "./text/formatting.ts";

const maxDetails = 20;

const typeNames: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Describes the valid values of a field. Never includes the submitted value. */
function describeRequirement(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${typeNames[issue.expected] ?? issue.expected}${describeUnit(issue)}`;
    case "too_small":
      return `must ${describeBound(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${describeBound(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_value":
      return issue.input === undefined
        ? "is required"
        : `must be one of: ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      return `must be a valid ${issue.format}`;
    default:
      return "is not valid";
  }
}

/** Explains why a text such as `60s` is not a number. */
const describeUnit = ({ expected, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>) =>
  (expected === "number" || expected === "int") &&
  typeof input === "string" &&
  /^\d{1,9}(\.\d{1,9})? ?[a-z]{1,12}$/i.test(input)
    ? " without a unit"
    : "";

function describeBound(origin: string, limit: string, count: number): string {
  if (origin === "string" && limit === "at least" && count === 1) return "not be empty";
  const plural = count === 1 ? "" : "s";
  if (origin === "string") return `have ${limit} ${count} character${plural}`;
  if (origin === "array" || origin === "set")
    return `have ${limit} ${count} ${count === 1 ? "entry" : "entries"}`;
  return `be ${limit} ${count}`;
}

function buildDetails(issues: readonly z.core.$ZodIssue[], whole: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of issues) {
    if (details.length >= maxDetails) break;
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys.slice(0, maxDetails - details.length))
        details.push({
          path: excerptText(formatFieldPath([...issue.path, key])),
          message: "is not a field of this resource",
        });
    } else {
      details.push({
        path: excerptText(formatFieldPath(issue.path)) || whole,
        message: issue.message,
      });
    }
  }
  return details;
}

/** Parses a value. Throws VALIDATION_ERROR with the invalid fields; `whole` is the path of the value itself. */
export function parse<T extends z.ZodType>(
  schema: T,
  value: unknown,
  whole = "body",
  context: z.core.ParseContext = {},
): z.output<T> {
  const result = schema.safeParse(value, { ...context, error: describeRequirement });
  if (result.success) return result.data;
  throw validationError(buildDetails(result.error.issues, whole));
}

/** Returns the first issue of a value in the words of the API; null if the value is valid. */
export function findFirstIssue(
  schema: z.ZodType,
  value: unknown,
): { path: PropertyKey[]; message: string } | null {
  const result = schema.safeParse(value, { error: describeRequirement });
  const [issue] = result.error?.issues ?? [];
  return issue === undefined ? null : { path: issue.path, message: issue.message };
}

export function validationError(details: readonly ErrorDetail[]): AppError {
  const [first] = details;
  const message =
    first === undefined ? "The request is not valid." : `${first.path} ${first.message}.`;
  return new AppError("VALIDATION_ERROR", message, { details: details.slice(0, maxDetails) });
}

/** Creates a VALIDATION_ERROR for one field. */
export function invalidFieldError(path: string, message: string): AppError {
  return validationError([{ path, message }]);
}
