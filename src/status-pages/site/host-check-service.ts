/** Checks whether a status page can be reached under one of its host names. */
import { X509Certificate } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { Address } from "../../core/outgoing/context.ts";
import { exchange, type ShortAnswer } from "../../core/outgoing/http/exchange.ts";
import { OwnTrouble, TargetFailure } from "../../core/outgoing/failures.ts";
import {
  isLoopback,
  isPrivate,
  ownListener,
  portOf,
  type TargetGuard,
} from "../../core/security/target-guard.ts";
import { invalid } from "../../core/validation.ts";
import type { Scope } from "../../events/scope.ts";
import { consume, type RateLimit } from "../../http/access/rate-limit.ts";
import { addressesOf, hostsOf } from "../rules.ts";
import type { HostCheck, StatusPage } from "../schema.ts";
import { getStored } from "../service.ts";

const dnsTimeoutMs = 2_000;
const answerTimeoutMs = 5_000;

type Page = Pick<StatusPage, "slug" | "visibility">;

type Context = {
  targets: TargetGuard;
  /** Public address of this appliance. */
  origin: string;
  /** Certificate of this appliance in PEM; null without TLS. */
  certificate: string | null;
  /** Name servers to query instead of the system's. */
  nameServers?: readonly string[];
};

export type HostCheckDependencies = {
  /** Public address of this appliance, without a trailing slash. */
  origin: () => string;
  /** Certificate of this appliance in PEM; null without TLS. */
  certificate: () => string | null;
  /** Host checks per organization and minute. */
  hostCheckLimit: RateLimit;
};

/** Checks one of the page's host names now. Throws NOT_FOUND, RATE_LIMITED, VALIDATION_ERROR for any other name. */
export async function checkHost(
  scope: Scope,
  { origin, certificate, hostCheckLimit }: HostCheckDependencies,
  id: string,
  host: string,
): Promise<HostCheck> {
  const { targets, ownHosts } = scope;
  const page = await getStored(scope, id);
  if (!hostsOf(page, ownHosts).includes(host))
    throw invalid("host", "must be one of the page's host names");
  consume(hostCheckLimit, scope.organizationId);
  return tryHost(page, host, { targets, origin: origin(), certificate: certificate() });
}

/** Checks a host name by DNS, TLS and HTTP. The message names the first problem in one sentence. */
export async function tryHost(page: Page, host: string, context: Context): Promise<HostCheck> {
  const address = addressesOf({ slug: page.slug, hosts: [host] }, context.origin).page;
  const told = (works: boolean, message: string, certificateExpiresAt: string | null = null) => ({
    host,
    address,
    record: recordFor(context.origin),
    works,
    message,
    certificateExpiresAt,
  });
  try {
    const addresses = await resolved(host, context.nameServers);
    if (addresses.length === 0) return told(false, "There is no DNS record for this name yet.");
    const url = new URL(`${address}/status.json`);
    await context.targets.refresh();
    const issues = addresses.map((one) => context.targets.issueOf(one.address, portOf(url)));
    if (issues.every((issue) => issue === ownListener)) return reached(url, host, context, told);
    const issue = issues.find((issue) => issue !== null && issue !== ownListener);
    if (issue) return told(false, `The name leads to an address that ${issue}.`);
    const answer = await exchange(
      { url, method: "GET", headers: {}, body: null, verifyTls: true },
      {
        targets: context.targets,
        timeoutMs: answerTimeoutMs,
        cancelled: new AbortController().signal,
        addressesOf: async () => addresses.filter((_, index) => issues[index] === null),
      },
    );
    if (!isOf(page, answer))
      return told(
        false,
        `${address} shows something else: the DNS record or the reverse proxy leads elsewhere.`,
      );
    const shows =
      page.visibility === "hidden" ? "leads here, but the page is hidden" : "shows this page";
    return told(true, `${address} ${shows}.`, answer.certificateExpiresAt ?? null);
  } catch (error) {
    if (error instanceof TargetFailure || error instanceof OwnTrouble)
      return told(false, `${address} does not work yet: ${asEnd(error.message)}`);
    throw error;
  }
}

/** Checks a name that leads to this appliance. It never connects to itself, so only its certificate is checked. */
function reached(
  url: URL,
  host: string,
  { certificate }: Context,
  told: (works: boolean, message: string, certificateExpiresAt?: string | null) => HostCheck,
): HostCheck {
  const here = "The name leads to this appliance";
  if (url.protocol === "http:") return told(true, `${here}.`);
  if (certificate === null) return told(false, `${here}, which does not speak TLS by itself.`);
  const own = new X509Certificate(certificate);
  if (own.checkHost(host) === undefined)
    return told(false, `${here}, but its certificate is for another name.`);
  const expiresAt = own.validToDate;
  return expiresAt.getTime() < Date.now()
    ? told(false, `${here}, but its certificate has expired.`)
    : told(true, `${here}, and its certificate is for this name.`, expiresAt.toISOString());
}

/** Returns the DNS record that a host name needs; null if other machines can't reach the public address. */
export function recordFor(origin: string): HostCheck["record"] {
  const name = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  const version = isIP(name);
  if (version !== 0 && isLoopback(name)) return null;
  if (version !== 0) return { type: version === 4 ? "A" : "AAAA", value: name };
  return name.includes(".") ? { type: "CNAME", value: name } : null;
}

/** Queries DNS directly, as visitors do: the hosts file of this machine does not help them. */
async function resolved(host: string, nameServers?: readonly string[]): Promise<Address[]> {
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 1 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  // Silent name servers time out one after the other. This limits the total time.
  const timer = setTimeout(() => resolver.cancel(), 2 * dnsTimeoutMs);
  try {
    const found = await Promise.all([
      existing(resolver.resolve4(host)),
      existing(resolver.resolve6(host)),
    ]);
    return found.flat().map((address) => ({
      address,
      family: isIP(address) as 4 | 6,
      isPrivate: isPrivate(address),
    }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OwnTrouble(
      code === "ESERVFAIL" || code === "EREFUSED"
        ? "The name servers have no answer for this name."
        : "The name servers of this machine don't answer.",
    );
  } finally {
    clearTimeout(timer);
  }
}

async function existing(records: Promise<string[]>): Promise<string[]> {
  try {
    return await records;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw error;
  }
}

/** Whether the response is from this page: its JSON, its password form, or 404 if it is hidden. */
function isOf({ slug, visibility }: Page, { status, headers, body }: ShortAnswer): boolean {
  if (visibility === "public")
    return body.startsWith(`{"page":${JSON.stringify({ slug }).slice(0, -1)},`);
  const isOurs =
    headers.get("content-security-policy")?.includes("frame-ancestors 'self'") === true;
  return isOurs && status === (visibility === "password" ? 403 : 404);
}

/** Lowercases the start of a sentence that follows a colon. */
function asEnd(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
