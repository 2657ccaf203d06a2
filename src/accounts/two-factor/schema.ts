import { z } from "zod";
import { Password } from "../people/schema.ts";

/** A code of an authenticator, or a recovery code. */
export const Code = z.strictObject({ code: z.string().min(1).max(50) });
export const KnownPassword = z.strictObject({ password: Password });

/** What an authenticator needs, shown until a first code confirms that it has it. */
export const PendingTwoFactor = z.object({ secret: z.string(), uri: z.string() });
export type PendingTwoFactor = z.infer<typeof PendingTwoFactor>;

/** Shown this once. */
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
