import { Resolver } from "node:dns/promises";
import { nameServersAnswer, silentNameServers } from "../../../core/outgoing/addresses.ts";
import { parseResolver } from "../../monitors/rules.ts";
import { OwnTrouble, TargetFailure } from "../../../core/outgoing/failures.ts";
import { reasonFor } from "../../../core/outgoing/reasons.ts";
import { asciiName } from "../../../core/security/destinations.ts";
import { excerpt } from "../../../core/text/words.ts";
import { type CheckContext, type CheckKind, since } from "../check.ts";
import { comparable, hasText } from "./dns-values.ts";

type Settings = Parameters<CheckKind<"dns">>[0];

/** Up when there are records of the type and all the expected values are among them. */
export const checkDns: CheckKind<"dns"> = async (settings, context) => {
  const { host, recordType, expected } = settings;
  const resolver = await resolverOf(settings, context);
  // Silent name servers of this machine are its own trouble, others are what the monitor watches.
  context.step = settings.resolver === null ? "resolving the name" : "waiting for the answer";
  const startedAt = performance.now();
  const found = await recordsOf(resolver, asciiName(host), recordType).catch(
    async (error: unknown) => {
      if (settings.resolver === null && isUnanswered(error) && !(await nameServersAnswer()))
        throw silentNameServers();
      throw failureOf(error, recordType);
    },
  );
  const latencyMs = since(startedAt);
  if (found.length === 0)
    throw new TargetFailure(`There is no ${recordType} record for this name.`);
  const values = new Set(found.map((value) => comparable(recordType, value)));
  const missing = expected.filter((value) =>
    recordType === "TXT" ? !hasText(found, value) : !values.has(comparable(recordType, value)),
  );
  if (missing.length > 0)
    throw new TargetFailure(
      `The ${recordType} records lack ${missing.length} of ${expected.length} expected values.`,
    );
  const count = found.length === 1 ? "1 record" : `${found.length} records`;
  // Sorted, because name servers rotate the records (RFC 1794).
  const details = { records: excerpt(found.toSorted().join(", "), 200) };
  return { status: "up", message: `${count} in ${latencyMs} ms.`, latencyMs, details };
};

async function resolverOf({ resolver }: Settings, context: CheckContext): Promise<Resolver> {
  // Asks twice, the second time for longer; the check's own time ends that.
  const made = new Resolver({
    timeout: Math.max(100, Math.floor(context.timeoutMs / 4)),
    tries: 2,
  });
  context.signal.addEventListener("abort", () => made.cancel());
  const chosen = parseResolver(resolver ?? "");
  if (chosen === null) return made;
  await context.addressesOf(chosen.host, chosen.port);
  const host = chosen.host.includes(":") ? `[${chosen.host}]` : chosen.host;
  made.setServers([`${host}:${chosen.port}`]);
  return made;
}

/** Stands for “none” in MX and SRV (RFC 7505, RFC 2782). The resolver returns an empty name. */
const root = ".";

/** Records in the notation of zone files (RFC 1035 §5, 2782, 8659). */
async function recordsOf(resolver: Resolver, host: string, type: Settings["recordType"]) {
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
        ({ priority, exchange }) => `${priority} ${exchange || root}`,
      );
    case "TXT":
      return (await resolver.resolveTxt(host)).flat();
    case "SRV":
      return (await resolver.resolveSrv(host)).map(
        ({ priority, weight, port, name }) => `${priority} ${weight} ${port} ${name || root}`,
      );
    case "CAA":
      return (await resolver.resolveCaa(host)).map(({ critical, ...property }) => {
        const [tag, value] = Object.entries(property).find(([name]) => name !== "type") ?? [];
        return `${critical} ${tag} ${JSON.stringify(value)}`;
      });
  }
}

/** Whether the name server did not respond, failed or refused. */
function isUnanswered(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ETIMEOUT", "ECONNREFUSED", "ECANCELLED", "ESERVFAIL", "EREFUSED"].includes(code);
}

function failureOf(error: unknown, type: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    // Bun has one code for a name that does not exist and one without such a record.
    case "ENOTFOUND":
    case "ENODATA":
      return new TargetFailure(`There is no ${type} record for this name.`);
    case "ETIMEOUT":
    case "ECONNREFUSED":
    case "ECANCELLED":
      return new TargetFailure("The name server does not answer.");
    case "ESERVFAIL":
      return new TargetFailure("The name server failed (SERVFAIL).");
    case "EREFUSED":
      return new TargetFailure("The name server refused to answer.");
    case "ENOTIMP":
      return new TargetFailure("The name server does not support this kind of query (NOTIMP).");
    case "EFORMERR":
      return new TargetFailure("The name server did not understand the query (FORMERR).");
    case "EBADRESP":
      return new TargetFailure("The answer is not valid for DNS.");
    case "EBADNAME":
      return new TargetFailure("This is not a name that DNS can have.");
    default:
      return rcodeIn(error) === null || reasonFor(error) instanceof OwnTrouble
        ? error
        : new TargetFailure(`The name server answered with an error (${rcodeIn(error)}).`);
  }
}

/** The code of a c-ares error without its leading E. */
const rcodeIn = (error: unknown) =>
  /^E([A-Z]{3,20})$/.exec((error as NodeJS.ErrnoException).code ?? "")?.[1] ?? null;
