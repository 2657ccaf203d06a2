import { expect, test } from "bun:test";
import {
  addExisting,
  addMember,
  getOnlyPerson,
  resetPassword,
} from "../../../src/accounts/people/service.ts";
import { dumpTables, testAppliance } from "../../support/appliance.ts";
import { findErrorCode } from "../../support/error-code.ts";
import { addToOrganization, createBrowser, password, createPerson } from "../../support/people.ts";

const email = "zoe@team.example";

/** Two people with one address, in different organizations. */
async function setUpNamesakes() {
  const appliance = await testAppliance();
  const { ours, theirs } = appliance;
  const one = await createPerson(appliance, ours.id, "owner", { email });
  const other = await createPerson(appliance, theirs.id, "owner", { email });
  return { ...appliance, appliance, one, other };
}

test("the operator distinguishes people with one address by an organization", async () => {
  const world = await setUpNamesakes();
  const { store, ours, theirs, one, other, appliance } = world;
  const before = dumpTables(world);
  expect(await findErrorCode(getOnlyPerson(store, email))).toBe("CONFLICT");
  expect(
    await findErrorCode(
      resetPassword(ours.scope, email, { password: "x", withoutTwoFactor: false }),
    ),
  ).toBe("CONFLICT");
  expect(dumpTables(world)).toBe(before);
  expect((await getOnlyPerson(store, email, ours.id)).id).toBe(one.id);
  expect((await getOnlyPerson(store, "ZOE@team.example", theirs.id)).id).toBe(other.id);
  const input = { password: "their new password", withoutTwoFactor: false };
  await resetPassword(ours.scope, email, { ...input, organizationId: theirs.id });
  const signInAs = async (secret: string) => {
    const zoe = createBrowser(appliance);
    await zoe.signIn(email, secret);
    return (await zoe.page("GET", "/session")).json.data.person?.id;
  };
  expect([await signInAs(password), await signInAs(input.password)]).toEqual([one.id, other.id]);
});

test("no person joins an organization twice, and no two people in it have one address", async () => {
  const world = await setUpNamesakes();
  const { ours, one, other, appliance } = world;
  const input = { name: "Zoe", email, password, role: "viewer" as const };
  expect(await findErrorCode(addMember(ours.scope, input))).toBe("CONFLICT");
  const third = await createPerson(appliance, ours.id, "owner");
  const page = createBrowser(appliance);
  await page.signIn(third.email);
  const body = { email, role: "viewer" };
  expect((await page.post("/invitations", body)).status).toBe(409);
  // A member who joined in the meantime is detected by the write.
  await page.page("DELETE", `/people/${one.id}`);
  const { link } = (await page.post("/invitations", body)).json.data;
  await addToOrganization(appliance, ours.id, other.id, "viewer");
  const token = link.split("#")[1];
  const late = await createBrowser(appliance).post("/invitations/accept", {
    token,
    name: "Zoe",
    password: "another password",
  });
  expect(late.status).toBe(409);
});

test("the operator adds a new person, who can sign in next to others with that address", async () => {
  const appliance = await testAppliance();
  const { ours, theirs, store } = appliance;
  const mallory = await createPerson(appliance, theirs.id, "viewer", { email });
  const input = { name: "Zoe", email, role: "owner" as const };
  const before = dumpTables(appliance);
  expect(await findErrorCode(addMember(ours.scope, { ...input, password }))).toBe(
    "VALIDATION_ERROR",
  );
  expect(dumpTables(appliance)).toBe(before);
  const newPassword = "another long password";
  const zoe = await addMember(ours.scope, { ...input, password: newPassword });
  expect([zoe.isShared, zoe.id === mallory.id]).toEqual([true, false]);
  for (const [secret, id] of [
    [password, mallory.id],
    [newPassword, zoe.id],
  ] as const) {
    const page = createBrowser(appliance);
    await page.signIn(email, secret);
    expect((await page.page("GET", "/session")).json.data.person.id).toBe(id);
  }
  // Each of the two is in one of the organizations, so the call is ambiguous.
  expect((await getOnlyPerson(store, email, ours.id)).id).toBe(zoe.id);
  const again = { email, role: "viewer" as const };
  expect(await findErrorCode(addExisting(ours.scope, { ...again, memberOf: theirs.id }))).toBe(
    "CONFLICT",
  );
  expect(await findErrorCode(addExisting(theirs.scope, { ...again, memberOf: theirs.id }))).toBe(
    "CONFLICT",
  );
});
