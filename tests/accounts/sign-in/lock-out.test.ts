/** Organizations without password sign-in, and the ways that remain. */
import { describe, expect, test } from "bun:test";
import { testAppliance, type TestAppliance } from "../../support/appliance.ts";
import {
  addToOrganization,
  createBrowser,
  signInMember,
  signInVisitor,
} from "../../support/people.ts";
import { createSignInLink } from "../../../src/accounts/sign-in/link-service.ts";

const policy = "/dashboard/password-policy";

/** An owner, and a provider that opens their organization. */
async function createProvider(appliance: TestAppliance) {
  const owner = await signInMember(appliance, "owner", { name: "Ada", administrator: true });
  const { json } = await owner.page("POST", "/dashboard/identity-providers", {
    body: {
      name: "Team SSO",
      issuer: "https://sso.team.example",
      clientId: "signalbox",
      organizations: [{ organizationId: appliance.ours.id }],
    },
  });
  const providerId = json.data.id as string;
  /** A session that the provider has started. */
  const signInByProvider = async () => {
    const session = await signInVisitor(appliance, owner.id);
    appliance.database.run("UPDATE sessions SET provider_id = ?, by_password = 0 WHERE id = ?", [
      providerId,
      session.id,
    ]);
    return session;
  };
  return { ...owner, providerId, signInByProvider };
}

/** Turns password sign-in off as the owner. */
async function turnPasswordsOff(appliance: TestAppliance) {
  const owner = await createProvider(appliance);
  const session = await owner.signInByProvider();
  const off = await session.page("PATCH", policy, { body: { passwordSignIn: false } });
  expect(off.status).toBe(200);
  return { ...owner, session };
}

describe("password sign-in of an organization", () => {
  test("can be turned off only by an owner who is signed in through a provider", async () => {
    const appliance = await testAppliance();
    const { page, signInByProvider, providerId } = await createProvider(appliance);
    const off = { body: { passwordSignIn: false } };
    expect((await page("GET", policy)).json.data).toEqual({
      passwordSignIn: true,
      hasProvider: true,
      isThroughProvider: false,
    });
    expect((await page("PATCH", policy, off)).status).toBe(409);
    const admin = await signInMember(appliance, "admin");
    expect((await admin.page("PATCH", policy, off)).status).toBe(403);
    const ended = await signInByProvider();
    await page("PATCH", `/dashboard/identity-providers/${providerId}`, {
      body: { enabled: false },
    });
    expect((await ended.page("PATCH", policy, off)).status).toBe(401);
    await page("PATCH", `/dashboard/identity-providers/${providerId}`, { body: { enabled: true } });
    const session = await signInByProvider();
    expect((await session.page("PATCH", policy, off)).json.data.passwordSignIn).toBe(false);
    const log = (await session.page("GET", "/dashboard/audit-log")).json.data;
    expect(log[0]).toMatchObject({ action: "settings.updated" });
    // Sessions by password end at once, those of the provider continue.
    expect((await page("GET", "/dashboard/people")).status).toBe(401);
    expect((await session.page("PATCH", policy, { body: { passwordSignIn: true } })).status).toBe(
      200,
    );
    expect((await page("GET", "/dashboard/people")).status).toBe(200);
  });

  test("rejects a correct password with the other ways, and a wrong one as always", async () => {
    const appliance = await testAppliance();
    const { email } = await turnPasswordsOff(appliance);
    const right = await createBrowser(appliance).signIn(email);
    expect([right.status, right.json.error.message]).toEqual([
      403,
      expect.stringContaining("signalbox users sign-in-link"),
    ]);
    expect((await createBrowser(appliance).signIn(email, "not my password")).status).toBe(401);
  });

  test("closes only this organization to a person of several", async () => {
    const appliance = await testAppliance();
    const { id, email } = await turnPasswordsOff(appliance);
    await addToOrganization(appliance, appliance.theirs.id, id, "viewer");
    const ada = createBrowser(appliance);
    expect((await ada.signIn(email)).status).toBe(200);
    const { organizations } = (await ada.page("GET", "/session")).json.data;
    expect(organizations).toMatchObject([{ name: "Theirs" }]);
  });

  test("is on everywhere with --password-sign-in, also for invited people", async () => {
    const appliance = await testAppliance({ passwordsEverywhere: true });
    const { email, session } = await turnPasswordsOff(appliance);
    expect((await createBrowser(appliance).signIn(email)).status).toBe(200);
    const body = { email: "bea@team.example", role: "member" };
    const { link } = (await session.page("POST", "/dashboard/invitations", { body })).json.data;
    const token = link.split("#")[1] as string;
    const look = await createBrowser(appliance).post("/invitations/look", { token });
    expect(look.json.data).toMatchObject({
      passwordSignIn: true,
      providers: [{ name: "Team SSO" }],
    });
  });

  test("is on again without a usable provider", async () => {
    const appliance = await testAppliance();
    const { email, providerId, session, page } = await turnPasswordsOff(appliance);
    const removed = await session.page("DELETE", `/dashboard/identity-providers/${providerId}`);
    expect(removed.status).toBe(200);
    expect((await createBrowser(appliance).signIn(email)).status).toBe(200);
    expect((await page("GET", "/dashboard/people")).status).toBe(200);
  });
});

describe("a sign-in link of the command line", () => {
  test("signs in once, without password and second factor", async () => {
    const appliance = await testAppliance();
    const owner = await turnPasswordsOff(appliance);
    appliance.database.run("UPDATE people SET passkey_factor = 1 WHERE id = ?", [owner.id]);
    const token = await createSignInLink(appliance.ours.scope, owner);
    const ada = createBrowser(appliance);
    const open = (browser: typeof ada, text: string) =>
      browser.post("/sign-in/link", { token: text });
    expect((await open(ada, "x".repeat(43))).status).toBe(404);
    const responses = await Promise.all([open(ada, token), open(createBrowser(appliance), token)]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect((await open(ada, token)).status).toBe(404);
    const log = (await owner.session.page("GET", "/dashboard/audit-log")).json.data;
    expect(JSON.stringify(log)).toContain("person.sign-in-link-created");
  });

  test("expires after 15 minutes, and with the next link", async () => {
    const appliance = await testAppliance();
    const owner = await signInMember(appliance, "owner");
    const open = (token: string) => createBrowser(appliance).post("/sign-in/link", { token });
    const first = await createSignInLink(appliance.ours.scope, owner);
    const second = await createSignInLink(appliance.ours.scope, owner);
    expect((await open(first)).status).toBe(404);
    appliance.time.now += 15 * 60_000;
    expect((await open(second)).status).toBe(404);
    appliance.time.now -= 60_000;
    expect((await open(second)).status).toBe(200);
  });
});
