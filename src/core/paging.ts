import { z } from "zod";

const maxPerPage = 100;

/** Digits only, so that `1e3`, `0x10` or an empty text never become a number by coercion; a client writes them from a number. */
const PositiveInteger: z.ZodType<number, string | number> = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, "must be a whole number from 1")
  .transform(Number);

/** The same from 0. */
export const WholeNumber: z.ZodType<number, string | number> = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})$/, "must be a whole number")
  .transform(Number);

const inDocument = (description: string, value: number) => ({
  override: { type: "integer" as const, minimum: 1, default: value, description },
});

/** How many of something a client wants: more than `max` is lowered to it. */
export function countUpTo(max: number, usual: number, what: string) {
  return PositiveInteger.transform((count) => Math.min(count, max))
    .default(usual)
    .meta(inDocument(`${what}; more than ${max} is lowered to ${max}.`, usual));
}

/** Query fields of every paged list. */
export const pageFields = {
  page: PositiveInteger.default(1).meta(inDocument("Page, from 1.", 1)),
  per_page: countUpTo(maxPerPage, 20, "Entries a page"),
};

export type PageRequest = { page: number; per_page: number };

/** Rows to skip; capped at 2^53 − 1, far beyond any end. */
export function offsetOf({ page, per_page }: PageRequest): number {
  return Math.min((page - 1) * per_page, Number.MAX_SAFE_INTEGER);
}

/** The answer of a paged list. */
export const pageOf = <T extends z.ZodType>(element: T) =>
  z.object({
    data: z.array(element),
    meta: z.object({ page: z.int(), per_page: z.int(), total: z.int() }),
  });

/** Wraps one page for the wire. */
export function page<T>({ page, per_page }: PageRequest, data: T[], total: number) {
  return { data, meta: { page, per_page, total } };
}

/** The answer with one record. */
export const dataOf = <T extends z.ZodType>(element: T) => z.object({ data: element });

export const Deleted = z.object({ data: z.object({ deleted: z.literal(true) }) });

/** The body of every DELETE's answer. */
export const deleted = { data: { deleted: true as const } };
