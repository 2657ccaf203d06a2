/** Converts between the backup schedule and its form. */
import type { BackupSchedule } from "../../../../src/operations/backups/schedule-schema.ts";

/** Field names are the paths in error responses of the API. */
type BackupFields = {
  enabled: boolean;
  time: string;
  timeZone: string;
  keepDaily: number;
  keepWeekly: number;
  keepMonthly: number;
  to: "folder" | "s3";
  folder: string;
  "s3.endpoint": string;
  "s3.region": string;
  "s3.bucket": string;
  "s3.prefix": string;
  "s3.accessKeyId": string;
  /**
   * Empty leaves the stored secret unchanged, null clears it. The same applies to the passphrase.
   */
  "s3.secretAccessKey": string | null;
  passphrase: string | null;
  includeKey: boolean;
};

export function toFields(schedule: BackupSchedule): BackupFields {
  const { s3, folder } = schedule;
  const { enabled, time, timeZone, keepDaily, keepWeekly, keepMonthly, to, includeKey } = schedule;
  return {
    enabled,
    time,
    timeZone,
    keepDaily,
    keepWeekly,
    keepMonthly,
    to,
    folder: folder ?? "",
    "s3.endpoint": s3?.endpoint ?? "",
    "s3.region": s3?.region ?? "us-east-1",
    "s3.bucket": s3?.bucket ?? "",
    "s3.prefix": s3?.prefix ?? "",
    "s3.accessKeyId": s3?.accessKeyId ?? "",
    // Secrets are never sent to the page. Empty leaves them unchanged.
    "s3.secretAccessKey": "",
    passphrase: "",
    includeKey,
  };
}

/** The request body. Omits S3 settings that were never entered. */
export function buildPatch(fields: BackupFields) {
  const { enabled, time, timeZone, keepDaily, keepWeekly, keepMonthly, to, includeKey } = fields;
  const hasBucket = to === "s3" || fields["s3.endpoint"].trim() !== "";
  const secret = fields["s3.secretAccessKey"];
  return {
    enabled,
    time,
    timeZone,
    keepDaily,
    keepWeekly,
    keepMonthly,
    to,
    folder: fields.folder.trim() || null,
    ...(hasBucket && {
      s3: {
        endpoint: fields["s3.endpoint"].trim(),
        region: fields["s3.region"].trim(),
        bucket: fields["s3.bucket"].trim(),
        prefix: fields["s3.prefix"].trim(),
        accessKeyId: fields["s3.accessKeyId"].trim(),
        ...(secret !== "" && { secretAccessKey: secret }),
      },
    }),
    ...(fields.passphrase !== "" && { passphrase: fields.passphrase }),
    includeKey,
  };
}
