import { Elysia } from "elysia";
import { expect, test } from "bun:test";
import { z } from "zod";
import { defineEndpoint } from "../../src/http/endpoint.ts";
import { requestContext } from "../../src/http/request-context.ts";

const spec = {
  name: "getThing",
  access: "anyone",
  summary: "Get a thing",
  data: z.string(),
} as const;

test("a route of an organization's data doesn't compile without the access of limited callers", () => {
  const handle = async () => "";
  for (const access of ["read", "write"] as const) {
    // @ts-expect-error it has to declare `limited`
    defineEndpoint("/", { ...spec, access, handle });
    const [, , hook] = defineEndpoint("/", { ...spec, access, limited: "denied", handle });
    expect(hook.detail).toMatchObject({ endpoint: { limited: "denied" } });
  }
});

test("the compiler knows the parameters of a path, and whether a route has its request's context", () => {
  const known = defineEndpoint("/:id/parts/:partId", {
    ...spec,
    handle: async ({ params }) => params.id + params.partId,
  });
  // @ts-expect-error this path has no such parameter
  defineEndpoint("/:id", { ...spec, handle: async ({ params }) => params.partId });
  // @ts-expect-error its routes have no context
  const without = new Elysia().get(...known);
  const routes = new Elysia().use(requestContext).get(...known);
  expect(routes.routes.map(({ path }) => path)).toEqual(without.routes.map(({ path }) => path));
});
