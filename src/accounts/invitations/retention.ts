import { formatTimestamp } from "../../core/time/clock.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";

/** Removes expired invitations. */
export function sweepInvitations(context: SweepContext): Promise<void> {
  return sweepRows(context, "invitations", "expires_at < ?", [formatTimestamp(context.now)]);
}
