/** Routes of invitations, for admins and for invited people. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import {
  Acceptance,
  Invitation,
  InvitationLook,
  InvitationToken,
  NewInvitation,
  SentInvitation,
} from "./schema.ts";
import {
  acceptInvitation,
  invite,
  listInvitations,
  lookAtInvitation,
  reachedFrom,
  revokeInvitation,
} from "./service.ts";
import { SignInStep } from "../sign-in/schema.ts";

/** Invitation routes. `origin` is the public URL of this appliance. */
export const invitationRoutes = ({ origin }: { origin: () => string }) =>
  routesUnder("/invitations")
    .get(
      ...endpoint("/", {
        name: "listInvitations",
        access: "read",
        role: "admin",
        summary: "List the open invitations",
        description: "Newest first; without their links.",
        data: z.array(Invitation),
        handle: ({ scope }) => listInvitations(scope),
      }),
    )
    .post(
      ...endpoint("/", {
        name: "invite",
        access: "write",
        role: "admin",
        summary: "Invite a person by a link",
        description:
          "Replaces an earlier invitation of the same address. Only an owner can invite an owner.",
        body: NewInvitation,
        data: SentInvitation,
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
        handle: ({ scope, body }) => invite(scope, body, reachedFrom(scope.origin, origin())),
      }),
    )
    .delete(
      ...endpoint("/:id", {
        name: "revokeInvitation",
        access: "write",
        role: "admin",
        summary: "Revoke an invitation",
        response: Deleted,
        handle: ({ scope, params }) => revokeInvitation(scope, params.id),
      }),
    )
    .post(
      ...endpoint("/look", {
        name: "lookAtInvitation",
        access: "anyone",
        summary: "Get the invitation of a link",
        body: InvitationToken,
        data: InvitationLook,
        errors: ["NOT_FOUND"],
        handle: ({ context, body }) => lookAtInvitation(context, body.token),
      }),
    )
    .post(
      ...endpoint("/accept", {
        name: "acceptInvitation",
        access: "anyone",
        summary: "Join an organization",
        body: Acceptance,
        data: SignInStep,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: async ({ context, body }) => ({ state: await acceptInvitation(context, body) }),
      }),
    );
