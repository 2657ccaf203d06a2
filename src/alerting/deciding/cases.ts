/** Manages the cases that channels open at external services, one per problem, and finds cases to close. */
import type { ReceiverType } from "../channels/kinds-schema.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import type { openCases } from "../../database/tables/alerting.ts";
import type { Alert } from "../alert.ts";
import { subjectOf } from "../sending/messages.ts";
import { providers } from "../providers.ts";
import { certificateDays } from "./rules.ts";

/**
 * A case that a channel opened at its service and has not closed. Each case has a new key.
 * Otherwise a case left open at the service would swallow later alerts.
 */
export type OpenCase = Omit<typeof openCases.$inferSelect, "organizationId">;

/** A kind of problem and its subject. */
export type Problem = Pick<OpenCase, "subjectId" | "problem">;

/** Whether channels of this type open a case per problem, and must close it. */
export function canOpenCases(type: string): boolean {
  return !providers[type as ReceiverType].digests;
}

/**
 * Returns the problem of an alert; null if it opens no case. Each problem has its own case, because
 * services ignore updates of an acknowledged case and keep its first priority.
 */
export function problemOf(alert: Alert): Problem | null {
  const problem = lastingProblemOf(alert);
  return problem === null ? null : { subjectId: subjectOf(alert), problem };
}

function lastingProblemOf({ type, data }: Alert): string | null {
  switch (type) {
    case "monitor.down":
    case "monitor.reminder":
      return "down";
    case "monitor.degraded":
      return "degraded";
    case "monitor.flapping":
      return "flapping";
    case "certificate.expiring":
      return `certificate ${certificateDays.findLast((days) => data.daysLeft < days)}`;
    case "incident.opened":
    case "incident.updated":
      // Updates after the resolution don't open the case again.
      return data.incident.status === "resolved" ? null : data.incident.severity;
    case "channel.failed":
      return "failing";
    case "appliance.troubled":
      return data.severity ?? "trouble";
    case "drill":
      return "drill";
    case "source.opened":
    case "source.changed":
      return "source";
    case "monitor.up":
    case "incident.resolved":
    case "appliance.recovered":
    case "source.resolved":
    case "shift.starting":
    case "test":
      return null;
  }
}

/**
 * Whether a problem replaces another one of the same subject. Certificate problems and states never
 * replace each other.
 */
export function replacesProblem(problem: string, other: string): boolean {
  return isOfCertificate(problem) === isOfCertificate(other);
}

export const isOfCertificate = (problem: string) => problem.startsWith("certificate ");

/** Age at which cases of problems reported by older versions are closed. Those versions sent no end event. */
const oldProblemMs = 600_000;

/** Cases examined in one tick, divided among the organizations, and minimum of each. */
const casesPerRound = 1_000;
const minCases = 20;

type CasePosition = readonly [channelId: string, subjectId: string, problem: string];

export type EndedCase = Omit<typeof openCases.$inferSelect, "acknowledged">;
/** Cases of an organization that no event closes. `finish` moves on to its next cases. */
export type EndedCases = { organizationId: string; cases: EndedCase[]; finish: () => void };
export type CaseRound = ReturnType<typeof createCaseRound>;

/**
 * Examines all open cases in rounds, a part of each organization per call, and finds cases that no event closes.
 * Their monitor was muted, paused, detached, removed or renewed, or their channel was disabled. The
 * end of an outage is an event.
 */
export function createCaseRound(store: Store) {
  const positions = new Map<string, CasePosition>();
  return async (now: number): Promise<EndedCases[]> => {
    type Row = EndedCase & { isOver: number };
    const organizations = await store.query<{ id: string }>(organizationsSql, []);
    if (organizations.length === 0) return [];
    const maxCases = Math.max(minCases, Math.floor(casesPerRound / organizations.length));
    const turns = organizations.map(({ id }) => [id, ...(positions.get(id) ?? ["", "", ""])]);
    const examined = await store.query<Row>(roundSql, [
      formatTimestamp(now - oldProblemMs),
      maxCases,
      JSON.stringify(turns),
    ]);
    return [...Map.groupBy(examined, (one) => one.organizationId)].flatMap(
      ([organizationId, own]) => {
        const last = own.length < maxCases ? undefined : own.at(-1);
        const finish = () => {
          if (last === undefined) positions.delete(organizationId);
          else positions.set(organizationId, [last.channelId, last.subjectId, last.problem]);
        };
        const cases = own.filter(({ isOver }) => isOver === 1);
        if (cases.length > 0) return [{ organizationId, cases, finish }];
        finish();
        return [];
      },
    );
  };
}

/** Selects the organizations with open cases. */
const organizationsSql = `with recursive o(id) as (
    select min(organization_id) from open_cases
    union all select (select min(organization_id) from open_cases where organization_id > o.id)
    from o where o.id is not null)
  select id from o where id is not null`;

const roundSql = `select c.organization_id as organizationId, c.channel_id as channelId,
    c.subject_id as subjectId, c.problem, c.key, c.alert_id as alertId, not h.enabled or case
    when a.monitor_id is not null then m.id is null or m.muted or m.paused
      or coalesce(g.muted or g.paused, false)
      or not exists (select 1 from monitor_channels x where x.organization_id = c.organization_id
        and x.monitor_id = c.subject_id and x.channel_id = c.channel_id)
        and not exists (select 1 from alert_records r where r.organization_id = c.organization_id
          and r.subject_id = c.subject_id and r.resolved_at is null and r.policy_id is not null)
      or (c.problem like 'certificate %' and (
        json_extract(m.settings, '$.certificateExpiryDays') is null
        or (s.certificate_expires_at is not json_extract(a.data, '$.expiresAt')
          and (s.certificate_expires_at is not null or s.status in ('up', 'degraded')))))
    when a.incident_id is not null then not h.incidents and not exists (select 1 from alert_records r
        where r.organization_id = c.organization_id and r.subject_id = c.subject_id
          and r.resolved_at is null and r.policy_id is not null)
      or not exists (select 1 from incidents i
      where i.organization_id = c.organization_id and i.id = c.subject_id)
    when c.problem = 'failing' then not exists (select 1 from alert_channels f
      where f.organization_id = c.organization_id and f.id = c.subject_id
        and f.enabled and f.failing_since is not null)
    when c.problem in ('drill', 'source') then not exists (select 1 from alert_records r
      where r.organization_id = c.organization_id and r.subject_id = c.subject_id
        and r.family = c.problem and r.resolved_at is null)
    when json_extract(a.data, '$.problem') is not null then not exists (select 1 from problems p
      where p.organization_id = c.organization_id and p.name = c.subject_id)
    else a.at < ?1 end as isOver
  from json_each(?3) t
    cross join open_cases c on c.organization_id = t.value ->> 0
      and (c.channel_id, c.subject_id, c.problem) in (
        select channel_id, subject_id, problem from open_cases
        where organization_id = t.value ->> 0
          and (channel_id, subject_id, problem) > (t.value ->> 1, t.value ->> 2, t.value ->> 3)
        order by channel_id, subject_id, problem limit ?2)
    cross join alert_channels h on h.organization_id = c.organization_id and h.id = c.channel_id
    cross join alerts a on a.organization_id = c.organization_id and a.id = c.alert_id
    left join monitors m on m.organization_id = c.organization_id and m.id = c.subject_id
    left join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
    left join monitor_groups g on g.organization_id = m.organization_id and g.id = m.group_id
  order by c.organization_id, c.channel_id, c.subject_id, c.problem`;
