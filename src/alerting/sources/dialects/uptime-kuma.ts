/** Webhook notifications of Uptime Kuma: https://github.com/louislam/uptime-kuma/blob/master/server/notification-providers/webhook.js */
import { createLookup } from "../../../core/collections/objects.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toJsonObject,
  toText,
  joinLines,
  pickLink,
  pickText,
  type ReadReports,
  type ReportStatus,
} from "../report-rules.ts";

/** Statuses of a heartbeat: 0 down, 1 up, 2 pending, 3 maintenance. */
const statuses: Readonly<Record<string, ReportStatus>> = createLookup({
  0: "open",
  1: "resolved",
  3: "resolved",
});

export const readUptimeKuma: ReadReports = ({ body }) => {
  const sent = toJsonObject(body);
  // A form contains the JSON in one field.
  const { heartbeat, monitor, msg } = "data" in sent ? parseJson(sent["data"]) : sent;
  if (msg === undefined && heartbeat === undefined)
    throw invalidFieldError("heartbeat", "is required");
  // Without a heartbeat, it is a test, or a notice that a certificate expires.
  if (heartbeat === undefined || heartbeat === null) return readNotice(toText(msg));
  const beat = toJsonObject(heartbeat);
  const watched = toJsonObject(monitor);
  const status = statuses[toText(beat["status"])];
  if (status === undefined) return [];
  const name = pickText(watched["pathName"], watched["name"], "Monitor");
  return [
    {
      key: `monitor ${pickText(beat["monitorID"], watched["id"], name)}`,
      status,
      title: `${name} is ${status === "open" ? "down" : "up"}`,
      text: joinLines(beat["msg"], pickText(watched["url"], watched["hostname"])),
      priority: status === "open" ? "critical" : null,
      link: pickLink(watched["url"]),
    },
  ];
};

/** A test opens no alert. */
function readNotice(message: string) {
  if (message === "" || /testing$/i.test(message)) return [];
  const name = /^\[([^\]]+)\]/.exec(message)?.[1] ?? message;
  return [
    {
      key: `certificate ${name}`,
      status: "open" as const,
      title: message.slice(0, 200),
      text: message,
      priority: "normal" as const,
      link: null,
    },
  ];
}

function parseJson(text: unknown) {
  try {
    return toJsonObject(JSON.parse(toText(text)));
  } catch {
    throw invalidFieldError("data", "must be JSON");
  }
}
