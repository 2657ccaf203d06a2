/**
 * Actions on monitors and groups. They appear at once, before the server responds, and can be
 * undone.
 */
import {
  dashboard,
  unwrapData,
  unwrapPage,
  addIfMatch,
  addIdempotencyKey,
  v1,
  retryUntilConnected,
} from "../../data/client.ts";
import { isLimitedToGroups } from "../../data/session.ts";
import { createProvisionalId } from "../../data/record.ts";
import {
  beginChange,
  changeOverview,
  type Overview,
  type OverviewGroup,
  type OverviewMonitor,
  isPartial,
  hasUnreadMonitors,
  listKnownMonitors,
  overviewKey,
  overviewQuery,
  refreshOverview,
  readRows,
  changeMonitor,
  removeMonitorsFrom,
} from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { deleteRecord, holdDeletion } from "../../components/deletion.ts";
import { notifyDone, notifyError, notifyWaiting } from "../../components/toasts.tsx";
import type { Target } from "./quick-add.ts";
import {
  type ListPosition,
  memberIdsOf,
  findNextPosition,
  type MonitorPositions,
  listPositionsOfMonitors,
  moveGroupTo,
  moveMonitorsTo,
  restorePositions,
} from "./list/rows.ts";
import { t, tCount } from "../../language/text.ts";

/** Group of a new monitor: people who see only some groups can't create one without a group. */
export const findDefaultGroupId = (): string | null =>
  isLimitedToGroups()
    ? (queryClient.getQueryData<Overview>(overviewQuery.queryKey)?.groups[0]?.id ?? null)
    : null;

/** Creates a monitor with default settings. Its row appears before the server responds. */
export async function addMonitor(target: Target): Promise<boolean> {
  const groupId = findDefaultGroupId();
  const provisional: OverviewMonitor = {
    id: createProvisionalId(),
    name: target.name,
    type: target.type,
    groupId,
    tags: [],
    status: "pending",
    statusSince: new Date().toISOString(),
    lastMessage: null,
    latencyMs: null,
    uptime24h: null,
    uptime30d: null,
    since: null,
    paused: false,
    pausedUntil: null,
    muted: false,
    target: (target.type === "http" ? target.url : target.host).replace(/^https?:\/\//, ""),
    day: "",
    month: "",
    spark: "",
  };
  await queryClient.cancelQueries({ queryKey: overviewQuery.queryKey });
  changeOverview((overview) =>
    moveMonitorsTo(
      { ...overview, monitors: [...overview.monitors, provisional] },
      [],
      groupId,
      null,
    ),
  );
  try {
    // The idempotency key prevents duplicates when the request is repeated.
    const idempotency = addIdempotencyKey(provisional.id);
    await retryUntilConnected(
      () => unwrapData(v1.monitors.post({ ...target, groupId }, idempotency)),
      notifyWaiting,
    );
    return true;
  } catch (error) {
    changeOverview((overview) => removeMonitorsFrom(overview, new Set([provisional.id])));
    throw error;
  }
}

/**
 * Shows a change at once, sends it, and reverts it if the server rejects it. Resolves to true on
 * success.
 */
async function changeOptimistically(
  change: (overview: Overview) => Overview,
  act: () => Promise<unknown>,
): Promise<boolean> {
  const confirm = beginChange();
  await queryClient.cancelQueries({ queryKey: overviewQuery.queryKey });
  changeOverview(change);
  try {
    await retryUntilConnected(act, notifyWaiting);
    return true;
  } catch (error) {
    notifyError(error);
    confirm();
    await refreshOverview();
    return false;
  } finally {
    confirm();
  }
}

type NamedMonitor = Pick<OverviewMonitor, "id" | "name">;

type Pause = Pick<OverviewMonitor, "paused" | "pausedUntil">;

/** Resumes a paused monitor, and pauses a running one. */
export const switchPause = (monitor: NamedMonitor & Pause) =>
  monitor.paused
    ? setPause(
        monitor,
        { paused: false, pausedUntil: null },
        t("Resumed {name}", { name: monitor.name }),
      )
    : setPause(
        monitor,
        { paused: true, pausedUntil: null },
        t("Paused {name}", { name: monitor.name }),
      );

/** Pauses a monitor until a time, named such as `for 1 hour`. */
export const pauseUntil = (monitor: NamedMonitor & Pause, end: number, time: string) =>
  setPause(
    monitor,
    { paused: true, pausedUntil: new Date(end).toISOString() },
    t("Paused {name} {time}", { name: monitor.name, time }),
  );

async function setPause({ id, ...before }: NamedMonitor & Pause, after: Pause, done: string) {
  const set = ({ paused, pausedUntil }: Pause) =>
    patchMonitor(id, { paused, pausedUntil }, { status: paused ? "paused" : "pending" });
  if (await set(after)) notifyDone(done, () => set(before));
}

export async function muteMonitor({ id, name, muted }: NamedMonitor & { muted: boolean }) {
  const set = (muted: boolean) => patchMonitor(id, { muted });
  if (await set(!muted))
    notifyDone(muted ? t("Unmuted {name}", { name }) : t("Muted {name}", { name }), () =>
      set(muted),
    );
}

const patchMonitor = (
  id: string,
  change: Pause | { muted: boolean },
  /** Further effects to show at once, such as the new state. */
  effect: Partial<OverviewMonitor> = {},
) =>
  changeOptimistically(changeMonitor(id, { ...change, ...effect }), () =>
    unwrapData(v1.monitors({ id }).patch(change)),
  );

export async function checkNow(id: string) {
  await unwrapData(v1.monitors({ id }).check.post());
}

type DeletableMonitor = Pick<OverviewMonitor, "id" | "name" | "status">;

/** Deletes monitors. Holds it if customers or channels can notice it, and for several monitors. */
export function deleteMonitors(monitors: readonly DeletableMonitor[]) {
  const [only] = monitors;
  if (only !== undefined && monitors.length === 1)
    return void deleteMonitor(only).catch(notifyError);
  const deletion = { monitorIds: monitors.map(({ id }) => id), delete: true, skip: true } as const;
  const idempotency = addIdempotencyKey(createProvisionalId());
  holdDeletion((query) => v1.monitors.bulk.post(deletion, { query, ...idempotency }));
}

async function deleteMonitor(monitor: DeletableMonitor) {
  const { id, name } = monitor;
  const route = v1.monitors({ id });
  if (await retryUntilConnected(() => hasProblem(monitor), notifyWaiting))
    return holdDeletion((query) => route.delete(undefined, { query, ...addIfMatch(monitor) }));
  changeOverview((overview) => removeMonitorsFrom(overview, new Set([id])));
  await deleteRecord(
    { noun: "monitor", id, title: name },
    () => route.delete(undefined, addIfMatch(monitor)),
    () => void refreshOverview(),
  );
}

/** Whether a deletion can resolve an incident or close a case. */
async function hasProblem({ id, status }: DeletableMonitor): Promise<boolean> {
  if (status !== "up") return true;
  const query = { monitorId: id, open: "true" as const, per_page: 1 };
  return (await unwrapPage(v1.incidents.get({ query }))).meta.total > 0;
}

type ChannelRemoval = { monitorIds: string[]; change: { removeAlertChannelIds: string[] } };

/** The loaded monitors with these IDs. */
export function findKnownMonitors(ids: ReadonlySet<string>): OverviewMonitor[] {
  const shownOverviews = queryClient.getQueriesData<Overview>({
    queryKey: overviewKey,
    type: "active",
  });
  const known = shownOverviews.flatMap(([, overview]) =>
    overview ? listKnownMonitors(overview) : [],
  );
  return [...new Map(known.map((one) => [one.id, one])).values()].filter(({ id }) => ids.has(id));
}

/** IDs of the monitors that use each channel. */
async function findChannelUsers(
  channelIds: Iterable<string>,
): Promise<ReadonlyMap<string, Set<string>>> {
  const users = new Map<string, Set<string>>();
  for (const id of channelIds)
    users.set(
      id,
      new Set((await unwrapData(dashboard["alert-channels"]({ id }).users.get())).monitorIds),
    );
  return users;
}

/**
 * Monitors that join a group get its alert channels. Returns the changes that detach new ones on
 * undo.
 */
async function listChannelsGained(
  ids: readonly string[],
  groupIds: ReadonlySet<string | null>,
): Promise<ChannelRemoval[]> {
  const overview = queryClient.getQueryData<Overview>(overviewQuery.queryKey);
  const groups = overview?.groups.filter(({ id }) => groupIds.has(id)) ?? [];
  const users = await findChannelUsers(new Set(groups.flatMap((group) => group.alertChannelIds)));
  return [...users].flatMap(([channelId, having]) => {
    const monitorIds = ids.filter((id) => !having.has(id));
    return monitorIds.length === 0
      ? []
      : [{ monitorIds, change: { removeAlertChannelIds: [channelId] } }];
  });
}

/** Queue of moves: they are sent one after the other, in the order of the person's actions. */
let moveQueue: Promise<unknown> = Promise.resolve();

const createQueuedMove = (act: () => Promise<unknown>) => () => {
  moveQueue = moveQueue.then(act, act);
  return moveQueue;
};

/** The last move, with its undo, while undo is possible. */
let lastMove: {
  itemKey: string;
  revert: (gained: readonly ChannelRemoval[]) => Promise<unknown>;
  gained: readonly ChannelRemoval[];
  end: () => boolean;
} | null = null;

/**
 * Confirms a move. Repeated moves of the same item share one undo, which restores the first
 * position.
 */
function notifyMoved(
  itemKey: string,
  name: string,
  takeBack: (gained: readonly ChannelRemoval[]) => Promise<unknown>,
  alsoGained: readonly ChannelRemoval[] = [],
) {
  const before = lastMove?.itemKey === itemKey && lastMove.end() ? lastMove : null;
  const back = before?.revert ?? takeBack;
  const gained = [...(before?.gained ?? []), ...alsoGained];
  lastMove = {
    itemKey,
    revert: back,
    gained,
    end: notifyDone(t("Moved {name}", { name }), () => back(gained)),
  };
}

const isAll = (overview: Overview) => overview === queryClient.getQueryData(overviewQuery.queryKey);

/** Loads all rows of these folders, because an order request lists all monitors of a folder. */
async function readFolders(groupIds: ReadonlySet<string | null>) {
  // A refetch in flight can drop rows of one folder while the next one loads.
  for (let attempt = 0; attempt < 3; attempt++) {
    const overview = queryClient.getQueryData<Overview>(overviewQuery.queryKey);
    const unread = [...groupIds].filter(
      (groupId) => overview && hasUnreadMonitors(overview, groupId),
    );
    if (unread.length === 0) return;
    for (const groupId of unread) await readRows(undefined, groupId, Infinity);
  }
}

type Order = { groupId: string | null; monitorIds: string[] };

const sendOrder = (order: Order) => unwrapData(dashboard.monitors.order.put(order));

/** Undoes a move: restores positions, and detaches channels that came with the new group. */
async function putBack(positions: readonly MonitorPositions[], gained: readonly ChannelRemoval[]) {
  const folders = new Set(positions.map(({ groupId }) => groupId));
  await readFolders(folders);
  let orders: Order[] = [];
  await changeOptimistically(
    (overview) => {
      if (!isAll(overview)) return overview;
      const next = restorePositions(overview, positions);
      orders = [...folders].map((groupId) => ({ groupId, monitorIds: memberIdsOf(next, groupId) }));
      return next;
    },
    createQueuedMove(async () => {
      for (const order of orders) await sendOrder(order);
      for (const many of gained) await unwrapData(v1.monitors.bulk.post(many));
    }),
  );
}

/**
 * Moves monitors. The position is computed when the move runs, because keys can repeat faster than
 * rows move.
 */
async function placeMonitors(
  ids: readonly string[],
  positionIn: (overview: Overview) => ListPosition | null,
) {
  const overview = queryClient.getQueryData<Overview>(overviewQuery.queryKey);
  const position = overview && positionIn(overview);
  if (overview === undefined || position == null) return;
  const known = findKnownMonitors(new Set(ids));
  if (isPartial(overview))
    await readFolders(new Set([position.groupId, ...known.map(({ groupId }) => groupId)]));
  let order: Order | null = null;
  let positions: MonitorPositions[] = [];
  let gained: ChannelRemoval[] | null = null;
  const isDone = await changeOptimistically(
    (overview) => {
      const position = isAll(overview) ? positionIn(overview) : null;
      if (position === null) return overview;
      const { groupId, beforeId } = position;
      const next = moveMonitorsTo(overview, ids, groupId, beforeId);
      const monitorIds = memberIdsOf(next, groupId);
      if (monitorIds.join() === memberIdsOf(overview, groupId).join()) return overview;
      order = { groupId, monitorIds };
      positions = listPositionsOfMonitors(overview, ids);
      return next;
    },
    createQueuedMove(async () => {
      if (order === null) return;
      const groupIds = new Set([order.groupId, ...positions.map(({ groupId }) => groupId)]);
      gained ??= groupIds.size === 1 ? [] : await listChannelsGained(ids, groupIds);
      await sendOrder(order);
    }),
  );
  const [only] = known;
  const name =
    known.length === 1 && only
      ? only.name
      : tCount(ids.length, "{count} monitor", "{count} monitors");
  if (isDone && order !== null)
    notifyMoved(ids.join(), name, (gained) => putBack(positions, gained), gained ?? []);
}

export const moveMonitors = (
  ids: readonly string[],
  groupId: string | null,
  beforeId: string | null,
) => void placeMonitors(ids, () => ({ groupId, beforeId })).catch(notifyError);

/** Moves a monitor up or down by one position, also into the adjacent group. */
export const stepMonitor = (id: string, step: 1 | -1) =>
  void placeMonitors([id], (overview) => findNextPosition(overview, id, step)).catch(notifyError);

/** Moves a group. Returns its name and previous position, or null if it did not move. */
async function placeGroup(id: string, change: (overview: Overview) => Overview) {
  let order: { groupIds: string[] } | null = null;
  let name = "";
  let beforeId: string | null = null;
  const isDone = await changeOptimistically(
    (overview) => {
      const next = change(overview);
      const groupIds = next.groups.map((group) => group.id);
      const before = overview.groups.map((group) => group.id);
      if (groupIds.join() === before.join()) return overview;
      order = { groupIds };
      const at = before.indexOf(id);
      beforeId = before[at + 1] ?? null;
      name = overview.groups[at]?.name ?? "";
      return next;
    },
    createQueuedMove(async () => order && unwrapData(dashboard["monitor-groups"].order.put(order))),
  );
  return isDone && order !== null ? { name, beforeId } : null;
}

/** Moves a group and offers to undo it. */
async function placeGroupWithUndo(id: string, change: (overview: Overview) => Overview) {
  const before = await placeGroup(id, change);
  if (before !== null)
    notifyMoved(id, t("the group {name}", { name: before.name }), () =>
      placeGroup(id, (overview) => moveGroupTo(overview, id, before.beforeId)),
    );
}

export const moveGroup = (id: string, beforeId: string | null) =>
  void placeGroupWithUndo(id, (overview) => moveGroupTo(overview, id, beforeId));

export const stepGroup = (id: string, step: 1 | -1) =>
  void placeGroupWithUndo(id, (overview) => {
    const ids = overview.groups.map((group) => group.id);
    const at = ids.indexOf(id);
    if (at + step < 0 || at + step >= ids.length) return overview;
    return moveGroupTo(overview, id, ids[at + (step === 1 ? 2 : -1)] ?? null);
  });

type GroupVerb = "pause" | "resume" | "mute" | "unmute";

const groupVerbs: Record<GroupVerb, { nameDone: (name: string) => string; opposite: GroupVerb }> = {
  pause: { nameDone: (name) => t("Paused the group {name}", { name }), opposite: "resume" },
  resume: { nameDone: (name) => t("Resumed the group {name}", { name }), opposite: "pause" },
  mute: { nameDone: (name) => t("Muted the group {name}", { name }), opposite: "unmute" },
  unmute: { nameDone: (name) => t("Unmuted the group {name}", { name }), opposite: "mute" },
};

/** Pauses, resumes, mutes or unmutes a whole group. */
export async function actOnGroup({ id, name }: OverviewGroup, verb: GroupVerb) {
  const act = (verb: GroupVerb) => {
    const change =
      verb === "pause" || verb === "resume"
        ? { paused: verb === "pause" }
        : { muted: verb === "mute" };
    return changeOptimistically(
      (overview) => ({
        ...overview,
        groups: overview.groups.map((one) => (one.id === id ? { ...one, ...change } : one)),
      }),
      () => unwrapData(dashboard["monitor-groups"]({ id })[verb].post()),
    );
  };
  const { nameDone, opposite: back } = groupVerbs[verb];
  if (await act(verb)) notifyDone(nameDone(name), () => act(back));
}

export function deleteGroup({ id, name }: OverviewGroup) {
  changeOverview((overview) => ({
    ...overview,
    groups: overview.groups.filter((group) => group.id !== id),
    monitors: overview.monitors.map((monitor) =>
      monitor.groupId === id ? { ...monitor, groupId: null } : monitor,
    ),
  }));
  void deleteRecord(
    { noun: "group", id, title: t("the group {name}; its monitors stay", { name }) },
    () => v1["monitor-groups"]({ id }).delete(),
    () => void refreshOverview(),
  );
}
