import { setRecent } from "../collections/recent-set.ts";

/** An access token and its expiry in Unix milliseconds. */
export type AccessToken = { token: string; until: number };

export type AccessTokens = ReturnType<typeof accessTokens>;

/** Tokens are replaced this early, or by a tenth of a shorter lifetime, so that their use finishes in time. */
const earlyMs = 60_000;

const maxKept = 1_000;

/** Access tokens (RFC 6749 §1.4), cached in memory until they expire. */
export function accessTokens() {
  const kept = new Map<string, AccessToken>();
  const asked = new Map<string, Promise<AccessToken>>();
  return {
    /** The cached token for these credentials, or a new one from `ask`. Concurrent callers share one request. */
    async of(credentials: string, now: number, ask: () => Promise<AccessToken>): Promise<string> {
      const known = kept.get(credentials);
      if (known !== undefined && now < known.until) return known.token;
      const asking = asked.get(credentials) ?? ask().finally(() => asked.delete(credentials));
      asked.set(credentials, asking);
      const { token, until } = await asking;
      const early = Math.min(earlyMs, (until - now) / 10);
      setRecent(kept, credentials, { token, until: until - early }, maxKept);
      return token;
    },
    /** Drops the cached token, unless it was replaced since. */
    forget(credentials: string, token?: string) {
      const known = kept.get(credentials);
      if (token === undefined || known?.token === token) kept.delete(credentials);
    },
  };
}
