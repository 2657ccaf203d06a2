import type { AuditedChange } from "../events/commit.ts";
import { timestamp } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import type { Statement } from "../database/store.ts";
import { actionOf, type AutomaticUpdate, type IncidentAction, incidentAfter } from "./rules.ts";
import type { Incident, IncidentPatch, NewIncident } from "./schema.ts";
import { changeIncident, type IncidentRecord, insertIncident, insertUpdate } from "./store.ts";

/** What people and monitors do to what stands on an incident's timeline. */
type IncidentChange = AuditedChange<IncidentAction | "incident.opened">;

/** How the incident is afterwards, how it gets there, what that is for the audit log and the events. */
export type Write = { after: IncidentRecord; statements: Statement[]; audited: IncidentChange };

/** A new incident with its first timeline entry. What a monitor says has its facts beside the words. */
export function opening(
  organizationId: string,
  { message, ...input }: NewIncident,
  origin: Incident["origin"],
  now: number,
): Write {
  const at = timestamp(now);
  const automatic = origin === "monitor" ? { kind: "down" as const } : null;
  const status = "investigating" as const;
  const update = { id: newId(now), status, message, createdAt: at, automatic };
  const after: IncidentRecord = {
    ...input,
    id: newId(now),
    status,
    origin,
    resolvedAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
    automatic,
    updates: [update],
  };
  return {
    after,
    statements: [
      insertIncident(organizationId, after),
      insertUpdate(organizationId, after, update),
    ],
    audited: {
      action: "incident.opened",
      subjectId: after.id,
      data: { updateId: update.id },
    },
  };
}

/**
 * A patch of an incident, with the timeline entry it posts, if any; `automatic` is what a monitor's
 * entry says. A title that somebody changes is theirs from then on.
 */
export function patching(
  organizationId: string,
  before: IncidentRecord,
  patch: IncidentPatch,
  now: number,
  automatic: AutomaticUpdate | null = null,
): Write {
  const at = timestamp(now);
  const { change, update } = incidentAfter(before, patch, at);
  const post = update === null ? [] : [{ id: newId(now), ...update, createdAt: at, automatic }];
  const after: IncidentRecord = {
    ...before,
    ...change,
    version: before.version + 1,
    updatedAt: at,
    automatic: change.title === before.title ? before.automatic : null,
    updates: [...before.updates, ...post],
  };
  return {
    after,
    statements: [
      changeIncident(organizationId, after),
      ...post.map((entry) => insertUpdate(organizationId, after, entry)),
    ],
    audited: {
      action: actionOf(before.status, after.status),
      subjectId: before.id,
      fields: Object.keys(patch),
      data: { updateId: post[0]?.id ?? null },
    },
  };
}
