import type { Fields } from "../core/collections/objects.ts";
import type { Noun } from "./rules.ts";

/** A record as the source has it, in our words: where it names another one, by that one's id there. */
export type Planned = {
  noun: Noun;
  externalId: string;
  name: string;
  /** What a client would send to make it, without what it names. */
  fields: Fields;
  links: Record<string, readonly string[]>;
  /** What tells whether it has changed, where its fields depend on the day of the import, too. */
  basis?: unknown;
  /** What is not as it was, in sentences. */
  notes: string[];
  /** Whether it is paused, or disabled, because something that it needs is missing here. */
  isIncomplete?: boolean;
};

/** What is not taken, and why. */
export type NotTaken = { noun: string; externalId: string; name: string; notes: string[] };

/** Everything that a source has, in our words. Nothing of it is stored yet. */
export type Plan = {
  /** Tells one installation from another: the same records of the same source are updated. */
  source: string;
  /** As people call it, with its version. */
  product: string;
  records: Planned[];
  notTaken: NotTaken[];
  /** What concerns no single record. */
  hints: string[];
  /** The mail server that its e-mails go through; null for none. */
  smtp: Fields | null;
};

/** What a source remembers of checks, by the external id of the monitor. */
export type History = {
  /** How many rows there are, for the progress. */
  total: number;
  /** Batches in the order of the source. Beats older than `since` can be omitted. */
  beats(since: number): AsyncIterable<readonly Beat[]> | Iterable<readonly Beat[]>;
  /** Sums of whole hours and days; null where they have to be made of the beats. */
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

/** Checks of one hour or day, counted. */
export type Sum = {
  externalId: string;
  /** Whole hours or days since 1970. */
  period: number;
  up: number;
  down: number;
  maintenance: number;
  latency: { mean: number; min: number; max: number } | null;
};
