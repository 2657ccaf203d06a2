/** Reads Grafana Alerting webhooks, which contain alerts in Alertmanager's format: https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
import { toList, toJsonObject, toText, joinLines, type ReadReports } from "../report-rules.ts";
import { readAlertmanager } from "./alertmanager.ts";

export const readGrafana: ReadReports = (request) => {
  const alerts = toList(toJsonObject(request.body)["alerts"]).map(toJsonObject);
  return readAlertmanager(request).flatMap((report, index) => {
    const labels = toJsonObject(alerts[index]?.["labels"]);
    // Grafana never reports the end of its test.
    if (labels["alertname"] === "TestAlert" && labels["instance"] === "Grafana") return [];
    const rule = toText(labels["rulename"]);
    // Grafana reports a rule without data, or with an error, under a name of its own.
    const kind = toText(labels["alertname"]);
    const isOwn = rule !== "" && (kind === "DatasourceNoData" || kind === "DatasourceError");
    const title = kind === "DatasourceNoData" ? `${rule}: no data` : `${rule}: error`;
    return {
      ...report,
      title: isOwn ? title : report.title,
      text: joinLines(report.text, toText(alerts[index]?.["valueString"])),
    };
  });
};
