import { Resolver } from "node:dns/promises";
import { parseResolver } from "../../monitors/rules.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { excerpt } from "../../../core/text.ts";
import { type CheckContext, type CheckKind, since } from "../check.ts";

type Settings = Parameters<CheckKind<"dns">>[0];

/** Up when there are records of the type and all the expected values are among them. */
export const checkDns: CheckKind<"dns"> = async (settings, context) => {
  const { host, recordType, expected } = settings;
  const resolver = await resolverOf(settings, context);
  // Silent name servers of this machine are its own trouble, others are what the monitor watches.
  context.step = settings.resolver === null ? "resolving the name" : "waiting for the answer";
  const startedAt = performance.now();
  const found = await recordsOf(resolver, host.replace(/\.$/, ""), recordType);
  const latencyMs = since(startedAt);
  const values = new Set((recordType === "TXT" ? joinedRuns(found) : found).map(plain));
  if (values.size === 0) throw new TargetFailure(`There is no ${recordType} record for this name.`);
  const missing = expected.filter((value) => !values.has(plain(value)));
  if (missing.length > 0)
    throw new TargetFailure(
      `The ${recordType} records lack ${missing.length} of ${expected.length} expected values.`,
    );
  const count = found.length === 1 ? "1 record" : `${found.length} records`;
  const details = { records: excerpt(found.join(", "), 200) };
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

/** Strings of texts that are looked at. */
const maxStrings = 50;

/** The strings of a long text are one value (RFC 7208 §3.3), but Bun tells them as records of their own. */
function joinedRuns(strings: readonly string[]): string[] {
  const few = strings.slice(0, maxStrings);
  return few.flatMap((_, start) =>
    few.slice(start).map((_, more) => few.slice(start, start + more + 1).join("")),
  );
}

/** Names in lower case without the root's dot, so that notations compare as equal. */
function plain(value: string): string {
  return value.toLowerCase().replace(/\.$/, "");
}

/** Records in the notation of zone files (RFC 1035 §5, 2782, 8659). */
async function recordsOf(resolver: Resolver, host: string, type: Settings["recordType"]) {
  try {
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
          ({ priority, exchange }) => `${priority} ${exchange}`,
        );
      case "TXT":
        return (await resolver.resolveTxt(host)).flat();
      case "SRV":
        return (await resolver.resolveSrv(host)).map(
          ({ priority, weight, port, name }) => `${priority} ${weight} ${port} ${name}`,
        );
      case "CAA":
        return (await resolver.resolveCaa(host)).map(({ critical, ...property }) => {
          const [tag, value] = Object.entries(property).find(([name]) => name !== "type") ?? [];
          return `${critical} ${tag} ${JSON.stringify(value)}`;
        });
    }
  } catch (error) {
    throw failureOf(error, type);
  }
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
    default:
      return error;
  }
}
