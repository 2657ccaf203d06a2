import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
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
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listInvitations",
        access: "read",
        role: "admin",
        summary: "List the open invitations",
        description: "Newest first; without their links.",
        response: dataOf(z.array(Invitation)),
      },
      async ({ scope }) => ({ data: await listInvitations(scope) }),
    ),
  )
  .post(
    ...endpoint(
      "/",
      {
        name: "invite",
        access: "write",
        role: "admin",
        summary: "Invite somebody by a link",
        description:
          "An earlier invitation of the same address ends. Only an owner invites an owner.",
        body: NewInvitation,
        response: dataOf(SentInvitation),
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
      },
      async ({ scope, body, services }) => ({
        data: await invite(scope, body, reachedFrom(scope.origin, services.origin())),
      }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "revokeInvitation",
        access: "write",
        role: "admin",
        summary: "Take an invitation back",
        response: Deleted,
        errors: ["NOT_FOUND"],
      },
      async ({ scope, params }) => {
        await revokeInvitation(scope, params.id);
        return deleted;
      },
    ),
  )
  .post(
    ...endpoint(
      "/look",
      {
        name: "lookAtInvitation",
        access: "anyone",
        summary: "Say what a link invites to",
        body: InvitationToken,
        response: dataOf(InvitationLook),
        errors: ["NOT_FOUND"],
      },
      async ({ context, body }) => ({ data: await lookAtInvitation(context, body.token) }),
    ),
  )
  .post(
    ...endpoint(
      "/accept",
      {
        name: "acceptInvitation",
        access: "anyone",
        summary: "Join an organization",
        body: Acceptance,
        response: dataOf(SignInStep),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ context, body }) => ({ data: { state: await acceptInvitation(context, body) } }),
    ),
  );
