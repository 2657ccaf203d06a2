import { describe, expect, test } from "bun:test";
import { type TestResponse, dumpTables, testAppliance } from "../../support/appliance.ts";
import { useFullHashing } from "../../support/hashing.ts";
import {
  createBrowserClient,
  signInMember,
  createBrowser,
  password,
  createPerson,
  defaultHash,
} from "../../support/people.ts";

function removeId({ status, json }: TestResponse): string {
  const { requestId: _, ...error } = json.error;
  return JSON.stringify([status, error]);
}

describe("signing in", () => {
  test("the e-mail address and password open the organization's admin page", async () => {
    const appliance = await testAppliance();
    const { email, id } = await createPerson(appliance, appliance.ours.id, "admin", {
      name: "Ada",
    });
    const ada = createBrowser(appliance);
    expect(await ada.state()).toBe("signed-out");
    const { status, json } = await ada.signIn(email);
    expect([status, json]).toEqual([200, { data: { state: "signed-in" } }]);
    const presence = await ada.page("GET", "/session");
    expect(presence.json.data).toEqual({
      state: "signed-in",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      person: {
        id,
        name: "Ada",
        email,
        twoFactor: false,
        timeZone: null,
        hourCycle: "h23",
        language: null,
        administrator: false,
        wrongCodes: null,
      },
      organizations: [
        {
          id: appliance.ours.id,
          slug: "ours",
          name: "Ours",
          timeZone: "UTC",
          role: "admin",
          groupIds: null,
        },
      ],
      ways: null,
      languageChanged: false,
    });
    expect(presence.headers.get("cache-control")).toBe("no-store");
    expect((await ada.page("GET", "/api/v1/incidents")).status).toBe(200);
  });

  test("the case of the address and the Unicode form of the password do not matter", async () => {
    const appliance = await testAppliance();
    const email = "Ada@Team.example";
    await createPerson(appliance, appliance.ours.id, "viewer", { email });
    expect((await createBrowser(appliance).signIn("ADA@team.EXAMPLE")).status).toBe(200);
    const composed = "cr\u00e8me br\u00fbl\u00e9e";
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    const change = { current: password, password: composed };
    expect((await ada.post("/profile/password", change)).status).toBe(200);
    const decomposed = composed.normalize("NFD");
    expect((await createBrowser(appliance).signIn(email, decomposed)).status).toBe(200);
  });

  test("a wrong address and a wrong password get the same response without a cookie", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const wrong = await createBrowser(appliance).signIn(email, "another password");
    const unknown = await createBrowser(appliance).signIn("nobody@team.example");
    expect(removeId(wrong)).toBe(removeId(unknown));
    expect([wrong.status, wrong.json.error.code]).toEqual([401, "UNAUTHORIZED"]);
    expect([wrong, unknown].map(({ headers }) => headers.get("set-cookie"))).toEqual([null, null]);
  });

  test("an unknown address costs as much work as a wrong password", async () => {
    using _ = useFullHashing();
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner", {
      passwordHash: defaultHash,
    });
    const page = createBrowser(appliance);
    await page.signIn("nobody@team.example");
    // CPU time, which other programs do not affect.
    const workOf = async (address: string) => {
      const before = process.cpuUsage();
      await page.signIn(address, "another password");
      return process.cpuUsage(before).user;
    };
    const [known, unknown] = [
      Math.min(await workOf(email), await workOf(email)),
      Math.min(await workOf("nobody@team.example"), await workOf("nobody@team.example")),
    ];
    expect(unknown).toBeGreaterThan(known / 3);
  });

  test("each sign-in sets a new cookie and invalidates the browser's old one", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    const first = ada.cookie();
    await ada.signIn(email);
    expect(ada.cookie()).not.toBe(first);
    expect((await createBrowserClient(appliance, first)("GET", "/dashboard/people")).status).toBe(
      401,
    );
  });

  test("a planted cookie is never signed in", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const planted = `signalbox_session=${"p".repeat(43)}`;
    const page = createBrowserClient(appliance, planted);
    await page("POST", "/dashboard/sign-in", { body: { email, password } });
    expect((await page("GET", "/dashboard/people")).status).toBe(401);
  });

  test("signing out ends the session at once and removes the cookie", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    const cookie = ada.cookie();
    const { headers } = await ada.post("/sign-out");
    expect(headers.get("set-cookie")).toBe(
      "signalbox_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
    );
    expect((await createBrowserClient(appliance, cookie)("GET", "/dashboard/people")).status).toBe(
      401,
    );
    expect(await ada.state()).toBe("signed-out");
    expect((await ada.post("/sign-out")).status).toBe(200);
  });

  test("the audit log of each of the person's organizations records it, without address or password", async () => {
    const appliance = await testAppliance();
    const { ours, theirs, database } = appliance;
    const { email, id } = await createPerson(appliance, ours.id, "owner");
    database
      .query(
        "INSERT INTO memberships (organization_id, person_id, role, created_at) VALUES (?, ?, 'viewer', '2027-01-01T00:00:00.000Z')",
      )
      .run(theirs.id, id);
    await createBrowser(appliance).signIn(email);
    const rows = database.query(
      "SELECT organization_id FROM audit_entries WHERE action = 'person.signed-in' AND subject_id = ?",
    );
    expect(new Set(rows.values(id).flat())).toEqual(new Set([ours.id, theirs.id]));
  });

  test("a failure is logged with only the client's address", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    await createBrowser(appliance).signIn(email, "a canary of a password");
    const log = appliance.logged.join("\n");
    expect(log).toContain('sign-in failed address="127.0.0.1"');
    expect(log).not.toContain("canary");
    expect(log).not.toContain(email);
  });
});

describe("the cookie", () => {
  test("is sent only with same-site requests and hidden from scripts", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const { headers } = await createBrowser(appliance).signIn(email);
    expect(headers.get("set-cookie")).toMatch(
      /^signalbox_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
  });

  test("is Secure over TLS, also behind a TLS proxy", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const body = { email, password };
    const headers = { Origin: "https://localhost" };
    const { headers: proxied } = await createBrowserClient(appliance, null)(
      "POST",
      "/dashboard/sign-in",
      {
        body,
        headers,
      },
    );
    expect(proxied.get("set-cookie")).toEndWith("; SameSite=Strict; Secure");
  });

  test("is stored only as its SHA-256", async () => {
    const appliance = await testAppliance();
    const { email } = await createPerson(appliance, appliance.ours.id, "owner");
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    const token = ada.cookie()?.split("=")[1] ?? "";
    expect(token).toHaveLength(43);
    expect(dumpTables(appliance)).not.toContain(token);
    expect(appliance.logged.join("\n")).not.toContain(token);
  });
});

test("an invalid sign-in gets an API error and changes nothing", async () => {
  const appliance = await testAppliance();
  await signInMember(appliance, "owner");
  const before = dumpTables(appliance);
  const { page } = createBrowser(appliance);
  const bodies: unknown[] = [
    {},
    { email: "a@b.example" },
    { email: "a@b.example", password: "" },
    { email: ["a@b.example"], password: { length: 12 } },
    { email: "a@b.example", password: "x".repeat(201) },
    { email: "x".repeat(255), password },
    { email: "a@b.example", password, role: "owner" },
    [],
    null,
    "text",
    7,
  ];
  for (const body of bodies) {
    const { status, text } = await page("POST", "/sign-in", { body });
    expect([JSON.stringify(body), status]).toEqual([JSON.stringify(body), 422]);
    expect(text).not.toContain(password);
  }
  const nested = "[".repeat(60_000);
  expect((await page("POST", "/sign-in", { raw: nested })).status).toBe(400);
  const form = { raw: "email=a&password=b", headers: { "Content-Type": "text/plain" } };
  expect((await page("POST", "/sign-in", form)).status).toBe(415);
  expect((await page("POST", "/sign-in", { raw: "x".repeat(300_000) })).status).toBe(413);
  expect(dumpTables(appliance)).toBe(before);
});
