/** Builds the Monitors page: all rows, or the first rows with totals. */
import type { Scope } from "../events/scope.ts";
import { runInSearchTurn } from "../events/organization-turns.ts";
import { getAlertChannel } from "../alerting/channels/service.ts";
import { isVisible } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import { AppError } from "../core/errors.ts";
import { isLogCompleteSince, findLastSeqOfOrganization } from "../events/log.ts";
import type { SignedInContext } from "../http/visitor-context.ts";
import type { Monitor } from "../monitoring/monitors/schema.ts";
import { statusAfterEvent } from "../monitoring/monitors/past-service.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import { readRecent } from "./recent-sums.ts";
import { sealPosition, compactMonitor, compactOverview } from "./rules.ts";
import type {
  CompactMonitor,
  CompactOverview,
  OverviewFilters,
  PastState,
  RowsQuery,
  StatesQuery,
  UsersOfChannel,
  WhereQuery,
} from "./schema.ts";
import {
  findChannelUsers,
  findOverviewGroups,
  findOverviewMonitors,
  findOwner,
  findStateEvents,
  type StateEvent,
} from "./store.ts";
import { findMatchingIds, findMatches } from "./matches-store.ts";

/** Maximum monitors in one response. With more, it has only the first rows and totals. */
export const maxRowsAtOnce = 2_000;
const firstRows = 200;

/** Returns the Monitors page. The live stream continues from its `position`. */
export async function getOverview(
  scope: Scope,
  filters: OverviewFilters,
): Promise<CompactOverview> {
  const { store, vault, organizationId } = scope;
  // Read first, so that the rows contain everything logged up to this position.
  const seq = await findLastSeqOfOrganization(store, organizationId);
  const position = sealPosition(vault, scope, seq);
  const groups = await findOverviewGroups(scope);
  const groupIds = groups.map(({ id }) => id);
  const readMatches = () =>
    findMatches(scope, filters, groupIds, { first: firstRows, max: maxRowsAtOnce });
  const { ids, totals } = await (filters.q === undefined
    ? readMatches()
    : runInSearchTurn(scope, readMatches));
  const monitors = await readFullRows(scope, ids);
  if (totals === null) return compactOverview({ groups, monitors, position });
  const { troubledIds, ...sums } = totals;
  const troubled = await readFullRows(scope, troubledIds);
  return compactOverview({ groups, monitors, position, totals: { ...sums, troubled } });
}

type ReadingScope = Pick<Scope, "store" | "clock" | "organizationId">;

/** Returns these rows of the Monitors page, each with its group. */
export async function readRows(
  scope: ReadingScope,
  ids: readonly string[],
): Promise<CompactMonitor[]> {
  return (await readFullRows(scope, ids)).map((row) => compactMonitor(row));
}

/** Returns rows of a folder of the Monitors page, without the first `from` rows. */
export async function readFurtherRows(scope: Scope, query: RowsQuery): Promise<CompactMonitor[]> {
  const { groupId = null, from, count, ...filters } = query;
  const readIds = () => findMatchingIds(scope, filters, groupId, { from, count });
  const ids = await (filters.q === undefined ? readIds() : runInSearchTurn(scope, readIds));
  const rows = await readFullRows(scope, ids);
  return rows.map((row) => compactMonitor(row, groupId));
}

function readFullRows(scope: ReadingScope, ids: readonly string[]) {
  return findOverviewMonitors(scope, ids, (keys) => readRecent(scope.store, keys, scope.clock()));
}

/**
 * Lists the states of a monitor in a span, by default since its creation, newest first. The last one is the state at
 * the start of the span. Throws NOT_FOUND.
 */
export async function listStates(scope: Scope, monitorId: string, query: StatesQuery) {
  const { from = 0, to, limit } = query;
  const monitor = await getMonitor(scope, monitorId);
  const events = await findStateEvents(scope, monitorId, { to, limit });
  const states: PastState[] = events.map(({ type, at, message }) => ({
    status: statusAfterEvent[type],
    since: at,
    message,
  }));
  if (states.length < limit) {
    const first = await findFirstState(scope, monitor, events.at(-1));
    if (first !== null) states.push(first);
  }
  const changes = states.filter(({ since }, index) => since !== states[index - 1]?.since);
  const atStart = changes.findIndex(({ since }) => Date.parse(since) <= from);
  const isBefore = ({ since }: PastState) => to === undefined || Date.parse(since) < to;
  return (atStart === -1 ? changes : changes.slice(0, atStart + 1)).filter(isBefore);
}

/** The state before the oldest event, which is `pending` if the log contains all events of the monitor. */
async function findFirstState(
  { store }: Scope,
  { createdAt, status, statusSince }: Pick<Monitor, "createdAt" | "status" | "statusSince">,
  oldest: StateEvent | undefined,
): Promise<PastState | null> {
  if (await isLogCompleteSince(store, createdAt))
    return { status: "pending", since: createdAt, message: null };
  const { before, since } = oldest ?? { before: status, since: statusSince };
  return before === null || since === null ? null : { status: before, since, message: null };
}

/** Returns the monitors and groups that a channel belongs to. Throws NOT_FOUND. */
export async function listChannelUsers(scope: Scope, channelId: string): Promise<UsersOfChannel> {
  await getAlertChannel(scope, channelId);
  return findChannelUsers(scope, channelId);
}

/** Whether a limited person can see a record. Status pages and alert sources are not visible to them. */
const isRecordVisible = async (tenant: Tenant, kind: WhereQuery["kind"], id: string) =>
  kind === "alert-channel" || kind === "schedule"
    ? true
    : kind !== "status-page" && kind !== "alert-source" && isVisible(tenant, kind, id);

/** Finds the organization of a record among the person's, for links without one. Throws NOT_FOUND. */
export async function findOrganizationWith(
  { store, session }: SignedInContext,
  { kind, id }: WhereQuery,
): Promise<{ organizationId: string }> {
  const ownOrganizationIds = session.organizations.map((organization) => organization.id);
  const organizationId = await findOwner(store, ownOrganizationIds, kind, id);
  const { groupIds = null } = session.organizations.find((one) => one.id === organizationId) ?? {};
  const isHidden =
    organizationId !== null &&
    groupIds !== null &&
    !(await isRecordVisible({ store, organizationId, groupIds }, kind, id));
  if (organizationId === null || isHidden)
    throw new AppError("NOT_FOUND", "None of your organizations has this record.");
  return { organizationId };
}
