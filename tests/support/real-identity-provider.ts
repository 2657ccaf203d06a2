/** A real sign-in provider, `oidc-provider`, on loopback. Its pages accept any name and password. */
import { createServer } from "node:http";
import Provider from "oidc-provider";

/** Starts the provider, with a client for this redirect address. */
export async function startRealIdentityProvider(redirectUri: string) {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  const issuer = `http://127.0.0.1:${await promise}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "signalbox",
        client_secret: "a client secret",
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@team.example`,
        email_verified: true,
        name: id,
      }),
    }),
    cookies: { keys: ["a key of a test"] },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  });
  const handle = provider.callback();
  return {
    issuer,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

/** Signs in at the pages of the provider as this name, and returns the address to which they lead back. */
export async function visitProvider(start: string, name: string): Promise<string> {
  const { origin } = new URL(start);
  const jar = new Map<string, string>();
  let address = start;
  let form: URLSearchParams | null = null;
  // The steps are: authorization, sign-in, consent, and the return between them.
  for (let step = 0; step < 12; step++) {
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const response: Response = await fetch(address, {
      method: form === null ? "GET" : "POST",
      headers: { Cookie: cookie },
      redirect: "manual",
      ...(form && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    form = null;
    const location = response.headers.get("location");
    const text = await response.text();
    if (location !== null) {
      address = new URL(location, origin).href;
      if (!address.startsWith(origin)) return address;
      continue;
    }
    const [, action = "", prompt = ""] =
      /<form[^>]*action="([^"]+)"[\s\S]*?name="prompt" value="(\w+)"/.exec(text) ?? [];
    if (action === "") throw new Error(`The provider sent ${response.status}: ${text}`);
    address = new URL(action, origin).href;
    form = new URLSearchParams({
      prompt,
      ...(prompt === "login" && { login: name, password: "x" }),
    });
  }
  throw new Error("The provider never led back.");
}
