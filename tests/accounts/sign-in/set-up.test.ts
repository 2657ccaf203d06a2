import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSetUp, closeSetUp } from "../../../src/accounts/sign-in/set-up.ts";
import { dumpTables, setUpToken, testAppliance } from "../../support/appliance.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import {
  addressOf,
  createBrowser,
  password,
  createPerson,
  sortStatuses,
} from "../../support/people.ts";

const claim = {
  token: setUpToken,
  organization: "Acme",
  name: "Ada",
  email: "ada@acme.example",
  password,
};

describe("the first run", () => {
  test("the token creates an organization and signs its owner in", async () => {
    const appliance = await testAppliance();
    const ada = createBrowser(appliance);
    expect(await ada.state()).toBe("set-up");
    const { status, json, headers } = await ada.post("/set-up", {
      ...claim,
      timeZone: "Europe/Berlin",
    });
    expect([status, json, headers.get("location")]).toEqual([
      201,
      { data: { state: "signed-in" } },
      null,
    ]);
    const { data } = (await ada.page("GET", "/session")).json;
    expect(data).toMatchObject({
      state: "signed-in",
      person: { name: "Ada", email: "ada@acme.example" },
      organizations: [{ slug: "acme", name: "Acme", timeZone: "Europe/Berlin", role: "owner" }],
    });
    expect((await ada.page("GET", "/people")).json.data).toHaveLength(1);
  });

  test("set-up works only before the first account", async () => {
    const appliance = await testAppliance();
    await createPerson(appliance, appliance.ours.id, "viewer");
    const page = createBrowser(appliance);
    expect(await page.state()).toBe("signed-out");
    const before = dumpTables(appliance);
    const { status, json } = await page.post("/set-up", claim);
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("of two concurrent claims one succeeds, and the other leaves nothing behind", async () => {
    const appliance = await testAppliance();
    const responses = await Promise.all(
      ["Acme", "Rivals"].map((organization) =>
        createBrowser(appliance).post("/set-up", { ...claim, organization }),
      ),
    );
    expect(sortStatuses(responses)).toEqual([201, 409]);
    const count = (table: string) =>
      appliance.database.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0];
    expect([count("people"), count("organizations"), count("sessions")]).toEqual([1, 3, 1]);
  });

  test("a wrong token claims nothing, and ten attempts a minute are the limit", async () => {
    const appliance = await testAppliance({ addressOf });
    const page = createBrowser(appliance, "10.0.0.1");
    const before = dumpTables(appliance);
    for (let i = 0; i < 10; i++) {
      const { status, text } = await page.post("/set-up", { ...claim, token: "b".repeat(43) });
      expect([status, text.includes(claim.password)]).toEqual([403, false]);
    }
    expect((await page.post("/set-up", claim)).status).toBe(429);
    expect(dumpTables(appliance)).toBe(before);
    expect((await createBrowser(appliance, "10.0.0.2").post("/set-up", claim)).status).toBe(201);
  });

  test("the token is valid for 30 minutes", async () => {
    const appliance = await testAppliance();
    appliance.time.now += 30 * 60_000;
    const { status, json } = await createBrowser(appliance).post("/set-up", claim);
    expect([status, json.error.message]).toEqual([
      403,
      expect.stringContaining("Restart Signalbox"),
    ]);
  });

  test("a common password is rejected at its field", async () => {
    const appliance = await testAppliance();
    const page = createBrowser(appliance);
    const bad = [
      "short",
      "ada@acme.example",
      "ADA@acme.example",
      "password123",
      "1111111111",
      "abababababab",
      "x".repeat(201),
      "          ",
    ];
    for (const secret of bad) {
      const { status, json } = await page.post("/set-up", { ...claim, password: secret });
      expect([secret, status, json.error.details[0]?.path]).toEqual([secret, 422, "password"]);
    }
    const named = { ...claim, organization: "Acme and sons", password: "acme and SONS" };
    expect((await page.post("/set-up", named)).status).toBe(422);
    expect(await page.state()).toBe("set-up");
  });
});

describe("the token's file", () => {
  const newDirectory = createScratch();

  test("is readable only by its owner, and removed with the token", () => {
    const directory = newDirectory();
    const file = join(directory, "set-up-token");
    const setUp = createSetUp(directory, Date.now);
    expect(readFileSync(file, "utf8")).toBe(`${setUp.token}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([setUp.isToken(setUp.token), setUp.isToken(`${setUp.token}x`)]).toEqual([true, false]);
    setUp.endSetUp();
    expect([existsSync(file), setUp.isToken(setUp.token)]).toEqual([false, false]);
  });

  test("each start has a new token, and an appliance with accounts has none", () => {
    const directory = newDirectory();
    const [first, second] = [createSetUp(directory, Date.now), createSetUp(directory, Date.now)];
    expect(second.token).not.toBe(first.token);
    expect(second.isToken(first.token)).toBe(false);
    expect(closeSetUp(directory).isToken(second.token)).toBe(false);
    expect(existsSync(join(directory, "set-up-token"))).toBe(false);
  });
});
