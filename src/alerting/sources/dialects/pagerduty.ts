/** Events API v2 of PagerDuty: https://developer.pagerduty.com/docs/send-alert-event */
import { createLookup } from "../../../core/collections/objects.ts";
import { sha256 } from "../../../core/ids.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toList,
  toJsonObject,
  toText,
  joinLines,
  type Json,
  pickLink,
  parsePriority,
  type ReadReports,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";

const statuses: Readonly<Record<string, ReportStatus>> = createLookup({
  trigger: "open",
  acknowledge: "acknowledged",
  resolve: "resolved",
});

export const readPagerDuty: ReadReports = ({ body }) => {
  const event = toJsonObject(body);
  const status = statuses[toText(event["event_action"])];
  if (status === undefined)
    throw invalidFieldError("event_action", "must be trigger, acknowledge or resolve");
  if (status !== "open") {
    const key = requireText(event["dedup_key"], "dedup_key");
    return [{ key, status, title: "", text: "", priority: null, link: null }];
  }
  const payload = toJsonObject(event["payload"]);
  const title = requireText(payload["summary"], "payload.summary");
  const source = requireText(payload["source"], "payload.source");
  const links = toList(event["links"]).map((link) => toJsonObject(link)["href"]);
  return [
    {
      key: dedupKeyOf(event),
      status,
      title,
      text: joinLines(
        source,
        payload["component"],
        payload["group"],
        payload["class"],
        describeDetails(payload["custom_details"]),
      ),
      priority: parsePriority(payload["severity"]),
      link: pickLink(...links, event["client_url"]),
    },
  ];
};

/** Returns the key of an event. One without a key gets a key of its content, so that a retry opens no second alert. */
function dedupKeyOf(event: Json): string {
  const key = toText(event["dedup_key"]);
  const { summary, source, timestamp } = toJsonObject(event["payload"]);
  return key === "" ? sha256(JSON.stringify([summary, source, timestamp])).slice(0, 32) : key;
}

const describeDetails = (details: unknown): string =>
  typeof details === "string"
    ? details
    : Object.entries(toJsonObject(details))
        .map(([name, value]) => `${name}: ${toText(value) || JSON.stringify(value)}`)
        .join("\n");
