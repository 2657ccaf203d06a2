/** Composes the appliance from its parts, and starts and stops them in order. */
import {
  buildLastUseStatements,
  createParts,
  type Dependencies,
  listUrls,
  type Parts,
} from "./parts.ts";
import type { MailListener } from "./alerting/sources/mail/listener.ts";
import { type ConfigurationFiles, createConfigurationFiles } from "./configuration/files/apply.ts";
import { createFairQueue } from "./core/collections/fair-queue.ts";
import { mailBounds, sourceBounds } from "./core/limits.ts";
import { type Config, getEnvironment } from "./config.ts";
import { listen } from "./http/listener.ts";
import { createTransferLimit } from "./http/responses/large-bodies.ts";
import { createPorts } from "./http/ports.ts";
import { createNetworkLimit, createRateLimit } from "./http/access/rate-limit.ts";
import { createTrustedProxies } from "./http/access/trusted-proxies.ts";
import { HeldChangeSender } from "./http/held-changes/sender.ts";
import { createRequestMetrics } from "./http/request-metrics.ts";
import { PagePublisher } from "./status-pages/publishing/publisher.ts";
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

/** Creates and starts all parts. Throws DataError. */
export async function startApp(config: Config, dependencies: Dependencies): Promise<RunningApp> {
  const parts = await createParts(config, dependencies, () => web.main.number);
  const { log, tls, token } = parts;
  const web = openPorts(parts, dependencies.web);
  const mail = await openMailPort(parts, web);
  const configurations = createConfigurationFiles(parts, getEnvironment());
  await startParts({ ...parts, ...web });
  configurations.apply(config.apply);
  const { main, ports } = web;
  const publicNumber = ports.publicNumber();
  return {
    urls: listUrls(config, main.number),
    publicUrls: publicNumber === null ? [] : listUrls(config, publicNumber),
    port: main.number,
    mailPort: mail?.number ?? null,
    setUpToken: parts.firstRun?.token ?? null,
    reload: createReload(config, { log, ports, token, tls, configurations, mail }),
    stop: () => stopParts({ ...parts, ...web, mail, configurations }),
  };
}

/** Opens the ports. The first request loads their handlers, which would take a third of the time to start. */
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
    if (isHealthCheck(request)) return createHealthResponse(store, checks.findCurrentLack);
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
  const [{ MailListener: Listener }, { reportRun }] = await Promise.all([
    import("./alerting/sources/mail/listener.ts"),
    import("./monitoring/pings/ping.ts"),
  ]);
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
