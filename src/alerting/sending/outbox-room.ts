/** Limits the number of undelivered deliveries per organization. */
import { formatCount } from "../../core/text/locale.ts";
import { alertBounds, statusPageBounds } from "../../core/limits.ts";
import type { Problem } from "../../core/problems.ts";
import { setHousekeepingValue, findHousekeepingValue } from "../../database/backup/sweeping.ts";
import type { Statement, Store } from "../../database/store.ts";
import type { OwnWork } from "../../events/fair-follower.ts";
import { recordProblem, recordProblemEnd } from "../../events/problems.ts";
import type { Decision } from "../deciding/decide.ts";

/** Minimum time between two counts of a full outbox. A count takes up to 0.1 s. */
const recountMs = 10_000;

export type Kind = "alerts" | "notices";
export type OutboxRoom = ReturnType<typeof createOutboxRoom>;

/** Deliveries that one decision adds to an organization's outbox or leaves out. */
type OutboxAddition = { organizationId: string; now: number; added: number; leftOut: number };

const kinds = {
  alerts: {
    max: alertBounds.undelivered.value,
    count: `select count(*) as count from (select 1 from deliveries d indexed by deliveries_pending
        join delivery_alerts t on t.organization_id = d.organization_id and t.delivery_id = d.id
          and not t.withheld
      where d.receiver_type = 'channel' and d.organization_id = ?1 and d.due_at is not null limit ?2)`,
    receivers: "alert channels",
  },
  notices: {
    max: statusPageBounds.undeliveredNotices.value,
    count: `select count(*) as count from (select 1 from deliveries indexed by deliveries_pending
      where receiver_type in ('mailbox', 'webhook') and organization_id = ?1 and due_at is not null
      limit ?2)`,
    receivers: "status page subscribers",
  },
} as const;

/** Returns the statements of a decision, including a report of alerts that were left out, and whether it has deliveries. */
export async function buildStatements(room: OutboxRoom, { snapshot, out, now }: Decision) {
  const statements = out.buildStatements();
  const { organizationId } = snapshot;
  const reports = await room.add({ organizationId, now, ...out.countAlerts() });
  const hasDeliveries = out.hasDeliveries();
  return { statements: [...statements, ...reports], rows: statements.length, hasDeliveries };
}

/**
 * Limits the undelivered alerts or notices of each organization. Deliveries beyond the limit are
 * left out, counted, and reported as a problem. The problem ends once half of the outbox is free.
 */
export function createOutboxRoom(store: Store, kind: Kind, max: number = kinds[kind].max) {
  const { count, receivers } = kinds[kind];
  const prefix = `${kind} left out/`;
  const known = new Map<string, { used: number; countedAt: number }>();

  async function countAgain(organizationId: string, now: number): Promise<number> {
    const rows = await store.query<{ count: number }>(count, [organizationId, max]);
    const used = rows[0]?.count ?? 0;
    known.set(organizationId, { used, countedAt: now });
    return used;
  }

  async function countUsed(organizationId: string, now: number): Promise<number> {
    const one = known.get(organizationId);
    const isOld = one === undefined || Math.abs(now - one.countedAt) >= recountMs;
    if (one !== undefined && (one.used < max || !isOld)) return one.used;
    return countAgain(organizationId, now);
  }

  return {
    /** Returns the number of deliveries that the outbox still accepts; zero or less if it is full. */
    countAvailable: async (organizationId: string, now: number) =>
      max - (await countUsed(organizationId, now)),
    /** Counts an addition. Returns the statements that report deliveries left out. */
    async add({ organizationId, now, added, leftOut }: OutboxAddition): Promise<Statement[]> {
      const one = known.get(organizationId);
      if (one !== undefined) one.used += added;
      if (leftOut === 0) return [];
      const name = prefix + organizationId;
      const total = ((await findHousekeepingValue(store, name)) ?? 0) + leftOut;
      const message = `${formatCount(total)} ${kind} were left out because ${formatCount(max)} to ${receivers} are undelivered. Repair or disable the ${receivers} that fail.`;
      const problem: Problem = {
        name: kind,
        stage: "left out",
        severity: "error",
        message,
        until: null,
      };
      return [setHousekeepingValue(name, total), ...recordProblem([organizationId], problem, now)];
    },
    /** Ends the problem of each organization whose outbox is half empty again. */
    async listEnds(now: number): Promise<OwnWork[]> {
      const rows = await store.query<{ name: string; value: number }>(
        "select name, value from housekeeping where name like ? || '%'",
        [prefix],
      );
      const all: OwnWork[] = [];
      for (const { name, value } of rows) {
        const organizationId = name.slice(prefix.length);
        const { countedAt } = known.get(organizationId) ?? { countedAt: -Infinity };
        if (Math.abs(now - countedAt) < recountMs) continue;
        if ((await countAgain(organizationId, now)) > max / 2) continue;
        const message = `The outbox has room again. ${formatCount(value)} ${kind} were left out.`;
        const statements = [
          { text: "delete from housekeeping where name = ?", parameters: [name] },
          ...recordProblemEnd({ name: kind }, message, now, [organizationId]),
        ];
        all.push({ organizationId, decide: () => statements });
      }
      return all;
    },
  };
}
