import { AppError } from "../core/errors.ts";
import type { Statement } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import type { Fields } from "../core/collections/objects.ts";
import type { Planned } from "./plan.ts";
import type { Noun } from "./rules.ts";

/** What a record needs of the others, and of the import. */
export type Making = {
  scope: Scope;
  now: number;
  at: string;
  /** Ids here of what has these ids there; what was not taken is left out. */
  idsOf: (noun: Noun, externalIds: readonly string[]) => string[];
  /** The number that a new monitor's results were written under. */
  keyOf: (externalId: string) => number | undefined;
  /** Push tokens of monitors that are not of this source. */
  tokensInUse: ReadonlySet<string>;
  picture: (path: string) => Promise<{ type: string; bytes: Uint8Array } | null>;
};

/** How a record comes to be, or to be what it is there by now. */
export type Made = {
  id: string;
  statements: Statement[];
  notes: string[];
  /** Paused or disabled, since something is missing here. */
  isIncomplete?: boolean;
};

type Changed = {
  fields: Fields;
  links: Record<string, readonly string[]>;
  has: (name: string) => boolean;
};

export type Maker = {
  create(planned: Planned, making: Making): Promise<Made>;
  /** Changes what has changed there, and nothing else; null where the record is gone. */
  update(
    planned: Planned,
    id: string,
    changed: Changed,
    making: Making,
  ): Promise<Omit<Made, "id"> | null>;
};

export const names = (links: Planned["links"], name: string) => links[name] ?? [];

/** Throws what is to be said of an address that must not be connected to. */
export async function refusalOf(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
