/** Routes of invitations, for admins and for invited people. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  Acceptance,
  Invitation,
  InvitationView,
  InvitationToken,
  NewInvitation,
  SentInvitation,
} from "./schema.ts";
import {
  acceptInvitation,
  inviteMember,
  type MailInvitation,
  listInvitations,
  viewInvitation,
  pickReachableOrigin,
  revokeInvitation,
} from "./service.ts";
import { SignInStep } from "../sign-in/schema.ts";

type InvitationDependencies = {
  /** Public URL of this appliance. */
  origin: () => string;
  mailInvitation: MailInvitation;
};

export const createInvitationRoutes = ({ origin, mailInvitation }: InvitationDependencies) =>
  createRouter("/invitations")
    .get(
      ...defineEndpoint("/", {
        name: "listInvitations",
        access: "read",
        limited: "denied",
        role: "admin",
        summary: "List the open invitations",
        description: "Newest first; without their links.",
        data: z.array(Invitation),
        handle: ({ scope }) => listInvitations(scope),
      }),
    )
    .post(
      ...defineEndpoint("/", {
        name: "invite",
        access: "write",
        limited: "denied",
        role: "admin",
        timeoutSeconds: 30,
        summary: "Invite a person by a link",
        description:
          "Sends the link by mail if the organization has a mail server. Replaces an earlier invitation of the same address. Only an owner can invite an owner.",
        body: NewInvitation,
        data: SentInvitation,
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
        handle: ({ scope, body }) =>
          inviteMember(scope, body, {
            origin: pickReachableOrigin(scope.origin, origin()),
            mailInvitation,
          }),
      }),
    )
    .delete(
      ...defineEndpoint("/:id", {
        name: "revokeInvitation",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Revoke an invitation",
        query: HoldQuery,
        response: Deleted,
        handle: ({ scope, params }) => revokeInvitation(scope, params.id),
      }),
    )
    .post(
      ...defineEndpoint("/look", {
        name: "lookAtInvitation",
        access: "anyone",
        summary: "Get the invitation of a link",
        body: InvitationToken,
        data: InvitationView,
        errors: ["NOT_FOUND"],
        handle: ({ context, body }) => viewInvitation(context, body.token),
      }),
    )
    .post(
      ...defineEndpoint("/accept", {
        name: "acceptInvitation",
        access: "anyone",
        summary: "Join an organization",
        body: Acceptance,
        data: SignInStep,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: async ({ context, body }) => ({ state: await acceptInvitation(context, body) }),
      }),
    );
