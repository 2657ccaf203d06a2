/** Fetches and renews the OAuth 2 access token that an HTTP check sends to its target. */
import { createHash } from "node:crypto";
import type { AccessToken } from "../../../core/outgoing/access-tokens.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { readWholeBody } from "../../../core/outgoing/http/decoded-body.ts";
import { formatStatus } from "../../../core/outgoing/http/response.ts";
import { type HttpRequest, send } from "../../../core/outgoing/http/request.ts";
import type { OAuth2 } from "../../monitors/request-schema.ts";
import type { CheckContext } from "../check.ts";
import { parseObject } from "../../../core/collections/objects.ts";
import { retryAbandoned, awaitUnlessAbandoned } from "../engine/shared-request.ts";

/** Maximum size of a response from the token endpoint. */
const maxBytes = 64 * 1024;
/** Lifetime of a token without `expires_in`. */
const defaultSeconds = 300;
/** Maximum time to cache a token, even with a longer `expires_in`. */
const maxSeconds = 86_400;

/** Connection settings, which are the same as for the target. */
type ConnectionOf = Pick<HttpRequest, "verifyTls" | "transport">;

/** Provides the access token of one check, using the client credentials grant (RFC 6749 §4.4). */
export function createTokenSource(oauth2: OAuth2, connection: ConnectionOf, context: CheckContext) {
  const credentials = createHash("sha256")
    .update(JSON.stringify([context.organizationId, oauth2, connection]))
    .digest("base64");
  let token: string | null = null;
  let canBeStale = true;

  function fetchToken(): Promise<AccessToken> {
    canBeStale = false;
    return awaitUnlessAbandoned(
      requestToken(buildTokenRequest(oauth2, connection), context),
      context.signal,
    );
  }

  const find = () => context.accessTokens.getToken(credentials, context.now(), fetchToken);

  return {
    /** Returns the cached token, or fetches one. Throws TargetFailure, LocalFailure. */
    async get(): Promise<string> {
      const before = context.part;
      context.part = before === null ? "Access token" : `${before}, access token`;
      token = await retryAbandoned(find, context.signal);
      context.part = before;
      return token;
    },
    /** Discards a cached token that the target rejected, at most once per check. Returns whether to retry. */
    renew(): boolean {
      if (token === null || !canBeStale) return false;
      context.accessTokens.forget(credentials, token);
      canBeStale = false;
      return true;
    },
    /** Values that messages must not contain. */
    secrets: () => (token === null ? [] : [token]),
  };
}

/** Form-encodes the client ID or secret for Basic authentication (RFC 6749 §2.3.1, appendix B). */
const encodeForm = (text: string) => new URLSearchParams({ text }).toString().slice("text=".length);

function buildTokenRequest(oauth2: OAuth2, connection: ConnectionOf): HttpRequest {
  const { tokenUrl, clientId, scope, audience, clientAuthentication } = oauth2;
  const clientSecret = oauth2.clientSecret ?? "";
  const inHeader = clientAuthentication === "header";
  const parameters = {
    grant_type: "client_credentials",
    ...(scope !== null && { scope }),
    ...(audience !== null && { audience }),
    ...(!inHeader && { client_id: clientId }),
    ...(!inHeader && clientSecret !== "" && { client_secret: clientSecret }),
  };
  const pair = `${encodeForm(clientId)}:${encodeForm(clientSecret)}`;
  return {
    url: new URL(tokenUrl),
    method: "POST",
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "identity",
      "Content-Type": "application/x-www-form-urlencoded",
      ...(inHeader && { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` }),
    },
    body: new URLSearchParams(parameters).toString(),
    ...connection,
  };
}

/** Failures by error code (RFC 6749 §5.2). */
const refusals = new Map<unknown, string>([
  ["invalid_client", "the client id or its secret is not accepted"],
  ["unauthorized_client", "the client may not use the client credentials grant"],
  ["unsupported_grant_type", "it does not know the client credentials grant"],
  ["invalid_scope", "the scope is not accepted"],
  ["invalid_request", "it does not accept the request"],
  ["invalid_grant", "it does not accept the grant"],
]);

async function requestToken(request: HttpRequest, context: CheckContext): Promise<AccessToken> {
  const { response, connection } = await send(request, context);
  context.step = "reading the response";
  const body = await readWholeBody(response, maxBytes, context);
  connection.close();
  const json = parseObject(new TextDecoder().decode(body));
  const status = formatStatus(response.status);
  const reason = refusals.get(json?.["error"]);
  if (reason !== undefined) throw new TargetFailure(`${status}, ${reason}.`);
  if (response.status !== 200) throw new TargetFailure(`${status}, no token was given.`);
  if (json === null) throw new TargetFailure(`${status}, but the response is not JSON.`);
  const { access_token: token, token_type: type, expires_in: seconds } = json;
  if (typeof token !== "string" || token === "")
    throw new TargetFailure(`${status}, but the response has no access token.`);
  // Only these characters can be sent in a header (RFC 6750 §2.1).
  if (!/^[\x21-\x7e]{1,16384}$/.test(token))
    throw new TargetFailure(`${status}, but the access token can't be sent in a header.`);
  if (typeof type === "string" && type.toLowerCase() !== "bearer")
    throw new TargetFailure(`${status}, but the token is of another type than Bearer.`);
  return { token, until: context.now() + parseLifetime(seconds) * 1_000 };
}

/** Returns the lifetime of a token in seconds. Some services send it as text. */
function parseLifetime(expiresIn: unknown): number {
  const seconds =
    typeof expiresIn === "string" && /^\d{1,9}$/.test(expiresIn) ? Number(expiresIn) : expiresIn;
  return typeof seconds === "number" && seconds >= 0
    ? Math.min(seconds, maxSeconds)
    : defaultSeconds;
}
