import { describe, expect, spyOn, test } from "bun:test";
import crypto from "node:crypto";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import {
  createBrowserClient,
  signInMember,
  createBrowser,
  password,
  createPerson,
  sortStatuses,
  signInVisitor,
} from "../../support/people.ts";

const profile = "/dashboard/profile";

test("people can change their name, and with their password the address that they sign in with", async () => {
  const appliance = await testAppliance();
  const { page, id, email } = await signInMember(appliance, "viewer");
  expect((await page("PATCH", profile, { body: { name: "A", email } })).status).toBe(200);
  const body = { name: "Ada", email: "ada@new.example" };
  const { status, json } = await page("PATCH", profile, { body: { ...body, password } });
  expect([status, json.data]).toEqual([
    200,
    {
      id,
      ...body,
      twoFactor: false,
      timeZone: null,
      hourCycle: "h23",
      language: null,
      administrator: false,
    },
  ]);
  expect((await page("GET", "/dashboard/session")).json.data.person).toMatchObject(json.data);
  expect((await createBrowser(appliance).signIn("ADA@new.example")).status).toBe(200);
});

test("people can choose a time zone; the default is the organization's", async () => {
  const { page } = await signInMember(await testAppliance(), "viewer");
  const zoneOf = async () => (await page("GET", "/dashboard/session")).json.data.person.timeZone;
  expect(await zoneOf()).toBeNull();
  for (const timeZone of ["Asia/Tokyo", null]) {
    expect((await page("PATCH", profile, { body: { timeZone } })).status).toBe(200);
    expect(await zoneOf()).toBe(timeZone);
  }
  const refused = await page("PATCH", profile, { body: { timeZone: "Mars/Base" } });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "timeZone"]);
});

test("people can choose a 12-hour clock; the default has 24 hours", async () => {
  const { page } = await signInMember(await testAppliance(), "viewer");
  const clockOf = async () => (await page("GET", "/dashboard/session")).json.data.person.hourCycle;
  expect(await clockOf()).toBe("h23");
  expect((await page("PATCH", profile, { body: { hourCycle: "h12" } })).status).toBe(200);
  expect(await clockOf()).toBe("h12");
  const refused = await page("PATCH", profile, { body: { hourCycle: "h11" } });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "hourCycle"]);
});

test("people can choose the language of the admin page, which their browser stores", async () => {
  const { page } = await signInMember(await testAppliance(), "viewer");
  const readSession = async () => {
    const { json, headers } = await page("GET", "/dashboard/session");
    const { languageChanged, person } = json.data;
    return [person.language, languageChanged, headers.get("set-cookie")];
  };
  expect(await readSession()).toEqual([null, false, null]);
  const stored = await page("PATCH", profile, { body: { language: "de" } });
  const cookie = "signalbox_language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax";
  expect([stored.status, stored.headers.get("set-cookie")]).toEqual([200, cookie]);
  // The test's browser stores only the session's cookie, as a new browser does.
  expect(await readSession()).toEqual(["de", true, cookie]);
  expect((await page("PATCH", profile, { body: { language: null } })).status).toBe(200);
  expect(await readSession()).toEqual([null, false, null]);
  const refused = await page("PATCH", profile, { body: { language: "fr" } });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "language"]);
});

test("changing the address requires the password, and guessing is limited", async () => {
  const appliance = await testAppliance({ attemptsPerMinute: 2 });
  const { page } = await signInMember(appliance, "viewer");
  const before = dumpTables(appliance);
  const request = (more: object) =>
    page("PATCH", profile, { body: { email: "ada@new.example", ...more } });
  const missing = await request({});
  expect([missing.status, missing.json.error.details[0].path]).toEqual([422, "password"]);
  const wrong = await request({ password: "not my password" });
  expect([wrong.status, wrong.json.error.details[0]]).toEqual([
    422,
    { path: "password", message: "is not your password" },
  ]);
  await request({ password: "not my password" });
  expect((await request({ password })).status).toBe(429);
  expect(dumpTables(appliance)).toBe(before);
});

test("an address of another member is a conflict, and the same address in capitals is not", async () => {
  const appliance = await testAppliance();
  const one = await signInMember(appliance, "viewer", { email: "one@team.example" });
  const other = await signInMember(appliance, "viewer", { email: "two@team.example" });
  const change = (page: typeof one.page, email: string) =>
    page("PATCH", profile, { body: { email, password } });
  expect((await change(one.page, "TWO@team.example")).status).toBe(409);
  expect((await change(one.page, "ONE@team.example")).status).toBe(200);
  const both = await Promise.all([
    change(one.page, "new@team.example"),
    change(other.page, "new@team.example"),
  ]);
  expect(sortStatuses(both)).toEqual([200, 409]);
});

test("an address from another organization is accepted like any other, and reveals nothing", async () => {
  const appliance = await testAppliance();
  const { email: taken } = await createPerson(appliance, appliance.theirs.id, "owner");
  const argon2 = spyOn(crypto, "argon2");
  const changeAddress = async (email: string) => {
    const mallory = await signInMember(appliance, "viewer", { name: "Mallory" });
    const chosen = { current: password, password: `${mallory.id} is mine` };
    await mallory.page("POST", `${profile}/password`, { body: chosen });
    argon2.mockClear();
    const body = { email, password: chosen.password };
    const { status, json } = await mallory.page("PATCH", profile, { body });
    const work = argon2.mock.calls.length;
    const again = createBrowser(appliance);
    await again.signIn(email, chosen.password);
    const { person } = (await again.page("GET", "/session")).json.data;
    argon2.mockClear();
    const wrong = await createBrowser(appliance).signIn(email, "a wrong password");
    return [
      { ...json.data, id: "", email: "" },
      [status, work, person.id === mallory.id, json.data.email === email],
      [wrong.status, argon2.mock.calls.length],
    ];
  };
  const free = await changeAddress("free@new.example");
  expect(free[1]).toEqual([200, 2, true, true]);
  expect(free[2]).toEqual([401, 1]);
  expect(await changeAddress(taken)).toEqual(free);
  argon2.mockRestore();
  expect((await createBrowser(appliance).signIn(taken)).status).toBe(200);
});

test("two people with one address need different passwords, and an attempt with the other's counts as a guess", async () => {
  const appliance = await testAppliance({ attemptsPerMinute: 2 });
  const theirs = await createPerson(appliance, appliance.theirs.id, "owner");
  const { page } = await signInMember(appliance, "viewer");
  const take = () => page("PATCH", profile, { body: { email: theirs.email, password } });
  const { status, json } = await take();
  expect([status, json.error.details[0].path]).toEqual([422, "password"]);
  expect([(await take()).status, (await take()).status]).toEqual([422, 429]);
});

test("changing one's password can't find another person's with the same address", async () => {
  const appliance = await testAppliance({ attemptsPerMinute: 5 });
  const { page, email } = await signInMember(appliance, "viewer");
  await createPerson(appliance, appliance.theirs.id, "owner", { email });
  const statuses: number[] = [];
  let current = password;
  for (const next of ["the first long try", "the second long try", "the third long try"]) {
    const { status } = await page("POST", `${profile}/password`, {
      body: { current, password: next },
    });
    statuses.push(status);
    if (status === 200) current = next;
  }
  for (let guess = 0; guess < 4; guess++)
    statuses.push(
      (await page("POST", `${profile}/password`, { body: { current, password } })).status,
    );
  expect(statuses).toEqual([200, 200, 200, 422, 422, 429, 429]);
});

test("an invalid profile is rejected and changes nothing", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "viewer");
  const before = dumpTables(appliance);
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
  expect(dumpTables(appliance)).toBe(before);
});

describe("a new password", () => {
  const chosen = "another long password";

  test("requires the current one, and ends all other sessions", async () => {
    const appliance = await testAppliance();
    const { page, id, email, cookie } = await signInMember(appliance, "viewer");
    appliance.time.now += 5_000;
    const other = await signInVisitor(appliance, id);
    const body = { current: password, password: chosen };
    expect((await page("POST", `${profile}/password`, { body })).status).toBe(200);
    expect((await other.page("GET", "/dashboard/people")).status).toBe(401);
    expect((await page("GET", "/dashboard/people")).status).toBe(200);
    // A copy of the cookie is invalid now, and the session keeps its start time.
    expect((await createBrowserClient(appliance, cookie)("GET", "/dashboard/people")).status).toBe(
      401,
    );
    const sessions = (await page("GET", "/dashboard/sessions")).json.data;
    expect(sessions).toMatchObject([{ current: true, createdAt: "2026-11-20T10:00:00.000Z" }]);
    expect((await createBrowser(appliance).signIn(email)).status).toBe(401);
    expect((await createBrowser(appliance).signIn(email, chosen)).status).toBe(200);
  });

  test("is rejected at its field if the current one is wrong or the new one is common", async () => {
    const appliance = await testAppliance();
    const { page, email } = await signInMember(appliance, "viewer");
    const before = dumpTables(appliance);
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
    expect(dumpTables(appliance)).toBe(before);
  });

  test("can't be guessed for long in a borrowed browser", async () => {
    const appliance = await testAppliance({ attemptsPerMinute: 2 });
    const { page } = await signInMember(appliance, "viewer");
    const body = { current: "not my password", password: chosen };
    const guess = () => page("POST", `${profile}/password`, { body });
    const statuses = (await Promise.all(Array.from({ length: 4 }, guess))).map((a) => a.status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});
