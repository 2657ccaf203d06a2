import { expect, test } from "bun:test";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import { signInMember } from "../../support/people.ts";

const organization = "/dashboard/organization";

test("every role reads the organization, admins change its name, time zone and target; its slug stays", async () => {
  const appliance = await testAppliance();
  const viewer = await signInMember(appliance, "viewer");
  const { page } = await signInMember(appliance, "admin");
  const before = (await viewer.page("GET", organization)).json.data;
  expect(before).toEqual({
    id: appliance.ours.id,
    slug: "ours",
    name: "Ours",
    timeZone: "UTC",
    slaTarget: null,
    createdAt: "2026-11-20T10:00:00.000Z",
  });
  const body = { ...before, name: "Our own", timeZone: "Europe/Berlin", slaTarget: 0.999 };
  const { status, json } = await page("PATCH", organization, { body });
  expect([status, json.data]).toEqual([200, body]);
  expect((await viewer.page("GET", organization)).json.data).toEqual(body);
  const { organizations } = (await viewer.page("GET", "/dashboard/session")).json.data;
  expect(organizations).toMatchObject([{ name: "Our own", timeZone: "Europe/Berlin" }]);
  expect((await viewer.page("PATCH", organization, { body })).status).toBe(403);
});

test("of two admins with the same version, the second gets a conflict", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const headers = { "If-Match": (await page("GET", organization)).headers.get("etag") ?? "" };
  const rename = (name: string) => page("PATCH", organization, { body: { name }, headers });
  expect((await rename("One")).status).toBe(200);
  expect((await rename("Two")).status).toBe(412);
});

test("an invalid organization is rejected and changes nothing", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  const before = dumpTables(appliance);
  for (const body of [
    { name: "" },
    { name: null },
    { timeZone: "Nowhere" },
    { timeZone: "+01:00" },
    { timeZone: "x".repeat(65) },
    { slaTarget: 0 },
    { slaTarget: 99.9 },
    { plan: "gold" },
  ])
    expect([body, (await page("PATCH", organization, { body })).status]).toEqual([body, 422]);
  expect(dumpTables(appliance)).toBe(before);
});
