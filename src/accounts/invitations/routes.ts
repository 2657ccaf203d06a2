import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
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

export const invitationRoutes = new Elysia({ prefix: "/invitations" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listInvitations",
        access: "read",
        role: "admin",
        summary: "List the open invitations",
        description: "Newest first; without their links.",
        answer: dataOf(z.array(Invitation)),
      },
      async ({ scope }) => ({ data: await listInvitations(scope) }),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "invite",
        access: "write",
        role: "admin",
        summary: "Invite somebody by a link",
        description:
          "An earlier invitation of the same address ends. Only an owner invites an owner.",
        body: NewInvitation,
        answer: dataOf(SentInvitation),
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
      },
      async ({ scope, body, appliance }) => ({
        data: await invite(scope, body, reachedFrom(scope.origin, appliance.origin())),
      }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "revokeInvitation",
        access: "write",
        role: "admin",
        summary: "Take an invitation back",
        answer: Deleted,
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => {
        await revokeInvitation(scope, id);
        return deleted;
      },
    ),
  )
  .post(
    "/look",
    ...endpoint(
      {
        name: "lookAtInvitation",
        access: "anyone",
        summary: "Say what a link invites to",
        body: InvitationToken,
        answer: dataOf(InvitationLook),
        errors: ["NOT_FOUND"],
      },
      async ({ visit, body }) => ({ data: await lookAtInvitation(visit, body.token) }),
    ),
  )
  .post(
    "/accept",
    ...endpoint(
      {
        name: "acceptInvitation",
        access: "anyone",
        summary: "Join an organization",
        body: Acceptance,
        answer: dataOf(SignInStep),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ visit, body }) => ({ data: { state: await acceptInvitation(visit, body) } }),
    ),
  );
