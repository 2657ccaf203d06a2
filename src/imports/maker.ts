import { AppError } from "../core/errors.ts";
import type { Statement } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import type { Fields } from "../core/collections/objects.ts";
import type { Planned } from "./plan.ts";
import type { Noun } from "./rules.ts";

/** Context for creating or updating one imported record. */
export type Making = {
  scope: Scope;
  now: number;
  at: string;
  /** Maps IDs of the source to IDs of this organization. Records that were not imported are omitted. */
  idsOf: (noun: Noun, externalIds: readonly string[]) => string[];
  /** Key of a new monitor's heartbeats. */
  keyOf: (externalId: string) => number | undefined;
  /** Push tokens of monitors that were not imported from this source. */
  tokensInUse: ReadonlySet<string>;
  picture: (path: string) => Promise<{ type: string; bytes: Uint8Array } | null>;
};

/** A created or updated record, with its statements. */
export type Made = {
  id: string;
  statements: Statement[];
  notes: string[];
  /** Whether the record is paused or disabled because a required part is missing. */
  isIncomplete?: boolean;
};

type Changed = {
  fields: Fields;
  links: Record<string, readonly string[]>;
  has: (name: string) => boolean;
};

export type Maker = {
  create(planned: Planned, making: Making): Promise<Made>;
  /** Applies only the fields that changed in the source. Returns null if the record was deleted. */
  update(
    planned: Planned,
    id: string,
    changed: Changed,
    making: Making,
  ): Promise<Omit<Made, "id"> | null>;
};

export const names = (links: Planned["links"], name: string) => links[name] ?? [];

/** Returns the message if the check rejects an address; null if it passes. */
export async function refusalOf(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
