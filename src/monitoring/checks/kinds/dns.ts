/** The DNS check: queries the records of a name and compares them with the expected values. */
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { canReachNameServers, silentNameServersError } from "../../../core/outgoing/addresses.ts";
import { parseResolver } from "../../monitors/rules.ts";
import { LocalFailure, ResolverFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { classifyFailure } from "../../../core/outgoing/failure-reasons.ts";
import { toAsciiName } from "../../../core/security/destinations.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { normalizeValue, hasText } from "./dns-values.ts";

type Settings = Parameters<CheckKind<"dns">>[0];

/** Up when the name has records of the type, and they contain all expected values. */
export const checkDns: CheckKind<"dns"> = async (settings, context) => {
  const { host, recordType, expected } = settings;
  const resolver = await createResolver(settings, context);
  // Silent name servers of this machine make the result unknown. A configured resolver is part of the target.
  context.step = settings.resolver === null ? "resolving the name" : "waiting for the response";
  const startedAt = performance.now();
  const found = await queryRecords(resolver, toAsciiName(host), recordType).catch(
    async (error: unknown) => {
      if (settings.resolver === null && isUnanswered(error) && !(await canReachNameServers()))
        throw silentNameServersError();
      throw toFailure(error, recordType);
    },
  );
  const latencyMs = measureElapsedMs(startedAt);
  if (found.length === 0)
    throw new TargetFailure(`There is no ${recordType} record for this name.`);
  const values = new Set(found.map((value) => normalizeValue(recordType, value)));
  const missing = expected.filter((value) =>
    recordType === "TXT" ? !hasText(found, value) : !values.has(normalizeValue(recordType, value)),
  );
  if (missing.length > 0)
    throw new TargetFailure(
      `The ${recordType} records lack ${missing.length} of ${expected.length} expected values.`,
    );
  const count = found.length === 1 ? "1 record" : `${found.length} records`;
  // Sorted, because name servers rotate the records (RFC 1794).
  const details = { records: excerptText(found.toSorted().join(", "), 200) };
  return { status: "up", message: `${count} in ${latencyMs} ms.`, latencyMs, details };
};

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
async function queryRecords(resolver: Resolver, host: string, type: Settings["recordType"]) {
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
      return new TargetFailure(`There is no ${type} record for this name.`);
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
