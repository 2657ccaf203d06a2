/** Wire format of the backup schedule. */
import { z } from "zod";
import {
  fixedDestination,
  createFieldsCheck,
  isSameOrigin,
} from "../../core/security/destinations.ts";
import {
  bodySchema,
  integer,
  line,
  toPatchShape,
  Timestamp,
  TimeZone,
  nullable,
} from "../../core/fields.ts";
import { defineKind } from "../../core/kinds.ts";
import { Bucket, BucketPatch, ShownBucket } from "../../core/outgoing/bucket-schema.ts";
import { Passphrase } from "./schema.ts";

const schedule = {
  enabled: z.boolean().default(false),
  /** Time of day in `timeZone`. */
  time: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 03:00")
    .default("03:00"),
  timeZone: TimeZone.default("UTC"),
  /** Number of days, weeks and months whose last backup is retained. */
  keepDaily: integer(1, 366).default(7),
  keepWeekly: integer(0, 260).default(4),
  keepMonthly: integer(0, 240).default(6),
  to: z.enum(["folder", "s3"]).default("folder"),
  folder: nullable(
    line(1_000).refine(
      (path) => /^(?:\/|[A-Za-z]:[\\/])/.test(path) && !path.split(/[\\/]/).includes(".."),
      "must be a path from the root, such as /backups",
    ),
  ),
  s3: nullable(Bucket),
  passphrase: nullable(Passphrase),
  /** Whether the backup also contains `secret.key`. */
  includeKey: z.boolean().default(false),
};

export const backupKinds = {
  schedule: defineKind(schedule, {
    "s3.secretAccessKey": { s3: createFieldsCheck({ endpoint: isSameOrigin }) },
    // A passphrase is not sent anywhere, so no destination can change.
    passphrase: fixedDestination,
  }),
};

/** The complete schedule with its secrets. */
export const BackupPlan = z.strictObject(schedule).superRefine((plan, context) => {
  const issue = (path: string[], message: string) =>
    context.addIssue({ code: "custom", path, message });
  if (plan.includeKey && plan.passphrase === null)
    issue(["includeKey"], "needs a passphrase: the key opens everything");
  if (!plan.enabled) return;
  if (plan.to === "folder" && plan.folder === null) issue(["folder"], "is required");
  if (plan.to === "s3" && plan.s3 === null) issue(["s3"], "is required");
  if (plan.to === "s3" && plan.s3?.secretAccessKey === null)
    issue(["s3", "secretAccessKey"], "is required");
});
export type BackupPlan = z.output<typeof BackupPlan>;

export const BackupPlanPatch = bodySchema(
  ["secretsSet", "updatedAt", "nextAt", "last", "failure"],
  z.strictObject({ ...toPatchShape(schedule), s3: BucketPatch }),
);
export type BackupPlanPatch = z.output<typeof BackupPlanPatch>;

const { passphrase: _passphrase, ...shownSchedule } = schedule;

/** The schedule as the API shows it, with the last outcomes. */
export const BackupSchedule = z.object({
  ...shownSchedule,
  s3: ShownBucket.nullable(),
  secretsSet: z.array(z.string()),
  /** Time of the next backup; null while scheduled backups are off. */
  nextAt: Timestamp.nullable(),
  /** The last successful backup. */
  last: z.object({ at: Timestamp, name: z.string(), bytes: z.int() }).nullable(),
  /** The current failure; null after a success. */
  failure: z.object({ since: Timestamp, reason: z.string() }).nullable(),
  updatedAt: Timestamp.nullable(),
});
export type BackupSchedule = z.output<typeof BackupSchedule>;
