/** Wire format of sign-in providers (OpenID Connect). */
import { z } from "zod";
import {
  bodySchema,
  HttpUrl,
  Id,
  line,
  nullable,
  secret,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { defineKind } from "../../core/kinds.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import { Role } from "../../core/roles.ts";
import { isSameValue, parseHostName } from "../../core/security/destinations.ts";
import { pemSchema } from "../../core/security/pem.ts";
import { presetNames } from "./preset-rules.ts";

export const Preset = z.enum(presetNames);

const Issuer = HttpUrl.refine(
  (text) => !/[?#]/.test(text),
  "must be the issuer, without query and fragment",
)
  .transform((text) => text.replace(/\/\.well-known\/openid-configuration\/?$/, ""))
  .meta({
    description: "The provider’s `issuer`, exactly as in its discovery document.",
    example: "https://sso.team.example/realms/team",
  });

/** A list of scopes as in OAuth 2.0 (RFC 6749 §3.3). */
const Scopes = line(500).refine(
  (text) =>
    text.split(" ").every((one) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one)) &&
    text.split(" ").includes("openid"),
  "must be scopes with single spaces between them, among them openid",
);

const Domain = z
  .string()
  .max(253)
  .transform((text, context) => {
    const name = parseHostName(text.replace(/^@/, ""));
    if (name !== null && name.includes(".")) return name;
    context.addIssue({ code: "custom", message: "must be a domain, such as team.example" });
    return z.NEVER;
  })
  .meta({ example: "team.example" });

const settings = {
  preset: Preset.default("other"),
  issuer: Issuer,
  clientId: line(255).meta({ example: "signalbox" }),
  /** Null for a public client, which has only PKCE. */
  clientSecret: nullable(secret()),
  scopes: Scopes.default("openid email profile"),
  /** Name of the claim with the person's groups; dots lead into objects. */
  groupsClaim: line(200).default("groups"),
  /** Whether addresses count as verified although the provider does not assert it. */
  trustsEmail: z.boolean().default(false),
  /** Whether the sign-in page sends people here at once, if it is the only provider. */
  isDirect: z.boolean().default(false),
  /** Domains of the addresses that can sign in; empty for all. */
  allowedDomains: z
    .array(Domain)
    .max(singleSignOnBounds.domains.value)
    .transform((domains) => [...new Set(domains)])
    .default([]),
  certificateAuthorities: nullable(pemSchema("CERTIFICATE", 65_536)),
};

export const providerKinds = {
  provider: defineKind(settings, {
    // The token endpoint is the one that the issuer's discovery document names.
    clientSecret: { issuer: isSameValue },
  }),
};

/** The fields of a provider that are stored as JSON, with the secret. */
export const ProviderSettings = z.strictObject(settings);
export type ProviderSettings = z.output<typeof ProviderSettings>;

const GroupRole = z.strictObject({ group: line(255), role: Role });
export type GroupRole = z.output<typeof GroupRole>;

/** An organization that people can use after signing in through a provider. */
export const ProviderOrganization = z.strictObject({
  organizationId: Id,
  /** Role of people without a mapped group. Null adds no such people. */
  defaultRole: nullable(Role),
  /** Roles by group. The highest of a person's groups counts, at each sign-in. */
  groupRoles: z.array(GroupRole).max(singleSignOnBounds.groupRoles.value).default([]),
});
export type ProviderOrganization = z.output<typeof ProviderOrganization>;

const organizations = z
  .array(ProviderOrganization)
  .max(singleSignOnBounds.organizations.value)
  .refine(
    (list) => new Set(list.map((one) => one.organizationId)).size === list.length,
    "must name each organization once",
  );

const commonFields = { name: line(100), enabled: z.boolean().default(true) };

export const NewIdentityProvider = z.strictObject({
  ...commonFields,
  ...settings,
  organizations: organizations.default([]),
});
export type NewIdentityProvider = z.output<typeof NewIdentityProvider>;

export const IdentityProviderPatch = bodySchema(
  ["id", "secretsSet", "people", "createdAt", "updatedAt"],
  z.strictObject({
    ...toPatchShape(commonFields),
    ...toPatchShape(settings),
    organizations: organizations.optional(),
  }),
);
export type IdentityProviderPatch = z.output<typeof IdentityProviderPatch>;

const { clientSecret: _clientSecret, ...shownSettings } = settings;

/** A sign-in provider as administrators see it. */
export const IdentityProvider = z.object({
  id: Id,
  ...commonFields,
  ...shownSettings,
  issuer: z.string(),
  allowedDomains: z.array(z.string()),
  certificateAuthorities: z.string().nullable(),
  organizations: z.array(
    z.object({
      organizationId: Id,
      defaultRole: Role.nullable(),
      groupRoles: z.array(z.object({ group: z.string(), role: Role })),
    }),
  ),
  secretsSet: z.array(z.string()),
  /** Number of people with an account at this provider. */
  people: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type IdentityProvider = z.infer<typeof IdentityProvider>;

/** A provider as the sign-in page shows it. */
export const ProviderButton = z.object({
  id: Id,
  name: z.string(),
  preset: Preset,
  /** Whether the sign-in page sends people here at once, if it is the only provider. */
  isDirect: z.boolean(),
});
export type ProviderButton = z.infer<typeof ProviderButton>;
