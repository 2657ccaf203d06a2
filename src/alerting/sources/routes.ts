/** REST routes of alert sources. */
import { z } from "zod";
import { Id } from "../../core/fields.ts";
import { Deleted, pageSchema } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  AlertSource,
  AlertSourcePatch,
  LoggedSourceRequest,
  NewAlertSource,
  NewSourcePreview,
  SourcePreview,
  SourceRequestQuery,
} from "./schema.ts";
import {
  createSource,
  deleteSource,
  getSource,
  listRequests,
  listSources,
  previewSample,
  replayRequest,
  rotateAddress,
  type SourceDependencies,
  updateSource,
} from "./service.ts";

const cached = [
  "alert_channels",
  "alert_sources",
  "alert_source_channels",
  "alert_source_requests",
  "source_alerts",
];

const Replayed = z
  .object({ id: Id.meta({ description: "The new entry of the log." }), outcome: z.string() })
  .meta({
    id: "AlertSourceReplay",
    example: { id: "01a1fb99-d231-7e5f-8d6c-7b8a99c7d6e6", outcome: "Opened 1 alert." },
  });

export const createAlertSourceRoutes = (dependencies: SourceDependencies) =>
  createRouter("/api/v1/alert-sources")
    .get(
      ...defineEndpoint("/", {
        name: "listAlertSources",
        access: "read",
        limited: "denied",
        cached,
        summary: "List all alert sources",
        description: "By name.",
        data: z.array(AlertSource),
        handle: ({ scope }) => listSources(scope),
      }),
    )
    .post(
      ...defineEndpoint("/", {
        name: "createAlertSource",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Create an alert source",
        body: NewAlertSource,
        data: AlertSource,
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: ({ scope, body }) => createSource(scope, body),
      }),
    )
    .post(
      ...defineEndpoint("/preview", {
        name: "previewAlertSource",
        access: "read",
        limited: "unrelated",
        summary: "Preview the alerts in a sample of a request",
        description: "Changes nothing.",
        body: NewSourcePreview,
        data: SourcePreview,
        handle: ({ scope, body }) => previewSample(scope, body),
      }),
    )
    .get(
      ...defineEndpoint("/:id", {
        name: "getAlertSource",
        access: "read",
        limited: "denied",
        cached,
        summary: "Get an alert source",
        data: AlertSource,
        handle: ({ scope, params }) => getSource(scope, params.id),
      }),
    )
    .patch(
      ...defineEndpoint("/:id", {
        name: "updateAlertSource",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Update an alert source",
        description: "Absent fields keep their value. Disabling it ends its open alerts.",
        body: AlertSourcePatch,
        data: AlertSource,
        errors: ["PRECONDITION_FAILED"],
        handle: ({ scope, params, body }) => updateSource(scope, params.id, body),
      }),
    )
    .delete(
      ...defineEndpoint("/:id", {
        name: "deleteAlertSource",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Delete an alert source",
        description: "Its open alerts end, and its address stops working at once.",
        response: Deleted,
        errors: ["PRECONDITION_FAILED"],
        handle: ({ scope, params }) => deleteSource(scope, params.id),
      }),
    )
    .post(
      ...defineEndpoint("/:id/rotate", {
        name: "rotateAlertSourceAddress",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Replace the address of an alert source",
        description: "The previous address stops working at once.",
        data: AlertSource,
        errors: ["PRECONDITION_FAILED"],
        handle: ({ scope, params }) => rotateAddress(scope, params.id),
      }),
    )
    .get(
      ...defineEndpoint("/:id/requests", {
        name: "listAlertSourceRequests",
        access: "read",
        limited: "denied",
        role: "member",
        summary: "List the requests to an alert source",
        description: "Newest first: those of the last 7 days, up to 1,000 and 16 MiB.",
        query: SourceRequestQuery,
        response: pageSchema(LoggedSourceRequest),
        handle: ({ scope, params, query }) => listRequests(scope, params.id, query),
      }),
    )
    .post(
      ...defineEndpoint("/:id/requests/:requestId/replay", {
        name: "replayAlertSourceRequest",
        access: "write",
        limited: "denied",
        role: "admin",
        timeoutSeconds: 30,
        summary: "Handle a logged request again",
        description: "With the present settings of the source. It is logged as a new request.",
        data: Replayed,
        errors: ["CONFLICT"],
        handle: ({ scope, params }) =>
          replayRequest(scope, dependencies, params.id, params.requestId),
      }),
    );
