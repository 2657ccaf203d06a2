/** Sign-ins by the header of a trusted proxy, and what they must not allow. */
import { describe, expect, test } from "bun:test";
import {
  type Client,
  dumpTables,
  testAppliance,
  type TestAppliance,
} from "../../support/appliance.ts";
import {
  addressOf,
  createBrowserClient,
  createPerson,
  password,
  signInMember,
  signInVisitor,
} from "../../support/people.ts";
import { parseConfig } from "../../../src/config.ts";

const proxy = "10.0.0.9";
const header = "/dashboard/sign-in/header";

const createBehindProxy = () => testAppliance({ trustProxy: [proxy], addressOf });

/** A provider for trusted headers that opens our organization with these rules. */
async function createHeaderProvider(appliance: TestAppliance, rules: object = {}) {
  const runs = await signInMember(appliance, "owner", { administrator: true });
  const organizations = [{ organizationId: appliance.ours.id, ...rules }];
  const body = {
    preset: "proxy",
    name: "Proxy",
    issuer: "https://trusted-header.invalid",
    clientId: "proxy",
    organizations,
  };
  const result = await runs.page("POST", "/dashboard/identity-providers", { body });
  expect(result.status).toBe(201);
  return { runs, id: result.json.data.id as string };
}

/** A browser behind the proxy, which sends these headers, with its cookies. */
function createVisitor(appliance: TestAppliance, headers: Record<string, string>, from = proxy) {
  let cookies = new Map<string, string>();
  const page: Client = async (method, path, options = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const client = createBrowserClient(appliance, cookie === "" ? null : cookie, {
      "X-Address": from,
      ...headers,
    });
    const response = await client(method, path, options);
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...rest] = line.split("; ");
      const [name = "", value = ""] = pair.split("=", 2);
      if (rest.includes("Max-Age=0")) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    page,
    cookies: () => cookies,
    use: (other: Map<string, string>) => void (cookies = new Map(other)),
    enter: () => page("POST", header),
    state: async () => (await page("GET", "/dashboard/session")).json.data,
  };
}

const ada = {
  "Remote-User": "ada",
  "Remote-Email": "ada@team.example",
  "Remote-Name": "Ada Lovelace",
  "Remote-Groups": "staff,signalbox-admins",
};

describe("a header of a trusted proxy", () => {
  test("adds a person with the role of their groups, and signs them in", async () => {
    const appliance = await createBehindProxy();
    const groupRoles = [{ group: "signalbox-admins", role: "admin" }];
    await createHeaderProvider(appliance, { groupRoles });
    const visitor = createVisitor(appliance, ada);
    expect((await visitor.state()).ways).toMatchObject({ headerUser: "ada", providers: [] });
    expect((await visitor.enter()).json.data).toEqual({ state: "signed-in", consentFor: null });
    expect(await visitor.state()).toMatchObject({
      state: "signed-in",
      person: { name: "Ada Lovelace", email: "ada@team.example" },
      organizations: [{ name: "Ours", role: "admin" }],
    });
    // The role ends with the group, as with any sign-in provider.
    const later = createVisitor(appliance, { ...ada, "Remote-Groups": "staff" });
    expect((await later.enter()).status).toBe(403);
    expect((await visitor.page("GET", "/dashboard/people")).status).toBe(401);
  });

  test.each([
    ["UTF-8", Buffer.from("Jörg Żak").toString("latin1"), "Jörg Żak"],
    ["encoded words", "=?utf-8?q?J=C3=B6rg?= =?UTF-8?B?IMW7YWs=?=", "Jörg Żak"],
    ["Latin-1", "Jörg", "Jörg"],
    ["an unknown encoding", "=?x-none?q?J=F6rg?=", "=?x-none?q?J=F6rg?="],
  ])("has a name in %s", async (_, sent, name) => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    const visitor = createVisitor(appliance, { ...ada, "Remote-Name": sent });
    await visitor.enter();
    expect((await visitor.state()).person.name).toBe(name);
  });

  test("finds groups in UTF-8, and takes no user for the text that it would encode", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { groupRoles: [{ group: "Führung", role: "admin" }] });
    const groups = Buffer.from("Führung,staff").toString("latin1");
    const encoded = "=?utf-8?q?ada?=";
    const visitor = createVisitor(appliance, {
      ...ada,
      "Remote-User": encoded,
      "Remote-Groups": groups,
    });
    expect((await visitor.state()).ways.headerUser).toBe(encoded);
    await visitor.enter();
    expect((await visitor.state()).organizations[0].role).toBe("admin");
  });

  test("admits no one without a provider, without its rules, and without the header", async () => {
    const appliance = await createBehindProxy();
    const visitor = createVisitor(appliance, ada);
    expect((await visitor.enter()).status).toBe(403);
    const { runs, id } = await createHeaderProvider(appliance);
    const before = dumpTables(appliance);
    expect((await visitor.enter()).status).toBe(403);
    expect((await createVisitor(appliance, {}).enter()).status).toBe(401);
    expect(dumpTables(appliance)).toBe(before);
    await runs.page("PATCH", `/dashboard/identity-providers/${id}`, { body: { enabled: false } });
    expect((await visitor.enter()).status).toBe(403);
  });

  test("has no effect from a stranger, regardless of X-Forwarded-For", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    for (const headers of [ada, { ...ada, "X-Forwarded-For": proxy }]) {
      const stranger = createVisitor(appliance, headers, "203.0.113.7");
      expect((await stranger.state()).ways.headerUser).toBeNull();
      expect((await stranger.enter()).status).toBe(401);
    }
    const visitor = createVisitor(appliance, { ...ada, "X-Forwarded-For": "203.0.113.7" });
    expect((await visitor.enter()).status).toBe(200);
  });

  test("fails closed for values that no proxy has meant", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    const owner = await signInMember(appliance, "owner");
    const signedIn = new Map([["signalbox_session", owner.cookie.split("=")[1] ?? ""]]);
    for (const headers of [
      { ...ada, "Remote-User": "ada, eve" },
      { ...ada, "Remote-Email": "ada@team.example, eve@team.example" },
      { ...ada, "Remote-User": "a".repeat(255) },
    ]) {
      const visitor = createVisitor(appliance, headers);
      visitor.use(signedIn);
      expect((await visitor.enter()).status).toBe(400);
      expect((await visitor.page("GET", "/dashboard/people")).status).toBe(400);
    }
  });

  test("leaves API keys and pushes alone, and writes still need the page's origin", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "owner" });
    const headers = { ...ada, "X-Address": proxy };
    expect((await appliance.client(null)("GET", "/api/v1/monitors", { headers })).status).toBe(401);
    const { api } = appliance.ours;
    const spoiled = { headers: { ...headers, "Remote-User": "ada, eve" } };
    expect((await api("GET", "/api/v1/monitors", spoiled)).status).toBe(200);
    const foreign = { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" };
    const visitor = createVisitor(appliance, { ...ada, ...foreign });
    expect((await visitor.enter()).status).toBe(403);
  });
});

describe("next to a session", () => {
  test("the header of another person wins, and the old session ends", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    const visitor = createVisitor(appliance, ada);
    await visitor.enter();
    const eve = createVisitor(appliance, {
      "Remote-User": "eve",
      "Remote-Email": "eve@team.example",
    });
    eve.use(visitor.cookies());
    expect(await eve.state()).toMatchObject({ state: "signed-out", ways: { headerUser: "eve" } });
    expect((await eve.page("GET", "/dashboard/people")).status).toBe(401);
    expect((await visitor.page("GET", "/dashboard/people")).status).toBe(200);
    expect((await eve.enter()).status).toBe(200);
    expect((await eve.state()).person.email).toBe("eve@team.example");
    expect((await visitor.page("GET", "/dashboard/people")).status).toBe(401);

    // A session by password of someone else, too.
    const owner = await signInMember(appliance, "owner");
    eve.use(new Map([["signalbox_session", owner.cookie.split("=")[1] ?? ""]]));
    expect((await eve.state()).state).toBe("signed-out");
  });

  test("a session of the header ends without the header", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    const visitor = createVisitor(appliance, ada);
    await visitor.enter();
    for (const [headers, from] of [
      [{}, proxy],
      [ada, "203.0.113.7"],
    ] as const) {
      const other = createVisitor(appliance, headers, from);
      other.use(visitor.cookies());
      expect((await other.page("GET", "/dashboard/people")).status).toBe(401);
    }
    const left = await visitor.page("POST", "/dashboard/sign-out");
    expect(left.json.data.providerUrl).toBe("/sign-in?password");
    expect((await visitor.state()).state).toBe("signed-out");
  });

  test("an account with a password is linked only after its password in the same browser", async () => {
    const appliance = await createBehindProxy();
    await createHeaderProvider(appliance, { defaultRole: "viewer" });
    const email = "ada@team.example";
    const owner = await createPerson(appliance, appliance.ours.id, "owner", { email });
    const visitor = createVisitor(appliance, ada);
    expect((await visitor.enter()).json.data).toEqual({ state: "signed-out", consentFor: email });
    const signIn = { body: { email, password } };
    expect((await visitor.page("POST", "/dashboard/sign-in", signIn)).status).toBe(200);
    expect((await visitor.state()).person.id).toBe(owner.id);
    const fresh = createVisitor(appliance, ada);
    expect((await fresh.enter()).json.data.state).toBe("signed-in");
    expect((await fresh.state()).person.id).toBe(owner.id);
    // Their other sessions remain valid next to their own header.
    const session = await signInVisitor(appliance, owner.id);
    fresh.use(new Map([["signalbox_session", session.token]]));
    expect((await fresh.page("GET", "/dashboard/people")).status).toBe(200);
    const left = await fresh.page("POST", "/dashboard/sign-out");
    expect(left.json.data.providerUrl).toBe("/sign-in?password");
  });
});

test("a signed-in person links the user of the header, also with another address", async () => {
  const appliance = await createBehindProxy();
  await createHeaderProvider(appliance);
  const member = await signInMember(appliance, "member");
  const visitor = createVisitor(appliance, ada);
  visitor.use(new Map([["signalbox_session", member.cookie.split("=")[1] ?? ""]]));
  const path = "/dashboard/identities/header";
  expect((await visitor.page("GET", path)).json.data).toEqual({ user: "ada", isLinked: false });
  expect((await visitor.page("POST", path)).json.data).toEqual({ user: "ada", isLinked: true });
  expect((await visitor.page("POST", path)).status).toBe(409);
  const plain = await member.page("GET", path);
  expect(plain.json.data).toEqual({ user: null, isLinked: false });
  expect((await member.page("POST", path)).status).toBe(409);
  const fresh = createVisitor(appliance, ada);
  await fresh.enter();
  expect((await fresh.state()).person.id).toBe(member.id);
});

test("the options need each other, and headers that only a proxy sets", () => {
  const findConfigError = (flags: object) => {
    try {
      parseConfig(flags as Record<string, unknown>, {});
      return null;
    } catch (error) {
      return (error as { details: { path: string }[] }).details[0]?.path;
    }
  };
  expect(findConfigError({ trustedHeaderUser: "Remote-User" })).toBe("--trusted-header-user");
  expect(findConfigError({ trustedHeaderEmail: "Remote-Email" })).toBe("--trusted-header-email");
  const trustProxy = ["127.0.0.1"];
  for (const name of ["Cookie", "Host", "X-Forwarded-For", "Remote User", ""])
    expect(findConfigError({ trustProxy, trustedHeaderUser: name })).toBe("--trusted-header-user");
  expect(findConfigError({ trustProxy, trustedHeaderUser: "X-Forwarded-User" })).toBeNull();
  const signOut = {
    trustProxy,
    trustedHeaderUser: "Remote-User",
    trustedHeaderSignOut: "javascript:1",
  };
  expect(findConfigError(signOut)).toBe("--trusted-header-sign-out");
});
