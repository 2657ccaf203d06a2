import type { ChannelType } from "../../src/alerting/channels/kinds-schema.ts";
import type { ChangeOfMany } from "../../src/monitoring/monitors/bulk-schema.ts";
import { createStore } from "../data/store.ts";

/** An editor dialog that can open on top of any page. */
export type Dialog =
  /** `like` is the ID of a monitor to copy. */
  | { kind: "create-monitor"; groupId?: string | null; like?: string }
  | { kind: "edit-monitor"; id: string }
  | { kind: "create-group"; monitorIds?: readonly string[] }
  | { kind: "edit-group"; id: string }
  /** Changes several monitors; with `change`, only in this way. */
  | {
      kind: "change-monitors";
      monitorIds: readonly string[];
      change?: Pick<ChangeOfMany, "paused" | "pausedUntil" | "muted"> | "delete";
    }
  /** Without `monitorIds`, the monitors that are down are preselected. */
  | { kind: "create-incident"; monitorIds?: readonly string[] }
  /** With `""`, the person chooses the type first. */
  | { kind: "create-channel"; type: ChannelType | "" }
  /** `date` preselects a day, such as `2026-11-22`. */
  | {
      kind: "plan-maintenance";
      date?: string;
      like?: string;
      monitorIds?: readonly string[];
      /** Starts now and is not public. */
      isQuiet?: boolean;
    }
  | { kind: "edit-maintenance"; id: string }
  /** `like` is the ID of a schedule to copy. */
  | { kind: "create-schedule"; like?: string }
  | { kind: "edit-schedule"; id: string }
  /** `like` is the ID of a policy to copy. */
  | { kind: "create-policy"; like?: string }
  | { kind: "edit-policy"; id: string }
  | { kind: "create-source" }
  | { kind: "edit-source"; id: string }
  /** Confirms that this browser no longer shows the person's alerts. */
  | { kind: "sign-out" };

const openStore = createStore<Dialog | null>(null);

export const useDialog = openStore.use;
export const openDialog = (dialog: Dialog) => openStore.set(dialog);
export const closeDialog = () => openStore.set(null);
/** Whether an editor dialog is open, or its script still loads. */
export const isDialogOpen = () => openStore.get() !== null;

/** Whether the command palette is open. */
export const palette = createStore(false);
