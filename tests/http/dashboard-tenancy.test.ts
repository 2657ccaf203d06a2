import { expect, test } from "bun:test";
import { dashboard } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { type TestResponse, dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import {
  buildInput,
  createSampleRecord,
  sampleBodies,
  buildRouteQuery,
} from "../support/records.ts";
import { signInMember, createPerson, signInVisitor } from "../support/people.ts";

/** Without the routes of administrators, which concern the whole appliance. */
const routes = (dashboard.routes as unknown as Route[]).filter(
  ({ path, hooks }) => path.includes(":id") && hooks.detail?.endpoint?.access !== "administrator",
);

/** A response to the last byte, without the request id. */
function summarize({ status, headers, text }: TestResponse): string {
  const id = headers.get("x-request-id") ?? "";
  const names = [...headers].filter(([name]) => name !== "x-request-id");
  return JSON.stringify([status, names, text.replaceAll(id, "")]);
}

/** An owner of ours, and the ids of all records of another organization. */
async function createNeighbors() {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  const stranger = await createPerson(appliance, appliance.theirs.id, "owner");
  const theirs = await signInVisitor(appliance, stranger.id);
  const invitation = await theirs.page("POST", "/dashboard/invitations", {
    body: { email: "bea@their.example", role: "viewer" },
  });
  const foreign = [stranger.id, theirs.id, appliance.theirs.writeKey.id, invitation.json.data.id];
  for (const noun of Object.keys(sampleBodies))
    foreign.push(await createSampleRecord(appliance.theirs.api, noun));
  foreign.push(await createSampleRecord(appliance.theirs.api, "alerts"));
  return { ...appliance, page, other: theirs, foreign };
}

/** A valid change of this route's records. */
function buildRouteInput(route: Route) {
  const changes = new Map<string, object>([
    ["PATCH /dashboard/people/:id", { role: "viewer" }],
    ["PATCH /dashboard/api-keys/:id", { groupIds: null }],
  ]);
  const body = changes.get(`${route.method} ${route.path}`);
  const plain = { ...route, path: route.path.replace(/^\/dashboard/, "") };
  return body === undefined ? buildInput(plain) : { body };
}

test("in every path of the admin page another organization's record is like an unknown one", async () => {
  const appliance = await createNeighbors();
  const { page, foreign } = appliance;
  const before = dumpTables(appliance);
  expect(routes.length).toBeGreaterThan(25);
  for (const route of routes) {
    const request = async (id: string) =>
      summarize(
        await page(
          route.method,
          route.path.replace(":id", id) + buildRouteQuery(route.path),
          buildRouteInput(route),
        ),
      );
    const unknown = await request(unknownId);
    expect([route.method, route.path, unknown.slice(0, 5)]).toEqual([
      route.method,
      route.path,
      "[404,",
    ]);
    for (const id of foreign)
      expect([route.path, await request(id)]).toEqual([route.path, unknown]);
  }
  expect(dumpTables(appliance)).toBe(before);
});

test("no list of the admin page contains records of another organization", async () => {
  const { page, foreign } = await createNeighbors();
  const lists = (dashboard.routes as unknown as Route[]).filter(
    ({ method, path, hooks }) =>
      method === "GET" && !path.includes(":id") && hooks.detail?.endpoint?.streams === undefined,
  );
  expect(lists.length).toBeGreaterThan(12);
  for (const { path } of lists) {
    const { text } = await page("GET", path);
    expect([path, foreign.filter((id) => text.includes(id))]).toEqual([path, []]);
  }
});

test("a person can't act in an organization that they left", async () => {
  const appliance = await createNeighbors();
  const { page, other, ours } = appliance;
  const known = await signInMember(appliance, "admin");
  await page("DELETE", `/dashboard/people/${known.id}`);
  const headers = { "X-Organization": ours.id };
  expect((await known.page("GET", "/dashboard/people", { headers })).status).toBe(401);
  expect((await other.page("GET", "/dashboard/people", { headers })).status).toBe(404);
});
