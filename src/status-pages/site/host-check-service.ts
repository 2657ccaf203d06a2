/** Checks whether a status page can be reached under one of its host names. */
import { X509Certificate } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { Address } from "../../core/outgoing/context.ts";
import { exchange, type ShortResponse } from "../../core/outgoing/http/exchange.ts";
import { LocalFailure, TargetFailure } from "../../core/outgoing/failures.ts";
import {
  isLoopback,
  isPrivate,
  ownListenerIssue,
  portOf,
  type TargetGuard,
} from "../../core/security/target-guard.ts";
import { invalidFieldError } from "../../core/validation.ts";
import type { Scope } from "../../events/scope.ts";
import { consumeLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { buildAddresses, selectEffectiveHosts } from "../rules.ts";
import type { HostCheck, StatusPage } from "../schema.ts";
import { getStored } from "../service.ts";

const dnsTimeoutMs = 2_000;
const responseTimeoutMs = 5_000;

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
  if (!selectEffectiveHosts(page, ownHosts).includes(host))
    throw invalidFieldError("host", "must be one of the page's host names");
  consumeLimit(hostCheckLimit, scope.organizationId);
  return tryHost(page, host, { targets, origin: origin(), certificate: certificate() });
}

/** Checks a host name by DNS, TLS and HTTP. The message names the first problem in one sentence. */
export async function tryHost(page: Page, host: string, context: Context): Promise<HostCheck> {
  const address = buildAddresses({ slug: page.slug, hosts: [host] }, context.origin).page;
  const buildHostCheck = (
    works: boolean,
    message: string,
    certificateExpiresAt: string | null = null,
  ) => ({
    host,
    address,
    record: buildDnsRecord(context.origin),
    works,
    message,
    certificateExpiresAt,
  });
  try {
    const addresses = await resolveHost(host, context.nameServers);
    if (addresses.length === 0)
      return buildHostCheck(false, "There is no DNS record for this name yet.");
    const url = new URL(`${address}/status.json`);
    await context.targets.refresh();
    const issues = addresses.map((one) => context.targets.findIssue(one.address, portOf(url)));
    if (issues.every((issue) => issue === ownListenerIssue))
      return checkOwnCertificate(url, host, context, buildHostCheck);
    const issue = issues.find((issue) => issue !== null && issue !== ownListenerIssue);
    if (issue) return buildHostCheck(false, `The name leads to an address that ${issue}.`);
    const answer = await exchange(
      { url, method: "GET", headers: {}, body: null, verifyTls: true },
      {
        targets: context.targets,
        timeoutMs: responseTimeoutMs,
        signal: new AbortController().signal,
        addressesOf: async () => addresses.filter((_, index) => issues[index] === null),
      },
    );
    if (!isResponseOfPage(page, answer))
      return buildHostCheck(
        false,
        `${address} shows something else: the DNS record or the reverse proxy leads elsewhere.`,
      );
    const shows =
      page.visibility === "hidden" ? "leads here, but the page is hidden" : "shows this page";
    return buildHostCheck(true, `${address} ${shows}.`, answer.certificateExpiresAt ?? null);
  } catch (error) {
    if (error instanceof TargetFailure || error instanceof LocalFailure)
      return buildHostCheck(
        false,
        `${address} does not work yet: ${lowercaseFirst(error.message)}`,
      );
    throw error;
  }
}

/** Checks a name that leads to this appliance. It never connects to itself, so only its certificate is checked. */
function checkOwnCertificate(
  url: URL,
  host: string,
  { certificate }: Context,
  buildCheck: (works: boolean, message: string, certificateExpiresAt?: string | null) => HostCheck,
): HostCheck {
  const prefix = "The name leads to this appliance";
  if (url.protocol === "http:") return buildCheck(true, `${prefix}.`);
  if (certificate === null) return buildCheck(false, `${prefix}, which does not use TLS.`);
  const own = new X509Certificate(certificate);
  if (own.checkHost(host) === undefined)
    return buildCheck(false, `${prefix}, but its certificate is for another name.`);
  const expiresAt = own.validToDate;
  return expiresAt.getTime() < Date.now()
    ? buildCheck(false, `${prefix}, but its certificate has expired.`)
    : buildCheck(true, `${prefix}, and its certificate is for this name.`, expiresAt.toISOString());
}

/** Returns the DNS record that a host name needs; null if other machines can't reach the public address. */
export function buildDnsRecord(origin: string): HostCheck["record"] {
  const name = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  const version = isIP(name);
  if (version !== 0 && isLoopback(name)) return null;
  if (version !== 0) return { type: version === 4 ? "A" : "AAAA", value: name };
  return name.includes(".") ? { type: "CNAME", value: name } : null;
}

/** Queries DNS directly, as visitors do: the hosts file of this machine does not help them. */
async function resolveHost(host: string, nameServers?: readonly string[]): Promise<Address[]> {
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 1 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  // Silent name servers time out one after the other. This limits the total time.
  const timer = setTimeout(() => resolver.cancel(), 2 * dnsTimeoutMs);
  try {
    const found = await Promise.all([
      tolerateMissing(resolver.resolve4(host)),
      tolerateMissing(resolver.resolve6(host)),
    ]);
    return found.flat().map((address) => ({
      address,
      family: isIP(address) as 4 | 6,
      isPrivate: isPrivate(address),
    }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new LocalFailure(
      code === "ESERVFAIL" || code === "EREFUSED"
        ? "The name servers returned no address for this name."
        : "The name servers of this machine don't respond.",
    );
  } finally {
    clearTimeout(timer);
  }
}

async function tolerateMissing(records: Promise<string[]>): Promise<string[]> {
  try {
    return await records;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw error;
  }
}

/** Whether the response is from this page: its JSON, the page that closes it with 403, or 404 if it is hidden. */
function isResponseOfPage(
  { slug, visibility }: Page,
  { status, headers, body }: ShortResponse,
): boolean {
  const isOpen = body.startsWith(`{"page":${JSON.stringify({ slug }).slice(0, -1)},`);
  // The address of this machine can be among the addresses that may open the page.
  if (visibility === "public" || isOpen) return isOpen;
  const isOurs =
    headers.get("content-security-policy")?.includes("frame-ancestors 'self'") === true;
  return isOurs && status === (visibility === "hidden" ? 404 : 403);
}

/** Lowercases the start of a sentence that follows a colon. */
function lowercaseFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
