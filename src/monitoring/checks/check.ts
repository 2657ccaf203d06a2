import type { Details, DetailsOf, FoundDetails } from "../monitors/details-rules.ts";
import type { MonitorSettings, MonitorType } from "../monitors/kinds-schema.ts";
import type { AccessTokens } from "../../core/outgoing/access-tokens.ts";
import { minuteInUtc } from "../../core/time/clock.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";
import { dayMs } from "../uptime/rules.ts";

/** The result of one check; `unknown` if trouble of our own prevented a judgement. */
export type CheckResult<D extends FoundDetails = Details> = {
  status: "up" | "degraded" | "down" | "unknown";
  /** One sentence for people; nothing that the target said, and nothing secret. */
  message: string;
  /** The same with what was received, or what a watched job reported in its own words: for the organization, not for its status page. */
  said?: string;
  /** Milliseconds that the target took; null where nothing was measured. */
  latencyMs: number | null;
  /** End of the certificate that was seen; absent where none was. */
  certificateExpiresAt?: string;
  /** What the type declares beside that; what is too long or repeats a secret is taken out of it later. */
  details?: D;
  /** Whether the monitor is down at once, without retries. */
  final?: boolean;
  /** JPEG of the page when the check failed. */
  screenshot?: Uint8Array;
};

/** The organization of a check on demand, and the person or API key that requested it. */
export type CheckCaller = { organizationId: string; callerId: string };

/** The part of a monitor that a check needs. */
export type CheckTarget = {
  /** A key of `checkKinds`. */
  type: string;
  settings: object;
  timeoutMs: number;
  degradedAfterMs: number | null;
  /** Whether failures count as up. */
  inverted: boolean;
};

/** Why the signal of a check ends that took too long. */
export class TimeUp extends Error {}

/** What a check is made with. */
export type CheckContext = OutgoingContext & {
  timeoutMs: number;
  /** The organization of the monitor. Cached answers are not shared with other organizations. */
  organizationId: string;
  /** Latency above which the monitor is degraded; null for none. */
  degradedAfterMs?: number | null;
  /** Which part of the check is made, to begin the sentence that says why it failed; null for a check of one part. */
  part: string | null;
  /** What was in sight when the check failed, as JPEG; null where nothing was. */
  screenshot: Uint8Array | null;
  accessTokens: AccessTokens;
  /** Where the Docker of this machine listens; no monitor names it, since it is as good as root. */
  dockerSocket: string;
  /** systemd's own program; null where there is none. */
  systemctl(): string | null;
  /** The folder of programs that may be run. Throws OwnTrouble where none may be. */
  commandFolder(): Promise<string>;
  /** The Chromium of this machine; null where there is none. */
  browser(): string | null;
  /** Uses it in the turn of the monitor's organization: one page at a time. */
  browserTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Unix milliseconds. */
  now(): number;
  /** Does work that takes the processor in the turn of the monitor's organization. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
};

/** One type of check. Whatever it throws becomes `down` with a reason, or `unknown` for trouble of our own. */
export type CheckKind<T extends MonitorType> = (
  settings: MonitorSettings<T>,
  context: CheckContext,
) => Promise<CheckResult<DetailsOf<T>>>;

/** Milliseconds since `startedAt` of performance.now(), whole. */
export function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** Whole days until then; undefined where nothing ends, negative once it is over. */
export function daysUntil(expiresAt: string | undefined, nowMs: number): number | undefined {
  return expiresAt === undefined ? undefined : Math.floor((Date.parse(expiresAt) - nowMs) / dayMs);
}

/** Subject of a sentence about the first certificate of a path to expire. */
export const firstToExpire = {
  certificate: "The certificate",
  intermediate: "An intermediate certificate",
  authority: "The authority's own certificate",
};

/** Warns of a certificate that expires within `withinDays`; null if it expires later. */
export function expiryOf(
  expiresAt: string | undefined,
  withinDays: number | null,
  nowMs: number,
  first: keyof typeof firstToExpire = "certificate",
) {
  if (expiresAt === undefined || withinDays === null) return null;
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs > withinDays * dayMs) return null;
  if (leftMs <= 0) return `${firstToExpire[first]} expired on ${minuteInUtc(expiresAt)}.`;
  const days = daysUntil(expiresAt, nowMs);
  const left = days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
  return `${firstToExpire[first]} expires in ${left}, on ${minuteInUtc(expiresAt)}.`;
}
