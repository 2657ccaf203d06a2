import { z } from "zod";
import { bodyOf, EmailAddress, Id, line, Timestamp, TimeZone } from "../../core/fields.ts";
import { Role } from "../../core/roles.ts";

export const PersonName = line(100).meta({ example: "Ada Lovelace" });

/** A password that is being chosen; what else it must not be stands in the rules. */
export const NewPassword = line(200)
  .refine((text) => Array.from(text).length >= 10, "must have at least 10 characters")
  .meta({ writeOnly: true });

/** A password that is only compared. */
export const Password = z.string().min(1).max(200).meta({ writeOnly: true });

/** The person who asks. */
export const Profile = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  twoFactor: z.boolean(),
  /** In which they read times; null for the organization's. */
  timeZone: z.string().nullable(),
  /** Whether they run the whole appliance. */
  administrator: z.boolean(),
});
export type Profile = z.infer<typeof Profile>;

export const ProfilePatch = bodyOf(
  ["id", "twoFactor", "administrator"],
  z.strictObject({
    name: PersonName.optional(),
    email: EmailAddress.optional(),
    timeZone: TimeZone.nullable().optional(),
    /** The current one, which another e-mail address takes. */
    password: Password.optional(),
  }),
);
export type ProfilePatch = z.output<typeof ProfilePatch>;

export const PasswordChange = z.strictObject({ current: Password, password: NewPassword });
export type PasswordChange = z.output<typeof PasswordChange>;

/** Somebody who belongs to an organization. */
export const Member = Profile.omit({ timeZone: true }).extend({
  role: Role,
  /** Null for somebody without a session. */
  lastSeenAt: Timestamp.nullable(),
});
export type Member = z.infer<typeof Member>;

export const MemberPatch = bodyOf(
  ["id", "name", "email", "twoFactor", "administrator", "lastSeenAt"],
  z.strictObject({ role: Role }),
);

/** An organization that the person belongs to. */
export const OwnMembership = z.object({
  id: Id,
  slug: z.string(),
  name: z.string(),
  timeZone: z.string(),
  role: Role,
});
