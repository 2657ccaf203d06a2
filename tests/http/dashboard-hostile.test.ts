import { expect, test } from "bun:test";
import { z } from "zod";
import { dashboard } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { setUpToken, testAppliance, unknownId } from "../support/appliance.ts";
import { createBrowserClient, signInMember } from "../support/people.ts";

/** Routes with a body that only the admin page has. */
const routes = (dashboard.routes as unknown as Route[]).filter(
  ({ path, hooks }) => !path.startsWith("/dashboard/api/") && hooks.detail?.endpoint?.body,
);

const nestArrays = (depth: number): unknown => (depth === 0 ? 1 : [nestArrays(depth - 1)]);

const values: unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u202e",
  "a'; drop table people; --",
  "x".repeat(100_000),
  "💥".repeat(10_000),
  [],
  ["x"],
  {},
  { $ne: null },
  { toString: 1 },
  { length: 1e9 },
  nestArrays(30),
  unknownId,
  setUpToken,
];

function fieldsOf({ hooks }: Route): string[] {
  return [...new Set(listNames(hooks.detail?.endpoint?.body))];
}

function listNames(schema: unknown): string[] {
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out].flatMap(listNames);
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodLazy)
    return listNames(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(listNames);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

test("hostile bodies never cause an internal error on admin page routes, nor a sign-in", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  const stranger = createBrowserClient(appliance, null);
  expect(routes.length).toBeGreaterThan(12);
  for (const route of routes) {
    const fields = fieldsOf(route);
    expect([route.path, fields.length > 0]).toEqual([route.path, true]);
    const path = route.path.replace(":id", unknownId);
    const bodies: unknown[] = [
      ...values,
      ...fields.flatMap((field) => values.map((value) => ({ [field]: value }))),
      ...values.map((value) => Object.fromEntries(fields.map((field) => [field, value]))),
      JSON.parse(`{"__proto__": {"role": "owner"}, "constructor": 1}`),
    ];
    // A request without a session is rejected before its body is read, so one body is enough.
    const rejected = await stranger(route.method, path, { body: {} });
    const clients = rejected.status === 401 ? [page] : [page, stranger];
    for (const body of bodies)
      for (const client of clients) {
        const { status, headers } = await client(route.method, path, { body });
        const sent = JSON.stringify(body).slice(0, 80);
        expect([route.path, sent, status < 500]).toEqual([route.path, sent, true]);
        expect(headers.get("set-cookie")).toBeNull();
      }
  }
  expect(appliance.logged.filter((line) => line.includes("request failed"))).toEqual([]);
});
