/** Sends messages and emergencies to Pushover, and cancels emergencies. */
import { type ChannelSettings, origins } from "../channels/kinds-schema.ts";
import type { ShortAnswer } from "../../core/outgoing/http/exchange.ts";
import { listCases, cutText, fitLines, type Message } from "../sending/messages.ts";
import {
  failFinally,
  judgeStatus,
  sendProviderRequest,
  type Provider,
  failTemporarily,
  type ProviderRequest,
  type Verdict,
  parseFields,
} from "../provider.ts";

type Settings = ChannelSettings<"pushover">;

/**
 * `status` 1 is success. After 4xx, retries are forbidden, except after 429: the month's messages
 * are used up. An emergency has its case key as a tag, which cancels it when the case ends.
 * https://pushover.net/api#response and https://pushover.net/api#friendly
 * https://pushover.net/api#priority and https://pushover.net/api/receipts#cancel_by_tag
 */
export const pushover: Provider<"pushover"> = {
  digests: true,
  async deliver(settings, message, context) {
    const ended = settings.priority === emergency ? listCases(message.alerts) : [];
    const cancelling = ended
      .filter(({ isOver }) => isOver)
      .slice(0, maxCancelled)
      .map(({ key }) =>
        sendProviderRequest(buildCancelRequest(settings, key), context, judgePushoverResponse),
      );
    const verdicts = await Promise.all(cancelling);
    const failed = verdicts.find((one) => one.outcome === "failed" && one.failure === "passing");
    return (
      failed ??
      (await sendProviderRequest(
        buildPushoverRequest(settings, message),
        context,
        judgePushoverResponse,
      ))
    );
  },
};

const emergency = 2;

/** Maximum emergencies that one digest cancels. Others continue until they expire or are confirmed. */
const maxCancelled = 10;

const form = { "Content-Type": "application/x-www-form-urlencoded" };

function buildCancelRequest({ apiToken }: Settings, tag: string): ProviderRequest {
  return {
    url: `${origins.pushover}/1/receipts/cancel_by_tag/${encodeURIComponent(tag)}.json`,
    headers: form,
    body: new URLSearchParams({ token: apiToken }).toString(),
  };
}

function buildPushoverRequest(
  settings: Settings,
  { title, lines, tone, url, acknowledgeUrl, at, problem }: Message,
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
      ...(priority === emergency && { retry: String(retry), expire: String(expire) }),
      // A digest gets no tag, because the end of one case must not cancel its emergency.
      ...(priority === emergency && problem !== null && { tags: problem.key }),
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

function judgePushoverResponse(answer: ShortAnswer): Verdict {
  const { status, user, token } = parseFields(answer);
  if (answer.status === 429)
    return failTemporarily(
      "Pushover reports that the application has no messages left this month.",
    );
  // A response without `status` is not from Pushover.
  if (answer.status >= 500 || status !== 0) return judgeStatus(answer);
  if (token === "invalid")
    return failFinally("Pushover reports that the application's token is not valid.");
  if (user === "invalid") return failFinally("Pushover reports that the user key is not valid.");
  return failFinally("Pushover rejected the message.");
}
