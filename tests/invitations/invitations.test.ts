import { describe, expect, test } from "bun:test";
import { forgetOldInvitations } from "../../src/invitations/store.ts";
import { dump, testAppliance, type TestAppliance, unknownId } from "../support/appliance.ts";
import { member, newBrowser, password, person, visitor } from "../support/visiting.ts";

const invitations = "/dashboard/invitations";
const day = 86_400_000;

/** An owner who invites, and the tokens of the links they get. */
async function inviting(appliance: TestAppliance) {
  const owner = await member(appliance, "owner", { name: "Olga" });
  const invite = (email: string, role = "member", headers = {}) =>
    owner.page("POST", invitations, { body: { email, role }, headers });
  const tokenFor = async (email: string, role?: string) =>
    (await invite(email, role)).json.data.link.split("#")[1] as string;
  return { owner, invite, tokenFor };
}

describe("an invitation", () => {
  test("is made by admins and shows its link once", async () => {
    const appliance = await testAppliance();
    const { owner, invite } = await inviting(appliance);
    const made = await invite("bea@team.example");
    const { link, ...shown } = made.json.data;
    expect([made.status, shown]).toEqual([
      201,
      {
        id: expect.any(String),
        email: "bea@team.example",
        role: "member",
        invitedBy: "Olga",
        createdAt: "2026-11-20T10:00:00.000Z",
        expiresAt: "2026-11-27T10:00:00.000Z",
      },
    ]);
    expect(link).toMatch(/^http:\/\/signalbox\.lan:3210\/invitation#[0-9A-Za-z]{43}$/);
    expect((await owner.page("GET", invitations)).json.data).toEqual([shown]);
    expect(dump(appliance)).not.toContain(link.split("#")[1]);
    const { page } = await member(appliance, "member");
    expect((await page("GET", invitations)).status).toBe(403);
    expect((await page("POST", invitations, { body: {} })).status).toBe(403);
  });

  test("leads to where the admin is, unless that is this machine's own address", async () => {
    const appliance = await testAppliance();
    const { invite } = await inviting(appliance);
    const { link } = (await invite("bea@team.example", "member", { Host: "192.168.1.5:3210" })).json
      .data;
    expect(link).toStartWith("http://192.168.1.5:3210/invitation#");
  });

  test("of the same address replaces the earlier one", async () => {
    const appliance = await testAppliance();
    const { owner, tokenFor } = await inviting(appliance);
    const first = await tokenFor("bea@team.example");
    await tokenFor("BEA@team.example", "viewer");
    expect((await owner.page("GET", invitations)).json.data).toHaveLength(1);
    expect((await newBrowser(appliance).post("/invitations/look", { token: first })).status).toBe(
      404,
    );
  });

  test("of a member is a conflict, and an owner is invited only by owners", async () => {
    const appliance = await testAppliance();
    const { invite } = await inviting(appliance);
    const { email, page } = await member(appliance, "admin");
    expect((await invite(email.toUpperCase())).status).toBe(409);
    const body = { email: "bea@team.example", role: "owner" };
    expect((await page("POST", invitations, { body })).status).toBe(403);
    expect((await page("POST", invitations, { body: { ...body, role: "admin" } })).status).toBe(
      201,
    );
    expect((await invite("cleo@team.example", "owner")).status).toBe(201);
  });

  test("can be taken back, by its own organization alone", async () => {
    const appliance = await testAppliance();
    const { owner, invite } = await inviting(appliance);
    const { id, link } = (await invite("bea@team.example")).json.data;
    const their = await person(appliance, appliance.theirs.id, "owner");
    const theirs = (await visitor(appliance, their.id)).page;
    expect((await theirs("DELETE", `${invitations}/${id}`)).status).toBe(404);
    expect((await theirs("GET", invitations)).json.data).toEqual([]);
    expect((await owner.page("DELETE", `${invitations}/${unknownId}`)).status).toBe(404);
    expect((await owner.page("DELETE", `${invitations}/${id}`)).status).toBe(200);
    const token = link.split("#")[1];
    expect((await newBrowser(appliance).post("/invitations/look", { token })).status).toBe(404);
  });

  test("is over after seven days, and removed", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const token = await tokenFor("bea@team.example");
    const look = () => newBrowser(appliance).post("/invitations/look", { token });
    appliance.time.now += 7 * day - 1;
    expect((await look()).status).toBe(200);
    appliance.time.now += 2;
    expect((await look()).status).toBe(404);
    await appliance.store.atomic([forgetOldInvitations(appliance.time.now)]);
    expect(dump(appliance)).not.toContain("bea@team.example");
  });

  test("that is no invitation is refused in the words of the API", async () => {
    const appliance = await testAppliance();
    const { owner } = await inviting(appliance);
    const before = dump(appliance);
    for (const body of [
      {},
      { email: "bea", role: "member" },
      { email: "bea@team.example" },
      { email: "bea@team.example", role: "root" },
      { email: ["bea@team.example"], role: "member" },
      { email: "bea@team.example", role: "member", organizationId: appliance.theirs.id },
    ])
      expect((await owner.page("POST", invitations, { body })).status).toBe(422);
    expect(dump(appliance)).toBe(before);
  });
});

describe("accepting", () => {
  test("makes somebody new, who chooses a name and a password and is signed in", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const token = await tokenFor("bea@team.example", "viewer");
    const bea = newBrowser(appliance);
    expect((await bea.post("/invitations/look", { token })).json.data).toEqual({
      organization: { name: "Ours" },
      email: "bea@team.example",
      role: "viewer",
      hasAccount: false,
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
    expect((await bea.post("/invitations/accept", { token, name: "B", password })).status).toBe(
      404,
    );
  });

  test("asks somebody new for what is missing, at its field", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const token = await tokenFor("bea@team.example");
    const bea = newBrowser(appliance);
    const wrong: [object, string][] = [
      [{ password }, "name"],
      [{ name: "Bea" }, "password"],
      [{ name: "Bea", password: "short" }, "password"],
      [{ name: "Bea", password: "bea@team.example" }, "password"],
    ];
    for (const [body, field] of wrong) {
      const { status, json } = await bea.post("/invitations/accept", { token, ...body });
      expect([status, json.error.details[0].path]).toEqual([422, field]);
    }
    expect((await bea.post("/invitations/look", { token })).status).toBe(200);
  });

  test("adds somebody known who is signed in, or who gives their password", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const known = await person(appliance, appliance.theirs.id, "owner", {
      email: "zoe@their.example",
    });
    const { page } = await visitor(appliance, known.id);
    const token = await tokenFor(known.email, "viewer");
    const looked = await newBrowser(appliance).post("/invitations/look", { token });
    expect(looked.json.data.hasAccount).toBe(true);
    const stranger = newBrowser(appliance);
    expect((await stranger.post("/invitations/accept", { token })).status).toBe(422);
    const guess = { token, password: "not my password" };
    expect((await stranger.post("/invitations/accept", guess)).status).toBe(401);
    appliance.time.now += 1;
    const signedIn = await page("POST", `${invitations}/accept`, { body: { token } });
    expect(signedIn.json.data.state).toBe("signed-in");
    const { organizations } = (await page("GET", "/dashboard/session")).json.data;
    expect(organizations.map((one: { role: string }) => one.role)).toEqual(["owner", "viewer"]);
    const other = await person(appliance, appliance.theirs.id, "viewer");
    const second = { token: await tokenFor(other.email), password };
    expect((await stranger.post("/invitations/accept", second)).json.data.state).toBe("signed-in");
    expect((await stranger.page("GET", "/session")).json.data.person.id).toBe(other.id);
  });

  test("by somebody with two-factor signs them in only with their code", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const known = await person(appliance, appliance.theirs.id, "viewer");
    appliance.database.run("UPDATE people SET totp_secret = 'sealed' WHERE id = ?", [known.id]);
    const zoe = newBrowser(appliance);
    const body = { token: await tokenFor(known.email), password };
    expect((await zoe.post("/invitations/accept", body)).json.data.state).toBe("two-factor");
    expect((await zoe.page("GET", "/people")).status).toBe(401);
  });

  test("of two at once, one joins", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    const token = await tokenFor("bea@team.example");
    const accept = (name: string) =>
      newBrowser(appliance).post("/invitations/accept", { token, name, password });
    const answers = await Promise.all([accept("Bea"), accept("Mallory")]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => [404, 409].includes(status))).toHaveLength(1);
  });

  test("a wrong token is told nothing, and can't be guessed for long", async () => {
    const appliance = await testAppliance();
    const { tokenFor } = await inviting(appliance);
    await tokenFor("bea@team.example");
    const bea = newBrowser(appliance);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push((await bea.post("/invitations/look", { token: `x${i}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), 429, 429]);
  });
});
