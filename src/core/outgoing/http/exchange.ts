/** Sends one HTTP request with a timeout and a limited response, for alerts and other services. */
import type { TargetGuard } from "../../security/target-guard.ts";
import { resolveAllowedAddresses } from "../addresses.ts";
import type { OutgoingContext } from "../context.ts";
import { createGrowingBuffer, uncountedMemory } from "../memory.ts";
import { LocalFailure, TargetFailure } from "../failures.ts";
import { type HttpRequest, send } from "./request.ts";
import { classifyFailure } from "../failure-reasons.ts";

/** Maximum bytes of a response body that are read by default. The rest is ignored. */
const defaultMaxBytes = 64 * 1024;

export type ExchangeContext = {
  targets: TargetGuard;
  timeoutMs: number;
  /** Aborts before the timeout. */
  signal: AbortSignal;
  /** Maximum wait for the body after the status, in milliseconds. Without it, a slow body fails at the timeout. */
  bodyMs?: number;
  /** Maximum bytes of the body that are read. */
  maxBytes?: number;
  /** Additional trusted certificate authorities, in PEM. */
  authorities?: string | null;
  /** Resolver that replaces the default, for hosts whose addresses are already known and allowed. */
  addressesOf?: OutgoingContext["addressesOf"];
};

export type Exchange = (request: HttpRequest, context: ExchangeContext) => Promise<ShortResponse>;

export type ShortResponse = {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: string;
  /** Whether the body was still arriving after `bodyMs`. */
  isUnfinished?: boolean;
  /** Whether the body is longer than was read. */
  isCut?: boolean;
  /** Expiry of the server's certificate, RFC 3339; null without TLS. */
  certificateExpiresAt?: string | null;
};

/**
 * Sends a request and returns the start of its response. Aborts after `timeoutMs`. Throws TargetFailure or
 * LocalFailure.
 */
export function exchange(request: HttpRequest, context: ExchangeContext): Promise<ShortResponse> {
  const { bodyMs, maxBytes = defaultMaxBytes } = context;
  const identityRequest = {
    ...request,
    headers: { ...request.headers, "Accept-Encoding": "identity" },
  };
  return runWithTimeout(context, async (outgoing) => {
    const { response, connection } = await send(identityRequest, outgoing);
    outgoing.step = "reading the response";
    return {
      status: response.status,
      headers: response.headers,
      ...(await readStart(response, connection, maxBytes, bodyMs)),
      certificateExpiresAt: connection.secured?.certificateExpiresAt ?? null,
    };
  });
}

/** Runs `talk` in a new context, and closes its connections afterwards. Throws TargetFailure or LocalFailure. */
export async function runWithTimeout<T>(
  {
    targets,
    timeoutMs,
    signal,
    authorities = null,
    addressesOf = (host, port, lookup) => resolveAllowedAddresses(targets, host, port, lookup),
  }: ExchangeContext,
  talk: (context: OutgoingContext) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const context: OutgoingContext = {
    signal: ending.signal,
    step: "connecting",
    memory: uncountedMemory,
    authorities,
    addressesOf,
  };
  const cancellation = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      cancellation.reject(
        new TargetFailure(`Timed out after ${timeoutMs / 1000} s while ${context.step}.`),
      ),
    timeoutMs,
  );
  const stop = () => cancellation.reject(new LocalFailure("it was stopped"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([talk(context), cancellation.promise]);
  } catch (error) {
    throw classifyFailure(error) ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    ending.abort();
  }
}

type Start = Pick<ShortResponse, "body" | "isUnfinished" | "isCut">;

/** Reads the start of the body. A truncated body is not a failure, because the status has arrived. */
function readStart(
  response: { read(onChunk: (chunk: Buffer) => void): Promise<void> },
  connection: { close(): void },
  maxBytes: number,
  bodyMs: number | undefined,
): Promise<Start> {
  const { promise, resolve } = Promise.withResolvers<Start>();
  const start = createGrowingBuffer(maxBytes, uncountedMemory);
  const finish = (isUnfinished: boolean) => {
    clearTimeout(timer);
    const bytes = start.bytes();
    const isCut = bytes.length === maxBytes;
    resolve({ body: bytes.toString("utf8"), isUnfinished, ...(isCut && { isCut }) });
    connection.close();
  };
  const finishWhole = () => finish(false);
  const timer = bodyMs === undefined ? undefined : setTimeout(() => finish(true), bodyMs);
  response
    .read((chunk) => {
      start.push(chunk);
      if (start.bytes().length === maxBytes) finishWhole();
    })
    .then(finishWhole, finishWhole);
  return promise;
}
