import { describe, expect, spyOn, test } from "bun:test";
import crypto from "node:crypto";
import { sweepInvitations } from "../../../src/accounts/invitations/retention.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import {
  dumpTables,
  testAppliance,
  type TestAppliance,
  unknownId,
} from "../../support/appliance.ts";
import {
  signInMember,
  createBrowser,
  password,
  createPerson,
  signInVisitor,
} from "../../support/people.ts";

const invitations = "/dashboard/invitations";
const day = 86_400_000;

/** An owner who invites, and the tokens of the links they get. */
async function setUpInviting(appliance: TestAppliance) {
  const owner = await signInMember(appliance, "owner", { name: "Olga", administrator: true });
  const invite = (email: string, role = "member", headers = {}) =>
    owner.page("POST", invitations, { body: { email, role }, headers });
  const tokenFor = async (email: string, role?: string) =>
    (await invite(email, role)).json.data.link.split("#")[1] as string;
  return { owner, invite, tokenFor };
}

const dumpEntries = ({ database }: TestAppliance) =>
  database.query("SELECT * FROM audit_entries ORDER BY seq").values();

describe("an invitation", () => {
  test("is created by admins and shows its link once", async () => {
    const appliance = await testAppliance();
    const { owner, invite } = await setUpInviting(appliance);
    const result = await invite("bea@team.example");
    const { link, mail, ...shown } = result.json.data;
    expect([result.status, shown]).toEqual([
      201,
      {
        id: expect.any(String),
        email: "bea@team.example",
        role: "member",
        groupIds: null,
        invitedBy: "Olga",
        createdAt: "2026-11-20T10:00:00.000Z",
        expiresAt: "2026-11-27T10:00:00.000Z",
      },
    ]);
    expect(mail).toBeNull();
    expect(link).toMatch(/^http:\/\/signalbox\.lan:3210\/invitation#[0-9A-Za-z]{43}$/);
    expect((await owner.page("GET", invitations)).json.data).toEqual([shown]);
    expect(dumpTables(appliance)).not.toContain(link.split("#")[1]);
    const { page } = await signInMember(appliance, "member");
    expect((await page("GET", invitations)).status).toBe(403);
    expect((await page("POST", invitations, { body: {} })).status).toBe(403);
  });

  test("leads to the address that the admin uses, unless that is the machine's own", async () => {
    const appliance = await testAppliance();
    const { invite } = await setUpInviting(appliance);
    const { link } = (await invite("bea@team.example", "member", { Host: "192.168.1.5:3210" })).json
      .data;
    expect(link).toStartWith("http://192.168.1.5:3210/invitation#");
  });

  test("for the same address replaces the earlier one", async () => {
    const appliance = await testAppliance();
    const { owner, tokenFor } = await setUpInviting(appliance);
    const first = await tokenFor("bea@team.example");
    await tokenFor("BEA@team.example", "viewer");
    expect((await owner.page("GET", invitations)).json.data).toHaveLength(1);
    expect(
      (await createBrowser(appliance).post("/invitations/look", { token: first })).status,
    ).toBe(404);
  });

  test("for a member is a conflict, and only owners invite owners", async () => {
    const appliance = await testAppliance();
    const { invite } = await setUpInviting(appliance);
    const { email, page } = await signInMember(appliance, "admin");
    expect((await invite(email.toUpperCase())).status).toBe(409);
    const body = { email: "bea@team.example", role: "owner" };
    expect((await page("POST", invitations, { body })).status).toBe(403);
    expect((await page("POST", invitations, { body: { ...body, role: "admin" } })).status).toBe(
      201,
    );
    expect((await invite("cleo@team.example", "owner")).status).toBe(201);
  });

  test("can be revoked, only by its own organization", async () => {
    const appliance = await testAppliance();
    const { owner, invite } = await setUpInviting(appliance);
    const { id, link } = (await invite("bea@team.example")).json.data;
    const stranger = await createPerson(appliance, appliance.theirs.id, "owner");
    const theirs = (await signInVisitor(appliance, stranger.id)).page;
    expect((await theirs("DELETE", `${invitations}/${id}`)).status).toBe(404);
    expect((await theirs("GET", invitations)).json.data).toEqual([]);
    expect((await owner.page("DELETE", `${invitations}/${unknownId}`)).status).toBe(404);
    expect((await owner.page("DELETE", `${invitations}/${id}`)).status).toBe(200);
    const token = link.split("#")[1];
    expect((await createBrowser(appliance).post("/invitations/look", { token })).status).toBe(404);
  });

  test("expires after seven days, and is removed", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const token = await tokenFor("bea@team.example");
    const inspect = () => createBrowser(appliance).post("/invitations/look", { token });
    appliance.time.now += 7 * day - 1;
    expect((await inspect()).status).toBe(200);
    appliance.time.now += 2;
    expect((await inspect()).status).toBe(404);
    await sweepInvitations(createSweeping(appliance.store, appliance.time.now));
    expect(dumpTables(appliance)).not.toContain("bea@team.example");
  });

  test("that is invalid is rejected in the API's format", async () => {
    const appliance = await testAppliance();
    const { owner } = await setUpInviting(appliance);
    const before = dumpTables(appliance);
    for (const body of [
      {},
      { email: "bea", role: "member" },
      { email: "bea@team.example" },
      { email: "bea@team.example", role: "root" },
      { email: ["bea@team.example"], role: "member" },
      { email: "bea@team.example", role: "member", organizationId: appliance.theirs.id },
    ])
      expect((await owner.page("POST", invitations, { body })).status).toBe(422);
    expect(dumpTables(appliance)).toBe(before);
  });
});

describe("accepting", () => {
  test("creates a new person, who chooses a name and a password and is signed in", async () => {
    const appliance = await testAppliance();
    const { owner, tokenFor } = await setUpInviting(appliance);
    const token = await tokenFor("bea@team.example", "viewer");
    const entriesBefore = dumpEntries(appliance);
    const bea = createBrowser(appliance);
    expect((await bea.post("/invitations/look", { token })).json.data).toEqual({
      organization: { name: "Ours" },
      email: "bea@team.example",
      role: "viewer",
      providers: [],
      passwordSignIn: true,
    });
    const { status, json } = await bea.post("/invitations/accept", {
      token,
      name: "Bea",
      password: "bea's own secret",
    });
    expect([status, json.data]).toEqual([200, { state: "signed-in" }]);
    const { data } = (await bea.page("GET", "/session")).json;
    expect(data.person).toMatchObject({ name: "Bea", email: "bea@team.example" });
    expect(data.organizations).toMatchObject([{ id: appliance.ours.id, role: "viewer" }]);
    // The invitation no longer exists. The audit log names its invitee by the entry of the acceptance.
    const path = "/dashboard/audit-log?noun=invitation";
    expect((await owner.page("GET", path)).json.data).toMatchObject([
      { action: "invitation.accepted", actor: { name: "Bea" }, subjectName: "Bea" },
      { action: "invitation.created", subjectName: "Bea" },
    ]);
    expect(dumpEntries(appliance).slice(0, entriesBefore.length)).toEqual(entriesBefore);
    expect((await bea.post("/invitations/accept", { token, name: "B", password })).status).toBe(
      404,
    );
  });

  test("asks a new person for missing fields", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const token = await tokenFor("bea@team.example");
    const bea = createBrowser(appliance);
    const wrong: [object, string][] = [
      [{}, "password"],
      [{ name: "Bea" }, "password"],
      [{ name: " ", password }, "name"],
      [{ name: "Bea", password: "short" }, "password"],
      [{ name: "Bea", password: "bea@team.example" }, "password"],
    ];
    for (const [body, field] of wrong) {
      const { status, json } = await bea.post("/invitations/accept", { token, ...body });
      expect([status, json.error.details[0].path]).toEqual([422, field]);
    }
    expect((await bea.post("/invitations/look", { token })).status).toBe(200);
  });

  test("adds an existing person who is signed in or gives their password", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const known = await createPerson(appliance, appliance.theirs.id, "owner", {
      email: "zoe@their.example",
    });
    const { page } = await signInVisitor(appliance, known.id);
    const token = await tokenFor(known.email, "viewer");
    const stranger = createBrowser(appliance);
    expect((await stranger.post("/invitations/accept", { token })).status).toBe(422);
    const guess = { token, password: "not my password" };
    expect((await stranger.post("/invitations/accept", guess)).status).toBe(401);
    appliance.time.now += 1;
    const signedIn = await page("POST", `${invitations}/accept`, { body: { token } });
    expect(signedIn.json.data.state).toBe("signed-in");
    const { organizations } = (await page("GET", "/dashboard/session")).json.data;
    expect(organizations.map((one: { role: string }) => one.role)).toEqual(["owner", "viewer"]);
    const other = await createPerson(appliance, appliance.theirs.id, "viewer");
    const second = { token: await tokenFor(other.email), password };
    expect((await stranger.post("/invitations/accept", second)).json.data.state).toBe("signed-in");
    expect((await stranger.page("GET", "/session")).json.data.person.id).toBe(other.id);
  });

  test("by a person with two-factor signs them in only after their code", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const known = await createPerson(appliance, appliance.theirs.id, "viewer");
    appliance.database.run("UPDATE people SET totp_secret = 'sealed' WHERE id = ?", [known.id]);
    const zoe = createBrowser(appliance);
    const body = { token: await tokenFor(known.email), password };
    expect((await zoe.post("/invitations/accept", body)).json.data.state).toBe("two-factor");
    expect((await zoe.page("GET", "/people")).status).toBe(401);
  });

  test("does not reveal who uses the address in another organization", async () => {
    const appliance = await testAppliance({ attemptsPerMinute: 100 });
    const { tokenFor } = await setUpInviting(appliance);
    const known = await createPerson(appliance, appliance.theirs.id, "owner", {
      email: "zoe@their.example",
    });
    const stored = appliance.database.query("SELECT * FROM people WHERE id = ?");
    const before = stored.values(known.id);
    const verify = spyOn(crypto, "argon2");
    const summarize = async (email: string) => {
      const token = await tokenFor(email);
      const body = { token, password: "somebody's guess" };
      const one = createBrowser(appliance);
      const responses: unknown[] = [];
      for (const [path, more] of [
        ["look", { password: undefined }],
        ["accept", { password: undefined }],
        ["accept", {}],
        ["accept", { name: "Mallory" }],
      ] as const) {
        verify.mockClear();
        const { status, text, headers } = await one.post(`/invitations/${path}`, {
          ...body,
          ...more,
          ...(path === "look" && { token }),
        });
        const id = headers.get("x-request-id") ?? "";
        responses.push([
          status,
          text.replaceAll(id, "").replaceAll(email, ""),
          verify.mock.calls.length,
        ]);
      }
      const { data } = (await one.page("GET", "/session")).json;
      const { id: _, email: shown, ...self } = data.person;
      return [...responses, shown === email, self, data.organizations.length];
    };
    const [taken, free] = [await summarize(known.email), await summarize("zoe@free.example")];
    verify.mockRestore();
    expect(taken).toEqual(free);
    expect(stored.values(known.id)).toEqual(before);
    // Each signs in with their own password; one computation must find the right one.
    const ids = await Promise.all(
      [password, "somebody's guess"].map(async (secret) => {
        const one = createBrowser(appliance);
        await one.signIn(known.email, secret);
        return (await one.page("GET", "/session")).json.data.person.id;
      }),
    );
    expect([ids[0], ids[1] === known.id]).toEqual([known.id, false]);
    const count = spyOn(crypto, "argon2");
    await createBrowser(appliance).signIn(known.email, "a wrong password");
    expect(count.mock.calls).toHaveLength(1);
    count.mockRestore();
  });

  test("by a person with the password of an existing account joins with that account", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const known = await createPerson(appliance, appliance.theirs.id, "owner");
    const zoe = createBrowser(appliance);
    const body = { token: await tokenFor(known.email), name: "Zoe", password };
    expect((await zoe.post("/invitations/accept", body)).json.data.state).toBe("signed-in");
    const { data } = (await zoe.page("GET", "/session")).json;
    expect([data.person.id, data.organizations.length]).toEqual([known.id, 2]);
  });

  test("by two requests at once succeeds once", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    const token = await tokenFor("bea@team.example");
    const accept = (name: string) =>
      createBrowser(appliance).post("/invitations/accept", { token, name, password });
    const responses = await Promise.all([accept("Bea"), accept("Mallory")]);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => [404, 409].includes(status))).toHaveLength(1);
  });

  test("a wrong token reveals nothing, and guessing is limited", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await setUpInviting(appliance);
    await tokenFor("bea@team.example");
    const bea = createBrowser(appliance);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push((await bea.post("/invitations/look", { token: `x${i}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429, 429]);
  });
});

describe("the creator of an invitation must still be entitled when it is accepted", () => {
  const open = (appliance: TestAppliance) =>
    appliance.database.query("SELECT email FROM invitations ORDER BY email").values().flat();

  /** An owner, and a person of this role with an invitation for each role that they can invite. */
  async function setUpInviter(role: "admin" | "owner") {
    const appliance = await testAppliance();
    const owner = await signInMember(appliance, "owner");
    const member = await signInMember(appliance, role);
    const tokens: Record<string, string> = {};
    for (const to of ["viewer", "member", "admin", ...(role === "owner" ? ["owner"] : [])]) {
      const body = { email: `${to}@new.example`, role: to };
      const { link } = (await member.page("POST", invitations, { body })).json.data;
      tokens[to] = link.split("#")[1];
    }
    const accept = (to: string) =>
      createBrowser(appliance).post("/invitations/accept", {
        token: tokens[to],
        name: to,
        password,
      });
    return { appliance, owner, who: member, accept };
  }

  test("removing them revokes their invitations", async () => {
    const { appliance, owner, who, accept } = await setUpInviter("owner");
    await owner.page("POST", invitations, { body: { email: "kept@new.example", role: "viewer" } });
    expect((await owner.page("DELETE", `/dashboard/people/${who.id}`)).status).toBe(200);
    expect(open(appliance)).toEqual(["kept@new.example"]);
    for (const to of ["viewer", "owner"]) expect((await accept(to)).status).toBe(404);
    const ended = "SELECT count(*) FROM audit_entries WHERE action = 'invitation.revoked'";
    expect(appliance.database.query(ended).values()).toEqual([[4]]);
  });

  test("a lower role retains the invitations that it could create", async () => {
    const { appliance, owner, who, accept } = await setUpInviter("owner");
    const to = (role: string) =>
      owner.page("PATCH", `/dashboard/people/${who.id}`, { body: { role } });
    await to("admin");
    expect(open(appliance)).toEqual([
      "admin@new.example",
      "member@new.example",
      "viewer@new.example",
    ]);
    expect([(await accept("owner")).status, (await accept("admin")).status]).toEqual([404, 200]);
    await to("member");
    expect(open(appliance)).toEqual([]);
    expect((await accept("viewer")).status).toBe(404);
  });

  test("however they lost the role, none of their invitations works", async () => {
    const { appliance, who, accept } = await setUpInviter("admin");
    const demote = (sql: string) => appliance.database.query(sql).run(who.id);
    demote("UPDATE memberships SET role = 'member' WHERE person_id = ?");
    expect((await accept("viewer")).status).toBe(404);
    demote("DELETE FROM memberships WHERE person_id = ?");
    expect((await accept("member")).status).toBe(404);
    expect(open(appliance)).toHaveLength(3);
  });

  test("a removal and an acceptance at once: the later one sees the earlier", async () => {
    for (let round = 0; round < 5; round++) {
      const { appliance, owner, who, accept } = await setUpInviter("admin");
      const [removed, accepted] = await Promise.all([
        owner.page("DELETE", `/dashboard/people/${who.id}`),
        accept("viewer"),
      ]);
      expect(removed.status).toBe(200);
      expect([200, 404]).toContain(accepted.status);
      const { data } = (await owner.page("GET", "/dashboard/people")).json;
      expect(data).toHaveLength(accepted.status === 200 ? 2 : 1);
      expect(open(appliance)).toEqual([]);
    }
  });
});
