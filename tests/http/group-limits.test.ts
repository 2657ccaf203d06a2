/** A person or API key that is limited to monitor groups finds and changes nothing of other groups. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createApiKey } from "../../src/accounts/api-keys/service.ts";
import { changeMember } from "../../src/accounts/people/service.ts";
import type { z } from "zod";
import type { Route } from "../../src/http/openapi.ts";
import { monitorBounds } from "../../src/core/limits.ts";
import { type Client, unknownId } from "../support/appliance.ts";
import { openStream } from "../support/live.ts";
import { connectMcp } from "../support/mcp.ts";
import { createPager } from "../support/pager.ts";
import { createBrowser, password, signInMember } from "../support/people.ts";
import { buildInput, buildRouteQuery, fillIds, nounOf } from "../support/records.ts";
import { api, dashboard } from "../support/routes.ts";

/** In every name, title and text about the group that the limited callers can't see. */
const canary = "Canary";

/** Routes with their caller: a key for the REST API, a session for the admin page. */
const apiRoutes = api.routes as unknown as Route[];
const dashboardRoutes = (dashboard.routes as unknown as Route[]).filter(({ hooks }) =>
  ["read", "write", "person"].includes(hooks.detail?.endpoint?.access ?? ""),
);
const isStream = ({ hooks }: Route) => hooks.detail?.endpoint?.streams === "text/event-stream";

const keyInput = { name: "Limited", scope: "write" as const, expiresInMs: null };

type World = Awaited<ReturnType<typeof createWorld>>;

/** Two groups with every kind of record about them, and callers who are limited to the first group. */
async function createWorld() {
  const pager = await createPager();
  const { group, createWatchedJob, later, time } = pager;
  const admin = pager.api;
  const post = async (path: string, body: object) => {
    const { json, status, text } = await admin("POST", `/api/v1/${path}`, { body });
    if (status !== 201) throw new Error(`${path}: ${text}`);
    return json.data.id as string;
  };
  const inbox = await pager.inbox();
  const ownGroup = await group({ name: "Shop" });
  const foreign = await group({ name: `${canary} group`, tags: [canary] });
  const incident = { autoIncidentSeverity: "major", tags: ["shared"] };
  const hidden = await createWatchedJob([inbox], {
    name: `${canary} job`,
    description: canary,
    groupId: foreign.id,
    ...incident,
  });
  // No incident of a person names it, so it opens one when it goes down.
  const opener = await createWatchedJob([inbox], {
    name: `${canary} opener`,
    groupId: foreign.id,
    ...incident,
  });
  const checkout = await createWatchedJob([inbox], {
    name: "Checkout",
    groupId: ownGroup.id,
    ...incident,
  });
  const cart = await createWatchedJob([inbox], {
    name: "Cart",
    groupId: ownGroup.id,
    dependsOn: [hidden.id],
  });
  const window = { startsAt: "2026-11-22T02:00:00.000Z", endsAt: "2026-11-22T04:00:00.000Z" };
  const incidents = {
    own: await post("incidents", { title: "Checkout is slow", monitorIds: [checkout.id] }),
    both: await post("incidents", { title: "Both", monitorIds: [checkout.id, hidden.id] }),
    foreign: await post("incidents", { title: `${canary} is slow`, monitorIds: [hidden.id] }),
    none: await post("incidents", { title: `${canary} of no monitor` }),
  };
  const windows = {
    own: await post("maintenance-windows", { ...window, title: "Own", groupIds: [ownGroup.id] }),
    both: await post("maintenance-windows", {
      ...window,
      title: "Both",
      monitorIds: [checkout.id, hidden.id],
      groupIds: [foreign.id],
    }),
    foreign: await post("maintenance-windows", {
      ...window,
      title: canary,
      groupIds: [foreign.id],
    }),
    none: await post("maintenance-windows", { ...window, title: `${canary} of no monitor` }),
  };
  for (const job of [hidden, opener, checkout, cart]) await job.changeState("down");
  await pager.engine.runOnce();
  await later();
  time.now += 60_000;
  const opened = (await admin("GET", "/api/v1/incidents?open=true")).json.data as {
    id: string;
    title: string;
  }[];
  const automatic = opened.find(({ title }) => title === `${canary} opener is down`);
  if (automatic === undefined) throw new Error("No incident was opened automatically.");
  await admin("PATCH", `/api/v1/incidents/${automatic.id}`, {
    body: { monitorIds: [opener.id, checkout.id] },
  });
  const alerts = (await pager.readAlerts()) as { id: string; data: object }[];
  const findAlertIds = (text: string) =>
    alerts.filter(({ data }) => JSON.stringify(data).includes(text)).map(({ id }) => id);
  const person = await signInMember(pager, "member");
  await changeMember(pager.ours.scope, person.id, { groupIds: [ownGroup.id] });
  const other = await signInMember(pager, "member", { name: "Other" });
  await changeMember(pager.ours.scope, other.id, { groupIds: [foreign.id] });
  const owner = await signInMember(pager, "owner");
  const held = await admin("POST", "/api/v1/incidents?hold=60", { body: { title: canary } });
  const { key } = await createApiKey(pager.ours.scope, { ...keyInput, groupIds: [ownGroup.id] });
  return {
    ...pager,
    admin,
    owner,
    person,
    limited: pager.client(key),
    own: {
      "monitor-groups": ownGroup.id as string,
      monitors: checkout.id,
      incidents: incidents.own,
      "maintenance-windows": windows.own,
      alerts: findAlertIds("Checkout")[0] ?? "",
      cart: cart.id,
    },
    both: { incidents: incidents.both, "maintenance-windows": windows.both },
    /** IDs that no response to a limited caller contains. */
    foreignIds: [
      foreign.id as string,
      hidden.id,
      opener.id,
      incidents.foreign,
      incidents.none,
      automatic.id,
      windows.foreign,
      windows.none,
      ...findAlertIds(`${canary} job`).filter(
        (id) => !findAlertIds('"name":"Checkout"').includes(id),
      ),
      held.json.data.id as string,
    ],
    foreign: {
      "monitor-groups": foreign.id as string,
      monitors: hidden.id,
      incidents: incidents.foreign,
      "maintenance-windows": windows.foreign,
    },
  };
}

/** Rows of all tables that contain an ID or a text of the foreign group. */
function readForeignRows({ database, foreignIds }: World): string[] {
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  return tables
    .flatMap(({ name }) =>
      database
        .query(`SELECT * FROM "${name}"`)
        .values()
        .map((row) => `${name} ${JSON.stringify(row)}`),
    )
    .filter((row) => [canary, ...foreignIds].some((text) => row.includes(text)))
    .filter((row) => !/^(audit_entries|events|idempotent_answers) /.test(row));
}

const listLeaks = ({ foreignIds }: World, text: string) =>
  [canary, ...foreignIds].filter((one) => text.includes(one));

/** Queries that select records of a foreign monitor or group. */
const listQueries = ({ foreign }: World) => [
  "",
  `monitorId=${foreign.monitors}`,
  `groupId=${foreign["monitor-groups"]}`,
  `incidentId=${foreign.incidents}`,
  `monitorIds=${foreign.monitors}`,
  `q=${canary}`,
  `tag=${canary}`,
  `kind=monitor&id=${foreign.monitors}`,
  `kind=incident&id=${foreign.incidents}`,
  "per_page=100",
  "section=monitors",
  "at=2026-11-20T10:00:01.000Z",
];

/** Both callers with their routes. */
const listCallers = ({ limited, person }: World): [string, Client, readonly Route[]][] => [
  ["key", limited, apiRoutes],
  ["session", person.page, dashboardRoutes],
];

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.live.start();
});
afterAll(() => world.live.stop());

describe("a limited API key and a limited person", () => {
  test("see their own records, without the monitors of other groups", async () => {
    const { limited, own, both, person } = world;
    const read = async (path: string) => (await limited("GET", `/api/v1/${path}`)).json;
    const buildNames = (list: { data: { name: string }[] }) => list.data.map(({ name }) => name);
    expect(buildNames(await read("monitors"))).toEqual(["Cart", "Checkout"]);
    expect((await read("monitors?q=c")).meta.total).toBe(2);
    expect((await read(`monitors/${own.cart}`)).data.dependsOn).toEqual([]);
    expect(buildNames(await read("monitor-groups"))).toEqual(["Shop"]);
    const shared = (await read(`incidents/${both.incidents}`)).data;
    expect(shared).toMatchObject({ monitorIds: [own.monitors], notes: [] });
    const window = (await read(`maintenance-windows/${both["maintenance-windows"]}`)).data;
    expect(window).toMatchObject({ monitorIds: [own.monitors], groupIds: [] });
    const { json } = await person.page("GET", "/dashboard/overview");
    expect(json.data.ungrouped).toEqual([]);
    expect(buildNames({ data: json.data.groups })).toEqual(["Shop"]);
    expect((await read("reports")).data.monitorCount).toBe(2);
  });

  test("see which records also concern other monitors, and can’t change those", async () => {
    const { limited, admin, own, both } = world;
    const read = async (client: Client, path: string) =>
      (await client("GET", `/api/v1/${path}`)).json.data.partial;
    for (const noun of ["incidents", "maintenance-windows"] as const) {
      const path = `${noun}/${both[noun]}`;
      expect([await read(limited, path), await read(admin, path)]).toEqual([true, undefined]);
      expect(await read(limited, `${noun}/${own[noun]}`)).toBeUndefined();
      const { json } = await limited("GET", `/api/v1/${noun}?per_page=100`);
      for (const { id, partial } of json.data)
        expect([id, partial]).toEqual([id, id === both[noun] ? true : undefined]);
      const changed = await limited("PATCH", `/api/v1/${path}`, { body: { title: "Ours" } });
      expect(changed.status).toBe(403);
    }
  });

  test("find no record, count or name of another group on any route that reads", async () => {
    const { admin, owner, foreign, own, both } = world;
    const ids = [foreign.monitors, ...Object.values(own), ...Object.values(both)];
    const statuses = new Map<number, number>();
    for (const [caller, client, routes] of listCallers(world))
      for (const route of routes.filter((one) => one.method === "GET" && !isStream(one))) {
        const fixed = buildRouteQuery(route.path);
        const accepted = Object.keys(
          (route.hooks.detail?.endpoint?.query as z.ZodObject)?.shape ?? {},
        );
        const queries = route.path.includes(":id")
          ? [""]
          : listQueries(world).filter(
              (one) => one === "" || accepted.includes(one.split("=")[0] ?? ""),
            );
        const paths = route.path.includes(":id")
          ? ids.map((id) => fillIds(route.path, id))
          : [route.path];
        for (const path of paths)
          for (const query of queries) {
            const url = `${path}${fixed}${query && (fixed === "" ? "?" : "&") + query}`;
            // An unlimited caller asks first, so that the response is cached.
            await (caller === "key" ? admin : owner.page)("GET", url);
            for (const _ of ["rendered", "cached"]) {
              const { status, text, headers } = await client("GET", url);
              statuses.set(status, (statuses.get(status) ?? 0) + 1);
              const output = text + JSON.stringify([...headers]);
              expect([caller, url, listLeaks(world, output)]).toEqual([caller, url, []]);
              expect([url, status < 500]).toEqual([url, true]);
            }
          }
      }
    for (const status of [200, 403, 404]) expect(statuses.get(status)).toBeGreaterThan(20);
  }, 60_000);

  test("get the response of an unknown record for every record of another group", async () => {
    const { foreignIds } = world;
    for (const [caller, client, routes] of listCallers(world))
      for (const route of routes.filter((one) => one.path.includes(":id") && !isStream(one))) {
        const limited = route.hooks.detail?.endpoint?.limited;
        if (limited === undefined || ["unrelated", "people"].includes(limited)) continue;
        const request = async (id: string) => {
          const path = fillIds(route.path, id) + buildRouteQuery(route.path);
          const { status, text, headers } = await client(route.method, path, buildInput(route));
          return [
            caller,
            route.path,
            status,
            text.replaceAll(headers.get("x-request-id") ?? "", ""),
          ];
        };
        const unknown = await request(unknownId);
        expect([route.method, route.path, limited === "denied" ? 403 : 404]).toEqual([
          route.method,
          route.path,
          unknown[2] as number,
        ]);
        for (const id of foreignIds) expect(await request(id)).toEqual(unknown);
      }
  }, 60_000);

  test("get the same error for a dependency on a deep chain of another group as on an unknown monitor", async () => {
    const { admin, limited, own, foreign } = world;
    const create = async (groupId: string, dependsOn: string[]): Promise<string> => {
      const body = { type: "push", name: canary, groupId, dependsOn };
      return (await admin("POST", "/api/v1/monitors", { body })).json.data.id;
    };
    const chain: string[] = [];
    while (chain.length <= monitorBounds.dependencyLevels.value)
      chain.push(await create(foreign["monitor-groups"], chain.slice(-1)));
    const depend = async (id: string) => {
      const path = `/api/v1/monitors/${own.cart}`;
      const { status, json } = await limited("PATCH", path, { body: { dependsOn: [id] } });
      return [status, json.error.code, json.error.message, json.error.details];
    };
    expect(await depend(chain.at(-1) ?? "")).toEqual(await depend(unknownId));
    await admin("POST", "/api/v1/monitors/bulk", { body: { monitorIds: chain, delete: true } });
  });

  test("change no row of another group by any route that writes", async () => {
    const { own, both, foreign } = world;
    const before = readForeignRows(world);
    expect(before.length).toBeGreaterThan(20);
    for (const [caller, client, routes] of listCallers(world))
      for (const route of routes.filter((one) => one.method !== "GET")) {
        const ids = { ...own, ...both };
        const noun = nounOf(route.path);
        const input = buildInput(route);
        const bodies = [
          { monitorId: foreign.monitors },
          { monitorIds: [foreign.monitors] },
          { groupId: foreign["monitor-groups"] },
          { groupId: null },
          { groupIds: [foreign["monitor-groups"]] },
          { dependsOn: [foreign.monitors] },
        ].map((fields) => ({ body: { ...(input.body as object | undefined), ...fields } }));
        // With a record that also concerns the other group, no change is allowed.
        const path = fillIds(route.path, ids[noun as "incidents"] ?? foreign.monitors);
        const isWhole = path !== route.path && !(noun in both) && route.method === "DELETE";
        for (const options of isWhole || route.path.endsWith("/sign-out")
          ? []
          : [...bodies, input]) {
          const { text } = await client(route.method, path, options);
          expect([caller, route.method, path, listLeaks(world, text)]).toEqual([
            caller,
            route.method,
            path,
            [],
          ]);
        }
      }
    expect(readForeignRows(world)).toEqual(before);
  }, 60_000);

  test("get metrics of their own monitors", async () => {
    const { limited, client, ours } = world;
    const { key } = await createApiKey(ours.scope, {
      ...keyInput,
      groupIds: [world.own["monitor-groups"]],
    });
    const basic = { Authorization: `Basic ${Buffer.from(`:${key}`).toString("base64")}` };
    for (const { text } of [
      await limited("GET", "/metrics"),
      await client(null)("GET", "/metrics", { headers: basic }),
    ]) {
      expect(listLeaks(world, text)).toEqual([]);
      expect(text).toContain('"Cart"');
    }
  });

  test("read nothing of another group with any tool of the MCP server", async () => {
    const { ours, own, foreign } = world;
    const agent = await connectMcp(world, "write", ours, [own["monitor-groups"]]);
    const { tools } = await agent.client.listTools();
    expect(await agent.callForText("list_monitors")).toContain("Cart");
    for (const { name, annotations, inputSchema } of tools) {
      if (annotations?.readOnlyHint !== true) continue;
      const ids = (inputSchema.required ?? []).map((field) => [field, foreign.monitors]);
      const text = await agent.callForText(name, Object.fromEntries(ids) as object);
      expect([name, listLeaks(world, text)]).toEqual([name, []]);
    }
    const change = { id: foreign.incidents, message: canary, notify: false, preview: true };
    const denied = await agent.callForText("post_incident_update", change);
    expect(denied).not.toContain("is slow");
    await agent.client.close();
  });

  test("receive no event of another group on an open page", async () => {
    const { owner, person, own, foreign, admin } = world;
    const pages = [await openStream(world, person.cookie), await openStream(world, owner.cookie)];
    for (const page of pages) await page.readUntil(({ event }) => event === "hello");
    const rename = (id: string, path = "monitors") =>
      admin("PATCH", `/api/v1/${path}/${id}`, { body: { tags: ["renamed"] } });
    await rename(foreign.monitors);
    await rename(foreign["monitor-groups"], "monitor-groups");
    await admin("PATCH", `/api/v1/incidents/${foreign.incidents}`, { body: { message: canary } });
    await admin("DELETE", `/api/v1/maintenance-windows/${foreign["maintenance-windows"]}`);
    await rename(own.cart);
    const [seen = [], all = []] = await Promise.all(
      pages.map((page) =>
        page.readUntil(
          ({ event, data }) => event === "monitors" && JSON.stringify(data).includes(own.cart),
        ),
      ),
    );
    for (const page of pages) await page.leave();
    const subjects = seen.flatMap(({ event, data }) =>
      event === "change" ? [data.subjectId] : [],
    );
    expect(subjects).toEqual(["", own.cart]);
    expect(listLeaks(world, JSON.stringify(seen))).toEqual([]);
    expect(listLeaks(world, JSON.stringify(all))).not.toEqual([]);
  });

  test("lose their groups on open pages, keys and repeated requests when the limit changes", async () => {
    const { owner, person, own, foreign, ours } = world;
    const page = await openStream(world, person.cookie);
    await page.readUntil(({ event }) => event === "hello");
    const headers = { "Idempotency-Key": "once" };
    const create = () =>
      person.page("POST", "/dashboard/api/v1/incidents", {
        body: { title: "Once", monitorIds: [own.cart] },
        headers,
      });
    const { position } = (await person.page("GET", "/dashboard/overview")).json.data;
    expect((await create()).status).toBe(201);
    expect((await create()).headers.get("idempotency-replayed")).toBe("true");

    const groupIds = [foreign["monitor-groups"]];
    const { json } = await owner.page("PATCH", `/dashboard/people/${person.id}`, {
      body: { groupIds },
    });
    expect(json.data).toMatchObject({ role: "member", groupIds });
    const end = await page.readUntil(() => false).catch((error: Error) => error.message);
    expect(end).toBe("The stream is over.");
    expect((await create()).status).toBe(422);
    expect((await person.page("GET", `/dashboard/api/v1/monitors/${own.cart}`)).status).toBe(404);
    const again = await openStream(world, person.cookie, { query: `?after=${position}` });
    const first = await again.readUntil(({ event }) => event === "reset");
    await again.leave();
    expect(first.map(({ event }) => event)).toEqual(["hello", "reset"]);
    const log = await owner.page("GET", `/dashboard/audit-log?subjectId=${person.id}`);
    expect(log.json.data[0]).toMatchObject({
      action: "person.groups-changed",
      changes: [{ field: "groupIds", before: [own["monitor-groups"]], after: groupIds }],
    });
    await changeMember(ours.scope, person.id, { groupIds: [own["monitor-groups"]] });
  });

  test("see nothing of a deleted group, and see it again after its restore", async () => {
    const { admin, limited, own } = world;
    const count = async () => (await limited("GET", "/api/v1/monitors")).json.meta.total as number;
    const before = await count();
    const path = `/api/v1/monitor-groups/${own["monitor-groups"]}`;
    await admin("DELETE", path);
    expect([await count(), (await limited("GET", path)).status]).toEqual([0, 404]);
    const restored = await admin("POST", `${path}/restore`);
    expect([restored.status, await count()]).toEqual([200, before]);
  });

  test("restore their own deleted records, and no others", async () => {
    const { admin, limited, own, foreign } = world;
    const remove = async (id: string) => (await admin("DELETE", `/api/v1/monitors/${id}`)).status;
    const restore = async (id: string) =>
      (await limited("POST", `/api/v1/monitors/${id}/restore`)).status;
    expect([await remove(own.cart), await remove(foreign.monitors)]).toEqual([200, 200]);
    expect([await restore(own.cart), await restore(foreign.monitors)]).toEqual([200, 404]);
    expect((await limited("GET", `/api/v1/monitors/${own.cart}`)).status).toBe(200);
    const incident = await limited("DELETE", `/api/v1/incidents/${own.incidents}`);
    const restored = await limited("POST", `/api/v1/incidents/${own.incidents}/restore`);
    expect([incident.status, restored.status]).toEqual([200, 200]);
  });

  test("can't have a change sent that they may no longer make", async () => {
    const { owner, person, own, foreign, ours, held, time } = world;
    const path = `/dashboard/api/v1/incidents/${own.incidents}?hold=10`;
    const { json, status } = await person.page("PATCH", path, { body: { message: "Later." } });
    expect(status).toBe(202);
    await changeMember(ours.scope, person.id, { groupIds: [foreign["monitor-groups"]] });
    time.now += 11_000;
    await held.runOnce();
    const sent = await owner.page("GET", `/dashboard/api/v1/held-changes/${json.data.id}`);
    expect(sent.json.data).toMatchObject({ state: "failed", error: "There is no such incident." });
    await changeMember(ours.scope, person.id, { groupIds: [own["monitor-groups"]] });
  });
});

describe("a limit", () => {
  const body = { email: "new@team.example", role: "member" };

  test("is only for viewers and members, and names existing groups", async () => {
    const { owner, person, own } = world;
    const groupIds = [own["monitor-groups"]];
    const patch = async (change: object) =>
      (await owner.page("PATCH", `/dashboard/people/${person.id}`, { body: change })).status;
    expect(await patch({ groupIds: [] })).toBe(422);
    expect(await patch({ groupIds: [unknownId] })).toBe(404);
    expect(await patch({ groupIds: Array.from({ length: 101 }, () => crypto.randomUUID()) })).toBe(
      422,
    );
    expect(await patch({ role: "admin", groupIds })).toBe(422);
    const invite = async (fields: object) =>
      (await owner.page("POST", "/dashboard/invitations", { body: { ...body, ...fields } })).status;
    expect(await invite({ role: "owner", groupIds })).toBe(422);
    expect(await invite({ groupIds: [unknownId] })).toBe(404);
    expect(await patch({ role: "admin" })).toBe(200);
    const { json } = await owner.page("GET", "/dashboard/people");
    const found = json.data.find(({ id }: { id: string }) => id === person.id);
    expect(found).toMatchObject({ role: "admin", groupIds: null });
    expect(await patch({ role: "member", groupIds })).toBe(200);
    const foreign = { name: "Limited", groupIds: [unknownId] };
    expect((await owner.page("POST", "/dashboard/api-keys", { body: foreign })).status).toBe(404);
  });

  test("of an invitation becomes that of the person who accepts it", async () => {
    const { owner, own } = world;
    const groupIds = [own["monitor-groups"]];
    const { json } = await owner.page("POST", "/dashboard/invitations", {
      body: { ...body, groupIds },
    });
    expect(json.data.groupIds).toEqual(groupIds);
    const browser = createBrowser(world);
    const token = String(json.data.link).split("#")[1];
    const accepted = await browser.post("/invitations/accept", { token, name: "New", password });
    expect(accepted.status).toBe(200);
    const { data } = (await browser.page("GET", "/session")).json;
    expect(data.organizations).toMatchObject([{ role: "member", groupIds }]);
  });
});
