import type { Tone } from "../messages.ts";
import { judged, overHttp, permanent } from "../provider.ts";
import { addressOn } from "./shared-address.ts";
import { objectIn } from "./shared-json.ts";
import { within } from "./shared-layout.ts";

/**
 * Published as JSON; messages of the same `sequence_id` replace each other, so that a repeated delivery
 * shows once. https://docs.ntfy.sh/publish/#publish-as-json
 * Error codes: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
 */
export const ntfy = overHttp<"ntfy">({
  request({ server, topic, token }, { id, title, lines, tone, url }) {
    const { tag, priority } = looks[tone];
    return {
      url: addressOn(server, "/"),
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      body: {
        topic,
        title,
        // What is empty would be shown as "triggered".
        message: textOf(lines) || title,
        tags: [tag],
        priority,
        click: url,
        actions: [{ action: "view", label: "Open in Signalbox", url }],
        sequence_id: id,
      },
    };
  },
  verdict(answer) {
    const reason = hopeless.get(objectIn(answer.body)["code"]);
    return answer.status >= 400 && reason !== undefined ? permanent(reason) : judged(answer);
  },
});

/** Limit: https://docs.ntfy.sh/publish/#limitations */
function textOf(lines: readonly string[]): string {
  return within(
    4_096,
    lines,
    (kept) => kept.join("\n"),
    (text) => Buffer.byteLength(text),
  );
}

/** https://docs.ntfy.sh/publish/#message-priority and https://docs.ntfy.sh/emojis/ */
const looks: Record<Tone, { tag: string; priority: number }> = {
  down: { tag: "rotating_light", priority: 4 },
  degraded: { tag: "warning", priority: 3 },
  up: { tag: "white_check_mark", priority: 3 },
  info: { tag: "information_source", priority: 3 },
};

const hopeless = new Map<unknown, string>([
  [40009, "ntfy says that the name of the topic is not valid."],
  [40010, "ntfy says that the name of the topic is not allowed."],
  [40101, "ntfy says that the access token is not valid."],
  [40301, "ntfy says that publishing to the topic is not allowed."],
]);
