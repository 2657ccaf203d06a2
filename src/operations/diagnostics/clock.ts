/** Compares the clock of this machine with a time server or the date of a web server. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createSkippedFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { exchange, runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import { queryTime } from "../../core/outgoing/ntp.ts";
import { parseHttpDate } from "../../core/outgoing/http/retry-after.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";

const ntpPort = 123;
const ntpTimeoutMs = 2_000;
const webTimeoutMs = 3_000;
/** Number of servers that are queried at the same time. The first response is used. */
const concurrency = 4;

/** An offset above this is hard to notice … */
const slightOffsetMs = 2_000;
/** … and one above this breaks webhook signatures and two-factor codes. */
const severeOffsetMs = 30_000;

type Sources = {
  /** Value of `--ntp`; absent to use the time servers that the system is configured with. */
  ntp?: string | undefined;
  destinations: { hosts: readonly { origin: URL }[] };
  targets: TargetGuard;
  /** Timeout of a time server, in milliseconds. */
  timeoutMs?: number;
};

/** Compares the clock with a time server, or else with the Date header of a web server to which alerts are sent. */
export async function examineClock(sources: Sources): Promise<Finding[]> {
  const { ntp, targets, timeoutMs = ntpTimeoutMs } = sources;
  const origins = sources.destinations.hosts.map(({ origin }) => origin);
  const servers = ntp === undefined ? await findTimeServers() : [ntp];
  const findFirstSuccess = (offsets: Promise<Offset>[]) => Promise.any(offsets).catch(() => null);
  const found =
    (await findFirstSuccess(
      servers.slice(0, concurrency).map((name) => measureOffsetByNtp(name, targets, timeoutMs)),
    )) ??
    (await findFirstSuccess(
      origins.slice(0, concurrency).map((origin) => measureOffsetByDate(origin, targets)),
    ));
  if (found !== null) return [judgeOffset(found)];
  return [
    createSkippedFinding(
      "clock",
      servers.length + origins.length === 0
        ? "no time server is configured on this system"
        : "no time server and no web server answered",
      ntp === undefined
        ? "`signalbox doctor --ntp HOST` queries the time server of your network."
        : null,
    ),
  ];
}

type Offset = {
  /** Name of the time source. */
  name: string;
  /** Offset in milliseconds; positive if this machine's clock is behind. */
  offsetMs: number;
  /** Maximum measurement error in milliseconds. */
  precisionMs: number;
};

function judgeOffset({ name, offsetMs, precisionMs }: Offset): Finding {
  const amount = Math.abs(offsetMs);
  if (amount <= slightOffsetMs + precisionMs)
    return createOkFinding("clock", `it agrees with ${name} (${(amount / 1000).toFixed(1)} s)`);
  const side = offsetMs > 0 ? "behind" : "ahead of";
  return (amount > severeOffsetMs ? createProblemFinding : createWarningFinding)(
    "clock",
    `it is ${Math.round(amount / 1000)} s ${side} ${name}: codes to sign in and signatures of webhooks are rejected when it is far off`,
    "`timedatectl set-ntp true`, or start chrony or another NTP client.",
  );
}

/** Queries a time server of the system, even in a network that the target guard blocks. */
async function measureOffsetByNtp(
  name: string,
  targets: TargetGuard,
  timeoutMs: number,
): Promise<Offset> {
  const { hostname, port } = new URL(`ntp://${name}`);
  const { isSynchronized, stratum, offsetMs } = await runWithTimeout(
    { targets, timeoutMs, signal: new AbortController().signal },
    async (context) => {
      const found = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true });
      const addresses = found.map(({ address }) => ({
        address,
        family: isIPv6(address) ? (6 as const) : (4 as const),
        isPrivate: true,
      }));
      return queryTime(addresses, Number(port) || ntpPort, context, Date.now);
    },
  );
  if (!isSynchronized || stratum === 0) throw new Error("The server does not know the time.");
  return { name, offsetMs, precisionMs: 0 };
}

/**
 * Reads the Date header of a response, which has whole seconds (RFC 9110 §6.6.1). The request
 * contains no path and no credentials.
 */
async function measureOffsetByDate(origin: URL, targets: TargetGuard): Promise<Offset> {
  const before = Date.now();
  const request = {
    url: new URL("/", origin),
    method: "HEAD",
    headers: {},
    body: null,
    verifyTls: false,
  };
  const { headers } = await exchange(request, {
    targets,
    timeoutMs: webTimeoutMs,
    signal: new AbortController().signal,
  });
  const now = Date.now();
  const date = parseHttpDate(headers.get("date") ?? "", now);
  if (date === null) throw new Error("it has no date");
  const middle = (before + now) / 2;
  return {
    name: origin.host,
    offsetMs: date + 500 - middle,
    precisionMs: 500 + (now - before) / 2,
  };
}

const configurations = [
  "etc/chrony/chrony.conf",
  "etc/chrony.conf",
  "etc/ntpsec/ntp.conf",
  "etc/ntp.conf",
  "etc/systemd/timesyncd.conf",
];
const folders = ["etc/chrony/sources.d", "etc/chrony/conf.d", "etc/systemd/timesyncd.conf.d"];

/** Returns the time servers in the configuration of chrony, ntpd or systemd-timesyncd. */
export async function findTimeServers(root = "/"): Promise<string[]> {
  const folderEntries = folders.flatMap((folder) => {
    const path = join(root, folder);
    return existsSync(path) ? readdirSync(path).map((name) => join(folder, name)) : [];
  });
  const texts = [...configurations, ...folderEntries].map((file) => {
    const path = join(root, file);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  });
  if (root === "/") texts.push(await queryTimesyncdServers());
  return [...new Set(texts.flatMap(parseServers))];
}

/** Parses `server HOST …` and `pool HOST …` of chrony and ntpd, and `NTP=HOST …` of systemd-timesyncd. */
function parseServers(text: string): string[] {
  const lines = text.matchAll(/^\s*(?:(?:server|pool|peer)\s+(\S+)|(?:Fallback)?NTP=(.*))/gm);
  return (
    [...lines]
      .flatMap(([, one = "", several = ""]) => [one, ...several.split(/\s+/)])
      .map((name) => (isIPv6(name) ? `[${name}]` : name))
      // In ntpd, 127.127.x.x are hardware clocks of this machine.
      .filter((name) => URL.canParse(`ntp://${name}`) && !/^(127\.127\.|$)/.test(name))
  );
}

/** Returns servers that timesyncd uses without a configuration file: its defaults and those from DHCP. */
async function queryTimesyncdServers(): Promise<string> {
  const command = Bun.which("timedatectl");
  if (command === null) return "";
  const child = Bun.spawn(
    [
      command,
      "show-timesync",
      "-p",
      "SystemNTPServers",
      "-p",
      "LinkNTPServers",
      "-p",
      "FallbackNTPServers",
    ],
    { stdout: "pipe", stderr: "ignore", timeout: 2_000 },
  );
  const text = await new Response(child.stdout).text();
  return text.replaceAll(/^\w+NTPServers=/gm, "NTP=");
}
