/** Escalation policies in configurations: people by e-mail address, channels by key. */
import { expect, test } from "bun:test";
import { exportConfiguration } from "../../../src/configuration/export-service.ts";
import { testAppliance, type TestAppliance } from "../../support/appliance.ts";
import type { Json } from "../../support/json.ts";
import { createPerson } from "../../support/people.ts";

const email = "ada@team.example";
const whole = {
  alertChannels: { ops: { type: "email", name: "#ops", to: ["ops@team.example"] } },
  escalationPolicies: {
    shop: {
      name: "Shop",
      steps: [
        { afterMinutes: 0, targets: [{ person: email }] },
        { afterMinutes: 10, targets: [{ channel: "ops" }] },
      ],
      repeat: 1,
      incidentSeverities: ["critical"],
      drill: { day: 3, from: "10:00", until: "12:00", timeZone: "Europe/Berlin" },
    },
    usual: { name: "Usual", default: true },
  },
  groups: { payments: { name: "Payments", escalationPolicy: "shop" } },
  monitors: {
    joining: { type: "push", group: "payments" },
    exempt: { type: "push", group: "payments", escalationPolicy: null },
    own: { type: "push", group: "payments", escalationPolicy: "usual", priority: "critical" },
    alone: { type: "push" },
  },
};

async function setUp() {
  const appliance = await testAppliance();
  const ada = await createPerson(appliance, appliance.ours.id, "member", { name: "Ada", email });
  return { ...appliance, ada };
}

const put = ({ ours }: TestAppliance, body: unknown, query = "") =>
  ours.api("PUT", `/api/v1/config${query}`, { body });

async function apply(appliance: TestAppliance, body: unknown, query = ""): Promise<Json> {
  const { status, json, text } = await put(appliance, body, query);
  if (status !== 200) throw new Error(text);
  return json.data;
}

const list = async ({ ours }: TestAppliance, noun: string): Promise<Json[]> =>
  (await ours.api("GET", `/api/v1/${noun}`)).json.data;

test("a configuration creates policies, and changes nothing the second time", async () => {
  const appliance = await setUp();
  await apply(appliance, whole);
  const [channel] = await list(appliance, "alert-channels");
  const [shop, usual] = await list(appliance, "escalation-policies");
  expect(shop).toMatchObject({
    name: "Shop",
    steps: [
      { afterMinutes: 0, targets: [{ type: "person", id: appliance.ada.id }] },
      { afterMinutes: 10, targets: [{ type: "channel", id: channel.id }] },
    ],
    repeat: 1,
    incidentSeverities: ["critical"],
  });
  expect(usual).toMatchObject({ name: "Usual", steps: [], default: true });
  expect((await list(appliance, "monitor-groups"))[0].escalationPolicyId).toBe(shop.id);
  const monitors = await list(appliance, "monitors");
  const policies = Object.fromEntries(monitors.map((one) => [one.name, one.escalationPolicyId]));
  expect(policies).toEqual({ joining: shop.id, exempt: null, own: usual.id, alone: null });
  expect(await apply(appliance, whole)).toMatchObject({ applied: false, changes: [] });
});

test("the examples of docs/on-call.md can be applied, also the monthly drill of one person", async () => {
  const text = await Bun.file(new URL("../../../docs/on-call.md", import.meta.url)).text();
  const examples = [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, yaml = ""]) => yaml);
  expect(examples).toHaveLength(2);
  for (const example of examples) {
    const appliance = await testAppliance();
    for (const name of ["ada", "ben", "cat"])
      await createPerson(appliance, appliance.ours.id, "member", {
        name,
        email: `${name}@acme.example`,
      });
    await apply(appliance, Bun.YAML.parse(example));
    const policies = await list(appliance, "escalation-policies");
    expect(policies.map(({ drill }) => drill?.timeZone)).toEqual(["Europe/Berlin"]);
  }
});

test("an export can be applied again, and creates the same in another organization", async () => {
  const appliance = await setUp();
  await apply(appliance, whole);
  const { document } = await exportConfiguration(appliance.ours.scope);
  expect(document["escalationPolicies"]).toEqual({
    shop: whole.escalationPolicies.shop,
    usual: whole.escalationPolicies.usual,
  });
  const { exempt, joining } = document["monitors"] as Record<string, Json>;
  expect([exempt.escalationPolicy, joining.escalationPolicy]).toEqual([null, "shop"]);
  await createPerson(appliance, appliance.theirs.id, "member", { name: "Eve", email });
  const { organization: _ours, ...rest } = document;
  const { status, text } = await appliance.theirs.api("PUT", "/api/v1/config", { body: rest });
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
});

test("errors name the field: an unknown person, channel or policy", async () => {
  const appliance = await setUp();
  const pathOf = async (escalationPolicies: object, more: object = {}) => {
    const { status, json } = await put(appliance, { escalationPolicies, ...more });
    expect(status).toBe(422);
    return json.error.details[0].path;
  };
  const buildStep = (target: object) => ({ steps: [{ afterMinutes: 0, targets: [target] }] });
  const at = "escalationPolicies.p.steps[0].targets[0]";
  expect(await pathOf({ p: buildStep({ person: "eve@team.example" }) })).toBe(`${at}.person`);
  expect(await pathOf({ p: buildStep({ person: 7 }) })).toBe(`${at}.person`);
  expect(await pathOf({ p: buildStep({ channel: "no" }) })).toBe(`${at}.channel`);
  expect(await pathOf({ p: { repeat: 10 } })).toBe("escalationPolicies.p.repeat");
  expect(await pathOf({}, { groups: { g: { escalationPolicy: "no" } } })).toBe(
    "groups.g.escalationPolicy",
  );
});

test("a default can move between policies in one write, but not be given twice", async () => {
  const appliance = await setUp();
  const buildPolicies = (a: boolean, b: boolean) => ({
    escalationPolicies: { a: { default: a }, b: { default: b } },
  });
  await apply(appliance, buildPolicies(true, false));
  expect((await put(appliance, buildPolicies(true, true))).status).toBe(409);
  await apply(appliance, buildPolicies(false, true));
  const all = await list(appliance, "escalation-policies");
  expect(all.map((one) => [one.name, one.default])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

test("a channel and a policy are pruned together with their uses, but not while others use them", async () => {
  const appliance = await setUp();
  const { ours } = appliance;
  await apply(appliance, whole);
  const { shop, usual } = whole.escalationPolicies;
  const person = { ...shop, steps: shop.steps.slice(0, 1) };
  const without = {
    ...whole,
    alertChannels: {},
    escalationPolicies: { shop: person, usual },
  };
  const options = "?prune=true&yes=true";
  await apply(appliance, without, options);
  expect(await list(appliance, "alert-channels")).toEqual([]);
  const [{ id }] = (await list(appliance, "escalation-policies")) as [Json];
  const body = { type: "push", name: "By hand", escalationPolicyId: id };
  const byHand = (await ours.api("POST", "/api/v1/monitors", { body })).json.data;
  const emptySections = { escalationPolicies: {}, groups: {}, monitors: {} };
  expect((await put(appliance, emptySections, options)).status).toBe(409);
  await ours.api("DELETE", `/api/v1/monitors/${byHand.id}`);
  await apply(appliance, emptySections, options);
  expect(await list(appliance, "escalation-policies")).toEqual([]);
});
