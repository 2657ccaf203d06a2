import type { Clock } from "../core/clock.ts";
import type { FairQueue } from "../core/fair-queue.ts";
import type { Limits } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import type { OwnHosts } from "../core/own-hosts.ts";
import type { Vault } from "../core/secrets.ts";
import type { TargetGuard } from "../core/target-guard.ts";
import type { Role } from "../core/roles.ts";
import type { Statement, Store } from "../database/store.ts";
import type { AccessTokens } from "../core/outgoing/access-tokens.ts";
import type { Exchange } from "../core/outgoing/exchange.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { KnownNetworks } from "./known-networks.ts";
import type { NetworkLimit, RateLimit } from "./rate-limit.ts";
import type { Live } from "./event-stream.ts";
import type { SlowDown } from "./slow-down.ts";
import type { Session, Sessions } from "./session.ts";

/** What every request of one running appliance shares. */
export type Appliance = {
  store: Store;
  clock: Clock;
  vault: Vault;
  targets: TargetGuard;
  ownHosts: OwnHosts;
  log: Log;
  limits: Limits;
  answers: AnswerCache;
  /** Requests a minute by API key. */
  requestLimit: RateLimit;
  /** The same by person. */
  personLimit: RateLimit;
  /** Wrong credentials a minute by client network. */
  failureLimit: NetworkLimit;
  /** Wrong passwords, codes and tokens a minute by client network. */
  guessLimit: NetworkLimit;
  /** Wrong passwords an hour by e-mail address and client network. */
  passwordLimit: RateLimit;
  /** The same by what is guessed, from wherever. */
  slowDown: SlowDown;
  knownNetworks: KnownNetworks;
  keys: Keys;
  sessions: Sessions;
  live: Live;
  setUp: SetUp;
  backups: Backups;
  /** Test mails a minute by organization. */
  testMailLimit: RateLimit;
  /** Test alerts a minute by organization. */
  testAlertLimit: RateLimit;
  /** Previews of status pages a minute by person. */
  previewLimit: RateLimit;
  /** Where status pages are read and put into words. */
  pageQueue: FairQueue;
  /** Address under which people open this appliance, for links; without a trailing slash. */
  origin: () => string;
  /** Lets the answer to this request take so many seconds, where a connection may not be silent for as long. */
  giveTime: (request: Request, seconds: number) => void;
  /** Reaches the outside world, where that is not the real one. */
  exchange?: Exchange;
  /** By which mail servers are sent through. */
  accessTokens: AccessTokens;
  /** Checks a monitor at once, outside its turn; resolves when the result is stored, with false where it is not to be checked. */
  checkNow: (caller: Asking, monitorId: string) => Promise<boolean>;
  /** Makes one check of what is no monitor yet and keeps nothing of it. */
  tryCheck: (caller: Asking, monitor: Unsaved) => Promise<Found>;
};

/** On whose behalf and by whom a check is asked for. */
type Asking = { organizationId: string; callerId: string };

/** What a check needs to know of a monitor. */
type Unsaved = {
  type: string;
  settings: object;
  timeoutMs: number;
  degradedAfterMs: number | null;
};

/** What a check found. */
type Found = {
  status: "up" | "degraded" | "down" | "unknown";
  message: string;
  latencyMs: number | null;
  certificateExpiresAt?: string;
};

export type Keys = {
  /** Who holds the API key with this SHA-256; null for an unknown, revoked or expired one. Counts as its use. */
  find(hash: string): Promise<Principal | null>;
  /** Writes down when keys were last used, since the last time this was asked. */
  used(): Statement[];
};

/** The first run, which whoever reads the console may claim. */
export type SetUp = {
  /** Whether this is the token that was printed, while that is valid. */
  isToken(token: string): boolean;
  /** There is somebody who signs in: the token is over. */
  end(): void;
};

/** Copies of the whole database, each for whoever had it made, until they have taken it. */
export type Backups = {
  /** Throws CONFLICT while one is being made, UNAVAILABLE where it can't be written. */
  make(personId: string): Promise<Backup>;
  /** Its bytes, this one time, for as long as `mayGoOn`; null for none of theirs. */
  take(
    personId: string,
    id: string,
    mayGoOn: () => Promise<boolean>,
  ): { backup: Backup; bytes: ReadableStream<Uint8Array> } | null;
};

export type Backup = { id: string; fileName: string; bytes: number; expiresAt: string };

/** Who asks, on behalf of one organization: an API key, or a person by their session. */
export type Principal = {
  organizationId: string;
  actor: { type: "api-key" | "person"; id: string; name: string };
  scope: "read" | "write";
  /** Of a person; null for an API key. */
  role: Role | null;
};

/** One request on its way through the gate and its endpoint. */
export type Call = {
  appliance: Appliance;
  requestId: string;
  /** The client's, without the port. */
  address: string;
  /** Whose API key it is; null outside `/api/v1`. */
  principal: Principal | null;
  /** Whose cookie it is; null outside `/dashboard`, and there for whoever has none. */
  session: Session | null;
  /** The Set-Cookie that the answer will carry. */
  cookie: string | null;
};

const calls = new WeakMap<Request, Call>();

/** The gate begins a call for every request, before any route runs. */
export function beginCall(request: Request, call: Call) {
  calls.set(request, call);
}

export function callOf(request: Request): Call {
  const call = calls.get(request);
  if (call === undefined) throw new Error("A request came past the gate.");
  return call;
}
