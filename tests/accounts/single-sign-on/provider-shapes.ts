/**
 * The shapes of discovery documents and claims of common providers, written after the named documents. None was
 * recorded from a running provider. Addresses and keys are those of the fake provider, so the signing algorithm
 * is, too.
 */

export type ProviderShape = {
  /** Fields of the provider in Signalbox, as its preset fills them in. */
  settings: object;
  metadata: Record<string, unknown>;
  idToken: Record<string, unknown>;
  /** Null if nothing is missing in the ID token. */
  userInfo: Record<string, unknown> | null;
  /** A group of the account, as it is mapped. */
  group: string | null;
};

const email = "ada@team.example";

export const providerShapes: Record<string, ProviderShape> = {
  /**
   * Discovery: https://login.microsoftonline.com/TENANT/v2.0/.well-known/openid-configuration.
   * Claims: learn.microsoft.com, “ID token claims reference”. Groups are object IDs, and nothing
   * says whether the address is verified. It lists no PKCE, and supports it.
   */
  entra: {
    settings: { preset: "entra", trustsEmail: true },
    metadata: {
      token_endpoint_auth_methods_supported: [
        "client_secret_post",
        "private_key_jwt",
        "client_secret_basic",
      ],
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["pairwise"],
      response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
      request_uri_parameter_supported: false,
      http_logout_supported: true,
      frontchannel_logout_supported: true,
      code_challenge_methods_supported: undefined,
      authorization_response_iss_parameter_supported: undefined,
      tenant_region_scope: "EU",
      cloud_instance_name: "microsoftonline.com",
    },
    idToken: {
      sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
      oid: "00000000-0000-0000-66f3-3332eca7ea81",
      tid: "9122040d-6c67-4c5b-b112-36a304b66dad",
      ver: "2.0",
      name: "Ada Lovelace",
      preferred_username: email,
      email,
      groups: ["7b2c0a51-5a3e-4a6f-9f34-0f4be9d3d6aa", "2f4c8f27-3f8e-4c1f-8a5a-54b9e3a0d111"],
    },
    userInfo: null,
    group: "2f4c8f27-3f8e-4c1f-8a5a-54b9e3a0d111",
  },
  /**
   * Discovery: goauthentik/authentik, authentik/providers/oauth2/views/provider.py. Claims: its
   * blueprints/system/providers-oauth2.yaml, where the mapping `email` sends `email_verified: False`.
   */
  authentik: {
    settings: { preset: "authentik", trustsEmail: true },
    metadata: {
      response_types_supported: [
        "code",
        "id_token",
        "id_token token",
        "code token",
        "code id_token",
        "code id_token token",
      ],
      grant_types_supported: ["authorization_code", "refresh_token", "implicit", "password"],
      subject_types_supported: ["public"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      acr_values_supported: ["goauthentik.io/providers/oauth2/default"],
      scopes_supported: ["openid", "email", "profile"],
      request_parameter_supported: false,
      claims_supported: ["sub", "iss", "aud", "exp", "iat", "auth_time", "acr"],
      authorization_response_iss_parameter_supported: undefined,
    },
    idToken: {
      sub: "9a5ae5cd7d3d9a3b2a6d0a2c0f3e1f7d0b7a1c9e8f6d5c4b3a29181706f5e4d3",
      email,
      email_verified: false,
      name: "Ada Lovelace",
      given_name: "Ada Lovelace",
      preferred_username: "ada",
      nickname: "ada",
      groups: ["authentik Admins", "signalbox"],
    },
    userInfo: null,
    group: "signalbox",
  },
  /**
   * Claims: authelia/authelia, docs/content/integration/openid-connect/openid-connect-1.0-claims.md:
   * the ID token proves only the authorization, and the UserInfo endpoint has the rest.
   */
  authelia: {
    settings: { preset: "authelia", scopes: "openid email profile groups" },
    metadata: {
      scopes_supported: ["offline_access", "openid", "profile", "groups", "email"],
      response_types_supported: ["code", "id_token", "token", "id_token token", "code id_token"],
      response_modes_supported: ["form_post", "query", "fragment", "jwt"],
      token_endpoint_auth_methods_supported: [
        "client_secret_basic",
        "client_secret_post",
        "client_secret_jwt",
        "private_key_jwt",
        "none",
      ],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      require_pushed_authorization_requests: false,
    },
    idToken: {
      sub: "1c7a6f4e-0a5a-4c54-9d0f-2f1a1a3f3e4d",
      aud: ["signalbox"],
      azp: "signalbox",
      amr: ["pwd", "otp", "mfa"],
    },
    userInfo: {
      sub: "1c7a6f4e-0a5a-4c54-9d0f-2f1a1a3f3e4d",
      client_id: "signalbox",
      email,
      email_verified: true,
      alt_emails: ["lovelace@team.example"],
      groups: ["admins", "dev"],
      name: "Ada Lovelace",
      preferred_username: "ada",
      rat: 1_763_632_800,
    },
    group: "admins",
  },
  /**
   * Discovery: https://accounts.google.com/.well-known/openid-configuration. Claims:
   * developers.google.com, “OpenID Connect”. `hd` is the Workspace domain. There are no groups.
   */
  google: {
    settings: { preset: "google", allowedDomains: ["team.example"] },
    metadata: {
      response_types_supported: [
        "code",
        "token",
        "id_token",
        "code token",
        "code id_token",
        "token id_token",
        "code token id_token",
        "none",
      ],
      response_modes_supported: ["query", "fragment", "form_post"],
      subject_types_supported: ["public"],
      scopes_supported: ["openid", "email", "profile"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      code_challenge_methods_supported: ["plain", "S256"],
      authorization_response_iss_parameter_supported: undefined,
      end_session_endpoint: undefined,
    },
    idToken: {
      sub: "110169484474386276334",
      azp: "signalbox",
      hd: "team.example",
      email,
      email_verified: true,
      at_hash: "HK6E_P6Dh8Y93mRNtsDB1Q",
      name: "Ada Lovelace",
      picture: "https://lh3.googleusercontent.com/a/picture",
    },
    userInfo: null,
    group: null,
  },
  /**
   * Discovery: Keycloak’s /realms/REALM/.well-known/openid-configuration, as in its guide
   * “Securing applications”. Claims: its default client scopes, and the mapper “Group Membership”.
   */
  keycloak: {
    settings: { preset: "keycloak" },
    metadata: {
      grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
      response_types_supported: ["code", "none", "id_token", "token", "id_token token"],
      subject_types_supported: ["public", "pairwise"],
      response_modes_supported: ["query", "fragment", "form_post", "query.jwt"],
      token_endpoint_auth_methods_supported: [
        "private_key_jwt",
        "client_secret_basic",
        "client_secret_post",
        "tls_client_auth",
        "client_secret_jwt",
      ],
      scopes_supported: ["openid", "roles", "email", "profile", "basic", "offline_access"],
      code_challenge_methods_supported: ["plain", "S256"],
      authorization_response_iss_parameter_supported: true,
      require_pushed_authorization_requests: false,
    },
    idToken: {
      sub: "f3bd5a8c-3a63-4f0c-8f1d-3ad1f2f0f7a1",
      typ: "ID",
      azp: "signalbox",
      sid: "2d5d3c0e-6a1c-4d3f-9a55-7e8d7f3f1c2b",
      acr: "1",
      email_verified: true,
      name: "Ada Lovelace",
      preferred_username: "ada",
      given_name: "Ada",
      family_name: "Lovelace",
      email,
      groups: ["signalbox-admins", "offline_access"],
    },
    userInfo: null,
    group: "signalbox-admins",
  },
};
