/** Opens and resolves incidents when alerts of other tools start and end. */
import { formatTimestamp } from "../core/time/clock.ts";
import type { Severity } from "../core/fields.ts";
import { guardVersion } from "../database/references.ts";
import type { Statement, Store } from "../database/store.ts";
import { incidents } from "../database/tables/incidents.ts";
import { buildAuditAndEvent } from "../events/commit.ts";
import { findHead } from "./store.ts";
import { hasRoomForIncident, insertIncident, patchIncident, type Write } from "./statements.ts";

/** A source of alerts, as the author of incidents. */
type Source = { organizationId: string; id: string; name: string };

/** Returns the write that opens an internal incident, and its ID; null at the limit of the organization. */
export async function buildSourceIncident(
  store: Store,
  source: Source,
  { title, message, severity }: { title: string; message: string; severity: Severity },
  now: number,
): Promise<{ id: string; statements: Statement[] } | null> {
  const { organizationId } = source;
  if (!(await hasRoomForIncident(store, organizationId))) return null;
  // Internal, because texts of tools are not meant for visitors. A person can publish it.
  const draft = { title, severity, message, monitorIds: [], public: false };
  const write = insertIncident(organizationId, draft, "manual", now);
  return { id: write.after.id, statements: buildStatements(source, write, now) };
}

/**
 * Returns the write that resolves the incident of an alert. Empty if a person deleted or resolved it. The write fails
 * with StaleRead after another write.
 */
export async function buildSourceResolution(
  store: Store,
  source: Source,
  incidentId: string,
  message: string,
  now: number,
): Promise<Statement[]> {
  const { organizationId } = source;
  const before = await findHead({ store, organizationId }, incidentId);
  if (before === null || before.status === "resolved") return [];
  const write = patchIncident(organizationId, before, { status: "resolved", message }, now);
  return [guardVersion(incidents, organizationId, before), ...buildStatements(source, write, now)];
}

function buildStatements(source: Source, { statements, audited }: Write, now: number) {
  const { organizationId, id, name } = source;
  const actor = { type: "system" as const, id, name };
  const rows = buildAuditAndEvent(
    { organizationId, actor, requestId: null },
    { ...audited, data: { ...audited.data, automatic: true } },
    formatTimestamp(now),
  );
  return [...statements, ...rows];
}
