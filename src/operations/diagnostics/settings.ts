/** Examines the settings of `serve` for contradictions, missing files and wrong DNS. */
import { X509Certificate } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { isLoopback } from "../../core/security/target-guard.ts";
import type { Store } from "../../database/store.ts";
import { readTls } from "../../http/listener.ts";
import { createMetricsToken } from "../metrics/token.ts";
import type { TrustedProxy } from "../../http/access/trusted-proxies.ts";

type Paths = {
  allowCommands?: string | undefined;
  browser?: string | undefined;
  apply?: string | undefined;
};

/** Settings of `serve` that the diagnostics examine. */
export type Settings = Paths & {
  host: string;
  port: number;
  publicPort?: number | undefined;
  smtpPort?: number | undefined;
  database?: string | undefined;
  keepResults: number;
  keepHours: number;
  url?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  metricsTokenFile?: string | undefined;
  trustProxy: readonly TrustedProxy[];
};

type UrlSettings = Pick<Settings, "url" | "tlsCert" | "tlsKey" | "trustProxy">;

/** Examines whether `--url`, `--trust-proxy` and the TLS and token files fit together. */
export function examineSettings(
  settings: UrlSettings & Paths & Pick<Settings, "metricsTokenFile">,
): Finding[] {
  return [
    ...examineTls(settings),
    ...examineUrl(settings),
    ...examineTrust(settings),
    ...examineToken(settings),
    ...listMissingPaths(settings).map(({ option, message, advice }) =>
      createProblemFinding(option, message, advice),
    ),
  ];
}

/** Returns options that name a missing file or folder. `serve` starts without it, so the doctor must report it. */
export function listMissingPaths({ allowCommands, browser, apply }: Paths) {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const missing: { option: string; message: string; advice: string }[] = [];
  const add = (option: string, message: string, advice: string) =>
    missing.push({ option, message, advice });
  if (allowCommands !== undefined && !isFolder(allowCommands))
    add(
      "--allow-commands",
      `${allowCommands} is not a folder, so monitors of the type command can't run`,
      "Create the folder with the programs, or name the right one.",
    );
  if (browser !== undefined && Bun.which(browser) === null)
    add(
      "--browser",
      `${browser} is not a program, so monitors of the type browser can't run`,
      "Name an installed Chromium, or leave the option out to use the one on the PATH.",
    );
  if (apply !== undefined && !existsSync(apply))
    add(
      "--apply",
      `${apply} does not exist, so no configuration is applied`,
      "Name the YAML file or the folder with your YAML files.",
    );
  return missing;
}

/** Warns if links in mails would have an address that recipients can't open. */
export async function examineLinks(
  { url }: Pick<Settings, "url">,
  store: Store,
): Promise<Finding[]> {
  if (url !== undefined) return [];
  const [row] = await store.query<{ subscribers: number; mails: number }>(
    `select exists (select 1 from subscribers) as subscribers,
       exists (select 1 from alert_channels where type = 'email') as mails`,
    [],
  );
  if (row === undefined || row.subscribers + row.mails === 0) return [];
  return [
    createWarningFinding(
      "--url",
      `not set, so links in mails to ${row.subscribers > 0 ? "subscribers" : "people"} have the first address of this machine`,
      "Give `serve` the address under which people open this appliance: --url https://status.example.com.",
    ),
  ];
}

function examineToken({ metricsTokenFile: file }: Pick<Settings, "metricsTokenFile">): Finding[] {
  if (file === undefined) return [];
  const subject = "metrics token";
  try {
    createMetricsToken(file);
    return [createOkFinding(subject, `${file} can be used`)];
  } catch (error) {
    const advice = "Write one with `openssl rand -hex 32`, for the account of `serve` alone.";
    return [createProblemFinding(subject, (error as Error).message, advice)];
  }
}

/**
 * Returns the expiry of the certificate in Unix milliseconds; null without usable TLS files, which
 * `examineSettings` reports.
 */
export function readCertificateExpiry(settings: Pick<Settings, "tlsCert" | "tlsKey">) {
  try {
    const tls = readTls(settings);
    return tls && new X509Certificate(tls.cert).validToDate.getTime();
  } catch {
    return null;
  }
}

function examineTls({ url, ...files }: UrlSettings): Finding[] {
  let certificate: X509Certificate;
  try {
    const tls = readTls(files);
    if (tls === null) return [];
    certificate = new X509Certificate(tls.cert);
  } catch (error) {
    return [
      createProblemFinding(
        "TLS files",
        // The message of a rejected setting ends with the name of the setting.
        (error as Error).message,
        "Name a PEM chain with --tls-cert and its own key, mode 0600, with --tls-key.",
      ),
    ];
  }
  if (url === undefined) return [];
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const covers = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (covers !== undefined) return [];
  return [
    createProblemFinding(
      "TLS certificate",
      `it is not for ${host}, which --url names`,
      "Get a certificate for that name, or correct --url.",
    ),
  ];
}

function examineUrl({ url, tlsCert, trustProxy }: UrlSettings): Finding[] {
  const subject = "--url";
  if (url === undefined)
    return [
      createOkFinding(subject, "not set: links in alerts have the first address of this machine"),
    ];
  const isSecure = url.startsWith("https:");
  if (isSecure && tlsCert === undefined && trustProxy.length === 0)
    return [
      createWarningFinding(
        subject,
        `${url} is https, but there is neither --tls-cert nor --trust-proxy`,
        "If a proxy terminates TLS, name its address: --trust-proxy 127.0.0.1. Otherwise, set --tls-cert and --tls-key.",
      ),
    ];
  if (!isSecure && tlsCert !== undefined)
    return [
      createWarningFinding(
        subject,
        `${url} is http, but --tls-cert makes every port https`,
        "Write https://.",
      ),
    ];
  return [createOkFinding(subject, url)];
}

function examineTrust({ trustProxy }: UrlSettings): Finding[] {
  if (trustProxy.length === 0) return [];
  const subject = "--trust-proxy";
  const wide = trustProxy.flatMap((one) => {
    if (typeof one === "string") return [];
    const [network, prefix] = one;
    return prefix < (isIPv4(network) ? 8 : 32) ? [`${network}/${prefix}`] : [];
  });
  if (wide.length === 0)
    return [
      createOkFinding(
        subject,
        trustProxy.map((one) => (typeof one === "string" ? one : one.join("/"))).join(", "),
      ),
    ];
  return [
    createWarningFinding(
      subject,
      `${wide.join(", ")} is larger than any network of proxies: every machine in it can claim any client address`,
      "Name the proxies alone, such as --trust-proxy 127.0.0.1 10.0.5.2.",
    ),
  ];
}

/** Examines whether the host of `--url` resolves to this machine. Another machine must be a trusted proxy. */
export async function examineName({
  url,
  trustProxy,
}: Pick<Settings, "url" | "trustProxy">): Promise<Finding[]> {
  if (url === undefined) return [];
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const subject = "name of --url";
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0)
    return [
      createWarningFinding(
        subject,
        `${host} is not known on this machine`,
        "Links in alerts contain it: correct --url, or set the name up in DNS.",
      ),
    ];
  const ownAddresses = new Set(
    Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map(({ address }) => address),
    ),
  );
  const others = found
    .map(({ address }) => address)
    .filter((address) => !ownAddresses.has(address) && !isLoopback(address));
  if (others.length === 0) return [createOkFinding(subject, `${host} is this machine`)];
  const where = `${host} is ${others.join(", ")}, another machine`;
  if (trustProxy.length > 0) return [createOkFinding(subject, `${where}; a proxy is trusted`)];
  return [
    createWarningFinding(
      subject,
      where,
      "If that is a proxy, name its address with --trust-proxy. A router that forwards ports needs nothing.",
    ),
  ];
}
