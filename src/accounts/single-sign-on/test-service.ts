/** Tests a sign-in provider: reads its discovery document and keys, and reports what is wrong. Sends no secret. */
import { assertTargetsAllowed, portOf } from "../../core/security/target-guard.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import { findFailureReason } from "../../core/outgoing/failures.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { createOptions, type Library, loadLibrary, type Metadata } from "./documents.ts";
import { quoteForeign } from "./failures.ts";
import type { ProviderFinding, ProviderTest } from "./schema.ts";

type Connection = Pick<SignedInContext, "targets" | "clock">;
type LibraryFailure = Error & { code?: string; cause?: unknown };

const reportOk = (text: string): ProviderFinding => ({ level: "ok", text });
const reportWarning = (text: string): ProviderFinding => ({ level: "warning", text });
const reportFailure = (text: string): ProviderFinding => ({ level: "error", text });

/** Tests a provider with these values. Throws VALIDATION_ERROR for an issuer that this machine must not reach. */
export async function testProvider(
  context: SignedInContext,
  provider: ProviderTest,
): Promise<ProviderFinding[]> {
  const url = new URL(provider.issuer);
  await assertTargetsAllowed(context.targets, [
    { path: "issuer", host: url.hostname, port: portOf(url) },
  ]);
  const library = await loadLibrary();
  const options = createOptions(library, provider, context);
  let response: Response;
  try {
    response = await library.discoveryRequest(url, options);
  } catch (error) {
    return [describeUnreachable(error, "The discovery document")];
  }
  const clockFindings = judgeClock(response, context.clock());
  const copy = response.clone();
  try {
    const metadata = await library.processDiscoveryResponse(url, response);
    return [
      reportOk("The discovery document was read, and its issuer is right."),
      ...judgeMetadata(metadata, provider),
      await judgeKeys(library, metadata, provider, context),
      ...clockFindings,
    ];
  } catch (error) {
    return [await describeDocument(error, copy), ...clockFindings];
  }
}

function describeUnreachable(error: unknown, subject: string): ProviderFinding {
  const reason = findFailureReason(error);
  if (reason === null) throw error;
  const isAboutTrust = /certificate|authority/i.test(reason);
  const advice = isAboutTrust
    ? " If the provider has a private certificate authority, enter its certificate."
    : "";
  return reportFailure(`${subject} can’t be read. ${reason}${advice}`);
}

/** Describes what is wrong with the discovery document. */
async function describeDocument(error: unknown, response: Response): Promise<ProviderFinding> {
  const { code, cause } = error as LibraryFailure;
  if (code === undefined || !code.startsWith("OAUTH_")) throw error;
  if (response.status !== 200)
    return reportFailure(
      `The discovery document has the status ${response.status}. Check the issuer: the document is at its address with /.well-known/openid-configuration.`,
    );
  if (code !== "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") {
    const text = (await response.text()).trimStart();
    return reportFailure(
      text.startsWith("<")
        ? "The provider sent a page instead of a discovery document. Check the issuer."
        : "The provider sent no discovery document of OpenID Connect. Check the issuer.",
    );
  }
  const { issuer } = (cause as { body: { issuer: string } }).body;
  return reportFailure(
    issuer.includes("{tenantid}")
      ? "The issuer has to name your directory: enter its ID instead of common or organizations."
      : `The provider calls itself “${quoteForeign(issuer)}”. Enter exactly this as the issuer.`,
  );
}

const symmetricOrNone = /^(HS\d+|none)$/;

function judgeMetadata(metadata: Metadata, { issuer, scopes }: ProviderTest): ProviderFinding[] {
  const found: ProviderFinding[] = [];
  const isSecure = issuer.startsWith("https:");
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const url = URL.parse(metadata[name] ?? "");
    if (url === null) found.push(reportFailure(`The discovery document lacks ${name}.`));
    else if (isSecure && url.protocol !== "https:")
      found.push(reportFailure(`${name} has no https.`));
  }
  if (!isSecure)
    found.push(
      reportWarning(
        "Without https, anyone between this machine and the provider can sign in as anyone.",
      ),
    );
  const { response_types_supported: types, code_challenge_methods_supported: challenges } =
    metadata;
  if (Array.isArray(types) && !types.includes("code"))
    found.push(reportFailure("The provider does not offer the authorization code flow."));
  if (Array.isArray(challenges) && !challenges.includes("S256"))
    found.push(
      reportWarning("The provider does not list PKCE with S256. Signalbox uses it all the same."),
    );
  const methods = metadata.token_endpoint_auth_methods_supported;
  const usable = ["client_secret_basic", "client_secret_post", "none"];
  if (Array.isArray(methods) && !methods.some((one) => usable.includes(one)))
    found.push(reportFailure("The provider accepts no client secret at its token endpoint."));
  const algorithms = metadata.id_token_signing_alg_values_supported;
  if (Array.isArray(algorithms) && algorithms.every((one) => symmetricOrNone.test(String(one))))
    found.push(
      reportFailure("The provider signs with no public key. Choose RS256 or ES256 there."),
    );
  const offered = metadata.scopes_supported;
  const missing = Array.isArray(offered)
    ? scopes.split(" ").filter((scope) => !offered.includes(scope))
    : [];
  if (missing.length > 0)
    found.push(
      reportWarning(
        `The provider does not list the scopes ${missing.join(", ")}. It can reject them.`,
      ),
    );
  return found;
}

async function judgeKeys(
  library: Library,
  { jwks_uri: address }: Metadata,
  provider: ProviderTest,
  connection: Connection,
): Promise<ProviderFinding> {
  const url = URL.parse(address ?? "");
  if (url === null) return reportFailure("The keys can’t be read.");
  try {
    const request = createOptions(library, provider, connection)[library.customFetch];
    const response = await request(url.href, { method: "GET", headers: {} });
    const { keys } = ((await response.json()) ?? {}) as { keys?: unknown };
    if (response.status !== 200 || !Array.isArray(keys))
      return reportFailure(`The keys can’t be read: status ${response.status}.`);
    const count = keys.filter((key) => key?.kty !== "oct").length;
    return count > 0
      ? reportOk(
          count === 1 ? "The provider publishes a key." : `The provider publishes ${count} keys.`,
        )
      : reportFailure("The provider publishes no key. Choose a signing key there.");
  } catch (error) {
    if (error instanceof SyntaxError)
      return reportFailure("The keys can’t be read: they are no JSON.");
    return describeUnreachable(error, "The list of keys");
  }
}

/** Compares the clocks by the Date of the response. */
function judgeClock({ headers }: Response, now: number): ProviderFinding[] {
  const date = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(date)) return [];
  const seconds = Math.round(Math.abs(now - date) / 1000);
  if (seconds <= singleSignOnBounds.clockTolerance.value) return [];
  const difference = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return [
    reportFailure(
      `The clock of the provider differs by ${difference}. Set both clocks, such as by NTP: sign-ins fail beyond 1 min.`,
    ),
  ];
}
