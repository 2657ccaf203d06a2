/** Alert API of Opsgenie and Jira Service Management: https://docs.opsgenie.com/docs/alert-api */
import { createLookup } from "../../../core/collections/objects.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toList,
  toJsonObject,
  toText,
  joinLines,
  pickText,
  parsePriority,
  type ReadReports,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";

const actions: Readonly<Record<string, ReportStatus>> = createLookup({
  close: "resolved",
  acknowledge: "acknowledged",
});

/** Accepts `/v2/alerts` to create an alert, and `/v2/alerts/ALIAS/close` or `/acknowledge`. */
export const readOpsgenie: ReadReports = ({ path, body }) => {
  const [, identifier, action] = /\/alerts\/([^/]+)\/([a-z]+)\/?$/.exec(path) ?? [];
  if (identifier !== undefined && action !== undefined) {
    const status = actions[action];
    if (status === undefined) throw invalidFieldError("path", "must end in /close or /acknowledge");
    const key = decodePart(identifier);
    return [{ key, status, title: "", text: "", priority: null, link: null }];
  }
  const alert = toJsonObject(body);
  const title = requireText(alert["message"], "message");
  const details = Object.entries(toJsonObject(alert["details"])).map(
    ([name, value]) => `${name}: ${toText(value)}`,
  );
  return [
    {
      // Without an alias, alerts with the same message are the same problem.
      key: pickText(alert["alias"], title),
      status: "open",
      title,
      text: joinLines(
        alert["description"],
        alert["entity"],
        alert["source"],
        ...details,
        toList(alert["tags"]).map(toText).join(", "),
      ),
      // P3 is the priority of an alert without one.
      priority: parsePriority(alert["priority"]) ?? "normal",
      link: null,
    },
  ];
};

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
