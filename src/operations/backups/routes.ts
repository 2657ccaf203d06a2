/** Routes of backups and their schedule. */
import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { getBackupSchedule, updateBackupSchedule } from "./schedule-service.ts";
import { BackupPlanPatch, BackupSchedule } from "./schedule-schema.ts";
import { BackupOffer, MadeBackup, NewBackup } from "./schema.ts";
import { type BackupDependencies, makeBackup, offerBackup, takeBackup } from "./service.ts";

/** Idle timeout of a download, in seconds. */
const patienceSeconds = 240;

export const backupRoutes = ({ backups, runScheduledBackup }: BackupDependencies) =>
  routesUnder("/backup")
    .get(
      ...endpoint("/", {
        name: "offerBackup",
        access: "administrator",
        summary: "Get the maximum size of a backup",
        data: BackupOffer,
        handle: ({ context }) => offerBackup(context),
      }),
    )
    .post(
      ...endpoint("/", {
        name: "makeBackup",
        access: "administrator",
        timeoutSeconds: patienceSeconds,
        summary: "Copy the whole database, of every organization",
        body: NewBackup.prefault({}),
        data: MadeBackup,
        status: 201,
        errors: ["CONFLICT"],
        handle: ({ context, body }) => makeBackup(context, backups, body),
      }),
    )
    .get(
      ...endpoint("/schedule", {
        name: "getBackupSchedule",
        access: "administrator",
        summary: "Get the backup schedule, with the last outcomes",
        data: BackupSchedule,
        handle: ({ context }) => getBackupSchedule(context),
      }),
    )
    .patch(
      ...endpoint("/schedule", {
        name: "updateBackupSchedule",
        access: "administrator",
        summary: "Update the backup schedule",
        body: BackupPlanPatch,
        data: BackupSchedule,
        handle: ({ context, body }) => updateBackupSchedule(context, body),
      }),
    )
    .post(
      ...endpoint("/schedule/run", {
        name: "runBackupNow",
        access: "administrator",
        timeoutSeconds: patienceSeconds,
        summary: "Create a scheduled backup now",
        data: BackupSchedule,
        errors: ["CONFLICT"],
        handle: async ({ context }) => {
          await runScheduledBackup();
          return getBackupSchedule(context);
        },
      }),
    )
    .get(
      ...endpoint("/:id", {
        name: "takeBackup",
        access: "administrator",
        streams: "application/vnd.sqlite3",
        summary: "Download a copy, once",
        response: z.never(),
        handle: async ({ context, services, request, params }) => {
          services.extendTimeout(request, patienceSeconds);
          return takeBackup(context, backups, params.id);
        },
      }),
    );
