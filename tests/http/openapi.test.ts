import { expect, test } from "bun:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import type { ErrorCode } from "../../src/core/errors.ts";
import { httpStatuses } from "../../src/http/responses/error-response.ts";
import { buildOpenApi, type Route } from "../../src/http/openapi.ts";
import { buildDocument } from "../../src/openapi-document.ts";
import { foreignPaths } from "../../src/monitoring/pings/ping-routes.ts";
import { testAppliance } from "../support/appliance.ts";
import { createSampleMembers } from "../support/people.ts";
import {
  apiRoutes,
  buildRouteBody,
  fillIds,
  createRecordForRoute,
  needsSentCode,
  createSampleSubscriber,
} from "../support/records.ts";

const document = buildDocument("1.0.0");

type Reference = { $ref?: string };
type Schema = Reference & { example?: object; enum?: string[]; properties: Record<string, Schema> };
type Media = { schema: Schema; examples: Record<string, { value: { error: { code: string } } }> };
type Content = { content: { "application/json": Media } };
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  "x-access": string;
  requestBody: Content;
  responses: Record<string, Content & { headers?: Record<string, object> }>;
};
const { schemas, responses } = document.components as unknown as {
  schemas: Record<string, Schema>;
  responses: Record<string, Content>;
};
const paths = document.paths as unknown as Record<string, Record<string, Operation>>;

const operations = new Map<string, Operation>(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  ),
);

test("the document states who can see a push URL, and the meaning of null for a header's value", () => {
  const buildField = (schema: string, name: string) =>
    JSON.stringify(schemas[schema]?.properties[name]);
  expect(buildField("MonitorPush", "pushUrl")).toContain('"type":["string","null"]');
  for (const [noun, type] of [
    ["Monitor", "Http"],
    ["AlertChannel", "Webhook"],
  ]) {
    expect(buildField(`${noun}${type}`, "headers")).toContain(
      '"additionalProperties":{"type":"null"}',
    );
    expect(buildField(`New${noun}${type}`, "headers")).not.toContain("null");
    expect(buildField(`${noun}Patch`, "headers")).toContain("null leaves the stored value");
  }
});

const nameOf = ({ method, path }: Route) =>
  `${method} ${path.replace(/\/$/, "").replace(/:(\w+)/g, "{$1}")}`;

function operationOf(route: Route): Operation {
  const operation = operations.get(nameOf(route));
  if (operation === undefined) throw new Error(`${nameOf(route)} is not in the document.`);
  return operation;
}

/** The example of the named schema that this one refers to. */
const exampleOf = (schema: Reference | undefined) =>
  schemas[schema?.$ref?.split("/").pop() ?? ""]?.example;

test("the document satisfies all recommended rules of Redocly", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

test("every route under /api/v1 declares its access, and the document has it", async () => {
  const { app } = await testAppliance();
  const served = (app.routes as unknown as Route[]).filter(
    ({ path }) =>
      path.startsWith("/api/v1/") && !path.endsWith(".json") && !foreignPaths.includes(path),
  );
  for (const route of served) {
    const access = route.hooks.detail?.endpoint?.access;
    // These have a body, and change nothing.
    const isRead =
      route.method === "GET" || /\/(alerting\/replay|alert-sources\/preview)$/.test(route.path);
    const neededScope = isRead ? "read" : "write";
    expect([nameOf(route), access]).toEqual([nameOf(route), neededScope]);
    expect(operationOf(route)["x-access"]).toBe(neededScope);
  }
  const besides = [
    "GET /api/v1/openapi.json",
    "GET /api/v1/config.schema.json",
    "GET /healthz",
    "GET /metrics",
    "GET /push/{token}",
    "POST /push/{token}",
    "GET /ping/{code}",
    "POST /ping/{code}",
    "GET /status/{slug}.json",
    "GET /status/{slug}/api/v2/{name}.json",
    "GET /status/{slug}/feed.rss",
    "GET /status/{slug}/feed.atom",
    "GET /status/{slug}/maintenance.ics",
    "GET /badge/monitor/{id}/{kind}.svg",
  ];
  expect(new Set(operations.keys())).toEqual(new Set([...served.map(nameOf), ...besides]));
});

test("a route without an endpoint declaration makes the document fail", () => {
  const route = { method: "GET", path: "/api/v1/forgotten", hooks: {} };
  expect(() => buildOpenApi([...apiRoutes, route], "1.0.0")).toThrow("/api/v1/forgotten");
});

test("operations have one tag of plain words and a summary, of which the reference page makes their links", () => {
  for (const [name, { tags, summary }] of operations) {
    expect([name, ...tags]).toEqual([name, expect.stringMatching(/^[A-Za-z][A-Za-z -]+$/)]);
    expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z]/)]);
  }
});

test("operations have unique ids for generated clients", () => {
  const ids = [...operations.values()].map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]*)+$/);
});

test("every error code is in the document, with an example under its status", () => {
  const codes = Object.keys(httpStatuses);
  const listed = schemas["Error"]?.properties["error"]?.properties["code"]?.enum;
  expect(new Set(listed)).toEqual(new Set(codes));
  const shownPaths: string[] = [];
  for (const [name, { content }] of Object.entries(responses))
    for (const [code, { value }] of Object.entries(content["application/json"].examples)) {
      expect([name, value.error.code]).toEqual([`Error${httpStatuses[code as ErrorCode]}`, code]);
      shownPaths.push(code);
    }
  const nowhere = ["METHOD_NOT_ALLOWED", "MISDIRECTED_REQUEST"];
  expect(new Set([...shownPaths, ...nowhere])).toEqual(new Set(codes));
});

test("every body has an example that the server accepts", async () => {
  const withBody = apiRoutes.filter(
    ({ path, hooks }) => hooks.detail?.endpoint?.body !== undefined && !needsSentCode(path),
  );
  for (const route of withBody) {
    const body = exampleOf(operationOf(route).requestBody.content["application/json"].schema);
    expect([nameOf(route), body]).toEqual([nameOf(route), expect.anything()]);
    const appliance = await testAppliance();
    await createSampleMembers(appliance);
    const { api } = appliance.ours;
    const id = route.path.includes(":id") ? await createRecordForRoute(api, route) : "";
    const updateId = route.path.includes(":updateId")
      ? (await api("GET", `/api/v1/incidents/${id}`)).json.data.updates[0].id
      : route.path.includes(":subscriberId")
        ? await createSampleSubscriber(api, id)
        : "";
    const path = fillIds(route.path, id, updateId);
    const { status } = await api(route.method, path, { body });
    const isCreation =
      route.method === "POST" &&
      !/\/(restore|snooze|bulk|preview|replay|send|subscribers-import)$/.test(route.path);
    expect([nameOf(route), status]).toEqual([nameOf(route), isCreation ? 201 : 200]);
  }
});

test("a 201 has a Location exactly if the document says so, and the new record is there", async () => {
  const creating = apiRoutes.filter(({ hooks }) => hooks.detail?.endpoint?.status === 201);
  expect(creating.length).toBeGreaterThan(7);
  const without: string[] = [];
  for (const route of creating) {
    const appliance = await testAppliance();
    await createSampleMembers(appliance);
    const { api } = appliance.ours;
    const id = route.path.includes(":id") ? await createRecordForRoute(api, route) : "";
    const options = { body: buildRouteBody(route) };
    const { status, headers, json } = await api("POST", fillIds(route.path, id), options);
    expect([nameOf(route), status]).toEqual([nameOf(route), 201]);
    const documented = operationOf(route).responses["201"]?.headers?.["Location"] !== undefined;
    const location = headers.get("location");
    expect([nameOf(route), location !== null]).toEqual([nameOf(route), documented]);
    if (location === null) without.push(nameOf(route));
    else expect((await api("GET", location)).json.data.id).toBe(json.data.id);
  }
  expect(without).toEqual([
    "POST /api/v1/incidents/{id}/notes",
    "POST /api/v1/alerts/{id}/notes",
    "POST /api/v1/schedules/{id}/overrides",
    "POST /api/v1/schedules/{id}/swaps",
    "POST /api/v1/escalation-policies/{id}/drill",
    "POST /api/v1/people/{id}/drill",
    "POST /api/v1/status-pages/{id}/access-tokens",
  ]);
});

test("every record has an example that matches a response", () => {
  const withRecord = apiRoutes.filter(
    ({ path, hooks }) => path.includes(":id") && hooks.detail?.endpoint?.bytes === undefined,
  );
  for (const route of withRecord.filter(({ method }) => method !== "DELETE")) {
    const { responses } = operationOf(route);
    const media = (responses["200"] ?? responses["201"])?.content["application/json"];
    const data = media?.schema.properties["data"] as (Schema & { items?: Schema }) | undefined;
    const items = data?.items;
    const example = exampleOf(items ?? data);
    expect([nameOf(route), example]).toEqual([nameOf(route), expect.anything()]);
    const isPaged = media?.schema.properties["meta"] !== undefined;
    const response = {
      data: items === undefined ? example : [example],
      ...(isPaged && { meta: { page: 1, per_page: 20, total: 1 } }),
    };
    expect(route.hooks.detail?.endpoint?.response.parse(response)).toEqual(response);
  }
});
