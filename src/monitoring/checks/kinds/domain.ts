/** The domain check: queries the registry over RDAP for the expiry of a domain, and caches the response. */
import { createLookup } from "../../../core/collections/objects.ts";
import { formatUtcMinute, dayMs, hourMs } from "../../../core/time/clock.ts";
import { setRecent } from "../../../core/collections/recent-set.ts";
import { parseJsonBody, readWholeBody } from "../../../core/outgoing/http/decoded-body.ts";
import { BlockedTarget, TargetFailure } from "../../../core/outgoing/failures.ts";
import { type HttpResponse, formatStatus } from "../../../core/outgoing/http/response.ts";
import { parseRetryAfterHeader } from "../../../core/outgoing/http/retry-after.ts";
import { parseHostName } from "../../../core/security/destinations.ts";

import { type CheckContext, type CheckKind, countDaysUntil, measureElapsedMs } from "../check.ts";
import { retryAbandoned, awaitUnlessAbandoned } from "../engine/shared-request.ts";
import { requestWithRedirects } from "../protocols/request-with-redirects.ts";
import { findRdapServer } from "./rdap-registries.ts";

const maxBytes = 256 * 1024;
const maxCachedDomains = 10_000;

/** Expiry date and status values of a domain in its registry. */
type Registration = { expiresAt: string; states: readonly string[] };

/** Cached responses by organization, server and domain. Registries reject frequent queries. */
const registrationCache = new Map<string, { until: number; response: Promise<Registration> }>();

/** The registry is rate limiting or unavailable, and sent a Retry-After. */
class BusyRegistry extends TargetFailure {
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/** Up while the registration is valid for at least `minDays` (RFC 9082, RFC 9083). */
export const checkDomain: CheckKind<"domain"> = async ({ domain, minDays, server }, context) => {
  const name = parseHostName(domain);
  if (name === null) throw new TargetFailure("This is not the name of a domain.");
  const { expiresAt, states, latencyMs } = await findRegistration(name, server, context);
  const details = { expiresAt };
  const buildDown = (message: string) =>
    ({ status: "down", message, latencyMs: null, details }) as const;
  const bad = states.find((state) => state in badStates);
  if (bad !== undefined) return buildDown(`The domain ${badStates[bad]}.`);
  const expiryText = formatUtcMinute(expiresAt);
  const days = countDaysUntil(expiresAt, context.now()) ?? 0;
  if (days < 0) return buildDown(`The domain expired on ${expiryText}.`);
  const sentence = `The domain expires in ${days === 1 ? "1 day" : `${days} days`}, on ${expiryText}`;
  if (days < minDays) return buildDown(`${sentence}.`);
  const latency = latencyMs === null ? "" : `; the registry responded in ${latencyMs} ms`;
  return { status: "up", message: `${sentence}${latency}.`, latencyMs, details };
};

/** Registration states that make a domain unusable (RFC 8056). */
const badStates: Readonly<Record<string, string>> = createLookup({
  "redemption period": "was deleted and can only be restored",
  "pending delete": "is about to be deleted",
  "client hold": "is on hold by its registrar, and not in the DNS",
  "server hold": "is on hold by its registry, and not in the DNS",
});

/** Returns the cached registration, or queries the registry and measures its latency. */
function findRegistration(name: string, server: string | null, context: CheckContext) {
  const key = `${context.organizationId} ${server ?? ""} ${name}`;
  return retryAbandoned(async () => {
    const cached = registrationCache.get(key);
    const isCached = cached !== undefined && context.now() < cached.until;
    const startedAt = performance.now();
    context.step = isCached ? "waiting for the response" : "resolving the name";
    const found = await (isCached
      ? cached.response
      : queryRegistration(key, name, server, context));
    return { ...found, latencyMs: isCached ? null : measureElapsedMs(startedAt) };
  }, context.signal);
}

/** Queries the registry and caches the registration for a day. Failures are cached only with a Retry-After. */
function queryRegistration(
  key: string,
  name: string,
  server: string | null,
  context: CheckContext,
) {
  const response = awaitUnlessAbandoned(fetchRegistration(name, server, context), context.signal);
  const entry = { until: Infinity, response };
  const cacheUntil = (until: number) =>
    setRecent(registrationCache, key, { ...entry, until }, maxCachedDomains);
  setRecent(registrationCache, key, entry, maxCachedDomains);
  response.then(
    () => cacheUntil(context.now() + dayMs),
    (error: unknown) => {
      if (error instanceof BusyRegistry) cacheUntil(context.now() + error.seconds * 1_000);
      else registrationCache.delete(key);
    },
  );
  return response;
}

async function fetchRegistration(
  name: string,
  server: string | null,
  context: CheckContext,
): Promise<Registration> {
  const base = (server ?? findRdapServer(name)).replace(/\/*$/, "/");
  const url = new URL(`domain/${encodeURIComponent(name)}`, base);
  if (server === null) await assertServerKnown(url.hostname, context);
  const { response, connection } = await requestWithRedirects(
    url,
    "application/rdap+json",
    context,
  );
  if (response.status === 404)
    throw new TargetFailure(
      "The registry does not know this domain: it is not registered, or not under this name.",
    );
  if (response.status !== 200) throw toFailure(response, context.now());
  context.step = "reading the response";
  const body = await readWholeBody(response, maxBytes, context);
  connection.close();
  return parseRegistration(parseJsonBody(body), name);
}

function toFailure({ status, headers }: HttpResponse, now: number): TargetFailure {
  const message = `${formatStatus(status)}, expected 200.`;
  const seconds = parseRetryAfterHeader(headers.get("retry-after"), now) ?? 0;
  const isBusy = (status === 429 || status === 503) && seconds > 0;
  return isBusy
    ? new BusyRegistry(message, Math.min(seconds, hourMs / 1_000))
    : new TargetFailure(message);
}

/** Throws unless the RDAP server's name resolves. For unlisted registries `rdap.nic.*` is only a guess. */
async function assertServerKnown(host: string, context: CheckContext) {
  context.step = "resolving the name";
  try {
    await context.addressesOf(host, 443);
  } catch (error) {
    if (!(error instanceof TargetFailure) || error instanceof BlockedTarget) throw error;
    throw new TargetFailure("The registry's RDAP server is not known: enter it.");
  }
}

type Rdap = { ldhName?: unknown; status?: unknown; events?: unknown };
type Event = { eventAction?: unknown; eventDate?: unknown } | null;

function parseRegistration(json: unknown, name: string): Registration {
  const { ldhName = name, status, events } = (json ?? {}) as Rdap;
  if (!Array.isArray(events)) throw new TargetFailure("The response is not valid for RDAP.");
  if (parseHostName(String(ldhName)) !== name)
    throw new TargetFailure("The response is about another domain.");
  const findDate = (action: string) =>
    (events as Event[]).find((event) => normalizeWords(event?.eventAction) === action)?.eventDate;
  const at = Date.parse(String(findDate("expiration") ?? findDate("registrar expiration")));
  if (Number.isNaN(at))
    throw new TargetFailure("The registry does not say when the domain expires.");
  return {
    expiresAt: new Date(at).toISOString(),
    states: Array.isArray(status) ? status.map(normalizeWords) : [],
  };
}

/** Converts a value to the form of RFC 9083 §10.2. Some registries send that of EPP, such as `pendingDelete`. */
const normalizeWords = (value: unknown) =>
  String(value)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
