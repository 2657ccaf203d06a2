import { z } from "zod";
import { SignInStep } from "../sign-in/schema.ts";

/** Result of a sign-in by the header of a trusted proxy. */
export const HeaderSignIn = SignInStep.extend({
  /** Address of the account whose password must be entered once; null if the sign-in is complete. */
  consentFor: z.string().nullable(),
});
export type HeaderSignIn = z.infer<typeof HeaderSignIn>;

/** The user whom a trusted proxy names to the signed-in person. */
export const HeaderLink = z.object({
  /** Null without a header, or without a sign-in provider for it. */
  user: z.string().nullable(),
  isLinked: z.boolean(),
});
export type HeaderLink = z.infer<typeof HeaderLink>;
