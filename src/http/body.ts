/** Reads request bodies within limits, and parses their JSON. */
import { networkOf } from "../core/security/client-network.ts";
import { tooManyDigitsIssue } from "../core/text/decimals.ts";
import { findLossyInteger } from "../core/text/exact-json.ts";
import { findRepeatedName, measureJson } from "../core/text/json.ts";
import { AppError } from "../core/errors.ts";
import { excerptText, formatFieldPath } from "../core/text/formatting.ts";
import { requestBounds } from "../core/limits.ts";
import { invalidFieldError } from "../core/validation.ts";
import { createBudget } from "./access/budget.ts";
import { notJsonError, parseLongJson, tooDeepError } from "./responses/long-json.ts";
import { pathOf } from "./request.ts";
import { getOriginalRequest, replaceRequest } from "./original-request.ts";

const maxBytes = requestBounds.body.value;
const maxAccountBodyBytes = requestBounds.accountBody.value;
const maxDepth = requestBounds.nesting.value;
/** Paths that accept longer bodies, which are read after authentication. */
const longBodies = /\/api\/v1\/config\/?$|^\/(?:ping|in)\/|^\/v2\/(?:enqueue|alerts)/;
const maxEntries = requestBounds.listInBody.value;

const jsonType = "application/json";

const budgets = {
  known: createBudget(
    requestBounds.bodiesInFlight.value,
    requestBounds.bodiesInFlightPerOrganization.value,
  ),
  strangers: createBudget(
    requestBounds.bodiesInFlightWithoutKey.value,
    requestBounds.bodiesInFlightPerNetwork.value,
  ),
};

/** Client to whose budget a body counts: an organization, or a network with or without recent sign-ins. */
export type BodyClient = { organizationId: string } | { address: string; isKnown: boolean };

/**
 * Limits the body of a request, which Bun would buffer in memory. A body whose Content-Length exceeds the limit is
 * discarded; one without Content-Length is limited in `readBody`.
 */
export function boundBody(request: Request): Request {
  const isChunked = request.headers.has("transfer-encoding");
  if (!isChunked && lengthOf(request) <= maxBytes) return request;
  if (!isChunked && !longBodies.test(pathOf(request))) void request.body?.cancel();
  // Only for long bodies, because Bun creates the signal of a request on first access.
  const { url, method, headers, signal } = request;
  return replaceRequest(new Request(url, { method, headers, signal }), request);
}

function lengthOf({ headers }: Request): number {
  return Number(headers.get("content-length") ?? 0);
}

/**
 * Reads the body; empty if there is none. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or RATE_LIMITED if too
 * many bodies arrive at once.
 */
export async function readBody(
  request: Request,
  client: BodyClient,
  required: boolean,
  types: readonly string[] = [jsonType],
  maxBodyBytes = maxBytes,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = request.headers.get("content-length");
  const chunked = request.headers.has("transfer-encoding");
  const absent = !chunked && (length === null || length === "0");
  if (absent && !required) return new Uint8Array();
  assertMediaType(request, types);
  return readBytes(
    request,
    client,
    "organizationId" in client ? maxBodyBytes : maxAccountBodyBytes,
  );
}

/** Reads a body of any type. Throws PAYLOAD_TOO_LARGE, or RATE_LIMITED if too many bodies arrive at once. */
export async function readBytes(
  request: Request,
  client: BodyClient,
  maxLength: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunked = request.headers.has("transfer-encoding");
  if (lengthOf(request) > maxLength) throw tooLargeError(maxLength);
  if (!chunked && lengthOf(request) === 0) return new Uint8Array();
  const release = reserveBytes(client, chunked ? maxLength : lengthOf(request));
  try {
    const isStreamed = chunked || lengthOf(request) > maxBytes;
    return await (isStreamed
      ? readWithin(getOriginalRequest(request), maxLength, () => tooLargeError(maxLength))
      : request.bytes());
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("BAD_REQUEST", "The body did not arrive completely.");
  } finally {
    release();
  }
}

/** Reads a form of a visitor (application/x-www-form-urlencoded); empty if it is too long or does not arrive. */
export async function readForm(
  request: Request,
  address: string,
  maxLength: number,
): Promise<URLSearchParams> {
  const bytes = await readBytes(request, { address, isKnown: false }, maxLength).catch(() => null);
  return new URLSearchParams(new TextDecoder().decode(bytes ?? new Uint8Array()));
}

function reserveBytes(client: BodyClient, bytes: number): () => void {
  if ("organizationId" in client) return budgets.known.take(client.organizationId, bytes);
  const budget = client.isKnown ? budgets.known : budgets.strangers;
  return budget.take(networkOf(client.address), bytes);
}

/** Reads the start of a body of any type, and discards the rest. Throws RATE_LIMITED if too many bodies arrive at once. */
export async function readStart(
  request: Request,
  client: BodyClient,
  maxLength: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunked = request.headers.has("transfer-encoding");
  if (!chunked && lengthOf(request) === 0) return new Uint8Array();
  const release = reserveBytes(client, maxLength);
  const parts: Uint8Array[] = [];
  let total = 0;
  try {
    const reader = getOriginalRequest(request).body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      total += value.length;
      if (total < maxLength) continue;
      await reader.cancel();
      break;
    }
    return Buffer.concat(parts).subarray(0, maxLength);
  } catch {
    throw new AppError("BAD_REQUEST", "The body did not arrive completely.");
  } finally {
    release();
  }
}

/** Length of `{}`, which some clients send with every request. */
const emptyObjectBytes = 2;

/**
 * Throws VALIDATION_ERROR for a GET with a body. Bun drops such a body unread, although it could contain a filter.
 */
export function assertNoBody(request: Request) {
  const length = request.headers.get("content-length");
  const isEmpty = length === null || Number(length) <= emptyObjectBytes;
  if (!isEmpty || request.headers.has("transfer-encoding"))
    throw invalidFieldError("body", `is not read with ${request.method}; use query parameters`);
}

/** Returns the media type of a body in lower case; empty if it is invalid or not in UTF-8. */
export function parseMediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const type = /^\s*([a-z]+\/[a-z0-9.+-]+)\s*(;\s*charset\s*=\s*("utf-8"|utf-8)\s*)?;?\s*$/i.exec(
    header,
  )?.[1];
  return type?.toLowerCase() ?? "";
}

function assertMediaType(request: Request, types: readonly string[]) {
  if (!types.includes(parseMediaType(request)))
    throw new AppError(
      "UNSUPPORTED_MEDIA_TYPE",
      types.includes(jsonType)
        ? "The body must be JSON in UTF-8, sent with Content-Type: application/json."
        : `The body must be sent with one of these as its Content-Type: ${types.join(", ")}.`,
    );
  assertNotCompressed(request);
}

/** Throws UNSUPPORTED_MEDIA_TYPE for a compressed body. */
export function assertNotCompressed(request: Request) {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The body must not be compressed.");
}

function tooLargeError(maxBytes: number) {
  return new AppError("PAYLOAD_TOO_LARGE", `The body must have at most ${maxBytes / 1024} KiB.`);
}

/** Reads the body of a request or response, in pieces. Throws `createError()` if it is longer than `maxBytes`. */
export async function readWithin(
  { body }: Request | Response,
  maxBytes: number,
  createError: () => AppError,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let total = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    total += value.length;
    if (total > maxBytes) {
      await reader.cancel();
      throw createError();
    }
    parts.push(value);
  }
  return Buffer.concat(parts);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses JSON (RFC 8259) with at most 32 levels. A long body is parsed entry by entry. Throws INVALID_JSON, or
 * VALIDATION_ERROR for repeated names, too long lists, and numbers that would be rounded.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0)
    throw new AppError("INVALID_JSON", "The body is empty; send a JSON object.");
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw notJsonError();
  }
  if (bytes.length > maxBytes) return parseLongJson(text);
  const value = parseJsonText(text);
  const lossy = findLossyInteger(text);
  if (lossy !== null) throw invalidFieldError(excerptText(lossy) || "body", tooManyDigitsIssue);
  return value;
}

export function parseJsonText(text: string): unknown {
  // Checks the depth first, because JSON.parse and schemas are recursive.
  const { depth, members } = measureJson(text);
  if (depth > maxDepth) throw tooDeepError();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJsonError();
  }
  const counts = { members: 0 };
  assertBounded(value, [], counts);
  // JSON.parse returns only one value of a repeated name, so the parsed value has fewer members.
  const repeated = counts.members < members ? findRepeatedName(text) : null;
  if (repeated !== null) throw invalidFieldError(excerptText(repeated), "must be given only once");
  return value;
}

type Counts = { members: number };

/** Adds the members of a value to the counts. Throws VALIDATION_ERROR for a list that is too long. */
function assertBounded(value: unknown, path: PropertyKey[], counts: Counts) {
  if (typeof value !== "object" || value === null) return;
  const entries = Array.isArray(value) ? value : Object.values(value);
  if (entries.length > maxEntries)
    throw invalidFieldError(
      excerptText(formatFieldPath(path)) || "body",
      `must have at most ${maxEntries} entries`,
    );
  const names = Array.isArray(value) ? null : Object.keys(value);
  if (names !== null) counts.members += names.length;
  for (const [index, entry] of entries.entries())
    if (typeof entry === "object" && entry !== null) {
      path.push(names?.[index] ?? index);
      assertBounded(entry, path, counts);
      path.pop();
    }
}
