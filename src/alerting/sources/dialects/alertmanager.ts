/** Reads Prometheus Alertmanager webhooks, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config */
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toList,
  toJsonObject,
  toText,
  joinLines,
  type Json,
  pickLink,
  pickText,
  parsePriority,
  type ReadReports,
  type Report,
} from "../report-rules.ts";

export const readAlertmanager: ReadReports = ({ body }) => {
  const { alerts } = toJsonObject(body);
  if (!Array.isArray(alerts)) throw invalidFieldError("alerts", "must be a list of alerts");
  return toList(alerts).map((alert, index) => readAlert(toJsonObject(alert), index));
};

function readAlert(alert: Json, index: number): Report {
  const labels = toJsonObject(alert["labels"]);
  const annotations = toJsonObject(alert["annotations"]);
  const status = toText(alert["status"]);
  if (status !== "firing" && status !== "resolved")
    throw invalidFieldError(`alerts[${index}].status`, "must be firing or resolved");
  const name = pickText(labels["alertname"], "Alert");
  const instance = pickText(labels["instance"], labels["job"]);
  return {
    key: pickText(alert["fingerprint"], describeLabels(labels), name),
    status: status === "firing" ? "open" : "resolved",
    title: pickText(
      annotations["summary"],
      annotations["title"],
      instance === "" ? name : `${name} on ${instance}`,
    ),
    text: joinLines(
      pickText(annotations["description"], annotations["message"]),
      describeLabels(labels),
    ),
    priority: parsePriority(pickText(labels["severity"], labels["priority"])),
    link: pickLink(
      annotations["runbook_url"],
      alert["panelURL"],
      alert["dashboardURL"],
      alert["generatorURL"],
    ),
    episode: toText(alert["startsAt"]) || null,
  };
}

/** The labels in one line, in a fixed order, such as `alertname=HighLoad, instance=db1`. */
const describeLabels = (labels: Json) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${toText(value)}`)
    .toSorted()
    .join(", ");
