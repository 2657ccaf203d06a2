import { describe, expect, test } from "bun:test";
import { TOTP } from "otpauth";
import {
  type Client,
  dumpTables,
  testAppliance,
  type TestAppliance,
} from "../../support/appliance.ts";
import {
  addressOf,
  createBrowserClient,
  signInMember,
  createBrowser,
  password,
  sortStatuses,
  signInVisitor,
} from "../../support/people.ts";

const twoFactor = "/dashboard/two-factor";
const step = 30_000;

const codeAt = (secret: string, at: number) => new TOTP({ secret }).generate({ timestamp: at });

/** A person with two-factor on, who confirmed it a minute ago. */
async function createGuardedPerson(appliance: TestAppliance) {
  const viewer = await signInMember(appliance, "viewer");
  const { secret, uri } = (await viewer.page("POST", twoFactor, { body: { password } })).json.data;
  const body = { code: codeAt(secret, appliance.time.now) };
  const confirmed = await viewer.page("POST", `${twoFactor}/confirm`, { body });
  const { recoveryCodes } = confirmed.json.data as { recoveryCodes: string[] };
  appliance.time.now += 2 * step;
  const code = () => codeAt(secret, appliance.time.now);
  return { ...viewer, secret, uri: uri as string, recoveryCodes, code };
}

describe("turning it on", () => {
  test("requires a first code of the secret, and returns ten recovery codes", async () => {
    const appliance = await testAppliance();
    const { page, uri, secret, recoveryCodes, email } = await createGuardedPerson(appliance);
    expect(uri).toStartWith("otpauth://totp/Signalbox:");
    expect(decodeURIComponent(uri)).toContain(email);
    expect(uri).toContain(`secret=${secret}`);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const one of recoveryCodes) expect(one).toMatch(/^[a-z0-9]{4}(-[a-z0-9]{4}){3}$/);
    expect((await page("GET", "/dashboard/session")).json.data.person.twoFactor).toBe(true);
    expect((await page("GET", "/dashboard/people")).json.data[0].twoFactor).toBe(true);
    expect((await page("POST", twoFactor, { body: { password } })).status).toBe(409);
  });

  test("requires the password, ends all other sessions and renews this one", async () => {
    const appliance = await testAppliance({ attemptsPerMinute: 2 });
    const viewer = await signInMember(appliance, "viewer");
    const other = await signInVisitor(appliance, viewer.id);
    const begin = (body?: object) => viewer.page("POST", twoFactor, { ...(body && { body }) });
    const before = dumpTables(appliance);
    expect((await begin()).status).toBe(415);
    for (const body of [{}, { password: "" }, { password: "not my password" }]) {
      const { status, json } = await begin(body);
      expect([status, json.error.details[0].path]).toEqual([422, "password"]);
    }
    expect(dumpTables(appliance)).toBe(before);
    const { secret } = (await begin({ password })).json.data;
    const body = { code: codeAt(secret, appliance.time.now) };
    expect((await viewer.page("POST", `${twoFactor}/confirm`, { body })).status).toBe(200);
    expect((await other.page("GET", "/dashboard/people")).status).toBe(401);
    expect(
      (await createBrowserClient(appliance, viewer.cookie)("GET", "/dashboard/people")).status,
    ).toBe(401);
    expect((await viewer.page("GET", "/dashboard/people")).status).toBe(200);
  });

  test("fails with a wrong code, and without a new secret", async () => {
    const appliance = await testAppliance();
    const { page, email } = await signInMember(appliance, "viewer");
    const confirm = (code: string) => page("POST", `${twoFactor}/confirm`, { body: { code } });
    expect((await confirm("123456")).status).toBe(409);
    const { secret } = (await page("POST", twoFactor, { body: { password } })).json.data;
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
      expect(json.error.message.includes("clock")).toBe(/^[0-9]{6}$/.test(code));
    }
    expect((await createBrowser(appliance).signIn(email)).json.data.state).toBe("signed-in");
  });
});

describe("signing in", () => {
  test("then requires a code, and opens nothing before", async () => {
    const appliance = await testAppliance();
    const { email, code } = await createGuardedPerson(appliance);
    const ada = createBrowser(appliance);
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

  test("accepts the codes of the previous and next step, with a space as phones show it, and no others", async () => {
    const appliance = await testAppliance();
    const { email, secret } = await createGuardedPerson(appliance);
    for (const [offset, status] of [
      [-2, 401],
      [2, 401],
      [-1, 200],
      [1, 200],
    ] as const) {
      const ada = createBrowser(appliance);
      await ada.signIn(email);
      const code = codeAt(secret, appliance.time.now + offset * step);
      const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
      const response = await ada.post("/sign-in/code", { code: spaced });
      expect([offset, response.status]).toEqual([offset, status]);
    }
  });

  test("accepts a code once, also from two concurrent requests", async () => {
    const appliance = await testAppliance();
    const { email, code } = await createGuardedPerson(appliance);
    const browsers = [createBrowser(appliance), createBrowser(appliance)];
    for (const one of browsers) await one.signIn(email);
    const responses = await Promise.all(
      browsers.map((one) => one.post("/sign-in/code", { code: code() })),
    );
    expect(sortStatuses(responses)).toEqual([200, 401]);
    const late = createBrowser(appliance);
    await late.signIn(email);
    expect((await late.post("/sign-in/code", { code: code() })).status).toBe(401);
  });

  const dayMs = 86_400_000;

  async function enterCodeAs(appliance: TestAppliance, email: string, code: string) {
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    const { status, json } = await ada.post("/sign-in/code", { code });
    return { status, message: (json.error?.message ?? "") as string };
  }

  test.each([1, 400, 3650])(
    "accepts codes again after a sign-in with a clock %d days ahead",
    async (days) => {
      const appliance = await testAppliance();
      const { email, code } = await createGuardedPerson(appliance);
      appliance.time.now += days * dayMs;
      const codeOfWrongClock = code();
      expect((await enterCodeAs(appliance, email, codeOfWrongClock)).status).toBe(200);
      appliance.time.now -= days * dayMs;
      expect((await enterCodeAs(appliance, email, codeOfWrongClock)).status).toBe(401);
      for (let time = 0; time < 3; time++) {
        const fresh = code();
        expect((await enterCodeAs(appliance, email, fresh)).status).toBe(200);
        expect((await enterCodeAs(appliance, email, fresh)).status).toBe(401);
        appliance.time.now += 2 * step;
      }
    },
  );

  test("accepts a code once, also from two concurrent requests, after a clock was ahead", async () => {
    const appliance = await testAppliance();
    const { email, code } = await createGuardedPerson(appliance);
    appliance.time.now += dayMs;
    expect((await enterCodeAs(appliance, email, code())).status).toBe(200);
    appliance.time.now -= dayMs;
    const browsers = [createBrowser(appliance), createBrowser(appliance)];
    for (const one of browsers) await one.signIn(email);
    const responses = await Promise.all(
      browsers.map((one) => one.post("/sign-in/code", { code: code() })),
    );
    expect(sortStatuses(responses)).toEqual([200, 401]);
  });

  test("mentions the clock if a code is right a few minutes off, and counts it as wrong", async () => {
    const appliance = await testAppliance({ attemptsPerMinute: 3 });
    const { email, secret } = await createGuardedPerson(appliance);
    appliance.time.now += 30 * step;
    const browsers = Array.from({ length: 5 }, () => createBrowser(appliance));
    for (const one of browsers) await one.signIn(email);
    const enter = async (offset: number) => {
      const code = codeAt(secret, appliance.time.now + offset * step);
      const response = await browsers.shift()?.post("/sign-in/code", { code });
      return { status: response?.status, message: response?.json.error.message as string };
    };
    for (const [offset, minutes] of [
      [3, 2],
      [-10, 5],
      [20, 10],
    ] as const) {
      const { status, message } = await enter(offset);
      expect([status, message]).toEqual([
        401,
        `This code is for another time: the clock of this server and that of your authenticator differ by about ${minutes} min. Set the clocks, then enter a new code.`,
      ]);
    }
    expect((await enter(3)).status).toBe(429);
    appliance.time.now += 60_000;
    expect((await enter(200)).message).toBe("This code is wrong or has already been used.");
  });

  test("rejects a code at its later time after the message called it right", async () => {
    const appliance = await testAppliance();
    const { email, secret } = await createGuardedPerson(appliance);
    const later = codeAt(secret, appliance.time.now + 4 * step);
    expect((await enterCodeAs(appliance, email, later)).message).toContain("clock");
    expect((await enterCodeAs(appliance, email, later)).message).not.toContain("clock");
    appliance.time.now += 4 * step;
    expect((await enterCodeAs(appliance, email, later)).status).toBe(401);
    const next = codeAt(secret, appliance.time.now + step);
    expect((await enterCodeAs(appliance, email, next)).status).toBe(200);
  });

  test("does not mention the clock if a code was used a few minutes ago", async () => {
    const appliance = await testAppliance();
    const { email, code } = await createGuardedPerson(appliance);
    const used = code();
    expect((await enterCodeAs(appliance, email, used)).status).toBe(200);
    appliance.time.now += 5 * step;
    const { message } = await enterCodeAs(appliance, email, used);
    expect(message).toBe("This code is wrong or has already been used.");
  });

  test("accepts a recovery code instead, once, in any spelling", async () => {
    const appliance = await testAppliance();
    const { email, recoveryCodes } = await createGuardedPerson(appliance);
    const [first = "", second = ""] = recoveryCodes;
    const enter = async (code: string) => {
      const ada = createBrowser(appliance);
      await ada.signIn(email);
      return (await ada.post("/sign-in/code", { code })).status;
    };
    expect(await enter(first)).toBe(200);
    expect(await enter(first)).toBe(401);
    expect(await enter(second.replaceAll("-", " ").toUpperCase())).toBe(200);
  });

  test("waits for ten minutes or five wrong codes, then requires the password again", async () => {
    const appliance = await testAppliance({ addressOf });
    const { email, code } = await createGuardedPerson(appliance);
    const late = createBrowser(appliance);
    await late.signIn(email);
    appliance.time.now += 10 * 60_000;
    expect((await late.post("/sign-in/code", { code: code() })).status).toBe(401);
    const wrong = createBrowser(appliance, "10.0.0.9");
    await wrong.signIn(email);
    for (let i = 0; i < 5; i++) await wrong.post("/sign-in/code", { code: "000000" });
    expect(await wrong.state()).toBe("signed-out");
    expect((await wrong.post("/sign-in/code", { code: code() })).status).toBe(401);
  });

  test("without a waiting sign-in, a code opens nothing", async () => {
    const appliance = await testAppliance();
    const { code, page } = await createGuardedPerson(appliance);
    expect((await createBrowser(appliance).post("/sign-in/code", { code: code() })).status).toBe(
      401,
    );
    const body = { code: code() };
    expect((await page("POST", "/dashboard/sign-in/code", { body })).status).toBe(401);
  });
});

/** Signs in with the password, so that only the code is missing, from this address. */
async function setUpWaiting(appliance: TestAppliance, personId: string, address: string) {
  const { page } = await signInVisitor(appliance, personId, { stage: "two-factor", address });
  const enter = (code: string) => page("POST", "/dashboard/sign-in/code", { body: { code } });
  return { page, enter };
}

describe("wrong codes", () => {
  const wrong = "000000";

  test("are counted per person across addresses: of 120 from 12 addresses at once, five are judged", async () => {
    const appliance = await testAppliance({ addressOf });
    const { id, recoveryCodes } = await createGuardedPerson(appliance);
    const those = await Promise.all(
      Array.from({ length: 24 }, (_, index) => setUpWaiting(appliance, id, `10.0.${index % 12}.1`)),
    );
    const guesses = those.flatMap(({ enter }) =>
      [wrong, wrong, "aaaa-bbbb", wrong, wrong].map(enter),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(115);
    // A right code is not judged in the meantime, and the response does not reveal that it is right.
    const refused = await (
      await setUpWaiting(appliance, id, "10.1.0.1")
    ).enter(recoveryCodes[0] ?? "");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  });

  test("double the wait each time, up to 15 minutes", async () => {
    const appliance = await testAppliance({ addressOf });
    const { id } = await createGuardedPerson(appliance);
    const waits: number[] = [];
    for (let i = 0; waits.length < 12; i++) {
      const enter = async () => (await setUpWaiting(appliance, id, `10.${i}.0.1`)).enter(wrong);
      const { status, headers } = await enter();
      if (status === 401) continue;
      waits.push(Number(headers.get("retry-after")));
      appliance.time.now += Number(headers.get("retry-after")) * 1000;
      expect((await enter()).status).toBe(401);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  test("of strangers never lock the person out on a known network, and elsewhere only briefly", async () => {
    const appliance = await testAppliance({ addressOf });
    const { id, code } = await createGuardedPerson(appliance);
    const guess = async (index: number) => {
      const { enter } = await setUpWaiting(appliance, id, `10.0.${index % 12}.1`);
      return enter(wrong);
    };
    for (let i = 0; i < 12; i++) {
      appliance.time.now += 1_000_000;
      expect((await guess(i)).status).toBe(401);
    }
    // The person has a session at 127.0.0.1.
    const home = await setUpWaiting(appliance, id, "127.0.0.1");
    expect((await home.enter(code())).status).toBe(200);
    appliance.database.query("DELETE FROM sessions WHERE person_id = ?").run(id);
    // From another network the person precedes all failed clients as soon as the wait is over.
    const away = await setUpWaiting(appliance, id, "10.9.0.1");
    const { status, headers } = await away.enter(code());
    expect(status).toBe(429);
    appliance.time.now += Number(headers.get("retry-after")) * 1000;
    for (let i = 0; i < 12; i++) expect((await guess(i)).status).toBe(429);
    expect((await away.enter(code())).status).toBe(200);
  });

  test("are in the audit log of the person's organizations, and reported to the person until dismissed", async () => {
    const appliance = await testAppliance({ addressOf });
    const viewer = await createGuardedPerson(appliance);
    const summarize = async (page: Client = viewer.page) =>
      (await page("GET", "/dashboard/session")).json.data.person.wrongCodes;
    expect(await summarize()).toBeNull();
    const { enter } = await setUpWaiting(appliance, viewer.id, "10.0.0.1");
    const since = new Date(appliance.time.now).toISOString();
    for (let i = 0; i < 3; i++) {
      await enter(wrong);
      if (i < 2) appliance.time.now += 1_000;
    }
    const lastAt = new Date(appliance.time.now).toISOString();
    expect(await summarize()).toEqual({ count: 3, since, lastAt, lastFrom: "10.0.0.1" });
    const entries = appliance.database.query(
      "SELECT actor_type, actor_name FROM audit_entries WHERE action = 'person.code-refused' AND organization_id = ? AND subject_id = ?",
    );
    expect(entries.values(appliance.ours.id, viewer.id)).toEqual(
      Array.from({ length: 3 }, () => ["visitor", "a person at 10.0.0.1"]),
    );
    // Their own mistake during a completed sign-in is not reported.
    const ownNetwork = await setUpWaiting(appliance, viewer.id, "127.0.0.1");
    await ownNetwork.enter(wrong);
    expect(await summarize()).toMatchObject({ count: 4 });
    expect((await ownNetwork.enter(viewer.code())).status).toBe(200);
    expect(await summarize(ownNetwork.page)).toMatchObject({ count: 3, since, lastFrom: null });
    await ownNetwork.page("POST", "/dashboard/profile/wrong-codes/acknowledge");
    expect(await summarize()).toBeNull();
  });
});

describe("afterwards", () => {
  test("the password turns it off, and replaces the recovery codes", async () => {
    const appliance = await testAppliance();
    const { page, email, recoveryCodes } = await createGuardedPerson(appliance);
    const post = (path: string, secret: string) =>
      page("POST", `${twoFactor}/${path}`, { body: { password: secret } });
    expect((await post("recovery-codes", "not my password")).status).toBe(422);
    const renewed = (await post("recovery-codes", password)).json.data.recoveryCodes;
    expect(renewed).toHaveLength(10);
    const ada = createBrowser(appliance);
    await ada.signIn(email);
    expect((await ada.post("/sign-in/code", { code: recoveryCodes[0] ?? "" })).status).toBe(401);
    expect((await ada.post("/sign-in/code", { code: renewed[0] })).status).toBe(200);
    expect((await post("disable", "not my password")).status).toBe(422);
    expect((await post("disable", password)).json.data).toEqual({ twoFactor: false });
    expect((await createBrowser(appliance).signIn(email)).json.data.state).toBe("signed-in");
    expect((await post("recovery-codes", password)).status).toBe(409);
  });

  test("neither the secret nor a recovery code is in the database or the log", async () => {
    const appliance = await testAppliance();
    const { secret, recoveryCodes } = await createGuardedPerson(appliance);
    const stored = dumpTables(appliance) + appliance.logged.join("\n");
    for (const one of [
      secret,
      ...recoveryCodes,
      ...recoveryCodes.map((c) => c.replaceAll("-", "")),
    ])
      expect(stored).not.toContain(one);
  });
});
