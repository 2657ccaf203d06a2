import { describe, expect, test } from "bun:test";
import { assets } from "../../../src/core/assets.ts";
import { openDatabase } from "../../../src/database/file/embedded.ts";
import { migrate } from "../../../src/database/migrate.ts";
import { addMember } from "../../../src/accounts/people/service.ts";
import {
  dumpTables,
  setUpToken,
  testAppliance,
  type TestAppliance,
  unknownId,
} from "../../support/appliance.ts";
import { copyMigrationsBefore } from "../../support/migration-folder.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import {
  addToOrganization,
  signInMember,
  createBrowser,
  password,
  createPerson,
  sortStatuses,
} from "../../support/people.ts";

const administrators = "/dashboard/administrators";

const listAdministrators = ({ database }: Pick<TestAppliance, "database">) =>
  database.query("SELECT name FROM people WHERE administrator ORDER BY name").values().flat();

describe("an administrator", () => {
  test("is the person who sets up the appliance", async () => {
    const appliance = await testAppliance();
    const ada = createBrowser(appliance);
    const claim = { organization: "Acme", name: "Ada", email: "ada@acme.example", password };
    await ada.post("/set-up", { token: setUpToken, ...claim });
    const { data } = (await ada.page("GET", "/session")).json;
    expect(data.person.administrator).toBe(true);
    expect((await ada.page("GET", "/administrators")).json.data).toEqual([
      { id: data.person.id, name: "Ada", email: "ada@acme.example" },
    ]);
  });

  test("is the first person created on the command line, and no later one", async () => {
    const appliance = await testAppliance();
    const { ours, theirs } = appliance;
    const make = (name: string, { scope }: typeof ours) =>
      addMember(scope, { name, email: `${name}@team.example`, password, role: "owner" });
    await Promise.all([make("Ada", ours), make("Bea", theirs)]);
    await make("Cleo", theirs);
    expect(listAdministrators(appliance)).toHaveLength(1);
    expect(listAdministrators(appliance)).not.toContain("Cleo");
  });

  test("is a person granted it by an administrator, from any organization", async () => {
    const appliance = await testAppliance();
    const ada = await signInMember(appliance, "viewer", { name: "Ada", administrator: true });
    const bea = await createPerson(appliance, appliance.theirs.id, "viewer", { name: "Bea" });
    const grant = (personId: string) => ada.page("POST", administrators, { body: { personId } });
    const { status, json } = await grant(bea.id);
    expect([status, json.data]).toEqual([200, bea]);
    expect(listAdministrators(appliance)).toEqual(["Ada", "Bea"]);
    expect((await grant(bea.id)).status).toBe(409);
    expect((await grant(unknownId)).status).toBe(404);
    const audited = appliance.database.query(
      "SELECT actor_name, action FROM audit_entries WHERE organization_id = ? AND subject_id = ?",
    );
    expect(audited.values(appliance.theirs.id, bea.id)).toEqual([
      ["Ada", "person.administrator-granted"],
    ]);
  });

  test("has only the rights of their role in an organization", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "viewer", { administrator: true });
    const body = { title: "Slow" };
    expect((await page("POST", "/dashboard/api/v1/incidents", { body })).status).toBe(403);
    const headers = { "X-Organization": appliance.theirs.id };
    expect((await page("GET", "/dashboard/people", { headers })).status).toBe(404);
  });

  test("loses it at once when another administrator revokes it or they give it up", async () => {
    const appliance = await testAppliance();
    const [one, other] = [
      await signInMember(appliance, "viewer", { administrator: true }),
      await signInMember(appliance, "viewer", { administrator: true }),
    ];
    expect((await one.page("DELETE", `${administrators}/${other.id}`)).status).toBe(200);
    expect((await other.page("GET", administrators)).status).toBe(403);
    expect((await one.page("DELETE", `${administrators}/${other.id}`)).status).toBe(404);
    const again = await signInMember(appliance, "viewer", { administrator: true });
    expect((await again.page("DELETE", `${administrators}/${again.id}`)).status).toBe(200);
    expect((await again.page("GET", administrators)).status).toBe(403);
  });
});

describe("the last administrator", () => {
  test("remains administrator, even when two revoke each other at once", async () => {
    const appliance = await testAppliance();
    const both = [
      await signInMember(appliance, "viewer", { administrator: true }),
      await signInMember(appliance, "viewer", { administrator: true }),
    ] as const;
    const [one, other] = both;
    const responses = await Promise.all([
      one.page("DELETE", `${administrators}/${other.id}`),
      other.page("DELETE", `${administrators}/${one.id}`),
    ]);
    expect(sortStatuses(responses)).toEqual([200, 403]);
    expect(listAdministrators(appliance)).toHaveLength(1);
    const last = responses[0]?.status === 200 ? one : other;
    const { status, json } = await last.page("DELETE", `${administrators}/${last.id}`);
    expect([status, json.error.message]).toEqual([
      409,
      "The appliance needs an administrator. Make another person an administrator first.",
    ]);
  });

  test("remains administrator when both give it up at once", async () => {
    const appliance = await testAppliance();
    const both = [
      await signInMember(appliance, "viewer", { administrator: true }),
      await signInMember(appliance, "viewer", { administrator: true }),
    ];
    const responses = await Promise.all(
      both.map(({ id, page }) => page("DELETE", `${administrators}/${id}`)),
    );
    expect(sortStatuses(responses)).toEqual([200, 409]);
    expect(listAdministrators(appliance)).toHaveLength(1);
  });

  test("keeps their only membership: no organization can remove an administrator", async () => {
    const appliance = await testAppliance();
    const owner = await signInMember(appliance, "owner");
    const runs = await signInMember(appliance, "viewer", { administrator: true });
    await signInMember(appliance, "viewer", { administrator: true });
    const before = dumpTables(appliance);
    const remove = () => owner.page("DELETE", `/dashboard/people/${runs.id}`);
    const { status, json } = await remove();
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    expect(dumpTables(appliance)).toBe(before);
    await addToOrganization(appliance, appliance.theirs.id, runs.id, "viewer");
    expect((await remove()).status).toBe(200);
    expect((await runs.page("GET", administrators)).status).toBe(200);
  });

  test("is consistent when a grant and a removal happen at once: exactly one succeeds", async () => {
    for (let round = 0; round < 5; round++) {
      const appliance = await testAppliance();
      const owner = await signInMember(appliance, "owner", { administrator: true });
      const bea = await signInMember(appliance, "viewer", { name: "Bea" });
      const [removed, granted] = await Promise.all([
        owner.page("DELETE", `/dashboard/people/${bea.id}`),
        owner.page("POST", administrators, { body: { personId: bea.id } }),
      ]);
      expect([removed.status, granted.status].filter((status) => status < 300)).toHaveLength(1);
      const lost =
        "SELECT count(*) FROM people p WHERE administrator AND NOT EXISTS (SELECT 1 FROM memberships WHERE person_id = p.id)";
      expect(appliance.database.query(lost).values()).toEqual([[0]]);
    }
  });
});

test("administrators see figures of the whole appliance and all organizations, in any organization", async () => {
  const appliance = await testAppliance();
  const { ours, theirs } = appliance;
  await theirs.api("POST", "/api/v1/monitors", {
    body: { type: "ping", name: "Router", host: "192.168.1.1" },
  });
  await createPerson(appliance, theirs.id, "owner");
  const { page } = await signInMember(appliance, "viewer", { administrator: true });
  expect((await page("GET", "/dashboard/appliance")).json.data).toEqual({
    dataBytes: expect.any(Number),
    cluster: { databases: [], nodes: [], freeShards: 0 },
    organizations: 2,
    people: 2,
    monitors: 1,
    checksPerSecond: 1 / 60,
    pendingDeliveries: 0,
    runtime: {
      dataDirectory: "/var/lib/signalbox",
      memoryBytes: 100_000_000,
      logLevel: "info",
      waiting: { checks: 0, results: 0, pages: 0, passwords: 0 },
    },
    problems: [],
  });
  const createdAt = "2026-11-20T10:00:00.000Z";
  expect((await page("GET", "/dashboard/organizations")).json.data).toEqual([
    { id: ours.id, slug: "ours", name: "Ours", createdAt, people: 1, monitors: 0, statusPages: 1 },
    {
      id: theirs.id,
      slug: "theirs",
      name: "Theirs",
      createdAt,
      people: 1,
      monitors: 1,
      statusPages: 1,
    },
  ]);
  const owner = await signInMember(appliance, "owner");
  for (const path of ["about", "session"])
    expect((await owner.page("GET", `/dashboard/${path}`)).text).not.toContain("dataBytes");
});

describe("an upgrade of older data", () => {
  const newDirectory = createScratch();
  const at = "2026-11-20T10:00:00.000Z";

  /** Data of the previous version, with these people in order of their creation. */
  function createUpgradedData(people: Record<string, Record<string, string>>) {
    const database = openDatabase(":memory:");
    migrate(database, copyMigrationsBefore(newDirectory(), "accounts"));
    const insert = (table: string, ...values: (string | number | null)[]) =>
      database
        .query(`INSERT INTO ${table} VALUES (${values.map(() => "?").join(", ")})`)
        .run(...values);
    insert("organizations", "a", "a", "a", at);
    // The oldest organization is not the first by id.
    insert("organizations", "b", "b", "b", "2026-11-19T10:00:00.000Z");
    for (const [index, [name, roles]] of Object.entries(people).entries()) {
      const createdAt = new Date(Date.parse(at) + index).toISOString();
      const email = `${name}@team.example`;
      // Ids that sort in the opposite order.
      const id = `${9 - index}-${name}`;
      insert("people", id, name, email, email, "x", null, null, 0, 1, createdAt, createdAt);
      for (const [organization, role] of Object.entries(roles))
        insert("memberships", organization, id, role, createdAt);
    }
    return { database, insert };
  }

  const cases: [what: string, people: Record<string, Record<string, string>>, then: string[]][] = [
    ["nobody", {}, []],
    [
      "owners of every organization",
      { Ada: { a: "owner" }, Bea: { a: "owner", b: "owner" }, Cleo: { b: "owner", a: "owner" } },
      ["Bea", "Cleo"],
    ],
    [
      "the first owner of the oldest organization, if no one owns all",
      {
        Zoe: { a: "admin", b: "admin" },
        Ada: { a: "owner" },
        Bea: { b: "owner" },
        Cleo: { b: "owner" },
      },
      ["Bea"],
    ],
    [
      "the first owner of the oldest organization that has one",
      { Zoe: { b: "admin" }, Ada: { a: "owner" }, Bea: { a: "owner" } },
      ["Ada"],
    ],
    [
      "the first person, if there are no owners",
      { Zoe: { b: "viewer" }, Ada: { a: "admin" } },
      ["Zoe"],
    ],
  ];
  for (const [what, people, then] of cases)
    test(`makes administrators of ${what}`, () => {
      const { database } = createUpgradedData(people);
      expect(migrate(database, assets.migrations)).toBeGreaterThan(0);
      expect(listAdministrators({ database })).toEqual(then);
      const stored = database.query("SELECT count(*) FROM memberships").values()[0]?.[0];
      expect(stored).toBe(Object.values(people).flatMap((roles) => Object.keys(roles)).length);
    });

  test("attributes open invitations and keys by the audit log; an invitation without a creator is revoked", () => {
    const { database, insert } = createUpgradedData({ Ada: { a: "owner" } });
    const create = (action: string, actor: string, id: string | null, subject: string) =>
      insert("audit_entries", null, "a", at, actor, id, "Ada", action, subject, null, null);
    for (const id of ["i1", "i2"])
      insert(
        "invitations",
        "a",
        id,
        `${id}@x.example`,
        `${id}@x.example`,
        "viewer",
        id,
        "Ada",
        at,
        at,
      );
    for (const id of ["k1", "k2"])
      insert("api_keys", "a", id, id, "read", id, at, null, null, null);
    create("invitation.created", "person", "9-Ada", "i1");
    create("api-key.created", "person", "9-Ada", "k1");
    create("api-key.created", "command-line", null, "k2");
    migrate(database, assets.migrations);
    const readRows = (sql: string) => database.query(sql).values();
    expect(readRows("SELECT id, invited_by_id FROM invitations")).toEqual([["i1", "9-Ada"]]);
    expect(readRows("SELECT id, created_by_id FROM api_keys ORDER BY id")).toEqual([
      ["k1", "9-Ada"],
      ["k2", null],
    ]);
  });
});
