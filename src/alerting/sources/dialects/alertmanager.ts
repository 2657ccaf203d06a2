/** Webhooks of Prometheus Alertmanager, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config */
import { invalidFieldError } from "../../../core/validation.ts";
import {
  asList,
  asObject,
  asText,
  joinLines,
  type Json,
  pickLink,
  pickText,
  priorityFor,
  type ReadReports,
  type Report,
} from "../report-rules.ts";

export const readAlertmanager: ReadReports = ({ body }) => {
  const { alerts } = asObject(body);
  if (!Array.isArray(alerts)) throw invalidFieldError("alerts", "must be a list of alerts");
  return asList(alerts).map((alert, index) => readAlert(asObject(alert), index));
};

function readAlert(alert: Json, index: number): Report {
  const labels = asObject(alert["labels"]);
  const annotations = asObject(alert["annotations"]);
  const status = asText(alert["status"]);
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
    priority: priorityFor(pickText(labels["severity"], labels["priority"])),
    link: pickLink(
      annotations["runbook_url"],
      alert["panelURL"],
      alert["dashboardURL"],
      alert["generatorURL"],
    ),
    episode: asText(alert["startsAt"]) || null,
  };
}

/** The labels in one line, in a fixed order, such as `alertname=HighLoad, instance=db1`. */
const describeLabels = (labels: Json) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${asText(value)}`)
    .toSorted()
    .join(", ");
