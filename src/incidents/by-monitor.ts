/** Opens, updates and resolves incidents automatically when monitors change their state. */
import { buildAuditAndEvent } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { formatTimestamp } from "../core/time/clock.ts";
import type { Severity } from "../core/fields.ts";
import { guardVersion } from "../database/references.ts";
import { guardCondition, StaleRead, type Statement, type Store } from "../database/store.ts";
import { incidents } from "../database/tables/incidents.ts";
import {
  type AutomaticUpdate,
  decideAutomaticStep,
  composeIncidentTitle,
  describeAutomaticUpdate,
} from "./rules.ts";
import { findHead, type IncidentHead } from "./store.ts";
import {
  hasRoom,
  hasRoomForIncident,
  createNote,
  insertIncidentNote,
  insertIncident,
  patchIncident,
  type Write,
} from "./statements.ts";

type StateChange = {
  organizationId: string;
  monitor: { id: string; name: string };
  /** Severity of the incident to open when the monitor goes down; null to open none. */
  severity: Severity | null;
  before: string;
  after: string;
  /** Reason of the state change, as one sentence. */
  message: string;
  /** Start and end of the previous state, in Unix milliseconds. */
  since: number;
  at: number;
};

const openIncidentSql = `select id from incidents where organization_id = ? and monitor_id = ?
  and origin = 'monitor' and status <> 'resolved' order by id desc limit 1`;

const openByPersonSql = `select i.id from incident_monitors m
  join incidents i on i.organization_id = m.organization_id and i.id = m.incident_id
  where m.organization_id = ? and m.monitor_id = ?
    and i.origin = 'manual' and i.public and i.status <> 'resolved'`;

/**
 * Returns statements for the incident of a monitor whose state changed. The incident is opened when the monitor goes
 * down, updated, and resolved when the monitor is up. If an open public incident of a person names the monitor, no
 * incident is opened, and internal notes are added to that one. The write fails with StaleRead after another write.
 */
export async function buildIncidentStatements(
  store: Store,
  change: StateChange,
): Promise<Statement[]> {
  const { organizationId, monitor, severity } = change;
  const find = async (text: string) => {
    const [found] = await store.query<{ id: string }>(text, [organizationId, monitor.id]);
    return found === undefined ? null : findHead({ store, organizationId }, found.id);
  };
  const open = await find(openIncidentSql);
  const personsIncident =
    open === null && severity !== null
      ? await find(`${openByPersonSql} order by i.id desc limit 1`)
      : null;
  const known = { hasOwn: open !== null, isNamed: personsIncident !== null };
  const step = decideAutomaticStep(known, severity, change);
  if (step === "open") return buildOpening(store, change);
  if (step === "join" && personsIncident !== null) return buildJoining(change, personsIncident);
  if (step === null || open === null) return [];
  // A full timeline gets no further updates. Alerts of the monitor do not depend on it.
  if (step === "update" && !hasRoom(open)) return [];
  const update = describeUpdate(change);
  const message = describeAutomaticUpdate(update, monitor.name);
  const patch = step === "resolve" ? { status: "resolved" as const, message } : { message };
  return [
    guardVersion(incidents, organizationId, open),
    ...buildMonitorStatements(
      change,
      patchIncident(organizationId, open, patch, change.at, update),
    ),
  ];
}

/** Guards that a query still finds no incident, or still finds one. */
const guardFound = (condition: string, parameters: string[]): Statement =>
  guardCondition(condition, parameters);

async function buildOpening(store: Store, change: StateChange): Promise<Statement[]> {
  const { organizationId, monitor, severity } = change;
  if (!(await hasRoomForIncident(store, organizationId))) return [];
  const incident = {
    title: composeIncidentTitle(monitor.name),
    monitorIds: [monitor.id],
    severity: severity as Severity,
    message: describeAutomaticUpdate({ kind: "down" }, monitor.name),
    public: true,
  };
  return [
    guardFound(`not exists (${openIncidentSql})`, [organizationId, monitor.id]),
    ...buildMonitorStatements(
      change,
      insertIncident(organizationId, incident, "monitor", change.at),
    ),
  ];
}

/** Adds the state change as an internal note to a person's incident. Public texts stay unchanged. */
function buildJoining(change: StateChange, incident: IncidentHead): Statement[] {
  const { organizationId, monitor, after, message: reason, at } = change;
  if (!hasRoom(incident)) return [];
  const actor = { type: "monitor" as const, id: monitor.id, name: monitor.name };
  const note =
    after === "down"
      ? `${composeIncidentTitle(monitor.name)}. ${reason}`.trim()
      : describeAutomaticUpdate(describeUpdate(change), monitor.name);
  return [
    guardFound(`exists (${openByPersonSql} and i.id = ?)`, [
      organizationId,
      monitor.id,
      incident.id,
    ]),
    insertIncidentNote(organizationId, incident.id, createNote(note, actor, at)),
    ...buildAuditAndEvent(
      { organizationId, actor, requestId: null },
      { action: "incident.noted", subjectId: incident.id },
      formatTimestamp(at),
    ),
  ];
}

const openIncidentsSql = `from json_each(?) wanted cross join incidents i
  on i.organization_id = ? and i.monitor_id = wanted.value
    and i.origin = 'monitor' and i.status <> 'resolved'`;

/**
 * Returns statements that resolve the incidents of monitors that are being deleted, with the same
 * actor. Place them before the statements that delete the monitors. The write fails with StaleRead
 * after another write.
 */
export async function buildResolvingStatements(scope: Scope, monitorIds: readonly string[]) {
  const { store, organizationId } = scope;
  const parameters = [JSON.stringify(monitorIds), organizationId];
  const open = await store.query<{ id: string; name: string }>(
    `select i.id, m.name ${openIncidentsSql}
       join monitors m on m.organization_id = i.organization_id and m.id = i.monitor_id`,
    parameters,
  );
  const now = scope.clock();
  const writes = open.map(async ({ id, name }) => {
    const before = await findHead(scope, id);
    if (before === null) throw new StaleRead();
    const update = { kind: "removed" as const };
    const patch = { status: "resolved" as const, message: describeAutomaticUpdate(update, name) };
    const { statements, audited } = patchIncident(organizationId, before, patch, now, update);
    const data = { ...audited.data, automatic: true as const, monitorRemoved: true as const };
    return [
      guardVersion(incidents, organizationId, before),
      ...statements,
      ...buildAuditAndEvent(scope, { ...audited, data }, formatTimestamp(now)),
    ];
  });
  const all: Statement = guardCondition(`(select count(*) ${openIncidentsSql}) = ?`, [
    ...parameters,
    open.length,
  ]);
  return [all, ...(await Promise.all(writes)).flat()];
}

function describeUpdate({ before, after, since, at }: StateChange): AutomaticUpdate {
  if (after === "down") return { kind: "down-again" };
  if (after === "degraded") return { kind: "degraded" };
  // After a pause or a degraded state, the last state was not the outage. Rounded as in the alert,
  // because both report the same outage.
  return { kind: "up", downSeconds: before === "down" ? Math.round((at - since) / 1000) : null };
}

/** Returns a monitor's write with its audit row and event. Adds the reason as an internal note. */
function buildMonitorStatements(
  change: StateChange,
  { after, statements, audited }: Write,
): Statement[] {
  const { organizationId, monitor, message: reason, at } = change;
  const actor = { type: "monitor" as const, id: monitor.id, name: monitor.name };
  // A recovery has no reason.
  const explains = change.after !== "up" && reason !== "";
  const rows = buildAuditAndEvent(
    { organizationId, actor, requestId: null },
    { ...audited, data: { ...audited.data, automatic: true, ...(explains && { reason }) } },
    formatTimestamp(at),
  );
  const notes = explains
    ? [insertIncidentNote(organizationId, after.id, createNote(reason, actor, at))]
    : [];
  return [...statements, ...notes, ...rows];
}
