/** Notifications of Checkmk, as the variables that its notification scripts get: https://docs.checkmk.com/latest/en/notifications.html#scripts */
import { createLookup } from "../../../core/collections/objects.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toJsonObject,
  joinLines,
  type Json,
  pickLink,
  pickText,
  type ReadReports,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";

const priorities: Readonly<Record<string, "low" | "normal" | "critical">> = createLookup({
  DOWN: "critical",
  CRITICAL: "critical",
  CRIT: "critical",
  UNREACHABLE: "critical",
  UNKNOWN: "normal",
  WARNING: "normal",
  WARN: "normal",
});

export const readCheckmk: ReadReports = ({ body }) => {
  const sent = toJsonObject(body);
  const read = (name: string) => pickText(sent[name], sent[`NOTIFY_${name}`]);
  const host = requireText(read("HOSTNAME"), "HOSTNAME");
  const service = read("SERVICEDESC");
  const isService = read("WHAT") === "SERVICE" || (read("WHAT") === "" && service !== "");
  const state = read(isService ? "SERVICESTATE" : "HOSTSTATE");
  const status = statusOf(read("NOTIFICATIONTYPE"), state);
  if (status === null) return [];
  return [
    {
      key: isService ? `${host};${service}` : host,
      status,
      title: isService ? `${host}: ${service} is ${state}` : `${host} is ${state}`,
      text: joinLines(
        read(isService ? "SERVICEOUTPUT" : "HOSTOUTPUT"),
        read(isService ? "LONGSERVICEOUTPUT" : "LONGHOSTOUTPUT"),
        read("NOTIFICATIONCOMMENT"),
      ),
      priority: priorities[state] ?? null,
      link: buildLink(sent, isService),
    },
  ];
};

/** Checkmk sends no recovery during a downtime or flapping, so the state at their end decides. */
const decidingTypes =
  /^(?:PROBLEM|ALERTHANDLER.*|FLAPPINGSTOP|FLAPPINGDISABLED|DOWNTIMEEND|DOWNTIMECANCELLED)$/;

/** Null for a notification that changes nothing, such as the start of a downtime. */
function statusOf(type: string, state: string): ReportStatus | null {
  if (type === "") throw invalidFieldError("NOTIFICATIONTYPE", "is required");
  if (type === "RECOVERY") return "resolved";
  if (type === "ACKNOWLEDGEMENT") return "acknowledged";
  if (!decidingTypes.test(type)) return null;
  return state === "OK" || state === "UP" ? "resolved" : "open";
}

function buildLink(sent: Json, isService: boolean): string | null {
  const read = (name: string) => pickText(sent[name], sent[`NOTIFY_${name}`]);
  const base = read("MONITORING_HOST_URL") || read("OMD_URL");
  const path = read(isService ? "SERVICEURL" : "HOSTURL");
  return pickLink(path, base !== "" && path !== "" ? `${base.replace(/\/$/, "")}${path}` : "");
}
