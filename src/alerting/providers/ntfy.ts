/** Publishes messages to ntfy topics. */
import type { Tone } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failPermanently, parseFields } from "../provider.ts";
import { buildLogin, joinUrl, renderWithin } from "./formatting.ts";

/**
 * Publishes as JSON. Messages with the same `sequence_id` replace each other, so a repeated delivery
 * appears once: https://docs.ntfy.sh/publish/#publish-as-json
 * Token or password: https://docs.ntfy.sh/publish/#authentication
 * Priorities: https://docs.ntfy.sh/publish/#message-priority
 * Error codes: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
 */
export const ntfy = createHttpProvider<"ntfy">({
  request({ server, topic, tags, ...settings }, { id, title, lines, tone, url, acknowledgeUrl }) {
    return {
      url: joinUrl(server, "/"),
      headers: buildLogin(settings),
      body: {
        topic,
        title,
        // ntfy shows an empty message as "triggered".
        message: limitText(lines) || title,
        tags: [signs[tone], ...tags],
        priority: tone === "down" ? settings.priority : Math.min(3, settings.priority),
        click: url,
        actions: [
          ...(acknowledgeUrl === null ? [] : [createAcknowledgeAction(acknowledgeUrl)]),
          { action: "view", label: "Open in Signalbox", url },
        ],
        sequence_id: id,
      },
    };
  },
  judge(response) {
    const reason = ntfyReasons.get(parseFields(response)["code"]);
    return response.status >= 400 && reason !== undefined
      ? failPermanently(reason)
      : judgeStatus(response);
  },
});

/** Acknowledges without opening a page: https://docs.ntfy.sh/publish/#send-http-request */
const createAcknowledgeAction = (url: string) => ({
  action: "http",
  label: "Acknowledge",
  url,
  method: "POST",
  clear: true,
});

/** Shortens lines to the limit of ntfy: https://docs.ntfy.sh/publish/#limitations */
function limitText(lines: readonly string[]): string {
  return renderWithin(
    4_096,
    lines,
    (lines) => lines.join("\n"),
    (text) => Buffer.byteLength(text),
  );
}

/** Emoji per tone, by their names in ntfy: https://docs.ntfy.sh/emojis/ */
const signs: Record<Tone, string> = {
  down: "rotating_light",
  degraded: "warning",
  up: "white_check_mark",
  info: "information_source",
};

const ntfyReasons = new Map<unknown, string>([
  [40009, "ntfy reports that the name of the topic is not valid."],
  [40010, "ntfy reports that the name of the topic is not allowed."],
  [40101, "ntfy reports that the access token, or the user name or password, is not valid."],
  [40301, "ntfy reports that publishing to the topic is not allowed."],
]);
