import { z } from "zod";
import { Id, Severity, Origin, Timestamp } from "../core/fields.ts";
import { problemNames, problemSeverities } from "../core/problems.ts";

/** Problems of alert channels and of the appliance itself. */
export const Problems = z.object({
  channels: z.array(
    z.object({
      id: Id,
      name: z.string(),
      since: Timestamp,
      error: z.string(),
      /** Alerts that were not delivered since then. */
      undelivered: z.int(),
    }),
  ),
  appliance: z.array(
    z.object({
      name: z.enum(problemNames),
      title: z.string(),
      severity: z.enum(problemSeverities),
      message: z.string(),
      since: Timestamp,
    }),
  ),
});
export type Problems = z.infer<typeof Problems>;

/** A monitor that is down or degraded, with the recipients of its alert and its incident. */
export const Attention = z.object({
  monitorId: Id,
  /** Channels of the monitor, including disabled ones. */
  attached: z.int(),
  notified: z.array(
    z.object({
      id: Id,
      name: z.string(),
      /** `held` by quiet hours of the channel. */
      status: z.enum(["delivered", "pending", "failed", "held"]),
      /** Time of the delivery, or of its creation while it is not delivered. */
      at: Timestamp,
      error: z.string().nullable(),
    }),
  ),
  /** Its open alert; null before the alert is recorded. */
  alertId: Id.nullable(),
  /** Names of those who acknowledged its alert, in order. */
  acknowledgedBy: z.array(z.string()),
  incident: z.object({ id: Id, title: z.string(), origin: Origin, severity: Severity }).nullable(),
});
export type Attention = z.infer<typeof Attention>;
