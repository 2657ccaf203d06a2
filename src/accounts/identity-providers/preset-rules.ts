/** Sign-in providers with known settings: what to enter here, and what to enter there. */
import { t } from "../../core/text/texts.ts";

export const presetNames = [
  "keycloak",
  "authentik",
  "authelia",
  "pocket-id",
  "zitadel",
  "entra",
  "google",
  "gitlab",
  "okta",
  "other",
  "proxy",
] as const;
export type PresetName = (typeof presetNames)[number];

/** Path to which every provider sends people back. */
export const callbackPath = "/sign-in/callback";

/** Sign-in page that waits for the person, also where a provider or a header signs people in at once. */
export const passwordPath = "/sign-in?password";

type ProviderPreset = {
  label: string;
  /** Example of an issuer, with capital letters where the reader's own names belong. */
  issuer: string;
  /** Whether the issuer is the same for everyone. */
  isFixed?: boolean;
  scopes: string;
  groupsClaim: string;
  /** Reason why addresses have to be trusted, as the provider does not assert them; null if it does. */
  unverified: string | null;
  /** What to do at the provider, in order. The redirect address is shown next to them. */
  steps: readonly string[];
};

const usualScopes = "openid email profile";

export const presets: Readonly<Record<PresetName, ProviderPreset>> = {
  keycloak: {
    label: "Keycloak",
    issuer: "https://KEYCLOAK/realms/REALM",
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t("Clients → Create client: type OpenID Connect, client ID signalbox."),
      t("Turn Client authentication and Standard flow on."),
      t(
        "Enter the redirect address as Valid redirect URI, and + as Valid post logout redirect URI.",
      ),
      t("Copy the secret from the tab Credentials."),
      t(
        "For roles by group: Client scopes → signalbox-dedicated → Add mapper → Group Membership, token claim name groups, Full group path off.",
      ),
    ],
  },
  authentik: {
    label: "Authentik",
    issuer: "https://AUTHENTIK/application/o/SLUG/",
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: t("Authentik reports every address as not verified."),
    steps: [
      t("Applications → Create with provider: OAuth2/OpenID Provider, client type Confidential."),
      t("Enter the redirect address, matching Strict, and choose a signing key."),
      t(
        "Copy the client ID, the client secret and the OpenID Configuration Issuer. The issuer ends with a slash.",
      ),
    ],
  },
  authelia: {
    label: "Authelia",
    issuer: "https://AUTHELIA",
    scopes: "openid email profile groups",
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t(
        "Add a client to identity_providers.oidc.clients of Authelia’s configuration, with the client ID signalbox.",
      ),
      t(
        "Enter the redirect address in redirect_uris, and the scopes openid, email, profile and groups.",
      ),
      t(
        "Create the secret with authelia crypto hash generate pbkdf2 --variant sha512 --random, and enter its digest as client_secret.",
      ),
      t(
        "Set require_pkce: true, pkce_challenge_method: S256 and token_endpoint_auth_method: client_secret_basic.",
      ),
    ],
  },
  "pocket-id": {
    label: "Pocket ID",
    issuer: "https://POCKET-ID",
    scopes: "openid email profile groups",
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t("OIDC Clients → Add OIDC Client."),
      t("Enter the redirect address as Callback URL and as Logout Callback URL, and turn PKCE on."),
      t("Copy the client ID and the client secret, and allow user groups."),
    ],
  },
  zitadel: {
    label: "Zitadel",
    issuer: "https://INSTANCE.zitadel.cloud",
    scopes: "openid email profile urn:zitadel:iam:org:projects:roles",
    groupsClaim: "urn:zitadel:iam:org:project:roles",
    unverified: null,
    steps: [
      t("Create a project, and in it an application: type Web, method Code."),
      t("Enter the redirect address as Redirect URI and as Post Logout URI."),
      t("Copy the client ID and the client secret."),
      t(
        "For roles: add roles to the project, authorize people for them, and turn Assert Roles on Authentication on.",
      ),
    ],
  },
  entra: {
    label: "Microsoft Entra ID",
    issuer: "https://login.microsoftonline.com/TENANT-ID/v2.0",
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: t("Entra sends no statement about addresses."),
    steps: [
      t("App registrations → New registration, accounts in this organizational directory only."),
      t("Enter the redirect address, platform Web."),
      t(
        "Copy the Application (client) ID and the Directory (tenant) ID, which is part of the issuer.",
      ),
      t("Certificates & secrets → New client secret, and copy its Value."),
      t("Token configuration → Add optional claim → ID → email."),
      t(
        "For roles by group: Add groups claim → Groups assigned to the application. Entra sends the object IDs of groups.",
      ),
    ],
  },
  google: {
    label: "Google",
    issuer: "https://accounts.google.com",
    isFixed: true,
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t(
        "Google Cloud console → Google Auth Platform → Clients → Create client, type Web application.",
      ),
      t(
        "Enter the redirect address as Authorized redirect URI. Google accepts only https and localhost.",
      ),
      t("Copy the client ID and the client secret."),
      t(
        "Enter your domains under Allowed domains: every Google account can sign in otherwise. Google sends no groups.",
      ),
    ],
  },
  gitlab: {
    label: "GitLab",
    issuer: "https://gitlab.com",
    scopes: usualScopes,
    groupsClaim: "groups_direct",
    unverified: null,
    steps: [
      t("User settings, a group or the Admin area → Applications → Add new application."),
      t(
        "Enter the redirect address, turn Confidential on, and choose the scopes openid, email and profile.",
      ),
      t(
        "Copy the application ID as client ID, and the secret. For your own GitLab, enter its address as issuer.",
      ),
    ],
  },
  okta: {
    label: "Okta",
    issuer: "https://TEAM.okta.com",
    scopes: "openid email profile groups",
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t("Applications → Create App Integration: OIDC, Web Application."),
      t("Enter the redirect address as Sign-in redirect URI and as Sign-out redirect URI."),
      t("Copy the client ID and the client secret, and assign people."),
      t(
        "For roles by group: Sign On → OpenID Connect ID Token → Groups claim filter: groups, matches regex .*",
      ),
    ],
  },
  other: {
    label: t("Another provider"),
    issuer: "https://SSO.EXAMPLE",
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t(
        "Create a client or application of the type Web with the authorization code flow, and PKCE if it can be chosen.",
      ),
      t("Enter the redirect address, also for signing out if the provider has a field for it."),
      t("Copy the client ID, the client secret and the issuer."),
    ],
  },
  proxy: {
    label: t("Trusted header of a proxy"),
    issuer: "https://trusted-header.invalid",
    isFixed: true,
    scopes: usualScopes,
    groupsClaim: "groups",
    unverified: null,
    steps: [
      t(
        "Start Signalbox with --trust-proxy and the address of the proxy, and with --trusted-header-user and the name of the header, such as Remote-User.",
      ),
      t("Add --trusted-header-email and --trusted-header-groups if the proxy sends them."),
      t(
        "Let the proxy replace these headers in every request, so that no client can send its own.",
      ),
    ],
  },
};
