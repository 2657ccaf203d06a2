import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
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
  .get(
    "/",
    ...endpoint(
      {
        name: "listMembers",
        access: "read",
        summary: "List the organization's people by name",
        answer: dataOf(z.array(Member)),
      },
      async ({ scope }) => ({ data: await listMembers(scope) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "changeMember",
        access: "write",
        role: "admin",
        summary: "Give somebody another role",
        description:
          "Only an owner makes or changes an owner. What the earlier role gave ends: open pages of the organization, invitations and keys that the person made and may not make any more.",
        body: MemberPatch,
        answer: dataOf(Member),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, id, body }) => ({ data: await changeMember(scope, id, body.role) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "removeMember",
        access: "write",
        role: "admin",
        summary: "Remove somebody from the organization",
        description: "The invitations and keys that the person made end, too.",
        answer: Deleted,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, id }) => {
        await removeMember(scope, id);
        return deleted;
      },
    ),
  );

export const profileRoutes = new Elysia({ prefix: "/profile" })
  .patch(
    "/",
    ...endpoint(
      {
        name: "updateProfile",
        access: "person",
        summary: "Change one's own name or, with the password, one's e-mail address",
        body: ProfilePatch,
        answer: dataOf(Profile),
        errors: ["CONFLICT"],
      },
      async ({ visit, body }) => ({ data: await updateProfile(visit, body) }),
    ),
  )
  .post(
    "/password",
    ...endpoint(
      {
        name: "changePassword",
        access: "person",
        summary: "Choose a new password, and sign out everywhere else",
        body: PasswordChange,
        answer: dataOf(z.object({ changed: z.literal(true) })),
      },
      async ({ visit, body }) => {
        await changePassword(visit, body);
        return { data: { changed: true as const } };
      },
    ),
  )
  .post(
    "/wrong-codes/acknowledge",
    ...endpoint(
      {
        name: "acknowledgeWrongCodes",
        access: "person",
        summary: "Say that one knows of the wrong codes that were given for oneself",
        answer: dataOf(z.object({ acknowledged: z.literal(true) })),
      },
      async ({ visit }) => {
        await acknowledgeWrongCodes(visit);
        return { data: { acknowledged: true as const } };
      },
    ),
  );
