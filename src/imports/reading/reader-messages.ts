import type { ErrorCode, ErrorDetail } from "../../core/errors.ts";
import type { OpeningHere } from "./opened.ts";
import type { NotTaken, Plan, Planned } from "../plan.ts";
import type { ImportSource } from "../schema.ts";

/*
 * What the process that reads a file and the process that imports it say to each other: one line of JSON
 * per request and per response. The importing process asks for one batch at a time.
 */

/** The argument that starts the reading process. */
export const readerCommand = "read-import";

/** Bytes of a batch of records; a longer record is a batch of its own. */
export const batchBytes = 128 * 1024;
/** Results of a batch: about as many bytes, and 0.6 MB where each has the longest message. */
export const resultsOfBatch = 1_000;

export type OpenRequest = { call: "open"; source: ImportSource; from: string } & OpeningHere;

/** `plan`, `beats` and `sums` return the first batch of a list, `next` the following ones; null after the last. */
export type ReaderRequest =
  | OpenRequest
  | { call: "plan" }
  | { call: "beats"; since: number }
  | { call: "sums"; unit: "hours" | "days" }
  | { call: "next" }
  | { call: "picture"; path: string };

/** A plan without its lists. */
export type PlanHead = Pick<Plan, "source" | "product" | "smtp"> & {
  /** Null without a history. */
  history: { total: number; hasSums: boolean } | null;
};

export type PlanPart = { record: Planned } | { notTaken: NotTaken } | { hint: string };

export type ReaderResponse =
  | { value: unknown }
  | { error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] } };
