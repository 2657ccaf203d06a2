/** Schemas of invitations: sending one, viewing it by its link, and accepting it. */
import { z } from "zod";
import { EmailAddress, Id, Timestamp } from "../../core/fields.ts";
import { Role } from "../../core/roles.ts";
import { ProviderButton } from "../identity-providers/schema.ts";
import { GroupIds, GroupLimit } from "../group-limit/schema.ts";
import { NewPassword, Password, PersonName } from "../people/schema.ts";
import { Token } from "../sign-in/schema.ts";

export const NewInvitation = z.strictObject({
  email: EmailAddress,
  role: Role,
  groupIds: GroupLimit.default(null),
});
export type NewInvitation = z.output<typeof NewInvitation>;

/** An invitation that was not accepted yet. */
export const Invitation = z.object({
  id: Id,
  email: z.string(),
  role: Role,
  groupIds: GroupIds,
  invitedBy: z.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type Invitation = z.infer<typeof Invitation>;

/** The outcome of sending an invitation by mail. */
export const InvitationMail = z.object({ delivered: z.boolean(), message: z.string() });
export type InvitationMail = z.infer<typeof InvitationMail>;

/**
 * A new invitation. The token in its link is shown only once. `mail` is null without a mail server,
 * and in the response to a repeated request, which sends no mail.
 */
export const SentInvitation = Invitation.extend({
  link: z.string(),
  mail: InvitationMail.nullable(),
});
export type SentInvitation = z.infer<typeof SentInvitation>;

export const InvitationToken = z.strictObject({ token: Token });

/** An invitation as shown to anyone with its link. It does not reveal whether the address has an account. */
export const InvitationView = z.object({
  organization: z.object({ name: z.string() }),
  email: z.string(),
  role: Role,
  /** Providers whose accounts can accept it. */
  providers: z.array(ProviderButton),
  /** Whether a password opens the organization. */
  passwordSignIn: z.boolean(),
});
export type InvitationView = z.infer<typeof InvitationView>;

export const Acceptance = z.strictObject({
  token: Token,
  /** Name of a new person; absent for an existing one. */
  name: PersonName.optional(),
  /**
   * A new person chooses this password; an existing one enters theirs. Absent if the visitor is
   * signed in with this address.
   */
  password: Password.optional(),
});
export type Acceptance = z.output<typeof Acceptance>;

/** Fields of a new account. */
export const NewAccount = z.object({ name: PersonName, password: NewPassword });
