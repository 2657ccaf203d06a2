/** Composes the appliance from its parts, and starts and stops them in order. */
import { measureDisk } from "./operations/diagnostics/disk.ts";
import { hostname, networkInterfaces } from "node:os";
import { receiverKinds } from "./alerting/channels/kinds-schema.ts";
import { createAlertEngine } from "./alerting/deciding/engine.ts";
import { createSnsVerifier } from "./alerting/sources/aws-sns.ts";
import type { MailListener } from "./alerting/sources/mail/listener.ts";
import { createMailMetrics } from "./alerting/sources/mail/metrics.ts";
import { SourceWriter } from "./alerting/sources/source-writer.ts";
import { StorageAlarm } from "./alerting/sending/storage-alarm.ts";
import { Housekeeping } from "./operations/retention/service.ts";
import { BackupDownloads } from "./operations/backups/downloads.ts";
import { ScheduledBackups } from "./operations/backups/scheduler.ts";
import { Heartbeat } from "./operations/diagnostics/heartbeat.ts";
import { ProblemWatch } from "./operations/diagnostics/watch.ts";
import { startRestored } from "./operations/backups/after-restore.ts";
import { ImportUploads } from "./imports/uploads.ts";
import { type ConfigurationFiles, createConfigurationFiles } from "./configuration/files/apply.ts";
import { createApiKeyCache } from "./accounts/api-keys/service.ts";
import { buildNodeName } from "./cluster/rules.ts";
import { ClusterNode } from "./cluster/service.ts";
import { soleNode } from "./cluster/leases.ts";
import { type Clock, readSystemClock } from "./core/time/clock.ts";
import { createFairQueue } from "./core/collections/fair-queue.ts";
import { mailBounds, sourceBounds } from "./core/limits.ts";
import type { createLog } from "./core/log.ts";
import { createOwnHosts } from "./core/security/own-hosts.ts";
import {
  type Listener,
  describeListeners,
  createTargetGuard,
} from "./core/security/target-guard.ts";
import { CheckEngine } from "./monitoring/checks/engine/check-engine.ts";
import { type Config, getEnvironment, buildChildEnvironment } from "./config.ts";
import { copyInChild, type Sealing } from "./database/backup/copy.ts";
import { openData } from "./database/data.ts";
import { sealPlainSecrets } from "./database/seal-plain-secrets.ts";
import { EventReader } from "./events/reader.ts";
import { createSignals } from "./events/signals.ts";
import { createKnownNetworks } from "./http/access/known-networks.ts";
import { listen, readExpiry, readTls } from "./http/listener.ts";
import { createTransferLimit } from "./http/responses/large-bodies.ts";
import { createPorts } from "./http/ports.ts";
import { createNetworkLimit, createRateLimit } from "./http/access/rate-limit.ts";
import { createAccessLimits } from "./http/access/access-limits.ts";
import { createTrustedProxies } from "./http/access/trusted-proxies.ts";
import { createWriteContention } from "./http/write-contention.ts";
import { HeldChangeSender } from "./http/held-changes/sender.ts";
import { LivePages } from "./dashboard/live.ts";
import { MaintenanceWatch } from "./monitoring/maintenance/watch.ts";
import { exchange } from "./core/outgoing/http/exchange.ts";
import { createAccessTokenCache } from "./core/outgoing/access-tokens.ts";
import { createRequestMetrics } from "./http/request-metrics.ts";
import { createEventLoopDelay } from "./operations/metrics/event-loop.ts";
import { createMetricsToken } from "./operations/metrics/token.ts";
import { hasPeople } from "./accounts/people/store.ts";
import { reportRun } from "./monitoring/pings/ping.ts";
import { monitorKinds } from "./monitoring/monitors/kinds-schema.ts";
import { ProviderDocuments } from "./accounts/single-sign-on/documents.ts";
import { createSetUp, removeSetUp } from "./accounts/sign-in/set-up.ts";
import { createSharing } from "./accounts/organizations/service.ts";
import { PagePublisher } from "./status-pages/publishing/publisher.ts";
import { SubscriberFanOut } from "./status-pages/subscribers/fan-out.ts";
import { addReportMailboxes, ReportMailer } from "./reports/mailer.ts";
import { ReportPrinter } from "./reports/printer.ts";
import { createSubscriberReceivers } from "./status-pages/subscribers/receivers.ts";
import { createSessionCache } from "./accounts/sessions/cache.ts";
import { findRecentAddresses } from "./accounts/sessions/store.ts";
import { createReload } from "./reload.ts";
import { createOnFirstUse } from "./core/first-use.ts";
import { createHealthResponse, isHealthCheck } from "./http/health.ts";

/** Maximum wait for requests in flight at a stop, in milliseconds. */
const hardStopMs = 8_000;

type RunningApp = {
  /** URLs to open: on this machine first, then on the LAN. */
  urls: string[];
  /** URLs of the port for public pages; empty without this port. */
  publicUrls: string[];
  port: number;
  /** Port for mails; null without one. */
  mailPort: number | null;
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
  log: ReturnType<typeof createLog>;
  /** Folders of the migrations and of the web files. */
  migrations: string;
  web: string;
  clock?: Clock;
};

/** Creates and starts all parts. Throws DataError. */
export async function startApp(config: Config, dependencies: Dependencies): Promise<RunningApp> {
  const { log } = dependencies;
  const tls = { current: readTls(config) };
  const token = createMetricsToken(config.metricsTokenFile);
  const core = await openCore(config, dependencies, () => web.main.number);
  const accounts = await createAccounts(core);
  const engines = createEngines(core);
  const files = createFiles(core);
  const jobs = createJobs({ ...core, ...accounts, ...engines, tls });
  const parts = { ...core, ...accounts, ...engines, ...files, ...jobs, tls, token };
  const web = openPorts(parts, dependencies.web);
  const mail = await openMailPort(parts, web);
  const configurations = createConfigurationFiles(core, getEnvironment());
  await startParts({ ...parts, ...web });
  configurations.apply(config.apply);
  const { main, ports } = web;
  const publicNumber = ports.publicNumber();
  return {
    urls: listUrls(config, main.number),
    publicUrls: publicNumber === null ? [] : listUrls(config, publicNumber),
    port: main.number,
    mailPort: mail?.number ?? null,
    setUpToken: accounts.firstRun?.token ?? null,
    reload: createReload(config, { log, ports, token, tls, configurations, mail }),
    stop: () => stopParts({ ...parts, ...web, mail, configurations }),
  };
}

/** Opens the database, and creates the parts that most others depend on: secrets, events and the node. */
async function openCore(
  config: Config,
  { log, migrations, clock = readSystemClock }: Dependencies,
  mainPort: () => number,
) {
  const contention = createWriteContention();
  const data = await openData(config, {
    migrations,
    clock,
    createsMissing: config.init,
    acceptMissingLog: config.acceptMissingLog,
    upgrade: true,
    requireCopy: config.requireCopy,
    onMissingCopy: (message) => log.warn(message),
    onWait: () => log.info("another machine upgrades the data: waiting for it"),
    isExclusive: true,
    sharesCommits: contention.isContended,
  });
  const { store, vault } = data;
  await prepareData(data, log, clock);
  const sharing = createSharing(store);
  await sharing.refresh();
  const events = new EventReader(store, log);
  const listeners: Listener[] = [];
  const node = joinCluster({ config, data, clock, log, events, listeners, mainPort });
  const leases = node ?? soleNode;
  const targets = createTargetGuard(() => [...listeners, ...leases.listListenersOfOthers()], {
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
    ownHosts: createOwnHosts(config.allowedHost, config.url),
    limits: config.limit,
    publishDir: config.publishDir ?? null,
    signals: createSignals(),
    origin: () => config.url ?? chooseLinkOrigin(listUrls(config, mainPort())),
    linkOrigin: () => config.publicUrl ?? null,
    accessTokens: createAccessTokenCache(),
    providerDocuments: new ProviderDocuments(),
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
    node: { id: shared.nodeId(), name: () => buildNodeName(config.host, mainPort(), hostname()) },
    clockOffsetMs: shared.clockOffsetMs,
    handled: () => events.position(),
    listeners: () => describeListeners(listeners),
  });
}

/** Encrypts secrets that an older version stored in plain text, and finishes a restore. */
async function prepareData(data: Core["data"], log: Core["log"], clock: Clock) {
  const records = await sealPlainSecrets(data, [
    { name: "monitors", noun: "monitor", kinds: monitorKinds },
    { name: "alert_channels", noun: "alert-channel", kinds: receiverKinds },
  ]);
  if (records > 0)
    log.info("encrypted secrets that an older version stored in plain text", { records });
  if (await startRestored(data.store, clock))
    log.info("restored from a backup: sessions are ended, alerts that waited in it are not sent");
}

/** Creates the parts for sign-in: set-up, keys, sessions and request limits. */
async function createAccounts({ config, data, store, clock }: Core) {
  const firstRun = (await hasPeople(store)) ? null : createSetUp(data.path, clock);
  return {
    firstRun,
    setUp: firstRun ?? removeSetUp(data.path),
    keys: createApiKeyCache(store, clock),
    sessions: createSessionCache(store, clock, { passwordsEverywhere: config.passwordSignIn }),
    knownNetworks: createKnownNetworks(await findRecentAddresses(store)),
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
  const printer = new ReportPrinter(browser);
  return {
    maintenance,
    checks,
    sending,
    printer,
    alerts: createAlertEngine({
      ...sending,
      subscribers: addReportMailboxes(createSubscriberReceivers(sending), { ...sending, printer }),
    }),
    alarm: new StorageAlarm(sending),
    sourceWriter: new SourceWriter(core),
    verifySns: createSnsVerifier({ targets: core.targets, exchange }),
    notices: new SubscriberFanOut(core),
    reports: new ReportMailer(core),
    live: new LivePages(core),
  };
}

/** Creates the parts that manage files: backups and uploads. */
function createFiles(core: Core) {
  const { config, data, clock } = core;
  const directory = data.path;
  const copyTo = (file: string, sealing: Sealing | null) =>
    copyInChild(directory, file, sealing, buildChildEnvironment(config));
  return {
    downloads: new BackupDownloads({ directory, clock, copyTo }),
    scheduled: new ScheduledBackups({ ...core, workIn: directory, copyTo }),
    uploads: new ImportUploads(directory, clock),
  };
}

type Tls = { current: ReturnType<typeof readTls> };

/** Creates periodic jobs: housekeeping, and the watch for problems of the appliance. */
function createJobs(
  core: Core &
    Awaited<ReturnType<typeof createAccounts>> &
    ReturnType<typeof createEngines> & { tls: Tls },
) {
  const { config, data, store, events, alerts, notices, sourceWriter, setUp, tls } = core;
  const cleaning = new Housekeeping({
    ...core,
    retention: { results: config.keepResults, hours: config.keepHours, audit: config.keepAudit },
    async readUpTo() {
      return events.position();
    },
    async eachMinute() {
      await Promise.all([alerts.save(), notices.save()]);
      await sourceWriter.resolveSilent();
      await store.atomic(buildLastUseStatements(core));
      // The command line could have added the first person.
      if (await hasPeople(store)) setUp.endSetUp();
    },
  });
  const problems = new ProblemWatch({
    ...core,
    diskOf: () => measureDisk(data.path),
    certificateExpiresAt: () => readExpiry(tls.current),
  });
  const heartbeat = new Heartbeat({
    ...core,
    url: config.heartbeatUrl ?? null,
    lackedNow: core.checks.lackedNow,
  });
  const mailMetrics = createMailMetrics();
  return { cleaning, problems, heartbeat, loop: createEventLoopDelay(), mailMetrics };
}

/** Statements that store the last uses of keys and sessions. */
const buildLastUseStatements = ({ keys, sessions }: Awaited<ReturnType<typeof createAccounts>>) => [
  ...keys.collectLastUses(),
  ...sessions.collectLastSeen(),
];

export type Parts = Core &
  Awaited<ReturnType<typeof createAccounts>> &
  ReturnType<typeof createEngines> &
  ReturnType<typeof createFiles> &
  ReturnType<typeof createJobs> & { tls: Tls; token: ReturnType<typeof createMetricsToken> };

/** Opens the ports. What answers their requests is loaded with the first one, because it is a third of the start. */
function openPorts(parts: Parts, folder: string) {
  const { config, store, log, listeners, checks, tls } = parts;
  const requests = createRequestMetrics();
  const pageQueue = createFairQueue({ atOnce: 1 });
  const peerOf = (request: Request) =>
    (main.server.requestIP(request)?.address ?? "").replace(/^::ffff:/, "");
  const proxies = createTrustedProxies(config.trustProxy, peerOf, log);
  const sources = createSourceContext(parts);
  const handlers = createOnFirstUse(async () => {
    const { createHandlers } = await import("./handlers.ts");
    return createHandlers(parts, { folder, main, ports, pageQueue, proxies, requests, sources });
  });
  const transfers = createTransferLimit();
  const { host } = config;
  const getListenerOptions = () => ({ host, tls: tls.current, proxies, requests, transfers, log });
  // Must not await from here on, so that our ports are blocked as targets before the first request.
  const main = listen(getListenerOptions(), config.port, (request) => {
    if (handlers.current !== null) return handlers.current.respond(request);
    if (isHealthCheck(request)) return createHealthResponse(store, checks.lackedNow);
    return handlers.get().then(({ respond }) => respond(request));
  });
  const ports = createPorts(
    main,
    (number) =>
      listen(
        getListenerOptions(),
        number,
        (request) =>
          handlers.current?.respondPublicly(request) ??
          handlers.get().then(({ respondPublicly }) => respondPublicly(request)),
      ),
    (open) => listeners.splice(0, Infinity, ...open.map((port) => ({ host, port }))),
  );
  ports.usePublic(config.publicPort);
  const held = new HeldChangeSender({
    ...parts,
    listRoutes: async () => (await handlers.get()).routes,
  });
  const publisher = new PagePublisher({ ...parts, pageQueue });
  return { main, ports, handlers, held, sources, publisher };
}

/** Opens the port of `--smtp-port`; null without it. Checks and alerts can't reach it. */
async function openMailPort(
  parts: Parts,
  { sources, ports }: Pick<ReturnType<typeof openPorts>, "sources" | "ports">,
): Promise<MailListener | null> {
  const { config, store, clock, log, tls } = parts;
  const { host, smtpPort } = config;
  if (smtpPort === undefined) return null;
  const { MailListener: Listener } = await import("./alerting/sources/mail/listener.ts");
  const listener = new Listener({
    log,
    context: {
      ...sources,
      store,
      mails: createRateLimit(sourceBounds.mails.value, clock),
      reportRun: (job, report) =>
        reportRun(job, report, { reportTo: parts.checks.reportTo, services: parts }),
    },
    connections: createNetworkLimit(mailBounds.connectionsPerMinute.value, clock),
    metrics: parts.mailMetrics,
  });
  await listener.open(host, smtpPort, tls.current);
  ports.useOther(listener.number);
  return listener;
}

/** Creates the receivers for alerts of other tools. */
const createSourceContext = ({ clock, sourceWriter, verifySns }: Parts) => ({
  writer: sourceWriter,
  verifySns,
  wrongTokens: createNetworkLimit(sourceBounds.wrongTokens.value, clock),
  requests: createRateLimit(sourceBounds.requests.value, clock),
});

type RunningParts = Parts & ReturnType<typeof openPorts>;

async function startParts(parts: RunningParts) {
  const { live, alerts, notices, maintenance, checks, held, publisher } = parts;
  await parts.node?.start();
  for (const part of [live, alerts, notices, maintenance, held, publisher]) await part.start();
  const { loop, cleaning, scheduled, problems, alarm, heartbeat, reports } = parts;
  for (const part of [loop, cleaning, scheduled, problems, alarm, heartbeat, reports]) part.start();
  // Requests are already served during this, because all parts that they use have started.
  await checks.start();
  maintenance.onChange(checks.checkSoon);
}

async function stopParts(
  parts: RunningParts & {
    mail: MailListener | null;
    configurations: Pick<ConfigurationFiles, "waitUntilApplied">;
  },
) {
  const { log, ports, live, checks, maintenance, cleaning, problems, alarm, reports } = parts;
  /** Catches errors, because a full disk must not prevent the stop. Unstored work is repeated after the start. */
  const tryStop = async (stop: () => unknown) => {
    try {
      await stop();
    } catch (error) {
      log.warn("not everything could be stored at the stop", { cause: String(error) });
    }
  };
  void ports.stop();
  await tryStop(() => parts.mail?.stop());
  parts.heartbeat.stop();
  await parts.configurations.waitUntilApplied();
  const first = [live, checks, maintenance, cleaning, problems, alarm, reports];
  await Promise.all(first.map((part) => tryStop(() => part.stop())));
  for (const part of [parts.publisher, parts.held, parts.notices, parts.alerts])
    await tryStop(() => part.stop());
  await tryStop(async () => (await parts.handlers.pending)?.stop());
  await tryStop(() => parts.node?.stop());
  const deadline = performance.now() + hardStopMs;
  while (ports.pendingRequests() > 0 && performance.now() < deadline) await Bun.sleep(10);
  await ports.stop(true);
  await tryStop(() => parts.setUp.endSetUp());
  parts.scheduled.stop();
  parts.loop.stop();
  await tryStop(() => parts.downloads.end());
  parts.uploads.removeAll();
  await tryStop(() => parts.store.atomic(buildLastUseStatements(parts)));
  await parts.data.close();
}

/** Origin for links: the LAN address, or else the address of this machine. */
function chooseLinkOrigin([own = "", lan = own]: string[]): string {
  return lan;
}

function listUrls(config: Config, port: number): string[] {
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
