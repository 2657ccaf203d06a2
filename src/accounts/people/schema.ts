/** Wire format of people and of one's own profile. */
import { z } from "zod";
import { bodyOf, EmailAddress, Id, line, Timestamp, TimeZone } from "../../core/fields.ts";
import { Role } from "../../core/roles.ts";

export const PersonName = line(100).meta({ example: "Ada Lovelace" });

/** A new password; rules.ts rejects common ones. */
export const NewPassword = line(200)
  .refine((text) => Array.from(text).length >= 10, "must have at least 10 characters")
  .meta({ writeOnly: true });

/** Not hashed: compared in constant time. */
export const Password = z.string().min(1).max(200).meta({ writeOnly: true });

/** The person of this request. */
export const Profile = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  twoFactor: z.boolean(),
  /** Time zone; null for the organization's. */
  timeZone: z.string().nullable(),
  /** Whether they administer the whole appliance. */
  administrator: z.boolean(),
});
export type Profile = z.infer<typeof Profile>;

export const ProfilePatch = bodyOf(
  ["id", "twoFactor", "administrator"],
  z.strictObject({
    name: PersonName.optional(),
    email: EmailAddress.optional(),
    timeZone: TimeZone.nullable().optional(),
    /** The current password, required for another e-mail address. */
    password: Password.optional(),
  }),
);
export type ProfilePatch = z.output<typeof ProfilePatch>;

export const PasswordChange = z.strictObject({ current: Password, password: NewPassword });
export type PasswordChange = z.output<typeof PasswordChange>;

/** A member of an organization. */
export const Member = Profile.omit({ timeZone: true }).extend({
  role: Role,
  /** Null without a session. */
  lastSeenAt: Timestamp.nullable(),
});
export type Member = z.infer<typeof Member>;

export const MemberPatch = bodyOf(
  ["id", "name", "email", "twoFactor", "administrator", "lastSeenAt"],
  z.strictObject({ role: Role }),
);

/** An organization of the person. */
export const OwnMembership = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  timeZone: z.string(),
  role: Role,
});
