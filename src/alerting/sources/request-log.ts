/** Logs the requests to alert sources. Equal ones in a row are one entry, so that they do not displace others. */
import { AppError } from "../../core/errors.ts";
import { createId, sha256 } from "../../core/ids.ts";
import { hourMs } from "../../core/time/clock.ts";
import type { Statement } from "../../database/store.ts";
import { httpStatuses } from "../../http/responses/error-response.ts";
import type { Report } from "./report-rules.ts";
import type { SourceChange } from "./rules.ts";
import {
  countEqualRequests,
  insertSourceRequest,
  type RequestRow,
  type SourceRow,
} from "./store.ts";

/** A request as it is logged. */
export type ReceivedRequest = {
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Null if it was no text, or too long. */
  body: string | null;
  bytes: number;
};

export type SourceOutcome = { id: string; message: string; changes: readonly SourceChange[] };

/** A request with its reports, or with the error or sentence with which it ends without any. */
export type IncomingRequest = {
  source: Pick<SourceRow, "organizationId" | "id">;
  /** Null for the end of problems that are no longer reported. */
  request: ReceivedRequest | null;
  reports: readonly Report[];
  error?: AppError;
  message?: string;
  replayOf?: string;
};

/** Requests are added to an entry for this time. It is much shorter than the retention of the log. */
const mergeWindowMs = hourMs;

/** The newest entry of a source. */
export type NewestEntry = { id: string; startedAt: number; digest: string };

type Row = Omit<RequestRow, "seq">;
type HandledRequest = { incoming: IncomingRequest; outcome: SourceOutcome | AppError | undefined };

/** Plans the log entries of requests to a source, in their order. Returns its newest entry after that. */
export function planRequestLog(
  source: Pick<SourceRow, "organizationId" | "id">,
  handled: readonly HandledRequest[],
  newest: NewestEntry | undefined,
  { now, at }: { now: number; at: string },
): { statements: Statement[]; newest: NewestEntry | undefined } {
  const rows: Row[] = [];
  let last = newest;
  let repeatedRow: Row | null = null;
  for (const one of handled) {
    const row = createRow(source, one, at);
    if (row === null) continue;
    const { path, headers, body, bytes, status, outcome } = row;
    const digest = sha256(JSON.stringify([path, headers, body, bytes, status, outcome]));
    const isEqual = last?.digest === digest && now - last.startedAt < mergeWindowMs;
    const entry = rows.at(-1);
    if (!isEqual || row.replayOf !== null) {
      rows.push(row);
      // A replay remains a separate entry.
      last = row.replayOf === null ? { id: row.id, startedAt: now, digest } : undefined;
    } else if (entry !== undefined) {
      entry.count += 1;
      entry.lastAt = at;
    } else if (repeatedRow === null) repeatedRow = { ...row, id: last?.id ?? row.id };
    else repeatedRow.count += 1;
  }
  return {
    statements: [
      ...(repeatedRow === null ? [] : [countEqualRequests(repeatedRow)]),
      ...rows.map(insertSourceRequest),
    ],
    newest: last,
  };
}

function createRow(
  { organizationId, id: sourceId }: Pick<SourceRow, "organizationId" | "id">,
  { incoming: { request, replayOf }, outcome }: HandledRequest,
  at: string,
): Row | null {
  if (request === null) return null;
  const isError = outcome instanceof AppError;
  return {
    organizationId,
    sourceId,
    id: isError || outcome === undefined ? createId(Date.parse(at)) : outcome.id,
    at,
    count: 1,
    lastAt: null,
    path: request.path,
    headers: JSON.stringify(request.headers),
    body: request.body,
    bytes: request.bytes,
    status: isError ? httpStatuses[outcome.code] : 200,
    outcome: isError ? describeError(outcome) : (outcome?.message ?? ""),
    replayOf: replayOf ?? null,
  };
}

/** Describes an error with all fields that it names. Its message names the first one. */
export function describeError({ message, details = [] }: AppError): string {
  const others = details.slice(1).map(({ path, message: issue }) => ` ${path} ${issue}.`);
  return message + others.join("");
}
