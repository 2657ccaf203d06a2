/** What a service gave in exchange for credentials, and until when it is good, in Unix milliseconds. */
export type AccessToken = { token: string; until: number };

/** Access tokens (RFC 6749 §1.4), each kept in memory until it expires. */
export type AccessTokens = {
  /** The one that is kept for these credentials, or what `ask` gets; who wants the same meanwhile waits for that. */
  of(credentials: string, now: number, ask: () => Promise<AccessToken>): Promise<string>;
  /** Has the next one asked for anew. */
  forget(credentials: string): void;
};

/** Expired so long before the service says so: a mail takes its time. */
const earlyMs = 60_000;

const maxKept = 1_000;

export function accessTokens(): AccessTokens {
  const kept = new Map<string, AccessToken>();
  const asked = new Map<string, Promise<AccessToken>>();
  return {
    async of(credentials, now, ask) {
      const known = kept.get(credentials);
      if (known !== undefined && now < known.until - earlyMs) return known.token;
      const asking = asked.get(credentials) ?? ask().finally(() => asked.delete(credentials));
      asked.set(credentials, asking);
      const given = await asking;
      kept.delete(credentials);
      kept.set(credentials, given);
      const [oldest] = kept.keys();
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
      return given.token;
    },
    forget: (credentials) => void kept.delete(credentials),
  };
}
