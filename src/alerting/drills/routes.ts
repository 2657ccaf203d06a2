/** REST routes that preview and start drills of escalation policies and people, and schedule the drills of people. */
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { AlertSummary } from "../records/schema.ts";
import { DrillPreview, DrillQuery, NewDrill, PersonDrill } from "./schema.ts";
import {
  type DrillDependencies,
  startPersonDrill,
  startPolicyDrill,
  getPersonDrill,
  previewPersonDrill,
  previewPolicyDrill,
  setPersonDrill,
} from "./service.ts";

const startRoute = { body: NewDrill, data: AlertSummary, status: 201, isLocated: false } as const;

export const createDrillRoutes = (dependencies: DrillDependencies) =>
  createRouter("/api/v1")
    .get(
      ...defineEndpoint("/escalation-policies/:id/drill-preview", {
        name: "previewEscalationPolicyDrill",
        access: "read",
        limited: "denied",
        summary: "Preview whom a drill of an escalation policy would notify, and when",
        query: DrillQuery,
        data: DrillPreview,
        errors: ["CONFLICT"],
        handle: ({ scope, params, query }) => previewPolicyDrill(scope, params.id, query),
      }),
    )
    .post(
      ...defineEndpoint("/escalation-policies/:id/drill", {
        ...startRoute,
        name: "drillEscalationPolicy",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Start a drill of an escalation policy",
        description:
          "Notifies everyone as for an alert. Every message is marked as a drill, and can't be called back: see the preview. The drill ends when it is acknowledged, or after the last step.",
        errors: ["CONFLICT"],
        handle: ({ scope, params, body }) => startPolicyDrill(scope, dependencies, params.id, body),
      }),
    )
    .get(
      ...defineEndpoint("/people/:id/drill-preview", {
        name: "previewPersonDrill",
        access: "read",
        limited: "people",
        summary: "Preview how a drill of a person would notify them, and when",
        query: DrillQuery,
        data: DrillPreview,
        handle: ({ scope, params, query }) => previewPersonDrill(scope, params.id, query),
      }),
    )
    .post(
      ...defineEndpoint("/people/:id/drill", {
        ...startRoute,
        name: "drillPerson",
        access: "write",
        limited: "people",
        role: "viewer",
        summary: "Start a drill of a person",
        description:
          "Notifies the person as an alert would. Everyone can drill themselves; admins and keys, all people.",
        errors: ["CONFLICT"],
        handle: ({ scope, params, body }) => startPersonDrill(scope, dependencies, params.id, body),
      }),
    )
    .get(
      ...defineEndpoint("/people/:id/monthly-drill", {
        name: "getPersonDrill",
        access: "read",
        limited: "people",
        summary: "Get when a person is drilled every month",
        data: PersonDrill,
        handle: ({ scope, params }) => getPersonDrill(scope, params.id),
      }),
    )
    .put(
      ...defineEndpoint("/people/:id/monthly-drill", {
        name: "setPersonDrill",
        access: "write",
        limited: "people",
        role: "viewer",
        summary: "Set when a person is drilled every month",
        description:
          "The drill starts at an unannounced time within the given hours. Everyone can set their own; admins and keys, those of all people.",
        body: PersonDrill,
        data: PersonDrill,
        handle: ({ scope, params, body }) => setPersonDrill(scope, params.id, body),
      }),
    );
