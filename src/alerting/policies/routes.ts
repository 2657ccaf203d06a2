/** REST routes of escalation policies. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { EscalationPolicy, EscalationPolicyPatch, NewEscalationPolicy } from "./schema.ts";
import { createPolicy, deletePolicy, getPolicy, listAllPolicies, updatePolicy } from "./service.ts";

const cached = ["escalation_policies", "escalation_targets"];

export const escalationPolicyRoutes = createRouter("/api/v1/escalation-policies")
  .get(
    ...defineEndpoint("/", {
      name: "listEscalationPolicies",
      access: "read",
      limited: "unrelated",
      cached,
      long: true,
      summary: "List all escalation policies",
      description: "By name.",
      data: z.array(EscalationPolicy),
      handle: ({ scope }) => listAllPolicies(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createEscalationPolicy",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Create an escalation policy",
      body: NewEscalationPolicy,
      data: EscalationPolicy,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createPolicy(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getEscalationPolicy",
      access: "read",
      limited: "unrelated",
      cached,
      summary: "Get an escalation policy",
      data: EscalationPolicy,
      handle: ({ scope, params }) => getPolicy(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateEscalationPolicy",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Update an escalation policy",
      description: "Absent fields keep their value. `steps` is the complete list.",
      body: EscalationPolicyPatch,
      data: EscalationPolicy,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updatePolicy(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteEscalationPolicy",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Delete an escalation policy",
      description: "Fails while a monitor or group uses it; the error lists them.",
      response: Deleted,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deletePolicy(scope, params.id),
    }),
  );
