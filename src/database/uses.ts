import { AppError, type ErrorDetail } from "../core/errors.ts";

/** A record that refers to another one. `path` is its REST path below `/api/v1`. */
export type Use = { noun: string; path: string; name: string };

const maxListedUses = 5;

/** Creates the CONFLICT of a deletion. Lists the records that refer to the deleted one. */
export function inUseError(noun: string, uses: readonly Use[]): AppError {
  const names = uses.slice(0, maxListedUses).map((use) => `the ${use.noun} ${use.name}`);
  const more = uses.length - names.length;
  const where = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return new AppError("CONFLICT", `The ${noun} is used by ${where}. Remove it there first.`, {
    details: uses.map(({ path, name }): ErrorDetail => ({ path, message: name })),
  });
}
