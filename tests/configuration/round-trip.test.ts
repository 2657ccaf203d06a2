import { expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { createCommandLineScope } from "../../src/cli/support/with-data.ts";
import { createConfigSchema } from "../../src/configuration/document.ts";
import { exportConfiguration } from "../../src/configuration/export-service.ts";
import { readConfigurations } from "../../src/configuration/files/read.ts";
import { formatYaml } from "../../src/configuration/files/write.ts";
import { applyConfiguration } from "../../src/configuration/service.ts";
import { createVault } from "../../src/core/security/secrets.ts";
import { parse } from "../../src/core/validation.ts";
import type { Scope } from "../../src/events/scope.ts";
import { NewMonitor } from "../../src/monitoring/monitors/schema.ts";
import { assertCheckable } from "../../src/monitoring/monitors/service.ts";
import { createMigratedStore } from "../support/engines.ts";
import { testAppliance } from "../support/appliance.ts";
import { createSampleRecord } from "../support/records.ts";
import { newChannels, newMonitors } from "../support/samples.ts";
import { createScratch } from "../support/scratch-directories.ts";

type Own = Record<string, unknown>;

const newDirectory = createScratch();
const options = { prune: true };

const odd = [
  "yes",
  "null",
  "~",
  "<<",
  "0x10",
  "1e3",
  "-",
  "?",
  "constructor",
  "${A}",
  "$$",
  "a: b #c",
];
const characters = Array.from(
  "abcXYZ019 .,:;#$%&*!|>{}[]@`'\"\\/-_?~=+<\u00a0éß日😀\u200b\ufeff\u2028",
);
const generateText = (extra: readonly string[] = []) =>
  fc.oneof(
    fc.constantFrom(...odd),
    fc
      .array(fc.constantFrom(...characters, ...extra), { maxLength: 30 })
      .map((parts) => `x${parts.join("")}`),
  );
const line = generateText();
const paragraphs = generateText(["\n", "\t", "\n\n  "]);
const tags = fc.uniqueArray(line, { maxLength: 3 });
const someOf = (keys: readonly string[]) => fc.subarray([...keys]).map((all) => all.toReversed());
const oneOf = (keys: readonly string[]) =>
  keys.length === 0 ? fc.constant(null) : fc.option(fc.constantFrom(...keys));
/** Any of these fields, or none. */
const generateSome = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Own>;
const mergeParts = (...parts: fc.Arbitrary<Own>[]) =>
  fc.tuple(...parts).map((all): Own => Object.assign({}, ...all));
const generateFixed = (fields: Own) => fc.constant(fields);

const keysOf = (prefix: string) =>
  fc
    .uniqueArray(fc.constantFrom("a", "B-1", "c_2", "toString", "constructor"), { maxLength: 4 })
    .map((all) => all.map((key) => `${prefix}${key}`));
const entriesOf = (keys: readonly string[], entry: fc.Arbitrary<Own>) =>
  fc
    .tuple(...keys.map(() => entry))
    .map((all) => Object.fromEntries(all.map((one, index) => [keys[index], one])));

const channel = fc.constantFrom(...Object.entries(newChannels)).chain(([type, fields]) =>
  mergeParts(
    generateFixed({ type, ...fields.others }),
    fc.oneof(
      generateFixed(fields.secrets),
      generateFixed(
        Object.fromEntries(
          Object.entries(fields.secrets).filter(
            ([name]) => fields.optional?.includes(name) !== true,
          ),
        ),
      ),
    ),
    generateSome({
      name: line,
      enabled: fc.boolean(),
      incidents: fc.boolean(),
      default: fc.boolean(),
    }),
    type === "webhook"
      ? generateSome({ headers: fc.constant({ "X-Key": "a $b", "x.y": "${c}" }) })
      : generateFixed({}),
  ),
);

// Some types need a command of the machine, or a setting that allows them.
const somewhere = await createEmptyOrganization();
const isAccepted = ([type, fields]: [string, object]) =>
  assertCheckable(somewhere, parse(NewMonitor, { type, name: type, ...fields })).then(
    () => true,
    () => false,
  );
const all = Object.entries(newMonitors);
const taken = await Promise.all(all.map(isAccepted));
const checkable = all.filter((_, index) => taken[index]);
const generateMonitor = (groups: readonly string[], channels: readonly string[]) =>
  fc.constantFrom(...checkable).chain(([type, fields]) =>
    mergeParts(
      generateFixed({ type, ...fields }),
      generateSome({
        name: line,
        description: paragraphs,
        tags,
        interval: fc.integer({ min: 60, max: 86_400 }),
        timeout: fc.integer({ min: 1, max: 60 }),
        retries: fc.integer({ min: 0, max: 10 }),
        paused: fc.boolean(),
        muted: fc.boolean(),
        degradedAfterMs: fc.constantFrom(null, 250),
        autoIncidentSeverity: fc.constantFrom(null, "minor", "critical"),
        group: oneOf(groups),
        alertChannels: someOf(channels),
      }),
      type === "http"
        ? generateSome({
            bearerToken: line,
            headers: fc.constant({ "X-Team": "$1", Accept: "*/*" }),
            body: paragraphs,
            expectedStatus: fc.constantFrom(["200"], ["200-299", "404"]),
          })
        : generateFixed({}),
    ),
  );

const generateWindow = (monitors: readonly string[], groups: readonly string[]) =>
  mergeParts(
    generateFixed({ startsAt: "2026-12-01T01:00:00+01:00", endsAt: "2026-12-01T02:30:00.000Z" }),
    generateSome({
      title: line,
      description: paragraphs,
      timeZone: fc.constantFrom("UTC", "Europe/Berlin"),
      rrule: fc.constantFrom(null, "FREQ=WEEKLY;BYDAY=SU"),
      monitors: someOf(monitors),
      groups: someOf(groups),
      public: fc.boolean(),
      countsUptime: fc.boolean(),
    }),
  );

const generatePage = (monitors: readonly string[], groups: readonly string[]) =>
  mergeParts(
    generateSome({
      title: line,
      description: paragraphs,
      accentColor: fc.constantFrom(null, "#2563eb"),
      theme: fc.constantFrom("auto", "dark"),
      look: fc.constantFrom({}, { font: "serif", colors: { background: "#eef2ff" } }),
      showLatency: fc.boolean(),
      showPaused: fc.boolean(),
      countImpacts: fc.boolean(),
      chatSubscriptions: fc.boolean(),
      historyDays: fc.integer({ min: 1, max: 365 }),
      slaTarget: fc.constantFrom(null, 0.999),
      timeZone: fc.constantFrom("UTC", "Europe/Berlin"),
      password: fc.oneof({ arbitrary: fc.constant(null), weight: 9 }, line),
      visibility: fc.constantFrom("public", "signed-in", "hidden"),
      allowedRoles: fc.constantFrom([], ["admin", "owner"]),
      allowedAddresses: fc.constantFrom([], ["10.0.0.0/8", "::1"]),
      indexing: fc.boolean(),
    }),
    fc
      .tuple(
        oneOf(groups),
        someOf(monitors),
        line,
        fc.boolean(),
        fc.constantFrom("everyone", "signed-in"),
      )
      .map(([group, shown, name, showDescription, audience]): Own => ({
        sections: [
          ...(group === null ? [] : [{ group, audience }]),
          {
            name,
            monitors: shown.map((one) => ({
              monitor: one,
              showDescription,
              ...(showDescription && { link: "https://shop.example/" }),
            })),
            nested: group !== null && showDescription,
            folding: showDescription ? "folded" : "auto",
          },
        ],
      })),
  );

const configurations: fc.Arbitrary<Own> = fc
  .tuple(keysOf("c"), keysOf("g"), keysOf("m"), keysOf("w"), keysOf("p"))
  .chain(([channels, groups, monitors, windows, pages]) =>
    fc.record({
      source: fc.constantFrom("main", "infra_2"),
      alertChannels: entriesOf(channels, channel),
      groups: entriesOf(
        groups,
        generateSome({
          name: line,
          description: paragraphs,
          color: fc.constantFrom("gray", "blue"),
          tags,
          alertChannels: someOf(channels),
        }),
      ),
      monitors: entriesOf(monitors, generateMonitor(groups, channels)),
      maintenanceWindows: entriesOf(windows, generateWindow(monitors, groups)),
      statusPages: fc
        .tuple(entriesOf(pages, generatePage(monitors, groups)), fc.boolean())
        .map(([all, hasOwn]) =>
          Object.fromEntries(
            Object.entries(all).map(([key, fields], index) => [
              key,
              hasOwn && index === 0
                ? { ...(fields as Own), default: true }
                : { ...(fields as Own), slug: `page-${index}` },
            ]),
          ),
        ),
    }),
  );

const schema = z.fromJSONSchema(createConfigSchema());

const exportText = async (scope: Scope) => formatYaml(await exportConfiguration(scope), true);

const readValue = (document: unknown, path: readonly string[]) =>
  path.reduce<unknown>((value, key) => (value as Own)[key], document);

async function createEmptyOrganization(): Promise<Scope> {
  const { store } = await createMigratedStore();
  const clock = () => Date.parse("2026-11-20T10:00:00.000Z");
  const { id } = await createOrganization(store, clock, "Acme");
  const vault = createVault(new Uint8Array(32).fill(7));
  return { ...createCommandLineScope({ store, vault }, id), clock };
}

/** The configuration as it is applied from a file with this text. */
async function readText(yaml: string, variables: Record<string, string> = {}): Promise<object> {
  const file = join(newDirectory(), "config.yaml");
  writeFileSync(file, yaml);
  const [read] = await readConfigurations(file, variables);
  return read?.document ?? {};
}

test("these configurations cover most types of monitors", () => {
  expect(checkable.length).toBeGreaterThan(18);
});

test("an export reproduces the organization in an empty one, exports to the same text, and changes nothing at its origin", async () => {
  await fc.assert(
    fc.asyncProperty(configurations, async (document) => {
      expect(schema.safeParse(document).error).toBeUndefined();
      const [here, there] = [await createEmptyOrganization(), await createEmptyOrganization()];
      await applyConfiguration(here, document, options);
      const { secrets } = await exportConfiguration(here);
      const variables = Object.fromEntries(
        secrets.map(({ path, variable }) => [variable, String(readValue(document, path))]),
      );
      const exported = await exportText(here);
      await applyConfiguration(there, await readText(exported, variables), options);
      expect(await exportText(there)).toBe(exported);
      const withoutSecrets = await formatYaml(await exportConfiguration(here), false);
      expect(schema.safeParse(await readText(withoutSecrets)).error).toBeUndefined();
      for (const [scope, text, set] of [
        [here, withoutSecrets, {}],
        [there, withoutSecrets, {}],
        [there, exported, variables],
      ] as const)
        expect(await applyConfiguration(scope, await readText(text, set), options)).toMatchObject({
          applied: false,
          changes: [],
        });
    }),
    { numRuns: 8 },
  );
});

test("the editor schema rejects unknown fields, and accepts variables and anchors", () => {
  const takes = (document: object) => schema.safeParse(document).success;
  expect(takes({ "x-any": 1, monitors: { a: { type: "tcp", port: "${PORT}" } } })).toBe(true);
  const withNames = { headers: { "X-Key": null }, variables: { token: null } };
  expect(takes({ monitors: { a: { type: "http", ...withNames } } })).toBe(true);
  expect(takes({ defaults: { monitors: { interval: 30, verifyTls: false } } })).toBe(true);
  for (const wrong of [
    { monitor: {} },
    { monitors: { a: { type: "tcp", url: "http://shop.example/" } } },
    { monitors: { a: { type: "tcp", port: "5432" } } },
    { monitors: { "1": { type: "tcp" } } },
    { groups: { a: { colour: "blue" } } },
    { defaults: { groups: { interval: 30 } } },
  ])
    expect([wrong, takes(wrong)]).toEqual([wrong, false]);
});

test("changes during an export are not included, and it can be applied", async () => {
  const { ours, store } = await testAppliance();
  const { api } = ours;
  const monitorId = await createSampleRecord(api, "monitors");
  const pageId = await createSampleRecord(api, "status-pages");
  const query = store.query.bind(store);
  let came = false;
  store.query = async (text, parameters) => {
    if (!came && /wanted\s+cross join monitors m/.test(text)) {
      came = true;
      const channel = await createSampleRecord(api, "alert-channels");
      const group = await createSampleRecord(api, "monitor-groups", {
        monitorIds: [monitorId],
        alertChannelIds: [channel],
      });
      const sections = [{ groupId: group, monitors: [{ id: monitorId }] }];
      await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: { sections } });
    }
    return query(text, parameters);
  };
  const { document } = (await api("GET", "/api/v1/config")).json.data;
  expect(came).toBe(true);
  expect(document.groups).toBeUndefined();
  expect(document.monitors).toMatchObject({ router: { alertChannels: [] } });
  const body = document;
  const { status, text } = await api("PUT", "/api/v1/config?dryRun&adopt", { body });
  expect([status, text]).toEqual([200, expect.stringContaining('"applied":false')]);
});
