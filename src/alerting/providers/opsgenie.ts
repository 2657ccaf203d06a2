/** Opens, acknowledges and closes alerts at Opsgenie and Jira Service Management. */
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { origins } from "../channels/kinds/kind-schema.ts";
import type { ProblemSeverity } from "../../core/problems.ts";
import { cutText, type Message } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failPermanently, type Provider } from "../provider.ts";

/**
 * Alert API of Opsgenie, which shuts down on 5 April 2027.
 * https://docs.opsgenie.com/docs/alert-api and, for responses,
 * https://docs.opsgenie.com/docs/response
 * https://www.atlassian.com/software/opsgenie/migration
 * A snooze is an acknowledgment here, because “you can snooze alerts up to one week”, and at its end
 * Opsgenie itself notifies people: https://docs.opsgenie.com/docs/snooze
 */
export const opsgenie = createAlertsApiProvider<"opsgenie">(
  "Opsgenie",
  ({ region }) => `${origins.opsgenie[region]}/v2/alerts`,
  true,
);

/**
 * Operations of Jira Service Management, the successor of Opsgenie. Keys and bodies are the same,
 * with one URL for all regions. Its API is “the contract to create/acknowledge/close/add note actions
 * of alerts”: it can neither snooze an alert nor remove its acknowledgment.
 * https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
 */
export const jsm = createAlertsApiProvider<"jsm">(
  "Jira Service Management",
  () => `${origins.jsm}/jsm/ops/integration/v2/alerts`,
  false,
);

/**
 * Creates a provider. Opening a case creates an alert with the case key as alias. Acknowledging and
 * closing the case acknowledge and close that alert.
 */
function createAlertsApiProvider<T extends "opsgenie" | "jsm">(
  service: string,
  addressOf: (settings: ChannelSettings<T>) => string,
  reopensCases: boolean,
): Provider<T> {
  return createHttpProvider<T>({
    digests: false,
    reopensCases,
    request(settings, message) {
      const { id, problem } = message;
      const alias = problem?.key ?? id;
      const { action, note } = findAction(message);
      const path =
        action === null ? "" : `/${encodeURIComponent(alias)}/${action}?identifierType=alias`;
      return {
        url: `${addressOf(settings)}${path}`,
        headers: { Authorization: `GenieKey ${(settings as { apiKey: string }).apiKey}` },
        body:
          action === null
            ? { source, alias, ...buildAlert(message) }
            : { source, note: cutText(note, 25_000) },
      };
    },
    judge(response) {
      const reason = alertsApiReasons.get(response.status);
      return reason === undefined ? judgeStatus(response) : failPermanently(`${service} ${reason}`);
    },
  });
}

const source = "Signalbox";

/** Returns the action on an existing alert, and its note; null to create one. */
function findAction({ problem, title, lines }: Message) {
  const { isOver = false, change } = problem ?? {};
  if (isOver) return { action: "close", note: [title, ...lines].join("\n") };
  return { action: change?.type ?? null, note: change?.note ?? "" };
}

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
