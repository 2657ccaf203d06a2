import type { Sealing } from "../database/backup/copy.ts";
import type { Clock } from "../core/time/clock.ts";
import type { FairQueue } from "../core/collections/fair-queue.ts";
import type { Limits } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import type { OwnHosts } from "../core/security/own-hosts.ts";
import type { Vault } from "../core/security/secrets.ts";
import type { TargetGuard } from "../core/security/target-guard.ts";
import type { DatabaseNode } from "../database/file/data-directory.ts";
import type { Statement, Store } from "../database/store.ts";
import type { Signals } from "../events/signals.ts";
import type { AccessTokens } from "../core/outgoing/access-tokens.ts";
import type { Exchange } from "../core/outgoing/http/exchange.ts";
import type { ResponseCache } from "./responses/response-cache.ts";
import type { Principal, Sessions } from "./access/session.ts";
import type { KnownNetworks } from "./access/known-networks.ts";
import type { NetworkLimit, RateLimit } from "./access/rate-limit.ts";
import type { Live } from "./responses/event-stream.ts";
import type { AttemptBackoff } from "./access/attempt-backoff.ts";

/** What the requests of one running appliance share. */
export type Services = {
  store: Store;
  clock: Clock;
  vault: Vault;
  targets: TargetGuard;
  ownHosts: OwnHosts;
  log: Log;
  /** The machines of the database; none where it is in a file. Throws UNAVAILABLE. */
  databaseNodes: () => Promise<DatabaseNode[]>;
  limits: Limits;
  responses: ResponseCache;
  /** Requests a minute by API key. */
  requestLimit: RateLimit;
  /** The same by person. */
  personLimit: RateLimit;
  /** Wrong credentials a minute by client network. */
  failureLimit: NetworkLimit;
  /** Wrong passwords, codes and tokens a minute by client network. */
  attemptLimit: NetworkLimit;
  /** Wrong passwords an hour by e-mail address and client network. */
  passwordLimit: RateLimit;
  /** The same by what is guessed, from wherever. */
  attemptBackoff: AttemptBackoff;
  knownNetworks: KnownNetworks;
  keys: Keys;
  sessions: Sessions;
  live: Live;
  signals: Signals;
  setUp: SetUp;
  backups: Backups;
  imports: ImportServices;
  /** Makes a scheduled backup now. Throws CONFLICT, and UNAVAILABLE with the reason. */
  runScheduledBackup: () => Promise<void>;
  /** Test mails a minute by organization. */
  testMailLimit: RateLimit;
  /** Test alerts a minute by organization. */
  testAlertLimit: RateLimit;
  /** Previews of status pages a minute by person. */
  previewLimit: RateLimit;
  /** Checks of status pages' host names a minute by organization. */
  hostCheckLimit: RateLimit;
  /** The certificate that this appliance itself shows, in PEM; null where it does not speak TLS. */
  certificate: () => string | null;
  /** Where status pages are read and rendered. */
  pageQueue: FairQueue;
  /** Address under which people open this appliance, for links; without a trailing slash. */
  origin: () => string;
  /** Lets the response to this request take so many seconds, where a connection may not be idle for as long. */
  extendTimeout: (request: Request, seconds: number) => void;
  /** Reaches the outside world, where that is not the real one. */
  exchange?: Exchange;
  /** By which mail servers are sent through. */
  accessTokens: AccessTokens;
  /** What this machine lacks now, so that checks are not judged, and since when (Unix milliseconds). */
  lackedNow: () => { resource: string; since: number } | null;
  /** Checks a monitor at once, outside its turn; resolves when the result is stored, with false where it is not to be checked. */
  checkNow: (caller: CheckCaller, monitorId: string) => Promise<boolean>;
  /** Makes one check of what is no monitor yet and keeps nothing of it. */
  tryCheck: (caller: CheckCaller, monitor: CheckTarget) => Promise<CheckResult>;
};

/** On whose behalf and by whom a check is asked for: a person or an API key. */
export type CheckCaller = { organizationId: string; callerId: string };

/** What a check needs to know of its monitor. */
export type CheckTarget = {
  /** One of `checkKinds`. */
  type: string;
  settings: object;
  timeoutMs: number;
  degradedAfterMs: number | null;
  /** Whether it is wanted to fail. */
  inverted: boolean;
};

/** What a check found. */
type CheckResult = {
  status: "up" | "degraded" | "down" | "unknown";
  message: string;
  said?: string;
  latencyMs: number | null;
  certificateExpiresAt?: string;
};

/** Files that are to be imported, each of one organization. */
export type ImportUploads = {
  /** Throws CONFLICT where there is no room, or one is being imported. */
  begin(organizationId: string, file: { name: string; size: number }): Promise<string>;
  /** Returns how many bytes have arrived. Throws NOT_FOUND, CONFLICT. */
  append(organizationId: string, id: string, offset: number, bytes: Uint8Array): Promise<number>;
  /** Throws NOT_FOUND, and CONFLICT for what has not arrived. */
  use<T>(
    organizationId: string,
    id: string,
    read: (upload: { file: string; name: string; folder: string }) => Promise<T>,
  ): Promise<T>;
  remove(organizationId: string, id: string): Promise<void>;
};

export type ImportServices = {
  uploads: ImportUploads;
  /** Days that results and hours are kept. */
  keepResults: number;
  keepHours: number;
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
  make(personId: string, sealing: Sealing | null): Promise<Backup>;
  /** Its bytes, this one time, for as long as `mayGoOn`; null for none of theirs. */
  take(
    personId: string,
    id: string,
    mayGoOn: () => Promise<boolean>,
  ): { backup: Backup; bytes: ReadableStream<Uint8Array> } | null;
};

export type Backup = { id: string; fileName: string; bytes: number; expiresAt: string };
