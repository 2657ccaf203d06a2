import type { ErrorCode, ErrorDetail } from "../../core/errors.ts";
import type { SourceOptions } from "./open-source.ts";
import type { NotTaken, Plan, PlannedRecord } from "../plan.ts";
import type { ImportSource } from "../schema.ts";

/*
 * Messages between the importing process and the reading process: one line of JSON per request and per response. The
 * importing process requests one batch at a time.
 */

/** The argument that starts the reading process. */
export const readerCommand = "read-import";

/** Size of a batch of records, in bytes of JSON. A larger record is sent alone. */
export const batchBytes = 128 * 1024;
/** Heartbeats per batch. With messages of maximum length, a batch has 0.6 MB. */
export const resultsPerBatch = 1_000;

export type OpenRequest = { call: "open"; source: ImportSource; from: string } & SourceOptions;

/** `plan`, `beats` and `sums` return the first batch of a list. `next` returns the following batches, then null. */
export type ReaderRequest =
  | OpenRequest
  | { call: "plan" }
  | { call: "beats"; since: number }
  | { call: "sums"; unit: "hours" | "days" }
  | { call: "next" }
  | { call: "picture"; path: string };

/** A plan without its lists. */
export type PlanHead = Pick<Plan, "source" | "product" | "smtp"> & {
  /** Size of the history; null if there is none. */
  history: { total: number; hasSums: boolean } | null;
};

export type PlanPart = { record: PlannedRecord } | { notTaken: NotTaken } | { hint: string };

export type ReaderResponse =
  | { value: unknown }
  | { error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] } };
