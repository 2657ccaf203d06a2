/** Types and helpers that the makers of imported records share. */
import { AppError } from "../core/errors.ts";
import type { ChangedField } from "../core/field-changes.ts";
import type { Statement } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import type { Fields } from "../core/collections/objects.ts";
import type { PlannedRecord } from "./plan.ts";
import type { Noun } from "./rules.ts";

/** Context for creating or updating one imported record. */
export type MakingContext = {
  scope: Scope;
  now: number;
  at: string;
  /** Maps IDs of the source to IDs of this organization. Records that were not imported are omitted. */
  idsOf: (noun: Noun, externalIds: readonly string[]) => string[];
  /** Key of a new monitor's heartbeats. */
  keyOf: (externalId: string) => number | undefined;
  /** Hashes of the push tokens that other monitors have, here or earlier in the import. */
  tokensInUse: Set<string>;
  picture: (path: string) => Promise<{ type: string; bytes: Uint8Array } | null>;
};

/** A created or updated record, with its statements. */
export type MakerResult = {
  id: string;
  statements: Statement[];
  notes: string[];
  /** Whether the record is paused or disabled because a required part is missing. */
  isIncomplete?: boolean;
  /** Changed fields, for the audit log. Without it, the fields that changed in the source are listed. */
  changes?: ChangedField[];
};

type ChangedRecord = {
  fields: Fields;
  links: Record<string, readonly string[]>;
  has: (name: string) => boolean;
};

export type RecordMaker = {
  create(planned: PlannedRecord, context: MakingContext): Promise<MakerResult>;
  /** Applies only the fields that changed in the source. Returns null if the record was deleted. */
  update(
    planned: PlannedRecord,
    id: string,
    changed: ChangedRecord,
    context: MakingContext,
  ): Promise<Omit<MakerResult, "id"> | null>;
};

export const getLinkedIds = (links: PlannedRecord["links"], name: string) => links[name] ?? [];

/** Returns the message if the check rejects an address; null if it passes. */
export async function findRefusal(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
