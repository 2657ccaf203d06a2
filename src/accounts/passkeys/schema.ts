/** Wire format of passkeys. Credentials have the fields of WebAuthn's JSON, in base64url. */
import { z } from "zod";
import { Id, line, Timestamp } from "../../core/fields.ts";
import { Password } from "../people/schema.ts";

const createEncodedField = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\w-]+$/, "must be base64url");

/** WebAuthn allows 1,023 bytes. */
const CredentialId = createEncodedField(1_364).meta({ example: "c29tZSBjcmVkZW50aWFs" });
const ClientData = createEncodedField(8_000);

const PasskeyName = line(100).meta({ example: "Phone" });

/** A passkey of the signed-in person. */
export const Passkey = z.object({
  id: Id,
  name: z.string(),
  /** Host of the admin page on which it works. */
  host: z.string(),
  /** Whether it works on the host of this request. */
  here: z.boolean(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
});
export type Passkey = z.infer<typeof Passkey>;

/** The password is required from people who have one. */
export const PasskeyStart = z.strictObject({ password: Password.optional() });

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
export const CreationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
  excludeCredentials: z.array(z.object({ type: z.literal("public-key"), id: z.string() })),
  authenticatorSelection: z.object({
    residentKey: z.literal("required"),
    userVerification: z.literal("preferred"),
  }),
  timeout: z.int(),
});

export type CreationOptions = z.infer<typeof CreationOptions>;

/** The response of an authenticator to `CreationOptions`. */
export const NewPasskey = z.strictObject({
  name: PasskeyName,
  credentialId: CredentialId,
  clientData: ClientData,
  attestation: createEncodedField(20_000),
  transports: z.array(z.string().regex(/^[a-z0-9-]{1,20}$/)).max(10),
});
export type NewPasskey = z.output<typeof NewPasskey>;

export const PasskeyPatch = z.strictObject({ name: PasskeyName });

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export const RequestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  allowCredentials: z.array(
    z.object({
      type: z.literal("public-key"),
      id: z.string(),
      transports: z.array(z.string()),
    }),
  ),
  userVerification: z.enum(["required", "discouraged"]),
  timeout: z.int(),
});
export type RequestOptions = z.infer<typeof RequestOptions>;

/** How a sign-in can be completed after the password. */
export const SecondFactors = z.object({
  /** Null if the person has no passkey for this host. */
  passkey: RequestOptions.nullable(),
  /** Other hosts on which the person's passkeys work. */
  elsewhere: z.array(z.string()),
  authenticatorApp: z.boolean(),
});
export type SecondFactors = z.infer<typeof SecondFactors>;

/** The response of an authenticator to `RequestOptions`. */
export const PasskeyProof = z.strictObject({
  credentialId: CredentialId,
  clientData: ClientData,
  authenticatorData: createEncodedField(8_000),
  signature: createEncodedField(8_000),
  /** ID of the person; null from authenticators that do not store it. */
  userHandle: createEncodedField(200).nullable(),
});
export type PasskeyProof = z.output<typeof PasskeyProof>;
