import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import { cutText } from "../sending/messages.ts";
import { escapeMarkdown, findCaseState } from "./formatting.ts";

/**
 * Opens and resolves alerts by their deduplication key. There is no acknowledgment. 202 is success.
 * https://api-docs.incident.io/tag/Alert-Events-V2
 */
export const incidentio = createHttpProvider<"incidentio">({
  digests: false,
  request({ url, token }, message) {
    const state = findCaseState(message);
    if (state === "acknowledged") return null;
    const { id, type, severity, title, lines, url: source, problem, alerts } = message;
    const data = alerts[0]?.data;
    const monitor = data !== undefined && "monitor" in data ? data.monitor : null;
    return {
      url,
      headers: { Authorization: `Bearer ${token}` },
      body: {
        title: cutText(title, 500),
        description: cutText(lines.map(escapeMarkdown).join("\n\n"), 10_000),
        deduplication_key: problem?.key ?? id,
        status: state === "over" ? "resolved" : "firing",
        source_url: source,
        metadata: {
          type,
          severity,
          ...(monitor !== null && { monitor: monitor.name, tags: monitor.tags ?? [] }),
          ...(monitor?.groupName != null && { group: monitor.groupName }),
          ...(monitor?.target != null && { target: monitor.target }),
        },
      },
    };
  },
  judge: createStatusVerdict("incident.io", {
    401: "the token is not valid",
    404: "the alert source does not exist",
  }),
});
