import { setRecent } from "../collections/recent-set.ts";

/** What a service gave in exchange for credentials, and until when it is good, in Unix milliseconds. */
export type AccessToken = { token: string; until: number };

export type AccessTokens = ReturnType<typeof accessTokens>;

/** Expired so long before the service says so, or a tenth of its life: what it is for takes its time. */
const earlyMs = 60_000;

const maxKept = 1_000;

/** Access tokens (RFC 6749 §1.4), each kept in memory until it expires. */
export function accessTokens() {
  const kept = new Map<string, AccessToken>();
  const asked = new Map<string, Promise<AccessToken>>();
  return {
    /** The one that is kept for these credentials, or what `ask` gets; who wants the same meanwhile waits for that. */
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
    /** Has the next one asked for anew; where another than `token` is kept, somebody did that. */
    forget(credentials: string, token?: string) {
      const known = kept.get(credentials);
      if (token === undefined || known?.token === token) kept.delete(credentials);
    },
  };
}
