import { describe, expect, test } from "bun:test";
import type { Role } from "../../../src/core/roles.ts";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import {
  addToOrganization,
  signInMember,
  createBrowser,
  createPerson,
  sortStatuses,
} from "../../support/people.ts";

const people = "/dashboard/people";

test("all members are listed by name, also for viewers", async () => {
  const appliance = await testAppliance();
  await createPerson(appliance, appliance.theirs.id, "owner", { name: "Zoe" });
  await createPerson(appliance, appliance.ours.id, "owner", {
    name: "Cleo",
    email: "c@team.example",
  });
  const { page } = await signInMember(appliance, "viewer", { name: "Bea" });
  const { json } = await page("GET", people);
  expect(json.data).toEqual([
    expect.objectContaining({ name: "Bea", role: "viewer" }),
    {
      id: expect.any(String),
      name: "Cleo",
      email: "c@team.example",
      role: "owner",
      groupIds: null,
      twoFactor: false,
      administrator: false,
      lastSeenAt: null,
    },
  ]);
});

describe("roles", () => {
  const cases: [by: Role, from: Role, to: Role, status: number][] = [
    ["admin", "viewer", "member", 200],
    ["admin", "member", "admin", 200],
    ["admin", "admin", "viewer", 200],
    ["admin", "member", "owner", 403],
    ["admin", "owner", "member", 403],
    ["owner", "member", "owner", 200],
    ["owner", "owner", "viewer", 200],
    ["member", "viewer", "member", 403],
    ["viewer", "viewer", "owner", 403],
  ];
  for (const [by, from, to, status] of cases)
    test(`of an ${from}, changed to ${to} by ${by}: ${status}`, async () => {
      const appliance = await testAppliance();
      const { page } = await signInMember(appliance, by);
      const other = await signInMember(appliance, from);
      const before = dumpTables(appliance);
      const response = await page("PATCH", `${people}/${other.id}`, { body: { role: to } });
      expect(response.status).toBe(status);
      if (status === 200) expect(response.json.data).toMatchObject({ id: other.id, role: to });
      else expect(dumpTables(appliance)).toBe(before);
      const { organizations } = (await other.page("GET", "/dashboard/session")).json.data;
      expect(organizations).toMatchObject([{ role: status === 200 ? to : from }]);
    });

  test("no one can raise their own role", async () => {
    const appliance = await testAppliance();
    const { page, id } = await signInMember(appliance, "admin");
    const { status } = await page("PATCH", `${people}/${id}`, { body: { role: "owner" } });
    expect(status).toBe(403);
  });

  test("setting the same role changes nothing", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const other = await signInMember(appliance, "viewer");
    const before = dumpTables(appliance);
    await page("PATCH", `${people}/${other.id}`, { body: { role: "viewer" } });
    expect(dumpTables(appliance)).toBe(before);
  });

  test("a GET response can be sent back with another role; other changes are rejected", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const { id } = await signInMember(appliance, "viewer");
    const [read] = (await page("GET", people)).json.data.filter(
      (one: { id: string }) => one.id === id,
    );
    const at = `${people}/${id}`;
    expect((await page("PATCH", at, { body: { ...read, role: "member" } })).status).toBe(200);
    for (const body of [
      {},
      { role: "god" },
      { role: null },
      { role: ["owner"] },
      { role: "viewer", x: 1 },
    ])
      expect((await page("PATCH", at, { body })).status).toBe(422);
  });
});

describe("the last owner", () => {
  test("can't be removed or demoted, even concurrently", async () => {
    const appliance = await testAppliance();
    const [one, other] = [
      await signInMember(appliance, "owner"),
      await signInMember(appliance, "owner"),
    ];
    const responses = await Promise.all([
      one.page("PATCH", `${people}/${other.id}`, { body: { role: "admin" } }),
      other.page("PATCH", `${people}/${one.id}`, { body: { role: "admin" } }),
    ]);
    expect(sortStatuses(responses)).toEqual([200, 403]);
    const owners = appliance.database.query(
      "SELECT person_id FROM memberships WHERE role = 'owner'",
    );
    expect(owners.values()).toHaveLength(1);
    const last = owners.values()[0]?.[0] === one.id ? one : other;
    for (const [method, options] of [
      ["DELETE", {}],
      ["PATCH", { body: { role: "member" } }],
    ] as const) {
      const { status, json } = await last.page(method, `${people}/${last.id}`, options);
      expect([method, status, json.error.code]).toEqual([method, 409, "CONFLICT"]);
    }
    expect((await last.page("GET", people)).status).toBe(200);
  });
});

describe("removing a member", () => {
  test("ends their sessions, and deletes people without an organization", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const other = await signInMember(appliance, "member", {
      name: "Bea",
      email: "bea@team.example",
    });
    const { status, json } = await page("DELETE", `${people}/${other.id}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    expect((await other.page("GET", people)).status).toBe(401);
    expect((await createBrowser(appliance).signIn("bea@team.example")).status).toBe(401);
    expect(dumpTables(appliance)).not.toContain("bea@team.example");
  });

  test("leaves them signed in to their other organizations", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const other = await signInMember(appliance, "member");
    await addToOrganization(appliance, appliance.theirs.id, other.id, "viewer");
    await page("DELETE", `${people}/${other.id}`);
    const headers = { "X-Organization": appliance.ours.id };
    expect((await other.page("GET", people, { headers })).status).toBe(404);
    const { organizations } = (await other.page("GET", "/dashboard/session")).json.data;
    expect(organizations.map((one: { slug: string }) => one.slug)).toEqual(["theirs"]);
  });

  test("an admin can't remove an owner", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const [one, two] = [
      await signInMember(appliance, "owner"),
      await signInMember(appliance, "owner"),
    ];
    expect((await page("DELETE", `${people}/${one.id}`)).status).toBe(403);
    expect((await two.page("DELETE", `${people}/${one.id}`)).status).toBe(200);
  });

  test("from another organization gets the same 404 as an unknown id", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "owner");
    const theirs = await createPerson(appliance, appliance.theirs.id, "owner");
    const before = dumpTables(appliance);
    const summarize = async (method: string, id: string) => {
      const body = method === "PATCH" ? { body: { role: "viewer" } } : {};
      const { status, json } = await page(method, `${people}/${id}`, body);
      return [status, json.error.message];
    };
    for (const method of ["PATCH", "DELETE"])
      expect(await summarize(method, theirs.id)).toEqual(await summarize(method, unknownId));
    expect(dumpTables(appliance)).toBe(before);
  });

  test("by two concurrent requests happens once", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "admin");
    const other = await signInMember(appliance, "viewer");
    const remove = () => page("DELETE", `${people}/${other.id}`);
    const both = await Promise.all([remove(), remove()]);
    expect(sortStatuses(both)).toEqual([200, 404]);
  });
});
