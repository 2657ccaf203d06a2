import { describe, expect, test } from "bun:test";
import { TOTP } from "otpauth";
import { dump, testAppliance, type TestAppliance } from "../support/appliance.ts";
import { addressOf, member, newBrowser, password, statusesOf } from "../support/visiting.ts";

const twoFactor = "/dashboard/two-factor";
const step = 30_000;

const codeAt = (secret: string, at: number) => new TOTP({ secret }).generate({ timestamp: at });

/** A person with two-factor on, who confirmed it a minute ago. */
async function guarded(appliance: TestAppliance) {
  const who = await member(appliance, "viewer");
  const { secret, uri } = (await who.page("POST", twoFactor)).json.data;
  const body = { code: codeAt(secret, appliance.time.now) };
  const confirmed = await who.page("POST", `${twoFactor}/confirm`, { body });
  const { recoveryCodes } = confirmed.json.data as { recoveryCodes: string[] };
  appliance.time.now += 2 * step;
  const code = () => codeAt(secret, appliance.time.now);
  return { ...who, secret, uri: uri as string, recoveryCodes, code };
}

describe("turning it on", () => {
  test("takes a first code of the secret, and gives ten recovery codes", async () => {
    const appliance = await testAppliance();
    const { page, uri, secret, recoveryCodes, email } = await guarded(appliance);
    expect(uri).toStartWith("otpauth://totp/Signalbox:");
    expect(decodeURIComponent(uri)).toContain(email);
    expect(uri).toContain(`secret=${secret}`);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const one of recoveryCodes) expect(one).toMatch(/^[a-z0-9]{4}(-[a-z0-9]{4}){3}$/);
    expect((await page("GET", "/dashboard/session")).json.data.person.twoFactor).toBe(true);
    expect((await page("GET", "/dashboard/people")).json.data[0].twoFactor).toBe(true);
    expect((await page("POST", twoFactor)).status).toBe(409);
  });

  test("is not done by a wrong code, nor without having begun", async () => {
    const appliance = await testAppliance();
    const { page, email } = await member(appliance, "viewer");
    const confirm = (code: string) => page("POST", `${twoFactor}/confirm`, { body: { code } });
    expect((await confirm("123456")).status).toBe(409);
    const { secret } = (await page("POST", twoFactor)).json.data;
    const now = appliance.time.now;
    for (const code of [
      codeAt(secret, now + 5 * step),
      "12345",
      "1234567",
      "abcdef",
      "１２３４５６",
    ]) {
      const { status, json } = await confirm(code);
      expect([code, status, json.error.details?.[0].path]).toEqual([code, 422, "code"]);
    }
    expect((await newBrowser(appliance).signIn(email)).json.data.state).toBe("signed-in");
  });
});

describe("signing in", () => {
  test("asks for a code next, and opens nothing before", async () => {
    const appliance = await testAppliance();
    const { email, code } = await guarded(appliance);
    const ada = newBrowser(appliance);
    expect((await ada.signIn(email)).json.data).toEqual({ state: "two-factor" });
    const waiting = ada.cookie();
    const presence = (await ada.page("GET", "/session")).json.data;
    expect(presence).toMatchObject({ state: "two-factor", person: null, organizations: [] });
    for (const path of ["/people", "/api/v1/incidents", "/sessions", "/nothing"])
      expect((await ada.page("GET", path)).status).toBe(401);
    expect((await ada.post("/sign-in/code", { code: code() })).json.data.state).toBe("signed-in");
    expect(ada.cookie()).not.toBe(waiting);
    expect((await ada.page("GET", "/people")).status).toBe(200);
  });

  test("takes the code of the step before and after, with a space as phones show it, and no other", async () => {
    const appliance = await testAppliance();
    const { email, secret } = await guarded(appliance);
    for (const [offset, status] of [
      [-2, 401],
      [2, 401],
      [-1, 200],
      [1, 200],
    ] as const) {
      const ada = newBrowser(appliance);
      await ada.signIn(email);
      const code = codeAt(secret, appliance.time.now + offset * step);
      const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
      const answer = await ada.post("/sign-in/code", { code: spaced });
      expect([offset, answer.status]).toEqual([offset, status]);
    }
  });

  test("takes a code once, also of two who give it at the same moment", async () => {
    const appliance = await testAppliance();
    const { email, code } = await guarded(appliance);
    const browsers = [newBrowser(appliance), newBrowser(appliance)];
    for (const one of browsers) await one.signIn(email);
    const answers = await Promise.all(
      browsers.map((one) => one.post("/sign-in/code", { code: code() })),
    );
    expect(statusesOf(answers)).toEqual([200, 401]);
    const late = newBrowser(appliance);
    await late.signIn(email);
    expect((await late.post("/sign-in/code", { code: code() })).status).toBe(401);
  });

  test("takes a recovery code instead, once, however it is written", async () => {
    const appliance = await testAppliance();
    const { email, recoveryCodes } = await guarded(appliance);
    const [first = "", second = ""] = recoveryCodes;
    const enter = async (code: string) => {
      const ada = newBrowser(appliance);
      await ada.signIn(email);
      return (await ada.post("/sign-in/code", { code })).status;
    };
    expect(await enter(first)).toBe(200);
    expect(await enter(first)).toBe(401);
    expect(await enter(second.replaceAll("-", " ").toUpperCase())).toBe(200);
  });

  test("waits ten minutes and five wrong codes, then the password is needed again", async () => {
    const appliance = await testAppliance({ addressOf });
    const { email, code } = await guarded(appliance);
    const late = newBrowser(appliance);
    await late.signIn(email);
    appliance.time.now += 10 * 60_000;
    expect((await late.post("/sign-in/code", { code: code() })).status).toBe(401);
    const wrong = newBrowser(appliance, "10.0.0.9");
    await wrong.signIn(email);
    for (let i = 0; i < 5; i++) await wrong.post("/sign-in/code", { code: "000000" });
    expect(await wrong.state()).toBe("signed-out");
    expect((await wrong.post("/sign-in/code", { code: code() })).status).toBe(401);
  });

  test("lets an address guess ten codes a minute", async () => {
    const appliance = await testAppliance({ addressOf });
    const { email } = await guarded(appliance);
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const guesser = newBrowser(appliance, "10.0.0.1");
      if ((await guesser.signIn(email)).status === 429) statuses.push(429);
      for (let i = 0; i < 4; i++)
        statuses.push((await guesser.post("/sign-in/code", { code: "000000" })).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
  });

  test("without a sign-in that waits, a code opens nothing", async () => {
    const appliance = await testAppliance();
    const { code, page } = await guarded(appliance);
    expect((await newBrowser(appliance).post("/sign-in/code", { code: code() })).status).toBe(401);
    const body = { code: code() };
    expect((await page("POST", "/dashboard/sign-in/code", { body })).status).toBe(401);
  });
});

describe("afterwards", () => {
  test("the password turns it off, and makes new recovery codes in place of the old ones", async () => {
    const appliance = await testAppliance();
    const { page, email, recoveryCodes } = await guarded(appliance);
    const post = (path: string, secret: string) =>
      page("POST", `${twoFactor}/${path}`, { body: { password: secret } });
    expect((await post("recovery-codes", "not my password")).status).toBe(422);
    const renewed = (await post("recovery-codes", password)).json.data.recoveryCodes;
    expect(renewed).toHaveLength(10);
    const ada = newBrowser(appliance);
    await ada.signIn(email);
    expect((await ada.post("/sign-in/code", { code: recoveryCodes[0] ?? "" })).status).toBe(401);
    expect((await ada.post("/sign-in/code", { code: renewed[0] })).status).toBe(200);
    expect((await post("disable", "not my password")).status).toBe(422);
    expect((await post("disable", password)).json.data).toEqual({ twoFactor: false });
    expect((await newBrowser(appliance).signIn(email)).json.data.state).toBe("signed-in");
    expect((await post("recovery-codes", password)).status).toBe(409);
  });

  test("neither the secret nor a recovery code is in the database or the log", async () => {
    const appliance = await testAppliance();
    const { secret, recoveryCodes } = await guarded(appliance);
    const kept = dump(appliance) + appliance.logged.join("\n");
    for (const one of [
      secret,
      ...recoveryCodes,
      ...recoveryCodes.map((c) => c.replaceAll("-", "")),
    ])
      expect(kept).not.toContain(one);
  });
});
