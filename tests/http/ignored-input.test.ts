import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { api, dashboard as pageApi } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { type TestResponse, dumpTables, type Options, unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { buildInput } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

const routes = [...api.routes, ...pageApi.routes] as unknown as Route[];
const endpointOf = ({ hooks }: Route) => hooks.detail!.endpoint!;
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const isRead = ({ method }: Route) => method === "GET";

/** An appliance with a client of full rights, by key or, on the admin page, by session. */
async function createCaller() {
  const appliance = await createDashboard();
  const owner = await signInMember(appliance, "owner");
  const send = (route: Route, query = "", options: Options = {}): Promise<TestResponse> => {
    const path = route.path.replaceAll(/:\w+/g, unknownId) + query;
    return route.path.startsWith("/dashboard")
      ? owner.page(route.method, path, options)
      : appliance.api(route.method, path, options);
  };
  return { ...appliance, send };
}

/** The routes that do not reject this input at this field. */
async function findAccepting(
  tried: readonly Route[],
  path: string,
  inputFor: (route: Route) => { query?: string; options?: Options },
) {
  const world = await createCaller();
  const before = dumpTables(world);
  const taken: string[] = [];
  for (const route of tried) {
    const { query = "", options = {} } = inputFor(route);
    const { status, json } = await world.send(route, query, options);
    const paths = (json.error?.details ?? []).map((detail: { path: string }) => detail.path);
    if (status !== 422 || !paths.includes(path))
      taken.push(`${nameOf(route)}: ${status} ${JSON.stringify(json.error ?? null)}`);
    world.time.now += 60_000;
  }
  expect(taken).toEqual([]);
  expect(dumpTables(world)).toBe(before);
}

const buildJson = (raw: string): Options => ({
  raw,
  headers: { "Content-Type": "application/json" },
});

/** Routes of administrators return 403 before they read any input. */
const usable = routes.filter((route) => endpointOf(route).access !== "administrator");

describe("no route ignores", () => {
  test("an unknown query parameter", async () => {
    expect(usable.length).toBeGreaterThan(100);
    await findAccepting(usable, "limitt", (route) => ({
      query: "?limitt=5",
      options: endpointOf(route).upload === undefined ? bodyOf(route) : buildInput(route),
    }));
  });

  test("one of two values of a query parameter", async () => {
    const named = usable.flatMap((route) => {
      const { query } = endpointOf(route);
      const shape = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
      return shape.length > 0 && isRead(route) ? [[route, shape[0] ?? ""] as const] : [];
    });
    expect(named.length).toBeGreaterThan(5);
    for (const [route, name] of named)
      await findAccepting([route], name, () => ({ query: `?${name}=1&${name}=2` }));
  });

  test("the body of a GET", async () => {
    await findAccepting(usable.filter(isRead), "body", () => ({
      options: { headers: { "Content-Length": "13" } },
    }));
    await findAccepting(usable.filter(isRead), "body", () => ({
      options: { headers: { "Transfer-Encoding": "chunked" } },
    }));
  });

  const writing = usable.filter(
    (route) => !isRead(route) && endpointOf(route).upload === undefined,
  );

  test("a field that it does not know", async () => {
    await findAccepting(writing, "dryRunn", ({ path }) => {
      const type =
        types[
          path
            .replace(/\/(try)?$/, "")
            .split("/")
            .at(-1) ?? ""
        ];
      const body = { ...(type !== undefined && { type }), dryRunn: true };
      return { options: buildJson(JSON.stringify(body)) };
    });
  });

  test("one of two values of a field", async () => {
    const repeatedField = buildJson('{"paused":true,"name":"Shop","paused":false}');
    await findAccepting(writing, "paused", () => ({ options: repeatedField }));
    const escaped = buildJson(String.raw`{"paused":true,"p\u0061used":false}`);
    await findAccepting(writing.slice(0, 5), "paused", () => ({ options: escaped }));
    const deep = buildJson('{"a":[{},{"b":{"c":1,"d":[],"c":{}}}]}');
    await findAccepting(writing.slice(0, 5), "a[1].b.c", () => ({ options: deep }));
  });
});

/** An example type for each resource with types. */
const types: Record<string, string> = {
  monitors: "http",
  "alert-channels": "email",
  "contact-methods": "email",
  subscribers: "email",
};

/** A JSON body if the route has one; the query is validated before its fields. */
function bodyOf(route: Route): Options {
  return endpointOf(route).body === undefined ? {} : buildJson("{}");
}

/** Boolean fields of a body, with the types that have them. */
function listBooleans(schema: z.ZodType): { name: string; type?: string; isNullable: boolean }[] {
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;
  const definitions = whole.$defs ?? {};
  const resolve = (shape: Shape): Shape =>
    shape.$ref === undefined ? shape : (definitions[shape.$ref.split("/").at(-1) ?? ""] ?? {});
  const listBranches = (shape: Shape): Shape[] =>
    shape.properties === undefined
      ? [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])].flatMap((one) =>
          listBranches(resolve(one)),
        )
      : [shape];
  return listBranches(resolve(whole)).flatMap(({ properties = {} }) => {
    const type = properties["type"]?.const;
    return Object.entries(properties).flatMap(([name, field]) => {
      const types = [field, ...(field.anyOf ?? [])].flatMap((one) => one.type ?? []);
      // A PATCH fits any type. If a field has another meaning in some types, the stored record
      // decides.
      const isOther = field.anyOf?.some((one) => one.type === undefined) ?? false;
      if (isOther || !types.includes("boolean") || types.includes("string")) return [];
      return [{ name, isNullable: types.includes("null"), ...(type !== undefined && { type }) }];
    });
  });
}

type Shape = {
  $ref?: string;
  $defs?: Record<string, Shape>;
  type?: string;
  const?: string;
  anyOf?: Shape[];
  oneOf?: Shape[];
  properties?: Record<string, Shape>;
};

test("a boolean is true or false, not a word, a number or null", () => {
  const wrong: string[] = [];
  let count = 0;
  for (const route of routes) {
    const { body } = endpointOf(route);
    if (body === undefined) continue;
    for (const { name, type, isNullable } of listBooleans(body)) {
      count++;
      for (const value of [
        "false",
        "true",
        "no",
        "",
        0,
        1,
        [],
        {},
        ...(isNullable ? [] : [null]),
      ]) {
        const result = body.safeParse({ ...(type !== undefined && { type }), [name]: value });
        const isNamed =
          !result.success && JSON.stringify(result.error.issues).includes(`"${name}"`);
        if (!isNamed)
          wrong.push(`${nameOf(route)} ${type ?? ""} ${name}: ${JSON.stringify(value)}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(50);
});
