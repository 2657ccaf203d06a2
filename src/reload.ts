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
/** What takes effect while the appliance runs. */
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
  /** Ports that are opened from now on have this one, too. */
  onTls: (tls: Tls) => void;
  configurations: Pick<ConfigurationFiles, "apply">;
};

/**
 * Takes settings as they are now, with the certificate and the metrics token, which may have changed in their files.
 * What can't be taken stays as it was, and the log says why.
 */
export function reloading(
  config: Config,
  { log, ports, token, onTls, configurations }: Dependencies,
) {
  let used = config;

  /** Returns whether it holds from now on. */
  function attempt(what: string, change: () => void): boolean {
    try {
      change();
      return true;
    } catch (error) {
      const isOurs = error instanceof AppError;
      log.error(`${what} as it was`, { cause: isOurs ? error.message : String(error) });
      return false;
    }
  }

  function useCertificate(wanted: Config) {
    const tls = tlsOf(wanted);
    if (tls === null) return;
    ports.useTls(tls);
    onTls(tls);
    used = { ...used, tlsCert: wanted.tlsCert, tlsKey: wanted.tlsKey };
    const { validTo } = new X509Certificate(tls.cert);
    log.info("new connections get the certificate as it is now", { validTo });
  }

  function usePublicPort({ publicPort }: Config) {
    if (publicPort === used.publicPort) return;
    ports.usePublic(publicPort);
    used = { ...used, publicPort };
    const message =
      publicPort === undefined ? "the public port is closed" : "the public port is open";
    log.info(message, { port: publicPort });
  }

  function useMetricsToken({ metricsTokenFile }: Config) {
    token.read(metricsTokenFile);
    used = { ...used, metricsTokenFile };
  }

  function use(wanted: Config) {
    const isTls = wanted.tlsCert !== undefined;
    // Cookies and links of an appliance are those of http or of https.
    const turnsTls = isTls !== (used.tlsCert !== undefined);
    const waiting = (Object.keys(wanted) as Name[])
      .filter((name) => !Bun.deepEquals(wanted[name], used[name]))
      .filter((name) => !live.includes(name) || (turnsTls && ofTls.includes(name)));
    if (waiting.length > 0)
      log.warn("these settings take effect at the next start", {
        settings: waiting.map(flagOf).join(" "),
      });
    log.use(wanted);
    if (isTls && !turnsTls) attempt("the certificate stays", () => useCertificate(wanted));
    attempt("the public port stays", () => usePublicPort(wanted));
    attempt("the metrics token stays", () => useMetricsToken(wanted));
    configurations.apply(wanted.apply);
    used = { ...used, apply: wanted.apply };
    const files = [wanted.config, wanted.tlsCert, wanted.metricsTokenFile, wanted.apply];
    if (files.every((file) => file === undefined))
      log.info(
        "there is nothing to read again: no --config, --tls-cert, --metrics-token-file or --apply",
      );
    else log.info("the settings were read again");
  }

  return (read: () => Config) => void attempt("everything stays", () => use(read()));
}
