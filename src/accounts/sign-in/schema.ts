/** Schemas of signing in, of the first run, and of the password policy. */
import { z } from "zod";
import { EmailAddress, TimeZone, Timestamp } from "../../core/fields.ts";
import { ProviderButton } from "../identity-providers/schema.ts";
import { OrganizationName } from "../organizations/schema.ts";
import { NewPassword, OwnMembership, Password, PersonName, Profile } from "../people/schema.ts";

/** Which view the admin page shows first. */
export const Stage = z.enum(["set-up", "signed-out", "two-factor", "signed-in"]);
export type Stage = z.infer<typeof Stage>;

export const SignInStep = z.object({ state: Stage });

export const SignedOut = SignInStep.extend({
  /** Address at which the browser also signs out of the provider; null for none. */
  providerUrl: z.string().nullable(),
});

export const Presence = z.object({
  state: Stage,
  version: z.string(),
  person: z
    .object({
      ...Profile.shape,
      /**
       * Wrong codes that followed a correct password in other sign-ins, until the person dismisses
       * the report; null for none.
       */
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
  /**
   * Whether the page was sent in another language than the person chose. This response stores the
   * language, so that the page needs to be loaded again.
   */
  languageChanged: z.boolean(),
  /** Ways to sign in, in addition to the password; null for a signed-in person. */
  ways: z
    .object({
      /** Whether someone has a passkey for this host. */
      passkey: z.boolean(),
      /** Person whom a trusted proxy has signed in; null without its header. */
      headerUser: z.string().nullable(),
      providers: z.array(ProviderButton),
    })
    .nullable(),
});
export type Presence = z.infer<typeof Presence>;

/** Whether an organization accepts sign-ins by password. */
export const PasswordPolicy = z.object({
  passwordSignIn: z.boolean(),
  /** Whether a sign-in provider opens the organization. Without one, passwords are always accepted. */
  hasProvider: z.boolean(),
  /** Whether this session was started through a provider, which is required to turn passwords off. */
  isThroughProvider: z.boolean(),
});
export type PasswordPolicy = z.infer<typeof PasswordPolicy>;

export const PasswordPolicyPatch = z.strictObject({ passwordSignIn: z.boolean() });

/** A token of a link, such as an invitation's. */
export const Token = z.string().min(1).max(100).meta({ writeOnly: true });

export const SignIn = z.strictObject({ email: z.string().min(1).max(254), password: Password });
export type SignIn = z.output<typeof SignIn>;

export const FirstRun = z.strictObject({
  token: Token,
  organization: OrganizationName,
  name: PersonName,
  email: EmailAddress,
  password: NewPassword,
  /** Time zone of the new organization; the admin page sends the browser's. */
  timeZone: TimeZone.optional(),
});
export type FirstRun = z.output<typeof FirstRun>;
