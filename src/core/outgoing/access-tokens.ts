import { setRecent } from "../collections/recent-set.ts";

/** An access token and its expiry, in Unix milliseconds. */
export type AccessToken = { token: string; until: number };

export type AccessTokens = ReturnType<typeof createAccessTokenCache>;

/**
 * Time before the expiry at which a token is replaced, at most a tenth of its lifetime. Requests in flight then
 * finish in time.
 */
const renewalMarginMs = 60_000;

const maxCachedTokens = 1_000;

/** Caches access tokens (RFC 6749 §1.4) in memory until they expire. */
export function createAccessTokenCache() {
  const cachedTokens = new Map<string, AccessToken>();
  const pendingRequests = new Map<string, Promise<AccessToken>>();
  return {
    /**
     * Returns the cached token of these credentials, or requests one with `requestToken`. Concurrent callers share one
     * request.
     */
    async getToken(
      credentials: string,
      now: number,
      requestToken: () => Promise<AccessToken>,
    ): Promise<string> {
      const known = cachedTokens.get(credentials);
      if (known !== undefined && now < known.until) return known.token;
      const pendingRequest =
        pendingRequests.get(credentials) ??
        requestToken().finally(() => pendingRequests.delete(credentials));
      pendingRequests.set(credentials, pendingRequest);
      const { token, until } = await pendingRequest;
      const early = Math.min(renewalMarginMs, (until - now) / 10);
      setRecent(cachedTokens, credentials, { token, until: until - early }, maxCachedTokens);
      return token;
    },
    /** Drops the cached token. With `token`, does so only if that token is still cached. */
    forget(credentials: string, token?: string) {
      const known = cachedTokens.get(credentials);
      if (token === undefined || known?.token === token) cachedTokens.delete(credentials);
    },
  };
}
