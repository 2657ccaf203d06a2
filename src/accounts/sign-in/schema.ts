import { z } from "zod";
import { EmailAddress, TimeZone, Timestamp } from "../../core/fields.ts";
import { OrganizationName } from "../organizations/schema.ts";
import { NewPassword, OwnMembership, Password, PersonName, Profile } from "../people/schema.ts";

/** First view of the admin page. */
export const Stage = z.enum(["set-up", "signed-out", "two-factor", "signed-in"]);
export type Stage = z.infer<typeof Stage>;

export const SignInStep = z.object({ state: Stage });

export const Presence = z.object({
  state: Stage,
  version: z.string(),
  person: z
    .object({
      ...Profile.shape,
      /** Wrong codes after a correct password elsewhere, until the person dismisses them; null for none. */
      wrongCodes: z
        .object({
          count: z.int(),
          since: Timestamp,
          lastAt: Timestamp,
          lastFrom: z.string().nullable(),
        })
        .nullable(),
    })
    .nullable(),
  organizations: z.array(OwnMembership),
});
export type Presence = z.infer<typeof Presence>;

/** Longest possible token. */
export const Token = z.string().min(1).max(100).meta({ writeOnly: true });

export const SignIn = z.strictObject({ email: z.string().min(1).max(254), password: Password });
export type SignIn = z.output<typeof SignIn>;

export const FirstRun = z.strictObject({
  token: Token,
  organization: OrganizationName,
  name: PersonName,
  email: EmailAddress,
  password: NewPassword,
  /** Of the organization; that of the browser. */
  timeZone: TimeZone.optional(),
});
export type FirstRun = z.output<typeof FirstRun>;
