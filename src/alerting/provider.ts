import { alertBounds } from "../core/limits.ts";
import { type Fields, objectIn } from "../core/collections/objects.ts";
import type { ChannelSettings, ChannelType } from "./channels/kinds-schema.ts";
import type { AccessTokens } from "../core/outgoing/access-tokens.ts";
import type { Exchange, ExchangeContext, ShortAnswer } from "../core/outgoing/http/exchange.ts";
import { named } from "../core/outgoing/http/response.ts";
import { retryAfterIn } from "../core/outgoing/http/retry-after.ts";
import type { Alert } from "./alert.ts";
import type { Message } from "./sending/messages.ts";
import type { Progress } from "./deciding/rules.ts";
import type { SmtpSettings } from "../accounts/settings/schema.ts";

/**
 * Whether trying again may help: `passing` is tried for a day, `looks-permanent` – what a proxy may
 * answer in passing – for an hour and told at once, `final` – 410 and what a service documents so – never.
 */
type Failure = "passing" | "looks-permanent" | "final";

/** What became of an attempt. Reasons are one sentence of ours: never what the other side said, never a secret. */
export type Verdict =
  | {
      outcome: "delivered";
      /** What went wrong for a part of the receivers. */
      note?: string;
      /** Who has it, where the provider knows; absent where everybody does. */
      progress?: Progress;
    }
  | {
      outcome: "failed";
      reason: string;
      failure: Failure;
      /** Whether the trouble was on this side: then it shows nothing about the receiver. */
      isOwn?: true;
      /** The receiver asked for this much patience (RFC 9110 §10.2.3): nothing goes to it before. */
      retryAfterSeconds?: number;
      /** Where a part of the receivers has it: only the others are tried again, and where nobody can tell which, three times at most. */
      progress?: Progress;
    };

export type DeliveryContext = ExchangeContext & {
  /** Unix milliseconds. */
  now: number;
  exchange: Exchange;
  /** The organization's mail server; null where none is set. */
  smtp: SmtpSettings | null;
  accessTokens: AccessTokens;
  /** How far the attempts before this one got; null where none got anywhere. */
  progress: Progress | null;
  /** What one recipient is told, where it depends on what reached them before; null where all are told the same. */
  messageTo: ((recipient: string) => Message) | null;
};

/** One type of channel: how a message gets there. */
export type Provider<T extends ChannelType> = {
  /** Whether alerts of one moment come as one digest; false where each opens and closes a case of its own. */
  digests: boolean;
  /** How much one digest takes; absent where the provider itself keeps any digest short. */
  digestLimit?: DigestLimit;
  /** Throws TargetFailure and OwnTrouble, which are tried again. */
  deliver(
    settings: ChannelSettings<T>,
    message: Message,
    context: DeliveryContext,
  ): Promise<Verdict>;
};

type DigestLimit = {
  /** Encoded, as `bytesOf` counts. */
  bytes: number;
  /** What this alert adds to a digest; `origin` is the address under which people open this appliance. */
  bytesOf(alert: Alert, origin: string): number;
};

/** A request; its body is sent as JSON, unless it is text already. */
export type ToPost = {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body: object | string;
};

type OverHttp<T extends ChannelType> = {
  digests?: boolean;
  digestLimit?: DigestLimit;
  request: (settings: ChannelSettings<T>, message: Message, now: number) => ToPost;
  verdict?: (answer: ShortAnswer) => Verdict;
};

/** A provider that takes one HTTP request a message. */
export function overHttp<T extends ChannelType>({
  digests = true,
  digestLimit,
  request,
  verdict = judged,
}: OverHttp<T>): Provider<T> {
  return {
    digests,
    ...(digestLimit && { digestLimit }),
    deliver: (settings, message, context) =>
      post(request(settings, message, context.now), context, verdict),
  };
}

/** One HTTP request, and what its answer means. Throws TargetFailure and OwnTrouble. */
export async function post(
  { url, method = "POST", headers = {}, body }: ToPost,
  context: DeliveryContext,
  verdict: (answer: ShortAnswer) => Verdict = judged,
): Promise<Verdict> {
  const isText = typeof body === "string";
  const answer = await context.exchange(
    {
      url: new URL(url),
      method,
      headers: {
        "Content-Type": isText ? "text/plain; charset=utf-8" : "application/json",
        ...headers,
      },
      body: isText ? body : JSON.stringify(body),
      verifyTls: true,
    },
    { ...context, bodyMs: alertBounds.responseBody.value },
  );
  return withRetryAfter(verdict(answer), answer, context.now);
}

/** What an answer means, with the patience that it asks for where the service's own words name none. */
export function withRetryAfter(verdict: Verdict, { headers }: ShortAnswer, now: number): Verdict {
  if (verdict.outcome === "delivered" || verdict.retryAfterSeconds !== undefined) return verdict;
  const seconds = retryAfterIn(headers.get("retry-after"), now);
  return seconds === null ? verdict : { ...verdict, retryAfterSeconds: seconds };
}

export const delivered: Verdict = { outcome: "delivered" };

const failed = (failure: Failure) => (reason: string) =>
  ({ outcome: "failed", reason, failure }) as const satisfies Verdict;

export const temporary = failed("passing");
/** Nothing could be sent for a reason on this side. */
export const ownTrouble = (reason: string) =>
  ({ ...temporary(`Not sent: ${reason}.`), isOwn: true }) as const satisfies Verdict;
export const permanent = failed("looks-permanent");
export const final = failed("final");

/** Statuses that say "not like this", of the receiver or of a proxy before it. */
const doubtful = new Set([401, 403, 404]);

/** The judgement of a status where the service documents nothing else: 2xx is success. */
export function judged({ status }: Pick<ShortAnswer, "status">): Verdict {
  if (status >= 200 && status < 300) return delivered;
  const redirected = status >= 300 && status < 400 ? "; give the final address instead" : "";
  const reason = `The receiver answered ${named(status)}${redirected}.`;
  if (status === 410) return final(reason);
  return doubtful.has(status) ? permanent(reason) : temporary(reason);
}

/** The JSON object that a service answered with; an empty one where it answered something else. */
export const fieldsIn = ({ body }: Pick<ShortAnswer, "body">): Fields => objectIn(body) ?? {};

/** Seconds to wait, rounded up; null for what is no number of seconds. */
export function patienceIn(seconds: unknown): number | null {
  return Number.isFinite(seconds) && (seconds as number) >= 0 ? Math.ceil(seconds as number) : null;
}
