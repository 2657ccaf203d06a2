/** Examines the hosts of alert channels, the name servers and the default route. */
import { existsSync, readFileSync } from "node:fs";
import { getServers, lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { type Clock, dayMs } from "../../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createSkippedFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { canReachNameServers } from "../../core/outgoing/addresses.ts";
import { dial } from "../../core/outgoing/connection.ts";
import { runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import { BlockedTarget, findFailureReason, LocalFailure } from "../../core/outgoing/failures.ts";
import {
  deniedIssue,
  isPrivate,
  portOf,
  type TargetGuard,
} from "../../core/security/target-guard.ts";
import { type ChannelHost, formatOrigin } from "./destinations.ts";
import { renewalDays } from "./certificate.ts";

/** Timeout of one host, in milliseconds. */
export const hostTimeoutMs = 5_000;

export type ConnectionOptions = { targets: TargetGuard; clock: Clock; timeoutMs?: number };

const secureProtocols: ReadonlySet<string> = new Set(["https:", "mqtts:", "tls:"]);

/** Connects to the host of some channels as an alert would, without sending anything. */
export async function examineHost(
  { origin, channels }: ChannelHost,
  reaching: ConnectionOptions,
): Promise<Finding> {
  const subject = formatOrigin(origin);
  const whose = `for ${formatNames(channels)}`;
  const host = origin.hostname.replace(/^\[|\]$/g, "");
  const isSecure = secureProtocols.has(origin.protocol);
  const port = portOf(origin);
  try {
    const secured = await runWithTimeout(createConnectionContext(reaching), async (context) => {
      context.step = "resolving the name";
      const addresses = await context.addressesOf(host, port);
      if (origin.protocol === "udp:") return "resolved";
      const connection = await dial(addresses, port, context, isSecure ? { name: host } : null);
      return connection.secured;
    });
    if (secured === "resolved") return createOkFinding(subject, `its name resolves, ${whose}`);
    if (secured === null) return createOkFinding(subject, `takes connections, ${whose}`);
    if (secured.issue !== null)
      return createProblemFinding(
        subject,
        `${secured.issue} It is ${whose}`,
        adviseOnCertificate(host),
      );
    const end = Date.parse(secured.certificateExpiresAt ?? "");
    const days = Math.floor((end - reaching.clock()) / dayMs);
    const message = `takes connections, its certificate is valid for ${days} days; ${whose}`;
    return days < renewalDays
      ? createWarningFinding(subject, message, `The operator of ${host} must renew it before then.`)
      : createOkFinding(subject, message);
  } catch (error) {
    return createProblemFinding(
      subject,
      `${describeFailure(error)} It is ${whose}`,
      adviseOnFailure(error, subject),
    );
  }
}

export const createConnectionContext = ({
  targets,
  timeoutMs = hostTimeoutMs,
}: ConnectionOptions) => ({
  targets,
  timeoutMs,
  signal: new AbortController().signal,
});

export const adviseOnCertificate = (host: string) =>
  `If ${host} has a certificate of your own authority, start serve and doctor with NODE_EXTRA_CA_CERTS=FILE; else it needs another one.`;

/** Returns the reason of a failed connection. Rethrows other errors, because they can contain a secret. */
export function describeFailure(error: unknown): string {
  const reason = findFailureReason(error);
  if (reason === null) throw error;
  return reason;
}

/** Returns the advice after a failed connection. `url` is a URL that the administrator can test. */
export function adviseOnFailure(error: unknown, url: string): string {
  if (error instanceof LocalFailure)
    return "This machine is in the way: see /etc/resolv.conf, its network, and --allow-target.";
  if (!(error instanceof BlockedTarget))
    return `From this machine try \`curl -v ${url}\`: the name, a firewall or the service itself can be wrong.`;
  const { address, message } = error;
  if (message.includes(deniedIssue)) return "Change --deny-target, or name another host.";
  if (message.includes("this appliance itself"))
    return "It is the address of this appliance: enter the address of the service that receives the alerts.";
  const bits = isIP(address ?? "") === 6 ? 128 : 32;
  return `If this is intended, start \`serve\` with --allow-target ${address}/${bits}; otherwise correct the address.`;
}

/** Lists up to three names. If there are more, lists two and counts the others. */
export function formatNames(names: readonly string[]): string {
  const listedNames = names.length > 3 ? names.slice(0, 2) : names;
  const others = names.length - listedNames.length;
  return others === 0 ? listedNames.join(", ") : `${listedNames.join(", ")} and ${others} others`;
}

const networkTimeoutMs = 3_000;

/** Examines whether the names of these hosts resolve, and whether their addresses have a route. */
export async function examineNetwork(hosts: readonly string[], root = "/"): Promise<Finding[]> {
  const bareHosts = hosts.map((host) => host.replace(/^\[|\]$/g, ""));
  const names = bareHosts.filter((host) => isIP(host) === 0);
  const [answers, found] = await Promise.all([
    names.length === 0 || canReachNameServers(),
    Promise.all(names.map((name) => Promise.race([resolveAddresses(name), waitForNothing()]))),
  ]);
  const unknown = names.filter((_, index) => found[index]?.length === 0);
  const addresses = [...bareHosts.filter((host) => isIP(host) !== 0), ...found.flat()];
  return [examineNameServers(names, unknown, answers), ...examineDefaultRoute(addresses, root)];
}

const resolveAddresses = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true }).catch(() => [])).map(({ address }) => address);

const waitForNothing = async (): Promise<string[]> => {
  await Bun.sleep(networkTimeoutMs);
  return [];
};

function examineNameServers(
  names: readonly string[],
  unknown: readonly string[],
  areAnswering: boolean,
): Finding {
  const subject = "name servers";
  if (names.length === 0)
    return createSkippedFinding(subject, "nothing that is set up has a name to look up");
  const servers = getServers().join(", ");
  if (areAnswering) return createOkFinding(subject, `${servers}: they answer`);
  // A machine without DNS can have all names in the hosts file.
  if (unknown.length === 0) return createOkFinding(subject, "none responds, and none is needed");
  return createProblemFinding(
    subject,
    `${servers || "none"}: none responds, and ${formatNames(unknown)} can't be looked up`,
    "Correct /etc/resolv.conf, or ask the network's administrator.",
  );
}

function examineDefaultRoute(addresses: readonly string[], root: string): Finding[] {
  const file = join(root, "proc/net/route");
  if (!existsSync(file)) return [];
  const subject = "default route";
  const defaultRoutes = readFileSync(file, "utf8").matchAll(/^(\S+)\s+00000000\s/gm);
  const devices = [...defaultRoutes].map(([, device]) => device);
  if (devices.length > 0) return [createOkFinding(subject, `by ${devices.join(", ")}`)];
  const publicAddresses = addresses.filter((address) => isIP(address) === 4 && !isPrivate(address));
  if (publicAddresses.length === 0)
    return [createOkFinding(subject, "there is none, and none is needed")];
  return [
    createProblemFinding(
      subject,
      `there is none, so that nothing gets to ${formatNames(publicAddresses)}`,
      "Set a gateway: `ip route add default via ADDRESS`.",
    ),
  ];
}
