import { z } from "zod";
import { Password } from "../people/schema.ts";

/** A code of an authenticator app, or a recovery code. */
export const Code = z.strictObject({ code: z.string().min(1).max(50) });
export const KnownPassword = z.strictObject({ password: Password });

/** Secret for an authenticator app. It takes effect after a first code confirms it. */
export const PendingTwoFactor = z.object({ secret: z.string(), uri: z.string() });
export type PendingTwoFactor = z.infer<typeof PendingTwoFactor>;

/** Recovery codes, which are shown only once. */
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
