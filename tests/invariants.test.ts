/** Random actions that must not affect other records or organizations. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Client } from "./support/appliance.ts";
import { createDashboard } from "./support/dashboard.ts";
import { newMonitors, signingCanary } from "./support/samples.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }).map((s) => `x${s}`);
const printable = text.filter((s) => !/\p{Cc}/u.test(s));
const generateNullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const tags = fc.uniqueArray(printable, { maxLength: 3 });
const someOf = (ids: string[]) => fc.shuffledSubarray(ids);

/** Any subset of the keys, each with a value from its arbitrary. */
const patchOf = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<Record<string, unknown>>(fields, { requiredKeys: [] });

/** Responses contain only the names of headers. */
const hideHeaders = ({ headers, ...others }: Record<string, unknown>) => ({
  ...others,
  ...(headers !== undefined && {
    headers: Object.fromEntries(Object.keys(headers as object).map((name) => [name, null])),
  }),
});

const randomly = { numRuns: 12 };

test("a patch changes the keys it names and updatedAt, and no other record", async () => {
  const dashboard = await createDashboard();
  const { api, time, group, monitor, channel } = dashboard;
  const channels = [(await channel()).id, (await channel()).id];
  const monitors = [(await monitor()).id, (await monitor()).id];
  const groups = [(await group()).id, (await group()).id];
  const incident = { title: "Slow", severity: "major" };
  const createTwice = async (path: string, body: object) => {
    const make = async () => (await api("POST", path, { body })).json.data.id as string;
    return [`${path}/${await make()}`, `${path}/${await make()}`] as const;
  };
  const resources = [
    {
      paths: await createTwice("/api/v1/monitor-groups", { name: "Payments" }),
      patches: patchOf({
        name: printable,
        description: printable,
        color: fc.constantFrom("gray", "pink"),
        tags,
        alertChannelIds: someOf(channels),
        monitorIds: someOf(monitors),
      }),
    },
    {
      paths: await createTwice("/api/v1/monitors", {
        type: "http",
        name: "Intranet",
        ...newMonitors.http,
        basicAuth: { username: "a", password: "b" },
        jsonPath: "$.status",
      }),
      patches: patchOf({
        name: printable,
        description: printable,
        tags,
        groupId: generateNullable(fc.constantFrom(...groups)),
        interval: fc.integer({ min: 60, max: 86_400 }),
        timeout: fc.integer({ min: 1, max: 60 }),
        retries: fc.integer({ min: 0, max: 10 }),
        confirmations: fc.integer({ min: 1, max: 9 }),
        degradedAfterMs: generateNullable(fc.integer({ min: 1, max: 60_000 })),
        muted: fc.boolean(),
        alertChannelIds: someOf(channels),
        autoIncidentSeverity: generateNullable(fc.constantFrom("minor", "critical")),
        url: fc.webPath().map((path) => `http://intranet.lan${path}`),
        method: fc.constantFrom("GET", "POST"),
        headers: fc.dictionary(fc.constantFrom("X-A", "X-B"), fc.constantFrom("1", "2")),
        body: generateNullable(printable),
        basicAuth: fc.record({ username: fc.constantFrom("a", "c") }),
        jsonEquals: generateNullable(fc.oneof(printable, fc.integer(), fc.boolean())),
        certificateExpiryDays: generateNullable(fc.integer({ min: 1, max: 365 })),
      }),
    },
    {
      paths: await createTwice("/api/v1/alert-channels", {
        type: "webhook",
        name: "Bot",
        url: "http://bot.lan",
        secret: signingCanary,
      }),
      patches: patchOf({
        name: printable,
        enabled: fc.boolean(),
        default: fc.boolean(),
        url: fc.webPath().map((path) => `http://bot.lan${path}`),
        headers: fc.dictionary(fc.constantFrom("X-A", "X-B"), fc.constantFrom("1", "2")),
      }),
    },
    {
      paths: await createTwice("/api/v1/incidents", incident),
      patches: patchOf({
        title: printable,
        severity: fc.constantFrom("minor", "critical"),
        public: fc.boolean(),
      }).filter((patch) => Object.keys(patch).length > 0),
    },
  ];
  const read = async (path: string) => (await api("GET", path)).json.data;
  for (const { paths, patches } of resources) {
    const [path, other] = paths;
    const untouched = await read(other);
    await fc.assert(
      fc.asyncProperty(patches, async (patch) => {
        const before = await read(path);
        time.now += 1_000;
        const { status, json } = await api("PATCH", path, { body: patch });
        const updatedAt = new Date(time.now).toISOString();
        expect([status, json.data]).toEqual([200, { ...before, ...hideHeaders(patch), updatedAt }]);
        expect(await read(path)).toEqual(json.data);
        expect(await read(other)).toEqual(untouched);
      }),
      { numRuns: 25 },
    );
  }
});

const resources = ["monitor-groups", "monitors", "alert-channels", "incidents"] as const;

/** A small set of records, and their ids by resource. */
async function createRecords(api: Client) {
  const ids: Record<string, string[]> = {};
  const make = async (resource: string, body: object) => {
    const { json } = await api("POST", `/api/v1/${resource}`, { body });
    (ids[resource] ??= []).push(json.data.id);
    return json.data.id as string;
  };
  const mail = { type: "email", name: "Mail", to: ["a@b.example"] };
  const alertChannelIds = [await make("alert-channels", { ...mail, default: true })];
  const groupId = await make("monitor-groups", { name: "Payments", alertChannelIds });
  const monitorId = await make("monitors", { type: "push", name: "Job", groupId });
  await make("monitors", { type: "push", name: "Other job" });
  await make("incidents", { title: "Slow", monitorId });
  return ids;
}

/** Requests everything that an organization can read about these records. */
async function view(api: Client, ids: Record<string, string[]>) {
  const paths = resources.flatMap((resource) => [
    `/api/v1/${resource}`,
    ...(ids[resource] ?? []).map((id) => `/api/v1/${resource}/${id}`),
  ]);
  const responses = await Promise.all(paths.map((path) => api("GET", path)));
  return responses.map(({ status, headers, text }) => [status, headers.get("etag"), text]);
}

test("no action of one organization changes the responses of another", async () => {
  const any = fc.nat({ max: 5 });
  const action = fc.record({
    method: fc.constantFrom("POST", "PATCH", "PATCH", "DELETE"),
    resource: fc.constantFrom(...resources),
    target: any,
    fields: fc.record(
      { groupId: any, monitorId: any, monitorIds: fc.array(any), alertChannelIds: fc.array(any) },
      { requiredKeys: [] },
    ),
  });
  let succeeded = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 25 }), async (actions) => {
      const { ours, theirs } = await createDashboard();
      const [mine, foreign] = [await createRecords(ours.api), await createRecords(theirs.api)];
      const before = await view(theirs.api, foreign);
      const pick = (resource: string, index: number) => {
        const all = [...(mine[resource] ?? []), ...(foreign[resource] ?? [])];
        return all[index % all.length] ?? "";
      };
      const required = {
        "monitor-groups": { name: "New" },
        monitors: { name: "New", type: "push" },
        "alert-channels": { name: "New", type: "email", to: ["c@d.example"], default: true },
        incidents: { title: "New" },
      };
      const takes: Record<string, string[]> = {
        "monitor-groups": ["monitorIds", "alertChannelIds"],
        monitors: ["groupId", "alertChannelIds"],
        "alert-channels": [],
        incidents: ["monitorId"],
      };
      for (const { method, resource, target, fields } of actions) {
        const { groupId, monitorId, monitorIds, alertChannelIds } = fields;
        const named = {
          groupId: groupId === undefined ? null : pick("monitor-groups", groupId),
          monitorId: monitorId === undefined ? null : pick("monitors", monitorId),
          monitorIds: monitorIds?.map((index) => pick("monitors", index)) ?? [],
          alertChannelIds: alertChannelIds?.map((index) => pick("alert-channels", index)) ?? [],
        };
        const references = Object.entries(named).filter(
          ([name]) =>
            takes[resource]?.includes(name) && !(method === "PATCH" && resource === "incidents"),
        );
        const path = `/api/v1/${resource}`;
        const to = method === "POST" ? path : `${path}/${pick(resource, target)}`;
        const body = { ...required[resource], ...Object.fromEntries(references) };
        const { status } = await ours.api(method, to, method === "DELETE" ? {} : { body });
        expect([200, 201, 404]).toContain(status);
        if (status < 300) succeeded++;
      }
      expect(await view(theirs.api, foreign)).toEqual(before);
    }),
    randomly,
  );
  expect(succeeded).toBeGreaterThan(0);
});

test("a monitor is in at most one group, and groups and monitors agree, after single and concurrent changes", async () => {
  const index = fc.nat({ max: 4 });
  const members = fc.uniqueArray(index, { maxLength: 5 });
  const write = fc.oneof(
    fc.record({ does: fc.constant("make"), members, index }),
    fc.record({ does: fc.constantFrom("fill", "fill", "move", "move"), members, index }),
    fc.record({ does: fc.constantFrom("free", "remove", "delete"), members, index }),
  );
  const writes = fc.array(write, { minLength: 5, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(writes, fc.boolean(), async (writes, atOnce) => {
      const { api, group, monitor, changeGroup, changeMonitor } = await createDashboard();
      const repeatMake = <T>(make: () => Promise<T>) =>
        Promise.all(Array.from({ length: 5 }, make));
      const monitors = (await repeatMake(() => monitor())).map(({ id }) => id as string);
      const groups = (await repeatMake(() => group())).map(({ id }) => id as string);

      async function agree() {
        const listed = (await api("GET", "/api/v1/monitor-groups")).json.data as {
          id: string;
          monitorIds: string[];
        }[];
        const { json } = await api("GET", "/api/v1/monitors?per_page=100");
        const idsByGroups = listed.flatMap(({ id, monitorIds }) =>
          monitorIds.map((monitorId) => `${monitorId} in ${id}`),
        );
        const idsByMonitors = json.data
          .filter(({ groupId }: { groupId: string | null }) => groupId !== null)
          .map(({ id, groupId }: { id: string; groupId: string }) => `${id} in ${groupId}`);
        expect(idsByGroups.toSorted()).toEqual(idsByMonitors.toSorted());
      }

      async function perform({ does, members, index }: (typeof writes)[number]) {
        const monitorIds = members.map((member) => monitors[member] ?? "");
        const [groupId = "", monitorId = ""] = [groups[index], monitors[members[0] ?? 0]];
        const actions: Record<string, () => ReturnType<Client>> = {
          make: () => api("POST", "/api/v1/monitor-groups", { body: { name: "New", monitorIds } }),
          fill: () => changeGroup(groupId, { monitorIds }),
          move: () => changeMonitor(monitorId, { groupId }),
          free: () => changeMonitor(monitorId, { groupId: null }),
          remove: () => api("DELETE", `/api/v1/monitor-groups/${groupId}`),
          delete: () => api("DELETE", `/api/v1/monitors/${monitorId}`),
        };
        const { status, json } = (await actions[does]?.()) ?? { status: 0 };
        expect([200, 201, 404]).toContain(status);
        if (does === "make" && status === 201) groups[index] = json.data.id;
        if (!atOnce) await agree();
      }

      if (atOnce) await Promise.all(writes.map(perform));
      else for (const next of writes) await perform(next);
      await agree();
    }),
    randomly,
  );
});
