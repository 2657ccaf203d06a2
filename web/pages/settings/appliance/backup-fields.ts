/** Converts between the backup schedule and its form. */
import type { BackupSchedule } from "../../../../src/operations/backups/schedule-schema.ts";
import { buildBucketBody, toBucketValues } from "../../../components/forms/bucket-fields.tsx";

type BackupFields = ReturnType<typeof toFields>;

export function toFields(schedule: BackupSchedule) {
  const { enabled, time, timeZone, keepDaily, keepWeekly, keepMonthly, to, includeKey } = schedule;
  return {
    enabled,
    time,
    timeZone,
    keepDaily,
    keepWeekly,
    keepMonthly,
    to,
    folder: schedule.folder ?? "",
    ...toBucketValues(schedule.s3),
    /** Empty leaves the stored passphrase unchanged, null clears it. */
    passphrase: "" as string | null,
    includeKey,
  };
}

/** Builds the request body. */
export function buildPatch({ folder, passphrase, ...fields }: BackupFields) {
  const { enabled, time, timeZone, keepDaily, keepWeekly, keepMonthly, to, includeKey } = fields;
  return {
    enabled,
    time,
    timeZone,
    keepDaily,
    keepWeekly,
    keepMonthly,
    to,
    folder: folder.trim() || null,
    ...buildBucketBody(to, fields),
    ...(passphrase !== "" && { passphrase }),
    includeKey,
  };
}
