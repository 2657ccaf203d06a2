import { timestamp } from "../core/clock.ts";
import type { Problem, ProblemName } from "../core/problems.ts";
import type { Prepared, Store } from "../database/store.ts";

/** A problem that an organization was told of, and not yet of its end. */
export type OpenProblem = Problem & {
  organizationId: string;
  /** RFC 3339. */
  since: string;
};

/** Organizations to which somebody belongs who runs the appliance: they hear of its problems. */
export async function organizationsOfAdministrators(store: Store): Promise<string[]> {
  const rows = await store.query<{ id: string }>(
    `select distinct o.id from people p join memberships m on m.person_id = p.id
       join organizations o on o.id = m.organization_id
     where p.administrator and o.deleted_at is null`,
    [],
  );
  return rows.map(({ id }) => id);
}

export function openProblems(store: Store): Promise<OpenProblem[]> {
  return store.query(
    `select organization_id as organizationId, name, stage, severity, message, since, until
     from problems order by since, name`,
    [],
  );
}

/**
 * These organizations have the problem from now on, or still have it. Each hears of it once, and once more
 * when it has come to another stage. One that has passed by itself begins anew; checks that can't be judged
 * are not told beside their cause.
 */
export function problemBegins(
  organizationIds: readonly string[],
  { name, stage, severity, message, until }: Problem,
  now: number,
): Prepared[] {
  const at = timestamp(now);
  const ids = JSON.stringify(organizationIds);
  const data = JSON.stringify({ problem: name, severity, message });
  return [
    {
      text: `insert into events (organization_id, at, type, subject_id, data)
        select value, ?, 'appliance.troubled', ?, ? from json_each(?) where ${unknown}`,
      parameters: [at, name, data, ids, name, stage, now, name, now],
    },
    {
      text: `insert into problems (organization_id, name, stage, severity, message, since, until)
        select value, ?, ?, ?, ?, ?, ? from json_each(?) where ${uncaused}
        on conflict (organization_id, name) do update set stage = excluded.stage,
          severity = excluded.severity, message = excluded.message, until = excluded.until,
          since = case when until <= ? then excluded.since else since end`,
      parameters: [name, stage, severity, message, at, until, ids, name, now, now],
    },
  ];
}

const uncaused = `(? <> 'checks' or not exists (select 1 from problems where organization_id = value
    and name in ('clock', 'loop') and until > ?))`;
const unknown = `not exists (select 1 from problems where organization_id = value and name = ?
    and stage = ? and (until is null or until > ?)) and ${uncaused}`;

/** Who was told of the problem is told that it is over: all of them, or these. */
export function problemEnds(
  name: ProblemName,
  message: string,
  now: number,
  organizationIds: readonly string[] | null = null,
): Prepared[] {
  const data = JSON.stringify({ problem: name, message });
  const which = "name = ? and (? is null or organization_id in (select value from json_each(?)))";
  const ids = organizationIds && JSON.stringify(organizationIds);
  const these = [name, ids, ids];
  return [
    {
      text: `insert into events (organization_id, at, type, subject_id, data)
        select organization_id, ?, 'appliance.recovered', name, ? from problems where ${which}`,
      parameters: [timestamp(now), data, ...these],
    },
    { text: `delete from problems where ${which}`, parameters: these },
  ];
}
