import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { fine, type Finding, problem, skipped, warning } from "../../core/finding.ts";
import { exchange } from "../../core/outgoing/http/exchange.ts";
import { httpDate } from "../../core/outgoing/http/retry-after.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { clockOffset } from "../doctor/sntp.ts";

const ntpPort = 123;
const ntpMs = 2_000;
const webMs = 3_000;
/** So many are asked at once; the first answer counts. */
const asked = 4;

/** What is slow to be noticed, and what breaks signatures of webhooks and codes of two factors. */
const slightMs = 2_000;
const severeMs = 30_000;

type Sources = {
  /** As `--ntp` names one; absent for those of the system. */
  ntp?: string | undefined;
  /** Of the services that are connected to anyhow. */
  origins: readonly URL[];
  targets: TargetGuard;
  /** How long a time server has to answer. */
  timeoutMs?: number;
};

/** This machine's clock against a time server, or else against the date of a web server. */
export async function examineClock({
  ntp,
  origins,
  targets,
  timeoutMs = ntpMs,
}: Sources): Promise<Finding> {
  const servers = ntp === undefined ? await timeServers() : [ntp];
  const byNtp = servers.slice(0, asked).map(async (name) => {
    const { hostname, port } = new URL(`ntp://${name}`);
    const host = hostname.replace(/^\[|\]$/g, "");
    return {
      name,
      offsetMs: await clockOffset(host, Number(port) || ntpPort, timeoutMs),
      exactMs: 0,
    };
  });
  const found =
    (await firstOf(byNtp)) ??
    (await firstOf(origins.slice(0, asked).map((origin) => dateOf(origin, targets))));
  if (found === null)
    return skipped(
      "clock",
      servers.length + origins.length === 0
        ? "no time server is configured on this system"
        : "no time server and no web server answered",
      ntp === undefined ? "`signalbox doctor --ntp HOST` asks the one of your network." : null,
    );
  return judged(found);
}

type Offset = {
  name: string;
  offsetMs: number;
  /** What can't be told apart by this source. */
  exactMs: number;
};

function judged({ name, offsetMs, exactMs }: Offset): Finding {
  const amount = Math.abs(offsetMs);
  if (amount <= slightMs + exactMs)
    return fine("clock", `it agrees with ${name} (${(amount / 1000).toFixed(1)} s)`);
  const side = offsetMs > 0 ? "behind" : "ahead of";
  return (amount > severeMs ? problem : warning)(
    "clock",
    `it is ${Math.round(amount / 1000)} s ${side} ${name}: codes to sign in and signatures of webhooks are refused when it is far off`,
    "`timedatectl set-ntp true`, or start chrony or another NTP client.",
  );
}

/** The first that comes true; null where none does. */
function firstOf<T>(promises: readonly Promise<T>[]): Promise<T | null> {
  return Promise.any(promises).catch(() => null);
}

/** The Date of an answer is in whole seconds (RFC 9110 §6.6.1); no path and no credentials are sent. */
async function dateOf(origin: URL, targets: TargetGuard): Promise<Offset> {
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
    timeoutMs: webMs,
    cancelled: new AbortController().signal,
  });
  const now = Date.now();
  const date = httpDate(headers.get("date") ?? "", now);
  if (date === null) throw new Error("it has no date");
  const middle = (before + now) / 2;
  return { name: origin.host, offsetMs: date + 500 - middle, exactMs: 500 + (now - before) / 2 };
}

const configurations = [
  "etc/chrony/chrony.conf",
  "etc/chrony.conf",
  "etc/ntpsec/ntp.conf",
  "etc/ntp.conf",
  "etc/systemd/timesyncd.conf",
];
const folders = ["etc/chrony/sources.d", "etc/chrony/conf.d", "etc/systemd/timesyncd.conf.d"];

/** The time servers that this system is configured with. */
export async function timeServers(root = "/"): Promise<string[]> {
  const more = folders.flatMap((folder) => {
    const path = join(root, folder);
    return existsSync(path) ? readdirSync(path).map((name) => join(folder, name)) : [];
  });
  const texts = [...configurations, ...more].map((file) => {
    const path = join(root, file);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  });
  if (root === "/") texts.push(await timesyncdServers());
  return [...new Set(texts.flatMap(serversIn))];
}

/** `server HOST …` and `pool HOST …` of chrony and ntpd, `NTP=HOST …` of systemd-timesyncd. */
function serversIn(text: string): string[] {
  const lines = text.matchAll(/^\s*(?:(?:server|pool|peer)\s+(\S+)|(?:Fallback)?NTP=(.*))/gm);
  return (
    [...lines]
      .flatMap(([, one = "", several = ""]) => [one, ...several.split(/\s+/)])
      .map((name) => (isIPv6(name) ? `[${name}]` : name))
      // ntpd calls the clocks of this machine 127.127.x.x.
      .filter((name) => URL.canParse(`ntp://${name}`) && !/^(127\.127\.|$)/.test(name))
  );
}

/** What timesyncd has where its files name none: its own, or those of DHCP. */
async function timesyncdServers(): Promise<string> {
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
