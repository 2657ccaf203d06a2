/** Every list, text and table that a caller can enlarge has a limit. */
import { expect, test } from "bun:test";
import type { z } from "zod";
import { configured, growingTables } from "./docs/growth.ts";
import { api, dashboard } from "./support/routes.ts";
import { formatBound, type Bound, bounds, units } from "../src/core/limits.ts";
import type { Route } from "../src/http/openapi.ts";
import { dumpTables, testAppliance } from "./support/appliance.ts";
import { createSampleRecord } from "./support/records.ts";

const routes = [...api.routes, ...dashboard.routes] as unknown as Route[];
const all = Object.values(bounds).flatMap((section) => Object.entries<Bound>(section));

test("every limit has a value, a unit and an effect", () => {
  expect(all.length).toBeGreaterThan(60);
  for (const [name, { value, unit, per, effect }] of all) {
    expect([name, Number.isSafeInteger(value) && value > 0]).toEqual([name, true]);
    expect([name, Object.hasOwn(units, unit)]).toEqual([name, true]);
    expect([name, per.trim() !== "", effect.endsWith(".")]).toEqual([name, true, true]);
  }
  expect(formatBound({ value: 65_536, unit: "bytes", per: "", effect: "" })).toBe("64 KiB");
  expect(formatBound({ value: 1, unit: "rows", per: "", effect: "" })).toBe("1 row");
});

/** Tables to which only an administrator of the machine or the program itself adds rows. */
const applianceTables = [
  "the number of organizations",
  "the machines of a [cluster](cluster.md)",
  "the program itself",
];

test("every table names the limit of the rows that an organization can add", () => {
  const known = new Set(all.map(([, bound]) => bound));
  for (const entry of [...configured, ...growingTables]) {
    const name = "by" in entry ? entry.by : entry.content;
    expect([name, entry.bounds.length > 0]).toEqual([name, !applianceTables.includes(name)]);
    for (const bound of entry.bounds) expect([name, known.has(bound)]).toEqual([name, true]);
  }
});

type Def = {
  type: string;
  format?: string;
  checks?: { _zod: { def: { check: string } } }[];
  shape?: Record<string, z.core.$ZodType>;
  catchall?: z.core.$ZodType;
  options?: z.core.$ZodType[];
  items?: z.core.$ZodType[];
  getter?: () => z.core.$ZodType;
} & Partial<
  Record<"element" | "keyType" | "valueType" | "innerType" | "in" | "out", z.core.$ZodType>
>;

/** Parts of a schema that a caller can make as long as a body, by path. */
function* listUnbounded(schema: z.core.$ZodType, place: string): Generator<string> {
  const def = schema._zod.def as unknown as Def;
  const checks = (def.checks ?? []).map((one) => one._zod.def.check);
  const isBounded = checks.some((check) => ["max_length", "length_equals"].includes(check));
  if (def.type === "array" && !isBounded) yield `${place}[]`;
  if (def.type === "record") yield `${place}{}`;
  // Patterns are our own or belong to a format such as UUID.
  if (def.type === "string" && !isBounded && !checks.includes("string_format") && !def.format)
    yield place;
  if (def.type === "object") {
    for (const [name, field] of Object.entries(def.shape ?? {}))
      yield* listUnbounded(field, `${place}.${name}`);
    if (def.catchall !== undefined && def.catchall._zod.def.type !== "never") yield `${place}.*`;
  }
  for (const option of [...(def.options ?? []), ...(def.items ?? [])])
    yield* listUnbounded(option, place);
  if (def.element) yield* listUnbounded(def.element, `${place}[]`);
  if (def.keyType) yield* listUnbounded(def.keyType, `${place}{name}`);
  if (def.valueType) yield* listUnbounded(def.valueType, `${place}{}`);
  for (const inner of [def.innerType, def.in, def.out, def.getter?.()])
    if (inner) yield* listUnbounded(inner, place);
}

const long = "x".repeat(100_000);
const buildFields = (count: number, name: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), "v"]));
const http = { type: "http", name: "Shop", url: "https://shop.example" };
const buildStep = (headers: object) => ({ ...http, steps: [{ name: "a", url: "/", headers }] });

/** Parts that a refinement bounds, each with a rejected monitor or page. */
const refused: Record<string, { noun: string; body: object }> = {
  "body.headers{}": {
    noun: "monitors",
    body: { ...http, headers: buildFields(1_000, (n) => `X-${n}`) },
  },
  "body.headers{name}": { noun: "monitors", body: { ...http, headers: { [long]: "v" } } },
  "body.variables{}": {
    noun: "monitors",
    body: { ...http, variables: buildFields(1_000, (n) => `v${n}`) },
  },
  "body.variables{name}": { noun: "monitors", body: { ...http, variables: { [long]: "v" } } },
  "body.steps[].headers{}": {
    noun: "monitors",
    body: buildStep(buildFields(1_000, (n) => `X-${n}`)),
  },
  "body.steps[].headers{name}": { noun: "monitors", body: buildStep({ [long]: "v" }) },
  "body.hosts[]": {
    noun: "status-pages",
    body: { slug: "long", title: "Long", hosts: [`${"a.".repeat(50_000)}example`] },
  },
  // Its content is read as sections of records, whose count has its own test.
  "body.*": { noun: "config", body: {} },
};

test("every list, text and set of names in every request is limited", () => {
  const found = new Map<string, string>();
  for (const { method, path, hooks } of routes) {
    const { body, query } = hooks.detail?.endpoint ?? {};
    const places = [
      ...(body === undefined ? [] : listUnbounded(body, "body")),
      ...(query === undefined ? [] : listUnbounded(query, "query")),
    ];
    for (const place of places) found.set(place, `${method} ${path}`);
  }
  const names = [...found.keys()];
  expect(names.filter((place) => !Object.hasOwn(refused, place))).toEqual([]);
  expect(Object.keys(refused).filter((place) => !found.has(place))).toEqual([]);
});

for (const [place, { noun, body }] of Object.entries(refused))
  if (noun !== "config")
    test(`${place}: too much of it is rejected when a record is created and when it is changed`, async () => {
      const appliance = await testAppliance();
      const { api: client } = appliance.ours;
      const { type, slug: _slug, ...change } = body as { type?: string; slug?: string };
      const ownFields = type === "dns" ? { type, name: "DNS", host: "a.example" } : http;
      const id =
        noun === "monitors"
          ? (await client("POST", "/api/v1/monitors", { body: ownFields })).json.data.id
          : await createSampleRecord(client, noun);
      const before = dumpTables(appliance);
      const created = await client("POST", `/api/v1/${noun}`, { body });
      const changed = await client("PATCH", `/api/v1/${noun}/${id}`, { body: change });
      for (const { status, json } of [created, changed])
        expect([status, json.error.code]).toEqual([422, "VALIDATION_ERROR"]);
      expect(dumpTables(appliance)).toBe(before);
    });
