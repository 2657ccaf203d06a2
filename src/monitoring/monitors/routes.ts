import { Elysia } from "elysia";
import { dataOf, Deleted, deleted, pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { Monitor, MonitorPatch, MonitorQuery, NewMonitor } from "./schema.ts";
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  listMonitors,
  updateMonitor,
} from "./service.ts";

export const monitorRoutes = new Elysia({ prefix: "/api/v1/monitors" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listMonitors",
        access: "read",
        summary: "List monitors",
        description: "Newest first.",
        query: MonitorQuery,
        answer: pageOf(Monitor),
      },
      ({ scope, query }) => listMonitors(scope, query),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "createMonitor",
        access: "write",
        summary: "Create a monitor",
        body: NewMonitor,
        answer: dataOf(Monitor),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, body }) => ({ data: await createMonitor(scope, body) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "getMonitor",
        access: "read",
        summary: "Get a monitor",
        answer: dataOf(Monitor),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getMonitor(scope, id) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "updateMonitor",
        access: "write",
        summary: "Update a monitor",
        description:
          "Absent fields keep their value; for a secret, null clears it. A secret stays with its address: a change of that has to send the secret again.",
        body: MonitorPatch,
        answer: dataOf(Monitor),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, body }) => ({ data: await updateMonitor(scope, id, body) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "deleteMonitor",
        access: "write",
        summary: "Delete a monitor",
        description:
          "Its incidents stay; their `monitorId` becomes null. What it opened by itself and is still open is resolved.",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id }) => {
        await deleteMonitor(scope, id);
        return deleted;
      },
    ),
  );
