/** Routes of backups and their schedule. */
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { getBackupSchedule, updateBackupSchedule } from "./schedule-service.ts";
import { BackupPlanPatch, BackupSchedule } from "./schedule-schema.ts";
import { BackupOffer, CreatedBackup, NewBackup } from "./schema.ts";
import { type BackupDependencies, makeBackup, offerBackup, downloadBackup } from "./service.ts";

/** Idle timeout of a download, in seconds. */
const timeoutSeconds = 240;

export const createBackupRoutes = ({ backups, runScheduledBackup }: BackupDependencies) =>
  createRouter("/backup")
    .get(
      ...defineEndpoint("/", {
        name: "offerBackup",
        access: "administrator",
        summary: "Get the maximum size of a backup",
        data: BackupOffer,
        handle: ({ context }) => offerBackup(context),
      }),
    )
    .post(
      ...defineEndpoint("/", {
        name: "makeBackup",
        access: "administrator",
        timeoutSeconds: timeoutSeconds,
        summary: "Copy the whole database, of every organization",
        body: NewBackup.prefault({}),
        data: CreatedBackup,
        status: 201,
        errors: ["CONFLICT"],
        handle: ({ context, body }) => makeBackup(context, backups, body),
      }),
    )
    .get(
      ...defineEndpoint("/schedule", {
        name: "getBackupSchedule",
        access: "administrator",
        summary: "Get the backup schedule, with the last outcomes",
        data: BackupSchedule,
        handle: ({ context }) => getBackupSchedule(context),
      }),
    )
    .patch(
      ...defineEndpoint("/schedule", {
        name: "updateBackupSchedule",
        access: "administrator",
        summary: "Update the backup schedule",
        body: BackupPlanPatch,
        data: BackupSchedule,
        handle: ({ context, body }) => updateBackupSchedule(context, body),
      }),
    )
    .post(
      ...defineEndpoint("/schedule/run", {
        name: "runBackupNow",
        access: "administrator",
        timeoutSeconds: timeoutSeconds,
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
      ...defineEndpoint("/:id", {
        name: "takeBackup",
        access: "administrator",
        streams: "application/vnd.sqlite3",
        summary: "Download a copy, once",
        response: z.never(),
        handle: async ({ context, services, request, params }) => {
          services.extendTimeout(request, timeoutSeconds);
          return downloadBackup(context, backups, params.id);
        },
      }),
    );
