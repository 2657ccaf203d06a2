import { describe, expect, test } from "bun:test";
import { dump, testAppliance } from "../support/appliance.ts";
import { member, newBrowser, password, statusesOf, visitor } from "../support/visiting.ts";

const profile = "/dashboard/profile";

test("one's own name and address can be changed, and the new address signs in", async () => {
  const appliance = await testAppliance();
  const { page, id } = await member(appliance, "viewer");
  const body = { name: "Ada", email: "ada@new.example" };
  const { status, json } = await page("PATCH", profile, { body });
  expect([status, json.data]).toEqual([200, { id, ...body, twoFactor: false }]);
  expect((await page("GET", "/dashboard/session")).json.data.person).toEqual(json.data);
  expect((await newBrowser(appliance).signIn("ADA@new.example")).status).toBe(200);
});

test("an address that somebody else signs in with is a conflict, one's own in capitals is not", async () => {
  const appliance = await testAppliance();
  const one = await member(appliance, "viewer", { email: "one@team.example" });
  const other = await member(appliance, "viewer", { email: "two@team.example" });
  const change = (page: typeof one.page, email: string) =>
    page("PATCH", profile, { body: { email } });
  expect((await change(one.page, "TWO@team.example")).status).toBe(409);
  expect((await change(one.page, "ONE@team.example")).status).toBe(200);
  const both = await Promise.all([
    change(one.page, "new@team.example"),
    change(other.page, "new@team.example"),
  ]);
  expect(statusesOf(both)).toEqual([200, 409]);
});

test("what is no profile is refused, and changes nothing", async () => {
  const appliance = await testAppliance();
  const { page } = await member(appliance, "viewer");
  const before = dump(appliance);
  for (const body of [
    { name: "" },
    { name: "\u200b" },
    { name: "x".repeat(101) },
    { email: "nobody" },
    { email: "a@b.example\r\nBcc: c@d.example" },
    { name: null },
    { role: "owner" },
    { passwordHash: "x" },
  ])
    expect([JSON.stringify(body), (await page("PATCH", profile, { body })).status]).toEqual([
      JSON.stringify(body),
      422,
    ]);
  expect(dump(appliance)).toBe(before);
});

describe("a new password", () => {
  const chosen = "another long password";

  test("takes the current one, and ends all other sessions", async () => {
    const appliance = await testAppliance();
    const { page, id, email } = await member(appliance, "viewer");
    const other = await visitor(appliance, id);
    const body = { current: password, password: chosen };
    expect((await page("POST", `${profile}/password`, { body })).status).toBe(200);
    expect((await other.page("GET", "/dashboard/people")).status).toBe(401);
    expect((await page("GET", "/dashboard/people")).status).toBe(200);
    expect((await newBrowser(appliance).signIn(email)).status).toBe(401);
    expect((await newBrowser(appliance).signIn(email, chosen)).status).toBe(200);
  });

  test("is refused at its field: a wrong current one, one that anybody would try", async () => {
    const appliance = await testAppliance();
    const { page, email } = await member(appliance, "viewer");
    const before = dump(appliance);
    const wrong: [object, string][] = [
      [{ current: "not my password", password: chosen }, "current"],
      [{ current: password, password: "short" }, "password"],
      [{ current: password, password: email }, "password"],
      [{ current: password, password: "qwertyuiop" }, "password"],
    ];
    for (const [body, field] of wrong) {
      const { status, json, text } = await page("POST", `${profile}/password`, { body });
      expect([status, json.error.details[0].path]).toEqual([422, field]);
      expect(text).not.toContain(chosen);
    }
    expect(dump(appliance)).toBe(before);
  });

  test("of a borrowed browser can't be guessed for long", async () => {
    const appliance = await testAppliance({ guessesPerMinute: 2 });
    const { page } = await member(appliance, "viewer");
    const body = { current: "not my password", password: chosen };
    const guess = () => page("POST", `${profile}/password`, { body });
    const statuses = (await Promise.all(Array.from({ length: 4 }, guess))).map((a) => a.status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});

describe("a further organization", () => {
  test("belongs to whoever makes it, and is one of theirs from then on", async () => {
    const appliance = await testAppliance();
    const { page } = await member(appliance, "viewer");
    const made = await page("POST", "/dashboard/organizations", { body: { name: "Side job" } });
    const { id } = made.json.data;
    expect([made.status, made.json.data]).toEqual([
      201,
      { id, slug: "side-job", name: "Side job", timeZone: "UTC", role: "owner" },
    ]);
    const headers = { "X-Organization": id };
    const created = await page("POST", "/dashboard/api/v1/incidents", {
      body: { title: "Slow" },
      headers,
    });
    expect(created.status).toBe(201);
    expect((await appliance.ours.api("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
    const log = await page("GET", "/dashboard/audit-log", { headers });
    expect(log.json.data.at(-1)).toMatchObject({
      action: "organization.created",
      actor: { type: "person" },
      subjectName: "Side job",
    });
  });
});
