/** Wire format of routing: which messages a channel gets, and its quiet hours. */
import { z } from "zod";
import { nullable, TimeZone } from "../../core/fields.ts";
import { scheduleBounds } from "../../core/limits.ts";
import { coversWeek } from "../hours/rules.ts";
import { ScheduleHours } from "../hours/schema.ts";

/** Kinds of messages. A channel gets those in its `notifyOn`. */
export const messageKinds = [
  "down",
  "degraded",
  "flapping",
  "recovery",
  "reminder",
  "certificate",
  "incident",
  "channel",
  "appliance",
] as const;
export type MessageKind = (typeof messageKinds)[number];

export const notifyOn = z
  .array(z.enum(messageKinds))
  .min(1)
  .max(messageKinds.length)
  .transform((kinds) => messageKinds.filter((kind) => kinds.includes(kind)))
  .default([...messageKinds])
  .meta({
    description:
      "Kinds of messages that the channel gets. A recovery is sent only if the channel was notified of the outage. `channel` is the failure of another channel, `appliance` a problem of Signalbox itself. Escalation policies notify the channel of every alert.",
    example: ["down", "recovery"],
  });

export const QuietHours = z
  .strictObject({
    timeZone: TimeZone.default("UTC").meta({
      description: "IANA time zone of the hours.",
      example: "Europe/Berlin",
    }),
    hours: z
      .array(ScheduleHours)
      .min(1)
      .max(scheduleBounds.hours.value)
      .refine(
        (hours) => !coversWeek(hours),
        "must leave a time of the week in which messages are sent",
      )
      .meta({ description: "Times of the week." }),
  })
  .meta({
    id: "QuietHours",
    example: {
      timeZone: "Europe/Berlin",
      hours: [{ days: ["monday", "tuesday"], from: "22:00", until: "07:00" }],
    },
  });
export type QuietHours = z.output<typeof QuietHours>;

export const quietHours = nullable(QuietHours).meta({
  description:
    "Hours in which only messages about critical alerts, and recoveries of reported problems, are sent at once. Other messages are sent together at the end of the hours, unless the problem is over by then. Null for none.",
});
