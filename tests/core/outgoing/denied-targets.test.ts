/** Each address field of monitors, channels and other records rejects denied targets. */
import { beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { channelKinds } from "../../../src/alerting/channels/kinds-schema.ts";
import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { newChannels, newMonitors } from "../../support/samples.ts";
import { createPublisher } from "../../support/publisher.ts";
import { hasNetwork } from "../../support/real-targets.ts";
import { startTarget } from "../../support/target.ts";
import { signInMember } from "../../support/people.ts";

type TestSetUp = Awaited<ReturnType<typeof createDashboard>>;
type Way = { description: string; field: string; body: (host: string, port: number) => object };

/** Fields with an address to connect to, and how a test sets one. */
const fieldBuilders: Record<string, (host: string, port: number, sample: string) => unknown> = {
  url: (host, port, sample) => `${sample.startsWith("ws") ? "ws" : "http"}://${host}:${port}/`,
  server: (host, port) => `http://${host}:${port}`,
  webhookUrl: (host, port) => `http://${host}:${port}/hook`,
  host: (host) => host,
  connectTo: (host) => host,
  proxyUrl: (host, port) => `socks5://${host}:${port}`,
  resolver: (host, port) => `${host}:${port}`,
  oauth2: (host, port) => ({ tokenUrl: `http://${host}:${port}/token`, clientId: "probe" }),
  steps: (host, port) => [{ url: `http://${host}:${port}/` }],
};

/**
 * A DNS monitor only asks about its host and never connects to it. Browser steps contain no
 * addresses.
 */
const notPlaces = new Set(["dns.host", "browser.steps"]);

/** Position of the address in a field that contains more than an address. */
const wrappers: Record<string, string> = {
  oauth2: "oauth2.tokenUrl",
  steps: "steps[0].url",
};

/** One case for each such field of each type, so that new types are covered automatically. */
function listWays(kinds: object, samples: Record<string, object>): Way[] {
  return Object.entries(kinds as Record<string, { fields: object }>).flatMap(([type, { fields }]) =>
    Object.keys(fields)
      .filter((field) => field in fieldBuilders && !notPlaces.has(`${type}.${field}`))
      .map((field) => ({
        description: `${type}, ${field}`,
        field: wrappers[field] ?? field,
        body: (host: string, port: number) => ({
          type,
          name: "Sink",
          ...samples[type],
          ...("port" in fields && { port }),
          // Otherwise a name server would be queried for the target.
          ...(field === "proxyUrl" && { url: "http://192.0.2.7/" }),
          [field]: fieldBuilders[field]?.(
            host,
            port,
            String((samples[type] as Record<string, unknown>)[field]),
          ),
        }),
      })),
  );
}

const channelSamples = Object.fromEntries(
  Object.entries(newChannels).map(([type, { secrets, others }]) => [
    type,
    { ...secrets, ...others },
  ]),
);
const monitorWays = listWays(monitorKinds, newMonitors);
const channelWays = listWays(channelKinds, channelSamples);
type Json = { format?: string; properties?: Record<string, Json>; items?: Json; anyOf?: Json[] };

/** Paths of the addresses in a field. */
const listAddressFields = (
  { format, properties = {}, items, anyOf = [] }: Json,
  path: string,
): string[] => [
  ...(format === "uri" || /url$/i.test(path) ? [path] : []),
  ...(items === undefined ? [] : listAddressFields(items, `${path}[0]`)),
  ...anyOf.flatMap((option) => listAddressFields(option, path)),
  ...Object.entries(properties).flatMap(([name, part]) =>
    listAddressFields(part, `${path}.${name}`),
  ),
];

test("each address field of a monitor is covered here", () => {
  for (const [type, { fields }] of Object.entries(monitorKinds)) {
    const schemas: [string, z.ZodType][] = Object.entries(fields);
    const addresses = schemas.flatMap(([name, field]) =>
      listAddressFields(
        z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Json,
        name,
      ),
    );
    const tried = monitorWays.filter(({ description }) => description.startsWith(`${type}, `));
    expect(tried.map(({ field }) => field)).toEqual(expect.arrayContaining(addresses));
  }
});

const takesName = ({ field }: Way) => field !== "resolver";
const nameTarget = ({ field }: Way) => (field === "proxyUrl" ? "proxy" : "target");
/** Fields of the first connection of a check. */
const isFirst = ({ field }: Way) => !field.startsWith("steps[");

async function readRejection(appliance: TestSetUp, path: string, method: string, body: object) {
  const { status, json } = await appliance.api(method, path, { body });
  return [status, json.error?.details?.[0]];
}

const shared = "is this machine itself, which several organizations share";
const sharedIssue = `must not be connected to: this address ${shared} (see --allow-target)`;

describe("while two organizations share the machine, a loopback address is rejected in", () => {
  const findOutcome = (path: string) => [422, { path, message: sharedIssue }];
  // What is rejected leaves nothing behind.
  let dashboard: TestSetUp;
  beforeAll(async () => {
    dashboard = await createDashboard({ isShared: () => true });
  });

  test.each(monitorWays.map((way) => [way.description, way] as const))(
    "a monitor: %s",
    async (_, way) => {
      expect(
        await readRejection(dashboard, "/api/v1/monitors", "POST", way.body("127.0.0.1", 80)),
      ).toEqual(findOutcome(way.field));
    },
  );

  test.each(channelWays.map((way) => [way.description, way] as const))(
    "a channel: %s",
    async (_, way) => {
      const body = way.body("127.0.0.1", 80);
      expect(await readRejection(dashboard, "/api/v1/alert-channels", "POST", body)).toEqual(
        findOutcome(way.field),
      );
    },
  );

  test("the mail server, a subscriber's webhook and a test send", async () => {
    const { page } = await signInMember(dashboard, "admin");
    const smtp = { host: "127.0.0.1", port: 25, from: "status@team.example", tls: "none" };
    expect(await readRejection(dashboard, "/api/v1/settings", "PATCH", { smtp })).toEqual(
      findOutcome("smtp.host"),
    );
    const mail = await page("POST", "/dashboard/settings/test-mail", {
      body: { to: "ann@team.example", smtp },
    });
    expect([mail.status, mail.json.error.details[0].path]).toEqual([422, "smtp.host"]);
    const pages = (await dashboard.api("GET", "/api/v1/status-pages")).json.data;
    const subscriber = { type: "webhook", url: "http://127.0.0.1:80/" };
    const path = `/api/v1/status-pages/${pages[0].id}/subscribers`;
    expect(await readRejection(dashboard, path, "POST", subscriber)).toEqual(findOutcome("url"));
    const tried = await page("POST", "/dashboard/monitors/try", {
      body: { type: "http", name: "Sink", url: "http://127.0.0.1/" },
    });
    expect([tried.status, tried.json.error.details[0].path]).toEqual([422, "url"]);
  });
});

/** Runs a check or a channel test that connects to this host, and returns its outcome. */
async function reachHost(
  appliance: TestSetUp,
  way: Way,
  host: string,
  port: number,
): Promise<string> {
  const isMonitor = monitorWays.includes(way);
  const path = isMonitor ? "/api/v1/monitors" : "/api/v1/alert-channels";
  const body = way.body(host, port);
  const { status, json, text } = await appliance.api("POST", path, { body });
  expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
  const act = `${path}/${json.data.id}/${isMonitor ? "check" : "test"}`;
  const done = (await appliance.api("POST", act)).json.data;
  // A check of several steps names the step.
  return isMonitor ? done.message.replace(/^[^:]+: (?=Blocked)/, "") : done.attempts[0].message;
}

describe("a name that resolves to loopback is rejected at each connection, and nothing arrives, for", () => {
  test.each(
    [...monitorWays, ...channelWays]
      .filter((way) => takesName(way) && isFirst(way))
      .map((way) => [way.description, way] as const),
  )("%s", async (_, way) => {
    await using sink = await startTarget();
    const dashboard = await createDashboard({ isShared: () => true });
    const start = monitorWays.includes(way) ? "Not judged" : "Not sent";
    expect(await reachHost(dashboard, way, "localhost", sink.port)).toBe(
      `${start}: the ${nameTarget(way)} ${shared} (see --allow-target).`,
    );
    expect(sink.connections()).toBe(0);
  });
});

describe("a target in --deny-target is rejected", () => {
  const denied = "is denied by --deny-target";
  let dashboard: TestSetUp;
  beforeAll(async () => {
    dashboard = await createDashboard({ denyTarget: ["10.0.5.0/24", "*.internal.lan"] });
  });

  test.each([...monitorWays, ...channelWays].map((way) => [way.description, way] as const))(
    "when it is saved: %s",
    async (_, way) => {
      const path = monitorWays.includes(way) ? "/api/v1/monitors" : "/api/v1/alert-channels";
      const issue = async (host: string) =>
        readRejection(dashboard, path, "POST", way.body(host, 80));
      expect(await issue("10.0.5.7")).toEqual([
        422,
        { path: way.field, message: `must not be connected to: this address ${denied}` },
      ]);
      if (!takesName(way)) return;
      expect(await issue("DB.internal.lan")).toEqual([
        422,
        { path: way.field, message: `must not be connected to: this name ${denied}` },
      ]);
    },
  );

  test.each(
    [...monitorWays, ...channelWays]
      .filter((way) => takesName(way) && isFirst(way))
      // Without a network, a failing proxy counts as a problem of this machine.
      .filter((way) => way.field !== "proxyUrl" || hasNetwork())
      .map((way) => [way.description, way] as const),
  )("when a name resolves to it: %s", async (_, way) => {
    await using sink = await startTarget();
    const loopbackDenied = await createDashboard({ denyTarget: ["127.0.0.0/8", "::1"] });
    expect(await reachHost(loopbackDenied, way, "localhost", sink.port)).toBe(
      `Blocked: the ${nameTarget(way)} ${denied}.`,
    );
    expect(sink.connections()).toBe(0);
  });
});

test("once the machine is shared, stored loopback targets are rejected: a mail server, a webhook", async () => {
  await using sink = await startTarget();
  let isShared = false;
  await using publisher = await createPublisher({}, { allowTarget: [], isShared: () => isShared });
  await publisher.added({ type: "webhook", url: `http://127.0.0.1:${sink.port}/` });
  await publisher.mailbox();
  const announceIncident = async () => {
    await publisher.api("POST", "/api/v1/incidents", { body: { title: "Checkout fails" } });
    await publisher.send();
    return [sink.connections(), publisher.mails.length];
  };
  expect(await announceIncident()).toEqual([1, 1]);
  isShared = true;
  expect(await announceIncident()).toEqual([1, 1]);
  const tried =
    "SELECT count(*) AS n FROM delivery_attempts WHERE message LIKE '%several organizations%'";
  expect(publisher.database.query(tried).get()).toEqual({ n: 2 });
});
