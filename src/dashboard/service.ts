import type { Scope } from "../events/scope.ts";
import { getAlertChannel } from "../alerting/channels/service.ts";
import { AppError } from "../core/errors.ts";
import { isWholeSince, lastSeqOf } from "../events/log.ts";
import type { SignedInContext } from "../http/visitor-context.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import { recentOf } from "./recent.ts";
import { positionOf, compactMonitor, compactOverview, statusBegun } from "./rules.ts";
import type {
  CompactMonitor,
  CompactOverview,
  OverviewFilters,
  OverviewMonitor,
  PastState,
  RowsQuery,
  StatesQuery,
  UsersOfChannel,
  WhereQuery,
} from "./schema.ts";
import { usersOf, groupsOf, monitorsOf, ownerAmong, stateEventsOf, type Wanted } from "./store.ts";
import { totalsOf } from "./totals-store.ts";

export { channelUses, subscriberCounts } from "./store.ts";

/** Up to so many monitors are sent at once; of more, the first rows and what they add up to. */
export const mostAtOnce = 2_000;
const firstRows = 200;

/** What the Monitors page shows, as of `position` or later. */
export async function overviewOf(scope: Scope, filters: OverviewFilters): Promise<CompactOverview> {
  const { store, vault, organizationId } = scope;
  // First, so that nothing is missing that stands in the log up to here.
  const seq = await lastSeqOf(store, organizationId);
  const position = positionOf(vault, organizationId, seq);
  const [groups, totals] = await Promise.all([
    groupsOf(scope),
    totalsOf(scope, filters, mostAtOnce),
  ]);
  if (totals === null)
    return compactOverview({ groups, monitors: await fullRowsOf(scope, { filters }), position });
  const { troubledIds, folders, types, tags } = totals;
  const monitors: OverviewMonitor[] = [];
  for (const groupId of [...groups.map(({ id }) => id), null]) {
    const count = firstRows - monitors.length;
    if (count <= 0) break;
    if (folders.some((folder) => folder.groupId === groupId))
      monitors.push(...(await fullRowsOf(scope, { filters, groupId, from: 0, count })));
  }
  const found = await fullRowsOf(scope, { ids: troubledIds });
  const place = new Map(troubledIds.map((id, index) => [id, index]));
  const troubled = found.sort(
    (one, other) => (place.get(one.id) ?? 0) - (place.get(other.id) ?? 0),
  );
  return compactOverview({
    groups,
    monitors,
    position,
    totals: { folders, troubled, types, tags },
  });
}

type Reading = Pick<Scope, "store" | "clock" | "organizationId">;

/** Some rows of the Monitors page, each with its group. */
export async function rowsOf(scope: Reading, ids: readonly string[]): Promise<CompactMonitor[]> {
  return (await fullRowsOf(scope, { ids })).map((row) => compactMonitor(row));
}

/** Rows of a folder of the Monitors page, from a place on. */
export async function furtherRows(scope: Scope, query: RowsQuery): Promise<CompactMonitor[]> {
  const { groupId = null, from, count, ...filters } = query;
  const rows = await fullRowsOf(scope, { filters, groupId, from, count });
  return rows.map((row) => compactMonitor(row, groupId));
}

function fullRowsOf(scope: Reading, wanted: Wanted) {
  return monitorsOf(scope, wanted, (keys) => recentOf(scope.store, keys, scope.clock()));
}

/** What a monitor was, newest first, from when it was made. Throws NOT_FOUND. */
export async function statesOf(scope: Scope, monitorId: string, { limit }: StatesQuery) {
  const { createdAt, status, statusSince } = await getMonitor(scope, monitorId);
  const events = await stateEventsOf(scope, monitorId, limit);
  const states: PastState[] = events.map(({ type, at, message }, index) => ({
    status: statusBegun[type],
    since: at,
    until: events[index - 1]?.at ?? null,
    message,
  }));
  if (states.length === limit) return states;
  const until = states.at(-1)?.since ?? null;
  const isWhole = await isWholeSince(scope.store, createdAt);
  const oldest = events.at(-1) ?? { before: status, since: statusSince };
  const first = isWhole ? { before: "pending" as const, since: createdAt } : oldest;
  if (first.before !== null && first.since !== null)
    states.push({ status: first.before, since: first.since, until, message: null });
  return states.filter(({ since, until }) => since !== until);
}

/** Monitors and groups that a channel belongs to. Throws NOT_FOUND. */
export async function usersOfChannel(scope: Scope, channelId: string): Promise<UsersOfChannel> {
  await getAlertChannel(scope, channelId);
  return usersOf(scope, channelId);
}

/** Which of the person's organizations a record belongs to, for links that don't say. Throws NOT_FOUND. */
export async function organizationWith(
  { store, session }: SignedInContext,
  { kind, id }: WhereQuery,
): Promise<{ organizationId: string }> {
  const own = session.organizations.map((organization) => organization.id);
  const organizationId = await ownerAmong(store, own, kind, id);
  if (organizationId === null)
    throw new AppError("NOT_FOUND", "None of your organizations has such a record.");
  return { organizationId };
}
