/** The delivery part of the alert model: which alerts arrive after retries, rejections and losses. */
import type { Database } from "bun:sqlite";
import { keyOf, type ExpectedNotification } from "./alert-model.ts";

/** An attempt at a delivery, as the receiver saw it: its alerts and the response. */
export type Attempt = {
  channel: string;
  delivery: string;
  at: number;
  body: string;
  alerts: readonly ArrivedAlert[];
  reply: Reply;
};
type ArrivedAlert = { alertId: string; subject: string; type: string; at: number };
export type Reply = "well" | "broken" | "busy" | "closed" | "refused" | "gone";

/** Retry-After of a busy receiver, in seconds. */
export const maxRetryAfterSeconds = 1_800;
const retrySeconds = [5, 15, 60, 300];

/** Whether the last of these attempts was the final, failed attempt of its delivery. */
export function isGivenUp(attempts: readonly Attempt[]): boolean {
  const { delivery, reply } = attempts.at(-1) as Attempt;
  if (reply === "gone" || reply === "well") return reply === "gone";
  const ownAttempts = attempts.filter((one) => one.delivery === delivery);
  const first = ownAttempts[0] as Attempt;
  const doubted = ownAttempts[ownAttempts.findLastIndex((one) => one.reply !== "refused") + 1];
  let [tries, due] = [0, 0];
  for (const one of attempts) {
    if (one.reply === "well") due = Math.min(due, one.at);
    if (one.delivery !== delivery) continue;
    // An early attempt does not change the due time.
    if (one.at >= due) due = one.at + (retrySeconds[tries++] ?? 900) * 1000;
    if (one.reply === "busy") due = Math.max(due, one.at + maxRetryAfterSeconds * 1000);
  }
  const hour = 3_600_000;
  return due > Math.min(first.at + 24 * hour, doubted === undefined ? Infinity : doubted.at + hour);
}

/** Alerts that a channel receives: without lost ones, and without recoveries of unreported problems. */
export function selectArriving(
  notifications: readonly ExpectedNotification[],
  channel: string,
  isLost: (one: ExpectedNotification) => boolean,
): ExpectedNotification[] {
  const informed = new Set<string>();
  return notifications.filter((one) => {
    if (one.channel !== channel) return false;
    const isEnd = /\.(up|resolved)$/.test(one.type);
    const isLate = isEnd && !informed.delete(one.subject);
    if (isLost(one) || isLate) return false;
    if (!isEnd) informed.add(one.subject);
    return true;
  });
}

/** Alerts that the delivery log reports as lost. */
export function readLost(database: Database): string[] {
  return database
    .query<{ channel: string; subject: string; type: string; at: string }, []>(
      `SELECT d.receiver_id AS channel, coalesce(a.monitor_id, a.incident_id) AS subject, a.type, a.at
       FROM deliveries d JOIN delivery_alerts t ON t.delivery_id = d.id
         JOIN alerts a ON a.id = t.alert_id WHERE d.status IN ('failed', 'skipped')`,
    )
    .all()
    .map((row) => keyOf({ ...row, at: Date.parse(row.at) }));
}
