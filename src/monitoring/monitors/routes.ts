/** REST routes of monitors. */
import { Deleted, pageSchema } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { createRouter } from "../../http/request-context.ts";
import { BulkPreview, BulkResult, ManyMonitors } from "./bulk-schema.ts";
import { changeMonitorsInBulk, previewBulkChange } from "./bulk-service.ts";
import { Monitor, MonitorPatch, MonitorQuery, NewMonitor } from "./schema.ts";
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  listMonitors,
  monitorTables,
  updateMonitor,
} from "./service.ts";

export const monitorRoutes = createRouter("/api/v1/monitors")
  .get(
    ...defineEndpoint("/", {
      name: "listMonitors",
      access: "read",
      limited: "filtered",
      cached: monitorTables,
      summary: "List monitors",
      description: "Newest first.",
      query: MonitorQuery,
      response: pageSchema(Monitor),
      handle: ({ scope, query }) => listMonitors(scope, query),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createMonitor",
      access: "write",
      limited: "filtered",
      summary: "Create a monitor",
      body: NewMonitor,
      data: Monitor,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createMonitor(scope, body),
    }),
  )
  .post(
    ...defineEndpoint("/bulk", {
      name: "changeMonitors",
      access: "write",
      limited: "filtered",
      summary: "Change or delete many monitors",
      description:
        "All of them or none, in one atomic write. Monitors that have the new values already stay unchanged. Monitors of a configuration can only be paused and muted.",
      query: HoldQuery,
      body: ManyMonitors,
      data: BulkResult,
      errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, body }) => changeMonitorsInBulk(scope, body),
    }),
  )
  .post(
    ...defineEndpoint("/bulk/preview", {
      name: "previewChangeOfMonitors",
      access: "write",
      limited: "filtered",
      summary: "Preview a change of many monitors",
      description:
        "Returns which value changes to which, for how many monitors, and which monitors stay unchanged and why. Nothing is changed.",
      body: ManyMonitors,
      data: BulkPreview,
      errors: ["NOT_FOUND"],
      handle: ({ scope, body }) => previewBulkChange(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getMonitor",
      access: "read",
      limited: "monitor",
      cached: monitorTables,
      summary: "Get a monitor",
      data: Monitor,
      handle: ({ scope, params }) => getMonitor(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateMonitor",
      access: "write",
      limited: "monitor",
      summary: "Update a monitor",
      description:
        "Absent fields keep their value; for a secret, null clears it. A secret belongs to its address. A change of the address must send the secret again.",
      body: MonitorPatch,
      data: Monitor,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateMonitor(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteMonitor",
      access: "write",
      limited: "monitor",
      summary: "Delete a monitor",
      description:
        "Its incidents stay and no longer name it: `monitorId` becomes the next of their monitors, or null. Open incidents that it opened automatically are resolved.",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteMonitor(scope, params.id),
    }),
  );
