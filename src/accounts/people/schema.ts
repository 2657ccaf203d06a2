/** Wire format of members and of the signed-in person's profile. */
import { z } from "zod";
import { bodySchema, EmailAddress, Id, line, Timestamp, TimeZone } from "../../core/fields.ts";
import { adminLanguages } from "../../core/admin-languages.ts";
import { Role } from "../../core/roles.ts";
import { GroupIds, GroupLimit } from "../group-limit/schema.ts";

export const PersonName = line(100).meta({ example: "Ada Lovelace" });

/** A new password. `rules.ts` rejects common ones. */
export const NewPassword = line(200)
  .refine((text) => Array.from(text).length >= 10, "must have at least 10 characters")
  .meta({ writeOnly: true });

/** A password that is only compared with a stored one. */
export const Password = z.string().min(1).max(200).meta({ writeOnly: true });

/** Clock of the admin page: 24 hours, or 12 hours with am and pm. Names of ECMA-402. */
const HourCycle = z.enum(["h23", "h12"]);

/** Profile of the signed-in person. */
export const Profile = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  twoFactor: z.boolean(),
  /** Time zone of the admin page; null for the organization's. */
  timeZone: z.string().nullable(),
  hourCycle: HourCycle,
  /** Language of the admin page; null for the browser's. */
  language: z.enum(adminLanguages).nullable(),
  /** Whether the person administers the whole appliance. */
  administrator: z.boolean(),
});
export type Profile = z.infer<typeof Profile>;

export const ProfilePatch = bodySchema(
  ["id", "twoFactor", "administrator"],
  z.strictObject({
    name: PersonName.optional(),
    email: EmailAddress.optional(),
    timeZone: TimeZone.nullable().optional(),
    hourCycle: HourCycle.optional(),
    language: z.enum(adminLanguages).nullable().optional(),
    /** The current password, required to change the e-mail address. */
    password: Password.optional(),
  }),
);
export type ProfilePatch = z.output<typeof ProfilePatch>;

export const PasswordChange = z.strictObject({ current: Password, password: NewPassword });
export type PasswordChange = z.output<typeof PasswordChange>;

/** A member of an organization. */
export const Member = Profile.omit({ timeZone: true, hourCycle: true, language: true }).extend({
  role: Role,
  groupIds: GroupIds,
  /** Time of the last request in any session; null without a session. */
  lastSeenAt: Timestamp.nullable(),
});
export type Member = z.infer<typeof Member>;

/** A member as scripts see it, such as for targets of escalation policies. */
export const Person = z.object({ id: Id, name: z.string(), role: Role }).meta({
  id: "Person",
  description: "A member of the organization.",
  example: {
    id: "01a1fb99-9c30-7e5f-8d6c-7b8a99c7d6e5",
    name: "Ada Lovelace",
    role: "member",
  },
});

export const MemberPatch = bodySchema(
  ["id", "name", "email", "twoFactor", "administrator", "lastSeenAt"],
  z.strictObject({ role: Role.optional(), groupIds: GroupLimit.optional() }),
).refine((patch) => Object.keys(patch).length > 0, "must have the role or the groupIds");
export type MemberPatch = z.output<typeof MemberPatch>;

/** The signed-in person's role in one organization. */
export const OwnMembership = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  timeZone: z.string(),
  role: Role,
  groupIds: GroupIds,
});
