import type { ChannelType } from "../../src/alerting/channels/kinds-schema.ts";
import { createStore } from "../data/store.ts";

/** An editor dialog that can open on top of any page. */
export type Dialog =
  /** `like` is the ID of a monitor to copy. */
  | { kind: "create-monitor"; groupId?: string | null; like?: string }
  | { kind: "edit-monitor"; id: string }
  | { kind: "create-group"; monitorIds?: readonly string[] }
  | { kind: "edit-group"; id: string }
  | { kind: "create-incident" }
  /** With `""`, the person chooses the type first. */
  | { kind: "create-channel"; type: ChannelType | "" }
  /** `date` preselects a day, such as `2026-11-22`. */
  | { kind: "plan-maintenance"; date?: string; like?: string }
  | { kind: "edit-maintenance"; id: string }
  /** `like` is the ID of a schedule to copy. */
  | { kind: "create-schedule"; like?: string }
  | { kind: "edit-schedule"; id: string };

const openStore = createStore<Dialog | null>(null);

export const useDialog = openStore.use;
export const openDialog = (dialog: Dialog) => openStore.set(dialog);
export const closeDialog = () => openStore.set(null);

/** Whether the command palette is open. */
export const palette = createStore(false);
