/** Types of an import plan: the converted records and history of another monitoring tool. */
import type { Fields } from "../core/collections/objects.ts";
import type { Noun } from "./rules.ts";

/** A record of the source, converted to our fields. Links name other records by their IDs in the source. */
export type PlannedRecord = {
  noun: Noun;
  externalId: string;
  name: string;
  /** Fields of the request that would create the record, without links. */
  fields: Fields;
  links: Record<string, readonly string[]>;
  /** Compared instead of `fields` to detect changes, if `fields` depend on the day of the import. */
  basis?: unknown;
  /** Sentences about differences from the source. */
  notes: string[];
  /** Whether the record is paused or disabled because a required part is missing. */
  isIncomplete?: boolean;
};

/** A record that was not imported, with the reasons. */
export type NotTaken = { noun: string; externalId: string; name: string; notes: string[] };

/** Everything that is imported from a source. Nothing is stored yet. */
export type Plan = {
  /** ID of the installation. Repeated imports from it update the same records. */
  source: string;
  /** Product name with its version, for users. */
  product: string;
  records: PlannedRecord[];
  notTaken: NotTaken[];
  /** Sentences that do not concern a single record. */
  hints: string[];
  /** Mail server of the source; null if it has none. */
  smtp: Fields | null;
};

/** Check history of a source, by the external ID of the monitor. */
export type History = {
  /** Number of rows, for the progress bar. */
  total: number;
  /** Returns batches in the order of the source. Beats older than `since` can be omitted. */
  beats(since: number): AsyncIterable<readonly Beat[]> | Iterable<readonly Beat[]>;
  /** Returns hourly or daily totals. Null if the source has none; they are then computed from beats. */
  sums:
    ((unit: "hours" | "days") => AsyncIterable<readonly Sum[]> | Iterable<readonly Sum[]>) | null;
};

export type Beat = {
  externalId: string;
  /** Unix milliseconds. */
  at: number;
  status: "up" | "down" | "maintenance";
  latencyMs: number | null;
  message: string | null;
};

/** Totals of the checks of one hour or day. */
export type Sum = {
  externalId: string;
  /** Number of hours or days since 1970. */
  period: number;
  up: number;
  down: number;
  maintenance: number;
  latency: { mean: number; min: number; max: number } | null;
};
