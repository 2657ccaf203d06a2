/** Routes that list, restore and remove deleted records. */
import { Deleted, pageSchema } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  DeletedRecord,
  DeletedRecordQuery,
  PageRestoration,
  Restoration,
  Restored,
  WindowRestoration,
} from "./schema.ts";
import { listDeletedRecords, removeDeletedRecord, restoreDeletedRecord } from "./service.ts";

const description =
  "With its history, its secrets and its links to records that exist. Links to records that are deleted too return with those.";
const descriptionOfNamed = `${description} If another one has its name, the response is 409: choose a \`name\`.`;

export const deletedRecordRoutes = createRouter("/api/v1")
  .get(
    ...defineEndpoint("/deleted-records", {
      name: "listDeletedRecords",
      access: "read",
      limited: "denied",
      summary: "List deleted records",
      description:
        "Monitors, groups, channels, status pages, incidents and maintenance windows that can be restored, the last deleted first. The setting `keepDeletedDays` determines how long.",
      query: DeletedRecordQuery,
      response: pageSchema(DeletedRecord),
      handle: ({ scope, query }) => listDeletedRecords(scope, query),
    }),
  )
  .delete(
    ...defineEndpoint("/deleted-records/:id", {
      name: "removeDeletedRecord",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Permanently remove a deleted record",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => removeDeletedRecord(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/monitors/:id/restore", {
      name: "restoreMonitor",
      access: "write",
      limited: "deleted-record",
      summary: "Restore a deleted monitor",
      description: `${descriptionOfNamed} It is checked at once.`,
      body: Restoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) => restoreDeletedRecord(scope, "monitor", params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/monitor-groups/:id/restore", {
      name: "restoreMonitorGroup",
      access: "write",
      limited: "denied",
      summary: "Restore a deleted monitor group",
      description: `${descriptionOfNamed} Its monitors return if they are in no other group.`,
      body: Restoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) => restoreDeletedRecord(scope, "group", params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/alert-channels/:id/restore", {
      name: "restoreAlertChannel",
      access: "write",
      limited: "denied",
      summary: "Restore a deleted alert channel",
      description: descriptionOfNamed,
      body: Restoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) =>
        restoreDeletedRecord(scope, "alert-channel", params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/alert-sources/:id/restore", {
      name: "restoreAlertSource",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Restore a deleted alert source",
      description: `${descriptionOfNamed} Its address works again.`,
      body: Restoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) =>
        restoreDeletedRecord(scope, "alert-source", params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/status-pages/:id/restore", {
      name: "restoreStatusPage",
      access: "write",
      limited: "denied",
      summary: "Restore a deleted status page",
      description: `${description} If another page has its slug, the response is 409: choose a \`slug\`. The same status for one of its hosts: remove the host from the other page first.`,
      body: PageRestoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) =>
        restoreDeletedRecord(scope, "status-page", params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/incidents/:id/restore", {
      name: "restoreIncident",
      access: "write",
      limited: "deleted-record",
      summary: "Restore a deleted incident",
      description: `${description} It notifies no one. Its next update does.`,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params }) => restoreDeletedRecord(scope, "incident", params.id),
    }),
  )
  .post(
    ...defineEndpoint("/maintenance-windows/:id/restore", {
      name: "restoreMaintenanceWindow",
      access: "write",
      limited: "deleted-record",
      summary: "Restore a deleted maintenance window",
      description: `${description} If subscribers were notified of its cancellation, they hear that it is planned again.`,
      query: HoldQuery,
      body: WindowRestoration,
      data: Restored,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, params, body }) =>
        restoreDeletedRecord(scope, "maintenance", params.id, body),
    }),
  );
