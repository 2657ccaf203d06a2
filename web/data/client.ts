/** The typed client of the server's API, with retries, sessions and ETags. */
import { treaty } from "@elysiajs/eden";
import type { App } from "../../src/api.ts";
import type { ErrorDetail } from "../../src/core/errors.ts";
import { isServersLanguage, loadServerTexts } from "../language/server-text.ts";
import { connection } from "./connection.ts";
import { buildRequestHeaders, takeEarlyResponse } from "./early-requests.ts";
import { signedOut } from "./signed-out.ts";
import { t } from "../language/text.ts";

/** An error response of the server, with its message. `details` name the invalid fields. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;

  constructor(status: number, error: Partial<Refusal> = {}) {
    super(error.message ?? t("The server responded with status {status}.", { status }));
    this.name = "ApiError";
    this.status = status;
    this.code = error.code ?? "INTERNAL";
    this.details = error.details ?? [];
    this.requestId = error.requestId ?? null;
  }
}

/** No response: the network or the server is down. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super(t("Signalbox can't be reached."), { cause });
    this.name = "Unreachable";
  }
}

/**
 * Repeats an idempotent action until the server responds, however often the connection is lost.
 * Calls `onWait` once if the first attempt finds no connection.
 */
export async function retryUntilConnected<T>(
  act: () => Promise<T>,
  onWait: () => void,
): Promise<T> {
  for (let hasNotified = false; ; hasNotified = true) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (!hasNotified) onWait();
      await connection.waitForAnswer();
    }
  }
}

type Refusal = { code: string; message: string; details?: ErrorDetail[]; requestId: string };
type Init = RequestInit & { file?: Blob };

/** Translates an error of the server, which writes English. */
const translateRefusal = async (error: Refusal | undefined): Promise<Refusal | undefined> =>
  error === undefined || isServersLanguage
    ? error
    : loadServerTexts().then(
        (texts) => texts.translateError(error),
        () => error,
      );

/** Client of the admin page's routes (`/dashboard/…`), which includes the REST API. */
export const { dashboard } = treaty<App>("", {
  keepDomain: true,
  parseDate: false,
  fetcher: requestWithListeners as typeof fetch,
  // Eden encodes every object as JSON, so a file is passed next to the body.
  onRequest: (_path, { body }): Init | undefined =>
    body instanceof Blob ? { file: body } : undefined,
  // Eden's own parser visits every value, which is slower than reading a long list.
  onResponse: (response): unknown => (response.ok ? response.json() : undefined),
});

/** Client of the REST API, authenticated by the session instead of an API key. */
export const { v1 } = dashboard.api;

/** Path of a REST API route for scripts, which use API keys: without `/dashboard`. */
export const buildApiPath = (route: { "~path": string }) =>
  route["~path"].replace("/dashboard", "");

const etags = new WeakMap<object, string>();
let organizationId: string | null = null;

/** Sets the organization of all further requests. */
export function setOrganization(id: string | null) {
  organizationId = id;
}

/**
 * Headers that make a POST or PATCH idempotent: repeats with the same key have no further effect.
 */
export const addIdempotencyKey = (key: string) => ({ headers: { "Idempotency-Key": key } });

/**
 * Headers of a write. If the record has changed since it was loaded, the server rejects the write
 * with 412. Without a record, the write overwrites any change.
 */
export function addIfMatch(
  record: object | undefined,
  /** Idempotency key of the write. */
  key?: string,
): { headers?: Record<string, string> } {
  const etag = record && etags.get(record);
  const headers = {
    ...(key !== undefined && addIdempotencyKey(key).headers),
    ...(etag !== undefined && { "If-Match": etag }),
  };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

type WriteListener = (isReplayed: boolean) => void;
const writeListeners = new Set<WriteListener>();

/**
 * Calls the listener after each successful write, even after a replayed response to a repeated one.
 */
export function onWrite(listener: WriteListener) {
  writeListeners.add(listener);
  return () => void writeListeners.delete(listener);
}

export type Result<T> = {
  data: T | null;
  error: unknown;
  response: Response | undefined;
  status: number;
};

/**
 * The response body: a page of a list with its `meta`. Throws `ApiError` or `Unreachable`. Stores
 * the ETag of a record.
 */
export async function unwrapPage<T extends { data: unknown }>(
  result: Promise<Result<T>>,
): Promise<T> {
  const { data: body, error, response, status } = await result;
  if (error !== null || body === null) {
    const { value } = error as { value: unknown };
    if (value instanceof Error) throw value;
    throw new ApiError(
      status,
      await translateRefusal((value as { error?: Refusal } | null)?.error),
    );
  }
  const etag = response?.headers.get("etag");
  if (etag != null && typeof body.data === "object" && body.data !== null)
    etags.set(body.data, etag);
  return body;
}

/** The `data` of a response: a record, or a list without pages. */
export const unwrapData = async <T>(result: Promise<Result<{ data: T }>>): Promise<T> =>
  (await unwrapPage(result)).data;

/** Routes where 401 means a wrong password, code or link instead of an ended session. */
const withoutSession = /^\/dashboard\/(sign-in|set-up|invitations\/(look|accept))/;

/** Routes that only read, although their input is a body. */
const readingRoutes = /\/(incident-preview|preview|replay)$/;

async function requestWithListeners(url: string, init: Init): Promise<Response> {
  const response = await requestAuthenticated(url, init);
  // A page without translations is better than none.
  if (!isServersLanguage) await loadServerTexts().catch(() => {});
  const isReplayed = response.headers.get("Idempotency-Replayed") === "true";
  const isWrite = init.method !== "GET" && !readingRoutes.test(url);
  if (response.ok && isWrite) for (const listener of writeListeners) listener(isReplayed);
  return response;
}

async function requestAuthenticated(url: string, init: Init): Promise<Response> {
  const response = await sendToAppliance(url, init);
  if (response.status !== 401 || withoutSession.test(url)) return response;
  // The session cookie may have been renewed while this request was in flight.
  const second = await sendToAppliance(url, init);
  if (second.status !== 401) return second;
  // Wait until the person has signed in again, then repeat the request.
  await signedOut.wait();
  return sendToAppliance(url, init);
}

/** Whether the page is closing, which aborts requests without `keepalive`. */
let isLeaving = false;
addEventListener("pagehide", () => (isLeaving = true), { capture: true });
addEventListener("pageshow", () => (isLeaving = false));
/**
 * Maximum body length of a `keepalive` request, in characters. Browsers reject more than 64 KiB.
 */
const maxKeepaliveLength = 60_000;

async function sendToAppliance(url: string, { file, ...init }: Init): Promise<Response> {
  const text = init.body as string | undefined;
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(buildRequestHeaders(organizationId)))
    headers.set(name, value);
  // Eden sets the JSON content type even without a body.
  if (text === undefined) headers.delete("Content-Type");
  if (file) headers.set("Content-Type", file.type);
  const keepalive = isLeaving && file === undefined && (text ?? "").length < maxKeepaliveLength;
  try {
    const early = init.method === "GET" ? takeEarlyResponse(url, organizationId) : undefined;
    const response = await (early ??
      fetch(url, { ...init, headers, ...(file && { body: file }), keepalive }));
    connection.markAnswered();
    return response;
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    connection.markFailed();
    throw new Unreachable(error);
  }
}
