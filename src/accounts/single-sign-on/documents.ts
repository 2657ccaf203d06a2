/** Requests and caches the documents of sign-in providers, over connections with the target guard. */
import { minuteMs } from "../../core/time/clock.ts";
import type * as OpenIdLibrary from "oauth4webapi";
import { setRecent } from "../../core/collections/recent-set.ts";
import { singleSignOnBounds } from "../../core/limits.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import { exchange } from "../../core/outgoing/http/exchange.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { OpenedProvider } from "../identity-providers/service.ts";

/** Loaded with the first sign-in through a provider. */
export const loadLibrary = () => import("oauth4webapi");
export type Library = typeof OpenIdLibrary;
export type Metadata = OpenIdLibrary.AuthorizationServer;

type Connection = { targets: TargetGuard; clock: Clock };
/** The fields of a provider that decide how it is reached. */
type ProviderAccess = Pick<OpenedProvider, "issuer" | "certificateAuthorities">;

/** Time for which a discovery document is cached. */
const cachedMs = 10 * minuteMs;
/** Time for which a failure is cached, so that visitors can't make this machine send many requests. */
const failureCachedMs = 5_000;

type CachedDocument = { version: string; until: number; document: Promise<Metadata> };

/** Caches the discovery documents of all providers. Concurrent sign-ins share one request. */
export class ProviderDocuments {
  readonly #cached = new Map<string, CachedDocument>();

  /** Returns the metadata of a provider. Throws TargetFailure and errors of the library. */
  async get(provider: OpenedProvider, connection: Connection): Promise<Metadata> {
    const { id } = provider;
    const version = String(provider.version);
    const now = connection.clock();
    const known = this.#cached.get(id);
    const isFresh =
      known?.version === version && known.until > now && known.until <= now + cachedMs;
    if (isFresh) return known.document;
    const document = fetchMetadata(provider, connection);
    const entry: CachedDocument = { version, until: now + cachedMs, document };
    setRecent(this.#cached, id, entry, singleSignOnBounds.providers.value);
    document.catch(() => void (entry.until = connection.clock() + failureCachedMs));
    return document;
  }

  /** Returns the cached metadata; null if there is none. */
  async find({ id }: Pick<OpenedProvider, "id">): Promise<Metadata | null> {
    const document = this.#cached.get(id)?.document;
    return document === undefined ? null : document.catch(() => null);
  }
}

/** Requests the discovery document, and verifies its issuer. */
export async function fetchMetadata(
  provider: ProviderAccess,
  connection: Connection,
): Promise<Metadata> {
  const library = await loadLibrary();
  const issuer = new URL(provider.issuer);
  const options = createOptions(library, provider, connection);
  const response = await library.discoveryRequest(issuer, options);
  return library.processDiscoveryResponse(issuer, response);
}

/** Options of each request to a provider. Without https, only a provider with such an issuer is accepted. */
export function createOptions(library: Library, provider: ProviderAccess, connection: Connection) {
  return {
    [library.customFetch]: createFetch(provider, connection),
    [library.allowInsecureRequests]: provider.issuer.startsWith("http:"),
  };
}

type SentRequest = {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
};

/** Sends a request over our own connections. Throws TargetFailure, also for a response that is too long. */
function createFetch({ certificateAuthorities }: ProviderAccess, { targets }: Connection) {
  return async (url: string, { method, headers, body }: SentRequest): Promise<Response> => {
    const { value: maxBytes } = singleSignOnBounds.response;
    const response = await exchange(
      {
        url: new URL(url),
        method,
        headers,
        body: body instanceof URLSearchParams ? body.toString() : null,
        verifyTls: true,
      },
      {
        targets,
        timeoutMs: singleSignOnBounds.responseSeconds.value * 1000,
        signal: new AbortController().signal,
        maxBytes,
        authorities: certificateAuthorities,
      },
    );
    if (response.isCut === true)
      throw new TargetFailure(`The response is longer than ${maxBytes / 1024} KiB.`);
    const hasBody = response.status >= 200 && ![204, 205, 304].includes(response.status);
    const status = response.status >= 200 && response.status <= 599 ? response.status : 502;
    return new Response(hasBody ? response.body : null, {
      status,
      headers: [...response.headers].filter(([name]) =>
        ["content-type", "date", "www-authenticate"].includes(name),
      ),
    });
  };
}
