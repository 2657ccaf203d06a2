import type { ChannelSettings, ChannelType } from "../alert-channels/schema.ts";
import type { Exchange, ExchangeRoom, ShortAnswer } from "../outgoing/exchange.ts";
import { named } from "../outgoing/http-request.ts";
import type { Message } from "./messages.ts";
import type { SmtpSettings } from "../settings/schema.ts";

/** What became of an attempt. Reasons are one sentence of ours: never what the other side said, never a secret. */
export type Verdict =
  | { outcome: "delivered"; /** What went wrong for a part of the receivers. */ note?: string }
  | {
      outcome: "failed";
      reason: string;
      /** Whether trying again is pointless: the settings have to change. */
      permanent: boolean;
      /** The receiver asked for this much patience (RFC 9110 §10.2.3). */
      retryAfterSeconds?: number;
    };

export type DeliveryRoom = ExchangeRoom & {
  /** Unix milliseconds. */
  now: number;
  exchange: Exchange;
  /** The organization's mail server; null where none is set. */
  smtp: SmtpSettings | null;
};

/** One type of channel: how a message gets there. */
export type Provider<T extends ChannelType> = {
  /** Whether alerts of one moment come as one digest; false where each opens and closes a case of its own. */
  digests: boolean;
  /** Throws TargetFailure and OwnTrouble, which are tried again. */
  deliver(settings: ChannelSettings<T>, message: Message, room: DeliveryRoom): Promise<Verdict>;
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
  request: (settings: ChannelSettings<T>, message: Message, now: number) => ToPost;
  verdict?: (answer: ShortAnswer) => Verdict;
};

/** A provider that takes one HTTP request a message. */
export function overHttp<T extends ChannelType>({
  digests = true,
  request,
  verdict = judged,
}: OverHttp<T>): Provider<T> {
  return {
    digests,
    deliver: (settings, message, room) =>
      posted(request(settings, message, room.now), room, verdict),
  };
}

/** One HTTP request, and what its answer means. Throws TargetFailure and OwnTrouble. */
export async function posted(
  { url, method = "POST", headers = {}, body }: ToPost,
  room: DeliveryRoom,
  verdict: (answer: ShortAnswer) => Verdict = judged,
): Promise<Verdict> {
  const isText = typeof body === "string";
  const answer = await room.exchange(
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
    room,
  );
  return verdict(answer);
}

export const delivered: Verdict = { outcome: "delivered" };

export function permanent(reason: string): Verdict {
  return { outcome: "failed", reason, permanent: true };
}

/** Statuses that say "not like this": wrong credentials, or nobody there any more. */
const hopeless = new Set([401, 403, 404, 410]);

/** The judgement of a status where the service documents nothing else: 2xx is success. */
export function judged({ status, headers }: ShortAnswer): Verdict {
  if (status >= 200 && status < 300) return delivered;
  const redirected = status >= 300 && status < 400 ? "; give the final address instead" : "";
  const retryAfterSeconds = secondsOf(headers.get("retry-after"));
  return {
    outcome: "failed",
    reason: `The receiver answered ${named(status)}${redirected}.`,
    permanent: hopeless.has(status),
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
  };
}

/** The seconds form of Retry-After; the date form is not worth a clock that may differ. */
function secondsOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) : null;
}
