/** Applies changed settings to the running appliance, if they need no restart. */
import { X509Certificate } from "node:crypto";
import type { MailListener } from "./alerting/sources/mail/listener.ts";
import { type Config, flagOf } from "./config.ts";
import type { ConfigurationFiles } from "./configuration/files/apply.ts";
import { AppError } from "./core/errors.ts";
import type { createLog } from "./core/log.ts";
import { type Tls, readTls } from "./http/listener.ts";
import type { MetricsToken } from "./operations/metrics/token.ts";
import type { Ports } from "./http/ports.ts";

type Name = keyof Config;

const tlsSettings: readonly Name[] = ["tlsCert", "tlsKey"];
/** Settings that take effect without a restart. */
const liveSettings: readonly Name[] = [
  "logFormat",
  "logLevel",
  "publicPort",
  "metricsTokenFile",
  "apply",
  ...tlsSettings,
];

type Dependencies = {
  log: ReturnType<typeof createLog>;
  ports: Ports;
  token: MetricsToken;
  /** Certificate for ports that are opened later. */
  tls: { current: Tls | null };
  configurations: Pick<ConfigurationFiles, "apply">;
  mail: Pick<MailListener, "useTls"> | null;
};

/** Creates a function that applies new settings. It also reloads the certificate and the metrics token. */
export function createReload(config: Config, dependencies: Dependencies) {
  const { log } = dependencies;
  let currentConfig = config;
  return (read: () => Config) =>
    void tryChange(
      log,
      "everything stays",
      () => (currentConfig = applySettings(currentConfig, read(), dependencies)),
    );
}

/** Applies settings that need no restart, and logs all others. Returns the settings in use. */
function applySettings(used: Config, wanted: Config, dependencies: Dependencies): Config {
  const { log, ports, token, tls, configurations, mail } = dependencies;
  const isTls = wanted.tlsCert !== undefined;
  // TLS can't be enabled or disabled during operation, because cookies and links depend on the scheme.
  const turnsTls = isTls !== (used.tlsCert !== undefined);
  const waiting = (Object.keys(wanted) as Name[])
    .filter((name) => !Bun.deepEquals(wanted[name], used[name]))
    .filter((name) => !liveSettings.includes(name) || (turnsTls && tlsSettings.includes(name)));
  if (waiting.length > 0)
    log.warn("these settings take effect at the next start", {
      settings: waiting.map(flagOf).join(" "),
    });
  log.configure(wanted);
  let next = used;
  if (isTls && !turnsTls && tryChange(log, "the certificate stays", () => useCertificate()))
    next = { ...next, tlsCert: wanted.tlsCert, tlsKey: wanted.tlsKey };
  if (tryChange(log, "the public port stays", usePublicPort))
    next = { ...next, publicPort: wanted.publicPort };
  if (tryChange(log, "the metrics token stays", () => token.reload(wanted.metricsTokenFile)))
    next = { ...next, metricsTokenFile: wanted.metricsTokenFile };
  configurations.apply(wanted.apply);
  const files = [wanted.config, wanted.tlsCert, wanted.metricsTokenFile, wanted.apply];
  log.info(
    files.every((file) => file === undefined)
      ? "there is nothing to read again: no --config, --tls-cert, --metrics-token-file or --apply"
      : "the settings were read again",
  );
  return { ...next, apply: wanted.apply };

  function useCertificate() {
    const readResult = readTls(wanted);
    if (readResult === null) return;
    ports.useTls(readResult);
    mail?.useTls(readResult);
    tls.current = readResult;
    const { validTo } = new X509Certificate(readResult.cert);
    log.info("new connections get the certificate as it is now", { validTo });
  }

  function usePublicPort() {
    const { publicPort: port } = wanted;
    if (port === used.publicPort) return;
    ports.usePublic(port);
    const state = port === undefined ? "closed" : "open";
    log.info(`the public port is ${state}`, { port });
  }
}

/** Runs a change. Returns whether it succeeded; otherwise logs the error. */
function tryChange(log: Dependencies["log"], unchanged: string, change: () => unknown): boolean {
  try {
    change();
    return true;
  } catch (error) {
    const isOurs = error instanceof AppError;
    log.error(`${unchanged} as it was`, { cause: isOurs ? error.message : String(error) });
    return false;
  }
}
