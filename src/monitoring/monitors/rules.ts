/** Derives facts from a monitor's fields: its targets, regular expressions, channels and unused credentials. */
import type { Assertion } from "./assertions-schema.ts";
import type { Save } from "./request-schema.ts";
import { formatWatched, type StoredTarget } from "./target-rules.ts";
import { listUrlTargets, type RecordTarget, portOf } from "../../core/security/target-guard.ts";

/** Host for targets on this machine, such as the Docker socket. They need the permission for loopback addresses. */
export const thisMachine = "127.0.0.1";

/** Lists the targets that a monitor's checks connect to, each with the path of its field. */
export function listTargets(monitor: { type: string; [field: string]: unknown }): RecordTarget[] {
  const getText = (name: string) => (typeof monitor[name] === "string" ? monitor[name] : null);
  const host = getText("host");
  const port = typeof monitor["port"] === "number" ? monitor["port"] : null;
  const url = URL.parse(getText("url") ?? "");
  const connectTo = getText("connectTo");
  const resolver = parseResolver(getText("resolver") ?? "");
  const steps = (monitor.type === "http" ? (monitor["steps"] ?? []) : []) as { url: string }[];
  const { tokenUrl = "" } = (monitor["oauth2"] ?? {}) as { tokenUrl?: string };
  return [
    ...listUrlTargets("url", getText("url")),
    ...listUrlTargets("oauth2.tokenUrl", tokenUrl),
    ...listUrlTargets("proxyUrl", getText("proxyUrl")),
    ...listUrlTargets("server", getText("server")),
    ...steps.flatMap((step, index) => listUrlTargets(`steps[${index}].url`, step.url)),
    ...(monitor.type === "docker" && host === null
      ? [{ path: "host", host: thisMachine, port: null }]
      : []),
    ...(monitor.type === "systemd" ? [{ path: "unit", host: thisMachine, port: null }] : []),
    // A DNS monitor queries the records of its host and never connects to it.
    ...(host === null || monitor.type === "dns" ? [] : [{ path: "host", host, port }]),
    ...(connectTo === null || url === null
      ? []
      : [{ path: "connectTo", host: connectTo, port: portOf(url) }]),
    ...(resolver === null ? [] : [{ path: "resolver", host: resolver.host, port: resolver.port }]),
  ];
}

type SearchingFields = {
  assertions?: readonly Assertion[];
  save?: Save;
  steps?: readonly { assertions: readonly Assertion[]; save: Save }[];
};

/** Lists the regular expressions of a monitor and its steps, each with the path of its field. */
export function listExpressions(monitor: object): [path: string, expression: string][] {
  const { steps = [], ...own } = monitor as SearchingFields;
  return [own, ...steps].flatMap(({ assertions = [], save = [] }, index) => {
    const at = index === 0 ? "" : `steps[${index - 1}].`;
    return [
      ...assertions.flatMap(({ op, value }, number): [string, string][] =>
        op === "matches" || op === "notMatches"
          ? [[`${at}assertions[${number}].value`, String(value)]]
          : [],
      ),
      ...save.flatMap(({ expression }, number): [string, string][] =>
        expression === null ? [] : [[`${at}save[${number}].expression`, expression]],
      ),
    ];
  });
}

/**
 * Returns the target of a monitor for alerts and the overview. Omits the user, query and fragment of a URL, which can
 * contain tokens. Null for a push monitor, which has no target.
 */
export function formatTarget({ type, url, watched, port }: StoredTarget): string | null {
  const address = URL.parse(url ?? "");
  if (address !== null) {
    const { protocol, host, pathname } = address;
    return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
  }
  return watched === null ? null : formatWatched(type, watched, port);
}

const hostPortPattern = /^\[?(?<host>[\d.]+|[\da-f:.]+(?=\]))\]?:(?<port>\d{1,5})$/i;

/** Default ports of resolvers: DNS, DNS over TLS (RFC 7858), DNS over HTTPS (RFC 8484). */
const resolverPorts = { dns: 53, tls: 853, https: 443 };

export type Resolver = {
  scheme: keyof typeof resolverPorts;
  host: string;
  port: number;
  /** Path and query of DNS over HTTPS. */
  path: string;
};

/** Parses a name server such as `192.0.2.1:53`, `[2001:db8::1]:53`, `tls://dns.lan` or `https://dns.lan/dns-query`. */
export function parseResolver(text: string): Resolver | null {
  if (text === "") return null;
  const url = text.includes("://") ? URL.parse(text) : null;
  if (url !== null) {
    const scheme = url.protocol === "tls:" ? "tls" : "https";
    const port = Number(url.port || resolverPorts[scheme]);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    return { scheme, host, port, path: `${url.pathname}${url.search}` };
  }
  const { host = text, port = "53" } = hostPortPattern.exec(text)?.groups ?? {};
  return { scheme: "dns", host: host.replace(/^\[|\]$/g, ""), port: Number(port), path: "" };
}

/** Joins lists of channels. A duplicate stays at its first position. */
export function mergeChannels(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

/** Lists the channels of a new monitor: its own, those of its group, and the oldest default channels up to `limit`. */
export function chooseChannels(
  own: readonly string[],
  defaults: readonly string[],
  groupChannelIds: readonly string[],
  limit: number,
): string[] {
  const requested = new Set(mergeChannels(own, groupChannelIds));
  const others = defaults
    .filter((id) => !requested.has(id))
    .slice(0, Math.max(0, limit - requested.size));
  const attached = new Set([...requested, ...others]);
  return mergeChannels(own, defaults, groupChannelIds).filter((id) => attached.has(id));
}
