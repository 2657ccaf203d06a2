import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { Member, MemberPatch, PasswordChange, Profile, ProfilePatch } from "./schema.ts";
import {
  acknowledgeWrongCodes,
  changeMember,
  changePassword,
  listMembers,
  removeMember,
  updateProfile,
} from "./service.ts";

export const peopleRoutes = new Elysia({ prefix: "/people" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listMembers",
        access: "read",
        summary: "List the organization's people by name",
        response: dataOf(z.array(Member)),
      },
      async ({ scope }) => ({ data: await listMembers(scope) }),
    ),
  )
  .patch(
    ...endpoint(
      "/:id",
      {
        name: "changeMember",
        access: "write",
        role: "admin",
        summary: "Give somebody another role",
        description:
          "Only an owner makes or changes an owner. What the earlier role gave ends: open pages of the organization, invitations and keys that the person made and may not make any more.",
        body: MemberPatch,
        response: dataOf(Member),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, params, body }) => ({
        data: await changeMember(scope, params.id, body.role),
      }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "removeMember",
        access: "write",
        role: "admin",
        summary: "Remove somebody from the organization",
        description: "The invitations and keys that the person made end, too.",
        response: Deleted,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, params }) => {
        await removeMember(scope, params.id);
        return deleted;
      },
    ),
  );

export const profileRoutes = new Elysia({ prefix: "/profile" })
  .use(requestContext)
  .patch(
    ...endpoint(
      "/",
      {
        name: "updateProfile",
        access: "person",
        summary: "Change one's own name or, with the password, one's e-mail address",
        body: ProfilePatch,
        response: dataOf(Profile),
        errors: ["CONFLICT"],
      },
      async ({ context, body }) => ({ data: await updateProfile(context, body) }),
    ),
  )
  .post(
    ...endpoint(
      "/password",
      {
        name: "changePassword",
        access: "person",
        summary: "Choose a new password, and sign out everywhere else",
        body: PasswordChange,
        response: dataOf(z.object({ changed: z.literal(true) })),
      },
      async ({ context, body }) => {
        await changePassword(context, body);
        return { data: { changed: true as const } };
      },
    ),
  )
  .post(
    ...endpoint(
      "/wrong-codes/acknowledge",
      {
        name: "acknowledgeWrongCodes",
        access: "person",
        summary: "Say that one knows of the wrong codes that were given for oneself",
        response: dataOf(z.object({ acknowledged: z.literal(true) })),
      },
      async ({ context }) => {
        await acknowledgeWrongCodes(context);
        return { data: { acknowledged: true as const } };
      },
    ),
  );
