/** Passkeys: adding and removing them, and signing in with them alone or after the password. */
import { describe, expect, test } from "bun:test";
import { dumpTables, testAppliance, type TestAppliance } from "../../support/appliance.ts";
import { createAuthenticator } from "../../support/authenticator.ts";
import {
  createBrowser,
  createBrowserClient,
  password,
  signInMember,
  signInVisitor,
  sortStatuses,
} from "../../support/people.ts";
import { resetPassword } from "../../../src/accounts/people/service.ts";

type Member = Awaited<ReturnType<typeof signInMember>>;
const local = "http://localhost";

async function addPasskey(
  { page }: Pick<Member, "page">,
  { origin = local, name = "Phone", headers = {} } = {},
) {
  const authenticator = createAuthenticator(origin);
  const options = await page("POST", "/dashboard/passkeys/options", {
    body: { password },
    headers,
  });
  expect(options.status).toBe(200);
  const body = { name, ...authenticator.create(options.json.data) };
  const added = await page("POST", "/dashboard/passkeys", { body, headers });
  expect(added.status).toBe(201);
  return { ...authenticator, id: added.json.data.id as string };
}

async function createGuardedPerson(appliance: TestAppliance) {
  const ada = await signInMember(appliance, "viewer", { name: "Ada" });
  const passkey = await addPasskey(ada);
  appliance.time.now += 60_000;
  return { ...ada, passkey };
}

/** Requests options, answers them with a passkey, and returns the result. */
async function signInByPasskey(
  browser: ReturnType<typeof createBrowser>,
  { prove }: Pick<ReturnType<typeof createAuthenticator>, "prove">,
  flags?: Parameters<typeof prove>[1],
) {
  const { json } = await browser.post("/sign-in/passkey/options");
  return browser.post("/sign-in/passkey", prove(json.data, flags));
}

describe("adding one", () => {
  test("requires the password, and shows its name, host and use", async () => {
    const appliance = await testAppliance();
    const { page, id, passkey } = await createGuardedPerson(appliance);
    const wrong = await page("POST", "/dashboard/passkeys/options", {
      body: { password: "not my password" },
    });
    expect([wrong.status, wrong.json.error.details[0].path]).toEqual([422, "password"]);
    const list = async () => (await page("GET", "/dashboard/passkeys")).json.data;
    expect(await list()).toEqual([
      {
        id: passkey.id,
        name: "Phone",
        host: "localhost",
        here: true,
        createdAt: "2026-11-20T10:00:00.000Z",
        lastUsedAt: null,
      },
    ]);
    await page("PATCH", `/dashboard/passkeys/${passkey.id}`, { body: { name: "Laptop" } });
    expect((await signInByPasskey(createBrowser(appliance), passkey)).status).toBe(200);
    expect(await list()).toMatchObject([
      { name: "Laptop", lastUsedAt: "2026-11-20T10:01:00.000Z" },
    ]);
    const options = await page("POST", "/dashboard/passkeys/options", { body: { password } });
    expect(options.json.data).toMatchObject({
      rp: { id: "localhost" },
      user: { id: Buffer.from(id).toString("base64url") },
      excludeCredentials: [{ id: passkey.credentialId }],
      authenticatorSelection: { residentKey: "required" },
    });
  });

  test("fails with a response of another site, person or time, and adds nothing", async () => {
    const appliance = await testAppliance();
    const viewer = await signInMember(appliance, "viewer");
    const other = await signInMember(appliance, "viewer");
    const start = async (page: Member["page"]) =>
      (await page("POST", "/dashboard/passkeys/options", { body: { password } })).json.data;
    const localAuthenticator = createAuthenticator(local);
    const before = dumpTables(appliance);
    const options = await start(viewer.page);
    for (const body of [
      localAuthenticator.create(options, { origin: "https://evil.example" }),
      localAuthenticator.create(options, { origin: "http://localhost:8080" }),
      localAuthenticator.create(options, { rpId: "evil.example" }),
      localAuthenticator.create(await start(other.page)),
      localAuthenticator.create({ challenge: "AAAA" }),
      { ...localAuthenticator.create(options), attestation: "AAAA" },
      {
        ...localAuthenticator.create(options),
        credentialId: createAuthenticator(local).credentialId,
      },
    ]) {
      const { status, json } = await viewer.page("POST", "/dashboard/passkeys", {
        body: { name: "Phone", ...body },
      });
      expect([status, json.error.details[0].path]).toEqual([422, "attestation"]);
    }
    appliance.time.now += 10 * 60_000;
    const late = { name: "Phone", ...localAuthenticator.create(options) };
    expect((await viewer.page("POST", "/dashboard/passkeys", { body: late })).status).toBe(422);
    appliance.time.now -= 10 * 60_000;
    expect(dumpTables(appliance)).toBe(before);
    const first = { name: "Phone", ...localAuthenticator.create(options) };
    expect((await viewer.page("POST", "/dashboard/passkeys", { body: first })).status).toBe(201);
    expect((await viewer.page("POST", "/dashboard/passkeys", { body: first })).status).toBe(409);
  });

  test("is not possible under an IP address, and at most twenty times", async () => {
    const appliance = await testAppliance();
    const viewer = await signInMember(appliance, "viewer");
    for (const Host of ["192.168.1.5:3210", "[::1]:3210"]) {
      const headers = { Host };
      const body = { password };
      const { status, json } = await viewer.page("POST", "/dashboard/passkeys/options", {
        body,
        headers,
      });
      expect([status, json.error.message]).toEqual([409, expect.stringContaining("host name")]);
      expect(
        (await viewer.page("POST", "/dashboard/sign-in/passkey/options", { headers })).status,
      ).toBe(409);
    }
    for (let count = 0; count < 20; count++) await addPasskey(viewer);
    const options = await viewer.page("POST", "/dashboard/passkeys/options", {
      body: { password },
    });
    const body = { name: "One more", ...createAuthenticator(local).create(options.json.data) };
    expect((await viewer.page("POST", "/dashboard/passkeys", { body })).status).toBe(409);
  });
});

describe("signing in with a passkey alone", () => {
  test("opens the admin page, also with two-factor on, and is in the audit log", async () => {
    const appliance = await testAppliance();
    const { page, passkey, email } = await createGuardedPerson(appliance);
    const { recoveryCodes } = (
      await page("POST", "/dashboard/two-factor/passkeys", { body: { password } })
    ).json.data;
    expect(recoveryCodes).toHaveLength(10);
    const ada = createBrowser(appliance);
    expect((await ada.page("GET", "/session")).json.data.ways.passkey).toBe(true);
    expect((await ada.post("/sign-in/passkey/options")).json.data).toMatchObject({
      rpId: "localhost",
      userVerification: "required",
      allowCredentials: [],
    });
    expect((await signInByPasskey(ada, passkey)).json.data).toEqual({ state: "signed-in" });
    expect((await ada.page("GET", "/session")).json.data.person).toMatchObject({
      email,
      twoFactor: true,
    });
    const admin = await signInMember(appliance, "admin");
    const log = (await admin.page("GET", "/dashboard/audit-log")).json.data;
    const actions = log.map(({ action }: { action: string }) => action);
    expect(actions.slice(0, 3)).toEqual([
      "person.signed-in",
      "person.two-factor-on",
      "person.passkey-added",
    ]);
  });

  test("fails without verification of the person, for another site, and with a wrong signature", async () => {
    const appliance = await testAppliance();
    const { passkey } = await createGuardedPerson(appliance);
    const stranger = createAuthenticator(local);
    const ada = createBrowser(appliance);
    const before = dumpTables(appliance);
    const options = (await ada.post("/sign-in/passkey/options")).json.data;
    const proof = passkey.prove(options);
    for (const body of [
      passkey.prove(options, { verified: false }),
      passkey.prove(options, { origin: "https://evil.example" }),
      passkey.prove(options, { rpId: "evil.example" }),
      passkey.prove({ challenge: "AAAA" }),
      { ...proof, signature: stranger.prove(options).signature },
      { ...proof, userHandle: Buffer.from("somebody").toString("base64url") },
      stranger.prove(options),
    ])
      expect((await ada.post("/sign-in/passkey", body)).status).toBe(401);
    expect(dumpTables(appliance)).toBe(before);
    expect(await ada.state()).toBe("signed-out");
    // As after wrong passwords, the network waits.
    for (let count = 0; count < 3; count++)
      await ada.post("/sign-in/passkey", stranger.prove(options));
    expect((await ada.post("/sign-in/passkey", stranger.prove(options))).status).toBe(429);
  });

  test("uses a challenge once, for ten minutes, and even after a clock was ahead", async () => {
    const appliance = await testAppliance();
    const { passkey } = await createGuardedPerson(appliance);
    const ada = createBrowser(appliance);
    const options = (await ada.post("/sign-in/passkey/options")).json.data;
    const proof = passkey.prove(options);
    const responses = await Promise.all(
      [createBrowser(appliance), createBrowser(appliance)].map((one) =>
        one.post("/sign-in/passkey", proof),
      ),
    );
    expect(sortStatuses(responses)).toEqual([200, 401]);
    expect((await ada.post("/sign-in/passkey", proof)).status).toBe(401);

    appliance.time.now += 1;
    const late = passkey.prove((await ada.post("/sign-in/passkey/options")).json.data);
    appliance.time.now += 10 * 60_000;
    expect((await ada.post("/sign-in/passkey", late)).status).toBe(401);
    appliance.time.now += 86_400_000;
    expect((await signInByPasskey(ada, passkey)).status).toBe(200);
    appliance.time.now -= 86_400_000;
    expect((await signInByPasskey(ada, passkey)).status).toBe(200);
  });

  test("rejects a sign counter that goes back, which can be of a copy, and reports it", async () => {
    const appliance = await testAppliance();
    const { passkey } = await createGuardedPerson(appliance);
    const ada = createBrowser(appliance);
    const use = async (count: number) => {
      appliance.time.now += 1_000;
      return (await signInByPasskey(ada, passkey, { count })).status;
    };
    expect([await use(7), await use(8)]).toEqual([200, 200]);
    expect([await use(8), await use(3), await use(0)]).toEqual([401, 401, 401]);
    expect(await use(9)).toBe(200);
    const admin = await signInMember(appliance, "admin");
    const log = (await admin.page("GET", "/dashboard/audit-log")).json.data;
    expect(JSON.stringify(log)).toContain("person.passkey-refused");
  });
});

describe("a passkey belongs to the host on which it was added", () => {
  const named = "https://box.example:8443";
  const headers = { Host: "status.example", Origin: "https://status.example" };

  test("also behind a proxy that does not name the scheme", async () => {
    const appliance = await testAppliance();
    const viewer = await signInMember(appliance, "viewer");
    const passkey = await addPasskey(viewer, { origin: "https://status.example", headers });
    appliance.time.now += 1_000;
    const elsewhere = createBrowser(appliance);
    expect((await signInByPasskey(elsewhere, createAuthenticator(named))).status).toBe(401);
    expect((await elsewhere.page("GET", "/session")).json.data.ways.passkey).toBe(false);
    expect((await signInByPasskey(elsewhere, passkey)).status).toBe(401);
    const page = createBrowserClient(appliance, null, headers);
    const { json } = await page("POST", "/dashboard/sign-in/passkey/options");
    const body = passkey.prove(json.data);
    expect((await page("POST", "/dashboard/sign-in/passkey", { body })).status).toBe(200);
    expect((await viewer.page("GET", "/dashboard/passkeys")).json.data).toMatchObject([
      { host: "status.example", here: false },
    ]);
  });

  test("and the second step of a sign-in elsewhere names that host, and accepts a recovery code", async () => {
    const appliance = await testAppliance();
    const viewer = await signInMember(appliance, "viewer");
    await addPasskey(viewer, { origin: "https://status.example", headers });
    const enabled = await viewer.page("POST", "/dashboard/two-factor/passkeys", {
      body: { password },
    });
    const [code] = enabled.json.data.recoveryCodes;
    const ada = createBrowser(appliance);
    expect((await ada.signIn(viewer.email)).json.data.state).toBe("two-factor");
    expect((await ada.post("/sign-in/second-factors")).json.data).toEqual({
      passkey: null,
      elsewhere: ["status.example"],
      authenticatorApp: false,
    });
    expect((await ada.post("/sign-in/code", { code: "123456" })).status).toBe(401);
    expect((await ada.post("/sign-in/code", { code })).status).toBe(200);
  });
});

describe("as second factor", () => {
  async function signInWithFactor(appliance: TestAppliance) {
    const viewer = await createGuardedPerson(appliance);
    await viewer.page("POST", "/dashboard/two-factor/passkeys", { body: { password } });
    return viewer;
  }

  test("a passkey completes a sign-in by password, without verification, and only of the same person", async () => {
    const appliance = await testAppliance();
    const { email, passkey } = await signInWithFactor(appliance);
    const other = await signInWithFactor(appliance);
    const ada = createBrowser(appliance);
    expect((await ada.post("/sign-in/second-factors")).status).toBe(401);
    expect((await ada.signIn(email)).json.data.state).toBe("two-factor");
    const { passkey: options } = (await ada.post("/sign-in/second-factors")).json.data;
    expect(options.allowCredentials).toEqual([
      { type: "public-key", id: passkey.credentialId, transports: ["internal"] },
    ]);
    const wrong = other.passkey.prove(options, { verified: false });
    expect((await ada.post("/sign-in/passkey", wrong)).status).toBe(401);
    // The options belong to this sign-in.
    const proof = passkey.prove(options, { verified: false });
    expect((await createBrowser(appliance).post("/sign-in/passkey", proof)).status).toBe(401);
    expect((await ada.post("/sign-in/passkey", proof)).json.data.state).toBe("signed-in");
  });

  test("turning it on requires the password and a passkey, and ends all other sessions", async () => {
    const appliance = await testAppliance();
    const viewer = await signInMember(appliance, "viewer");
    const turnOn = (body: object) =>
      viewer.page("POST", "/dashboard/two-factor/passkeys", { body });
    expect((await turnOn({ password })).status).toBe(409);
    await addPasskey(viewer);
    expect((await turnOn({ password: "not my password" })).status).toBe(422);
    const other = await signInVisitor(appliance, viewer.id);
    expect((await turnOn({ password })).status).toBe(200);
    expect((await other.page("GET", "/dashboard/people")).status).toBe(401);
    expect((await turnOn({ password })).status).toBe(409);
    expect((await viewer.page("GET", "/dashboard/two-factor")).json.data).toEqual({
      password: true,
      authenticatorApp: false,
      passkeys: true,
      recoveryCodesLeft: 10,
    });
  });

  test("the last passkey can't be removed while it is the only second factor", async () => {
    const appliance = await testAppliance();
    const { page, passkey, email } = await signInWithFactor(appliance);
    const remove = (id: string) => page("DELETE", `/dashboard/passkeys/${id}`);
    expect((await remove(passkey.id)).status).toBe(409);
    const second = await addPasskey({ page });
    expect((await remove(passkey.id)).status).toBe(200);
    expect((await remove(passkey.id)).status).toBe(404);
    expect((await signInByPasskey(createBrowser(appliance), passkey)).status).toBe(401);
    expect((await remove(second.id)).status).toBe(409);
    await page("POST", "/dashboard/two-factor/disable", { body: { password } });
    expect((await createBrowser(appliance).signIn(email)).json.data.state).toBe("signed-in");
    expect((await remove(second.id)).status).toBe(200);
  });

  test("the operator can turn it off, which also removes the passkeys of a lost device", async () => {
    const appliance = await testAppliance();
    const { email, passkey } = await signInWithFactor(appliance);
    const next = "another long password";
    const { scope } = appliance.ours;
    await resetPassword(scope, email, { password: next, withoutTwoFactor: false });
    expect((await createBrowser(appliance).signIn(email, next)).json.data.state).toBe("two-factor");
    await resetPassword(scope, email, { password: next, withoutTwoFactor: true });
    expect((await createBrowser(appliance).signIn(email, next)).json.data.state).toBe("signed-in");
    expect((await signInByPasskey(createBrowser(appliance), passkey)).status).toBe(401);
  });
});

test("a person without a password adds one only soon after a sign-in", async () => {
  const appliance = await testAppliance();
  const viewer = await signInMember(appliance, "viewer");
  appliance.database.run("UPDATE people SET has_password = 0 WHERE id = ?", [viewer.id]);
  const start = () => viewer.page("POST", "/dashboard/passkeys/options", { body: {} });
  expect((await start()).status).toBe(200);
  const authenticator = createAuthenticator(local);
  const body = { name: "Phone", ...authenticator.create((await start()).json.data) };
  const added = await viewer.page("POST", "/dashboard/passkeys", { body });
  const path = `/dashboard/passkeys/${added.json.data.id}`;
  const removed = await viewer.page("DELETE", path);
  expect([removed.status, removed.json.error.message]).toEqual([
    409,
    expect.stringContaining("no other way to sign in"),
  ]);
  appliance.time.now += 11 * 60_000;
  expect((await start()).status).toBe(403);
});

test("people see and change only their own passkeys", async () => {
  const appliance = await testAppliance();
  const { passkey } = await createGuardedPerson(appliance);
  const other = await signInMember(appliance, "owner");
  expect((await other.page("GET", "/dashboard/passkeys")).json.data).toEqual([]);
  const path = `/dashboard/passkeys/${passkey.id}`;
  expect((await other.page("DELETE", path)).status).toBe(404);
  expect((await other.page("PATCH", path, { body: { name: "Mine" } })).status).toBe(404);
});
