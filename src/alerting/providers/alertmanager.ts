import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { createHttpProvider } from "../provider.ts";
import { cutText, subjectOf } from "../sending/messages.ts";
import { buildLogin, findCaseState, joinUrl } from "./formatting.ts";

const yearMs = 365 * dayMs;
/** Duration of a test alert. It ends automatically, because people can't close alerts at Alertmanager. */
const testMs = 5 * minuteMs;

/**
 * Fires an alert that ends in a year, or ends it now. A test ends in five minutes. Labels identify an alert, so they don't
 * change. Without an end, Alertmanager would resolve it after `resolve_timeout`. There is no acknowledgment. 200 is success.
 * https://prometheus.io/docs/alerting/latest/alerts_api/
 */
export const alertmanager = createHttpProvider<"alertmanager">({
  digests: false,
  request({ server, ...login }, message, now) {
    const state = findCaseState(message);
    if (state === "acknowledged") return null;
    const { id, at, type, severity, title, lines, url, problem, alerts } = message;
    const [alert] = alerts;
    const lastsMs = state === "over" ? 0 : type === "test" ? testMs : yearMs;
    const endsAt = new Date(now + lastsMs).toISOString();
    return {
      url: joinUrl(server, "/api/v2/alerts"),
      headers: buildLogin(login),
      body: [
        {
          labels: {
            alertname: "Signalbox",
            case: problem?.key ?? id,
            ...(alert !== undefined && { instance: subjectOf(alert) }),
          },
          annotations: {
            summary: cutText(title, 500),
            description: cutText(lines.join("\n"), 10_000),
            severity,
            type,
          },
          startsAt: at,
          endsAt,
          generatorURL: url,
        },
      ],
    };
  },
});
