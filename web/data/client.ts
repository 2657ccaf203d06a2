import type { ErrorDetail } from "../../src/core/errors.ts";
import { connection } from "./connection.ts";
import { headersOf, takeEarly } from "./early.ts";
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

type Refusal = { code: string; message: string; details?: ErrorDetail[]; requestId: string };
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Meta = { page: number; per_page: number; total: number };
type Options = {
  query?: Query | undefined;
  body?: unknown;
  /** A file that is sent as it is, instead of `body` as JSON. */
  file?: Blob | undefined;
  /** The record as it was read: the server refuses with 412 if somebody changed it since. */
  ifMatch?: object | undefined;
  signal?: AbortSignal | undefined;
  /** Goes on while the page is being closed. */
  keepalive?: boolean;
};

/** Where 401 says that a password or code was wrong. */
const answersStrangers = /^\/(sign-in|set-up|invitations\/(look|accept))/;

const etags = new WeakMap<object, string>();
let organizationId: string | null = null;

/** The organization of every request from now on. */
export function setOrganization(id: string | null) {
  organizationId = id;
}

/** `path` as in the REST API, or a page's own such as `/overview`; both live below `/dashboard`. */
export async function call<T>(method: Method, path: string, options: Options = {}) {
  const response = await attempt(method, path, options);
  if (response.status !== 401 || answersStrangers.test(path)) return read<T>(response);
  // The session may have got its new cookie while this was under way.
  const again = await attempt(method, path, options);
  if (again.status !== 401) return read<T>(again);
  // What was to be done waits until somebody signs in again, and is then done.
  await signedOut.wait();
  return read<T>(await attempt(method, path, options));
}

async function attempt(method: Method, path: string, options: Options): Promise<Response> {
  const { query, body, file, ifMatch, signal, keepalive = false } = options;
  const headers = headersOf(organizationId);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (file !== undefined) headers["Content-Type"] = file.type;
  const etag = ifMatch && etags.get(ifMatch);
  if (etag !== undefined) headers["If-Match"] = etag;
  try {
    const early = method === "GET" ? takeEarly(path, organizationId) : undefined;
    const response = await (early ??
      fetch(`/dashboard${path}${queryOf(query)}`, {
        method,
        headers,
        keepalive,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(file !== undefined && { body: file }),
        ...(signal && { signal }),
      }));
    connection.answered();
    return response;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    connection.failed();
    throw new Unreachable(error);
  }
}

async function read<T>(response: Response): Promise<{ data: T; meta: Meta }> {
  const json = (await response.json().catch(() => ({}))) as {
    data: T;
    meta: Meta;
    error?: Refusal;
  };
  if (!response.ok) throw new ApiError(response.status, json.error);
  const etag = response.headers.get("etag");
  if (etag !== null && typeof json.data === "object" && json.data !== null)
    etags.set(json.data, etag);
  return json;
}

/** `?a=1&b=2`, without what is null or undefined; empty for nothing. */
export function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

export const get = async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  (await call<T>("GET", path, { query, signal })).data;

export const getPage = <T>(path: string, query?: Query, signal?: AbortSignal) =>
  call<T[]>("GET", path, { query, signal });

export const send = async <T = unknown>(
  method: Exclude<Method, "GET">,
  path: string,
  body?: unknown,
  ifMatch?: object,
): Promise<T> => (await call<T>(method, path, { body, ifMatch })).data;
