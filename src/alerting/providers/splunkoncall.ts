import type { ProblemSeverity } from "../../core/problems.ts";
import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import { cutText } from "../sending/messages.ts";
import { findCaseState } from "./formatting.ts";

const openTypes: Record<ProblemSeverity, string> = {
  critical: "CRITICAL",
  error: "CRITICAL",
  warning: "WARNING",
  // Appears in the timeline without an incident.
  info: "INFO",
};

/**
 * Opens, acknowledges and resolves incidents by their entity ID. The response contains the result.
 * https://help.splunk.com/en/splunk-observability-cloud/splunk-on-call/integrations-with-splunk-on-call/rest-endpoint-integration-for-splunk-on-call
 */
export const splunkoncall = createHttpProvider<"splunkoncall">({
  digests: false,
  request({ webhookUrl }, message) {
    const { id, at, title, lines, severity, url, problem } = message;
    const types = { open: openTypes[severity], acknowledged: "ACKNOWLEDGEMENT", over: "RECOVERY" };
    const note = problem?.change?.note;
    return {
      url: webhookUrl,
      body: {
        message_type: types[findCaseState(message)],
        entity_id: problem?.key ?? id,
        entity_display_name: cutText(title, 500),
        state_message: cutText([note ?? title, ...lines].join("\n"), 15_000),
        state_start_time: Math.floor(Date.parse(at) / 1_000),
        monitoring_tool: "Signalbox",
        "vo_annotate.u.Open in Signalbox": url,
      },
    };
  },
  judge: createCodeVerdict({
    service: "Splunk On-Call",
    field: "result",
    accepted: "success",
  }),
});
