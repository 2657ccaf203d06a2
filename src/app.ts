import { X509Certificate } from "node:crypto";
import { diskOf } from "./operations/diagnostics/disk.ts";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { channelKinds } from "./alerting/channels/kinds-schema.ts";
import { alertEngine } from "./alerting/deciding/engine.ts";
import { storageAlarm } from "./alerting/sending/storage-alarm.ts";
import { housekeeping } from "./operations/retention/service.ts";
import { backupDownloads } from "./operations/backups/downloads.ts";
import { scheduledBackups } from "./operations/backups/scheduler.ts";
import { ProblemWatch } from "./operations/diagnostics/watch.ts";
import { startRestored } from "./operations/backups/restored.ts";
import { importUploads } from "./imports/uploads.ts";
import { configurationFiles } from "./configuration/files/apply.ts";
import { apiKeyCache } from "./accounts/api-keys/service.ts";
import { clusterNode } from "./cluster/service.ts";
import { soleNode } from "./cluster/leases.ts";
import { type Clock, hourMs, systemClock } from "./core/time/clock.ts";
import { fairQueue } from "./core/collections/fair-queue.ts";
import { alertBounds, requestBounds, signUpBounds, statusPageBounds } from "./core/limits.ts";
import type { logTo } from "./core/log.ts";
import { ownHostsOf } from "./core/security/own-hosts.ts";
import { type Listener, listenersForOthers, targetGuard } from "./core/security/target-guard.ts";
import { checkEngine } from "./monitoring/checks/engine/check-engine.ts";
import { type Config, environment, environmentFor } from "./config.ts";
import { copyInChild, type Sealing } from "./database/backup/copy.ts";
import { openData } from "./database/data.ts";
import { sealPlainSecrets } from "./database/seal-plain.ts";
import { responseCache } from "./http/responses/response-cache.ts";
import { eventReader } from "./events/reader.ts";
import { newSignals } from "./events/signals.ts";
import { knownNetworks } from "./http/access/known-networks.ts";
import { listen, tlsOf } from "./http/listener.ts";
import { transferLimit } from "./http/responses/large-bodies.ts";
import { portsOf } from "./http/ports.ts";
import { networkLimit, rateLimit } from "./http/access/rate-limit.ts";
import { originalRequest } from "./http/original-request.ts";
import type { Services } from "./http/services.ts";
import { attemptBackoff } from "./http/access/attempt-backoff.ts";
import { trustedProxies } from "./http/access/trusted-proxies.ts";
import { createAssetRoutes, webFiles } from "./http/responses/web-files.ts";
import { writeContention } from "./http/write-contention.ts";
import { livePages } from "./dashboard/live.ts";
import { maintenanceWatch } from "./monitoring/maintenance/watch.ts";
import { accessTokens } from "./core/outgoing/access-tokens.ts";
import { family } from "./core/metrics.ts";
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
import { subscriberFanOut } from "./status-pages/subscribers/fan-out.ts";
import { subscriberReceivers } from "./status-pages/subscribers/receivers.ts";
import { subscriptionsOf } from "./status-pages/subscribers/visits.ts";
import { sessionCache } from "./accounts/sessions/cache.ts";
import { recentAddresses } from "./accounts/sessions/store.ts";
import { reloading } from "./reload.ts";
import { publicServer, serverOf, withFindablePath } from "./server.ts";

/** Requests still unanswered so long after the signal to stop are cut off; clients that never finished one are not waited for. */
const hardStopMs = 8_000;

type RunningApp = {
  /** Addresses to open: this machine first, then the LAN. */
  urls: string[];
  /** Addresses of the port for the public pages; empty without one. */
  publicUrls: string[];
  port: number;
  /** Token with which the first person claims the appliance; null once someone has. */
  setUpToken: string | null;
  /** Takes what is set now, as far as that needs no new start, and the certificate as it is now. What can't be taken stays as it was, and the log says why. */
  reload(read: () => Config): void;
  /** Answers what is in flight, then closes the data directory. */
  stop(): Promise<void>;
};

type Dependencies = {
  log: ReturnType<typeof logTo>;
  /** Folders of the migrations and of the web files. */
  migrations: string;
  web: string;
  clock?: Clock;
};

/** Composition root: everything that runs is made here. Throws DataError. */
export async function startApp(
  config: Config,
  { log, migrations, web, clock = systemClock }: Dependencies,
): Promise<RunningApp> {
  let tls = tlsOf(config);
  const token = metricsToken(config.metricsTokenFile);
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
  const listeners: Listener[] = [];
  const { store, vault } = data;
  const sealed = await sealPlainSecrets(data, [
    { name: "monitors", noun: "monitor", kinds: monitorKinds },
    { name: "alert_channels", noun: "alert-channel", kinds: channelKinds },
  ]);
  if (sealed > 0) log.info("sealed secrets that an older version kept plain", { records: sealed });
  if (await startRestored(store, clock))
    log.info("restored from a backup: sessions are ended, alerts that waited in it are not sent");
  const ownHosts = ownHostsOf(config.allowedHost, config.url);
  const sharing = sharingOf(store);
  await sharing.refresh();
  const origin = () => config.url ?? linkOrigin(urlsOf(config, main.number));
  const events = eventReader(store, log);
  const node =
    data.shared &&
    clusterNode({
      store,
      clock,
      log,
      node: { id: data.shared.nodeId(), name: () => nodeName(config.host, main.number) },
      clockOffsetMs: data.shared.clockOffsetMs,
      handled: events.position,
      listeners: () => listenersForOthers(listeners),
    });
  const leases = node ?? soleNode;
  const targets = targetGuard(() => [...listeners, ...leases.listenersOfOthers()], {
    allowed: config.allowTarget,
    denied: config.denyTarget,
    commandFolder: config.allowCommands,
    sharing,
  });
  const shared = {
    store,
    clock,
    leases,
    vault,
    targets,
    ownHosts,
    log,
    events,
    signals: newSignals(),
    origin,
    accessTokens: accessTokens(),
  };
  const sending = {
    ...shared,
    lackedSince: (from: number) => engine.lackedSince(from),
    runningSince: () => engine.runningSince(),
  };
  const alerts = alertEngine({ ...sending, subscribers: subscriberReceivers(sending) });
  const alarm = storageAlarm(sending);
  const notices = subscriberFanOut(shared);
  const maintenance = maintenanceWatch(shared);
  const engine = checkEngine({ ...shared, browser: config.browser, maintenanceOf: maintenance.of });
  const live = livePages(shared);
  const keys = apiKeyCache(store, clock);
  const firstRun = (await hasPeople(store)) ? null : newSetUp(data.path, clock);
  const setUp = firstRun ?? noSetUp(data.path);
  const copyTo = (file: string, sealing: Sealing | null) =>
    copyInChild(data.path, file, sealing, environmentFor(config));
  const uploads = importUploads(data.path, clock);
  const backups = backupDownloads({ directory: data.path, clock, copyTo });
  const scheduled = scheduledBackups({ ...shared, workIn: data.path, copyTo });
  const byNetwork = (count: number) => networkLimit(count, clock);
  const services: Services = {
    ...shared,
    databaseNodes: data.shared?.databaseNodes ?? (async () => []),
    limits: config.limit,
    responses: responseCache(store),
    requestLimit: rateLimit(config.rateLimit, clock),
    personLimit: rateLimit(requestBounds.perPerson.value, clock),
    failureLimit: byNetwork(requestBounds.wrongKeys.value),
    attemptLimit: byNetwork(requestBounds.wrongPasswords.value),
    passwordLimit: rateLimit(requestBounds.wrongPasswordsPerAccount.value, clock, {
      windowMs: hourMs,
    }),
    attemptBackoff: attemptBackoff(clock),
    knownNetworks: knownNetworks(await recentAddresses(store)),
    keys,
    sessions: sessionCache(store, clock),
    live,
    setUp,
    backups,
    imports: { uploads, keepResults: config.keepResults, keepHours: config.keepHours },
    runScheduledBackup: scheduled.runNow,
    testMailLimit: rateLimit(alertBounds.testMails.value, clock),
    testAlertLimit: rateLimit(alertBounds.testAlerts.value, clock),
    previewLimit: rateLimit(statusPageBounds.previews.value, clock),
    hostCheckLimit: rateLimit(statusPageBounds.hostChecks.value, clock),
    certificate: () => tls && tls.cert,
    pageQueue: fairQueue({ atOnce: 1 }),
    lackedNow: engine.lackedNow,
    checkNow: engine.checkNow,
    tryCheck: engine.tryCheck,
    extendTimeout: (request, seconds) => main.server.timeout(originalRequest(request), seconds),
  };
  const peerOf = (request: Request) =>
    (main.server.requestIP(request)?.address ?? "").replace(/^::ffff:/, "");
  const proxies = trustedProxies(config.trustProxy, peerOf, log);
  const { addressOf } = proxies;
  const files = webFiles(web);
  const lock = pageLock(vault, clock, byNetwork(requestBounds.wrongPagePasswords.value), addressOf);
  const site = statusSite({
    ...services,
    store: store.relaxed(),
    events,
    makingLimit: byNetwork(statusPageBounds.uncachedRenders.value),
    addressOf,
    lock,
    subscriptions: subscriptionsOf({
      services,
      signUps: byNetwork(signUpBounds.perMinute.value),
      addressOf,
    }),
  });
  const requests = requestMetrics();
  const loop = eventLoopDelay();
  const app = serverOf(services, {
    web: files,
    assets: await createAssetRoutes(join(web, "assets"), "/assets"),
    addressOf,
    metrics: {
      token,
      text: () =>
        applianceMetrics({
          store,
          directory: data.path,
          pageQueue: services.pageQueue,
          collectors,
        }),
    },
    push: { report: engine.report, wrongTokens: byNetwork(requestBounds.wrongPushTokens.value) },
  });
  const transfers = transferLimit();
  const listening = () => ({ host: config.host, tls, proxies, requests, transfers, log });
  const main = listen(listening(), config.port, (request) => {
    const published = site.answer(request) ?? site.options(request);
    if (published !== null) return published;
    if (request.method !== "GET")
      contention.recordWrite(main.server.requestIP(originalRequest(request))?.port ?? 0);
    return app.fetch(withFindablePath(request));
  });
  const publicAssets = await createAssetRoutes(join(web, "assets/public"), "/assets/public");
  const answerPublic = publicServer(services, site.answerAlone, publicAssets);

  const ports = portsOf(
    main,
    (number) => listen(listening(), number, answerPublic),
    (open) =>
      listeners.splice(
        0,
        Infinity,
        ...open.map(({ number: port }) => ({ host: config.host, port })),
      ),
  );
  ports.usePublic(config.publicPort);
  /** When keys and sessions were last used. */
  const lastSeen = () => [...keys.used(), ...services.sessions.seen()];

  const cleaning = housekeeping({
    store,
    clock,
    leases: shared.leases,
    log,
    kept: { results: config.keepResults, hours: config.keepHours, audit: config.keepAudit },
    async readUpTo() {
      return events.position();
    },
    async eachMinute() {
      await Promise.all([alerts.save(), notices.save()]);
      await store.atomic(lastSeen());
      // Somebody may have been made on the command line.
      if (await hasPeople(store)) setUp.end();
    },
  });
  const certificateExpiresAt = () => tls && new X509Certificate(tls.cert).validToDate.getTime();
  const problems = new ProblemWatch({
    ...shared,
    diskOf: () => diskOf(data.path),
    certificateExpiresAt,
  });
  const collectors = [
    requests,
    {
      metrics() {
        const endsAt = certificateExpiresAt();
        return [
          family(
            "signalbox_http_requests_in_flight",
            "gauge",
            "Requests that are not wholly answered, streams of open pages among them.",
            ports.pendingRequests(),
          ),
          family(
            "signalbox_tls_certificate_expiry_timestamp_seconds",
            "gauge",
            "Unix time at which the certificate of --tls-cert expires.",
            endsAt === null ? null : endsAt / 1_000,
          ),
        ];
      },
    },
    engine,
    alerts,
    events,
    live,
    cleaning,
    scheduled,
    loop,
  ];
  await node?.start();
  for (const part of [site, live, alerts, notices, maintenance]) await part.start();
  for (const part of [loop, cleaning, scheduled, problems, alarm]) part.start();
  // Requests are answered while it takes in the monitors: all that they can ask for is there.
  await engine.start();
  maintenance.onChange(engine.checkSoon);

  /** A disk that takes nothing any more keeps nobody from stopping: what was not acknowledged is done again. */
  async function ended(end: () => unknown) {
    try {
      await end();
    } catch (error) {
      log.warn("not everything was written down at the end", { cause: String(error) });
    }
  }

  const urls = urlsOf(config, main.number);
  const publicNumber = ports.publicNumber();
  const configurations = configurationFiles(services, environment());
  configurations.apply(config.apply);
  return {
    urls,
    publicUrls: publicNumber === null ? [] : urlsOf(config, publicNumber),
    port: main.number,
    setUpToken: firstRun?.token ?? null,
    reload: reloading(config, { log, ports, token, onTls: (its) => (tls = its), configurations }),
    async stop() {
      void ports.stop();
      await configurations.settled();
      await Promise.all(
        [live, engine, maintenance, cleaning, problems, alarm].map((part) =>
          ended(() => part.stop()),
        ),
      );
      for (const part of [notices, alerts, site]) await ended(() => part.stop());
      await ended(() => node?.stop());
      const deadline = performance.now() + hardStopMs;
      while (ports.pendingRequests() > 0 && performance.now() < deadline) await Bun.sleep(10);
      await ports.stop(true);
      await ended(() => setUp.end());
      scheduled.stop();
      loop.stop();
      await ended(() => backups.end());
      uploads.end();
      await ended(() => store.atomic(lastSeen()));
      await data.close();
    },
  };
}

/** Tells nodes apart: by host name, or by their own address where several run on one machine. */
function nodeName(host: string, port: number): string {
  return `${host === "0.0.0.0" || host === "::" ? hostname() : host}:${port}`;
}

/** Others open this appliance under its address on the LAN, where it has one. */
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
