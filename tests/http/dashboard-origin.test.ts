import { describe, expect, test } from "bun:test";
import { dashboard } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import { buildInput } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

const routes = dashboard.routes as unknown as Route[];
const writing = routes.filter(({ method }) => method !== "GET");
const at = ({ path }: Route) => path.replace(":id", unknownId);

/** Browser headers with the origin of a request, and whether it is the page itself. */
const senders: [headers: Record<string, string>, isOwn: boolean][] = [
  [{ "Sec-Fetch-Site": "same-origin" }, true],
  [{ Origin: "http://localhost" }, true],
  [{ "Sec-Fetch-Site": "same-origin", Origin: "https://localhost" }, true],
  [{}, false],
  [{ "Sec-Fetch-Site": "cross-site" }, false],
  [{ "Sec-Fetch-Site": "same-site" }, false],
  [{ "Sec-Fetch-Site": "none" }, false],
  [{ "Sec-Fetch-Site": "cross-site", Origin: "http://localhost" }, false],
  [{ Origin: "null" }, false],
  [{ Origin: "" }, false],
  [{ Origin: "http://evil.io" }, false],
  [{ Origin: "http://localhost.evil.io" }, false],
  [{ Origin: "http://localhost:3211" }, false],
  [{ Origin: "https://localhost" }, false],
  [{ Origin: "http://localhost, http://evil.io" }, false],
  [{ Referer: "http://localhost/" }, false],
];

async function setUp() {
  const appliance = await testAppliance();
  const { cookie } = await signInMember(appliance, "owner");
  return { ...appliance, ask: appliance.client(null), cookie };
}

test("no admin page route can be written to by another site, with or without a cookie", async () => {
  const appliance = await setUp();
  const before = dumpTables(appliance);
  expect(writing.length).toBeGreaterThan(40);
  for (const route of writing)
    for (const [headers] of senders.filter(([, isOwn]) => !isOwn))
      for (const Cookie of [appliance.cookie, ""]) {
        const { status, json } = await appliance.ask(route.method, at(route), {
          ...buildInput(route),
          headers: { ...buildInput(route).headers, ...headers, Cookie },
        });
        expect([route.method, route.path, headers, status, json.error.code]).toEqual([
          route.method,
          route.path,
          headers,
          403,
          "FORBIDDEN",
        ]);
      }
  expect(dumpTables(appliance)).toBe(before);
});

test("the page itself is accepted with either header that browsers send", async () => {
  const { ask, cookie } = await setUp();
  for (const [headers, isOwn] of senders) {
    const { status } = await ask("POST", "/dashboard/api/v1/incidents", {
      body: { title: "Slow" },
      headers: { ...headers, Cookie: cookie },
    });
    expect([headers, status]).toEqual([headers, isOwn ? 201 : 403]);
  }
});

test("the origin includes the port", async () => {
  const { ask, cookie } = await setUp();
  const post = (Host: string, Origin: string) =>
    ask("POST", "/dashboard/api/v1/incidents", {
      body: { title: "Slow" },
      headers: { Host, Origin, Cookie: cookie },
    });
  expect((await post("192.168.1.5:3210", "http://192.168.1.5:3210")).status).toBe(201);
  expect((await post("192.168.1.5:3210", "http://192.168.1.5")).status).toBe(403);
});

describe("under a host name that a stranger can point at this machine", () => {
  test("no admin page route works, and the response shows how to allow the name", async () => {
    const { ask, cookie } = await setUp();
    for (const Host of ["rebound.evil.io", "192.168.1.5.evil.io:3210", "localhost.evil.io"])
      for (const route of routes) {
        const { status, text } = await ask(route.method, at(route), {
          headers: {
            Host,
            Cookie: cookie,
            Origin: `http://${Host}`,
            "Sec-Fetch-Site": "same-origin",
          },
        });
        expect([route.method, route.path, status]).toEqual([route.method, route.path, 421]);
        expect(text).toContain("--allowed-host");
      }
  });

  test("not even the session route works", async () => {
    const { ask } = await setUp();
    const headers = { Host: "rebound.evil.io" };
    expect((await ask("GET", "/dashboard/session", { headers })).status).toBe(421);
    expect((await ask("GET", "/dashboard/nothing", { headers })).status).toBe(421);
  });
});

test("requests are checked in order: host, origin, session, path, method, role, body", async () => {
  const appliance = await setUp();
  const { page } = await signInMember(appliance, "viewer");
  const { ask } = appliance;
  const evil = { Host: "rebound.evil.io" };
  const sameOrigin = { "Sec-Fetch-Site": "same-origin" };
  const steps: [string, () => ReturnType<typeof ask>, number][] = [
    ["host before origin", () => ask("POST", "/dashboard/sign-in", { headers: evil }), 421],
    ["origin before session", () => ask("POST", "/dashboard/people", {}), 403],
    ["session before path", () => ask("GET", "/dashboard/nothing", {}), 401],
    ["session before method", () => ask("PUT", "/dashboard/people", { headers: sameOrigin }), 401],
    ["path", () => page("GET", "/dashboard/nothing"), 404],
    ["method before role", () => page("POST", "/dashboard/people"), 405],
    ["role before body", () => page("PATCH", `/dashboard/people/${unknownId}`, { raw: "{" }), 403],
    [
      "organization before role",
      () => page("POST", "/dashboard/invitations", { headers: { "X-Organization": unknownId } }),
      404,
    ],
  ];
  for (const [rule, send, expected] of steps)
    expect([rule, (await send()).status]).toEqual([rule, expected]);
});

test("no response of the admin page is readable by another origin", async () => {
  const { ask, cookie } = await setUp();
  const ending = routes.filter(({ hooks }) => hooks.detail?.endpoint?.streams === undefined);
  for (const route of ending.filter(({ method }) => method === "GET")) {
    const { headers } = await ask("GET", at(route), {
      headers: { Cookie: cookie, Origin: "http://evil.io" },
    });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});
