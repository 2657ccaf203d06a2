/** Defines providers and the verdict on an attempt, with helpers for services over HTTP. */
import { alertBounds } from "../core/limits.ts";
import { type Fields, parseObject } from "../core/collections/objects.ts";
import type { ChannelSettings, ReceiverType } from "./channels/kinds-schema.ts";
import type { AccessTokens } from "../core/outgoing/access-tokens.ts";
import type { Exchange, ExchangeContext, ShortResponse } from "../core/outgoing/http/exchange.ts";
import { formatStatus } from "../core/outgoing/http/response.ts";
import { parseRetryAfterHeader } from "../core/outgoing/http/retry-after.ts";
import type { Alert } from "./alert.ts";
import type { Message } from "./sending/messages.ts";
import type { Progress } from "./sending/queue-rules.ts";
import type { VapidKeys } from "./vapid.ts";
import type { SmtpSettings } from "../accounts/settings/schema.ts";

/**
 * Whether a retry can help. `passing` failures are retried for a day. `looks-permanent` ones can be
 * a proxy's temporary response: they are reported at once and retried for an hour. `final` ones
 * (410, and errors documented as permanent) are never retried.
 */
type Failure = "passing" | "looks-permanent" | "final";

/**
 * The service's ID of a message whose receipt is read later, and when that stops, in Unix milliseconds: for an
 * emergency, when the service stops repeating it.
 */
export type MessageReceipt = { id: string; expiresAt: number };

/**
 * State of a message at its service. `over` means that no further state will follow. `arrived` and `lost` contain the
 * final state as a sentence.
 */
export type ReceiptState =
  | "waiting"
  | "over"
  | "acknowledged"
  | { arrived: string }
  | {
      lost: string;
      /** Whether the person did not react. Then the channel itself works. */
      isUnanswered?: true;
    };

/** The requests with which a channel type finds out whether its messages arrived. */
export type ProviderReceipts<S> = {
  /** Interval between two requests, in milliseconds. */
  pollMs: (receipt: { now: number; expiresAt: number }) => number;
  read(settings: S, receipt: string, context: DeliveryContext): Promise<ReceiptState>;
  /**
   * Stops the repetition of a message, because none of its alerts is left. Returns whether that succeeded. Absent if
   * messages are not repeated, and their receipts are read to the end.
   */
  cancel?(settings: S, deliveryId: string, context: DeliveryContext): Promise<boolean>;
};

/** Outcome of an attempt. We write the reason: one sentence without secrets or text from the response. */
export type Verdict =
  | {
      outcome: "delivered";
      /** Problems of some recipients, as a sentence. */
      note?: string;
      /** A sentence about the sent message, for the log of attempts. */
      detail?: string;
      /** Recipients that have the message, if the provider reports them. Absent if all have it. */
      progress?: Progress;
      /** Set if the service reports later whether the message arrived. */
      receipt?: MessageReceipt;
    }
  | {
      outcome: "failed";
      reason: string;
      failure: Failure;
      /** Whether a mail server permanently rejected every recipient, for a reason other than its policy. */
      isBounce?: true;
      /** Whether the failure is on our side. Then the receiver's state stays unchanged. */
      isOwn?: true;
      /** The wait that the receiver requested (RFC 9110 §10.2.3), in seconds. */
      retryAfterSeconds?: number;
      /**
       * Set if some recipients have the message. Only the others are retried. If they are unknown,
       * there are at most three attempts.
       */
      progress?: Progress;
    };

export type DeliveryContext = ExchangeContext & {
  /** Unix milliseconds. */
  now: number;
  exchange: Exchange;
  /** The organization's mail server; null if none is set. */
  smtp: SmtpSettings | null;
  accessTokens: AccessTokens;
  /** The keys with which this appliance identifies itself to push services; null for other types. */
  vapid: VapidKeys | null;
  /** Progress of earlier attempts; null if there is none. */
  progress: Progress | null;
  /** Whether gateways of calls can reach this appliance, to report a pressed key. */
  receivesCalls?: boolean;
  /** Returns the URL at which a gateway fetches the script of a call. Absent if gateways can't reach this appliance. */
  urlOfScript?: (call: { type: string; script: string }) => string;
  /**
   * Returns the message for one recipient, if it depends on earlier deliveries. Null if all
   * recipients get the same.
   */
  messageTo: ((recipient: string) => Message) | null;
};

/** The code that sends messages to one channel type. */
export type Provider<T extends ReceiverType> = {
  /** Whether simultaneous alerts are joined into a digest. False if each opens and closes its own case. */
  digests: boolean;
  /** Whether an acknowledged case can be opened again. Otherwise it is replaced by a new one. */
  reopensCases?: boolean;
  /** Size limit of a digest. Absent if the provider shortens digests itself. */
  digestLimit?: DigestLimit;
  receipts?: ProviderReceipts<ChannelSettings<T>>;
  /** Sends a message. Throws TargetFailure and LocalFailure, which are retried. */
  deliver(
    settings: ChannelSettings<T>,
    message: Message,
    context: DeliveryContext,
  ): Promise<Verdict>;
};

type DigestLimit = {
  /** Maximum encoded size, as counted by `bytesOf`. */
  bytes: number;
  /** Returns the bytes that an alert adds to a digest. `origin` is the base URL of this appliance. */
  bytesOf(alert: Alert, origin: string): number;
};

/** An HTTP request. A body that is an object, except bytes, is sent as JSON; null is none. */
export type ProviderRequest = {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body: object | string | Uint8Array | null;
};

type HttpProviderOptions<T extends ReceiverType> = {
  digests?: boolean;
  reopensCases?: boolean;
  digestLimit?: DigestLimit;
  /** Builds the request; null if the service has no such action. */
  request: (
    settings: ChannelSettings<T>,
    message: Message,
    now: number,
  ) => ProviderRequest | null | Promise<ProviderRequest>;
  judge?: (response: ShortResponse) => Verdict;
};

/** Creates a provider that sends one HTTP request per message. */
export function createHttpProvider<T extends ReceiverType>({
  digests = true,
  reopensCases = false,
  digestLimit,
  request,
  judge = judgeStatus,
}: HttpProviderOptions<T>): Provider<T> {
  return {
    digests,
    reopensCases,
    ...(digestLimit && { digestLimit }),
    async deliver(settings, message, context) {
      const httpRequest = await request(settings, message, context.now);
      return httpRequest === null
        ? nothingToSend
        : sendProviderRequest(httpRequest, context, judge);
    },
  };
}

/** Sends one HTTP request and judges its response. Throws TargetFailure and LocalFailure. */
export async function sendProviderRequest(
  { url, method = "POST", headers = {}, body }: ProviderRequest,
  context: DeliveryContext,
  verdict: (response: ShortResponse) => Verdict = judgeStatus,
): Promise<Verdict> {
  const isText = typeof body === "string";
  const response = await context.exchange(
    {
      url: new URL(url),
      method,
      headers: {
        ...(body !== null && {
          "Content-Type": isText ? "text/plain; charset=utf-8" : "application/json",
        }),
        ...headers,
      },
      body: isText || body === null || body instanceof Uint8Array ? body : JSON.stringify(body),
      verifyTls: true,
    },
    { ...context, bodyMs: alertBounds.responseBody.value },
  );
  return addRetryAfter(verdict(response), response, context.now);
}

/** Adds the Retry-After of a response to a failure, unless the provider found a wait in the body. */
export function addRetryAfter(verdict: Verdict, { headers }: ShortResponse, now: number): Verdict {
  if (verdict.outcome === "delivered" || verdict.retryAfterSeconds !== undefined) return verdict;
  const seconds = parseRetryAfterHeader(headers.get("retry-after"), now);
  return seconds === null ? verdict : { ...verdict, retryAfterSeconds: seconds };
}

export const delivered: Verdict = { outcome: "delivered" };

/** For a change to a case that the service does not know. */
const nothingToSend: Verdict = {
  outcome: "delivered",
  detail: "Nothing was sent, because the service has no acknowledgment.",
};

const createFailure = (failure: Failure) => (reason: string) =>
  ({ outcome: "failed", reason, failure }) as const satisfies Verdict;

export const failTemporarily = createFailure("passing");
/** Returns a failure on our side, before anything was sent. */
export const failLocally = (reason: string) =>
  ({ ...failTemporarily(`Not sent: ${reason}.`), isOwn: true }) as const satisfies Verdict;
export const failPermanently = createFailure("looks-permanent");
export const failFinally = createFailure("final");

/** Statuses of a rejection that can come from the receiver or from a proxy in front of it. */
const ambiguousStatuses = new Set([401, 403, 404]);

/** Judges a response by its status: 2xx is success. */
export function judgeStatus({ status }: Pick<ShortResponse, "status">): Verdict {
  if (status >= 200 && status < 300) return delivered;
  const redirected = status >= 300 && status < 400 ? "; give the final address instead" : "";
  const reason = `The receiver responded with ${formatStatus(status)}${redirected}.`;
  if (status === 410) return failFinally(reason);
  return ambiguousStatuses.has(status) ? failPermanently(reason) : failTemporarily(reason);
}

/** Returns a failure after a successful status whose body does not confirm the message. */
export const failUnconfirmed = ({ status }: Pick<ShortResponse, "status">) =>
  failTemporarily(
    `The receiver responded with ${formatStatus(status)}, but did not confirm the message.`,
  );

type CodeRules = {
  /** Name of the service in sentences. */
  service: string;
  /** Field with the code in the JSON of a response. */
  field: string;
  /** Code of an accepted message. Absent if the status alone decides. */
  accepted?: string | number | boolean;
  /** Meanings of codes that need a person, behind “reports that”. */
  reasons?: Readonly<Record<string, string>>;
  /** Codes after which the service can accept the message later. */
  busy?: readonly unknown[];
  /** Returns the requested wait in the JSON of a response, in seconds. */
  wait?: (fields: Fields) => unknown;
};

/** Creates a verdict by the code in a JSON response. Other texts of a response are never shown. */
export const createCodeVerdict =
  ({ wait, ...rules }: CodeRules) =>
  (response: ShortResponse): Verdict => {
    const verdict = judgeCode(rules, response);
    const retryAfterSeconds = parseRetryAfter(wait?.(parseFields(response)));
    return verdict.outcome === "delivered" || retryAfterSeconds === null
      ? verdict
      : { ...verdict, retryAfterSeconds };
  };

function judgeCode(
  { service, field, accepted, reasons = {}, busy = [] }: CodeRules,
  response: ShortResponse,
): Verdict {
  const { [field]: code } = parseFields(response);
  const isSuccess = response.status < 300;
  if (isSuccess && (accepted === undefined || code === accepted)) return judgeStatus(response);
  const name = typeof code === "string" || typeof code === "number" ? String(code) : "";
  if (Object.hasOwn(reasons, name))
    return failPermanently(`${service} reports that ${reasons[name]}.`);
  if (busy.includes(code))
    return failTemporarily(`${service} accepts no more messages at present.`);
  if (!isSuccess || response.isUnfinished === true) return judgeStatus(response);
  return typeof code === "number"
    ? failTemporarily(`${service} rejected the message with code ${code}.`)
    : failUnconfirmed(response);
}

/** Judges a response by its status. `reasons` completes the sentence “SERVICE reports that …” for known statuses. */
export const createStatusVerdict =
  (service: string, reasons: Readonly<Record<number, string>>) =>
  (response: ShortResponse): Verdict => {
    const reason = reasons[response.status];
    return reason === undefined
      ? judgeStatus(response)
      : failPermanently(`${service} reports that ${reason}.`);
  };

/** Returns the JSON object in a response body; an empty object for any other body. */
export const parseFields = ({ body }: Pick<ShortResponse, "body">): Fields =>
  parseObject(body) ?? {};

/** Returns a wait in seconds, rounded up; null if `seconds` is not a valid duration. */
export function parseRetryAfter(seconds: unknown): number | null {
  return Number.isFinite(seconds) && (seconds as number) >= 0 ? Math.ceil(seconds as number) : null;
}
