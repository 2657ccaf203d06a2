import { z } from "zod";
import { EmailAddress, Id, Timestamp } from "../../core/fields.ts";
import { Role } from "../../core/roles.ts";
import { NewPassword, Password, PersonName } from "../people/schema.ts";
import { Token } from "../sign-in/schema.ts";

export const NewInvitation = z.strictObject({ email: EmailAddress, role: Role });
export type NewInvitation = z.output<typeof NewInvitation>;

/** Somebody who was asked to join and has not answered yet. */
export const Invitation = z.object({
  id: Id,
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type Invitation = z.infer<typeof Invitation>;

/** Its link holds a token that is shown this once. */
export const SentInvitation = Invitation.extend({ link: z.string() });
export type SentInvitation = z.infer<typeof SentInvitation>;

export const InvitationToken = z.strictObject({ token: Token });

/** What whoever holds the link is told; whether somebody signs in with the address is not among it. */
export const InvitationLook = z.object({
  organization: z.object({ name: z.string() }),
  email: z.string(),
  role: Role,
});
export type InvitationLook = z.infer<typeof InvitationLook>;

export const Acceptance = z.strictObject({
  token: Token,
  /** Of somebody new; absent for somebody who has signed in before. */
  name: PersonName.optional(),
  /** Chosen by somebody new, known by somebody who has signed in before; absent for whoever is signed in with this address. */
  password: Password.optional(),
});
export type Acceptance = z.output<typeof Acceptance>;

/** What somebody new has to say about themselves. */
export const NewAccount = z.object({ name: PersonName, password: NewPassword });
