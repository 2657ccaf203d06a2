import { origins } from "../channels/kinds/kind-schema.ts";
import { cutText, type Message } from "../sending/messages.ts";
import { failFinally, judgeStatus, createHttpProvider } from "../provider.ts";

/**
 * Events API v2: opening a case triggers an incident, closing it resolves the incident. 202 is
 * success; after 400, retries are forbidden. “While an incident is acknowledged, it won't generate any
 * additional notifications, even if it receives new trigger events.” The only actions are trigger,
 * acknowledge and resolve, so a snooze is an acknowledgment, and a new incident replaces an
 * acknowledged one that is opened again.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 * https://github.com/PagerDuty/api-schema/blob/main/reference/events-v2/openapiv3.json
 */
export const pagerduty = createHttpProvider<"pagerduty">({
  digests: false,
  request({ routingKey, region }, message) {
    const { id, problem } = message;
    const event = { routing_key: routingKey, dedup_key: problem?.key ?? id };
    const action = problem?.isOver === true ? "resolve" : (problem?.change?.type ?? "trigger");
    return {
      url: `${origins.pagerduty[region]}/v2/enqueue`,
      body: {
        ...event,
        event_action: action,
        ...(action === "trigger" && buildDetails(message)),
      },
    };
  },
  judge(response) {
    if (response.status !== 400) return judgeStatus(response);
    return failFinally("PagerDuty rejected the event; the integration key may be wrong.");
  },
});

function buildDetails({ type, severity, at, title, facts, lines, url, alerts: [alert] }: Message) {
  const { data } = alert ?? {};
  const monitor = data !== undefined && "monitor" in data ? data.monitor : null;
  const textLines =
    facts.length > 0
      ? facts.map(({ label, value }) => [label || "Message", cutText(value, 10_000)])
      : [["Message", cutText(lines.join("\n"), 10_000)]];
  return {
    client: "Signalbox",
    client_url: url,
    links: [{ href: url, text: "Open in Signalbox" }],
    payload: {
      summary: cutText(title, 1_024),
      source: monitor?.name ?? "Signalbox",
      severity,
      timestamp: at,
      class: type,
      ...(monitor?.target != null && { component: monitor.target }),
      ...(monitor?.groupName != null && { group: monitor.groupName }),
      custom_details: Object.fromEntries(textLines),
    },
  };
}
