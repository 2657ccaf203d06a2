/** Requests OAuth 2.0 access tokens for mail servers of Microsoft and Google. */
import { createHash, sign } from "node:crypto";
import { formatStatus } from "../../core/outgoing/http/response.ts";
import type { AccessToken } from "../../core/outgoing/access-tokens.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import type { ServiceAccountKey, SmtpSettings } from "../../accounts/settings/schema.ts";
import {
  type DeliveryContext,
  failPermanently,
  failTemporarily,
  type Verdict,
  addRetryAfter,
  parseFields,
} from "../provider.ts";

/** No token was issued. The verdict contains the reason. */
export class TokenRefused extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super("No access token was given.");
    this.verdict = verdict;
  }
}

type Grant = {
  url: string;
  parameters: Record<string, string>;
  /** Returns the reason for a rejection, if the service documents its error code. */
  reasonIn: (response: Record<string, unknown>) => string | undefined;
  otherwise: string;
};

/** Returns the access token of a mail server's user, from the cache or the service. Throws TokenRefused. */
export function getAccessToken(smtp: SmtpSettings, context: DeliveryContext): Promise<string> {
  const requestToken = () =>
    requestGrant(
      smtp.auth === "google" ? createGoogleGrant(smtp, context.now) : createMicrosoftGrant(smtp),
      context,
    );
  return context.accessTokens.getToken(hashCredentials(smtp), context.now, requestToken);
}

/** Removes a token that the mail server rejected from the cache. */
export function forgetAccessToken(smtp: SmtpSettings, { accessTokens }: DeliveryContext) {
  accessTokens.forget(hashCredentials(smtp));
}

function hashCredentials(smtp: SmtpSettings): string {
  const { auth, user, tenant, clientId, clientSecret, serviceAccountKey } = smtp;
  return createHash("sha256")
    .update(JSON.stringify([auth, user, tenant, clientId, clientSecret, serviceAccountKey]))
    .digest("base64");
}

async function requestGrant(
  { url, parameters, reasonIn, otherwise }: Grant,
  context: DeliveryContext,
): Promise<AccessToken> {
  const response = await context.exchange(
    {
      url: new URL(url),
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "application/json" },
      body: new URLSearchParams(parameters).toString(),
      verifyTls: true,
    },
    context,
  );
  const responseFields = parseFields(response);
  const { access_token: token, expires_in: seconds } = responseFields;
  // A token with a line break would end the SMTP line.
  if (response.status === 200 && typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) {
    const lives = typeof seconds === "number" && seconds > 0 ? Math.min(seconds, 86_400) : 0;
    return { token, until: context.now + lives * 1_000 };
  }
  const verdict = judgeTokenResponse(response, reasonIn(responseFields) ?? otherwise);
  throw new TokenRefused(addRetryAfter(verdict, response, context.now));
}

function judgeTokenResponse({ status }: ShortResponse, reason: string): Verdict {
  if (status >= 400 && status < 500 && status !== 408 && status !== 429)
    return failPermanently(reason);
  return failTemporarily(
    `No access token was given: the service responded with ${formatStatus(status)}.`,
  );
}

/**
 * Requests a token for the app itself, which Exchange permits to send from the user's mailbox.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 * https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using
 */
function createMicrosoftGrant({ tenant, clientId, clientSecret }: SmtpSettings): Grant {
  return {
    url: `https://login.microsoftonline.com/${encodeURIComponent(tenant ?? "")}/oauth2/v2.0/token`,
    parameters: {
      grant_type: "client_credentials",
      client_id: clientId ?? "",
      client_secret: clientSecret ?? "",
      scope: "https://outlook.office365.com/.default",
    },
    reasonIn: ({ error_codes: codes }) =>
      Array.isArray(codes)
        ? codes.map((code) => microsoftReasons.get(code)).find(Boolean)
        : undefined,
    otherwise:
      "Microsoft issues no access token to this app; check its tenant, client ID and secret.",
  };
}

/**
 * Reasons by Microsoft's error code.
 * https://learn.microsoft.com/entra/identity-platform/reference-error-codes#aadsts-error-codes
 */
const microsoftReasons = new Map<unknown, string>([
  [
    7000215,
    "Microsoft reports that the client secret is not valid; enter the secret's value, not its ID.",
  ],
  [7000222, "Microsoft reports that the client secret has expired."],
  [700016, "Microsoft reports that the tenant has no app with this client ID."],
  [90002, "Microsoft reports that there is no such tenant."],
  [900023, "Microsoft reports that there is no such tenant."],
]);

/**
 * A service account acts for the user, if the domain's administrator allows this.
 * https://developers.google.com/identity/protocols/oauth2/service-account#httprest
 * https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
 */
function createGoogleGrant({ serviceAccountKey, user }: SmtpSettings, now: number): Grant {
  const {
    client_email: iss,
    private_key: key,
    private_key_id: kid,
  } = parseServiceAccountKey(serviceAccountKey);
  const at = Math.floor(now / 1_000);
  const url = "https://oauth2.googleapis.com/token";
  const header = { alg: "RS256", typ: "JWT", kid };
  const claims = {
    iss,
    sub: user,
    scope: "https://mail.google.com/",
    aud: url,
    iat: at,
    exp: at + 3_600,
  };
  return {
    url,
    parameters: {
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: signJwt(key, header, claims),
    },
    reasonIn: ({ error }) => googleReasons.get(error),
    otherwise: "Google issues no access token to this service account.",
  };
}

const googleReasons = new Map<unknown, string>([
  [
    "unauthorized_client",
    "Google reports that the service account may not act for this user: the domain has to delegate https://mail.google.com/ to it.",
  ],
  [
    "invalid_grant",
    "Google reports that the key was deleted, that there is no such user, or that this machine's clock is wrong.",
  ],
  ["invalid_client", "Google reports that there is no such service account."],
]);

function parseServiceAccountKey(serviceAccountKey: string | null): ServiceAccountKey {
  return JSON.parse(serviceAccountKey ?? "{}") as ServiceAccountKey;
}

/** Creates a JSON Web Token (RFC 7519), signed with RSA and SHA-256 (RFC 7518 §3.3). */
function signJwt(key: string, header: object, claims: object): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  try {
    return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
  } catch {
    throw new TokenRefused(
      failPermanently("The private key of the service account can't be read."),
    );
  }
}
