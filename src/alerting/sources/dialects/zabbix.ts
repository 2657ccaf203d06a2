/** Reads Zabbix webhooks with the parameters of Zabbix's own media types: https://www.zabbix.com/documentation/current/en/manual/config/notifications/media/webhook */
import {
  toJsonObject,
  toText,
  joinLines,
  type Json,
  pickLink,
  pickText,
  type ReadReports,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";
import { parsePriority } from "../report-rules.ts";

/** {EVENT.NSEVERITY}: 0 not classified, 1 information, 2 warning, 3 average, 4 high, 5 disaster. */
const priorities = ["normal", "low", "normal", "normal", "critical", "critical"] as const;

export const readZabbix: ReadReports = ({ body }) => {
  const sent = toJsonObject(body);
  const key = requireText(pickText(sent["event_id"], sent["eventid"]), "event_id");
  const status = statusOf(sent);
  const subject = pickText(sent["event_name"], sent["alert_subject"], sent["trigger_name"]);
  const host = pickText(sent["host_name"], sent["host"]);
  return [
    {
      key,
      status,
      title: [host, subject].filter((part) => part !== "").join(": ") || `Event ${key}`,
      text: joinLines(pickText(sent["alert_message"], sent["event_opdata"])),
      priority: priorityOf(sent),
      link: pickLink(sent["event_url"], sent["trigger_url"], buildEventUrl(sent, key)),
      // Each problem has an event of its own, so it can't start again.
      episode: key,
    },
  ];
};

/** {EVENT.VALUE} is 0 for a recovery. An update can acknowledge the problem. */
function statusOf(sent: Json): ReportStatus {
  const value = pickText(sent["event_value"], sent["value"]).toLowerCase();
  if (value === "0" || value === "resolved" || value === "ok") return "resolved";
  const isUpdate = toText(sent["event_update_status"]) === "1";
  const isAcknowledged = toText(sent["event_ack_status"]).toLowerCase() === "yes";
  return isUpdate && isAcknowledged ? "acknowledged" : "open";
}

function priorityOf(sent: Json) {
  const number = toText(sent["event_nseverity"]);
  return number === ""
    ? parsePriority(pickText(sent["event_severity"], sent["severity"]))
    : (priorities[Number(number)] ?? null);
}

function buildEventUrl(sent: Json, eventId: string): string {
  const base = pickText(sent["zabbix_url"]).replace(/\/$/, "");
  const triggerId = pickText(sent["trigger_id"], sent["triggerid"]);
  return base === "" || triggerId === ""
    ? ""
    : `${base}/tr_events.php?triggerid=${triggerId}&eventid=${eventId}`;
}
