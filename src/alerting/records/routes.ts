/** REST routes of alerts, and the page of the links in messages. */
import { Elysia } from "elysia";
import { pageSchema } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { setRoute } from "../../http/request-metrics.ts";
import { createErrorResponse } from "../../http/responses/error-response.ts";
import {
  acknowledgeAlert,
  noteAlert,
  revokeLinks,
  snoozeAlert,
  unacknowledgeAlert,
} from "./actions.ts";
import { callRoute, scriptRoute, serveKeyPress, serveScript } from "./call-page.ts";
import {
  acknowledgeRoute,
  type AlertLinkLimits,
  type PublicLinks,
  serveLink,
} from "./link-page.ts";
import {
  AlertQuery,
  AlertSummary,
  AlertWithDeliveries,
  NewAlertNote,
  NewSnooze,
  TimelineEntry,
} from "./schema.ts";
import { getAlert, listAlerts } from "./service.ts";

export const recordRoutes = createRouter("/api/v1/alerts")
  .get(
    ...defineEndpoint("", {
      name: "listAlerts",
      access: "read",
      limited: "filtered",
      summary: "List alerts",
      description:
        "Problems that people are notified of, newest first. An alert is stored for 90 days after its end.",
      query: AlertQuery,
      response: pageSchema(AlertSummary),
      handle: ({ scope, query }) => listAlerts(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getAlert",
      access: "read",
      limited: "alert",
      summary: "Get an alert with its timeline and deliveries",
      description: "Also accepts the id of a message about it, such as `alertId` in a webhook.",
      data: AlertWithDeliveries,
      handle: ({ scope, params }) => getAlert(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/acknowledge", {
      name: "acknowledgeAlert",
      access: "write",
      limited: "alert",
      role: "viewer",
      summary: "Acknowledge an alert",
      description:
        "Stops reminders and escalation, and ends a snooze. The problem stays open. Several people can acknowledge. Viewers can acknowledge alerts that notified them.",
      data: AlertSummary,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => acknowledgeAlert(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/unacknowledge", {
      name: "unacknowledgeAlert",
      access: "write",
      limited: "alert",
      summary: "Remove all acknowledgments and the snooze of an alert",
      description: "Reminders and escalation continue.",
      data: AlertSummary,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => unacknowledgeAlert(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/snooze", {
      name: "snoozeAlert",
      access: "write",
      limited: "alert",
      summary: "Snooze an alert",
      description:
        "No reminders and no escalation until then. If the problem still exists, the alert is then sent again, without its acknowledgments.",
      body: NewSnooze,
      data: AlertSummary,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => snoozeAlert(scope, params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/:id/revoke-links", {
      name: "revokeAlertLinks",
      access: "write",
      limited: "alert",
      summary: "Revoke the acknowledge links in all messages about an alert",
      description: "Links that were sent stop working at once. Later messages have new ones.",
      data: AlertSummary,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => revokeLinks(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/notes", {
      name: "addAlertNote",
      access: "write",
      limited: "alert",
      summary: "Add a note to an alert",
      description:
        "Visible only in the organization. An open incident of the monitor gets it, too.",
      body: NewAlertNote,
      data: TimelineEntry,
      status: 201,
      isLocated: false,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => noteAlert(scope, params.id, body),
    }),
  );

/** Creates the page of the links for the port of public pages. It has the same limits as on the main port. */
export function createPublicLinkRoutes({ services, limits, addressOf, log }: PublicLinks) {
  type Received = { request: Request; params: { token: string } };
  const port = { ...limits, isPublic: true };
  const serveWith =
    (route: string, handle: typeof serveLink) =>
    ({ request, params }: Received) => {
      setRoute(request, route);
      return handle(request, params.token, addressOf(request), services, port).catch(
        (error: unknown) => createErrorResponse(error, Bun.randomUUIDv7(), log),
      );
    };
  const serve = serveWith(acknowledgeRoute, serveLink);
  return new Elysia()
    .get(acknowledgeRoute, serve)
    .post(acknowledgeRoute, serve, { parse: "none" })
    .post(callRoute, serveWith(callRoute, serveKeyPress), { parse: "none" })
    .get(scriptRoute, serveWith(scriptRoute, serveScript));
}

/** Creates the page of the links in messages. Elysia serves HEAD with the handler of GET. */
export function createLinkRoutes(limits: AlertLinkLimits) {
  return createRouter("")
    .get(acknowledgeRoute, ({ request, params, requestContext: { address, services } }) =>
      serveLink(request, params.token, address, services, limits),
    )
    .post(
      acknowledgeRoute,
      ({ request, params, requestContext: { address, services } }) =>
        serveLink(request, params.token, address, services, limits),
      { parse: "none" },
    )
    .post(
      callRoute,
      ({ request, params, requestContext: { address, services } }) =>
        serveKeyPress(request, params.token, address, services, limits),
      { parse: "none" },
    )
    .get(scriptRoute, ({ request, params, requestContext: { address, services } }) =>
      serveScript(request, params.token, address, services, limits),
    );
}
