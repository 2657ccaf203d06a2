import type { TargetGuard } from "../target-guard.ts";
import { allowedAddresses } from "./addresses.ts";
import type { OutgoingContext } from "./context.ts";
import { growingBuffer, uncounted } from "./memory.ts";
import { OwnTrouble, TargetFailure } from "./failures.ts";
import { type HttpRequest, send } from "./http-request.ts";
import { reasonFor } from "./reasons.ts";

/** So much of an answer is read; what stands behind it is of no interest. */
const maxBytes = 64 * 1024;

export type ExchangeContext = {
  targets: TargetGuard;
  timeoutMs: number;
  /** Ends it sooner. */
  cancelled: AbortSignal;
  /** Where the addresses are known already, each one judged. */
  addressesOf?: OutgoingContext["addressesOf"];
};

export type Exchange = (request: HttpRequest, context: ExchangeContext) => Promise<ShortAnswer>;

export type ShortAnswer = {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: string;
  /** RFC 3339; null without TLS. */
  certificateExpiresAt?: string | null;
};

/** One request and its answer, over after `timeoutMs` whatever the other side does. Throws TargetFailure, OwnTrouble. */
export function exchange(request: HttpRequest, context: ExchangeContext): Promise<ShortAnswer> {
  const plain = { ...request, headers: { ...request.headers, "Accept-Encoding": "identity" } };
  return inTime(context, async (context) => {
    const { answer, connection } = await send(plain, context);
    context.step = "reading the answer";
    return {
      status: answer.status,
      headers: answer.headers,
      body: await start(answer, connection),
      certificateExpiresAt: connection.secured?.certificateExpiresAt ?? null,
    };
  });
}

/** Runs `talk` with a context of its own, which ends with it. Throws TargetFailure, OwnTrouble. */
export async function inTime<T>(
  {
    targets,
    timeoutMs,
    cancelled,
    addressesOf = (host, port, lookup) => allowedAddresses(targets, host, port, lookup),
  }: ExchangeContext,
  talk: (context: OutgoingContext) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const context: OutgoingContext = {
    signal: ending.signal,
    step: "connecting",
    memory: uncounted,
    authorities: null,
    addressesOf,
  };
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      over.reject(
        new TargetFailure(`Timed out after ${timeoutMs / 1000} s while ${context.step}.`),
      ),
    timeoutMs,
  );
  const stop = () => over.reject(new OwnTrouble("it was stopped"));
  if (cancelled.aborted) stop();
  cancelled.addEventListener("abort", stop);
  try {
    return await Promise.race([talk(context), over.promise]);
  } catch (error) {
    throw reasonFor(error) ?? error;
  } finally {
    clearTimeout(timer);
    cancelled.removeEventListener("abort", stop);
    ending.abort();
  }
}

/** The body's first bytes; one that ends too soon or not at all is as good: the status has been said. */
function start(
  answer: { read(take: (chunk: Buffer) => void): Promise<void> },
  connection: { close(): void },
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const start = growingBuffer(maxBytes, uncounted);
  const done = () => {
    resolve(start.bytes().toString("utf8"));
    connection.close();
  };
  answer
    .read((chunk) => {
      start.push(chunk);
      if (start.bytes().length === maxBytes) done();
    })
    .then(done, done);
  return promise;
}
