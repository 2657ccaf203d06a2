/** Sends messages to a browser, encrypted for it (RFC 8291), through the browser's push service (RFC 8030). */
import { sha256 } from "../../core/ids.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import { formatStatus } from "../../core/outgoing/http/response.ts";
import type { PushedMessage } from "../pushed-message.ts";
import { cutText, type Message } from "../sending/messages.ts";
import type { VapidKeys } from "../vapid.ts";
import {
  failFinally,
  failPermanently,
  judgeStatus,
  type Provider,
  sendProviderRequest,
  type Verdict,
} from "../provider.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { renderWithin } from "./formatting.ts";

/** Plaintext that fits into the 4,096 bytes that every push service accepts (RFC 8291 §4). */
const maxBytes = 3_993;
/** Seconds for which the push service stores a message for a browser that is offline, as long as deliveries are retried. */
const ttl = 86_400;

export const webpush: Provider<"webpush"> = {
  digests: true,
  async deliver(settings, message, context) {
    if (context.vapid === null) throw new Error("Web Push needs the keys of the appliance.");
    const request = await buildRequest(settings, message, context.vapid);
    return request === null
      ? failFinally(`The keys of this browser's subscription are not valid. ${remedy}`)
      : sendProviderRequest(request, context, judgePush);
  },
};

/** Encrypts a message. Returns null if the keys of the subscription are not valid. */
async function buildRequest(
  { endpoint, publicKey, auth }: ChannelSettings<"webpush">,
  message: Message,
  vapid: VapidKeys,
) {
  const { buildPushPayload } = await import("@block65/webcrypto-web-push");
  const pushed = composePush(message);
  const isUrgent = message.tone === "down" || message.severity === "critical";
  const options = {
    ttl,
    // A person is waiting for the code.
    urgency: isUrgent || message.type === "test" ? ("high" as const) : ("normal" as const),
    // A later message about the same alert replaces an undelivered one (RFC 8030 §5.4).
    topic: Buffer.from(sha256(pushed.tag), "hex").toString("base64url").slice(0, 32),
  };
  const subscription = { endpoint, expirationTime: null, keys: { p256dh: publicKey, auth } };
  try {
    // Push services accept only https: and mailto: URLs (RFC 8292 §2.1).
    const subject = `https://${new URL(message.url).host}`;
    const { headers, body } = await buildPushPayload({ data: pushed, options }, subscription, {
      subject,
      ...vapid,
    });
    return { url: endpoint, headers, body };
  } catch {
    return null;
  }
}

/** Renders a message for the service worker of the admin page, shortened to the limit. */
function composePush(message: Message): PushedMessage {
  const { id, title, lines, tone, url, acknowledgeUrl, problem, verification = null } = message;
  return renderWithin(
    maxBytes,
    lines,
    (lines) => ({
      title: cutText(title, 200),
      text: lines.join("\n"),
      path: pathOf(url),
      tag: problem?.key ?? id,
      isOver: tone === "up",
      isUrgent: tone === "down",
      acknowledgePath: acknowledgeUrl === null ? null : pathOf(acknowledgeUrl),
      verification,
    }),
    (pushed) => Buffer.byteLength(JSON.stringify(pushed)),
  );
}

/** The browser knows this appliance by the address at which it subscribed, so it gets no other one. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

const remedy = "In that browser, open Settings, Contact methods, and choose “This browser”.";

/** Statuses: RFC 8030 §5 and §7.3, RFC 8292 §4.2, https://developer.apple.com/documentation/usernotifications */
function judgePush({ status }: ShortResponse): Verdict {
  if (status === 404 || status === 410)
    return failFinally(`The browser has unsubscribed. ${remedy}`);
  if (status === 413) return failFinally("The push service rejected the message as too long.");
  if (status === 401 || status === 403)
    return failPermanently(
      `The push service rejected the subscription with ${formatStatus(status)}. ${remedy}`,
    );
  return judgeStatus({ status });
}
