/** Events API v2 of PagerDuty: https://developer.pagerduty.com/docs/send-alert-event */
import { createLookup } from "../../../core/collections/objects.ts";
import { sha256 } from "../../../core/ids.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  asList,
  asObject,
  asText,
  joinLines,
  type Json,
  pickLink,
  priorityFor,
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
  const event = asObject(body);
  const status = statuses[asText(event["event_action"])];
  if (status === undefined)
    throw invalidFieldError("event_action", "must be trigger, acknowledge or resolve");
  if (status !== "open") {
    const key = requireText(event["dedup_key"], "dedup_key");
    return [{ key, status, title: "", text: "", priority: null, link: null }];
  }
  const payload = asObject(event["payload"]);
  const title = requireText(payload["summary"], "payload.summary");
  const source = requireText(payload["source"], "payload.source");
  const links = asList(event["links"]).map((link) => asObject(link)["href"]);
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
      priority: priorityFor(payload["severity"]),
      link: pickLink(...links, event["client_url"]),
    },
  ];
};

/** Returns the key of an event. One without a key gets a key of its content, so that a retry opens no second alert. */
function dedupKeyOf(event: Json): string {
  const key = asText(event["dedup_key"]);
  const { summary, source, timestamp } = asObject(event["payload"]);
  return key === "" ? sha256(JSON.stringify([summary, source, timestamp])).slice(0, 32) : key;
}

const describeDetails = (details: unknown): string =>
  typeof details === "string"
    ? details
    : Object.entries(asObject(details))
        .map(([name, value]) => `${name}: ${asText(value) || JSON.stringify(value)}`)
        .join("\n");
