/** REST routes of monitors. */
import { Deleted, pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { Monitor, MonitorPatch, MonitorQuery, NewMonitor } from "./schema.ts";
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  listMonitors,
  tablesOfMonitors,
  updateMonitor,
} from "./service.ts";

export const monitorRoutes = routesUnder("/api/v1/monitors")
  .get(
    ...endpoint("/", {
      name: "listMonitors",
      access: "read",
      cached: tablesOfMonitors,
      summary: "List monitors",
      description: "Newest first.",
      query: MonitorQuery,
      response: pageOf(Monitor),
      handle: ({ scope, query }) => listMonitors(scope, query),
    }),
  )
  .post(
    ...endpoint("/", {
      name: "createMonitor",
      access: "write",
      summary: "Create a monitor",
      body: NewMonitor,
      data: Monitor,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createMonitor(scope, body),
    }),
  )
  .get(
    ...endpoint("/:id", {
      name: "getMonitor",
      access: "read",
      cached: tablesOfMonitors,
      summary: "Get a monitor",
      data: Monitor,
      handle: ({ scope, params }) => getMonitor(scope, params.id),
    }),
  )
  .patch(
    ...endpoint("/:id", {
      name: "updateMonitor",
      access: "write",
      summary: "Update a monitor",
      description:
        "Absent fields keep their value; for a secret, null clears it. A secret stays with its address: a change of that has to send the secret again.",
      body: MonitorPatch,
      data: Monitor,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateMonitor(scope, params.id, body),
    }),
  )
  .delete(
    ...endpoint("/:id", {
      name: "deleteMonitor",
      access: "write",
      summary: "Delete a monitor",
      description:
        "Its incidents stay and no longer name it: `monitorId` becomes the next of their monitors, or null. What it opened by itself and is still open is resolved.",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteMonitor(scope, params.id),
    }),
  );
