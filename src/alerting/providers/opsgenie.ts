/** Opens and closes alerts at Opsgenie and Jira Service Management. */
import { type ChannelSettings, origins } from "../channels/kinds-schema.ts";
import type { ProblemSeverity } from "../../core/problems.ts";
import { cutText, type Message } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failPermanently, type Provider } from "../provider.ts";

/**
 * Alert API of Opsgenie, which shuts down on 5 April 2027.
 * https://docs.opsgenie.com/docs/alert-api and, for responses,
 * https://docs.opsgenie.com/docs/response
 * https://www.atlassian.com/software/opsgenie/migration
 */
export const opsgenie = createAlertsApiProvider<"opsgenie">(
  "Opsgenie",
  ({ region }) => `${origins.opsgenie[region]}/v2/alerts`,
);

/**
 * Operations of Jira Service Management, the successor of Opsgenie. Keys and bodies are the same,
 * with one URL for all regions.
 * https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
 */
export const jsm = createAlertsApiProvider<"jsm">(
  "Jira Service Management",
  () => `${origins.jsm}/jsm/ops/integration/v2/alerts`,
);

/**
 * Creates a provider. Opening a case creates an alert with the case key as alias; closing the case
 * closes that alert.
 */
function createAlertsApiProvider<T extends "opsgenie" | "jsm">(
  service: string,
  addressOf: (settings: ChannelSettings<T>) => string,
): Provider<T> {
  return createHttpProvider<T>({
    digests: false,
    request(settings, message) {
      const { id, title, problem } = message;
      const alias = problem?.key ?? id;
      const isOver = problem?.isOver === true;
      const path = isOver ? `/${encodeURIComponent(alias)}/close?identifierType=alias` : "";
      return {
        url: `${addressOf(settings)}${path}`,
        headers: { Authorization: `GenieKey ${(settings as { apiKey: string }).apiKey}` },
        body: isOver
          ? { source, note: cutText([title, ...message.lines].join("\n"), 25_000) }
          : { source, alias, ...buildAlert(message) },
      };
    },
    verdict(answer) {
      const reason = alertsApiReasons.get(answer.status);
      return reason === undefined ? judgeStatus(answer) : failPermanently(`${service} ${reason}`);
    },
  });
}

const source = "Signalbox";

function buildAlert({ type, title, lines, severity, url, alerts: [alert] }: Message) {
  const { data } = alert ?? {};
  const monitor = data !== undefined && "monitor" in data ? data.monitor : null;
  const details = {
    url,
    ...(monitor?.target != null && { target: monitor.target }),
    ...(monitor?.groupName != null && { group: monitor.groupName }),
  };
  return {
    message: cutText(title, 130),
    description: `${cutText(lines.join("\n"), 15_000 - url.length - 2)}\n\n${url}`,
    priority: priorities[severity],
    tags: ["signalbox", type, ...(monitor?.tags ?? [])],
    details,
    ...(monitor !== null && { entity: monitor.name }),
  };
}

const priorities: Record<ProblemSeverity, string> = {
  critical: "P1",
  error: "P2",
  warning: "P3",
  info: "P5",
};

const alertsApiReasons = new Map([
  [401, "says that the API key is not valid, or its integration is off."],
  [402, "says that the account's plan has no alerts of this kind."],
  [403, "says that the API key is not allowed to do this."],
  [422, "refused the alert."],
]);
