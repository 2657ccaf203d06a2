import { expect, test } from "bun:test";
import {
  addExisting,
  addMember,
  onlyPersonOf,
  resetPassword,
} from "../../../src/accounts/people/service.ts";
import { dump, testAppliance } from "../../support/appliance.ts";
import { refusal } from "../../support/refusal.ts";
import { joined, newBrowser, password, person } from "../../support/visiting.ts";

const email = "zoe@team.example";

/** Two people with one address, in different organizations. */
async function namesakes() {
  const appliance = await testAppliance();
  const { ours, theirs } = appliance;
  const one = await person(appliance, ours.id, "owner", { email });
  const other = await person(appliance, theirs.id, "owner", { email });
  return { ...appliance, appliance, one, other };
}

test("the operator distinguishes people with one address by an organization", async () => {
  const made = await namesakes();
  const { store, ours, theirs, one, other, appliance } = made;
  const before = dump(made);
  expect(await refusal(onlyPersonOf(store, email))).toBe("CONFLICT");
  expect(
    await refusal(resetPassword(ours.scope, email, { password: "x", withoutTwoFactor: false })),
  ).toBe("CONFLICT");
  expect(dump(made)).toBe(before);
  expect((await onlyPersonOf(store, email, ours.id)).id).toBe(one.id);
  expect((await onlyPersonOf(store, "ZOE@team.example", theirs.id)).id).toBe(other.id);
  const input = { password: "their new password", withoutTwoFactor: false };
  await resetPassword(ours.scope, email, { ...input, organizationId: theirs.id });
  const signedIn = async (secret: string) => {
    const zoe = newBrowser(appliance);
    await zoe.signIn(email, secret);
    return (await zoe.page("GET", "/session")).json.data.person?.id;
  };
  expect([await signedIn(password), await signedIn(input.password)]).toEqual([one.id, other.id]);
});

test("no person joins an organization twice, and no two people in it have one address", async () => {
  const made = await namesakes();
  const { ours, one, other, appliance } = made;
  const input = { name: "Zoe", email, password, role: "viewer" as const };
  expect(await refusal(addMember(ours.scope, input))).toBe("CONFLICT");
  const third = await person(appliance, ours.id, "owner");
  const page = newBrowser(appliance);
  await page.signIn(third.email);
  const body = { email, role: "viewer" };
  expect((await page.post("/invitations", body)).status).toBe(409);
  // A member who joined in the meantime is detected by the write.
  await page.page("DELETE", `/people/${one.id}`);
  const { link } = (await page.post("/invitations", body)).json.data;
  await joined(appliance, ours.id, other.id, "viewer");
  const token = link.split("#")[1];
  const late = await newBrowser(appliance).post("/invitations/accept", {
    token,
    name: "Zoe",
    password: "another password",
  });
  expect(late.status).toBe(409);
});

test("the operator adds a new person, who can sign in next to others with that address", async () => {
  const appliance = await testAppliance();
  const { ours, theirs, store } = appliance;
  const mallory = await person(appliance, theirs.id, "viewer", { email });
  const input = { name: "Zoe", email, role: "owner" as const };
  const before = dump(appliance);
  expect(await refusal(addMember(ours.scope, { ...input, password }))).toBe("VALIDATION_ERROR");
  expect(dump(appliance)).toBe(before);
  const own = "another long password";
  const zoe = await addMember(ours.scope, { ...input, password: own });
  expect([zoe.isShared, zoe.id === mallory.id]).toEqual([true, false]);
  for (const [secret, id] of [
    [password, mallory.id],
    [own, zoe.id],
  ] as const) {
    const page = newBrowser(appliance);
    await page.signIn(email, secret);
    expect((await page.page("GET", "/session")).json.data.person.id).toBe(id);
  }
  // Each of the two is in one of the organizations, so the call is ambiguous.
  expect((await onlyPersonOf(store, email, ours.id)).id).toBe(zoe.id);
  const again = { email, role: "viewer" as const };
  expect(await refusal(addExisting(ours.scope, { ...again, memberOf: theirs.id }))).toBe(
    "CONFLICT",
  );
  expect(await refusal(addExisting(theirs.scope, { ...again, memberOf: theirs.id }))).toBe(
    "CONFLICT",
  );
});
