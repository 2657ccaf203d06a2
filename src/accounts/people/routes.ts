/** Routes of an organization's members, and of the signed-in person's profile. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { acknowledgeWrongCodes, changePassword, updateProfile } from "./profile.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Member, MemberPatch, PasswordChange, Person, Profile, ProfilePatch } from "./schema.ts";
import { changeMember, getMember, listVisibleMembers, removeMember } from "./service.ts";

/** REST routes of people. Changes are only in the admin page. */
export const peopleApiRoutes = createRouter("/api/v1/people")
  .get(
    ...defineEndpoint("/", {
      name: "listPeople",
      access: "read",
      limited: "filtered",
      summary: "List the organization's people by name",
      data: z.array(Person),
      handle: ({ scope }) => listVisibleMembers(scope),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getPerson",
      access: "read",
      limited: "filtered",
      summary: "Get a person of the organization",
      data: Person,
      handle: ({ scope, params }) => getMember(scope, params.id),
    }),
  );

export const peopleRoutes = createRouter("/people")
  .get(
    ...defineEndpoint("/", {
      name: "listMembers",
      access: "read",
      limited: "filtered",
      summary: "List the organization's people by name",
      data: z.array(Member),
      handle: ({ scope }) => listVisibleMembers(scope),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "changeMember",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Change a person's role, or the monitor groups to which they are limited",
      description:
        "Only an owner can add or change an owner. Rights of the earlier role end: open pages of the organization close, and invitations and keys that the new role can't create are revoked.",
      body: MemberPatch,
      data: Member,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => changeMember(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "removeMember",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Remove a person from the organization",
      description:
        "The invitations and keys that the person created end, too. A person whom an on-call schedule needs can't be removed: the error lists the schedules.",
      response: Deleted,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => removeMember(scope, params.id),
    }),
  );

export const profileRoutes = createRouter("/profile")
  .patch(
    ...defineEndpoint("/", {
      name: "updateProfile",
      access: "person",
      summary: "Change your name, time zone or, with the password, e-mail address",
      body: ProfilePatch,
      data: Profile,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => updateProfile(context, body),
    }),
  )
  .post(
    ...defineEndpoint("/password", {
      name: "changePassword",
      access: "person",
      summary: "Choose a new password, and sign out everywhere else",
      body: PasswordChange,
      data: z.object({ changed: z.literal(true) }),
      handle: async ({ context, body }) => {
        await changePassword(context, body);
        return { changed: true as const };
      },
    }),
  )
  .post(
    ...defineEndpoint("/wrong-codes/acknowledge", {
      name: "acknowledgeWrongCodes",
      access: "person",
      summary: "Dismiss the notice of wrong two-factor codes",
      data: z.object({ acknowledged: z.literal(true) }),
      handle: async ({ context }) => {
        await acknowledgeWrongCodes(context);
        return { acknowledged: true as const };
      },
    }),
  );
