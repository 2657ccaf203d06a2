/** Creates the parts of the appliance, from the database to periodic jobs. `src/app.ts` starts and stops them. */
import type { createLog } from "./core/log.ts";
import { measureDisk } from "./operations/diagnostics/disk.ts";
import { hostname, networkInterfaces } from "node:os";
import { receiverKinds } from "./alerting/channels/kinds-schema.ts";
import { createAlertEngine } from "./alerting/deciding/engine.ts";
import { createSnsVerifier } from "./alerting/sources/aws-sns.ts";
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
import { createApiKeyCache } from "./accounts/api-keys/service.ts";
import { buildNodeName } from "./cluster/rules.ts";
import { soleNode } from "./cluster/leases.ts";
import { type Clock, readSystemClock } from "./core/time/clock.ts";
import { createOwnHosts } from "./core/security/own-hosts.ts";
import {
  type Listener,
  describeListeners,
  createTargetGuard,
} from "./core/security/target-guard.ts";
import { CheckEngine } from "./monitoring/checks/engine/check-engine.ts";
import { type Config, buildChildEnvironment } from "./config.ts";
import { copyInChild, type Sealing } from "./database/backup/copy.ts";
import { openData } from "./database/data.ts";
import { sealPlainSecrets } from "./database/seal-plain-secrets.ts";
import { EventReader } from "./events/reader.ts";
import { createSignals } from "./events/signals.ts";
import { createKnownNetworks } from "./http/access/known-networks.ts";
import { readExpiry, readTls } from "./http/listener.ts";
import { createAccessLimits } from "./http/access/access-limits.ts";
import { createWriteContention } from "./http/write-contention.ts";
import { LivePages } from "./dashboard/live.ts";
import { MaintenanceWatch } from "./monitoring/maintenance/watch.ts";
import { exchange } from "./core/outgoing/http/exchange.ts";
import { createAccessTokenCache } from "./core/outgoing/access-tokens.ts";
import { createEventLoopDelay } from "./operations/metrics/event-loop.ts";
import { createMetricsToken } from "./operations/metrics/token.ts";
import { hasPeople } from "./accounts/people/store.ts";
import { monitorKinds } from "./monitoring/monitors/kinds-schema.ts";
import { ProviderDocuments } from "./accounts/single-sign-on/documents.ts";
import { createSetUp, closeSetUp } from "./accounts/sign-in/set-up.ts";
import { createSharing } from "./accounts/organizations/service.ts";
import { SubscriberFanOut } from "./status-pages/subscribers/fan-out.ts";
import { addReportMailboxes, ReportMailer } from "./reports/mailer.ts";
import { ReportPrinter } from "./reports/printer.ts";
import { createSubscriberReceivers } from "./status-pages/subscribers/receivers.ts";
import { createSessionCache } from "./accounts/sessions/cache.ts";
import { findRecentAddresses } from "./accounts/sessions/store.ts";

export type Dependencies = {
  log: ReturnType<typeof createLog>;
  /** Folder of the migrations. */
  migrations: string;
  /** Folder of the web files. */
  web: string;
  clock?: Clock;
};

/** Creates all parts that exist before the ports. `mainPort` returns the number of the main port once it is open. */
export async function createParts(
  config: Config,
  dependencies: Dependencies,
  mainPort: () => number,
) {
  const tls = { current: readTls(config) };
  const token = createMetricsToken(config.metricsTokenFile);
  const core = await openCore(config, dependencies, mainPort);
  const accounts = await createAccounts(core);
  const engines = createEngines(core);
  const jobs = createJobs({ ...core, ...accounts, ...engines, tls });
  return { ...core, ...accounts, ...engines, ...createFiles(core), ...jobs, tls, token };
}

export type Parts = Awaited<ReturnType<typeof createParts>>;

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
  const node = await joinCluster({ config, data, clock, log, events, listeners, mainPort });
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
async function joinCluster({
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
  const { ClusterNode } = await import("./cluster/service.ts");
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
    setUp: firstRun ?? closeSetUp(data.path),
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
    findCurrentLack: core.checks.findCurrentLack,
  });
  const mailMetrics = createMailMetrics();
  return { cleaning, problems, heartbeat, loop: createEventLoopDelay(), mailMetrics };
}

/** Statements that store the last uses of keys and sessions. */
export const buildLastUseStatements = ({
  keys,
  sessions,
}: Awaited<ReturnType<typeof createAccounts>>) => [
  ...keys.collectLastUses(),
  ...sessions.collectLastSeen(),
];

/** Origin for links: the LAN address, or else the address of this machine. */
function chooseLinkOrigin([own = "", lan = own]: string[]): string {
  return lan;
}

export function listUrls(config: Config, port: number): string[] {
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
