/** Queries and statements about nodes, leases and forwarded requests. */
import { dayMs } from "../core/time/clock.ts";
import type { Listener } from "../core/security/target-guard.ts";
import { type SweepContext, sweepRows } from "../database/backup/sweeping.ts";
import {
  createInsert,
  guardCondition,
  type Prepared,
  type Statement,
  type Store,
} from "../database/store.ts";
import { forwardedRequests } from "../database/tables/cluster.ts";
import { type Beat, type LeaseRow, leaseNames } from "./rules.ts";

/** A node, identified by its data directory, and its current process. */
type Run = { id: string; run: string };

/** A node as it registers itself. */
type NodeRow = Run & {
  name: string;
  version: string;
  /** Start of the process, RFC 3339. */
  startedAt: string;
};

/** Registers a process in place of the node's previous process, and frees its leases. */
export function registerNode(
  { id, run, name, version, startedAt }: NodeRow,
  now: number,
): Statement[] {
  return [
    {
      text: `insert or replace into nodes (id, run, name, version, started_at, beats, beat_at)
        values (?, ?, ?, ?, ?, 0, ?)`,
      parameters: [id, run, name, version, startedAt, now],
    },
    {
      text: "insert or ignore into leases (name, owner, epoch) select value, null, 0 from json_each(?)",
      parameters: [JSON.stringify(leaseNames)],
    },
    { text: "update leases set owner = null where owner = ?", parameters: [id] },
  ];
}

export function unregisterNode({ id, run }: Run): Statement[] {
  return [
    {
      text: `update leases set owner = null where owner = ?
        and exists (select 1 from nodes where id = ? and run = ?)`,
      parameters: [id, id, run],
    },
    { text: "delete from nodes where id = ? and run = ?", parameters: [id, run] },
  ];
}

type Condition = {
  clockOffsetMs: number | null;
  /** Position in the event log; null before the first read. */
  handled: number | null;
  listeners: readonly Listener[];
};

export function recordBeat(
  { id, run }: Run,
  now: number,
  { clockOffsetMs, handled, listeners }: Condition,
): Statement {
  return {
    text: `update nodes set beats = beats + 1, beat_at = ?, clock_offset_ms = ?, listeners = ?,
        event_lag = max((select coalesce(max(seq), 0) from events) - ?, 0)
      where id = ? and run = ?`,
    parameters: [now, clockOffsetMs, JSON.stringify(listeners), handled, id, run],
  };
}

export const releaseLeases = (names: readonly string[], owner: string): Statement => ({
  text: "update leases set owner = null where owner = ? and name in (select value from json_each(?))",
  parameters: [owner, JSON.stringify(names)],
});

export const claimFreeLeases = (names: readonly string[], owner: string): Statement => ({
  text: `update leases set owner = ?, epoch = epoch + 1
    where owner is null and name in (select value from json_each(?))`,
  parameters: [owner, JSON.stringify(names)],
});

/** Claims the leases of a dead node, unless it has sent a heartbeat since. */
export const claimLeasesOfDead = (
  dead: { id: string; beat: Beat | undefined },
  names: readonly string[],
  owner: string,
): Statement => ({
  text: `update leases set owner = ?, epoch = epoch + 1
    where owner = ? and name in (select value from json_each(?))
      and not exists (select 1 from nodes where id = ? and (run is not ? or beats is not ?))`,
  parameters: [
    owner,
    dead.id,
    JSON.stringify(names),
    dead.id,
    dead.beat?.run ?? null,
    dead.beat?.beats ?? null,
  ],
});

/** Guard that fails unless this node owns all of these leases in these epochs. */
export const guardOwnership = (
  owner: string,
  leases: readonly { name: string; epoch: number }[],
  otherwise: NonNullable<Prepared["otherwise"]>,
): Prepared =>
  guardCondition(
    `not exists (select 1 from json_each(?1) held where not exists
  (select 1 from leases where owner = ?2 and name = held.value ->> 0 and epoch = held.value ->> 1))`,
    [JSON.stringify(leases.map(({ name, epoch }) => [name, epoch])), owner],
    otherwise,
  );

export async function findBeats(store: Store) {
  const rows = await store.query<Beat & { listeners: string }>(
    "select id, run, beats, listeners from nodes",
    [],
  );
  return rows.map((row) => ({ ...row, listeners: JSON.parse(row.listeners) as Listener[] }));
}

export const findLeases = (store: Store) =>
  store.query<LeaseRow>("select name, owner, epoch from leases", []);

/** Names of the nodes by ID. */
export async function findNodeNames(store: Store): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ id: string; name: string }>("select id, name from nodes", []);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export const insertRequest = createInsert(forwardedRequests);

export type ForwardedRequest = typeof forwardedRequests.$inferSelect;

/** Returns at most 1,000 forwarded requests, in the order of their writes, because nodes' clocks differ. */
export const findRequests = (store: Store) =>
  store.query<ForwardedRequest>(
    "select id, lease, request, answer, created_at as createdAt from forwarded_requests order by rowid limit 1000",
    [],
  );

export async function hasRequest(store: Store, id: string): Promise<boolean> {
  return (await store.query("select 1 from forwarded_requests where id = ?", [id])).length > 0;
}

export const storeResponse = (id: string, response: string): Statement => ({
  text: "update forwarded_requests set answer = ? where id = ?",
  parameters: [response, id],
});

/** Returns the available responses to these requests. */
export async function findResponses(store: Store, ids: readonly string[]): Promise<unknown[]> {
  const rows = await store.query<{ answer: string }>(
    `select answer from forwarded_requests
     where id in (select value from json_each(?)) and answer is not null`,
    [JSON.stringify(ids)],
  );
  return rows.map(({ answer }) => JSON.parse(answer) as unknown);
}

export const removeRequest = (id: string): Statement => ({
  text: "delete from forwarded_requests where id = ?",
  parameters: [id],
});

type NodeSummary = Omit<NodeRow, "run"> & {
  beatAt: number;
  clockOffsetMs: number | null;
  eventLag: number | null;
};

export const findNodes = (store: Store) =>
  store.query<NodeSummary>(
    `select id, name, version, started_at as startedAt, beat_at as beatAt,
       clock_offset_ms as clockOffsetMs, event_lag as eventLag from nodes order by name, id`,
    [],
  );

/** Removes nodes without a heartbeat for a day. */
export const sweepNodes = (context: SweepContext): Promise<void> =>
  sweepRows(context, "nodes", "beat_at < ?", [context.now - dayMs]);
