/** The authorization code flow of OpenID Connect, with PKCE. The library verifies every response. */
import { singleSignOnBounds } from "../../core/limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import type { OpenedProvider } from "../identity-providers/service.ts";
import type { Attempt } from "./attempts.ts";
import { createOptions, type Library, loadLibrary, type Metadata } from "./documents.ts";
import { ProviderFailure } from "./failures.ts";
import {
  lacksGroups,
  mergeClaims,
  needsUserInfo,
  readClaims,
  type VerifiedClaims,
} from "./rules.ts";

type Connection = Pick<VisitorContext, "targets" | "clock">;

/** Returns the address at the provider to which the browser goes. Throws errors of the library. */
export async function buildAuthorizationUrl(
  provider: OpenedProvider,
  metadata: Metadata,
  { state, nonce, codeVerifier, redirectUri }: Attempt,
): Promise<string> {
  const library = await loadLibrary();
  const url = parseEndpoint(provider, metadata.authorization_endpoint);
  const parameters = {
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scopes,
    state,
    nonce,
    code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Parses an address for the browser. Without https, only a provider with such an issuer is accepted. */
export function parseEndpoint({ name, issuer }: OpenedProvider, endpoint: string | undefined): URL {
  const url = URL.parse(endpoint ?? "");
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && issuer.startsWith("http:"));
  if (url !== null && isSafe) return url;
  throw new ProviderFailure(`${name} names no address with https to sign in.`, {
    advice: "An administrator can test the provider in Settings → Single sign-on.",
  });
}

/** Verifies the response to an attempt, and returns the claims. Throws ProviderFailure, TargetFailure and errors of the library. */
export async function redeemResponse(
  connection: Connection,
  provider: OpenedProvider,
  metadata: Metadata,
  response: URLSearchParams,
  { state, nonce, codeVerifier, redirectUri }: Attempt,
): Promise<VerifiedClaims> {
  const library = await loadLibrary();
  const client = createClient(library, provider, connection);
  const options = createOptions(library, provider, connection);
  const parameters = library.validateAuthResponse(metadata, client, response, state);
  const tokenResponse = await library.authorizationCodeGrantRequest(
    metadata,
    client,
    createClientAuthentication(library, provider, metadata),
    parameters,
    redirectUri,
    codeVerifier,
    options,
  );
  const tokens = await library.processAuthorizationCodeResponse(metadata, client, tokenResponse, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await verifySignature(library, metadata, tokenResponse, options);
  const idClaims = library.getValidatedIdTokenClaims(tokens);
  if (idClaims === undefined) throw new Error("The library accepted a response without ID token.");
  const usesGroups = provider.organizations.some(({ groupRoles }) => groupRoles.length > 0);
  const hasMore =
    metadata.userinfo_endpoint !== undefined && needsUserInfo(idClaims, provider, usesGroups);
  const userInfo = hasMore
    ? await library.processUserInfoResponse(
        metadata,
        client,
        idClaims.sub,
        await library.userInfoRequest(metadata, client, tokens.access_token, options),
      )
    : {};
  const claims = mergeClaims(idClaims, userInfo);
  if (usesGroups && lacksGroups(claims, provider)) throw tooManyGroupsError(provider);
  const readResult = readClaims(metadata.issuer, idClaims.sub, claims, provider);
  if (readResult.groups.length > singleSignOnBounds.groups.value || readResult.subject.length > 255)
    throw tooManyGroupsError(provider);
  return readResult;
}

const tooManyGroupsError = ({ name }: OpenedProvider) =>
  new ProviderFailure(
    `${name} sent more groups than Signalbox reads, or none because there are too many.`,
    {
      advice:
        "The people who manage the provider have to let it send only the groups of this application.",
    },
  );

/** The client as the library sees it: its clock is the appliance's, and clocks can differ by a minute. */
function createClient(library: Library, { clientId }: OpenedProvider, { clock }: Connection) {
  return {
    client_id: clientId,
    [library.clockSkew]: Math.round((clock() - Date.now()) / 1000),
    [library.clockTolerance]: singleSignOnBounds.clockTolerance.value,
  };
}

/** Sends the secret in the header (RFC 6749 §2.3.1), or in the body if the provider accepts it only there. */
function createClientAuthentication(
  library: Library,
  { clientSecret }: OpenedProvider,
  { token_endpoint_auth_methods_supported: methods }: Metadata,
) {
  if (clientSecret === null) return library.None();
  const isOnlyBody = methods?.includes("client_secret_basic") === false;
  return isOnlyBody && methods?.includes("client_secret_post")
    ? library.ClientSecretPost(clientSecret)
    : library.ClientSecretBasic(clientSecret);
}

/**
 * Verifies the signature of the ID token by the published keys. After an unknown key, requests the
 * keys once more, because the provider can have changed them a moment ago.
 */
async function verifySignature(
  library: Library,
  metadata: Metadata,
  tokenResponse: Response,
  options: ReturnType<typeof createOptions>,
) {
  try {
    await library.validateApplicationLevelSignature(metadata, tokenResponse, options);
  } catch (error) {
    if ((error as { code?: string }).code !== library.KEY_SELECTION) throw error;
    // The library caches keys by this object.
    const copiedMetadata = { ...metadata };
    await library.validateApplicationLevelSignature(copiedMetadata, tokenResponse, options);
  }
}
