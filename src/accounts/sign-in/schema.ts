import { z } from "zod";
import { EmailAddress, TimeZone, Timestamp } from "../../core/fields.ts";
import { OrganizationName } from "../organizations/schema.ts";
import { NewPassword, OwnMembership, Password, PersonName, Profile } from "../people/schema.ts";

/** What the admin page is to show first. */
export const Stage = z.enum(["set-up", "signed-out", "two-factor", "signed-in"]);
export type Stage = z.infer<typeof Stage>;

export const SignInStep = z.object({ state: Stage });

export const Presence = z.object({
  state: Stage,
  version: z.string(),
  person: z
    .object({
      ...Profile.shape,
      /** Codes that were wrong after one's password was right, elsewhere, until one says that one knows; null for none. */
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

/** What a token of ours may look like; anything longer is none. */
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
