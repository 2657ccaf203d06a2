/** Records problems of the appliance, and notifies organizations of them through events. */
import { formatUtcMinute, formatTimestamp } from "../core/time/clock.ts";
import { type Problem, type ProblemName, problemNames } from "../core/problems.ts";
import type { Prepared, Store } from "../database/store.ts";

/** Key of a problem in the table and in alerts. It includes the node, if there is one. */
export const buildProblemKey = ({ name, node }: Pick<Problem, "name" | "node">): string =>
  node === undefined ? name : `${name}@${node}`;

/** A problem that an organization was notified of, but not of its end. */
export type OpenProblem = Problem & {
  organizationId: string;
  /** Start of the problem, RFC 3339. */
  since: string;
};

/** Returns the organizations of the appliance's administrators, which are notified of its problems. */
export async function listAdministratorOrganizations(store: Store): Promise<string[]> {
  const rows = await store.query<{ id: string }>(
    `select distinct o.id from people p join memberships m on m.person_id = p.id
       join organizations o on o.id = m.organization_id
     where p.administrator and o.deleted_at is null`,
    [],
  );
  return rows.map(({ id }) => id);
}

/** Returns the problem of failing writes, which can't be stored itself; null while writes succeed. */
export function findStorageProblem({
  writes,
}: Pick<Store, "writes">): (Problem & { since: string }) | null {
  const failingSince = writes.getFailingSince();
  if (failingSince === null) return null;
  return {
    name: "storage",
    stage: "",
    severity: "critical",
    message: `Results of checks have not been stored since ${formatUtcMinute(failingSince)}, and no other alerts are sent. Make sure that the disk has space and that the database can be reached; see the log.`,
    until: null,
    since: formatTimestamp(failingSince),
  };
}

export async function listOpenProblems(store: Store): Promise<OpenProblem[]> {
  const rows = await store.query<Omit<OpenProblem, "name" | "node"> & { key: string }>(
    `select organization_id as organizationId, name as key, stage, severity, message, since, until
     from problems order by since, name`,
    [],
  );
  return rows.map(({ key, ...problem }) => {
    const [name, node] = key.split("@") as [ProblemName, string?];
    return { ...problem, name, ...(node !== undefined && { node }) };
  });
}

/** Counts the organizations with each problem, 0 included. */
export async function countProblems(store: Store): Promise<{ name: ProblemName; count: number }[]> {
  const open = await listOpenProblems(store);
  return problemNames.map((name) => ({
    name,
    count: new Set(open.filter((one) => one.name === name).map((one) => one.organizationId)).size,
  }));
}

/**
 * Records a problem for organizations. Each is notified once, and again at each new stage. An expired problem counts
 * as new. The problem `checks` is omitted while its cause is reported.
 */
export function recordProblem(
  organizationIds: readonly string[],
  { name, node, stage, severity, message, until }: Problem,
  now: number,
): Prepared[] {
  const at = formatTimestamp(now);
  const ids = JSON.stringify(organizationIds);
  const data = JSON.stringify({ problem: name, node, severity, message });
  const key = buildProblemKey({ name, ...(node !== undefined && { node }) });
  const causes = (["clock", "loop"] as const).map((cause) =>
    buildProblemKey({ name: cause, ...(node !== undefined && { node }) }),
  );
  const uncausedGiven = [name, JSON.stringify(causes), now];
  return [
    {
      text: `insert into events (organization_id, at, type, subject_id, data)
        select value, ?, 'appliance.troubled', ?, ? from json_each(?) where ${isUnknownSql}`,
      parameters: [at, key, data, ids, key, stage, now, ...uncausedGiven],
    },
    {
      text: `insert into problems (organization_id, name, stage, severity, message, since, until)
        select value, ?, ?, ?, ?, ?, ? from json_each(?) where ${isUncausedSql}
        on conflict (organization_id, name) do update set stage = excluded.stage,
          severity = excluded.severity, message = excluded.message, until = excluded.until,
          since = case when until <= ? then excluded.since else since end`,
      parameters: [key, stage, severity, message, at, until, ids, ...uncausedGiven, now],
    },
  ];
}

const isUncausedSql = `(? <> 'checks' or not exists (select 1 from problems where organization_id = value
    and name in (select json_each.value from json_each(?)) and until > ?))`;
const isUnknownSql = `not exists (select 1 from problems where organization_id = value and name = ?
    and stage = ? and (until is null or until > ?)) and ${isUncausedSql}`;

/** Ends a problem for all notified organizations, or for the given ones. */
export function recordProblemEnd(
  { name, node }: Pick<Problem, "name" | "node">,
  message: string,
  now: number,
  organizationIds: readonly string[] | null = null,
): Prepared[] {
  const data = JSON.stringify({ problem: name, node, message });
  const key = buildProblemKey({ name, ...(node !== undefined && { node }) });
  const problemSql =
    "name = ? and (? is null or organization_id in (select value from json_each(?)))";
  const ids = organizationIds && JSON.stringify(organizationIds);
  const these = [key, ids, ids];
  return [
    {
      text: `insert into events (organization_id, at, type, subject_id, data)
        select organization_id, ?, 'appliance.recovered', name, ? from problems where ${problemSql}`,
      parameters: [formatTimestamp(now), data, ...these],
    },
    { text: `delete from problems where ${problemSql}`, parameters: these },
  ];
}
