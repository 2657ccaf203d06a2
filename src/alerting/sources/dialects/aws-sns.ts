/** Notifications of Amazon SNS, also of CloudWatch alarms: https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html */
import { createLookup } from "../../../core/collections/objects.ts";
import { invalidFieldError } from "../../../core/validation.ts";
import {
  toJsonObject,
  toText,
  joinLines,
  type Json,
  pickText,
  type ReadReports,
  type Report,
  type ReportStatus,
  requireText,
} from "../report-rules.ts";

/** The signature was verified before, and a subscription was confirmed. */
export const readAwsSns: ReadReports = ({ body }) => {
  const sent = toJsonObject(body);
  const type = toText(sent["Type"]);
  if (type === "SubscriptionConfirmation" || type === "UnsubscribeConfirmation") return [];
  if (type !== "Notification") throw invalidFieldError("Type", "must be Notification");
  const text = toText(sent["Message"]);
  const alarm = parseAlarm(text);
  if (alarm !== null) return readAlarm(alarm);
  const subject = toText(sent["Subject"]);
  const [firstLine = ""] = text.split("\n");
  return [
    {
      // Messages of other services have no state, so those with the same subject are the same problem.
      key: pickText(subject, requireText(sent["MessageId"], "MessageId")),
      status: "open",
      title: pickText(subject, firstLine, "Message of Amazon SNS"),
      text,
      priority: null,
      link: null,
    },
  ];
};

function parseAlarm(text: string): Json | null {
  try {
    const value = toJsonObject(JSON.parse(text));
    return "AlarmName" in value && "NewStateValue" in value ? value : null;
  } catch {
    return null;
  }
}

const states: Readonly<Record<string, ReportStatus>> = createLookup({
  ALARM: "open",
  OK: "resolved",
});

/** Without enough data, the state of the alarm stays as it was. */
function readAlarm(alarm: Json): Report[] {
  const status = states[toText(alarm["NewStateValue"])];
  if (status === undefined) return [];
  const name = toText(alarm["AlarmName"]);
  return [
    {
      key: pickText(alarm["AlarmArn"], name),
      status,
      title: name,
      text: joinLines(alarm["AlarmDescription"], alarm["NewStateReason"], alarm["Region"]),
      priority: null,
      link: null,
      // Amazon delivers messages out of order, and can deliver one twice.
      episode: toText(alarm["StateChangeTime"]) || null,
      isTimed: true,
    },
  ];
}
