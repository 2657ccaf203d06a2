/** Sign-in through a provider: the flow, the responses that are rejected, linking, and roles by group. */
import { explainError, ProviderFailure } from "../../../src/accounts/single-sign-on/failures.ts";
import { LocalFailure } from "../../../src/core/outgoing/failures.ts";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeCertificates } from "../../support/certificates.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { singleSignOnBounds } from "../../../src/core/limits.ts";
import { testAppliance } from "../../support/appliance.ts";
import {
  createCookieBrowser,
  type CookieBrowser,
  startIdentityProvider,
} from "../../support/identity-provider.ts";
import { startRealIdentityProvider, visitProvider } from "../../support/real-identity-provider.ts";
import { adoptMetadata, providerShapes } from "./provider-shapes.ts";
import {
  addToOrganization,
  createBrowserClient,
  createPerson,
  password,
  signInMember,
  signInVisitor,
} from "../../support/people.ts";

const newDirectory = createScratch();
const providers = "/dashboard/identity-providers";
const email = "ada@team.example";

/** An appliance with a provider that adds people as viewers. */
async function createWorld(more: object = {}, algorithm: "ES256" | "RS256" = "ES256") {
  const appliance = await testAppliance();
  const provider = await startIdentityProvider(() => appliance.time.now, { algorithm });
  const admin = await signInMember(appliance, "owner", { administrator: true, name: "Grace" });
  const organizations = [{ organizationId: appliance.ours.id, defaultRole: "viewer" }];
  const body = {
    name: "Keycloak",
    issuer: provider.issuer,
    clientId: "signalbox",
    clientSecret: "a client secret",
    organizations,
    ...more,
  };
  const result = await admin.page("POST", providers, { body });
  expect([result.status, result.text]).toEqual([201, result.text]);
  const providerId = result.json.data.id as string;
  return {
    ...appliance,
    provider,
    admin,
    providerId,
    createBrowser: (cookie?: string) => createCookieBrowser(appliance, cookie),
    /** Signs in, and returns the last page. */
    async signIn(browser: CookieBrowser = createCookieBrowser(appliance), returnTo?: string) {
      const start = await browser.page("POST", "/sign-in/provider", { providerId, returnTo });
      expect([start.status, start.text]).toEqual([200, start.text]);
      return browser.comeBack(provider.authorize(start.json.data.url));
    },
    async change(patch: object) {
      const changed = await admin.page("PATCH", `${providers}/${providerId}`, { body: patch });
      expect([changed.status, changed.text]).toEqual([200, changed.text]);
    },
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}
type World = Awaited<ReturnType<typeof createWorld>>;

const sessionOf = ({ jar }: CookieBrowser) => jar.get("signalbox_session")?.value ?? "";

const presenceOf = async (browser: CookieBrowser) =>
  (await browser.page("GET", "/session")).json.data;

describe("an invitation", () => {
  /** Invites, and accepts with the account at the provider. Returns the last page. */
  async function accept(world: World, browser: CookieBrowser, invited: string, body: object = {}) {
    const { json } = await world.admin.page("POST", "/dashboard/invitations", {
      body: { email: invited, role: "member", ...body },
    });
    const token = json.data.link.split("#")[1] as string;
    const look = (await browser.page("POST", "/invitations/look", { token })).json.data;
    const start = { providerId: world.providerId, invitation: token };
    const { url } = (await browser.page("POST", "/sign-in/provider", start)).json.data;
    return { look, token, end: await browser.comeBack(world.provider.authorize(url)) };
  }
  const turnProvisioningOff = (world: World) =>
    world.change({ organizations: [{ organizationId: world.ours.id, defaultRole: null }] });

  test("is accepted through the provider by a new person, who signs in that way later", async () => {
    await using world = await createWorld();
    await turnProvisioningOff(world);
    // The account has another address, which the provider has not verified.
    world.provider.state.claims = { sub: "ada", email: "a@home.example", name: "Ada" };
    const browser = world.createBrowser();
    const { look, end } = await accept(world, browser, email);
    expect(look).toMatchObject({
      passwordSignIn: true,
      providers: [{ id: world.providerId, name: "Keycloak" }],
    });
    expect(end.status).toBe(200);
    const { person, organizations } = await presenceOf(browser);
    expect([person.email, person.name, organizations[0].role]).toEqual([email, "Ada", "member"]);
    const later = world.createBrowser();
    await world.signIn(later);
    expect((await presenceOf(later)).person.id).toBe(person.id);
    expect((await world.admin.page("GET", "/dashboard/invitations")).json.data).toEqual([]);
  });

  test("is used up once, and opens no organization of another provider", async () => {
    await using world = await createWorld();
    await turnProvisioningOff(world);
    const browser = world.createBrowser();
    const { token } = await accept(world, browser, email);
    const other = world.createBrowser();
    const start = { providerId: world.providerId, invitation: token };
    const { url } = (await other.page("POST", "/sign-in/provider", start)).json.data;
    world.provider.state.claims = { ...world.provider.state.claims, sub: "eve" };
    expect((await other.comeBack(world.provider.authorize(url))).status).toBe(409);
    expect((await presenceOf(other)).state).toBe("signed-out");
    await world.change({
      organizations: [{ organizationId: world.theirs.id, defaultRole: null }],
    });
    const { look, end } = await accept(world, other, "bea@team.example");
    expect([look.providers, look.passwordSignIn, end.status]).toEqual([[], true, 403]);
  });
});

describe("signing in", () => {
  test("adds a person, and opens the organization of the provider", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const presence = await presenceOf(browser);
    expect(presence.ways.providers).toEqual([
      { id: world.providerId, name: "Keycloak", preset: "other", isDirect: false },
    ]);
    const end = await world.signIn(browser, "/monitors?down");
    expect(end.status).toBe(200);
    expect(end.text).toContain('content="0;url=/monitors?down"');
    expect(end.text).not.toContain("<script");
    const { state, person, organizations } = await presenceOf(browser);
    expect([state, person.email, person.name]).toEqual(["signed-in", email, "Ada"]);
    expect(organizations.map((one: { id: string; role: string }) => [one.id, one.role])).toEqual([
      [world.ours.id, "viewer"],
    ]);
    expect([...browser.jar.keys()]).toEqual(["signalbox_session"]);
    const again = world.createBrowser();
    await world.signIn(again);
    expect((await presenceOf(again)).person.id).toBe(person.id);
    const log = (await world.admin.page("GET", "/dashboard/audit-log?noun=person")).json.data;
    const entries = log.map((one: { action: string; actor: { name: string } }) => [
      one.action,
      one.actor.name,
    ]);
    expect(entries).toEqual([
      ["person.signed-in", "Ada"],
      ["person.added", "Keycloak"],
    ]);
  });

  test("sends a state, a nonce and a code challenge of 43 characters, and the secret in the header", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const { url } = (await browser.page("POST", "/sign-in/provider", body)).json.data;
    const sent = Object.fromEntries(new URL(url).searchParams);
    expect(sent).toMatchObject({
      response_type: "code",
      client_id: "signalbox",
      scope: "openid email profile",
      code_challenge_method: "S256",
      redirect_uri: "http://localhost/sign-in/callback",
    });
    for (const name of ["state", "nonce", "code_challenge"])
      expect([name, sent[name]?.length]).toEqual([name, 43]);
    expect(new Set([sent["state"], sent["nonce"]]).size).toBe(2);
    await browser.comeBack(world.provider.authorize(url));
    const token = world.provider.state.requests.find(({ path }) => path === "/token");
    expect(token?.authorization).toStartWith("Basic ");
    expect(token?.body).not.toContain("secret");
  });

  test("ends the session that the browser had before, also of another person", async () => {
    await using world = await createWorld();
    const bea = await createPerson(world, world.ours.id, "member", { name: "Bea" });
    const browser = world.createBrowser();
    await browser.page("POST", "/sign-in", { email: bea.email, password });
    const copies = [world.createBrowser(`signalbox_session=${sessionOf(browser)}`)];
    await world.signIn(browser);
    copies.push(world.createBrowser(`signalbox_session=${sessionOf(browser)}`));
    await world.signIn(browser);
    for (const copy of copies) expect((await presenceOf(copy)).state).toBe("signed-out");
    expect((await presenceOf(browser)).person.email).toBe(email);
  });

  test("works in two tabs at once, and forgets the ninth unfinished attempt", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const urls: string[] = [];
    for (let index = 0; index < 9; index++) {
      world.time.now += 1000;
      const body = { providerId: world.providerId };
      urls.push((await browser.page("POST", "/sign-in/provider", body)).json.data.url);
    }
    const authorize = (url: string) => world.provider.authorize(url);
    const results = [urls[0], urls[8], urls[1]].map(
      (url) => () => browser.comeBack(authorize(url ?? "")),
    );
    const statuses: number[] = [];
    for (const result of results) statuses.push((await result()).status);
    expect(statuses).toEqual([403, 200, 200]);
  });

  test("adds a person once, although several browsers end their first sign-in at the same moment", async () => {
    await using world = await createWorld();
    const browsers = Array.from({ length: 5 }, () => world.createBrowser());
    const paths = await Promise.all(
      browsers.map(async (browser) => {
        const body = { providerId: world.providerId };
        const start = await browser.page("POST", "/sign-in/provider", body);
        return world.provider.authorize(start.json.data.url);
      }),
    );
    await Promise.all(browsers.map((browser, index) => browser.comeBack(paths[index] ?? "")));
    const present = await Promise.all(browsers.map(presenceOf));
    const ids = new Set(present.map(({ person }) => person?.id));
    expect([ids.size, [...ids]]).toEqual([1, [expect.any(String)]]);
  });

  test("works behind a proxy, with the address in the browser and Secure cookies", async () => {
    const appliance = await testAppliance({
      trustProxy: ["10.0.0.7"],
      addressOf: () => "10.0.0.7",
    });
    await using provider = await startIdentityProvider(() => appliance.time.now);
    const admin = await signInMember(appliance, "owner", { administrator: true });
    const organizations = [{ organizationId: appliance.ours.id, defaultRole: "viewer" }];
    const settings = { name: "Keycloak", issuer: provider.issuer, clientId: "signalbox" };
    const result = await admin.page("POST", providers, { body: { ...settings, organizations } });
    const headers = {
      Host: "10.0.0.2:3210",
      "X-Forwarded-For": "192.0.2.7",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "status.example",
      Origin: "https://status.example",
    };
    const body = { providerId: result.json.data.id };
    const start = await createBrowserClient(appliance, null, headers)(
      "POST",
      "/dashboard/sign-in/provider",
      { body },
    );
    expect([start.status, start.text]).toEqual([200, start.text]);
    const address = new URL(start.json.data.url);
    expect(address.searchParams.get("redirect_uri")).toBe(
      "https://status.example/sign-in/callback",
    );
    const [attempt = ""] = start.headers.getSetCookie();
    expect(attempt).toMatch(/; Secure/);
    // From another site, browsers send only cookies that are not strict. The page then opens the path itself.
    expect(attempt).toContain("SameSite=Lax");
    const Cookie = attempt.split(";")[0] ?? "";
    const end = await appliance.client(null)("GET", provider.authorize(address.href), {
      headers: { ...headers, Cookie, "Sec-Fetch-Site": "cross-site" },
    });
    expect([end.status, end.text]).toEqual([200, expect.stringContaining("Signed in")]);
    const session = end.headers.getSetCookie().find((line) => line.includes("SameSite=Strict"));
    expect(session).toMatch(/; Secure/);
    expect(end.text).toContain('content="0;url=/"');
  });

  test("returns only to a path of this appliance", async () => {
    await using world = await createWorld();
    for (const returnTo of ["https://evil.example", "//evil.example", "/\\evil.example", "x"]) {
      const end = await world.signIn(world.createBrowser(), returnTo);
      expect([returnTo, end.text.includes('content="0;url=/"')]).toEqual([returnTo, true]);
    }
  });

  test("completes missing claims from the UserInfo endpoint, of the same account only", async () => {
    await using world = await createWorld();
    const { state } = world.provider;
    state.claims = { sub: "ada" };
    state.userInfo = { sub: "ada", email, email_verified: true, preferred_username: "ada.l" };
    const browser = world.createBrowser();
    expect((await world.signIn(browser)).status).toBe(200);
    expect((await presenceOf(browser)).person).toMatchObject({ email, name: "ada.l" });
    state.userInfo = { ...state.userInfo, sub: "eve" };
    expect((await world.signIn()).text).toContain("details of another account");
  });

  test("accepts a key that the provider started to use a moment ago", async () => {
    await using world = await createWorld();
    expect((await world.signIn()).status).toBe(200);
    await world.provider.rotateKey();
    expect((await world.signIn()).status).toBe(200);
  });

  test("tolerates clocks that differ by less than a minute", async () => {
    await using world = await createWorld();
    const now = Math.floor(world.time.now / 1000);
    world.provider.state.forged = { exp: now - 50, nbf: now + 50 };
    expect((await world.signIn()).status).toBe(200);
  });

  test("signing out leads to the provider, and back to the sign-in page", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    await world.signIn(browser);
    const { data } = (await browser.page("POST", "/sign-out")).json;
    const url = new URL(data.providerUrl);
    expect([data.state, url.pathname]).toEqual(["signed-out", "/logout"]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "signalbox",
      post_logout_redirect_uri: "http://localhost/sign-in/callback",
    });
    const back = await browser.comeBack("/sign-in/callback");
    expect([back.status, back.headers.get("location")]).toEqual([302, "/sign-in?password"]);
    const { page } = await signInMember(world, "owner");
    expect((await page("POST", "/dashboard/sign-out")).json.data.providerUrl).toBeNull();
  });
});

describe("the documents and claims of a real provider", () => {
  test.each(providerShapes)("%s", async (_name, recorded) => {
    const { settings, idToken, userInfo, group } = recorded;
    const metadata = adoptMetadata(recorded);
    const groupRoles = group === null ? [] : [{ group, role: "admin" }];
    await using world = await createWorld(settings, "RS256");
    const organizations = [{ organizationId: world.ours.id, defaultRole: "viewer", groupRoles }];
    await world.change({ organizations });
    Object.assign(world.provider.state, { metadata, claims: idToken, userInfo });
    if (metadata["authorization_response_iss_parameter_supported"] !== true)
      world.provider.state.returned = { iss: null };
    const browser = world.createBrowser();
    expect((await world.signIn(browser)).status).toBe(200);
    const { person, organizations: own } = await presenceOf(browser);
    expect(person).toMatchObject({ email, name: "Ada Lovelace" });
    expect(own[0].role).toBe(group === null ? "viewer" : "admin");
  });
});

test("oidc-provider signs people in, and rejects a code that was used", async () => {
  await using world = await createWorld();
  await using real = await startRealIdentityProvider("http://localhost/sign-in/callback");
  // The real provider has the real clock.
  world.time.now = Date.now();
  const { page } = await signInMember(world, "owner", { administrator: true });
  const body = { issuer: real.issuer, clientSecret: "a client secret" };
  const changed = await page("PATCH", `${providers}/${world.providerId}`, { body });
  expect(changed.status).toBe(200);
  const browser = world.createBrowser();
  const start = await browser.page("POST", "/sign-in/provider", { providerId: world.providerId });
  const copy = new Map(browser.jar);
  const back = new URL(await visitProvider(start.json.data.url, "ada"));
  const path = `${back.pathname}${back.search}`;
  expect((await browser.comeBack(path)).text).toContain("Signed in");
  expect((await presenceOf(browser)).person).toMatchObject({ name: "ada", email });
  const thief = world.createBrowser();
  for (const [name, value] of copy) thief.jar.set(name, value);
  expect((await thief.comeBack(path)).text).toContain("invalid_grant");
  const { providerUrl } = (await browser.page("POST", "/sign-out")).json.data;
  expect((await fetch(providerUrl)).status).toBe(200);
});

describe("the test of a provider", () => {
  const runTest = async (world: World, body: object = {}) => {
    const values = { issuer: world.provider.issuer, scopes: "openid email profile", ...body };
    const response = await world.admin.page("POST", `${providers}/test`, { body: values });
    return response.json.data as { level: string; text: string }[];
  };
  const textOf = async (world: World, body: object = {}) =>
    (await runTest(world, body)).map(({ level, text }) => `${level}: ${text}`).join("\n");

  test("finds nothing wrong, except that loopback has no https", async () => {
    await using world = await createWorld();
    const found = await runTest(world);
    expect(found.map(({ level }) => level)).toEqual(["ok", "warning", "ok"]);
    expect(found[1]?.text).toContain("Without https");
    const tokens = world.provider.state.requests.filter(({ path }) => path === "/token");
    expect(tokens).toEqual([]);
  });

  test.each<[string, (world: World) => void, string]>([
    [
      "another issuer",
      (w) => void (w.provider.state.metadata = { issuer: "https://sso.example/" }),
      "error: The provider calls itself “https://sso.example/”. Enter exactly this as the issuer.",
    ],
    [
      "the template of Entra",
      (w) =>
        void (w.provider.state.metadata = {
          issuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
        }),
      "has to name your directory",
    ],
    [
      "a page",
      (w) =>
        void (w.provider.state.answer = () =>
          new Response("<html>", { headers: { "Content-Type": "text/html" } })),
      "sent a page instead",
    ],
    [
      "status 404",
      (w) => void (w.provider.state.answer = () => new Response("", { status: 404 })),
      "has the status 404",
    ],
    [
      "no keys",
      (w) =>
        void (w.provider.state.answer = (path) =>
          path === "/keys" ? Response.json({ keys: [] }) : null),
      "publishes no key",
    ],
    [
      "missing endpoints and weak algorithms",
      (w) =>
        void (w.provider.state.metadata = {
          token_endpoint: undefined,
          id_token_signing_alg_values_supported: ["HS256"],
          response_types_supported: ["id_token"],
          scopes_supported: ["openid"],
        }),
      "error: The discovery document lacks token_endpoint.",
    ],
    [
      "10 MB",
      (w) => void (w.provider.state.answer = () => Response.json("a".repeat(10_000_000))),
      "longer than 256 KiB",
    ],
  ])("names %s", async (_what, prepare, text) => {
    await using world = await createWorld();
    prepare(world);
    expect(await textOf(world)).toContain(text);
  });

  test("names a clock that differs", async () => {
    await using world = await createWorld();
    world.provider.state.answer = (path) =>
      path.startsWith("/.well-known")
        ? Response.json(
            { issuer: world.provider.issuer },
            { headers: { Date: new Date(world.time.now - 600_000).toUTCString() } },
          )
        : null;
    expect(await textOf(world)).toContain("differs by 10 min");
  });

  test("names a reason on this machine, such as loopback that organizations share", async () => {
    const appliance = await testAppliance({ isShared: () => true });
    const admin = await signInMember(appliance, "owner", { administrator: true, name: "Grace" });
    const body = { issuer: "http://localhost:9", scopes: "openid" };
    const { status, text } = await admin.page("POST", `${providers}/test`, { body });
    expect([status, text]).toEqual([
      200,
      expect.stringContaining("can’t be read. The target is this machine itself"),
    ]);
    const failure = new LocalFailure("the name servers of this machine don't respond", true);
    expect(explainError(failure, "Keycloak")).toBeInstanceOf(ProviderFailure);
  });

  test("reports a list of keys that is null", async () => {
    await using world = await createWorld();
    world.provider.state.answer = (path) =>
      path.startsWith("/.well-known") ? null : new Response("null");
    expect(await textOf(world)).toContain("The keys can’t be read");
  });

  test("names an address that nothing listens on, and one that is blocked", async () => {
    await using world = await createWorld();
    expect(await textOf(world, { issuer: "http://127.0.0.1:9" })).toContain("can’t be read");
    const blocked = { issuer: "http://169.254.169.254", scopes: "openid" };
    const { status } = await world.admin.page("POST", `${providers}/test`, { body: blocked });
    expect(status).toBe(422);
  });
});

type Case = [what: string, forge: (world: World) => void | Promise<void>, shown: string];

describe("a response is rejected with", () => {
  const toSeconds = (world: World) => Math.floor(world.time.now / 1000);
  const forge = (world: World, claims: object) =>
    void Object.assign(world.provider.state.forged, claims);
  const cases: Case[] = [
    ["a wrong nonce", (w) => forge(w, { nonce: "n".repeat(43) }), "belongs to another sign-in"],
    ["a wrong issuer", (w) => forge(w, { iss: "https://evil.example" }), "from another issuer"],
    ["a wrong audience", (w) => forge(w, { aud: "grafana" }), "for another application"],
    [
      "a wrong authorized party",
      (w) => forge(w, { aud: ["signalbox", "grafana"], azp: "grafana" }),
      "for another application",
    ],
    ["an expired token", (w) => forge(w, { exp: toSeconds(w) - 120 }), "expired 2 min ago"],
    ["a token of the future", (w) => forge(w, { nbf: toSeconds(w) + 120 }), "valid only in 2 min"],
    ["alg none", (w) => void (w.provider.state.header = { alg: "none" }), "does not accept"],
    [
      "HS256 by the public key",
      (w) => void (w.provider.state.header = { alg: "HS256" }),
      "does not accept",
    ],
    [
      "HS256 by the public key, although the provider lists it",
      (w) => {
        w.provider.state.header = { alg: "HS256" };
        w.provider.state.metadata = { id_token_signing_alg_values_supported: ["ES256", "HS256"] };
      },
      "does not accept",
    ],
    ["an unknown key", (w) => w.provider.rotateKey({ isPublished: false }), "does not publish"],
    [
      "a forged signature",
      (w) => {
        const { state } = w.provider;
        state.header = { kid: "first" };
        return w.provider.rotateKey({ isPublished: false });
      },
      "signature of Keycloak is wrong",
    ],
    [
      "the issuer of another provider",
      (w) => void (w.provider.state.returned = { iss: "https://evil.example" }),
      "from another provider",
    ],
    [
      "no issuer, although the provider sends it",
      (w) => void (w.provider.state.returned = { iss: null }),
      "from another provider",
    ],
    [
      "an unverified address",
      (w) => void (w.provider.state.claims["email_verified"] = false),
      "does not assert that your address is verified",
    ],
    ["no address", (w) => void delete w.provider.state.claims["email"], "sent no e-mail address"],
    [
      "an error of the provider, which is quoted and escaped",
      (w) =>
        void (w.provider.state.returned = {
          error: "access_denied",
          error_description: "<b>Not\u0007 in group</b>",
        }),
      "The provider said: “access_denied: &lt;b&gt;Not in group&lt;/b&gt;”",
    ],
  ];

  test.each(cases)("%s", async (_what, prepare, shown) => {
    await using world = await createWorld();
    await prepare(world);
    const browser = world.createBrowser();
    const end = await world.signIn(browser);
    expect(end.text).toContain(shown);
    expect(end.status).toBe(403);
    expect(end.text).toContain('href="/sign-in?password"');
    expect([...browser.jar.keys()]).toEqual([]);
    expect((await presenceOf(browser)).state).toBe("signed-out");
  });

  test("another state, or in another browser", async () => {
    await using world = await createWorld();
    world.provider.state.returned = { state: "s".repeat(43) };
    expect((await world.signIn()).text).toContain("not started in this browser");
    world.provider.state.returned = {};
    const body = { providerId: world.providerId };
    const start = await world.createBrowser().page("POST", "/sign-in/provider", body);
    const path = world.provider.authorize(start.json.data.url);
    const other = await world.createBrowser().comeBack(path);
    expect(other.text).toContain("not started in this browser");
  });

  test("a code that was used, also with a copy of the cookies", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const start = await browser.page("POST", "/sign-in/provider", body);
    const path = world.provider.authorize(start.json.data.url);
    const copy = new Map(browser.jar);
    expect((await browser.comeBack(path)).status).toBe(200);
    expect((await browser.comeBack(path)).text).toContain("not started in this browser");
    const thief = world.createBrowser();
    for (const [name, value] of copy) thief.jar.set(name, value);
    const replayed = await thief.comeBack(path);
    expect([replayed.status, replayed.text.includes("invalid_grant")]).toEqual([403, true]);
    expect(replayed.text).toContain("used before");
  });

  test("a response of another provider than the one that was started", async () => {
    await using world = await createWorld();
    await using evil = await startIdentityProvider(() => world.time.now);
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const { url } = (await browser.page("POST", "/sign-in/provider", body)).json.data;
    const end = await browser.comeBack(evil.authorize(url));
    expect(end.text).toContain("from another provider");
    expect(world.provider.state.requests.some(({ path }) => path === "/token")).toBe(false);
  });

  test("an attempt that took more than ten minutes", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const start = await browser.page("POST", "/sign-in/provider", body);
    world.time.now += 10 * 60_000;
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect(end.text).toContain("took too long");
  });
});

test("a provider with a private certificate authority is trusted only with its certificate", async () => {
  const folder = newDirectory();
  writeCertificates(folder);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  await using world = await createWorld();
  const tls = { cert: read("good.pem"), key: read("good.key") };
  await using secure = await startIdentityProvider(() => world.time.now, { tls });
  const clientSecret = "a client secret";
  await world.change({ issuer: secure.issuer, clientSecret });
  const browser = world.createBrowser();
  const start = () => browser.page("POST", "/sign-in/provider", { providerId: world.providerId });
  const rejected = await start();
  expect([rejected.status, rejected.json.error.message]).toEqual([
    503,
    expect.stringContaining("authority"),
  ]);
  await world.change({ certificateAuthorities: read("authority.pem") });
  const { url } = (await start()).json.data;
  expect((await browser.comeBack(secure.authorize(url))).status).toBe(200);
});

describe("a provider that does not work", () => {
  test("is reported before the browser leaves, and passwords still work", async () => {
    await using world = await createWorld();
    const ada = await createPerson(world, world.ours.id, "member", { email });
    world.provider.state.answer = () => new Response("<h1>Down</h1>", { status: 503 });
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const { status, json } = await browser.page("POST", "/sign-in/provider", body);
    expect([status, json.error.message]).toEqual([
      503,
      expect.stringContaining("Keycloak sent a response that is not OpenID Connect."),
    ]);
    const signedIn = await browser.page("POST", "/sign-in", { email: ada.email, password });
    expect(signedIn.json.data.state).toBe("signed-in");
    const count = world.provider.state.requests.length;
    await browser.page("POST", "/sign-in/provider", body);
    expect(world.provider.state.requests.length).toBe(count);
    world.provider.state.answer = null;
    world.time.now += 5_000;
    expect((await world.signIn()).status).toBe(200);
  });

  test("can answer 10 MB", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const start = await browser.page("POST", "/sign-in/provider", body);
    world.provider.state.answer = (path) =>
      path === "/token" ? Response.json({ access_token: "a".repeat(10_000_000) }) : null;
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect([end.status, end.text.includes("longer than 256 KiB")]).toEqual([502, true]);
  });

  test("can hang, before the browser leaves and after it is back", async () => {
    const { responseSeconds } = singleSignOnBounds;
    const { value } = responseSeconds;
    using _restored = { [Symbol.dispose]: () => void (responseSeconds.value = value) };
    responseSeconds.value = 0.2;
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const start = await browser.page("POST", "/sign-in/provider", body);
    world.provider.state.answer = () => new Promise<never>(() => {});
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect([end.status, end.text.includes("Timed out")]).toEqual([502, true]);
    world.time.now += 11 * 60_000;
    const again = await browser.page("POST", "/sign-in/provider", body);
    expect([again.status, again.json.error.message]).toEqual([
      503,
      expect.stringContaining("can’t be reached. Timed out"),
    ]);
  });

  test("was deleted or turned off in the meantime", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    const body = { providerId: world.providerId };
    const start = await browser.page("POST", "/sign-in/provider", body);
    await world.change({ enabled: false });
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect(end.text).toContain("was removed or turned off");
    expect((await presenceOf(browser)).ways.providers).toEqual([]);
    expect((await browser.page("POST", "/sign-in/provider", body)).status).toBe(404);
  });

  const none = { organizations: [] };
  for (const [what, change] of [
    ["turned off", (world: World) => world.change({ enabled: false })],
    ["limited to a domain", (world: World) => world.change({ allowedDomains: ["corp.example"] })],
    ["closed for every organization", (world: World) => world.change(none)],
    [
      "deleted",
      (world: World) => world.admin.page("DELETE", `${providers}/${world.providerId}`, {}),
    ],
  ] as const)
    for (const isKnown of [false, true])
      test(`${what} while it answers, it signs ${isKnown ? "nobody in" : "in no new person"}`, async () => {
        await using world = await createWorld();
        if (isKnown) await world.signIn();
        const browser = world.createBrowser();
        world.provider.state.answer = async (path) => {
          if (path === "/token") await change(world);
          return null;
        };
        const end = await world.signIn(browser);
        expect([end.status, end.text.includes("changed during this sign-in")]).toEqual([403, true]);
        expect((await presenceOf(browser)).state).toBe("signed-out");
      });

  test.each([
    ["turned off", (world: World) => world.change({ enabled: false })],
    [
      "deleted",
      (world: World) => world.admin.page("DELETE", `${providers}/${world.providerId}`, {}),
    ],
  ])("was %s, which ends its sessions and no others", async (_what, end) => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    await world.signIn(browser);
    await world.change({ name: "Renamed" });
    expect((await presenceOf(browser)).state).toBe("signed-in");
    await end(world);
    expect((await presenceOf(browser)).state).toBe("signed-out");
    expect((await world.admin.page("GET", "/dashboard/session")).json.data.state).toBe("signed-in");
  });

  test("was turned off while an account waits for its password, which then links nothing", async () => {
    await using world = await createWorld();
    const bea = await createPerson(world, world.ours.id, "member", { name: "Bea" });
    world.provider.state.claims = { sub: "bea", email: bea.email, email_verified: true };
    const waiting = world.createBrowser();
    await world.signIn(waiting);
    await world.change({ enabled: false });
    await waiting.page("POST", "/sign-in", { email: bea.email, password });
    expect((await waiting.page("GET", "/identities")).json.data).toEqual([]);
  });
});

describe("an account with the same address", () => {
  test("is linked only after its password was entered in the same browser", async () => {
    await using world = await createWorld();
    const ada = await createPerson(world, world.ours.id, "member", { email, name: "Ada" });
    const browser = world.createBrowser();
    const request = await world.signIn(browser);
    expect(request.text).toContain("Enter your password once");
    expect((await presenceOf(browser)).state).toBe("signed-out");
    // Another person who signs in first gets nothing.
    const eve = await createPerson(world, world.ours.id, "member", { name: "eve" });
    await browser.page("POST", "/sign-in", { email: eve.email, password });
    expect((await browser.page("GET", "/identities")).json.data).toEqual([]);
    await browser.page("POST", "/sign-out");
    await browser.page("POST", "/sign-in", { email, password });
    const [identity] = (await browser.page("GET", "/identities")).json.data;
    expect(identity).toMatchObject({ email, provider: { name: "Keycloak" } });
    const again = world.createBrowser();
    await world.signIn(again);
    expect((await presenceOf(again)).person.id).toBe(ada.id);
  });

  test("in an organization that the provider does not open is left alone", async () => {
    await using world = await createWorld();
    const theirs = await createPerson(world, world.theirs.id, "owner", { email });
    const browser = world.createBrowser();
    await world.signIn(browser);
    const { person, organizations } = await presenceOf(browser);
    expect(person.id).not.toBe(theirs.id);
    expect(organizations.map((one: { id: string }) => one.id)).toEqual([world.ours.id]);
  });

  test("without a password is linked, unless it also belongs to another organization", async () => {
    await using world = await createWorld();
    await world.signIn();
    const { provider } = world;
    provider.state.claims["sub"] = "ada at the second account";
    const browser = world.createBrowser();
    await world.signIn(browser);
    expect((await browser.page("GET", "/identities")).json.data).toHaveLength(2);
    const { person } = await presenceOf(browser);
    await addToOrganization(world, world.theirs.id, person.id, "owner");
    expect((await presenceOf(browser)).organizations).toHaveLength(1);
    provider.state.claims["sub"] = "ada at the third account";
    expect((await world.signIn()).text).toContain("does not open all organizations");
  });

  test("is not linked by an address that nobody verified, unless administrators trust the provider", async () => {
    await using world = await createWorld({ trustsEmail: true });
    delete world.provider.state.claims["email_verified"];
    expect((await world.signIn()).status).toBe(200);
    await world.change({ trustsEmail: false });
    world.provider.state.claims["sub"] = "eve";
    expect((await world.signIn()).text).toContain("does not assert");
  });

  test("reads why in the language of the browser", async () => {
    await using world = await createWorld();
    world.provider.state.claims["email_verified"] = false;
    const browser = world.createBrowser();
    browser.jar.set("signalbox_language", { value: "de", isStrict: false });
    const page = await world.signIn(browser);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('<html lang="de"')]);
    expect(page.text).toContain("Keycloak kennzeichnet Ihre Adresse nicht als bestätigt.");
    expect(page.text).not.toMatch(/Sign in|address/);
    world.provider.state.claims["email_verified"] = true;
    expect((await world.signIn(browser)).text).toContain("Angemeldet");
  });

  test("needs one of the allowed domains", async () => {
    await using world = await createWorld({ allowedDomains: ["team.example"] });
    expect((await world.signIn()).status).toBe(200);
    world.provider.state.claims = { ...world.provider.state.claims, email: "ada@evil.example" };
    expect((await world.signIn()).text).toContain("not in an allowed domain");
    world.provider.state.claims = {
      sub: "eve",
      email: "eve@evil.team.example",
      email_verified: true,
    };
    expect((await world.signIn()).text).toContain("not in an allowed domain");
  });

  test("is added to nothing if the provider adds nobody", async () => {
    await using world = await createWorld();
    await world.change({ organizations: [{ organizationId: world.ours.id }] });
    expect((await world.signIn()).text).toContain("Nobody here has your address");
  });
});

describe("the profile", () => {
  test("links and unlinks an account, of the session's person only", async () => {
    await using world = await createWorld();
    const ada = await createPerson(world, world.ours.id, "member", { name: "Ada L." });
    const session = await signInVisitor(world, ada.id);
    const browser = world.createBrowser(session.cookie);
    const { providerId } = world;
    const start = await browser.page("POST", "/identities/link", { providerId });
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect(end.text).toContain("url=/settings/profile");
    const [identity] = (await browser.page("GET", "/identities")).json.data;
    expect(identity).toMatchObject({ email, provider: { id: providerId } });
    const other = world.createBrowser((await signInMember(world, "member")).cookie);
    const theirs = await other.page("POST", "/identities/link", { providerId });
    const taken = await other.comeBack(world.provider.authorize(theirs.json.data.url));
    expect(taken.text).toContain("belongs to another person here");
    expect((await other.page("DELETE", `/identities/${identity.id}`)).status).toBe(404);
    expect((await browser.page("DELETE", `/identities/${identity.id}`)).status).toBe(200);
    expect((await browser.page("GET", "/identities")).json.data).toEqual([]);
  });

  test("links at most 20 accounts, and shows that as a page", async () => {
    await using world = await createWorld();
    const member = await signInMember(world, "member");
    const { providerId } = world;
    for (let index = 0; index < 20; index++)
      world.database.run(
        `insert into identities (id, person_id, provider_id, subject, granted_organizations,
          created_at, last_used_at) values (?1, ?2, ?3, ?1, '[]', '', '')`,
        [`identity-${index}`, member.id, providerId],
      );
    const browser = world.createBrowser(member.cookie);
    const start = await browser.page("POST", "/identities/link", { providerId });
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect([end.status, end.text.includes("can have 20 accounts")]).toEqual([409, true]);
  });

  test("adds nobody to an organization that is full", async () => {
    await using world = await createWorld();
    const count = await world.store.query<{ people: number }>(
      "select count(*) as people from memberships where organization_id = ?",
      [world.ours.id],
    );
    Object.assign(world.appliance.limits, { people: count[0]?.people });
    const browser = world.createBrowser();
    const end = await world.signIn(browser);
    expect([end.status, end.text.includes("may have at most")]).toEqual([409, true]);
    expect((await presenceOf(browser)).state).toBe("signed-out");
  });

  test("links nothing after the session has ended", async () => {
    await using world = await createWorld();
    const member = await signInMember(world, "member");
    const browser = world.createBrowser(member.cookie);
    const { providerId } = world;
    const start = await browser.page("POST", "/identities/link", { providerId });
    await member.page("POST", "/dashboard/sign-out");
    const end = await browser.comeBack(world.provider.authorize(start.json.data.url));
    expect(end.text).toContain("You signed out before");
  });

  test("keeps the last way to sign in", async () => {
    await using world = await createWorld();
    const browser = world.createBrowser();
    await world.signIn(browser);
    const [identity] = (await browser.page("GET", "/identities")).json.data;
    const { status, json } = await browser.page("DELETE", `/identities/${identity.id}`);
    expect([status, json.error.message]).toEqual([409, expect.stringContaining("no other way")]);
  });
});

describe("groups", () => {
  const groupRoles = [
    { group: "admins", role: "admin" },
    { group: "members", role: "member" },
    { group: "owners", role: "owner" },
  ];
  const createMapped = async (defaultRole: string | null) => {
    const world = await createWorld();
    const organizations = [{ organizationId: world.ours.id, defaultRole, groupRoles }];
    await world.change({ organizations });
    const { state } = world.provider;
    /** Signs in with these groups, and returns the role; null if there is none. */
    const signInAs = async (...groups: string[]) => {
      state.claims["groups"] = groups;
      const browser = world.createBrowser();
      await world.signIn(browser);
      return ((await presenceOf(browser)).organizations[0]?.role ?? null) as string | null;
    };
    return { ...world, signInAs };
  };

  test("give the highest role, at every sign-in, and take it away", async () => {
    await using world = await createMapped("viewer");
    expect(await world.signInAs("members", "admins", "others")).toBe("admin");
    expect(await world.signInAs("members")).toBe("member");
    expect(await world.signInAs()).toBe("viewer");
    expect(await world.signInAs("admins")).toBe("admin");
  });

  test("end the membership without a default role, and the rights with it", async () => {
    await using world = await createMapped(null);
    expect(await world.signInAs("members")).toBe("member");
    const browser = world.createBrowser();
    await world.signIn(browser);
    expect((await presenceOf(browser)).state).toBe("signed-in");
    world.provider.state.claims["groups"] = [];
    expect((await world.signIn()).text).toContain("opens no organization for you");
    expect((await presenceOf(browser)).state).toBe("signed-out");
    expect((await world.signIn()).text).toContain("Nobody here has your address");
  });

  test("don't change a role that people gave", async () => {
    await using world = await createMapped(null);
    const ada = await createPerson(world, world.ours.id, "admin", { email });
    const browser = world.createBrowser();
    await world.signIn(browser);
    await browser.page("POST", "/sign-in", { email: ada.email, password });
    expect(await world.signInAs("others")).toBe("admin");
  });

  test("never remove the last owner", async () => {
    await using world = await createMapped(null);
    expect(await world.signInAs("owners")).toBe("owner");
    const { page, id } = world.admin;
    await page("PATCH", `/dashboard/people/${id}`, { body: { role: "member" } });
    expect(await world.signInAs("members")).toBe("owner");
    expect(await world.signInAs()).toBe("owner");
    expect(world.logged.some((line) => line.includes("can't be applied"))).toBe(true);
  });

  test("that Entra leaves out are an error, not an empty list", async () => {
    await using world = await createMapped("viewer");
    world.provider.state.claims["_claim_names"] = { groups: "src1" };
    expect((await world.signIn()).text).toContain("more groups than Signalbox reads");
  });
});
