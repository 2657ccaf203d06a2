import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildGatusPlan } from "../../src/imports/gatus/plan.ts";
import type { Plan } from "../../src/imports/plan.ts";
import {
  alert,
  announcement,
  endpoint,
  externalEndpoint,
  type Key,
  otherEndpointKeys,
  otherProviders,
  providers,
  settings,
  topLevel,
  window,
} from "../fixtures/gatus/keys.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.UTC(2026, 10, 25, 12);

type Map = Record<string, unknown>;

/** Returns a copy of the map with the value at the path. */
function applyChange(map: Map, path: string, value: unknown): Map {
  const [key = "", ...rest] = path.split(".");
  if (rest.length === 0) return { ...map, [key]: value };
  return { ...map, [key]: applyChange((map[key] ?? {}) as Map, rest.join("."), value) };
}

/** JSON is valid YAML. */
function planOf(config: Map): Promise<Plan> {
  const file = join(newDirectory(), "config.yaml");
  writeFileSync(file, JSON.stringify(config));
  return buildGatusPlan(file, {}, { now, readsNamedFiles: false });
}

const importAll = ({ records, smtp }: Plan) =>
  JSON.stringify([records.map(({ noun, fields, links }) => ({ noun, fields, links })), smtp]);
const report = ({ records, notTaken, hints }: Plan) =>
  [
    ...records.flatMap(({ notes }) => notes),
    ...notTaken.flatMap(({ name, notes }) => [name, ...notes]),
    ...hints,
  ].join("\n");

/** Asserts that the key changes the import, or that the report names it. */
async function assertCounted(before: Map, after: Map, key: string) {
  const [one, other] = [await planOf(before), await planOf(after)];
  const name = key.split(".").at(-1) ?? key;
  const [linesBefore, lines] = [report(one).split("\n"), report(other).split("\n")];
  const changedLines = [
    ...lines.filter((line) => !linesBefore.includes(line)),
    ...linesBefore.filter((line) => !lines.includes(line)),
  ];
  const isImported = importAll(one) !== importAll(other);
  expect(isImported ? name : changedLines.join("\n")).toContain(name);
  // The other providers have no overrides in Gatus.
  if (name === "overrides") return;
  for (const line of changedLines.filter((one) => one.includes(name)))
    expect(line).not.toContain("not a key of Gatus");
}

const shop: Map = {
  name: "shop",
  url: "https://shop.example/health",
  conditions: ["[STATUS] == 200"],
};
const slack = { "webhook-url": "https://hooks.example/all" };
const alerting = { slack, pagerduty: { "integration-key": "0123456789abcdef0123456789abcdef" } };
const base: Map = { alerting, endpoints: [shop] };

/** Defines a test for each key, in the map that `place` puts it into. */
function testEach(keys: readonly Key[], within: Map, place: (map: Map) => Map) {
  for (const { path, value } of keys) {
    test(`${path} is imported or named in the report`, () =>
      assertCounted(place(within), place(applyChange(within, path, value)), path));
    test(`${path} of another shape is named in the report`, async () => {
      const name = path.split(".").at(-1) ?? path;
      for (const odd of listOddShapes(value)) {
        const before = report(await planOf(place(within))).split("\n");
        const after = report(await planOf(place(applyChange(within, path, odd)))).split("\n");
        const added = after.filter((line) => !before.includes(line));
        expect(added.join("\n"), JSON.stringify(odd)).toContain(name);
      }
    });
  }
}

/** Values of other YAML types than the value. */
function listOddShapes(value: unknown): unknown[] {
  const shapes = ["odd", ["odd"], { odd: "odd" }];
  const kindOf = (one: unknown) => (Array.isArray(one) ? "list" : typeof one);
  return shapes.filter((shape) => kindOf(shape) !== kindOf(value));
}

describe("a top-level key", () => testEach(topLevel, base, (config) => config));

describe("a setting", () => {
  const maintenance = { maintenance: { start: "23:00", duration: "1h" } };
  testEach(settings, { ...base, ...maintenance, ui: { "dark-mode": "true" } }, (config) => config);
});

describe("a key of an endpoint", () => {
  testEach(endpoint, shop, (one) => ({ ...base, endpoints: [one] }));
  for (const { url, base: also = {}, keys } of otherEndpointKeys)
    testEach(keys, { ...shop, url, conditions: ["[CONNECTED] == true"], ...also }, (one) => ({
      ...base,
      endpoints: [one],
    }));
});

describe("a key of an external endpoint", () =>
  testEach(
    externalEndpoint,
    { name: "backup", token: "backup-token-of-gatus", heartbeat: { interval: "1h" } },
    (one) => ({ ...base, "external-endpoints": [one] }),
  ));

describe("a key of a maintenance window", () =>
  testEach(window, { start: "02:00", duration: "1h" }, (one) => ({
    ...base,
    endpoints: [{ ...shop, "maintenance-windows": [one] }],
  })));

describe("a key of an alert", () =>
  testEach(alert, { type: "slack" }, (one) => ({
    ...base,
    endpoints: [{ ...shop, alerts: [one] }],
  })));

describe("a key of a default alert", () =>
  testEach(
    alert.filter(({ path }) => path !== "type"),
    {},
    (one) => ({
      alerting: { ...alerting, slack: { ...slack, "default-alert": one } },
      endpoints: [{ ...shop, alerts: [{ type: "slack" }] }],
    }),
  ));

describe("a key of an announcement", () =>
  testEach(
    announcement,
    { timestamp: "2025-03-01T00:00:00Z", type: "outage", message: "Down" },
    (one) => ({ ...base, announcements: [one] }),
  ));

for (const [type, { base: own, keys }] of Object.entries(providers)) {
  const buildWithProvider = (provider: Map, override: Map = {}) => ({
    alerting: { [type]: provider },
    endpoints: [
      {
        ...shop,
        group: "core",
        alerts: [
          { type, ...(Object.keys(override).length > 0 && { "provider-override": override }) },
        ],
      },
    ],
  });
  describe(`a key of the provider ${type}`, () =>
    testEach(keys, own, (one) => buildWithProvider(one)));

  describe(`a key in a group override of ${type}`, () => {
    for (const { path, value } of keys)
      test(`${path} is imported or named in the report`, () =>
        assertCounted(
          buildWithProvider(own),
          buildWithProvider({ ...own, overrides: [{ group: "core", [path]: value }] }),
          ["gotify", "pushover", "opsgenie"].includes(type) ? "overrides" : path,
        ));
  });

  describe(`a key in the override of an alert by ${type}`, () => {
    for (const { path, value } of keys)
      test(`${path} is imported or named in the report`, () =>
        assertCounted(buildWithProvider(own), buildWithProvider(own, { [path]: value }), path));
  });
}

for (const type of otherProviders)
  test(`the provider ${type} and its keys are named in the report, and at the monitor that has it`, async () => {
    const plan = await planOf({
      alerting: { [type]: { "some-key": "s3cret", overrides: [{ group: "core" }] } },
      endpoints: [{ ...shop, alerts: [{ type }] }],
    });
    const [left] = plan.notTaken;
    expect(left).toMatchObject({ noun: "alert-channel", name: type });
    expect(left?.notes.join()).toContain("some-key, overrides");
    expect(plan.records[0]?.notes.join()).toContain(
      `No alerts by ${type}: Signalbox does not import this provider`,
    );
    expect(JSON.stringify(plan)).not.toContain("s3cret");
  });

test("an unknown key is named at any level", async () => {
  const plan = await planOf({
    "top-typo": "1",
    "x-anchors": { left: "alone" },
    alerting: {
      slack: { ...slack, "slack-typo": "1", "default-alert": { "usual-typo": "1" } },
      smoke: { signal: "1" },
    },
    maintenance: { start: "23:00", duration: "1h", "window-typo": "1" },
    ui: { header: "Acme", "ui-typo": "1" },
    announcements: [{ timestamp: "2025-03-01T00:00:00Z", message: "Hi", "note-typo": "1" }],
    endpoints: [
      {
        ...shop,
        "endpoint-typo": "1",
        client: { "client-typo": "1", oauth2: { "oauth-typo": "1" } },
        alerts: [{ type: "slack", "alert-typo": "1" }],
        "maintenance-windows": [{ start: "02:00", duration: "1h", "night-typo": "1" }],
      },
    ],
    "external-endpoints": [
      { name: "backup", token: "t", "external-typo": "1", heartbeat: { "beat-typo": "1" } },
    ],
  });
  const text = report(plan);
  for (const place of "top slack usual window ui note endpoint client oauth alert night external beat".split(
    " ",
  ))
    expect(text).toContain(`${place}-typo`);
  expect(text).toContain("smoke");
  expect(text).not.toContain("x-anchors");
});
