/** Wire format of sign-ins through providers, and of their test. */
import { z } from "zod";
import { Id, line, nullable } from "../../core/fields.ts";
import { ProviderSettings } from "../identity-providers/schema.ts";
import { Token } from "../sign-in/schema.ts";

export const ProviderStart = z.strictObject({
  providerId: Id,
  /** Path to open after the sign-in. */
  returnTo: line(2_000).optional(),
  /** Token of an invitation to accept with the account. */
  invitation: Token.optional(),
});

export const LinkStart = z.strictObject({ providerId: Id });

/** Address at the provider to which the browser has to go. */
export const ProviderAddress = z.object({ url: z.string() });

const { issuer, scopes, certificateAuthorities } = ProviderSettings.shape;

/** Values of a provider to test; they need not be stored. */
export const ProviderTest = z.strictObject({
  issuer,
  scopes,
  certificateAuthorities: nullable(certificateAuthorities.unwrap()),
});
export type ProviderTest = z.output<typeof ProviderTest>;

/** One result of a test, as sentences for administrators. */
export const ProviderFinding = z.object({
  level: z.enum(["ok", "warning", "error"]),
  text: z.string(),
});
export type ProviderFinding = z.infer<typeof ProviderFinding>;
