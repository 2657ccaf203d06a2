import { describe, expect, test } from "bun:test";
import { dashboard } from "../support/routes.ts";
import type { Role } from "../../src/core/roles.ts";
import type { Route } from "../../src/http/openapi.ts";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { buildInput, createSampleRecord, fillIds } from "../support/records.ts";
import {
  createBrowserClient,
  signInMember,
  createPerson,
  signInVisitor,
} from "../support/people.ts";

const path = "/dashboard/api/v1/incidents";
const dashboardRoutes = dashboard.routes as unknown as Route[];

test("a person with a session reads and writes the same as a key of their organization", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "member");
  const opened = await page("POST", path, { body: { title: "Slow" } });
  expect([opened.status, opened.headers.get("location")]).toEqual([
    201,
    `${path}/${opened.json.data.id}`,
  ]);
  const listed = await page("GET", path);
  expect(listed.json).toEqual((await appliance.ours.api("GET", "/api/v1/incidents")).json);
  expect(listed.headers.get("cache-control")).toBe("private, no-cache");
  const known = { "If-None-Match": listed.headers.get("etag") ?? "" };
  expect((await page("GET", path, { headers: known })).status).toBe(304);
});

test("a person's writes are in the audit log under their name", async () => {
  const appliance = await testAppliance();
  const { page, id } = await signInMember(appliance, "member", { name: "Ada" });
  const { json } = await page("POST", path, { body: { title: "Slow" } });
  const rows = appliance.database.query(
    "SELECT actor_type, actor_id, actor_name FROM audit_entries WHERE subject_id = ?",
  );
  expect(rows.values(json.data.id)).toEqual([["person", id, "Ada"]]);
});

test("the cookie is not accepted under /api/v1, nor a key under /dashboard", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  expect((await page("GET", "/api/v1/incidents")).status).toBe(401);
  const { status, json, headers } = await appliance.ours.api("GET", path);
  expect([status, json.error.code, json.error.message]).toEqual([
    401,
    "UNAUTHORIZED",
    "Sign in first.",
  ]);
  expect(headers.get("www-authenticate")).toBeNull();
});

describe("roles", () => {
  const ranked: Role[] = ["viewer", "member", "admin", "owner"];

  test("every route accepts its required role, and names it to lower roles", async () => {
    const appliance = await testAppliance();
    const pages = await Promise.all(
      ranked.map(async (role) => ({ role, page: (await signInMember(appliance, role)).page })),
    );
    const organizationRoutes = dashboardRoutes.filter(
      ({ hooks: { detail } }) =>
        ["read", "write"].includes(detail?.endpoint?.access ?? "") &&
        detail?.endpoint?.streams === undefined,
    );
    expect(organizationRoutes.length).toBeGreaterThan(30);
    for (const route of organizationRoutes) {
      const { access, role } = route.hooks.detail?.endpoint ?? {};
      const needed = role ?? (access === "write" ? "member" : "viewer");
      const at = fillIds(route.path, unknownId);
      for (const { role, page } of pages) {
        const { status, json } = await page(route.method, at, { ...buildInput(route) });
        const isLow = ranked.indexOf(role) < ranked.indexOf(needed);
        expect([route.method, at, role, status === 403]).toEqual([route.method, at, role, isLow]);
        if (isLow) expect(json.error.message).toContain(`the role ${needed}`);
      }
    }
  });

  test("the organization's settings are for its admins, and for any key with write scope", async () => {
    const appliance = await testAppliance();
    const settings = { body: { smtp: null } };
    const [low, high] = [
      await signInMember(appliance, "member"),
      await signInMember(appliance, "admin"),
    ];
    expect((await low.page("PATCH", "/dashboard/api/v1/settings", settings)).status).toBe(403);
    expect((await high.page("PATCH", "/dashboard/api/v1/settings", settings)).status).toBe(200);
    expect((await appliance.ours.api("PATCH", "/api/v1/settings", settings)).status).toBe(200);
  });
});

describe("the organization of a request", () => {
  test("is chosen by a header or a parameter, and is otherwise the first one that the person joined", async () => {
    const appliance = await testAppliance();
    const { ours, theirs, database } = appliance;
    const { id, page } = await signInMember(appliance, "member");
    const foreignIncident = await createSampleRecord(theirs.api, "incidents");
    const readIds = async (headers: Record<string, string>, query = "") =>
      (await page("GET", `${path}${query}`, { headers })).json.data?.map(
        (one: { id: string }) => one.id,
      );
    expect(await readIds({ "X-Organization": theirs.id })).toBeUndefined();
    database
      .query(
        "INSERT INTO memberships VALUES (?, ?, 'viewer', '2027-01-01T00:00:00.000Z', null, null, null)",
      )
      .run(theirs.id, id);
    appliance.time.now += 500;
    expect(await readIds({ "X-Organization": theirs.id })).toEqual([foreignIncident]);
    expect(await readIds({}, `?organization=${theirs.id}`)).toEqual([foreignIncident]);
    expect(await readIds({}, `?page=1&organization=${ours.id}`)).toEqual([]);
    expect(await readIds({})).toEqual([]);
  });

  test("of another person looks the same as an unknown one", async () => {
    const appliance = await testAppliance();
    const { page } = await signInMember(appliance, "owner");
    for (const named of [appliance.theirs.id, unknownId, "nonsense", ""]) {
      const { status, json } = await page("GET", path, { headers: { "X-Organization": named } });
      expect([status, json.error.message]).toEqual([
        404,
        "You do not belong to this organization.",
      ]);
      expect((await page("GET", `${path}?organization=${named}`)).status).toBe(404);
    }
  });

  test("decides which role applies", async () => {
    const appliance = await testAppliance();
    const { id, page } = await signInMember(appliance, "owner");
    appliance.database
      .query(
        "INSERT INTO memberships VALUES (?, ?, 'viewer', '2027-01-01T00:00:00.000Z', null, null, null)",
      )
      .run(appliance.theirs.id, id);
    appliance.time.now += 500;
    const headers = { "X-Organization": appliance.theirs.id };
    const { status } = await page("POST", path, { body: { title: "Slow" }, headers });
    expect(status).toBe(403);
  });

  test("is not a parameter of the REST API", async () => {
    const { ours } = await testAppliance();
    const { status } = await ours.api("GET", `/api/v1/incidents?organization=${ours.id}`);
    expect(status).toBe(422);
  });
});

test("an Idempotency-Key belongs to one person", async () => {
  const appliance = await testAppliance();
  const [one, other] = [
    await signInMember(appliance, "member"),
    await signInMember(appliance, "member"),
  ];
  const open = (page: typeof one.page) =>
    page("POST", path, { body: { title: "Slow" }, headers: { "Idempotency-Key": "once" } });
  const first = await open(one.page);
  expect((await open(one.page)).text).toBe(first.text);
  expect((await open(other.page)).json.data.id).not.toBe(first.json.data.id);
});

test("a change is made once per Idempotency-Key, and its stored response is only for that person", async () => {
  const appliance = await testAppliance();
  const [owner, other] = [
    await signInMember(appliance, "owner"),
    await signInMember(appliance, "owner"),
  ];
  const low = await signInMember(appliance, "viewer");
  const headers = { "Idempotency-Key": "once" };
  const incident = `${path}/${await createSampleRecord(appliance.ours.api, "incidents")}`;
  const changes: [at: string, body: object][] = [
    [incident, { message: "Found it." }],
    ["/dashboard/organization", { name: "Renamed" }],
    [`/dashboard/people/${low.id}`, { role: "viewer" }],
  ];
  for (const [at, body] of changes) {
    const send = ({ page }: Pick<typeof owner, "page">) => page("PATCH", at, { body, headers });
    const [first, again, refused, others] = [
      await send(owner),
      await send(owner),
      await send(low),
      await send(other),
    ];
    const replayed = [first, again, others].map((one) => one.headers.get("idempotency-replayed"));
    expect([at, first.status, ...replayed]).toEqual([at, 200, null, "true", null]);
    expect([at, again.text]).toEqual([at, first.text]);
    expect([at, refused.status]).toEqual([at, 403]);
  }
  // One update from each person.
  expect((await owner.page("GET", incident)).json.data.updates).toHaveLength(3);
});

test("a cached response of one organization never reaches a person of another", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "viewer");
  await createSampleRecord(appliance.ours.api, "incidents");
  const stranger = await createPerson(appliance, appliance.theirs.id, "viewer");
  const theirs = (await signInVisitor(appliance, stranger.id)).page;
  expect((await page("GET", path)).json.meta.total).toBe(1);
  expect((await theirs("GET", path)).json.meta.total).toBe(0);
  expect((await page("GET", path)).json.meta.total).toBe(1);
});

test("without a session every request is unauthorized, also for unknown paths and methods", async () => {
  const appliance = await testAppliance();
  const cookies = [
    null,
    "signalbox_session=",
    `signalbox_session=${"x".repeat(43)}`,
    `signalbox_session=${"x".repeat(5000)}`,
    "signalbox_session=%00",
  ];
  for (const cookie of cookies) {
    const page = createBrowserClient(appliance, cookie);
    for (const [method, at] of [
      ["GET", path],
      ["GET", "/dashboard/nothing"],
      ["PUT", path],
      ["OPTIONS", path],
    ] as const)
      expect([cookie, method, at, (await page(method, at)).status]).toEqual([
        cookie,
        method,
        at,
        401,
      ]);
  }
  const { page } = await signInMember(appliance, "viewer");
  expect((await page("GET", "/dashboard/nothing")).status).toBe(404);
  expect((await page("PUT", path)).status).toBe(405);
  expect((await page("OPTIONS", path)).headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
});
