/** The actions on a monitor and on a group, for their menus, buttons and the command palette. */
import { hourMs } from "../../../src/core/time/clock.ts";
import type { OverviewGroup, OverviewMonitor } from "../../data/overview.ts";
import type { RecordAction } from "../../components/menus.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { notify, notifyError } from "../../components/toasts.tsx";
import { listReturnTimes } from "../../components/return-times.ts";
import { actOnGroup, checkNow, muteMonitor, pauseUntil, switchPause } from "./actions.ts";
import { t } from "../../language/text.ts";

type ActionsOf<Name extends string> = Record<Name, RecordAction>;

type Switch = { paused: boolean; muted: boolean };
/** An action whose label can name the record. */
type PhrasedAction = RecordAction & Required<Pick<RecordAction, "phrase">>;

const labelPause = ({ paused }: Switch) =>
  paused
    ? ({
        label: t("Resume"),
        icon: "play",
        phrase: (name: string) => t("Resume {name}", { name }),
      } as const)
    : ({
        label: t("Pause"),
        icon: "pause",
        phrase: (name: string) => t("Pause {name}", { name }),
      } as const);

const labelMute = ({ muted }: Switch) =>
  muted
    ? ({
        label: t("Unmute"),
        icon: "sound",
        phrase: (name: string) => t("Unmute {name}", { name }),
      } as const)
    : ({
        label: t("Mute"),
        icon: "mute",
        phrase: (name: string) => t("Mute {name}", { name }),
      } as const);

type Monitor = Pick<
  OverviewMonitor,
  "id" | "name" | "type" | "status" | "paused" | "pausedUntil" | "muted"
>;

/** Returns the actions of people who can change monitors. `check` is null for paused and push monitors. */
export function getMonitorActions(monitor: Monitor): ActionsOf<
  "pause" | "pauseUntil" | "mute" | "edit" | "duplicate"
> & {
  check: RecordAction | null;
} {
  const { id, name, type, status } = monitor;
  const check = () =>
    void checkNow(id)
      .then(() => notify(t("Checked {name}", { name })))
      .catch(notifyError);
  return {
    check:
      status === "paused" || type === "push"
        ? null
        : {
            label: t("Check now"),
            icon: "refresh",
            run: check,
            phrase: (name) => t("Check {name} now", { name }),
          },
    pause: { ...labelPause(monitor), run: () => void switchPause(monitor) },
    pauseUntil: {
      label: t("Pause until…"),
      icon: "clock",
      run: () =>
        openDialog({ kind: "change-monitors", monitorIds: [id], change: pauseForAnHour() }),
      phrase: (name) => t("Pause {name} until…", { name }),
    },
    mute: { ...labelMute(monitor), run: () => void muteMonitor(monitor) },
    edit: {
      label: t("Edit"),
      icon: "edit",
      run: () => openDialog({ kind: "edit-monitor", id }),
      phrase: nameEdit,
    },
    duplicate: {
      label: t("Duplicate"),
      icon: "copy",
      run: () => openDialog({ kind: "create-monitor", like: id }),
      phrase: (name) => t("Duplicate {name}", { name }),
    },
  };
}

const nameEdit = (name: string) => t("Edit {name}", { name });

const pauseForAnHour = () => ({
  paused: true,
  pausedUntil: new Date(Date.now() + hourMs).toISOString(),
});

/** The actions that pause a monitor until one of the usual times. */
export const listPauses = (monitor: Monitor, zone: string): RecordAction[] =>
  listReturnTimes(zone).map(({ label, getEnd }) => ({
    label,
    icon: "pause",
    run: () => void pauseUntil(monitor, getEnd(), label),
    phrase: (name) => t("Pause {name} {time}", { name, time: label }),
  }));

/** The actions of people who can change groups. */
export function getGroupActions(
  group: OverviewGroup,
): ActionsOf<"edit" | "create"> & Record<"pause" | "mute", PhrasedAction> {
  const { id, paused, muted } = group;
  return {
    pause: {
      ...labelPause(group),
      run: () => void actOnGroup(group, paused ? "resume" : "pause"),
    },
    mute: { ...labelMute(group), run: () => void actOnGroup(group, muted ? "unmute" : "mute") },
    edit: {
      label: t("Edit"),
      icon: "edit",
      run: () => openDialog({ kind: "edit-group", id }),
      phrase: nameEdit,
    },
    create: {
      label: t("Create monitor"),
      icon: "plus",
      run: () => openDialog({ kind: "create-monitor", groupId: id }),
      phrase: (name) => t("Create monitor in {name}", { name }),
    },
  };
}
