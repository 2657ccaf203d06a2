/** Reads and updates the backup schedule. */
import { buildPersonAudit } from "../../accounts/sessions/service.ts";
import { guardAdministrator } from "../../accounts/people/store.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import {
  joinSecrets,
  OpenedRecord,
  listSecretPaths,
  splitSecrets,
} from "../../core/security/kind-secrets.ts";
import { openAll, sealAll, type Vault } from "../../core/security/secrets.ts";
import { assertTargetsAllowed, listUrlTargets } from "../../core/security/target-guard.ts";
import { parse } from "../../core/validation.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import { recordProblemEnd } from "../../events/problems.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { findNextMoment } from "./rules.ts";
import {
  backupKinds,
  BackupPlan,
  type BackupPlanPatch,
  type BackupSchedule,
} from "./schedule-schema.ts";
import { findSchedule, putSchedule, type ScheduleRow } from "./schedule-store.ts";

const kind = "schedule";
const location = "appliance/backup";

/** Returns the stored schedule with decrypted secrets, or the defaults. */
export function openPlan(vault: Vault, row: ScheduleRow | null): BackupPlan {
  if (row === null) return BackupPlan.parse({});
  const secrets = openAll(vault, location, row.secrets);
  return BackupPlan.parse(joinSecrets(backupKinds, kind, JSON.parse(row.settings), secrets));
}

function toSchedule(vault: Vault, row: ScheduleRow | null, now: number): BackupSchedule {
  const plan = openPlan(vault, row);
  const { lastSuccessAt = null, lastFile = null, failingSince = null } = row ?? {};
  return {
    ...plan,
    secretsSet: row === null ? [] : listSecretPaths(backupKinds, kind, row.secrets),
    nextAt: plan.enabled ? formatTimestamp(findNextMoment(plan, now)) : null,
    last:
      lastSuccessAt === null
        ? null
        : { at: lastSuccessAt, name: lastFile ?? "", bytes: row?.lastBytes ?? 0 },
    failure: failingSince === null ? null : { since: failingSince, reason: row?.lastError ?? "" },
    updatedAt: row?.updatedAt ?? null,
  };
}

export async function getBackupSchedule({
  store,
  vault,
  clock,
}: SignedInContext): Promise<BackupSchedule> {
  return toSchedule(vault, await findSchedule(store), clock());
}

const listTargets = ({ s3 }: BackupPlan) => listUrlTargets("s3.endpoint", s3?.endpoint);

/** Updates the schedule. Throws VALIDATION_ERROR, and FORBIDDEN if the person is no longer an administrator. */
export function updateBackupSchedule(
  context: SignedInContext,
  patch: BackupPlanPatch,
): Promise<BackupSchedule> {
  const { store, vault, clock, session, targets } = context;
  return retryOnStaleRead(async () => {
    const row = await findSchedule(store);
    const before = new OpenedRecord(backupKinds, kind, openPlan(vault, row));
    const after = before.applyPatch(patch, (whole) => parse(BackupPlan, whole));
    const placesBefore = before.derive((fields) => listTargets(fields as BackupPlan));
    await assertTargetsAllowed(targets, listTargets(after), placesBefore);
    const { settings, secrets } = splitSecrets(backupKinds, kind, after);
    const now = clock();
    const next: ScheduleRow = {
      lastSuccessAt: null,
      lastFile: null,
      lastBytes: null,
      failingSince: null,
      lastError: null,
      ...row,
      id: 1,
      settings: JSON.stringify(settings),
      secrets: sealAll(vault, location, secrets),
      version: (row?.version ?? 0) + 1,
      updatedAt: formatTimestamp(now),
      // The first backup is due at the next scheduled time.
      triedFor: now,
      retryAt: null,
    };
    await store.atomic([
      guardAdministrator(session.person.id),
      ...putSchedule(store, next),
      ...(after.enabled
        ? []
        : recordProblemEnd({ name: "backup" }, "Scheduled backups are off.", now)),
      ...buildPersonAudit(context, "backup.scheduled", Object.keys(patch)),
    ]);
    return toSchedule(vault, next, now);
  });
}
