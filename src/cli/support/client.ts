/** The HTTP client of commands that talk to a server. */
import type { Command } from "commander";
import { z } from "zod";
import type { Api } from "../../api.ts";
import { getEnvironment, ServerAddress } from "../../config.ts";
import {
  AppError,
  type ErrorCode,
  type ErrorDetail,
  unknownPathMessage,
} from "../../core/errors.ts";
import { parseJsonOrNull } from "../../core/collections/objects.ts";
import { explainErrorCode } from "../../core/outgoing/failure-reasons.ts";
import { excerptText } from "../../core/text/formatting.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { locateCredentialsFile, readCredentials } from "./credentials.ts";
import { readText } from "./input.ts";

export type ClientOptions = {
  server?: string;
  key?: string;
  keyFile?: string;
  caFile?: string;
  timeout?: string;
  json?: boolean;
};

/** Adds the options of commands that send requests to a server. */
export function addServerOptions(command: Command): Command {
  return command
    .option(
      "--server <url>",
      "Signalbox server (SIGNALBOX_URL; default: the last `signalbox login`)",
    )
    .option(
      "--key <key>",
      "API key; other users can see it in the process list, so prefer --key-file",
    )
    .option(
      "--key-file <file>",
      "file with an API key, or - for standard input (SIGNALBOX_KEY is the key itself; default: the key that `signalbox login` stored)",
    )
    .option(
      "--ca-file <file>",
      "certificates (PEM) of a private authority that signed the server's certificate (SIGNALBOX_CA_FILE)",
    )
    .option("--timeout <seconds>", "how long to wait for a response", "30")
    .option("--json", "print JSON");
}

/** Error for a server that gives no usable response or does not accept the key. */
export class NoResponse extends Error {}

/** The server of a command, and how to connect to it. */
type Connection = {
  server: string;
  key: string;
  caFile: string | null;
  timeoutSeconds: number;
};

/**
 * Determines the server and key from options, variables and stored credentials. A stored key is
 * sent only to the server for which it was stored. Throws VALIDATION_ERROR.
 */
function resolveConnection(options: ClientOptions): Connection {
  const { current, servers } = readCredentials();
  const server = findGivenServer(options) ?? current;
  if (server === null)
    throw invalidFieldError("--server", "is needed; `signalbox login` stores one");
  const stored = Object.hasOwn(servers, server) ? servers[server] : undefined;
  const key = findGivenKey(options, server) ?? stored?.key;
  if (key === undefined)
    throw invalidFieldError(
      "--key-file",
      `is needed: there is no key for ${server} in ${locateCredentialsFile()}`,
    );
  const caFile = findGivenCaFile(options) ?? stored?.caFile ?? null;
  return { server, key, caFile, timeoutSeconds: parseTimeout(options) };
}

const readVariable = (name: string) => getEnvironment()[name] || undefined;

export const findGivenServer = ({ server }: ClientOptions) =>
  parseServerAddress("--server", server) ??
  parseServerAddress("SIGNALBOX_URL", readVariable("SIGNALBOX_URL"));

export const findGivenCaFile = ({ caFile }: ClientOptions) =>
  caFile ?? readVariable("SIGNALBOX_CA_FILE");

export const parseTimeout = ({ timeout }: ClientOptions) => parse(Seconds, timeout, "--timeout");

/** Returns the key from `--key` or `--key-file`. Throws VALIDATION_ERROR. */
export function readKeyOption({ key, keyFile }: ClientOptions): string | undefined {
  if (key !== undefined && keyFile !== undefined)
    throw invalidFieldError("--key", "or --key-file, not both");
  if (key !== undefined) return parseKey("--key", key);
  return keyFile === undefined
    ? undefined
    : parseKey("--key-file", readText("--key-file", keyFile));
}

/** Returns the key from options or variables. If SIGNALBOX_URL is set, SIGNALBOX_KEY is sent only to that server. */
function findGivenKey(options: ClientOptions, server: string): string | undefined {
  const givenKey = readKeyOption(options);
  if (givenKey !== undefined) return givenKey;
  const key = readVariable("SIGNALBOX_KEY");
  const url = readVariable("SIGNALBOX_URL");
  if (
    key === undefined ||
    (url !== undefined && parseServerAddress("SIGNALBOX_URL", url) !== server)
  )
    return undefined;
  return parseKey("SIGNALBOX_KEY", key);
}

const Seconds = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, "must be a whole number of seconds from 1 to 9999")
  .transform(Number);

const Key = z
  .string()
  .regex(/^sbx_[0-9A-Za-z]{43}$/, "must be an API key: sbx_ and 43 letters and digits");

export const parseServerAddress = (name: string, text: string | undefined) =>
  text === undefined ? undefined : parse(ServerAddress, text, name);

export const parseKey = (name: string, text: string): string => parse(Key, text.trim(), name);

export type Client = Awaited<ReturnType<typeof createClient>>;

/** Creates a client for the server that options, variables or stored credentials name. */
export const connectToServer = (options: ClientOptions) => createClient(resolveConnection(options));

/** Maximum bytes of all responses to one command. The largest organization needs a tenth. */
const maxBytes = 64 * 1024 * 1024;

/** Creates a typed client of the REST API. */
export async function createClient({ server, key, caFile, timeoutSeconds }: Connection) {
  const { treaty } = await import("@elysiajs/eden");
  const tls = caFile === null ? {} : { tls: { ca: readText("--ca-file", caFile) } };
  let serverTime = { at: Date.now(), read: performance.now() };
  let leftBytes = maxBytes;

  async function readBody({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body ?? []) {
      leftBytes -= chunk.length;
      if (leftBytes < 0) throw new NoResponse(`${server} sends an endless response.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  async function sendToServer(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${key}`);
    // Eden sets a JSON content type even without a body.
    if (init.body === undefined) headers.delete("Content-Type");
    const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, { ...init, headers, signal, redirect: "manual", ...tls });
      text = await readBody(response);
    } catch (error) {
      if (error instanceof NoResponse) throw error;
      throw new NoResponse(`${server} can't be reached: ${describeCause(error, timeoutSeconds)}`);
    }
    const at = Date.parse(response.headers.get("Date") ?? "");
    if (!Number.isNaN(at)) serverTime = { at, read: performance.now() };
    return Response.json(unwrapResponse(server, response, text));
  }

  const { api: routes } = treaty<Api>(server, {
    keepDomain: true,
    parseDate: false,
    fetcher: sendToServer as typeof fetch,
    onResponse: (response): Promise<unknown> => response.json(),
  });
  return {
    server,
    v1: routes.v1,
    /** Current time of the server in Unix milliseconds. Up to one second behind, never ahead. */
    now: () => Math.floor(serverTime.at + performance.now() - serverTime.read),
  };
}

function describeCause(error: unknown, timeoutSeconds: number): string {
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === "TimeoutError") return `no response within ${timeoutSeconds} s.`;
  if (code === "ENOTFOUND") return "its name has no address.";
  return explainErrorCode(String(code)) ?? "the connection failed.";
}

type Body = {
  data?: unknown;
  error?: { code: ErrorCode; message: string; details?: ErrorDetail[] };
} | null;

/**
 * Returns the body of a successful response, and throws the error of any other. It throws here
 * because Eden would replace an error thrown later.
 */
function unwrapResponse(server: string, { ok, status, headers }: Response, text: string): unknown {
  const body = parseJsonOrNull(text) as Body;
  if (ok && body?.data !== undefined) return body;
  const { code, message = "", details } = body?.error ?? {};
  if (code === undefined) {
    const location = headers.get("Location");
    const leads = location === null ? "" : ` and leads to ${excerptText(location, 200)}`;
    throw new NoResponse(`${server} is not a Signalbox: it returned ${status}${leads}.`);
  }
  if (message === unknownPathMessage)
    throw new NoResponse(
      `${server} has no REST API at this address: it is the port of public pages, or the address has a path. Name the address that \`serve\` prints.`,
    );
  if (status === 401)
    throw new NoResponse(`${server} does not accept this key: it is wrong, expired or revoked.`);
  if (status === 429 || status >= 500) throw new NoResponse(`${server} answers: ${message}`);
  throw new AppError(code, message, { ...(details && { details }) });
}

type Result<T> = { data: T | null; error: unknown };

/** Returns a response with its `meta`. Throws the server's error, and NoResponse. */
export async function unwrapPage<T>(result: Promise<Result<T>>): Promise<T> {
  const { data, error } = await result;
  if (data !== null) return data;
  throw (error as { value: unknown }).value;
}

/** Returns the `data` of a response. Throws the same errors as `unwrapPage`. */
export const unwrapData = async <T>(result: Promise<Result<{ data: T }>>): Promise<T> =>
  (await unwrapPage(result)).data;

type Page<T> = { data: T[]; meta: { total: number } };

/** Requests all pages of a list and joins them. */
export async function fetchAllPages<T>(
  requestPage: (query: { page: number; per_page: number }) => Promise<Result<Page<T>>>,
): Promise<T[]> {
  const found: T[] = [];
  const size = 100;
  for (let page = 1; ; page++) {
    const { data, meta } = await unwrapPage(requestPage({ page, per_page: size }));
    found.push(...data);
    if (data.length < size || found.length >= meta.total) return found;
  }
}
