/** Schedules in a configuration, where people are named by e-mail address. */
import { expect, test } from "bun:test";
import { testAppliance } from "../support/appliance.ts";
import { createPerson } from "../support/people.ts";

async function createTeam() {
  const appliance = await testAppliance();
  const { api, id } = appliance.ours;
  const ann = await createPerson(appliance, id, "member", { email: "ann@team.example" });
  const ben = await createPerson(appliance, id, "member", { email: "ben@team.example" });
  const apply = (document: object, query = "") =>
    api("PUT", `/api/v1/config${query}`, { body: document });
  const list = async () => (await api("GET", "/api/v1/schedules")).json.data;
  return { appliance, api, ann, ben, apply, list };
}

const layer = {
  people: ["Ann@Team.example", "ben@team.example"],
  unit: "days",
  start: "2026-11-30T09:00",
};
const buildConfiguration = (layers: object[]) => ({
  schedules: { platform: { name: "Platform", timeZone: "Europe/Berlin", layers, noticeHours: 24 } },
});

test("a schedule is applied, exported with e-mail addresses, and pruned", async () => {
  const { api, ann, ben, apply, list } = await createTeam();
  expect((await apply(buildConfiguration([layer]))).status).toBe(200);
  expect(await list()).toMatchObject([
    { name: "Platform", layers: [{ personIds: [ann.id, ben.id], every: 1, unit: "days" }] },
  ]);
  const exported = (await api("GET", "/api/v1/config")).json.data.document;
  expect(exported.schedules.platform.noticeHours).toBe(24);
  expect(exported.schedules.platform.layers[0].people).toEqual([ann.email, ben.email]);
  expect((await apply(exported)).json.data).toMatchObject({ applied: false, changes: [] });
  const before = (await list())[0];
  await apply(buildConfiguration([{ ...layer, unit: "weeks" }]));
  expect((await list())[0]).toMatchObject({
    id: before.id,
    calendarUrl: before.calendarUrl,
    layers: [{ unit: "weeks" }],
  });
  expect((await apply({}, "?prune=true&yes=true")).status).toBe(200);
  expect(await list()).toEqual([]);
});

test("unknown people and IDs are rejected with their place in the configuration", async () => {
  const { appliance, ann, apply, list } = await createTeam();
  const foreign = await createPerson(appliance, appliance.theirs.id, "member");
  const { status, json } = await apply(
    buildConfiguration([
      { ...layer, people: [ann.email, foreign.email] },
      { ...layer, personIds: [ann.id] },
    ]),
  );
  expect([status, json.error.details]).toEqual([
    422,
    [
      {
        path: "schedules.platform.layers[0].people[1]",
        message: "must be the e-mail address of a person of the organization",
      },
      {
        path: "schedules.platform.layers[1].people",
        message: "must be given instead of personIds",
      },
    ],
  ]);
  const other = await apply(buildConfiguration([{ ...layer, start: "09:00" }]));
  expect(other.json.error.details[0].path).toBe("schedules.platform.layers[0].start");
  expect(await list()).toEqual([]);
});

test("a plan names records by key and people by address, never by ID", async () => {
  const { apply } = await createTeam();
  const tcp = { type: "tcp", host: "db.example", port: 5432 };
  const times = { startsAt: "2026-11-22T01:00:00Z", endsAt: "2026-11-22T02:00:00Z" };
  const step = { afterMinutes: 0, targets: [{ person: "ann@team.example" }, { schedule: "s" }] };
  const links = { alertChannels: ["c"], escalationPolicy: "p" };
  const buildDocument = (isLinked: boolean) => ({
    alertChannels: { c: { type: "webhook", url: "https://bot.example/in" } },
    schedules: { s: { timeZone: "UTC", layers: isLinked ? [layer] : [] } },
    escalationPolicies: { p: { steps: isLinked ? [step] : [] } },
    alertSources: { a: { type: "alertmanager", ...(isLinked && links) } },
    groups: { g: isLinked ? { ...links, dependsOn: ["n"] } : {} },
    monitors: {
      m: { ...tcp, ...(isLinked && { ...links, group: "g", dependsOn: ["n"] }) },
      n: tcp,
    },
    maintenanceWindows: { w: { ...times, ...(isLinked && { monitors: ["m"], groups: ["g"] }) } },
  });
  const first = await apply(buildDocument(false));
  expect(first.text).toContain('"applied":true');
  const { json } = await apply(buildDocument(true), "?dryRun");
  const fields = json.data.changes.flatMap((one: { fields: { field: string }[] }) => one.fields);
  const names = new Set(fields.map(({ field }: { field: string }) => field));
  expect(names).toEqual(
    new Set([
      "alertChannels",
      "escalationPolicy",
      "dependsOn",
      "group",
      "groups",
      "layers",
      "monitors",
      "steps",
    ]),
  );
  expect(JSON.stringify(fields)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
});
