import { createId } from "../../core/ids.ts";
import type { Priority } from "../../core/statuses.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { AlertData } from "../alert.ts";
import { createLinkKey } from "../records/links.ts";
import type { RecordRow } from "../records/store.ts";

/** The policy or person that a drill notifies. */
export type DrillSubject = AlertData["drill"]["drill"];

const message = "This is a drill: nothing has failed. Acknowledge it, as you would an alert.";

/** Returns the alert of a drill. Its first step is due at once. */
export function createDrill(
  organizationId: string,
  subject: DrillSubject,
  priority: Priority,
  now: number,
): RecordRow {
  const at = formatTimestamp(now);
  const data: AlertData["drill"] = { drill: subject, message };
  return {
    organizationId,
    id: createId(now),
    family: "drill",
    subjectId: subject.id,
    type: "drill",
    at,
    data: JSON.stringify(data),
    priority,
    since: at,
    resolvedAt: null,
    resolvedBecause: null,
    acknowledgedAt: null,
    snoozedUntil: null,
    policyId: subject.type === "policy" ? subject.id : null,
    step: 0,
    round: 0,
    dueAt: now,
    escalatedFrom: now,
    runs: null,
    linkKey: createLinkKey(),
    version: 1,
  };
}
