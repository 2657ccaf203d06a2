/** A complete server on a fresh database in the test's process, with two organizations and a settable clock. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ImportUploads } from "../../src/imports/uploads.ts";
import { clusterTables } from "../../src/database/backup/content.ts";
import { parseConfig } from "../../src/config.ts";
import { createApiKey, createApiKeyCache } from "../../src/accounts/api-keys/service.ts";
import { assets } from "../../src/core/assets.ts";
import { type Leases, soleNode } from "../../src/cluster/leases.ts";
import { commandLine, type Scope, buildScope } from "../../src/events/scope.ts";
import { createFairQueue } from "../../src/core/collections/fair-queue.ts";
import { type Log, logFormats, type LogLevel, createLog } from "../../src/core/log.ts";
import type { Clock } from "../../src/core/time/clock.ts";
import { type Limits, noLimits, defaultLimits, sourceBounds } from "../../src/core/limits.ts";
import { AppError } from "../../src/core/errors.ts";
import { createOwnHosts } from "../../src/core/security/own-hosts.ts";
import { type Vault, createVault } from "../../src/core/security/secrets.ts";
import {
  parseDenied,
  parseRange,
  createTargetGuard,
} from "../../src/core/security/target-guard.ts";
import { createSnsVerifier } from "../../src/alerting/sources/aws-sns.ts";
import { SourceWriter } from "../../src/alerting/sources/source-writer.ts";
import { createAlertEngine } from "../../src/alerting/deciding/engine.ts";
import { addReportMailboxes } from "../../src/reports/mailer.ts";
import { ReportPrinter } from "../../src/reports/printer.ts";
import { createSubscriberReceivers } from "../../src/status-pages/subscribers/receivers.ts";
import { CheckEngine } from "../../src/monitoring/checks/engine/check-engine.ts";
import type { Store } from "../../src/database/store.ts";
import { HeldChangeSender } from "../../src/http/held-changes/sender.ts";
import type { Route } from "../../src/http/openapi.ts";
import { LivePages } from "../../src/dashboard/live.ts";
import { createAccessTokenCache } from "../../src/core/outgoing/access-tokens.ts";
import { type Exchange, exchange as sendExchange } from "../../src/core/outgoing/http/exchange.ts";
import { createResponseCache } from "../../src/http/responses/response-cache.ts";
import type { ApiDependencies } from "../../src/api.ts";
import { createAccessLimits } from "../../src/http/access/access-limits.ts";
import type { RequestServices } from "../../src/http/services.ts";
import type { Backups } from "../../src/operations/backups/downloads.ts";
import { EventReader } from "../../src/events/reader.ts";
import { createSignals } from "../../src/events/signals.ts";
import { createTrustedHeader } from "../../src/http/access/trusted-header.ts";
import { type Proxies, createTrustedProxies } from "../../src/http/access/trusted-proxies.ts";
import { createAssetRoutes, createWebFiles } from "../../src/http/responses/web-files.ts";
import { createTransferLimit } from "../../src/http/responses/large-bodies.ts";
import { createRequestHandler } from "../../src/http/listener.ts";
import { MaintenanceWatch } from "../../src/monitoring/maintenance/watch.ts";
import { createKnownNetworks } from "../../src/http/access/known-networks.ts";
import { parseBearerToken } from "../../src/http/access/authentication.ts";
import { createNetworkLimit, createRateLimit } from "../../src/http/access/rate-limit.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { ProviderDocuments } from "../../src/accounts/single-sign-on/documents.ts";
import { createSetUpForToken } from "../../src/accounts/sign-in/set-up.ts";
import { createSessionCache } from "../../src/accounts/sessions/cache.ts";
import { createRequestMetrics } from "../../src/http/request-metrics.ts";
import { renderApplianceMetrics } from "../../src/operations/metrics/appliance.ts";
import { createServer } from "../../src/server.ts";
import { createStoreFactory } from "./engines.ts";
import type { Json } from "./json.ts";

export type TestResponse = {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; empty without JSON. */
  json: Json;
};

export type Options = {
  body?: unknown;
  /** Raw body, instead of `body` as JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
};

export type Client = (method: string, path: string, options?: Options) => Promise<TestResponse>;

type Data = {
  store: Store;
  vault: Vault;
  clock: Clock;
  /** Singleton jobs of this node; default: all. */
  leases?: Leases;
};
type Settings = {
  requestsPerMinute?: number;
  /** Allowed failed attempts per address. */
  attemptsPerMinute?: number;
  previewsPerMinute?: number;
  /** `serve --password-sign-in`. */
  passwordsEverywhere?: boolean;
  allowTarget?: string[];
  limits?: Partial<Limits>;
  denyTarget?: string[];
  /** Folder of the programs that monitors may run; null to disallow programs. */
  commandFolder?: string | null;
  /** Path of Chromium. */
  browser?: string;
  /** Whether several organizations share the machine, which blocks loopback for their checks. */
  isShared?: () => boolean;
  /** Remote address of the connection. */
  addressOf?: (request: Request) => string;
  /** Trusted proxies. */
  trustProxy?: string[];
  backups?: Backups;
  /** Folder of uploaded import files. */
  uploadsIn?: string;
  /** Replaces outgoing requests of alerts. */
  exchange?: Exchange;
  /** Timeout of one attempt, generous for busy machines. */
  attemptMs?: number;
  /** Address of `--public-url`. */
  publicUrl?: string;
  /** Folder of `--publish-dir`. */
  publishDir?: string | null;
};

/** Dependencies of requests and engines. */
type TestedAppliance = RequestServices &
  ApiDependencies & {
    events: EventReader;
    leases: Leases;
    attemptMs?: number;
    rowsAtOnce?: number;
  };

/** An engine that sends waiting deliveries and notices; `random` spreads its retries. */
export function createAlertsEngine(appliance: TestedAppliance, random = 0.5) {
  const subscribers = addReportMailboxes(createSubscriberReceivers(appliance), appliance);
  return createAlertEngine({ ...appliance, subscribers, random: () => random });
}

const assetRoutes = createAssetRoutes(join(assets.web, "assets"), "/assets");

/** The token of `--metrics-token-file`. */
export const metricsToken = "m".repeat(32);

/** The token of the first run. */
export const setUpToken = "a".repeat(43);

/** A database in memory has no directory for backups. */
const noBackups: Backups = {
  createBackup: () => Promise.reject(new AppError("UNAVAILABLE", "There is no room for a backup.")),
  take: () => null,
};

/** The proxies of `--trust-proxy`. */
export function createProxies(
  trusted: readonly string[],
  peerOf: (request: Request) => string,
  log: Pick<Log, "warn"> = { warn: () => {} },
): Proxies {
  const { trustProxy } = parseConfig({ trustProxy: trusted }, {});
  return createTrustedProxies(trustProxy, peerOf, log);
}

/** Records every log entry in every format. */
function createFullLog(lines: string[]): Log {
  const logs = logFormats.map((logFormat) =>
    createLog((line) => void lines.push(line), { logFormat, logLevel: "debug" }),
  );
  const createLevelLog =
    (level: LogLevel): Log["info"] =>
    (message, fields) => {
      for (const log of logs) log[level]?.(message, fields);
    };
  return {
    debug: createLevelLog("debug"),
    info: createLevelLog("info"),
    warn: createLevelLog("warn"),
    error: createLevelLog("error"),
  };
}

/** A complete server on this data. Its engine is not started; tests run due work. */
export function createAppliance(
  { leases = soleNode, ...given }: Data,
  {
    requestsPerMinute = 0,
    attemptsPerMinute = 10,
    passwordsEverywhere = false,
    previewsPerMinute = 240,
    allowTarget = [],
    limits = {},
    denyTarget = [],
    commandFolder = "/nowhere/commands",
    browser,
    isShared = () => false,
    addressOf: peerOf = () => "127.0.0.1",
    trustProxy = [],
    exchange,
    publicUrl,
    publishDir = null,
    attemptMs = 120_000,
    backups = noBackups,
    uploadsIn = join(tmpdir(), `signalbox-uploads-${crypto.randomUUID()}`),
  }: Settings = {},
) {
  const data = { ...given, leases };
  const { store, clock } = data;
  const logged: string[] = [];
  const log = createFullLog(logged);
  const ranges = allowTarget.map((range) => parseRange(range) ?? (["127.0.0.1", 32] as const));
  const ownHosts = createOwnHosts(["status.example"], "https://box.example:8443");
  const own = { host: "0.0.0.0", port: 3210 };
  const targets = createTargetGuard(() => [own, ...leases.listListenersOfOthers()], {
    allowed: ranges,
    denied: denyTarget.map((text) => parseDenied(text) ?? { name: text }),
    commandFolder: commandFolder ?? undefined,
    sharing: { isShared, refresh: async () => {} },
  });
  const events = new EventReader(store, log);
  const signals = createSignals();
  const maintenance = new MaintenanceWatch({
    ...data,
    targets,
    ownHosts,
    limits: { ...defaultLimits, ...limits },
    events,
    log,
  });
  const { of: maintenanceOf } = maintenance;
  const engine = new CheckEngine({
    ...data,
    monotonic: clock,
    targets,
    events,
    signals,
    log,
    browser,
    maintenanceOf,
  });
  maintenance.onChange(engine.checkSoon);
  const live = new LivePages({ ...data, events, signals, log });
  const appliance: TestedAppliance = {
    ...data,
    events,
    signals,
    log,
    targets,
    ownHosts,
    printer: new ReportPrinter(browser ?? null),
    databaseNodes: async () => [],
    smtpPort: 2525,
    readRuntime: () => ({
      dataDirectory: "/var/lib/signalbox",
      memoryBytes: 100_000_000,
      logLevel: "info",
      waiting: { ...engine.countWaiting(), pages: 0, passwords: 0 },
    }),
    limits: { ...defaultLimits, ...limits },
    responses: createResponseCache(store),
    ...createAccessLimits(clock, requestsPerMinute),
    personLimit: createRateLimit(6_000, clock),
    failureLimit: createNetworkLimit(600, clock),
    attemptLimit: createNetworkLimit(attemptsPerMinute, clock),
    passwordLimit: createRateLimit(20, clock, { windowMs: 3_600_000 }),
    knownNetworks: createKnownNetworks(),
    trustedHeader: { read: (request) => trustedHeader.read(request), signOutUrl: null },
    keys: createApiKeyCache(store, clock),
    setUp: createSetUpForToken(setUpToken, clock, () => {}),
    sessions: createSessionCache(store, clock, { passwordsEverywhere }),
    backups,
    publishDir,
    uploads: new ImportUploads(uploadsIn, clock),
    keepResults: 14,
    keepHours: 400,
    runScheduledBackup: async () => {},
    sourceWriter: new SourceWriter(data),
    verifySns: createSnsVerifier({ targets, exchange: exchange ?? sendExchange }),
    replayLimit: createRateLimit(60, clock),
    testMailLimit: createRateLimit(6, clock),
    reportLimit: createRateLimit(10, clock, { windowMs: 3_600_000 }),
    testAlertLimit: createRateLimit(30, clock),
    codeLimit: createRateLimit(3, clock, { windowMs: 15 * 60_000 }),
    previewLimit: createRateLimit(previewsPerMinute, clock),
    hostCheckLimit: createRateLimit(30, clock),
    certificate: () => null,
    pageQueue: createFairQueue(),
    live,
    accessTokens: createAccessTokenCache(),
    providerDocuments: new ProviderDocuments(),
    checkNow: engine.checkNow,
    tryCheck: engine.tryCheck,
    origin: () => "http://signalbox.lan:3210",
    linkOrigin: () => publicUrl ?? null,
    extendTimeout: () => {},
    attemptMs,
    ...(exchange && { exchange }),
  };
  const alerts = createAlertsEngine(appliance);
  const proxies = createProxies(trustProxy, peerOf, log);
  const trustedHeader = createTrustedHeader(
    { user: "Remote-User", email: "Remote-Email", name: "Remote-Name", groups: "Remote-Groups" },
    proxies.isFromTrusted,
  );
  const requests = createRequestMetrics();
  const collectors = [requests, engine, alerts, events, live];
  const { pageQueue } = appliance;
  const app = createServer({
    services: appliance,
    api: appliance,
    findCurrentLack: engine.findCurrentLack,
    web: createWebFiles(assets.web),
    assets: assetRoutes,
    metrics: {
      token: { isSentBy: (request) => parseBearerToken(request) === metricsToken },
      text: () => renderApplianceMetrics({ store, directory: null, pageQueue, collectors }),
    },
    addressOf: proxies.addressOf,
    push: {
      report: engine.report,
      reportTo: engine.reportTo,
      wrongTokens: createNetworkLimit(60, clock),
    },
    calendars: {
      wrongTokens: createNetworkLimit(60, clock),
      reads: createRateLimit(6_000, clock),
    },
    sources: {
      writer: appliance.sourceWriter,
      verifySns: appliance.verifySns,
      wrongTokens: createNetworkLimit(60, clock),
      requests: createRateLimit(sourceBounds.requests.value, clock),
    },
    alertLinks: {
      wrongTokens: createNetworkLimit(60, clock),
      requests: createRateLimit(60, clock),
      linkOrigin: () => publicUrl ?? null,
    },
  });
  const held = new HeldChangeSender({
    ...appliance,
    listRoutes: async () => app.routes as unknown as Route[],
    monotonic: clock,
  });
  const transfers = createTransferLimit();
  const response = createRequestHandler(
    { log, tls: null, proxies, requests, transfers },
    (request) => app.fetch(request),
  );
  const handle = async (request: Request) => response(request);
  return {
    appliance,
    app: { routes: app.routes, handle },
    engine,
    maintenance,
    alerts,
    live,
    proxies,
    held,
    logged,
  };
}

type App = ReturnType<typeof createAppliance>["app"];

/** A client of a server with this key. */
export function createApplianceClient(app: App, key: string | null): Client {
  return async (method, path, { body, raw, headers = {} } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        Host: "localhost",
        ...(key !== null && { Authorization: `Bearer ${key}` }),
        ...(sent !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(sent)),
        }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    });
    const response = await app.handle(request);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    const json = isJson && text !== "" ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  };
}

function createScope(appliance: TestedAppliance, organizationId: string): Scope {
  const unlimited = { ...appliance, limits: noLimits };
  return { ...buildScope(unlimited, organizationId, commandLine), origin: "http://localhost" };
}

const createScopedKey = (
  scope: Scope,
  scopeOfKey: "read" | "write",
  expiresInMs: number | null = null,
) => createApiKey(scope, { name: scopeOfKey, scope: scopeOfKey, expiresInMs });

type CreatedOrganization = Awaited<ReturnType<typeof createOrganizationWithKeys>>;

/** An organization, with a key for each scope. */
async function createOrganizationWithKeys(appliance: TestedAppliance, name: string) {
  const { id } = await createOrganization(appliance.store, appliance.clock, name);
  const scope = createScope(appliance, id);
  const writeKey = await createScopedKey(scope, "write");
  return { id, writeKey, readKey: await createScopedKey(scope, "read") };
}

function openOrganization(appliance: TestedAppliance, app: App, organization: CreatedOrganization) {
  const scope = createScope(appliance, organization.id);
  return {
    ...organization,
    scope,
    api: createApplianceClient(app, organization.writeKey.key),
    reader: createApplianceClient(app, organization.readKey.key),
    keyOf: (scopeOfKey: "read" | "write", expiresInMs: number | null = null) =>
      createScopedKey(scope, scopeOfKey, expiresInMs),
  };
}

type OpenedOrganization = ReturnType<typeof openOrganization>;

/** The alert engine behind a client, to create alerts as sample records. */
export const engineOfClient = new WeakMap<Client, { runOnce: () => Promise<void> }>();

/** Another organization, with clients for its keys. */
export const addOrganization = async (appliance: TestedAppliance, app: App, name: string) =>
  openOrganization(appliance, app, await createOrganizationWithKeys(appliance, name));

const vault = createVault(new Uint8Array(32).fill(7));
const firstTime = Date.parse("2026-11-20T10:00:00.000Z");

const createStoreOfTwo = createStoreFactory(async (store) => {
  const { appliance } = createAppliance({ store, clock: () => firstTime, vault });
  const ours = await createOrganizationWithKeys(appliance, "Ours");
  return { ours, theirs: await createOrganizationWithKeys(appliance, "Theirs") };
});

/** A complete server on a fresh database, with two organizations and a clock that tests set. */
export async function testAppliance(settings: Settings = {}) {
  const time = { now: firstTime };
  const clock = () => time.now;
  const { store, database, written } = await createStoreOfTwo();
  const { appliance, app, engine, maintenance, alerts, live, proxies, held, logged } =
    createAppliance({ store, clock, vault }, settings);

  const createClientOfKey = (key: string | null) => createApplianceClient(app, key);

  const [ours, theirs] = [written.ours, written.theirs].map((one) =>
    openOrganization(appliance, app, one),
  ) as [OpenedOrganization, OpenedOrganization];
  for (const { api } of [ours, theirs]) engineOfClient.set(api, alerts);

  return {
    app,
    appliance,
    engine,
    maintenance,
    alerts,
    live,
    proxies,
    held,
    database,
    store,
    time,
    logged,
    client: createClientOfKey,
    stranger: createClientOfKey(null),
    ours,
    theirs,
  };
}

export type TestAppliance = Awaited<ReturnType<typeof testAppliance>>;

export const unknownId = "0199a3f0-0000-7000-8000-000000000000";

/** Every row of every table as text, to prove that nothing changed. */
export function dumpTables({ database }: Pick<TestAppliance, "database">): string {
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all()
    .filter(({ name }) => !clusterTables.includes(name));
  return JSON.stringify(
    tables.map(({ name }) => [name, database.query(`SELECT * FROM "${name}"`).values()]),
  );
}
