import { expect, test } from "bun:test";
import { buildOpenApi, type Route } from "../../src/http/openapi.ts";
import {
  type TestResponse,
  dumpTables,
  type Options,
  testAppliance,
  unknownId,
} from "../support/appliance.ts";
import { createPerson } from "../support/people.ts";
import {
  apiRoutes,
  buildRouteBody,
  buildInput,
  createSampleRecord,
  nounOf,
  sampleBodies,
  fillIds,
  createRecordForRoute,
} from "../support/records.ts";

type Schema = {
  $ref?: string;
  format?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  [combined: string]: unknown;
};

/** The resource that an id field refers to. */
const nounNamed: Record<string, string> = {
  monitorId: "monitors",
  monitorIds: "monitors",
  groupId: "monitor-groups",
  groupIds: "monitor-groups",
  alertChannelIds: "alert-channels",
  escalationPolicyId: "escalation-policies",
  personId: "people",
  dependsOn: "monitors",
  gatewayId: "alert-channels",
  statusPageId: "status-pages",
};

/** A contact method that can use the gateway of a channel. */
const phone = { type: "sms", name: "Phone", to: "+491701234567" };

const document = buildOpenApi(apiRoutes, "1.0.0");

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split("/").pop();
  return name === undefined ? schema : (document.components?.schemas?.[name] as Schema);
}

function listAlternatives(schema: Schema): Schema[] {
  const whole = resolve(schema);
  const inner = ["oneOf", "anyOf", "allOf"].flatMap((name) => (whole[name] ?? []) as Schema[]);
  return [whole, ...inner.flatMap(listAlternatives)];
}

/** Fields of a body with an id or a list of ids, according to the document. */
function listIdFields({ method, path }: Route): [name: string, isList: boolean][] {
  const pathItem = document.paths?.[path.replace(/\/$/, "").replace(/:(\w+)/g, "{$1}")];
  const operation = pathItem?.[method.toLowerCase() as "post"];
  if (operation?.requestBody === undefined || "$ref" in operation.requestBody) return [];
  const media = operation.requestBody.content["application/json"] as { schema: Schema } | undefined;
  if (media === undefined) return [];
  const found = new Map<string, boolean>();
  for (const { properties = {} } of listAlternatives(media.schema))
    for (const [name, field] of Object.entries(properties))
      for (const { format, items } of listAlternatives(field)) {
        if (format === "uuid") found.set(name, false);
        if (items && listAlternatives(items).some((item) => item.format === "uuid"))
          found.set(name, true);
      }
  return [...found];
}

function listStatuses({ method, path }: Route): string[] {
  const pathItem = document.paths?.[path.replace(/\/$/, "").replace(/:(\w+)/g, "{$1}")];
  return Object.keys(pathItem?.[method.toLowerCase() as "post"]?.responses ?? {});
}

/** A response to the last byte, without the request id. */
function summarize({ status, headers, text, json }: TestResponse): string {
  const id = headers.get("x-request-id") ?? "";
  const names = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  expect(id).toBe(json.error?.requestId ?? id);
  return JSON.stringify([status, names, text.replaceAll(id, "")]);
}

/**
 * Two organizations with a record of every resource each; the other's records refer to each other.
 */
async function createNeighbors() {
  const appliance = await testAppliance();
  const [mine, foreign]: Record<string, string>[] = [{}, {}];
  for (const noun of Object.keys(sampleBodies)) {
    mine![noun] = await createSampleRecord(appliance.ours.api, noun);
    foreign![noun] = await createSampleRecord(appliance.theirs.api, noun);
  }
  await createSampleRecord(appliance.theirs.api, "incidents", { monitorId: foreign!["monitors"] });
  foreign!["deleted-records"] = await createRecordForRoute(appliance.theirs.api, {
    path: "/api/v1/deleted-records/:id",
  });
  foreign!["alerts"] = await createSampleRecord(appliance.theirs.api, "alerts");
  mine!["people"] = (await createPerson(appliance, appliance.ours.id, "member")).id;
  foreign!["people"] = (await createPerson(appliance, appliance.theirs.id, "member")).id;
  for (const [api, ids] of [
    [appliance.ours.api, mine],
    [appliance.theirs.api, foreign],
  ] as const)
    ids!["contact-methods"] = await createSampleRecord(api, "contact-methods", {
      personId: ids!["people"],
      ...phone,
      preset: "custom",
      url: "http://sms.lan/send",
    });
  foreign!["held-changes"] = await createSampleRecord(appliance.theirs.api, "held-changes");
  const before = dumpTables(appliance);
  return {
    ...appliance,
    mine: mine ?? {},
    foreign: foreign ?? {},
    unchanged: () => dumpTables(appliance) === before,
  };
}

test("in every path another organization's id is like an unknown one", async () => {
  const { ours, foreign, unchanged } = await createNeighbors();
  const routes = apiRoutes.filter(({ path }) => path.includes(":id"));
  expect(routes.length).toBeGreaterThan(Object.keys(sampleBodies).length);
  for (const route of routes) {
    const input = buildInput(route);
    const request = async (id: string, { headers }: Options = {}) =>
      summarize(
        await ours.api(route.method, fillIds(route.path, id), {
          ...input,
          headers: { ...input.headers, ...headers },
        }),
      );
    const id = foreign[nounOf(route.path)] ?? "";
    const variants: Options[] = [
      {},
      { headers: { "If-Match": "*" } },
      { headers: { "If-Match": '"1-x"', "If-None-Match": "*" } },
    ];
    for (const options of variants) {
      const response = await request(id, options);
      expect([route.method, route.path, response]).toEqual([
        route.method,
        route.path,
        await request(unknownId, options),
      ]);
      expect(response).toStartWith("[404,");
    }
  }
  expect(unchanged()).toBe(true);
});

test("in every body another organization's id is like an unknown one", async () => {
  const { ours, mine, foreign, unchanged } = await createNeighbors();
  const positions = apiRoutes.flatMap((route) =>
    listIdFields(route).map(([name, isList]) => ({ route, name, isList })),
  );
  expect(new Set(positions.map(({ name }) => name))).toEqual(new Set(Object.keys(nounNamed)));
  for (const { route, name, isList } of positions) {
    const named = nounNamed[name] ?? "";
    const path = fillIds(route.path, mine[nounOf(route.path)] ?? "");
    const body =
      name === "gatewayId" && route.method === "POST"
        ? { ...phone, personId: mine["people"] }
        : buildRouteBody(route);
    const buildLists = (id: string) => [[id], [mine[named], id], [id, unknownId]];
    const buildValues = (id: string) => (isList ? buildLists(id) : [id]);
    const request = (id: string) =>
      Promise.all(
        buildValues(id).map(async (value) =>
          summarize(
            await ours.api(route.method, path, {
              body: { ...body, [name]: value },
            }),
          ),
        ),
      );
    const responses = await request(foreign[named] ?? "");
    expect([route.method, path, name, responses]).toEqual([
      route.method,
      path,
      name,
      await request(unknownId),
    ]);
    for (const response of responses) expect(response).toStartWith("[404,");
    expect(listStatuses(route)).toContain("404");
  }
  expect(unchanged()).toBe(true);
});

test("in every filter another organization's id finds nothing, like an unknown one", async () => {
  const { ours, foreign } = await createNeighbors();
  const filters: [path: string, filter: string, noun: string][] = apiRoutes.flatMap(
    ({ method, path, hooks }) => {
      const query = hooks.detail?.endpoint?.query as { shape?: object } | undefined;
      return Object.keys(query?.shape ?? {})
        .filter((name) => method === "GET" && name in nounNamed)
        .map((name): [string, string, string] => [path, name, nounNamed[name] ?? ""]);
    },
  );
  expect(filters.length).toBeGreaterThan(1);
  for (const [path, filter, noun] of filters) {
    const response = await ours.api("GET", `${path}?${filter}=${foreign[noun]}`);
    expect(summarize(response)).toBe(
      summarize(await ours.api("GET", `${path}?${filter}=${unknownId}`)),
    );
    // A report needs an existing record.
    expect([path, response.status, response.json.meta?.total]).toBeOneOf([
      [path, 200, 0],
      [path, 404, undefined],
    ]);
  }
});

test("lists show only the own organization's records", async () => {
  const { ours, mine } = await createNeighbors();
  for (const noun of Object.keys(sampleBodies)) {
    const { json } = await ours.api("GET", `/api/v1/${noun}`);
    // Every organization starts with a default status page.
    const result = (json.data as { id: string; default?: boolean }[]).filter(
      (one) => one.default !== true,
    );
    expect([noun, result.map(({ id }) => id)]).toEqual([noun, [mine[noun] ?? ""]]);
  }
});
