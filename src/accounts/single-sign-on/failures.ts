/** Explains why a sign-in through a provider failed: what happened, what the provider said, and what to change. */
import { createLookup } from "../../core/collections/objects.ts";
import { findFailureReason } from "../../core/outgoing/failures.ts";

/** A failed sign-in. `providerMessage` is the provider's text, which is foreign and must be escaped. */
export class ProviderFailure extends Error {
  readonly providerMessage: string | null;
  readonly advice: string;
  /** Whether the provider did not respond, or not as a provider does. */
  readonly isUnreachable: boolean;
  /** Whether the provider works, and only this account is not accepted. */
  readonly isAboutAccount: boolean;
  /** Status page whose visitor failed to sign in; null for people. */
  pageId: string | null = null;
  /** Name of the provider, for visitors; null if it was removed. */
  providerName: string | null = null;

  constructor(
    message: string,
    {
      providerText = null,
      advice,
      isUnreachable = false,
      isAboutAccount = false,
      cause,
    }: {
      providerText?: string | null;
      advice: string;
      isUnreachable?: boolean;
      isAboutAccount?: boolean;
      cause?: unknown;
    },
  ) {
    super(message, { cause });
    this.providerMessage = providerText;
    this.advice = advice;
    this.isUnreachable = isUnreachable;
    this.isAboutAccount = isAboutAccount;
  }
}

export const startAgain = "Go back and sign in again.";
const askAdministrator =
  "If it happens again, an administrator can test the provider in Settings → Single sign-on.";
const changeSettings = "An administrator has to change the provider in Settings → Single sign-on";

const maxTextLength = 300;

/** Shortens a foreign text to one line. */
export function quoteForeign(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line;
}

/** Advice by error code of RFC 6749 §4.1.2.1 and §5.2, and OpenID Connect Core §3.1.2.6. */
const adviceByError: Readonly<Record<string, string>> = createLookup({
  access_denied:
    "Try again, or ask the people who manage the provider whether you can use Signalbox.",
  invalid_client: `${changeSettings}: the client ID or the client secret is wrong there.`,
  invalid_grant: `The sign-in was used before, or took too long. ${startAgain} ${askAdministrator}`,
  invalid_request: `${changeSettings}, or the redirect address at the provider.`,
  invalid_scope: `${changeSettings}: the provider does not know one of the scopes.`,
  unauthorized_client: "The provider has to allow the authorization code flow for this client.",
  unsupported_response_type:
    "The provider has to allow the authorization code flow for this client.",
  server_error: "The provider has a problem. Try again later.",
  temporarily_unavailable: "The provider has a problem. Try again later.",
  login_required: startAgain,
  interaction_required: startAgain,
  consent_required: startAgain,
});

type LibraryError = Error & {
  code?: string;
  cause?: unknown;
  error?: string;
  error_description?: string;
};

/** Translates an error of the protocol library or of a connection. Other errors are returned unchanged. */
export function explainError(error: unknown, provider: string): unknown {
  if (error instanceof ProviderFailure) return error;
  const reason = findFailureReason(error);
  if (reason !== null)
    return new ProviderFailure(`${provider} can’t be reached.`, {
      providerText: null,
      advice: `${reason} Sign in with your password, or try again later.`,
      isUnreachable: true,
      cause: error,
    });
  const { code, message } = (error ?? {}) as LibraryError;
  if (code === undefined || !code.startsWith("OAUTH_")) return error;
  return explainLibraryError(error as LibraryError, code, message, provider);
}

function explainLibraryError(
  error: LibraryError,
  code: string,
  message: string,
  provider: string,
): ProviderFailure {
  const suspect = { advice: `${startAgain} ${askAdministrator}`, cause: error };
  switch (code) {
    case "OAUTH_AUTHORIZATION_RESPONSE_ERROR":
    case "OAUTH_RESPONSE_BODY_ERROR": {
      const texts = [error.error, error.error_description].filter((part) => part !== undefined);
      return new ProviderFailure(`${provider} rejected the sign-in.`, {
        advice: adviceByError[error.error ?? ""] ?? `${startAgain} ${askAdministrator}`,
        providerText: quoteForeign(texts.join(": ")),
        cause: error,
      });
    }
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
      return new ProviderFailure(explainTimes(error, provider), {
        advice: "Set the clocks of both machines, such as by NTP.",
        cause: error,
      });
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
      return explainClaim(error, provider, suspect);
    case "OAUTH_KEY_SELECTION_FAILED":
      return new ProviderFailure(
        `${provider} signed with a key that it does not publish.`,
        suspect,
      );
    case "OAUTH_UNSUPPORTED_OPERATION":
      return explainAlgorithm(error, provider);
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED":
      return message.includes('"sub"')
        ? new ProviderFailure(`${provider} sent the details of another account.`, suspect)
        : new ProviderFailure(`${provider} calls itself by another issuer.`, {
            advice: `${changeSettings}: the issuer.`,
            cause: error,
          });
    default:
      return explainResponse(error, code, message, provider, suspect);
  }
}

/** Advice about a response that can be forged. */
type Suspect = { advice: string; cause: LibraryError };

function explainClaim(
  { cause }: LibraryError,
  provider: string,
  suspect: Suspect,
): ProviderFailure {
  const { claim } = (cause ?? {}) as { claim?: string };
  switch (claim) {
    case "nonce":
      return new ProviderFailure(
        `The response of ${provider} belongs to another sign-in.`,
        suspect,
      );
    case "iss":
      return new ProviderFailure(`The response is from another issuer than ${provider}.`, suspect);
    case "aud":
    case "azp":
      return new ProviderFailure(`${provider} sent a response for another application.`, {
        ...suspect,
        advice: `${changeSettings}: the client ID.`,
      });
    default:
      return new ProviderFailure(`${provider} sent a response that is not valid.`, suspect);
  }
}

const explainAlgorithm = (cause: LibraryError, provider: string) =>
  new ProviderFailure(`${provider} signed in a way that Signalbox does not accept.`, {
    advice:
      "Choose an asymmetric algorithm such as RS256 or ES256 for this client at the provider.",
    cause,
  });

function explainResponse(
  cause: LibraryError,
  code: string,
  message: string,
  provider: string,
  suspect: Suspect,
): ProviderFailure {
  if (message.includes('"iss" (issuer) response parameter') || message.includes('parameter "iss"'))
    return new ProviderFailure(`The response is from another provider than ${provider}.`, suspect);
  if (message.includes('JWT "alg"')) return explainAlgorithm(cause, provider);
  if (message.includes("signature verification failed"))
    return new ProviderFailure(`The signature of ${provider} is wrong.`, suspect);
  if (code === "OAUTH_MISSING_SERVER_METADATA" || code === "OAUTH_INVALID_SERVER_METADATA")
    return new ProviderFailure(`The discovery document of ${provider} is incomplete.`, {
      advice: askAdministrator,
      cause,
    });
  if (code === "OAUTH_HTTP_REQUEST_FORBIDDEN" || code === "OAUTH_REQUEST_PROTOCOL_FORBIDDEN")
    return new ProviderFailure(`${provider} names an address without https.`, {
      advice: `${changeSettings}: the issuer.`,
      cause,
    });
  return new ProviderFailure(`${provider} sent a response that is not OpenID Connect.`, {
    advice: askAdministrator,
    isUnreachable: true,
    cause,
  });
}

/** Names the difference of the clocks. `cause` has the claims and the current time in seconds. */
function explainTimes({ cause }: LibraryError, provider: string): string {
  const {
    claims = {},
    now = 0,
    claim = "",
  } = (cause ?? {}) as {
    claims?: Record<string, unknown>;
    now?: number;
    claim?: string;
  };
  const minutes = Math.max(1, Math.round(Math.abs(Number(claims[claim]) - now) / 60));
  return claim === "exp"
    ? `The response of ${provider} expired ${minutes} min ago by the clock of this machine.`
    : `The response of ${provider} is valid only in ${minutes} min by the clock of this machine.`;
}
