import { setRecent } from "../recent-set.ts";

/** What a service gave in exchange for credentials, and until when it is good, in Unix milliseconds. */
export type AccessToken = { token: string; until: number };

export type AccessTokens = ReturnType<typeof accessTokens>;

/** Expired so long before the service says so: a mail takes its time. */
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
      if (known !== undefined && now < known.until - earlyMs) return known.token;
      const asking = asked.get(credentials) ?? ask().finally(() => asked.delete(credentials));
      asked.set(credentials, asking);
      const given = await asking;
      setRecent(kept, credentials, given, maxKept);
      return given.token;
    },
    /** Has the next one asked for anew. */
    forget: (credentials: string) => void kept.delete(credentials),
  };
}
