import { expect, test } from "bun:test";
import { dashboard } from "../support/routes.ts";
import { Role } from "../../src/core/roles.ts";
import type { Route } from "../../src/http/openapi.ts";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { buildInput, fillIds } from "../support/records.ts";
import { createBrowserClient, signInMember } from "../support/people.ts";
import approved from "./dashboard-roles.json" with { type: "json" };

const routes = dashboard.routes as unknown as Route[];

/** The lowest role that a route declares. */
function describeAccess({ method, path, hooks }: Route): string {
  const spec = hooks.detail?.endpoint;
  if (spec === undefined) throw new Error(`${method} ${path} declares no endpoint.`);
  if (spec.access === "read") return spec.role ?? "viewer";
  if (spec.access === "write") return spec.role ?? "member";
  return spec.access;
}

const nameOf = ({ method, path }: Route) => `${method} ${path.replace(/\/$/, "")}`;

test("every route of the admin page and its required role are on the approved list", () => {
  const declared = Object.fromEntries(
    routes.map((route) => [nameOf(route), describeAccess(route)]),
  );
  expect(declared).toEqual(approved);
});

test("every route accepts the listed role and higher ones, and no others", async () => {
  const appliance = await testAppliance();
  const visitors: [who: string, page: ReturnType<typeof createBrowserClient>][] = [
    ["stranger", createBrowserClient(appliance, null)],
  ];
  for (const role of Role.options)
    visitors.push([role, (await signInMember(appliance, role)).page]);
  // An administrator has no more rights in an organization than their role.
  const runs = await signInMember(appliance, "viewer", { administrator: true });
  visitors.push(["administrator", runs.page]);

  const roles: readonly string[] = Role.options;
  const mayEnter = (who: string, needed: string) => {
    if (needed === "anyone") return true;
    if (who === "stranger") return false;
    if (needed === "person") return true;
    if (needed === "administrator") return who === "administrator";
    return roles.indexOf(who === "administrator" ? "viewer" : who) >= roles.indexOf(needed);
  };
  for (const route of routes) {
    const needed = describeAccess(route);
    // Signing out needs no role, and a stream does not end.
    if (needed === "anyone" || route.hooks.detail?.endpoint?.streams === "text/event-stream")
      continue;
    if (/\/(password|end-others)$/.test(route.path)) continue;
    for (const [who, page] of visitors) {
      const at = fillIds(route.path, unknownId);
      const { status, json } = await page(route.method, at, { ...buildInput(route) });
      const messages = [nameOf(route), who, [401, 403].includes(status)];
      expect(messages).toEqual([nameOf(route), who, !mayEnter(who, needed)]);
      if (status === 403) expect(json.error.message).toContain(needed);
    }
  }
});
