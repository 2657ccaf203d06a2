import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import { send } from "../../data/client.ts";
import {
  changeMonitor,
  changeOverview,
  type Overview,
  type OverviewGroup,
  type OverviewMonitor,
  overviewQuery,
  refreshOverview,
} from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { complain, say, withUndo } from "../../parts/toasts.tsx";
import { plural } from "../../parts/figures.ts";
import type { Target } from "./quick-add.ts";
import { membersOf, withMonitorsAt, withGroupAt } from "./rows.ts";

const monitorPath = (id: string) => `/api/v1/monitors/${id}`;

/** Makes a monitor with good defaults; its row stands on the page before the server knows of it. */
export async function addMonitor(target: Target, groupId: string | null = null): Promise<boolean> {
  const provisional: OverviewMonitor = {
    id: crypto.randomUUID(),
    name: target.name,
    type: target.type,
    groupId,
    tags: [],
    status: "pending",
    statusSince: new Date().toISOString(),
    lastMessage: null,
    latencyMs: null,
    uptime24h: null,
    paused: false,
    muted: false,
    target: (target.url ?? target.host ?? "").replace(/^https?:\/\//, ""),
    day: "",
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
    await send<Monitor>("POST", "/api/v1/monitors", { ...target, groupId });
    await refreshOverview();
    return true;
  } catch (error) {
    changeOverview((overview) => ({
      ...overview,
      monitors: overview.monitors.filter(({ id }) => id !== provisional.id),
    }));
    throw error;
  }
}

/** Shows a change at once, and takes it back where the server refuses it. */
async function optimistic(change: (overview: Overview) => Overview, act: () => Promise<unknown>) {
  await queryClient.cancelQueries({ queryKey: overviewQuery.queryKey });
  changeOverview(change);
  try {
    await act();
  } catch (error) {
    complain(error);
  }
  await refreshOverview();
}

export async function pauseMonitor({ id, paused }: Pick<OverviewMonitor, "id" | "paused">) {
  changeMonitor(id, { paused: !paused, status: paused ? "pending" : "paused" });
  await patchOrComplain(monitorPath(id), { paused: !paused });
}

export async function muteMonitor({ id, muted }: Pick<OverviewMonitor, "id" | "muted">) {
  changeMonitor(id, { muted: !muted });
  await patchOrComplain(monitorPath(id), { muted: !muted });
}

async function patchOrComplain(path: string, change: object) {
  try {
    await send("PATCH", path, change);
  } catch (error) {
    complain(error);
    await refreshOverview();
  }
}

export async function checkNow(id: string) {
  await send("POST", `${monitorPath(id)}/check`);
}

const withoutThese = (ids: ReadonlySet<string>) => (overview: Overview) => ({
  ...overview,
  monitors: overview.monitors.filter(({ id }) => !ids.has(id)),
});

export function deleteMonitors(monitors: readonly { id: string; name: string }[]) {
  const ids = new Set(monitors.map(({ id }) => id));
  const [only] = monitors;
  withUndo(
    monitors.length === 1 ? `Deleted ${only?.name ?? ""}` : `Deleted ${monitors.length} monitors`,
    {
      hide: () => changeOverview(withoutThese(ids)),
      restore: () => void refreshOverview(),
      commit: () =>
        only !== undefined && monitors.length === 1
          ? send("DELETE", monitorPath(only.id))
          : send("POST", "/monitors/bulk", { monitorIds: [...ids], delete: true }),
    },
  );
}

export type BulkChange = {
  paused?: boolean;
  muted?: boolean;
  groupId?: string | null;
  addTags?: string[];
  removeTags?: string[];
  addAlertChannelIds?: string[];
  removeAlertChannelIds?: string[];
};

/** All or none of them, in one write. */
export async function changeMonitors(ids: ReadonlySet<string>, change: BulkChange) {
  await send("POST", "/monitors/bulk", { monitorIds: [...ids], change });
  await refreshOverview();
  say(`Changed ${plural(ids.size, "monitor")}`);
}

/** Moves are sent one after the other, as they were made. */
let moves: Promise<unknown> = Promise.resolve();

const inTurn = (act: () => Promise<unknown>) => () => {
  moves = moves.then(act, act);
  return moves;
};

export function moveMonitors(
  ids: readonly string[],
  groupId: string | null,
  beforeId: string | null,
) {
  let monitorIds: string[] = [];
  void optimistic(
    (overview) => {
      const next = withMonitorsAt(overview, ids, groupId, beforeId);
      monitorIds = membersOf(next, groupId);
      return next;
    },
    inTurn(() => send("PUT", "/monitors/order", { groupId, monitorIds })),
  );
}

export function moveGroup(id: string, beforeId: string | null) {
  let groupIds: string[] = [];
  void optimistic(
    (overview) => {
      const next = withGroupAt(overview, id, beforeId);
      groupIds = next.groups.map((group) => group.id);
      return next;
    },
    inTurn(() => send("PUT", "/monitor-groups/order", { groupIds })),
  );
}

/** Pauses, resumes, mutes or unmutes a folder as a whole. */
export function actOnGroup({ id }: OverviewGroup, verb: "pause" | "resume" | "mute" | "unmute") {
  const change =
    verb === "pause" || verb === "resume"
      ? { paused: verb === "pause" }
      : { muted: verb === "mute" };
  void optimistic(
    (overview) => ({
      ...overview,
      groups: overview.groups.map((one) => (one.id === id ? { ...one, ...change } : one)),
    }),
    () => send("POST", `/monitor-groups/${id}/${verb}`),
  );
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
    commit: () => send("DELETE", `/api/v1/monitor-groups/${id}`),
  });
}
