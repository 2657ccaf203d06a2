/** The DNS check: queries the records of a name and compares them with the expected values. */
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { canReachNameServers, silentNameServersError } from "../../../core/outgoing/addresses.ts";
import { parseResolver } from "../../monitors/rules.ts";
import { LocalFailure, ResolverFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { classifyFailure } from "../../../core/outgoing/failure-reasons.ts";
import { toAsciiName } from "../../../core/security/destinations.ts";
import { capitalize, excerptText } from "../../../core/text/formatting.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { assertAllHold } from "../protocols/assertions.ts";
import { createResolvedName } from "../resolved-rules.ts";
import { queryResolver } from "../protocols/dns-transports.ts";
import { findValue } from "../protocols/json-path.ts";
import { buildReverseName, hasText, listValues, normalizeValue } from "./dns-values.ts";

type Settings = Parameters<CheckKind<"dns">>[0];

/** Up when the name has records of the type, and they satisfy all expectations. */
export const checkDns: CheckKind<"dns"> = async (settings, context) => {
  const { recordType } = settings;
  const startedAt = performance.now();
  const { values, ttl, dnssec } = await (needsOwnQuery(settings) ? queryOwnResolver : lookUp)(
    settings,
    context,
  );
  const latencyMs = measureElapsedMs(startedAt);
  if (values.length === 0) throw noRecordError(recordType);
  context.resolved = createResolvedName(`${settings.host} (${recordType})`, values);
  assertExpected(settings, values);
  if (settings.requireDnssec && dnssec !== "secure")
    throw new TargetFailure(
      "The resolver has not verified DNSSEC: the name is not signed, or the resolver does not validate.",
    );
  // Sorted, because name servers rotate the records (RFC 1794).
  const sorted = values.toSorted();
  await assertAllHold(
    settings.assertions,
    ({ source, path }) => {
      if (source === "latency") return { value: latencyMs };
      if (source === "body") return { value: sorted.join("\n") };
      return { value: findValue({ values: sorted, ttl, dnssec }, path ?? "$") };
    },
    "The records were read",
    () => [],
    context,
  );
  const count = values.length === 1 ? "1 record" : `${values.length} records`;
  const details = {
    records: excerptText(sorted.join(", "), 200),
    dnssec: dnssec === null ? null : capitalize(dnssec),
  };
  return { status: "up", message: `${count} in ${latencyMs} ms.`, latencyMs, details };
};

function assertExpected({ recordType, expected }: Settings, found: readonly string[]) {
  const values = new Set(found.flatMap((value) => listValues(recordType, value)));
  const missing = expected.filter((value) =>
    recordType === "TXT" ? !hasText(found, value) : !values.has(normalizeValue(recordType, value)),
  );
  if (missing.length > 0)
    throw new TargetFailure(
      `The ${recordType} records lack ${missing.length} of ${expected.length} expected values.`,
    );
}

/** Records and, of an own query, their lowest TTL in seconds and their DNSSEC state. */
type DnsResponse = { values: string[]; ttl: number | null; dnssec: "secure" | "insecure" | null };

/** Whether the system's library can't do the query: it lacks encryption, DNSKEY, TTLs and the AD bit. */
const needsOwnQuery = ({ resolver, recordType, requireDnssec, assertions }: Settings) =>
  recordType === "DNSKEY" ||
  requireDnssec ||
  assertions.length > 0 ||
  resolver?.includes("://") === true;

/**
 * Queries the records with their TTL and DNSSEC state. A validating resolver responds SERVFAIL for invalid signatures;
 * the same query without validation (CD bit, RFC 4035 §3.2.2) then succeeds.
 */
async function queryOwnResolver(settings: Settings, context: CheckContext): Promise<DnsResponse> {
  const { host, recordType } = settings;
  const resolver = parseResolver(settings.resolver ?? "");
  const isReverse = recordType === "PTR" && isIP(host) !== 0;
  const name = isReverse ? buildReverseName(host) : toAsciiName(host);
  context.step = "resolving the name";
  // A copy, because a timeout of this machine's resolver must stay a failure of resolving.
  const resolverContext = resolver === null ? { ...context } : context;
  const query = (isUnchecked: boolean) =>
    queryResolver(resolver, name, recordType, isUnchecked, resolverContext).catch(
      async (error: unknown) => {
        throw resolver === null && !(await canReachNameServers())
          ? silentNameServersError()
          : error;
      },
    );
  const { rcode, records, isAuthentic } = await query(false);
  if (rcode === servfail && (await query(true)).rcode !== servfail)
    throw new TargetFailure(
      "DNSSEC is bogus: the resolver found that the signatures of the name are not valid.",
    );
  if (rcode !== 0) throw toFailure({ code: `E${rcodes[rcode] ?? `RCODE${rcode}`}` }, recordType);
  return {
    values: records.map(({ value }) => value),
    ttl: records.length === 0 ? null : Math.min(...records.map(({ ttl }) => ttl)),
    dnssec: isAuthentic ? "secure" : "insecure",
  };
}

const servfail = 2;
/** Names of response codes in the errors of the system's library. */
const rcodes: Readonly<Record<number, string>> = {
  1: "FORMERR",
  2: "SERVFAIL",
  3: "NOTFOUND",
  4: "NOTIMP",
  5: "REFUSED",
};

/** Queries the records with the system's library. */
async function lookUp(settings: Settings, context: CheckContext): Promise<DnsResponse> {
  const { host, recordType } = settings;
  const resolver = await createResolver(settings, context);
  // Silent name servers of this machine make the result unknown. A configured resolver is part of the target.
  context.step = settings.resolver === null ? "resolving the name" : "waiting for the response";
  const values = await queryRecords(resolver, toAsciiName(host), recordType).catch(
    async (error: unknown) => {
      if (settings.resolver === null && isUnanswered(error) && !(await canReachNameServers()))
        throw silentNameServersError();
      throw toFailure(error, recordType);
    },
  );
  return { values, ttl: null, dnssec: null };
}

const noRecordError = (type: string) =>
  new TargetFailure(`There is no ${type} record for this name.`);

async function createResolver({ resolver }: Settings, context: CheckContext): Promise<Resolver> {
  // The second attempt has a longer timeout. The timeout of the check limits both.
  const newResolver = new Resolver({
    timeout: Math.max(100, Math.floor(context.timeoutMs / 4)),
    tries: 2,
  });
  context.signal.addEventListener("abort", () => newResolver.cancel());
  const chosen = parseResolver(resolver ?? "");
  if (chosen === null) return newResolver;
  await context.addressesOf(chosen.host, chosen.port);
  const host = chosen.host.includes(":") ? `[${chosen.host}]` : chosen.host;
  newResolver.setServers([`${host}:${chosen.port}`]);
  return newResolver;
}

/** Root domain, which means “none” in MX and SRV (RFC 7505, RFC 2782). The resolver returns it as an empty name. */
const rootDomain = ".";

/** Queries the records and formats them in the notation of zone files (RFC 1035 §5, 2782, 8659). */
async function queryRecords(
  resolver: Resolver,
  host: string,
  type: Settings["recordType"],
): Promise<string[]> {
  switch (type) {
    case "A":
      return await resolver.resolve4(host);
    case "AAAA":
      return await resolver.resolve6(host);
    case "CNAME":
      return await resolver.resolveCname(host);
    case "NS":
      return await resolver.resolveNs(host);
    case "MX":
      return (await resolver.resolveMx(host)).map(
        ({ priority, exchange }) => `${priority} ${exchange || rootDomain}`,
      );
    case "TXT":
      return (await resolver.resolveTxt(host)).flat();
    case "SRV":
      return (await resolver.resolveSrv(host)).map(
        ({ priority, weight, port, name }) => `${priority} ${weight} ${port} ${name || rootDomain}`,
      );
    case "PTR":
      return isIP(host) === 0 ? await resolver.resolvePtr(host) : await resolver.reverse(host);
    case "SOA": {
      const { nsname, hostmaster, serial, refresh, retry, expire, minttl } =
        await resolver.resolveSoa(host);
      return [`${nsname} ${hostmaster} ${serial} ${refresh} ${retry} ${expire} ${minttl}`];
    }
    case "CAA":
      return (await resolver.resolveCaa(host)).map(({ critical, ...property }) => {
        const [tag, value] = Object.entries(property).find(([name]) => name !== "type") ?? [];
        return `${critical} ${tag} ${JSON.stringify(value)}`;
      });
    case "DNSKEY":
      throw new Error("The library can't query DNSKEY.");
  }
}

/** Whether the name server did not respond, failed, or rejected the query. */
function isUnanswered(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ETIMEOUT", "ECONNREFUSED", "ECANCELLED", "ESERVFAIL", "EREFUSED"].includes(code);
}

function toFailure(error: unknown, type: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    // Bun does not distinguish an unknown name from a name without such records.
    case "ENOTFOUND":
    case "ENODATA":
      return noRecordError(type);
    case "ETIMEOUT":
    case "ECONNREFUSED":
    case "ECANCELLED":
      return new ResolverFailure("The name server does not respond.");
    case "ESERVFAIL":
      return new TargetFailure("The name server failed (SERVFAIL).");
    case "EREFUSED":
      return new TargetFailure("The name server refused the query.");
    case "ENOTIMP":
      return new TargetFailure("The name server does not support this kind of query (NOTIMP).");
    case "EFORMERR":
      return new TargetFailure("The name server did not understand the query (FORMERR).");
    case "EBADRESP":
      return new TargetFailure("The response is not valid for DNS.");
    case "EBADNAME":
      return new TargetFailure("This is not a valid DNS name.");
    default:
      return parseRcode(error) === null || classifyFailure(error) instanceof LocalFailure
        ? error
        : new TargetFailure(`The name server responded with an error (${parseRcode(error)}).`);
  }
}

/** Returns the code of a c-ares error without the leading E; null for other errors. */
const parseRcode = (error: unknown) =>
  /^E([A-Z]{3,20})$/.exec((error as NodeJS.ErrnoException).code ?? "")?.[1] ?? null;
