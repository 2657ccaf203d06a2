/** Schema of assertions: the part of a response, the operator and the expected value. */
import { z } from "zod";
import { isDecimal } from "../../core/text/decimals.ts";
import { monitorBounds } from "../../core/limits.ts";
import type { Scalar } from "../../core/text/placeholders.ts";
import { findFirstIssue } from "../../core/validation.ts";

export { parseExactNumber } from "../../core/text/decimals.ts";

const maxPerMonitor = monitorBounds.assertions.value;
const maxPath = monitorBounds.assertionPath.value;
const maxValueLength = monitorBounds.assertionValue.value;
const maxExpression = monitorBounds.assertionExpression.value;

const loneSurrogateIssue = "must be valid Unicode, without lone surrogates";
const createTextField = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed(), loneSurrogateIssue);

export const JsonPath = createTextField(maxPath)
  .regex(
    /^\$(\.[\p{L}_][\p{L}\p{N}_-]*|\[(0|[1-9]\d{0,8})\]|\['[^'\\\p{Cc}]*'\]|\["[^"\\\p{Cc}]*"\])*(\.length\(\))?$/u,
    "must be a path such as $.data.items[0]['state']: names, quoted names and indexes, at the end .length()",
  )
  .meta({ example: "$.status" });

const HeaderName = createTextField(maxPath).regex(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/,
  "must be the name of a header, such as Content-Type",
);

const orderOperators = [
  "lessThan",
  "lessThanOrEqual",
  "greaterThan",
  "greaterThanOrEqual",
] as const;
const compared = ["equals", "notEquals", ...orderOperators] as const;
const textOperators = ["contains", "notContains", "matches", "notMatches"] as const;
const presenceOperators = ["exists", "notExists"] as const;

export const assertionOps = [...compared, ...textOperators, ...presenceOperators] as const;
export type AssertionOp = (typeof assertionOps)[number];

/** Whether the operator compares numbers by size. */
export const isOrdered = (op: AssertionOp): boolean =>
  (orderOperators as readonly AssertionOp[]).includes(op);

type Source = {
  /** Operators that the source supports. */
  ops: readonly AssertionOp[];
  /** Schema of the path to a part of the source; null for a source without parts. */
  path: z.ZodType<string> | null;
  /** Type of the value. */
  is: "number" | "text" | "any";
};

/** Parts of a response that assertions can check. */
export const assertionSources = {
  status: { ops: compared, path: null, is: "number" },
  header: { ops: assertionOps, path: HeaderName, is: "text" },
  body: { ops: assertionOps, path: null, is: "text" },
  json: { ops: assertionOps, path: JsonPath, is: "any" },
  latency: { ops: compared, path: null, is: "number" },
  certificateDays: { ops: [...compared, ...presenceOperators], path: null, is: "number" },
  redirectCount: { ops: compared, path: null, is: "number" },
} as const satisfies Record<string, Source>;

export type AssertionSource = keyof typeof assertionSources;

/** Whether a text is a number with too many digits for a JSON number. */
const isLongNumber = (text: string) => text.length > 15 && isDecimal(text);

/** Returns why the value is invalid for the source and operator; null for a valid value. */
function findValueIssue(source: Source, op: AssertionOp, value: Scalar): string | null {
  const valueType = typeof value;
  switch (op) {
    case "exists":
    case "notExists":
      return value === null ? null : `must be null or left out: ${op} compares with nothing`;
    case "lessThan":
    case "lessThanOrEqual":
    case "greaterThan":
    case "greaterThanOrEqual": {
      const isLong = typeof value === "string" && source.is !== "number" && isLongNumber(value);
      return valueType === "number" || isLong ? null : `must be a number: ${op} compares numbers`;
    }
    case "matches":
    case "notMatches":
      if (valueType !== "string" || value === "") return "must be a regular expression";
      return Array.from(value as string).length > maxExpression
        ? `must have at most ${maxExpression} characters: it is a regular expression`
        : null;
    case "contains":
    case "notContains":
      if (value === null || value === "")
        return "must not be empty: it is the text or value to search for";
      return valueType === "string" || source.is === "any" ? null : "must be text in quotes";
    default:
      if (source.is === "number") return valueType === "number" ? null : "must be a number";
      return valueType === "string" || source.is === "any" ? null : "must be text in quotes";
  }
}

const assertionSchema = (sources: readonly [AssertionSource, ...AssertionSource[]]) =>
  z
    .strictObject({
      source: z.enum(sources).meta({
        description:
          "`latency` is in milliseconds, `certificateDays` are the days until the certificate expires.",
      }),
      path: createTextField(maxPath).nullable().default(null).meta({
        description:
          "The name of a `header`, or the path of a value in `json`; null for the others.",
      }),
      op: z.enum(assertionOps).meta({
        description:
          "`lessThan`, `lessThanOrEqual`, `greaterThan` and `greaterThanOrEqual` compare numbers, `matches` and `notMatches` take a regular expression in RE2 syntax. Without a value, only `notEquals`, `notContains`, `notMatches` and `notExists` hold.",
      }),
      value: z
        .union([createTextField(maxValueLength), z.number(), z.boolean()])
        .nullable()
        .default(null)
        .meta({
          description:
            'Of the type that is meant: `200`, `true` and `"200"` differ. Write a number that JSON readers would round as text, such as `"9007199254740993"`.',
        }),
    })
    .superRefine(({ source: name, path, op, value }, context) => {
      const addIssue = (field: string, message: string) =>
        context.addIssue({ code: "custom", path: [field], message });
      const source: Source = assertionSources[name];
      if (source.path === null) {
        if (path !== null) addIssue("path", `must be null or left out: ${name} has no parts`);
      } else {
        const issue = findFirstIssue(source.path, path ?? "");
        if (issue !== null) addIssue("path", issue.message);
      }
      if (!source.ops.includes(op))
        return addIssue("op", `must be one of: ${source.ops.join(", ")}, as the source is ${name}`);
      const wrong = findValueIssue(source, op, value);
      if (wrong !== null) addIssue("value", wrong);
    });

export const Assertion = assertionSchema(Object.keys(assertionSources) as [AssertionSource]).meta({
  id: "Assertion",
});
export type Assertion = z.infer<typeof Assertion>;

export const maxAssertions = maxPerMonitor;

/** Schema of assertions for a monitor type that supports only some sources. */
export const assertionsSchema = (...sources: readonly [AssertionSource, ...AssertionSource[]]) =>
  z
    .array(assertionSchema(sources))
    .max(maxAssertions)
    .meta({ description: "Conditions that the response must satisfy, all of them." });

export const Assertions = z
  .array(Assertion)
  .max(maxAssertions)
  .meta({
    description:
      "Further conditions that the response must satisfy, all of them. `expectedStatus`, `keyword`, `keywordAbsent`, `jsonPath` and `jsonEquals` are short forms of common conditions and apply as well.",
    example: [{ source: "json", path: "$.queue", op: "lessThan", value: 100 }],
  });
