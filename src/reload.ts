/** Applies changed settings to the running appliance, if they need no restart. */
import { X509Certificate } from "node:crypto";
import { type Config, flagOf } from "./config.ts";
import type { ConfigurationFiles } from "./configuration/files/apply.ts";
import { AppError } from "./core/errors.ts";
import type { logTo } from "./core/log.ts";
import { type Tls, tlsOf } from "./http/listener.ts";
import type { MetricsToken } from "./operations/metrics/token.ts";
import type { Ports } from "./http/ports.ts";

type Name = keyof Config;

const ofTls: readonly Name[] = ["tlsCert", "tlsKey"];
/** Settings that take effect without a restart. */
const live: readonly Name[] = [
  "logFormat",
  "logLevel",
  "publicPort",
  "metricsTokenFile",
  "apply",
  ...ofTls,
];

type Dependencies = {
  log: ReturnType<typeof logTo>;
  ports: Ports;
  token: MetricsToken;
  /** Certificate for ports that are opened later. */
  tls: { current: Tls | null };
  configurations: Pick<ConfigurationFiles, "apply">;
};

/** Creates a function that applies new settings. It also reloads the certificate and the metrics token. */
export function createReload(config: Config, dependencies: Dependencies) {
  const { log } = dependencies;
  let used = config;
  return (read: () => Config) =>
    void attempt(log, "everything stays", () => (used = applySettings(used, read(), dependencies)));
}

/** Applies settings that need no restart, and logs all others. Returns the settings in use. */
function applySettings(used: Config, wanted: Config, dependencies: Dependencies): Config {
  const { log, ports, token, tls, configurations } = dependencies;
  const isTls = wanted.tlsCert !== undefined;
  // TLS can't be enabled or disabled during operation, because cookies and links depend on the scheme.
  const turnsTls = isTls !== (used.tlsCert !== undefined);
  const waiting = (Object.keys(wanted) as Name[])
    .filter((name) => !Bun.deepEquals(wanted[name], used[name]))
    .filter((name) => !live.includes(name) || (turnsTls && ofTls.includes(name)));
  if (waiting.length > 0)
    log.warn("these settings take effect at the next start", {
      settings: waiting.map(flagOf).join(" "),
    });
  log.use(wanted);
  let next = used;
  if (isTls && !turnsTls && attempt(log, "the certificate stays", () => useCertificate()))
    next = { ...next, tlsCert: wanted.tlsCert, tlsKey: wanted.tlsKey };
  if (attempt(log, "the public port stays", usePublicPort))
    next = { ...next, publicPort: wanted.publicPort };
  if (attempt(log, "the metrics token stays", () => token.read(wanted.metricsTokenFile)))
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
    const read = tlsOf(wanted);
    if (read === null) return;
    ports.useTls(read);
    tls.current = read;
    const { validTo } = new X509Certificate(read.cert);
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
function attempt(log: Dependencies["log"], what: string, change: () => unknown): boolean {
  try {
    change();
    return true;
  } catch (error) {
    const isOurs = error instanceof AppError;
    log.error(`${what} as it was`, { cause: isOurs ? error.message : String(error) });
    return false;
  }
}
