/** Sign-in providers: administrators add, change and delete them. */
import { expect, test } from "bun:test";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import { signInMember } from "../../support/people.ts";

const path = "/dashboard/identity-providers";
const secret = "a client secret canary";
const keycloak = {
  name: "Keycloak",
  preset: "keycloak",
  issuer: "https://sso.team.example/realms/team",
  clientId: "signalbox",
  clientSecret: secret,
};

async function createWorld() {
  const appliance = await testAppliance();
  const admin = await signInMember(appliance, "owner", { administrator: true });
  return { ...appliance, admin, page: admin.page };
}

test("a provider is created with defaults, and its secret is never shown", async () => {
  const world = await createWorld();
  const { page, ours } = world;
  const opened = { organizationId: ours.id, defaultRole: "viewer" };
  const body = { ...keycloak, organizations: [opened], allowedDomains: ["@Team.Example"] };
  const { status, json, text } = await page("POST", path, { body });
  expect([status, text.includes(secret)]).toEqual([201, false]);
  expect(json.data).toMatchObject({
    enabled: true,
    scopes: "openid email profile",
    groupsClaim: "groups",
    trustsEmail: false,
    allowedDomains: ["team.example"],
    organizations: [{ ...opened, groupRoles: [] }],
    secretsSet: ["clientSecret"],
    people: 0,
  });
  const list = await page("GET", path);
  expect(list.json.data).toEqual([json.data]);
  expect(dumpTables(world)).not.toContain(secret);
});

test("the secret stays with its issuer, and a patch changes only the fields that it names", async () => {
  const { page } = await createWorld();
  const { id } = (await page("POST", path, { body: keycloak })).json.data;
  const issuer = "https://sso.team.example/realms/other";
  const moved = await page("PATCH", `${path}/${id}`, { body: { issuer } });
  expect([moved.status, moved.json.error.details[0].path]).toEqual([422, "clientSecret"]);
  const again = await page("PATCH", `${path}/${id}`, { body: { issuer, clientSecret: "new" } });
  expect([again.status, again.json.data.issuer]).toEqual([200, issuer]);
  const renamed = await page("PATCH", `${path}/${id}`, { body: { name: "SSO" } });
  const { updatedAt } = renamed.json.data;
  expect(renamed.json.data).toEqual({ ...again.json.data, name: "SSO", updatedAt });
  const sentBack = await page("PATCH", `${path}/${id}`, { body: renamed.json.data });
  expect(sentBack.status).toBe(200);
});

test.each([
  ["issuer", { issuer: "https://sso.team.example/?realm=1" }],
  ["issuer", { issuer: "sso.team.example" }],
  ["issuer", { issuer: "http://169.254.169.254/latest" }],
  ["scopes", { scopes: "email profile" }],
  ["allowedDomains[0]", { allowedDomains: ["localhost"] }],
  ["certificateAuthorities", { certificateAuthorities: "nonsense" }],
  [
    "organizations[0].defaultRole",
    { organizations: [{ organizationId: unknownId, defaultRole: "king" }] },
  ],
])("a wrong %s is rejected by name", async (field, wrong) => {
  const { page } = await createWorld();
  const { status, json } = await page("POST", path, { body: { ...keycloak, ...wrong } });
  expect([status, json.error.details[0].path]).toEqual([422, field]);
});

test("an unknown organization, or one that was deleted, is not opened", async () => {
  const { page, theirs } = await createWorld();
  const createFor = (organizationId: string) =>
    page("POST", path, { body: { ...keycloak, organizations: [{ organizationId }] } });
  expect((await createFor(unknownId)).status).toBe(404);
  const result = await createFor(theirs.id);
  expect(result.status).toBe(201);
  await page("DELETE", `/dashboard/organizations/${theirs.id}`);
  expect((await createFor(theirs.id)).status).toBe(404);
  const [shown] = (await page("GET", path)).json.data;
  expect(shown.organizations).toEqual([]);
});

test("the audit log of the opened organization names the provider, even after its deletion", async () => {
  const { page, ours } = await createWorld();
  const organizations = [{ organizationId: ours.id }];
  const { id } = (await page("POST", path, { body: { ...keycloak, organizations } })).json.data;
  await page("PATCH", `${path}/${id}`, { body: { clientSecret: "another", enabled: false } });
  expect((await page("DELETE", `${path}/${id}`)).status).toBe(200);
  expect((await page("DELETE", `${path}/${id}`)).status).toBe(404);
  const entries = (await page("GET", "/dashboard/audit-log?noun=identity-provider")).json.data;
  expect(
    entries.map(({ action, subjectName, fields }: Record<string, unknown>) => [
      action,
      subjectName,
      fields,
    ]),
  ).toEqual([
    ["identity-provider.deleted", "Keycloak", []],
    ["identity-provider.updated", "Keycloak", ["enabled", "clientSecret"]],
    ["identity-provider.created", "Keycloak", []],
  ]);
  expect(JSON.stringify(entries)).not.toContain("another");
});

test("an appliance has at most 50 providers", async () => {
  const { page, database } = await createWorld();
  const { id } = (await page("POST", path, { body: keycloak })).json.data;
  for (let index = 1; index < 50; index++)
    database.run(
      `insert into identity_providers select 'p' || ?, name, enabled, settings, secrets, version,
        created_at, updated_at from identity_providers where id = ?`,
      [index, id],
    );
  expect((await page("POST", path, { body: keycloak })).status).toBe(409);
});

test("a session of a provider opens only the organizations of the provider", async () => {
  const { page, ours, admin, database } = await createWorld();
  const organizations = [{ organizationId: ours.id }];
  const result = await page("POST", path, { body: { ...keycloak, organizations } });
  database.run("update sessions set provider_id = ? where id = ?", [
    result.json.data.id,
    admin.sessionId,
  ]);
  const listOpened = async () =>
    (await page("GET", "/dashboard/session")).json.data.organizations.map(
      (one: { id: string }) => one.id,
    );
  await page("PATCH", "/dashboard/profile", { body: { name: "Ada" } });
  expect(await listOpened()).toEqual([ours.id]);
  await page("PATCH", `${path}/${result.json.data.id}`, { body: { organizations: [] } });
  expect(await listOpened()).toEqual([]);
  await page("DELETE", `${path}/${result.json.data.id}`);
  expect((await page("GET", "/dashboard/session")).json.data.state).toBe("signed-out");
});
