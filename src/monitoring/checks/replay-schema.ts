/** Wire format of a replay: what other thresholds would have changed. */
import { z } from "zod";
import { Timestamp } from "../../core/fields.ts";
import { WholeNumber } from "../../core/paging.ts";

/** Bounds of the thresholds, as text of a query. Without `degradedAfterMs`, slow checks are up. */
export const ReplayQuery = z.strictObject({
  retries: WholeNumber.pipe(z.int().min(0).max(10)),
  successThreshold: WholeNumber.pipe(z.int().min(1).max(10)),
  degradedAfterMs: WholeNumber.pipe(z.int().min(1).max(60_000)).optional(),
});
export type ReplayQuery = z.infer<typeof ReplayQuery>;

const Counts = z.object({
  /** Times at which the monitor went down. */
  outages: z.int(),
  /** Times at which the monitor became degraded. */
  slowPeriods: z.int(),
});

export const Replay = z.object({
  /** Start of the replayed checks; null without any. */
  from: Timestamp.nullable(),
  checks: z.int(),
  /** With the saved thresholds. */
  saved: Counts,
  /** With the requested thresholds. */
  requested: Counts,
  /** Outages of the saved thresholds during which the requested ones report none. */
  missed: z.int(),
  /** Duration of the longest missed outage. */
  longestMissedSeconds: z.int(),
});
export type Replay = z.infer<typeof Replay>;
