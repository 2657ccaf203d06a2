/** Each limit of records: the last allowed one, one too many, and one after a removal. */
import { describe, expect, test } from "bun:test";
import { dashboard } from "./support/routes.ts";
import { type LimitName, parseLimits, defaultLimits } from "../src/core/limits.ts";
import type { Client } from "./support/appliance.ts";
import { dumpTables, testAppliance } from "./support/appliance.ts";
import { signInMember, sortStatuses } from "./support/people.ts";

type TestSetUp = Awaited<ReturnType<typeof testAppliance>>;
type Way = { make: (index: number) => ReturnType<Client>; remove: (id: string) => string };

/** Creates one more of a limited noun; `has` exist from the start. */
const ways: Record<LimitName, { has?: number; of: (appliance: TestSetUp, owner: Client) => Way }> =
  {
    monitors: {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/monitors", { body: { ...push, name: `${index}` } }),
        remove: (id) => `/api/v1/monitors/${id}`,
      }),
    },
    "monitor-groups": {
      of: ({ ours }) => ({
        make: (index) => ours.api("POST", "/api/v1/monitor-groups", { body: { name: `${index}` } }),
        remove: (id) => `/api/v1/monitor-groups/${id}`,
      }),
    },
    "alert-channels": {
      of: ({ ours }) => ({
        make: () => ours.api("POST", "/api/v1/alert-channels", { body: mail }),
        remove: (id) => `/api/v1/alert-channels/${id}`,
      }),
    },
    "alert-sources": {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/alert-sources", {
            body: { name: `${index}`, type: "alertmanager" },
          }),
        remove: (id) => `/api/v1/alert-sources/${id}`,
      }),
    },
    "escalation-policies": {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/escalation-policies", { body: { name: `${index}` } }),
        remove: (id) => `/api/v1/escalation-policies/${id}`,
      }),
    },
    "maintenance-windows": {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/maintenance-windows", {
            body: {
              title: `${index}`,
              startsAt: "2027-01-01T00:00:00Z",
              endsAt: "2027-01-01T01:00:00Z",
            },
          }),
        remove: (id) => `/api/v1/maintenance-windows/${id}`,
      }),
    },
    "incident-templates": {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/incident-templates", {
            body: { name: `${index}`, message: "We look." },
          }),
        remove: (id) => `/api/v1/incident-templates/${id}`,
      }),
    },
    schedules: {
      of: ({ ours }) => ({
        make: (index) => ours.api("POST", "/api/v1/schedules", { body: { name: `${index}` } }),
        remove: (id) => `/api/v1/schedules/${id}`,
      }),
    },
    "status-pages": {
      has: 1,
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/status-pages", { body: { slug: `p-${index}`, title: "P" } }),
        remove: (id) => `/api/v1/status-pages/${id}`,
      }),
    },
    "status-page-hosts": {
      of: ({ ours }) => ({
        make: (index) =>
          ours.api("POST", "/api/v1/status-pages", {
            body: { slug: `p-${index}`, title: "P", hosts: [`p${index}.team.example`] },
          }),
        remove: (id) => `/api/v1/status-pages/${id}`,
      }),
    },
    subscribers: {
      of: ({ ours }) => {
        let path = "";
        return {
          make: async (index) => {
            const [page] = (await ours.api("GET", "/api/v1/status-pages")).json.data;
            path = `/api/v1/status-pages/${page.id}/subscribers`;
            return ours.api("POST", path, {
              body: { type: "email", email: `ann${index}@team.example`, confirmed: true },
            });
          },
          remove: (id) => `${path}/${id}`,
        };
      },
    },
    people: {
      has: 1,
      of: (_, owner) => ({
        make: (index) =>
          owner("POST", "/dashboard/invitations", {
            body: { email: `ben${index}@team.example`, role: "member" },
          }),
        remove: (id) => `/dashboard/invitations/${id}`,
      }),
    },
    "api-keys": {
      has: 2,
      of: (_, owner) => ({
        make: (index) =>
          owner("POST", "/dashboard/api-keys", { body: { name: `${index}`, scope: "read" } }),
        remove: (id) => `/dashboard/api-keys/${id}/revoke`,
      }),
    },
    // This limit has its own test, because channels are only attached.
    "alert-channels-of-a-monitor": {
      of: () => ({ make: () => Promise.reject(new Error()), remove: () => "" }),
    },
  };

const push = { type: "push" };
const mail = { type: "email", name: "On-call", to: ["oncall@team.example"] };

for (const [name, { has = 0, of }] of Object.entries(ways)) {
  if (name === "alert-channels-of-a-monitor") continue;
  describe(`an organization can have a limited number of ${name}`, () => {
    async function createLimit() {
      const appliance = await testAppliance({ limits: { [name]: has + 2 } });
      const owner = (await signInMember(appliance, "owner")).page;
      return { appliance, owner, way: of(appliance, owner) };
    }

    test("and not one more, even with concurrent requests; the error names the limit", async () => {
      const { appliance, way } = await createLimit();
      const responses = await Promise.all([1, 2, 3, 4, 5].map((index) => way.make(index)));
      expect(sortStatuses(responses)).toEqual([201, 201, 409, 409, 409]);
      const before = dumpTables(appliance);
      const { status, json } = await way.make(6);
      expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
      expect(json.error.message).toContain(`at most ${has + 2} ${name.replaceAll("-", " ")}`);
      expect(json.error.message).toContain(`--limit ${name}=`);
      expect(dumpTables(appliance)).toBe(before);
    });

    test("and a new one after a removal", async () => {
      const { appliance, owner, way } = await createLimit();
      const [one] = [await way.make(1), await way.make(2)];
      const path = way.remove(one?.json.data.id);
      const remover = path.startsWith("/dashboard") ? owner : appliance.ours.api;
      const method = path.endsWith("/revoke") ? "POST" : "DELETE";
      expect((await remover(method, path)).status).toBeLessThan(300);
      expect((await way.make(3)).status).toBe(201);
    });
  });
}

test("every route that creates records has a limit or a retention", () => {
  const limited = [
    "addSubscriber",
    "createAlertChannel",
    "createAlertSource",
    "createApiKey",
    "createEscalationPolicy",
    "createIncidentTemplate",
    "createMaintenanceWindow",
    "createMonitor",
    "createMonitorGroup",
    "createSchedule",
    "createStatusPage",
    "invite",
  ];
  // Contact methods and passkeys have a limit per person, notes, overrides and access tokens per record; drills end;
  // incidents are people's history; there is one backup per person; uploads are removed within an hour; an appliance
  // has few sign-in providers; the others create an organization.
  const unlimited = [
    "openIncident",
    "createContactMethod",
    "createPasskey",
    "drillEscalationPolicy",
    "drillPerson",
    "addIncidentNote",
    "addAlertNote",
    "makeBackup",
    "beginUpload",
    "createScheduleOverride",
    "swapShifts",
    "setUp",
    "foundOrganization",
    "createIdentityProvider",
    "createStatusPageAccessToken",
  ];
  type Route = { hooks: { detail?: { endpoint?: { name: string; status?: number } } } };
  const makers = (dashboard.routes as unknown as Route[])
    .map(({ hooks }) => hooks.detail?.endpoint)
    .filter((endpoint) => endpoint?.status === 201)
    .map((endpoint) => endpoint?.name ?? "");
  expect(makers.toSorted()).toEqual([...limited, ...unlimited].toSorted());
});

describe("a monitor can have a limited number of alert channels", () => {
  async function createLimit() {
    const appliance = await testAppliance({ limits: { "alert-channels-of-a-monitor": 2 } });
    const { api } = appliance.ours;
    const ids: string[] = [];
    for (let index = 0; index < 3; index++)
      ids.push((await api("POST", "/api/v1/alert-channels", { body: mail })).json.data.id);
    const createMonitor = (body: object = {}) =>
      api("POST", "/api/v1/monitors", { body: { ...push, name: "Job", ...body } });
    const group = (body: object) =>
      api("POST", "/api/v1/monitor-groups", { body: { name: "Jobs", ...body } });
    return {
      appliance,
      api,
      ids,
      createMonitor,
      group,
      page: (await signInMember(appliance, "member")).page,
    };
  }

  test("when it is created, changed, moved into a group from either side, or changed in bulk", async () => {
    const { appliance, api, ids, createMonitor, group, page } = await createLimit();
    const [one = "", two = "", three = ""] = ids;
    const { id } = (await createMonitor({ alertChannelIds: [one, two] })).json.data;
    const groupId = (await group({ alertChannelIds: [three] })).json.data.id;
    const before = dumpTables(appliance);
    const tries = [
      await createMonitor({ alertChannelIds: ids }),
      await createMonitor({ alertChannelIds: [one, two], groupId }),
      await api("PATCH", `/api/v1/monitors/${id}`, { body: { alertChannelIds: ids } }),
      await api("PATCH", `/api/v1/monitors/${id}`, { body: { groupId } }),
      await api("PATCH", `/api/v1/monitor-groups/${groupId}`, { body: { monitorIds: [id] } }),
      await group({ alertChannelIds: [three], monitorIds: [id] }),
      await page("POST", "/dashboard/api/v1/monitors/bulk", {
        body: { monitorIds: [id], change: { addAlertChannelIds: [three] } },
      }),
      await page("POST", "/dashboard/api/v1/monitors/bulk", {
        body: { monitorIds: [id], change: { groupId } },
      }),
    ];
    for (const { status, json } of tries)
      expect([status, json.error.message]).toEqual([
        409,
        expect.stringContaining("A monitor may have at most 2 alert channels"),
      ]);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("a monitor with more channels from before the limit can still be changed", async () => {
    const { appliance, api, ids, createMonitor } = await createLimit();
    const { id } = (await createMonitor({ alertChannelIds: ids.slice(0, 2) })).json.data;
    appliance.database.run(
      `INSERT INTO monitor_channels (organization_id, monitor_id, channel_id, position)
       VALUES (?, ?, ?, 9)`,
      [appliance.ours.id, id, ids[2] ?? ""],
    );
    const { status, json } = await api("PATCH", `/api/v1/monitors/${id}`, { body: { name: "B" } });
    expect([status, json.data.alertChannelIds]).toEqual([200, ids]);
  });
});

describe("default channels always fit a new monitor", () => {
  async function createLimit(limit: number) {
    const appliance = await testAppliance({ limits: { "alert-channels-of-a-monitor": limit } });
    const { api } = appliance.ours;
    const createChannel = (isDefault: boolean) =>
      api("POST", "/api/v1/alert-channels", { body: { ...mail, default: isDefault } });
    const makeDefault = (id: string) =>
      api("PATCH", `/api/v1/alert-channels/${id}`, { body: { default: true } });
    const createMonitor = async (body: object = {}) => {
      const { status, json } = await api("POST", "/api/v1/monitors", {
        body: { ...push, name: "Job", ...body },
      });
      return [status, json.data?.alertChannelIds ?? json.error.message];
    };
    return { appliance, api, createChannel, makeDefault, createMonitor };
  }
  const refused = [409, expect.stringContaining("A monitor may have at most 2 alert channels")];

  test("one default too many is rejected, new or changed, even with concurrent requests, and accepted after a removal", async () => {
    const { appliance, api, createChannel, makeDefault, createMonitor } = await createLimit(2);
    const usual: string[] = [];
    for (let index = 0; index < 4; index++) usual.push((await createChannel(false)).json.data.id);
    const changes = await Promise.all(usual.map(makeDefault));
    expect(sortStatuses(changes)).toEqual([200, 200, 409, 409]);
    const before = dumpTables(appliance);
    for (const { status, json } of [
      await createChannel(true),
      ...changes.filter((change) => change.status === 409),
    ])
      expect([status, json.error.message]).toEqual(refused);
    expect(dumpTables(appliance)).toBe(before);
    const taken = usual.filter((_, index) => changes[index]?.status === 200);
    expect(await createMonitor()).toEqual([201, taken]);
    const [first = ""] = taken;
    const path = `/api/v1/alert-channels/${first}`;
    // A channel that is a default already can still be changed.
    expect((await api("PATCH", path, { body: { name: "B", default: true } })).status).toBe(200);
    expect((await api("PATCH", path, { body: { default: false } })).status).toBe(200);
    expect((await createChannel(true)).status).toBe(201);
  });

  test("default channels from before the limit block nothing: the oldest are used up to the limit", async () => {
    const { appliance, api, createChannel, makeDefault, createMonitor } = await createLimit(5);
    const defaults: string[] = [];
    for (let index = 0; index < 4; index++) defaults.push((await createChannel(true)).json.data.id);
    const ownChannel: string = (await createChannel(false)).json.data.id;
    const { data: group } = (
      await api("POST", "/api/v1/monitor-groups", {
        body: { name: "Jobs", alertChannelIds: [defaults[3]] },
      })
    ).json;
    Object.assign(appliance.appliance.limits, { "alert-channels-of-a-monitor": 2 });
    const [oldest = "", second = "", , newest = ""] = defaults;
    expect(await createMonitor()).toEqual([201, [oldest, second]]);
    expect(await createMonitor({ alertChannelIds: [ownChannel] })).toEqual([
      201,
      [ownChannel, oldest],
    ]);
    expect(await createMonitor({ groupId: group.id })).toEqual([201, [oldest, newest]]);
    const attachments = { alertChannelIds: [ownChannel], groupId: group.id };
    expect(await createMonitor(attachments)).toEqual([201, [ownChannel, newest]]);
    expect(await createMonitor({ alertChannelIds: defaults })).toEqual(refused);
    const { status, json } = await makeDefault(ownChannel);
    expect([status, json.error.message]).toEqual(refused);
  });
});

test("finished windows and revoked keys do not count", async () => {
  const appliance = await testAppliance({ limits: { "maintenance-windows": 1, "api-keys": 3 } });
  const { api } = appliance.ours;
  const createWindow = (startsAt: string, endsAt: string) =>
    api("POST", "/api/v1/maintenance-windows", { body: { title: "W", startsAt, endsAt } });
  const statuses = [
    await createWindow("2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z"),
    await createWindow("2027-01-01T00:00:00Z", "2027-01-01T01:00:00Z"),
    await createWindow("2027-01-01T00:00:00Z", "2027-01-01T01:00:00Z"),
  ].map(({ status }) => status);
  expect(statuses).toEqual([201, 201, 409]);
  const { page } = await signInMember(appliance, "owner");
  const createKey = () =>
    page("POST", "/dashboard/api-keys", { body: { name: "k", scope: "read" } });
  const { id } = (await createKey()).json.data;
  expect((await createKey()).status).toBe(409);
  expect((await page("POST", `/dashboard/api-keys/${id}/revoke`)).status).toBeLessThan(300);
  expect((await createKey()).status).toBe(201);
});

test("limits are set by name, the others have their defaults", () => {
  expect(parseLimits([])).toEqual(defaultLimits);
  expect(parseLimits(["monitors=20", "people=3"])).toEqual({
    ...defaultLimits,
    monitors: 20,
    people: 3,
  });
  for (const wrong of [
    "monitors",
    "monitors=",
    "monitors=-1",
    "Monitors=1",
    "constructor=1",
    "x=1",
  ])
    expect(parseLimits([wrong])).toContain("must be NAME=NUMBER with a name among monitors,");
});
