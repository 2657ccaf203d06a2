/** Reads Sentry webhooks, from internal integrations and from the older webhook plugin. https://docs.sentry.io/organization/integrations/integration-platform/webhooks/ */
import { createLookup } from "../../../core/collections/objects.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toJsonObject,
  toText,
  joinLines,
  type Json,
  pickLink,
  pickText,
  parsePriority,
  type ReadReports,
  type Report,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";

export const readSentry: ReadReports = ({ body, headers }) => {
  const sent = toJsonObject(body);
  const data = toJsonObject(sent["data"]);
  const action = toText(sent["action"]);
  const resource = headers["sentry-hook-resource"] ?? findResource(data);
  if (resource === "event_alert") return [readEventAlert(toJsonObject(data["event"]), data)];
  if (resource === "metric_alert") return [readMetricAlert(action, data)];
  if (resource === "issue") return readIssue(action, toJsonObject(data["issue"]));
  if ("project" in sent && "url" in sent) return [readPlugin(sent)];
  // Other resources are not alerts, such as `installation` or `comment`.
  if (resource !== "") return [];
  throw invalidFieldError("data", "must contain an event, an issue or a metric_alert");
};

const findResource = (data: Json): string =>
  "metric_alert" in data
    ? "metric_alert"
    : "issue" in data
      ? "issue"
      : "event" in data
        ? "event_alert"
        : "";

function readEventAlert(event: Json, data: Json): Report {
  const key = pickText(event["issue_id"], event["groupid"], event["event_id"]);
  return {
    key: `issue ${requireText(key, "data.event.issue_id")}`,
    status: "open",
    title: pickText(event["title"], event["message"], "Sentry issue"),
    text: joinLines(event["culprit"], data["triggered_rule"]),
    priority: parsePriority(event["level"]),
    link: pickLink(event["web_url"], event["url"]),
  };
}

const metricStatuses: Readonly<Record<string, ReportStatus>> = createLookup({
  critical: "open",
  warning: "open",
  resolved: "resolved",
});

function readMetricAlert(action: string, data: Json): Report {
  const alert = toJsonObject(data["metric_alert"]);
  const status = metricStatuses[action];
  if (status === undefined)
    throw invalidFieldError("action", "must be critical, warning or resolved");
  const rule = toJsonObject(alert["alert_rule"]);
  return {
    key: `metric ${requireText(pickText(alert["id"], alert["identifier"]), "data.metric_alert.id")}`,
    status,
    title: pickText(alert["title"], rule["name"], data["description_title"], "Metric alert"),
    text: joinLines(data["description_title"], data["description_text"]),
    priority: parsePriority(action),
    link: pickLink(data["web_url"]),
  };
}

const issueStatuses: Readonly<Record<string, ReportStatus>> = createLookup({
  created: "open",
  unresolved: "open",
  resolved: "resolved",
  archived: "resolved",
  ignored: "resolved",
});

/** An assignment changes nothing. */
function readIssue(action: string, issue: Json): Report[] {
  const status = issueStatuses[action];
  if (status === undefined) return [];
  return [
    {
      key: `issue ${requireText(issue["id"], "data.issue.id")}`,
      status,
      title: pickText(issue["title"], issue["shortId"], "Sentry issue"),
      text: joinLines(issue["culprit"], toJsonObject(issue["project"])["name"]),
      priority: parsePriority(issue["level"]),
      link: pickLink(issue["web_url"], issue["permalink"]),
    },
  ];
}

function readPlugin(sent: Json): Report {
  const event = toJsonObject(sent["event"]);
  return {
    key: `issue ${requireText(pickText(sent["id"], event["groupid"]), "id")}`,
    status: "open",
    title: pickText(event["title"], sent["message"], sent["culprit"], "Sentry issue"),
    text: joinLines(sent["project_name"], sent["culprit"]),
    priority: parsePriority(sent["level"]),
    link: pickLink(sent["url"]),
  };
}
