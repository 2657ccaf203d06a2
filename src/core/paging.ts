/** Query parameters and responses of paged lists. */
import { z } from "zod";

const maxPerPage = 100;

/**
 * Accepts only digits, because coercion would turn `1e3`, `0x10` or an empty text into a number. A number that can't be
 * represented is lowered: there is no page beyond it.
 */
const PositiveInteger: z.ZodType<number, string | number> = z
  .string()
  .regex(/^[1-9][0-9]{0,99}$/, "must be a whole number from 1")
  .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER));

/** A whole number from 0, without coercion. */
export const WholeNumber: z.ZodType<number, string | number> = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})$/, "must be a whole number")
  .transform(Number);

const describeInteger = (description: string, value: number) => ({
  override: { type: "integer" as const, minimum: 1, default: value, description },
});

/** A requested number of entries. A value above `max` is lowered to `max`. */
export function createCountField(max: number, defaultCount: number, itemDescription: string) {
  return PositiveInteger.transform((count) => Math.min(count, max))
    .default(defaultCount)
    .meta(
      describeInteger(`${itemDescription}; more than ${max} is lowered to ${max}.`, defaultCount),
    );
}

/** Query parameters of every paged list. */
export const pageFields = {
  page: PositiveInteger.default(1).meta(describeInteger("Page, from 1.", 1)),
  per_page: createCountField(maxPerPage, 20, "Entries a page"),
};

export type PageRequest = { page: number; per_page: number };

/** Number of rows to skip, at most 2^53 − 1. */
export function computeOffset({ page, per_page }: PageRequest): number {
  return Math.min((page - 1) * per_page, Number.MAX_SAFE_INTEGER);
}

/** Response of a paged list. */
export const pageSchema = <T extends z.ZodType>(element: T) =>
  z.object({
    data: z.array(element),
    meta: z.object({ page: z.int(), per_page: z.int(), total: z.int() }),
  });

/** Creates the response of one page. */
export function buildPage<T>({ page, per_page }: PageRequest, data: T[], total: number) {
  return { data, meta: { page, per_page, total } };
}

/** Response with one record. */
export const dataSchema = <T extends z.ZodType>(element: T) => z.object({ data: element });

export const Deleted = z.object({ data: z.object({ deleted: z.literal(true) }) });

/** Response body of every DELETE. */
export const deletedBody = { data: { deleted: true as const } };
