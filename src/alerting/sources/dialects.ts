/** Lists the formats of alert sources. A new one is a file in `dialects/`, and an entry here. */
import { readAlertmanager } from "./dialects/alertmanager.ts";
import { readAwsSns } from "./dialects/aws-sns.ts";
import { readCheckmk } from "./dialects/checkmk.ts";
import { readGrafana } from "./dialects/grafana.ts";
import { readJson } from "./dialects/json.ts";
import { readOpsgenie } from "./dialects/opsgenie.ts";
import { readPagerDuty } from "./dialects/pagerduty.ts";
import { readSentry } from "./dialects/sentry.ts";
import { readUptimeKuma } from "./dialects/uptime-kuma.ts";
import { readZabbix } from "./dialects/zabbix.ts";
import type { ReadReports, Report, SourceRequest } from "./report-rules.ts";
import type { SourceMapping, SourceType } from "./schema.ts";

const dialects: Readonly<Record<Exclude<SourceType, "json" | "email">, ReadReports>> = {
  alertmanager: readAlertmanager,
  grafana: readGrafana,
  pagerduty: readPagerDuty,
  opsgenie: readOpsgenie,
  "uptime-kuma": readUptimeKuma,
  zabbix: readZabbix,
  checkmk: readCheckmk,
  sentry: readSentry,
  "aws-sns": readAwsSns,
};

/** Reads the reports in a request. Throws VALIDATION_ERROR with the field that is missing or wrong. */
export function readReports(
  { type, mapping }: { type: Exclude<SourceType, "email">; mapping: SourceMapping | null },
  request: SourceRequest,
): Report[] {
  if (type !== "json") return dialects[type](request);
  if (mapping === null) throw new Error("A source of the type json has a mapping.");
  return readJson(request, mapping);
}
