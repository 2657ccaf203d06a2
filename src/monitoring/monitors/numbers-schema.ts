/** Schema of a monitor's number: a value of its result with limits, such as the length of a queue. */
import { z } from "zod";
import { line, nullable } from "../../core/fields.ts";
import { largestNumber } from "../../core/text/decimals.ts";
import { JsonPath } from "./assertions-schema.ts";

const createLimitField = () => nullable(z.number().min(-largestNumber).max(largestNumber));

const naming = {
  name: line(60).meta({ example: "Queue depth" }),
  unit: nullable(line(20)),
};
const limits = {
  direction: z.enum(["above", "below"]).default("above").meta({
    description: "On which side of a limit the number is a problem. The limit itself is not.",
  }),
  degradedLimit: createLimitField().meta({ description: "The monitor is degraded beyond it." }),
  downLimit: createLimitField().meta({ description: "The check fails beyond it." }),
  returnAt: createLimitField().meta({
    description:
      "After a limit, the monitor is up again only at this number. Null for the limit itself.",
  }),
};

type Limits = {
  direction: "above" | "below";
  degradedLimit: number | null;
  downLimit: number | null;
  returnAt: number | null;
};

function refineLimits(
  { direction, degradedLimit, downLimit, returnAt }: Limits,
  context: z.RefinementCtx,
) {
  const addIssue = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  const [least, most] = direction === "above" ? ["at least", "at most"] : ["at most", "at least"];
  const isPast = (one: number, other: number) =>
    direction === "above" ? one > other : one < other;
  if (degradedLimit !== null && downLimit !== null && isPast(degradedLimit, downLimit))
    addIssue("downLimit", `must be ${least} degradedLimit`);
  const first = degradedLimit ?? downLimit;
  if (returnAt === null) return;
  if (first === null) addIssue("returnAt", "needs a degradedLimit or a downLimit");
  else if (isPast(returnAt, first)) addIssue("returnAt", `must be ${most} the first limit`);
}

const createNumberMeta = (source: string) => ({
  description: `A number of the result to store, chart and judge: ${source}. Without a number, each limit counts as exceeded.`,
});

/** The number in a JSON document, or the whole text. */
export const createJsonNumber = (source: string) =>
  nullable(
    z
      .strictObject({ ...naming, path: nullable(JsonPath), ...limits })
      .superRefine(refineLimits)
      .meta(createNumberMeta(source)),
  );

/** The number that is the whole text of the result. */
export const createTextNumber = (source: string) =>
  nullable(
    z
      .strictObject({ ...naming, ...limits })
      .superRefine(refineLimits)
      .meta(createNumberMeta(source)),
  );

/** Creates the field for a limit on one of the details of the result. */
export const createDetailNumber = <const N extends string>(...names: readonly [N, ...N[]]) =>
  nullable(
    z
      .strictObject({
        ...naming,
        path: z
          .enum(names)
          .default(names[0] as never)
          .meta({ description: "A detail of the check." }),
        ...limits,
      })
      .superRefine(refineLimits)
      .meta(createNumberMeta("one of its `details`")),
  );

/** The rule of a monitor's number. `path` is absent where the result is a single text. */
export type NumberRule = Limits & { name: string; unit: string | null; path?: string | null };
