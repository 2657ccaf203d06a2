import type { z } from "zod";
import type { ChangeOfMany } from "../../../src/monitoring/monitors/bulk-schema.ts";
import type { OverviewMonitor } from "../../data/overview.ts";

export type BulkChange = z.input<typeof ChangeOfMany>;

/** Whether a change can alert further channels to a problem that already exists. */
export const canAlert = (
  monitors: readonly Pick<OverviewMonitor, "status">[],
  change: BulkChange,
) =>
  monitors.some(({ status }) => status === "down" || status === "degraded") &&
  (change.muted === false ||
    change.groupId !== undefined ||
    change.addAlertChannelIds !== undefined ||
    change.alertChannelIds !== undefined);
