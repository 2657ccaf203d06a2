/** Composes the appliance from its parts, and starts and stops them in order. */
import { X509Certificate } from "node:crypto";
import { diskOf } from "./operations/diagnostics/disk.ts";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { channelKinds } from "./alerting/channels/kinds-schema.ts";
import { alertEngine } from "./alerting/deciding/engine.ts";
import { StorageAlarm } from "./alerting/sending/storage-alarm.ts";
import { Housekeeping } from "./operations/retention/service.ts";
import { BackupDownloads } from "./operations/backups/downloads.ts";
import { ScheduledBackups } from "./operations/backups/scheduler.ts";
import { ProblemWatch } from "./operations/diagnostics/watch.ts";
import { startRestored } from "./operations/backups/restored.ts";
import { ImportUploads } from "./imports/uploads.ts";
import { type ConfigurationFiles, configurationFiles } from "./configuration/files/apply.ts";
import { apiKeyCache } from "./accounts/api-keys/service.ts";
import { ClusterNode } from "./cluster/service.ts";
import { soleNode } from "./cluster/leases.ts";
import { type Clock, systemClock } from "./core/time/clock.ts";
import { type FairQueue, fairQueue } from "./core/collections/fair-queue.ts";
import { alertBounds, requestBounds, signUpBounds, statusPageBounds } from "./core/limits.ts";
import type { logTo } from "./core/log.ts";
import { ownHostsOf } from "./core/security/own-hosts.ts";
import { type Listener, listenersForOthers, targetGuard } from "./core/security/target-guard.ts";
import type { ApiDependencies } from "./api.ts";
import { CheckEngine } from "./monitoring/checks/engine/check-engine.ts";
import { type Config, environment, environmentFor } from "./config.ts";
import { copyInChild, type Sealing } from "./database/backup/copy.ts";
import { openData } from "./database/data.ts";
import { sealPlainSecrets } from "./database/seal-plain.ts";
import { responseCache } from "./http/responses/response-cache.ts";
import { EventReader } from "./events/reader.ts";
import { newSignals } from "./events/signals.ts";
import { knownNetworks } from "./http/access/known-networks.ts";
import { listen, tlsOf } from "./http/listener.ts";
import { transferLimit } from "./http/responses/large-bodies.ts";
import { type Ports, portsOf } from "./http/ports.ts";
import { networkLimit, rateLimit } from "./http/access/rate-limit.ts";
import { originalRequest } from "./http/original-request.ts";
import { createAccessLimits } from "./http/access/access-limits.ts";
import { trustedProxies } from "./http/access/trusted-proxies.ts";
import { createAssetRoutes, webFiles } from "./http/responses/web-files.ts";
import { writeContention } from "./http/write-contention.ts";
import { LivePages } from "./dashboard/live.ts";
import { MaintenanceWatch } from "./monitoring/maintenance/watch.ts";
import { accessTokens } from "./core/outgoing/access-tokens.ts";
import { type Collector, family } from "./core/metrics.ts";
import { requestMetrics } from "./http/request-metrics.ts";
import { applianceMetrics } from "./operations/metrics/appliance.ts";
import { eventLoopDelay } from "./operations/metrics/event-loop.ts";
import { metricsToken } from "./operations/metrics/token.ts";
import { hasPeople } from "./accounts/people/store.ts";
import { monitorKinds } from "./monitoring/monitors/kinds-schema.ts";
import { newSetUp, noSetUp } from "./accounts/sign-in/set-up.ts";
import { sharingOf } from "./accounts/organizations/service.ts";
import { pageLock } from "./status-pages/site/lock.ts";
import { statusSite } from "./status-pages/site/status-site.ts";
import { SubscriberFanOut } from "./status-pages/subscribers/fan-out.ts";
import { subscriberReceivers } from "./status-pages/subscribers/receivers.ts";
import { subscriptionsOf } from "./status-pages/subscribers/visits.ts";
import { sessionCache } from "./accounts/sessions/cache.ts";
import { recentAddresses } from "./accounts/sessions/store.ts";
import { createReload } from "./reload.ts";
import { createPublicHandler, createServer, withFindablePath } from "./server.ts";

/** Maximum wait for requests in flight at a stop, in milliseconds. */
const hardStopMs = 8_000;

type RunningApp = {
  /** URLs to open: on this machine first, then on the LAN. */
  urls: string[];
  /** URLs of the port for public pages; empty without this port. */
  publicUrls: string[];
  port: number;
  /** Token with which the first person claims the appliance; null after that. */
  setUpToken: string | null;
  /**
   * Applies settings that need no restart, and reloads the certificate. Logs all other changed settings, and leaves
   * them unchanged.
   */
  reload(read: () => Config): void;
  /** Finishes the requests in flight, then closes the data directory. */
  stop(): Promise<void>;
};

type Dependencies = {
  log: ReturnType<typeof logTo>;
  /** Folders of the migrations and of the web files. */
  migrations: string;
  web: string;
  clock?: Clock;
};

/** Creates and starts all parts. Throws DataError. */
export async function startApp(config: Config, dependencies: Dependencies): Promise<RunningApp> {
  const { log } = dependencies;
  const tls = { current: tlsOf(config) };
  const token = metricsToken(config.metricsTokenFile);
  const core = await openCore(config, dependencies, () => web.main.number);
  const accounts = await createAccounts(core);
  const engines = createEngines(core);
  const files = createFiles(core);
  const jobs = createJobs({ ...core, ...accounts, ...engines, tls });
  const parts = { ...core, ...accounts, ...engines, ...files, ...jobs, tls, token };
  const web = await createWeb(parts, dependencies.web);
  const configurations = configurationFiles(core, environment());
  await startParts({ ...parts, ...web });
  configurations.apply(config.apply);
  const { main, ports } = web;
  const publicNumber = ports.publicNumber();
  return {
    urls: urlsOf(config, main.number),
    publicUrls: publicNumber === null ? [] : urlsOf(config, publicNumber),
    port: main.number,
    setUpToken: accounts.firstRun?.token ?? null,
    reload: createReload(config, { log, ports, token, tls, configurations }),
    stop: () => stopParts({ ...parts, ...web, configurations }),
  };
}

/** Opens the database, and creates the parts that most others depend on: secrets, events and the node. */
async function openCore(
  config: Config,
  { log, migrations, clock = systemClock }: Dependencies,
  mainPort: () => number,
) {
  const contention = writeContention();
  const data = await openData(config, {
    migrations,
    clock,
    init: config.init,
    acceptMissingLog: config.acceptMissingLog,
    upgrade: true,
    requireCopy: config.requireCopy,
    onMissingCopy: (message) => log.warn(message),
    onWait: () => log.info("another machine upgrades the data: waiting for it"),
    exclusive: true,
    sharesCommits: contention.isContended,
  });
  const { store, vault } = data;
  await prepareData(data, log, clock);
  const sharing = sharingOf(store);
  await sharing.refresh();
  const events = new EventReader(store, log);
  const listeners: Listener[] = [];
  const node = joinCluster({ config, data, clock, log, events, listeners, mainPort });
  const leases = node ?? soleNode;
  const targets = targetGuard(() => [...listeners, ...leases.listenersOfOthers()], {
    allowed: config.allowTarget,
    denied: config.denyTarget,
    commandFolder: config.allowCommands,
    sharing,
  });
  return {
    config,
    data,
    contention,
    listeners,
    node,
    store,
    vault,
    clock,
    log,
    leases,
    targets,
    events,
    ownHosts: ownHostsOf(config.allowedHost, config.url),
    limits: config.limit,
    signals: newSignals(),
    origin: () => config.url ?? linkOrigin(urlsOf(config, mainPort())),
    accessTokens: accessTokens(),
  };
}

type Core = Awaited<ReturnType<typeof openCore>>;

/** Creates this node of a cluster; null for a data directory. */
function joinCluster({
  config,
  data,
  clock,
  log,
  events,
  listeners,
  mainPort,
}: Pick<Dependencies, "log"> & {
  config: Config;
  data: Awaited<ReturnType<typeof openData>>;
  clock: Clock;
  events: EventReader;
  listeners: readonly Listener[];
  mainPort: () => number;
}) {
  const { store, shared } = data;
  if (shared === null) return null;
  return new ClusterNode({
    store,
    clock,
    log,
    node: { id: shared.nodeId(), name: () => nodeName(config.host, mainPort()) },
    clockOffsetMs: shared.clockOffsetMs,
    handled: () => events.position(),
    listeners: () => listenersForOthers(listeners),
  });
}

/** Encrypts secrets that an older version stored in plain text, and finishes a restore. */
async function prepareData(data: Core["data"], log: Core["log"], clock: Clock) {
  const records = await sealPlainSecrets(data, [
    { name: "monitors", noun: "monitor", kinds: monitorKinds },
    { name: "alert_channels", noun: "alert-channel", kinds: channelKinds },
  ]);
  if (records > 0)
    log.info("encrypted secrets that an older version stored in plain text", { records });
  if (await startRestored(data.store, clock))
    log.info("restored from a backup: sessions are ended, alerts that waited in it are not sent");
}

/** Creates the parts for sign-in: set-up, keys, sessions and request limits. */
async function createAccounts({ config, data, store, clock }: Core) {
  const firstRun = (await hasPeople(store)) ? null : newSetUp(data.path, clock);
  return {
    firstRun,
    setUp: firstRun ?? noSetUp(data.path),
    keys: apiKeyCache(store, clock),
    sessions: sessionCache(store, clock),
    knownNetworks: knownNetworks(await recentAddresses(store)),
    ...createAccessLimits(clock, config.rateLimit),
  };
}

/** Creates the parts that run without requests: checks, alerts, notices and maintenance. */
function createEngines(core: Core) {
  const maintenance = new MaintenanceWatch(core);
  const { browser } = core.config;
  const checks = new CheckEngine({ ...core, browser, maintenanceOf: maintenance.of });
  const sending = {
    ...core,
    lackedSince: checks.lackedSince,
    runningSince: checks.runningSince,
  };
  return {
    maintenance,
    checks,
    sending,
    alerts: alertEngine({ ...sending, subscribers: subscriberReceivers(sending) }),
    alarm: new StorageAlarm(sending),
    notices: new SubscriberFanOut(core),
    live: new LivePages(core),
  };
}

/** Creates the parts that manage files: backups and uploads. */
function createFiles(core: Core) {
  const { config, data, clock } = core;
  const directory = data.path;
  const copyTo = (file: string, sealing: Sealing | null) =>
    copyInChild(directory, file, sealing, environmentFor(config));
  return {
    downloads: new BackupDownloads({ directory, clock, copyTo }),
    scheduled: new ScheduledBackups({ ...core, workIn: directory, copyTo }),
    uploads: new ImportUploads(directory, clock),
  };
}

type Tls = { current: ReturnType<typeof tlsOf> };

/** Expiry of the certificate of `--tls-cert`, in Unix milliseconds; null without one. */
const certificateExpiry = ({ current }: Tls) =>
  current && new X509Certificate(current.cert).validToDate.getTime();

/** Creates periodic jobs: housekeeping, and the watch for problems of the appliance. */
function createJobs(
  core: Core &
    Awaited<ReturnType<typeof createAccounts>> &
    ReturnType<typeof createEngines> & { tls: Tls },
) {
  const { config, data, store, events, alerts, notices, setUp, tls } = core;
  const cleaning = new Housekeeping({
    ...core,
    kept: { results: config.keepResults, hours: config.keepHours, audit: config.keepAudit },
    async readUpTo() {
      return events.position();
    },
    async eachMinute() {
      await Promise.all([alerts.save(), notices.save()]);
      await store.atomic(lastSeen(core));
      // The command line could have added the first person.
      if (await hasPeople(store)) setUp.end();
    },
  });
  const problems = new ProblemWatch({
    ...core,
    diskOf: () => diskOf(data.path),
    certificateExpiresAt: () => certificateExpiry(tls),
  });
  return { cleaning, problems, loop: eventLoopDelay() };
}

/** Statements that store the last uses of keys and sessions. */
const lastSeen = ({ keys, sessions }: Awaited<ReturnType<typeof createAccounts>>) => [
  ...keys.used(),
  ...sessions.seen(),
];

type Parts = Core &
  Awaited<ReturnType<typeof createAccounts>> &
  ReturnType<typeof createEngines> &
  ReturnType<typeof createFiles> &
  ReturnType<typeof createJobs> & { tls: Tls; token: ReturnType<typeof metricsToken> };

/** Creates the ports, the API, the admin page and the public pages. */
async function createWeb(parts: Parts, folder: string) {
  const { config, store, log, contention, listeners, tls } = parts;
  const web = webFiles(folder);
  const requests = requestMetrics();
  const pageQueue = fairQueue({ atOnce: 1 });
  const peerOf = (request: Request) =>
    (main.server.requestIP(request)?.address ?? "").replace(/^::ffff:/, "");
  const proxies = trustedProxies(config.trustProxy, peerOf, log);
  const site = createSite(parts, { pageQueue, addressOf: proxies.addressOf });
  const { addressOf } = proxies;
  const collectors = () => [requests, portMetrics(ports, tls), ...countingParts(parts)];
  const app = createServer({
    services: {
      ...parts,
      responses: responseCache(store),
      extendTimeout: (request, seconds) => main.server.timeout(originalRequest(request), seconds),
    },
    api: apiDependencies(parts, pageQueue),
    web,
    assets: await createAssetRoutes(join(folder, "assets"), "/assets"),
    addressOf,
    lackedNow: parts.checks.lackedNow,
    push: {
      report: parts.checks.report,
      wrongTokens: networkLimit(requestBounds.wrongPushTokens.value, parts.clock),
    },
    metrics: { token: parts.token, text: () => renderMetrics(parts, pageQueue, collectors()) },
  });
  const transfers = transferLimit();
  const { host } = config;
  const publicAssets = await createAssetRoutes(join(folder, "assets/public"), "/assets/public");
  const listening = () => ({ host, tls: tls.current, proxies, requests, transfers, log });
  // Must not await from here on, so that our ports are blocked as targets before the first request.
  const main = listen(listening(), config.port, (received) => {
    const request = withFindablePath(received);
    const published = site.answer(request);
    if (published !== null) return published;
    if (request.method !== "GET")
      contention.recordWrite(main.server.requestIP(originalRequest(request))?.port ?? 0);
    return app.fetch(request);
  });
  const answerPublic = createPublicHandler(log, site.answerAlone, publicAssets);
  const ports = portsOf(
    main,
    (number) => listen(listening(), number, answerPublic),
    (open) => listeners.splice(0, Infinity, ...open.map(({ number: port }) => ({ host, port }))),
  );
  ports.usePublic(config.publicPort);
  return { main, ports, site };
}

/** Creates the public pages. */
function createSite(
  parts: Parts,
  shared: { pageQueue: FairQueue; addressOf: (request: Request) => string },
) {
  const { store, vault, clock } = parts;
  const { addressOf } = shared;
  const byNetwork = (count: number) => networkLimit(count, clock);
  return statusSite({
    ...parts,
    ...shared,
    store: store.relaxed(),
    makingLimit: byNetwork(statusPageBounds.uncachedRenders.value),
    lock: pageLock(vault, clock, byNetwork(requestBounds.wrongPagePasswords.value), addressOf),
    subscriptions: subscriptionsOf({
      services: parts,
      signUps: byNetwork(signUpBounds.perMinute.value),
      addressOf,
    }),
  });
}

/** Selects the dependencies that routes declare. */
function apiDependencies(parts: Parts, pageQueue: FairQueue): ApiDependencies {
  const { config, data, clock, checks, downloads, scheduled, uploads, tls } = parts;
  const perMinute = (count: number) => rateLimit(count, clock);
  return {
    ...parts,
    pageQueue,
    uploads,
    keepResults: config.keepResults,
    keepHours: config.keepHours,
    backups: downloads,
    runScheduledBackup: () => scheduled.runNow(),
    databaseNodes: data.shared?.databaseNodes ?? (async () => []),
    certificate: () => tls.current && tls.current.cert,
    checkNow: checks.checkNow,
    tryCheck: checks.tryCheck,
    testMailLimit: perMinute(alertBounds.testMails.value),
    testAlertLimit: perMinute(alertBounds.testAlerts.value),
    previewLimit: perMinute(statusPageBounds.previews.value),
    hostCheckLimit: perMinute(statusPageBounds.hostChecks.value),
  };
}

/** Parts that export metrics. */
const countingParts = (parts: Parts): Collector[] => [
  parts.checks,
  parts.alerts,
  parts.events,
  parts.live,
  parts.cleaning,
  parts.scheduled,
  parts.loop,
];

const renderMetrics = (
  { store, data }: Parts,
  pageQueue: FairQueue,
  collectors: readonly Collector[],
) => applianceMetrics({ store, directory: data.path, pageQueue, collectors });

const portMetrics = (ports: Ports, tls: Tls): Collector => ({
  metrics() {
    const expiresAt = certificateExpiry(tls);
    return [
      family(
        "signalbox_http_requests_in_flight",
        "gauge",
        "Requests in progress, including the streams of open pages.",
        ports.pendingRequests(),
      ),
      family(
        "signalbox_tls_certificate_expiry_timestamp_seconds",
        "gauge",
        "Unix time at which the certificate of --tls-cert expires.",
        expiresAt === null ? null : expiresAt / 1_000,
      ),
    ];
  },
});

type RunningParts = Parts & Awaited<ReturnType<typeof createWeb>>;

async function startParts(parts: RunningParts) {
  const { site, live, alerts, notices, maintenance, checks } = parts;
  await parts.node?.start();
  for (const part of [site, live, alerts, notices, maintenance]) await part.start();
  const { loop, cleaning, scheduled, problems, alarm } = parts;
  for (const part of [loop, cleaning, scheduled, problems, alarm]) part.start();
  // Requests are already served during this, because all parts that they use have started.
  await checks.start();
  maintenance.onChange(checks.checkSoon);
}

async function stopParts(
  parts: RunningParts & { configurations: Pick<ConfigurationFiles, "settled"> },
) {
  const { log, ports, live, checks, maintenance, cleaning, problems, alarm } = parts;
  /** Catches errors, because a full disk must not prevent the stop. Unstored work is repeated after the start. */
  const attempt = async (stop: () => unknown) => {
    try {
      await stop();
    } catch (error) {
      log.warn("not everything could be stored at the stop", { cause: String(error) });
    }
  };
  void ports.stop();
  await parts.configurations.settled();
  const first = [live, checks, maintenance, cleaning, problems, alarm];
  await Promise.all(first.map((part) => attempt(() => part.stop())));
  for (const part of [parts.notices, parts.alerts, parts.site]) await attempt(() => part.stop());
  await attempt(() => parts.node?.stop());
  const deadline = performance.now() + hardStopMs;
  while (ports.pendingRequests() > 0 && performance.now() < deadline) await Bun.sleep(10);
  await ports.stop(true);
  await attempt(() => parts.setUp.end());
  parts.scheduled.stop();
  parts.loop.stop();
  await attempt(() => parts.downloads.end());
  parts.uploads.end();
  await attempt(() => parts.store.atomic(lastSeen(parts)));
  await parts.data.close();
}

/** Name of this node: the host name and port, or the address and port if `--host` is a single address. */
function nodeName(host: string, port: number): string {
  return `${host === "0.0.0.0" || host === "::" ? hostname() : host}:${port}`;
}

/** Origin for links: the LAN address, or else the address of this machine. */
function linkOrigin([own = "", lan = own]: string[]): string {
  return lan;
}

function urlsOf(config: Config, port: number): string[] {
  const scheme = config.tlsCert === undefined ? "http" : "https";
  const everywhere = config.host === "0.0.0.0" || config.host === "::";
  const addresses = everywhere
    ? Object.values(networkInterfaces())
        .flatMap((list) => list ?? [])
        .filter(({ family, internal }) => family === "IPv4" && !internal)
        .map(({ address }) => address)
    : [config.host.includes(":") ? `[${config.host}]` : config.host];
  const hosts = everywhere ? ["localhost", ...addresses] : addresses;
  return hosts.map((host) => `${scheme}://${host}:${port}`);
}
