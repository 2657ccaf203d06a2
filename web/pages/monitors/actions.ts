import type { z } from "zod";
import type { ChangeOfMany } from "../../../src/monitoring/monitors/schema.ts";
import { dashboard, dataOf, ifMatch, onceUnder, v1, whenConnected } from "../../data/client.ts";
import { provisionalId } from "../../data/record.ts";
import {
  changeOverview,
  type Overview,
  type OverviewGroup,
  type OverviewMonitor,
  isPartly,
  overviewQuery,
  refreshOverview,
  readRows,
  withMonitor,
  withoutMonitors,
} from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { plural } from "../../components/format.ts";
import {
  notifyDone,
  notifyError,
  notify,
  tellOfWaiting,
  withUndo,
} from "../../components/toasts.tsx";
import type { Target } from "./quick-add.ts";
import { type ListPosition, membersOf, nextPosition, withGroupAt, withMonitorsAt } from "./rows.ts";

/** Makes a monitor with good defaults; its row stands on the page before the server knows of it. */
export async function addMonitor(target: Target, groupId: string | null = null): Promise<boolean> {
  const provisional: OverviewMonitor = {
    id: provisionalId(),
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
    muted: false,
    target: (target.type === "http" ? target.url : target.host).replace(/^https?:\/\//, ""),
    day: "",
    spark: "",
  };
  await queryClient.cancelQueries({ queryKey: overviewQuery.queryKey });
  changeOverview((overview) =>
    withMonitorsAt(
      { ...overview, monitors: [...overview.monitors, provisional] },
      [],
      groupId,
      null,
    ),
  );
  try {
    // Under a key it is made once, however often it is asked for.
    const once = onceUnder(provisional.id);
    await whenConnected(
      () => dataOf(v1.monitors.post({ ...target, groupId }, once)),
      tellOfWaiting,
    );
    return true;
  } catch (error) {
    changeOverview((overview) => withoutMonitors(overview, new Set([provisional.id])));
    throw error;
  }
}

/** Shows a change at once, and takes it back where the server refuses it. Resolves with whether it holds. */
async function optimistic(
  change: (overview: Overview) => Overview,
  act: () => Promise<unknown>,
): Promise<boolean> {
  await queryClient.cancelQueries({ queryKey: overviewQuery.queryKey });
  changeOverview(change);
  try {
    await whenConnected(act, tellOfWaiting);
    return true;
  } catch (error) {
    notifyError(error);
    await refreshOverview();
    return false;
  }
}

type Named = Pick<OverviewMonitor, "id" | "name">;

export async function pauseMonitor({ id, name, paused }: Named & { paused: boolean }) {
  const set = (paused: boolean) =>
    patchMonitor(id, { paused }, { status: paused ? "paused" : "pending" });
  if (await set(!paused)) notifyDone(`${paused ? "Resumed" : "Paused"} ${name}`, () => set(paused));
}

export async function muteMonitor({ id, name, muted }: Named & { muted: boolean }) {
  const set = (muted: boolean) => patchMonitor(id, { muted });
  if (await set(!muted)) notifyDone(`${muted ? "Unmuted" : "Muted"} ${name}`, () => set(muted));
}

const patchMonitor = (
  id: string,
  change: { paused: boolean } | { muted: boolean },
  /** What else it comes to at once. */
  effect: Partial<OverviewMonitor> = {},
) =>
  optimistic(withMonitor(id, { ...change, ...effect }), () =>
    dataOf(v1.monitors({ id }).patch(change)),
  );

export async function checkNow(id: string) {
  await dataOf(v1.monitors({ id }).check.post());
}

export function deleteMonitors(monitors: readonly { id: string; name: string }[]) {
  const ids = new Set(monitors.map(({ id }) => id));
  const [only] = monitors;
  withUndo(
    monitors.length === 1
      ? `Deleted ${only?.name ?? ""}`
      : `Deleted ${plural(monitors.length, "monitor")}`,
    {
      hide: () => changeOverview((overview) => withoutMonitors(overview, ids)),
      restore: () => void refreshOverview(),
      commit: () =>
        only !== undefined && monitors.length === 1
          ? dataOf(v1.monitors({ id: only.id }).delete(undefined, ifMatch(only)))
          : dataOf(dashboard.monitors.bulk.post({ monitorIds: [...ids], delete: true })),
    },
  );
}

export type BulkChange = z.input<typeof ChangeOfMany>;

/** All or none of them, in one write. */
export async function changeMonitors(ids: ReadonlySet<string>, change: BulkChange) {
  await dataOf(dashboard.monitors.bulk.post({ monitorIds: [...ids], change }));
  notify(`Changed ${plural(ids.size, "monitor")}`);
}

/** Moves are sent one after the other, as they were made. */
let moves: Promise<unknown> = Promise.resolve();

const inTurn = (act: () => Promise<unknown>) => () => {
  moves = moves.then(act, act);
  return moves;
};

/** Puts monitors where they belong by the time it is done: keys may come faster than moves are shown. */
function placeMonitors(
  ids: readonly string[],
  positionIn: (overview: Overview) => ListPosition | null,
) {
  let order: { groupId: string | null; monitorIds: string[] } | null = null;
  const place = () =>
    optimistic(
      (overview) => {
        const position = positionIn(overview);
        if (position === null) return overview;
        const { groupId, beforeId } = position;
        const next = withMonitorsAt(overview, ids, groupId, beforeId);
        order = { groupId, monitorIds: membersOf(next, groupId) };
        return next;
      },
      inTurn(async () => order && dataOf(dashboard.monitors.order.put(order))),
    );
  const overview = queryClient.getQueryData<Overview>(overviewQuery.queryKey);
  const position = overview && positionIn(overview);
  if (overview === undefined || position == null) return;
  // An order names all of a folder.
  if (!isPartly(overview)) void place();
  else void readRows(undefined, position.groupId, Infinity).then(place).catch(notifyError);
}

export const moveMonitors = (
  ids: readonly string[],
  groupId: string | null,
  beforeId: string | null,
) => placeMonitors(ids, () => ({ groupId, beforeId }));

/** Up or down by one place, also into the next group. */
export const stepMonitor = (id: string, step: 1 | -1) =>
  placeMonitors([id], (overview) => nextPosition(overview, id, step));

function placeGroup(change: (overview: Overview) => Overview) {
  let order: { groupIds: string[] } | null = null;
  void optimistic(
    (overview) => {
      const next = change(overview);
      if (next !== overview) order = { groupIds: next.groups.map(({ id }) => id) };
      return next;
    },
    inTurn(async () => order && dataOf(dashboard["monitor-groups"].order.put(order))),
  );
}

export const moveGroup = (id: string, beforeId: string | null) =>
  placeGroup((overview) => withGroupAt(overview, id, beforeId));

export const stepGroup = (id: string, step: 1 | -1) =>
  placeGroup((overview) => {
    const ids = overview.groups.map((group) => group.id);
    const at = ids.indexOf(id);
    if (at + step < 0 || at + step >= ids.length) return overview;
    return withGroupAt(overview, id, ids[at + (step === 1 ? 2 : -1)] ?? null);
  });

type GroupVerb = "pause" | "resume" | "mute" | "unmute";

const groupVerbs: Record<GroupVerb, { done: string; back: GroupVerb }> = {
  pause: { done: "Paused", back: "resume" },
  resume: { done: "Resumed", back: "pause" },
  mute: { done: "Muted", back: "unmute" },
  unmute: { done: "Unmuted", back: "mute" },
};

/** Pauses, resumes, mutes or unmutes a folder as a whole. */
export async function actOnGroup({ id, name }: OverviewGroup, verb: GroupVerb) {
  const act = (verb: GroupVerb) => {
    const change =
      verb === "pause" || verb === "resume"
        ? { paused: verb === "pause" }
        : { muted: verb === "mute" };
    return optimistic(
      (overview) => ({
        ...overview,
        groups: overview.groups.map((one) => (one.id === id ? { ...one, ...change } : one)),
      }),
      () => dataOf(dashboard["monitor-groups"]({ id })[verb].post()),
    );
  };
  const { done, back } = groupVerbs[verb];
  if (await act(verb)) notifyDone(`${done} the group ${name}`, () => act(back));
}

export function deleteGroup({ id, name }: OverviewGroup) {
  withUndo(`Deleted the group ${name}; its monitors stay`, {
    hide: () =>
      changeOverview((overview) => ({
        ...overview,
        groups: overview.groups.filter((group) => group.id !== id),
        monitors: overview.monitors.map((monitor) =>
          monitor.groupId === id ? { ...monitor, groupId: null } : monitor,
        ),
      })),
    restore: () => void refreshOverview(),
    commit: () => dataOf(v1["monitor-groups"]({ id }).delete()),
  });
}
