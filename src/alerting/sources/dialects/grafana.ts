/** Webhooks of Grafana Alerting, whose alerts have the form of Alertmanager's: https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
import { asList, asObject, asText, joinLines, type ReadReports } from "../report-rules.ts";
import { readAlertmanager } from "./alertmanager.ts";

export const readGrafana: ReadReports = (request) => {
  const alerts = asList(asObject(request.body)["alerts"]).map(asObject);
  return readAlertmanager(request).map((report, index) => {
    const labels = asObject(alerts[index]?.["labels"]);
    const rule = asText(labels["rulename"]);
    // Grafana reports a rule without data, or with an error, under a name of its own.
    const kind = asText(labels["alertname"]);
    const isOwn = rule !== "" && (kind === "DatasourceNoData" || kind === "DatasourceError");
    const title = kind === "DatasourceNoData" ? `${rule}: no data` : `${rule}: error`;
    return {
      ...report,
      title: isOwn ? title : report.title,
      text: joinLines(report.text, asText(alerts[index]?.["valueString"])),
    };
  });
};
