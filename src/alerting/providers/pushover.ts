/** Sends messages and emergencies to Pushover, reads their receipts, and cancels them. */
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { origins } from "../channels/kinds/kind-schema.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import { cutText, fitLines, type Message } from "../sending/messages.ts";
import {
  failFinally,
  judgeStatus,
  sendProviderRequest,
  type DeliveryContext,
  type Provider,
  failTemporarily,
  type ProviderRequest,
  type ReceiptState,
  type Verdict,
  parseFields,
} from "../provider.ts";

type Settings = ChannelSettings<"pushover">;

/**
 * `status` 1 is success. After 4xx, retries are forbidden, except after 429: the month's messages
 * are used up. An emergency has the ID of its delivery as a tag, which cancels all attempts.
 * https://pushover.net/api#response and https://pushover.net/api#friendly
 * https://pushover.net/api#priority and https://pushover.net/api/receipts#cancel_by_tag
 */
export const pushover: Provider<"pushover"> = {
  digests: true,
  // Pushover allows a request every 5 s.
  receipts: { pollMs: () => 30_000, read: readReceipt, cancel: cancelEmergencies },
  deliver: (settings, message, context) =>
    sendProviderRequest(buildPushoverRequest(settings, message), context, (response) =>
      addReceipt(judgePushoverResponse(response), response, context.now + settings.expire * 1_000),
    ),
};

const emergencyPriority = 2;

const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Adds the receipt that the response to an emergency contains. */
function addReceipt(verdict: Verdict, response: ShortResponse, expiresAt: number): Verdict {
  const { receipt: id } = parseFields(response);
  const isReceipt = typeof id === "string" && /^[A-Za-z0-9]{1,100}$/.test(id);
  return verdict.outcome === "delivered" && isReceipt
    ? { ...verdict, receipt: { id, expiresAt } }
    : verdict;
}

/**
 * Reads whether someone confirmed an emergency, or it is over. “This receipt can be used to
 * periodically poll our receipts API”, “no faster than once every 5 seconds”, “up to 1 week after your
 * notification has been received”: https://pushover.net/api/receipts
 */
async function readReceipt(
  { apiToken }: Settings,
  receipt: string,
  context: DeliveryContext,
): Promise<ReceiptState> {
  const url = new URL(`${origins.pushover}/1/receipts/${receipt}.json`);
  url.searchParams.set("token", apiToken);
  const request = { url, method: "GET", headers: {}, body: null, verifyTls: true };
  const response = await context.exchange(request, context);
  const { status, acknowledged, expired } = parseFields(response);
  // The receipt is unknown, or the application has another token now.
  if (judgePushoverResponse(response).outcome === "failed")
    return status === 0 && response.status >= 400 && response.status < 429 ? "over" : "waiting";
  if (acknowledged === 1) return "acknowledged";
  return expired === 1 ? "over" : "waiting";
}

/**
 * Stops the repetition of the emergencies with this tag. Returns true if none is left, or if the
 * tag is unknown.
 */
async function cancelEmergencies(
  { apiToken }: Settings,
  tag: string,
  context: DeliveryContext,
): Promise<boolean> {
  const request = {
    url: `${origins.pushover}/1/receipts/cancel_by_tag/${encodeURIComponent(tag)}.json`,
    headers: form,
    body: new URLSearchParams({ token: apiToken }).toString(),
  };
  const verdict = await sendProviderRequest(request, context, judgePushoverResponse);
  return verdict.outcome === "delivered" || verdict.failure === "final";
}

function buildPushoverRequest(
  settings: Settings,
  { id, title, lines, tone, url, acknowledgeUrl, at }: Message,
): ProviderRequest {
  const { userKey, apiToken, retry, expire } = settings;
  const priority = tone === "down" ? settings.priority : Math.min(0, settings.priority);
  return {
    url: `${origins.pushover}/1/messages.json`,
    headers: form,
    body: new URLSearchParams({
      token: apiToken,
      user: userKey,
      title: cutText(title, 250),
      // Pushover rejects a blank message.
      message: fitLines(lines, 1_024).join("\n").trim() || title,
      priority: String(priority),
      ...(priority === emergencyPriority && {
        retry: String(retry),
        expire: String(expire),
        tags: id,
      }),
      timestamp: String(Math.floor(Date.parse(at) / 1_000)),
      ...buildLink(url, acknowledgeUrl),
    }).toString(),
  };
}

/** Returns the only link of a message. The page that acknowledges an alert links to its subject. */
function buildLink(page: string, acknowledgeUrl: string | null) {
  const url = acknowledgeUrl ?? page;
  const title = acknowledgeUrl === null ? "Open in Signalbox" : "Acknowledge";
  return url.length <= 512 ? { url, url_title: title } : {};
}

function judgePushoverResponse(response: ShortResponse): Verdict {
  const { status, user, token } = parseFields(response);
  if (response.status === 429)
    return failTemporarily(
      "Pushover reports that the application has no messages left this month.",
    );
  // A response without `status` is not from Pushover.
  if (response.status >= 500 || status !== 0) return judgeStatus(response);
  if (token === "invalid")
    return failFinally("Pushover reports that the application's token is not valid.");
  if (user === "invalid") return failFinally("Pushover reports that the user key is not valid.");
  return failFinally("Pushover rejected the message.");
}
