/** The typed client of the server's API, with retries, sessions and ETags. */
import { treaty } from "@elysiajs/eden";
import type { App } from "../../src/api.ts";
import type { ErrorDetail } from "../../src/core/errors.ts";
import { connection } from "./connection.ts";
import { requestHeaders, takeEarly } from "./early.ts";
import { signedOut } from "./signed-out.ts";

/** What the server refused, in its own words; `details` name fields. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;

  constructor(status: number, error: Partial<Refusal> = {}) {
    super(error.message ?? `The server answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.code = error.code ?? "INTERNAL";
    this.details = error.details ?? [];
    this.requestId = error.requestId ?? null;
  }
}

/** No answer came: the network or the server is away. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("Signalbox can't be reached.", { cause });
    this.name = "Unreachable";
  }
}

/** Does what may be done twice, however often the connection is lost before the server has answered. */
export async function whenConnected<T>(act: () => Promise<T>, onWait: () => void): Promise<T> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (!isTold) onWait();
      await connection.answers();
    }
  }
}

type Refusal = { code: string; message: string; details?: ErrorDetail[]; requestId: string };
type Init = RequestInit & { file?: Blob };

/** The page's own routes, by path. */
export const { dashboard } = treaty<App>("", {
  keepDomain: true,
  parseDate: false,
  fetcher: request as typeof fetch,
  // Eden writes every object as JSON: a file goes beside its body.
  onRequest: (_path, { body }): Init | undefined =>
    body instanceof Blob ? { file: body } : undefined,
  // Eden's own way walks through every value, which takes longer than reading a long list.
  onResponse: (response): unknown => (response.ok ? response.json() : undefined),
});

/** Those of the REST API, with the session in a key's place. */
export const { v1 } = dashboard.api;

/** The path of a route of the REST API as scripts have it. */
export const pathOf = (route: { "~path": string }) => route["~path"].replace("/dashboard", "");

const etags = new WeakMap<object, string>();
let organizationId: string | null = null;

/** The organization of every request from now on. */
export function setOrganization(id: string | null) {
  organizationId = id;
}

/** Has the server do a POST or PATCH once under this key, however often it is sent. */
export const onceUnder = (key: string) => ({ headers: { "Idempotency-Key": key } });

/** Makes the server refuse the write with 412 if somebody changed this record since it was read; undefined overwrites. */
export function ifMatch(
  record: object | undefined,
  /** What the write is done once under. */
  key?: string,
): { headers?: Record<string, string> } {
  const etag = record && etags.get(record);
  const headers = {
    ...(key !== undefined && onceUnder(key).headers),
    ...(etag !== undefined && { "If-Match": etag }),
  };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

type WriteListener = (isReplayed: boolean) => void;
const writeListeners = new Set<WriteListener>();

/** Calls back after every write that succeeded, and where one had succeeded before. */
export function onWritten(listener: WriteListener) {
  writeListeners.add(listener);
  return () => void writeListeners.delete(listener);
}

export type Result<T> = {
  data: T | null;
  error: unknown;
  response: Response | undefined;
  status: number;
};

/** A page of a list, with its `meta`. Throws what the server refused, or that it is away. */
export async function pageOf<T extends { data: unknown }>(result: Promise<Result<T>>): Promise<T> {
  const { data: body, error, response, status } = await result;
  if (error !== null || body === null) {
    const { value } = error as { value: unknown };
    throw value instanceof Error
      ? value
      : new ApiError(status, (value as { error?: Refusal } | null)?.error);
  }
  const etag = response?.headers.get("etag");
  if (etag != null && typeof body.data === "object" && body.data !== null)
    etags.set(body.data, etag);
  return body;
}

/** What `pageOf` finds, without what is around it: a record, or a list that has no pages. */
export const dataOf = async <T>(result: Promise<Result<{ data: T }>>): Promise<T> =>
  (await pageOf(result)).data;

/** Where 401 says that a password, code or link was wrong, not that the session has ended. */
const withoutSession = /^\/dashboard\/(sign-in|set-up|invitations\/(look|accept))/;

async function request(url: string, init: Init): Promise<Response> {
  const response = await authenticated(url, init);
  const isReplayed = response.headers.get("Idempotency-Replayed") === "true";
  if (response.ok && init.method !== "GET")
    for (const listener of writeListeners) listener(isReplayed);
  return response;
}

async function authenticated(url: string, init: Init): Promise<Response> {
  const response = await attempt(url, init);
  if (response.status !== 401 || withoutSession.test(url)) return response;
  // The session may have got its new cookie while this was under way.
  const second = await attempt(url, init);
  if (second.status !== 401) return second;
  // What was to be done waits until somebody signs in again, and is then done.
  await signedOut.wait();
  return attempt(url, init);
}

/** Whether the page is being closed or left, which ends requests that are not kept alive. */
let leaving = false;
addEventListener("pagehide", () => (leaving = true), { capture: true });
addEventListener("pageshow", () => (leaving = false));
/** Browsers refuse to keep more than 64 KiB alive. */
const mostKept = 60_000;

async function attempt(url: string, { file, ...init }: Init): Promise<Response> {
  const text = init.body as string | undefined;
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(requestHeaders(organizationId)))
    headers.set(name, value);
  // Eden declares JSON for a query as well.
  if (text === undefined) headers.delete("Content-Type");
  if (file) headers.set("Content-Type", file.type);
  const keepalive = leaving && file === undefined && (text ?? "").length < mostKept;
  try {
    const early = init.method === "GET" ? takeEarly(url, organizationId) : undefined;
    const response = await (early ??
      fetch(url, { ...init, headers, ...(file && { body: file }), keepalive }));
    connection.answered();
    return response;
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    connection.failed();
    throw new Unreachable(error);
  }
}
