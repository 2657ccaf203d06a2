/**
 * Creates the API, the admin page and the public pages, for the main port and the public port. Loaded with the first
 * request, so that a start loads no routes.
 */
import { hourMs } from "./core/time/clock.ts";
import { join } from "node:path";
import { createPublicLinkRoutes } from "./alerting/records/routes.ts";
import type { FairQueue } from "./core/collections/fair-queue.ts";
import { codeLifetimeMs } from "./alerting/contact-methods/rules.ts";
import {
  alertBounds,
  contactBounds,
  reportBounds,
  requestBounds,
  signUpBounds,
  sourceBounds,
  statusPageBounds,
} from "./core/limits.ts";
import { countWaitingPasswords } from "./core/security/passwords.ts";
import type { ApiDependencies } from "./api.ts";
import type { Config } from "./config.ts";
import { createResponseCache } from "./http/responses/response-cache.ts";
import type { Ports } from "./http/ports.ts";
import { createNetworkLimit, createRateLimit } from "./http/access/rate-limit.ts";
import { getOriginalRequest } from "./http/original-request.ts";
import { createTrustedHeader, noTrustedHeader } from "./http/access/trusted-header.ts";
import { createAssetRoutes, createWebFiles } from "./http/responses/web-files.ts";
import type { Route } from "./http/openapi.ts";
import { type Collector, createFamily } from "./core/metrics.ts";
import { renderApplianceMetrics } from "./operations/metrics/appliance.ts";
import { createPageLock } from "./status-pages/site/lock.ts";
import { createStatusSite } from "./status-pages/site/status-site.ts";
import { createSubscriptions } from "./status-pages/subscribers/visits.ts";
import { createPublicHandler, createServer, lengthenShortHost } from "./server.ts";
import type { Parts } from "./parts.ts";
import type { SourceContext } from "./alerting/sources/receive.ts";
import type { Proxies } from "./http/access/trusted-proxies.ts";
import type { RequestMetrics } from "./http/request-metrics.ts";
import { readExpiry, type Port } from "./http/listener.ts";

type Shared = {
  /** Folder of the web files. */
  folder: string;
  main: Port;
  ports: Ports;
  pageQueue: FairQueue;
  proxies: Proxies;
  requests: RequestMetrics;
  sources: SourceContext;
};

/** Creates the handlers, and starts the public pages. */
export async function createHandlers(parts: Parts, shared: Shared) {
  const { log, contention } = parts;
  const { folder, main } = shared;
  const { addressOf } = shared.proxies;
  const site = createSite(parts, { ...shared, addressOf });
  await site.start();
  const secretAddresses = createSecretAddressLimits(parts);
  const app = createApi(parts, shared, secretAddresses);
  const links = createPublicLinkRoutes({
    services: parts,
    limits: secretAddresses.alertLinks,
    addressOf,
    log,
  });
  const assets = createAssetRoutes(join(folder, "assets/public"), "/assets/public");
  return {
    /** Responds on the main port. */
    respond: (received: Request): Response | Promise<Response> => {
      const request = lengthenShortHost(received);
      const published = site.handleRequest(request);
      if (published !== null) return published;
      if (request.method !== "GET")
        contention.recordWrite(main.server.requestIP(getOriginalRequest(request))?.port ?? 0);
      return app.fetch(request);
    },
    /** Responds on the public port. Its links in alerts share the limits of the main port. */
    respondPublicly: createPublicHandler(log, site.answerAlone, assets, links),
    routes: app.routes as unknown as Route[],
    stop: () => site.stop(),
  };
}

/** Creates the API and the admin page. */
function createApi(
  parts: Parts,
  { folder, main, ports, pageQueue, proxies, requests, sources }: Shared,
  secretAddresses: ReturnType<typeof createSecretAddressLimits>,
) {
  const { config, store, clock, checks } = parts;
  const listCollectors = () => [
    requests,
    createPortCollector(ports, parts.tls),
    ...listPartCollectors(parts),
  ];
  return createServer({
    services: {
      ...parts,
      trustedHeader: buildTrustedHeader(config, proxies.isFromTrusted),
      responses: createResponseCache(store),
      extendTimeout: (request, seconds) =>
        main.server.timeout(getOriginalRequest(request), seconds),
    },
    api: buildApiDependencies(parts, pageQueue),
    web: createWebFiles(folder),
    assets: createAssetRoutes(join(folder, "assets"), "/assets"),
    addressOf: proxies.addressOf,
    findCurrentLack: checks.findCurrentLack,
    push: {
      report: checks.report,
      reportTo: checks.reportTo,
      wrongTokens: createNetworkLimit(requestBounds.wrongPushTokens.value, clock),
    },
    ...secretAddresses,
    sources,
    metrics: { token: parts.token, text: () => renderMetrics(parts, pageQueue, listCollectors()) },
  });
}

/** Reads the person whom a trusted proxy has signed in, if the options name its headers. */
function buildTrustedHeader(config: Config, isFromTrusted: (request: Request) => boolean) {
  const { trustedHeaderUser: user, trustedHeaderEmail, trustedHeaderName } = config;
  if (user === undefined) return noTrustedHeader;
  const names = {
    user,
    email: trustedHeaderEmail ?? null,
    name: trustedHeaderName ?? null,
    groups: config.trustedHeaderGroups ?? null,
  };
  return createTrustedHeader(names, isFromTrusted, config.trustedHeaderSignOut);
}

/** Creates the limits of addresses that are their own credential. */
const createSecretAddressLimits = ({ clock, linkOrigin }: Parts) => ({
  calendars: {
    wrongTokens: createNetworkLimit(requestBounds.wrongCalendarTokens.value, clock),
    reads: createRateLimit(requestBounds.calendarReads.value, clock),
  },
  alertLinks: {
    wrongTokens: createNetworkLimit(requestBounds.wrongAlertLinks.value, clock),
    requests: createRateLimit(requestBounds.alertLinkRequests.value, clock),
    linkOrigin,
  },
});

/** Creates the public pages. */
function createSite(
  parts: Parts,
  shared: { pageQueue: FairQueue; addressOf: (request: Request) => string },
) {
  const { store, vault, clock } = parts;
  const { addressOf } = shared;
  const createLimitPerNetwork = (count: number) => createNetworkLimit(count, clock);
  return createStatusSite({
    ...parts,
    ...shared,
    store: store.relaxed(),
    renderLimit: createLimitPerNetwork(statusPageBounds.uncachedRenders.value),
    lock: createPageLock(
      store.relaxed(),
      vault,
      clock,
      createLimitPerNetwork(requestBounds.wrongPagePasswords.value),
      addressOf,
    ),
    subscriptions: createSubscriptions({
      services: parts,
      signUps: createLimitPerNetwork(signUpBounds.perMinute.value),
      addressOf,
    }),
  });
}

/** Selects the dependencies that routes declare. */
function buildApiDependencies(parts: Parts, pageQueue: FairQueue): ApiDependencies {
  const { config, data, clock, checks, downloads, log, scheduled, uploads, tls } = parts;
  const createLimitPerMinute = (count: number) => createRateLimit(count, clock);
  return {
    ...parts,
    pageQueue,
    uploads,
    keepResults: config.keepResults,
    keepHours: config.keepHours,
    backups: downloads,
    runScheduledBackup: () => scheduled.runNow(),
    databaseNodes: data.shared?.databaseNodes ?? (async () => []),
    smtpPort: config.smtpPort ?? null,
    readRuntime: () => ({
      dataDirectory: data.path,
      memoryBytes: process.memoryUsage.rss(),
      logLevel: log.getLevel(),
      waiting: {
        ...checks.countWaiting(),
        pages: pageQueue.waiting(),
        passwords: countWaitingPasswords(),
      },
    }),
    certificate: () => tls.current && tls.current.cert,
    checkNow: checks.checkNow,
    tryCheck: checks.tryCheck,
    testMailLimit: createLimitPerMinute(alertBounds.testMails.value),
    replayLimit: createLimitPerMinute(sourceBounds.replays.value),
    testAlertLimit: createLimitPerMinute(alertBounds.testAlerts.value),
    codeLimit: createRateLimit(contactBounds.codes.value, clock, { windowMs: codeLifetimeMs }),
    reportLimit: createRateLimit(reportBounds.sentNow.value, clock, { windowMs: hourMs }),
    previewLimit: createLimitPerMinute(statusPageBounds.previews.value),
    hostCheckLimit: createLimitPerMinute(statusPageBounds.hostChecks.value),
  };
}

/** Parts that export metrics. */
const listPartCollectors = (parts: Parts): Collector[] => [
  parts.checks,
  parts.alerts,
  parts.events,
  parts.live,
  parts.cleaning,
  parts.scheduled,
  parts.mailMetrics,
  parts.loop,
];

const renderMetrics = (
  { store, data }: Parts,
  pageQueue: FairQueue,
  collectors: readonly Collector[],
) => renderApplianceMetrics({ store, directory: data.path, pageQueue, collectors });

const createPortCollector = (ports: Ports, tls: Parts["tls"]): Collector => ({
  metrics() {
    const expiresAt = readExpiry(tls.current);
    return [
      createFamily(
        "signalbox_http_requests_in_flight",
        "gauge",
        "Requests in progress, including the streams of open pages.",
        ports.pendingRequests(),
      ),
      createFamily(
        "signalbox_tls_certificate_expiry_timestamp_seconds",
        "gauge",
        "Unix time at which the certificate of --tls-cert expires.",
        expiresAt === null ? null : expiresAt / 1_000,
      ),
    ];
  },
});
