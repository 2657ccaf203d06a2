import { expect, test } from "bun:test";
import { TOTP } from "otpauth";
import { dashboard } from "../../support/routes.ts";
import type { Route } from "../../../src/http/openapi.ts";
import { dumpTables, setUpToken, testAppliance } from "../../support/appliance.ts";
import { createBrowser } from "../../support/people.ts";

const extractToken = (link: string) => link.split("#")[1] ?? "";

test("passwords, tokens, cookies, codes and keys are only in the response that creates them", async () => {
  const appliance = await testAppliance({ attemptsPerMinute: 100 });
  const { time } = appliance;
  const first = "CANARY first password";
  const second = "CANARY second password";
  const wrong = "CANARY wrong password";
  const canaries = ["CANARY", setUpToken];
  const keep = <T extends string>(secret: T | null) => {
    if (secret !== null) canaries.push(secret);
    return secret ?? ("" as T);
  };
  const responses: string[] = [];

  const ada = createBrowser(appliance);
  const email = "ada@team.example";
  const print = async (path: string, body?: object) => {
    const { json, text } = await ada.post(path, body);
    responses.push(text);
    keep((ada.cookie() ?? "").split("=")[1] ?? null);
    return json.data;
  };
  await print("/set-up", {
    token: setUpToken,
    organization: "Acme",
    name: "Ada",
    email,
    password: first,
  });
  await print("/profile/password", { current: wrong, password: second });
  await print("/profile/password", { current: first, password: second });
  await print("/sign-out");
  await print("/sign-in", { email, password: wrong });
  await print("/sign-in", { email, password: second });
  await print("/sign-in", { email: wrong, password: wrong, more: wrong });
  await print("/set-up", {
    token: `${setUpToken}x`,
    organization: "B",
    name: "B",
    email,
    password: wrong,
  });
  expect(responses.filter((text) => canaries.some((one) => text.includes(one)))).toEqual([]);

  const { secret } = await print("/two-factor", { password: second });
  const { recoveryCodes } = await print("/two-factor/confirm", {
    code: new TOTP({ secret }).generate({ timestamp: time.now }),
  });
  const { link } = await print("/invitations", { email: "bea@team.example", role: "viewer" });
  const { key } = await print("/api-keys", { name: "Deploy" });
  for (const one of [secret, ...recoveryCodes, extractToken(link), key]) keep(one as string);
  await print("/invitations/look", { token: extractToken(link) });
  expect(canaries.length).toBeGreaterThan(15);
  expect(new Set(canaries).has("")).toBe(false);

  const routes = (dashboard.routes as unknown as Route[]).filter(({ method }) => method === "GET");
  const lists = routes.filter(({ path, hooks }) => {
    const { streams, bytes, query } = hooks.detail?.endpoint ?? {};
    const asksForMore = query?.safeParse({}).success === false;
    // Without Chromium, a PDF can't be printed.
    const isPrinted = bytes === "application/pdf";
    return !path.includes(":id") && streams === undefined && !isPrinted && !asksForMore;
  });
  expect(lists.length).toBeGreaterThan(12);
  for (const { path } of lists) {
    const { status, text } = await ada.page("GET", path.replace("/dashboard", ""));
    expect([path, status]).toEqual([path, 200]);
    expect([path, canaries.filter((one) => text.includes(one))]).toEqual([path, []]);
  }
  const stored = dumpTables(appliance) + appliance.logged.join("\n");
  const bytes = Buffer.from(appliance.database.serialize());
  expect(canaries.filter((one) => stored.includes(one) || bytes.includes(one))).toEqual([]);
});
