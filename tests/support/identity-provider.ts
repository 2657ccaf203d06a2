/** A sign-in provider (OpenID Connect) whose responses a test can forge, and a browser that visits it. */
import { createHash, createHmac } from "node:crypto";
import type { TestResponse, TestAppliance } from "./appliance.ts";
import { createBrowserClient } from "./people.ts";

type Claims = Record<string, unknown>;
type Code = { nonce: string; challenge: string; redirectUri: string };

const encodeJson = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

const algorithms = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  },
};
type Algorithm = keyof typeof algorithms;

async function createKey(kid: string, alg: Algorithm) {
  const generated = await crypto.subtle.generateKey(algorithms[alg], true, ["sign", "verify"]);
  const pair = generated as CryptoKeyPair;
  const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { kid, pair, jwk: { ...jwk, kid, alg, use: "sig" } };
}

/** Starts a provider on loopback. Its clock is the one of the appliance. Without `tls`, it speaks plain HTTP. */
export async function startIdentityProvider(
  now: () => number,
  { tls, algorithm = "ES256" }: { tls?: { cert: string; key: string }; algorithm?: Algorithm } = {},
) {
  const keys = { signing: await createKey("first", algorithm), published: [] as object[] };
  keys.published = [keys.signing.jwk];
  const codes = new Map<string, Code>();
  const state = {
    /** Claims of the account that signs in. */
    claims: { sub: "ada", email: "ada@team.example", email_verified: true, name: "Ada" } as Claims,
    /** Claims of the UserInfo endpoint; null for no endpoint. */
    userInfo: null as Claims | null,
    /** Changes of the ID token. */
    forged: {} as Claims,
    header: {} as Claims,
    /** Changes of the discovery document. */
    metadata: {} as Claims,
    /** Changes of the parameters that the browser brings back. */
    returned: {} as Record<string, string | null>,
    /** Replaces the response to every request, by path. */
    answer: null as ((path: string) => Response | null | Promise<Response | null>) | null,
    requests: [] as { path: string; body: string; authorization: string | null }[],
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: serve,
    ...(tls && { tls }),
  });
  const issuer = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;

  async function serve(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = await request.text();
    const authorization = request.headers.get("authorization");
    state.requests.push({ path: url.pathname, body, authorization });
    const replaced = await state.answer?.(url.pathname);
    if (replaced != null) return replaced;
    const date = { Date: new Date(now()).toUTCString() };
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return Response.json(buildMetadata(), { headers: date });
      case "/keys":
        return Response.json({ keys: keys.published });
      case "/token":
        return redeemCode(new URLSearchParams(body));
      case "/userinfo":
        return Response.json(state.userInfo);
      default:
        return new Response(null, { status: 404 });
    }
  }

  const buildMetadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    ...(state.userInfo && { userinfo_endpoint: `${issuer}/userinfo` }),
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    id_token_signing_alg_values_supported: [algorithm],
    scopes_supported: ["openid", "email", "profile"],
    ...state.metadata,
  });

  async function redeemCode(parameters: URLSearchParams): Promise<Response> {
    const code = codes.get(parameters.get("code") ?? "");
    codes.delete(parameters.get("code") ?? "");
    const verifier = parameters.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const isRight =
      code?.challenge === challenge && code.redirectUri === parameters.get("redirect_uri");
    if (!isRight)
      return Response.json(
        { error: "invalid_grant", error_description: "Code not valid" },
        { status: 400 },
      );
    return Response.json({
      access_token: "access",
      token_type: "Bearer",
      id_token: await signToken(code.nonce),
    });
  }

  async function signToken(nonce: string): Promise<string> {
    const seconds = Math.floor(now() / 1000);
    const times = { iat: seconds, exp: seconds + 300 };
    const payload = {
      iss: issuer,
      aud: "signalbox",
      nonce,
      ...times,
      ...state.claims,
      ...state.forged,
    };
    const header = { alg: algorithm as string, kid: keys.signing.kid, ...state.header };
    const text = `${encodeJson(header)}.${encodeJson(payload)}`;
    if (header.alg === "none") return `${text}.`;
    if (header.alg === "HS256") {
      const publicKey = JSON.stringify(keys.signing.jwk);
      return `${text}.${createHmac("sha256", publicKey).update(text).digest("base64url")}`;
    }
    const signature = await crypto.subtle.sign(
      algorithms[algorithm],
      keys.signing.pair.privateKey,
      Buffer.from(text),
    );
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  }

  return {
    issuer,
    state,
    /** Signs with a new key, and publishes it or not. */
    async rotateKey({ isPublished = true } = {}) {
      keys.signing = await createKey(crypto.randomUUID(), algorithm);
      if (isPublished) keys.published = [keys.signing.jwk];
    },
    /** Signs the account in at this address, and returns the path to which the browser goes back. */
    authorize(address: string): string {
      const { searchParams } = new URL(address);
      const code = crypto.randomUUID();
      codes.set(code, {
        nonce: searchParams.get("nonce") ?? "",
        challenge: searchParams.get("code_challenge") ?? "",
        redirectUri: searchParams.get("redirect_uri") ?? "",
      });
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      const parameters = { code, state: searchParams.get("state"), iss: issuer, ...state.returned };
      for (const [name, value] of Object.entries(parameters))
        if (value !== null) back.searchParams.set(name, value);
      return `${back.pathname}${back.search}`;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/** A browser with a jar of cookies. A return from another site sends no `SameSite=Strict` cookie. */
export function createCookieBrowser(appliance: Pick<TestAppliance, "client">, cookie?: string) {
  const jar = new Map<string, { value: string; isStrict: boolean }>();
  if (cookie !== undefined) {
    const [name = "", value = ""] = cookie.split("=");
    jar.set(name, { value, isStrict: true });
  }
  const buildCookies = (isCrossSite: boolean) =>
    [...jar]
      .filter(([, { isStrict }]) => !isCrossSite || !isStrict)
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
  const store = ({ headers }: TestResponse) => {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const name = pair.slice(0, pair.indexOf("="));
      if (attributes.includes("Max-Age=0")) jar.delete(name);
      else {
        const value = pair.slice(name.length + 1);
        jar.set(name, { value, isStrict: attributes.includes("SameSite=Strict") });
      }
    }
  };
  return {
    jar,
    async page(method: string, path: string, body?: object) {
      const requestPage = createBrowserClient(appliance, buildCookies(false));
      const response = await requestPage(
        method,
        `/dashboard${path}`,
        body === undefined ? {} : { body },
      );
      store(response);
      return response;
    },
    /** Opens a path by a link or redirect of another site. */
    async comeBack(path: string) {
      const headers = { Cookie: buildCookies(true), "Sec-Fetch-Site": "cross-site" };
      const response = await appliance.client(null)("GET", path, { headers });
      store(response);
      return response;
    },
  };
}
export type CookieBrowser = ReturnType<typeof createCookieBrowser>;
