import { endAllSessions } from "../../accounts/sessions/store.ts";
import { listOrganizations } from "../../accounts/organizations/service.ts";
import { buildAuditRows } from "../../accounts/sessions/service.ts";
import { prepareRestoredAlerts } from "../../alerting/deciding/restored-alerts.ts";
import type { Clock } from "../../core/time/clock.ts";
import { copiedVersion } from "../../database/backup/backup-file.ts";
import { removeWaitingChanges } from "../../http/held-changes/store.ts";
import type { Store } from "../../database/store.ts";
import { commandLine } from "../../events/scope.ts";

/** Prepares a restored copy exactly once, at its first start. Returns whether the database was a restored copy. */
export async function startRestored(store: Store, clock: Clock): Promise<boolean> {
  const [row] = await store.query<{ version: number }>(
    "select user_version as version from pragma_user_version()",
    [],
  );
  if (row?.version !== copiedVersion) return false;
  const ids = (await listOrganizations(store)).map(({ id }) => id);
  await store.atomic([
    endAllSessions,
    ...prepareRestoredAlerts(clock()),
    removeWaitingChanges,
    ...ids.flatMap((subjectId) =>
      buildAuditRows([subjectId], { clock, requestId: null }, commandLine, {
        action: "backup.restored",
        subjectId,
      }),
    ),
    { text: "pragma user_version = 0", parameters: [] },
  ]);
  return true;
}
