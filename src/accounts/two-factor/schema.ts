import { z } from "zod";
import { Password } from "../people/schema.ts";

/** A code of an authenticator app, or a recovery code. */
export const Code = z.strictObject({ code: z.string().min(1).max(50) });
export const KnownPassword = z.strictObject({ password: Password });

/** Secret for an authenticator app. It takes effect after a first code confirms it. */
export const PendingTwoFactor = z.object({ secret: z.string(), uri: z.string() });
export type PendingTwoFactor = z.infer<typeof PendingTwoFactor>;

/** Second factors of a person. All are false and 0 if two-factor is off. */
export const TwoFactor = z.object({
  /** Whether the person has a password, which the second factor protects. */
  password: z.boolean(),
  authenticatorApp: z.boolean(),
  passkeys: z.boolean(),
  recoveryCodesLeft: z.int(),
});
export type TwoFactor = z.infer<typeof TwoFactor>;

/** Recovery codes, which are shown only once. */
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
