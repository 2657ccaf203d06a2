import type { Details, DetailsOf, FoundDetails } from "../monitors/details-rules.ts";
import type { MonitorSettings, MonitorType } from "../monitors/kinds-schema.ts";
import type { AccessTokens } from "../../core/outgoing/access-tokens.ts";
import { minuteInUtc } from "../../core/time/clock.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";
import { dayMs } from "../uptime/rules.ts";

/** The result of one check; `unknown` if trouble of our own prevented a judgement. */
export type CheckResult<D extends FoundDetails = Details> = {
  status: "up" | "degraded" | "down" | "unknown";
  /** One sentence for people, without words of the target and without secrets. */
  message: string;
  /** The same with words of the target, for the organization but not for its status page. */
  said?: string;
  /** Null if nothing was measured. */
  latencyMs: number | null;
  /** Expiry of the certificate; absent without one. */
  certificateExpiresAt?: string;
  /** Details that the type declares; long and secret values are removed later. */
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

/** Reason of the abort after the timeout. */
export class TimeUp extends Error {}

/** Input of a check apart from its settings. */
export type CheckContext = OutgoingContext & {
  timeoutMs: number;
  /** The organization of the monitor. Cached answers are not shared with other organizations. */
  organizationId: string;
  /** Latency above which the monitor is degraded; null for none. */
  degradedAfterMs?: number | null;
  /** Current part of a check, which starts the sentence of a failure; null for a check of one part. */
  part: string | null;
  /** JPEG of the page when the check failed; null for none. */
  screenshot: Uint8Array | null;
  accessTokens: AccessTokens;
  /** Socket of the local Docker. Monitors can't set it, because it gives root access. */
  dockerSocket: string;
  /** Path of systemctl; null for none. */
  systemctl(): string | null;
  /** Folder of allowed programs. Throws OwnTrouble if none are allowed. */
  commandFolder(): Promise<string>;
  /** Path of Chromium; null for none. */
  browser(): string | null;
  /** Waits for the turn of the organization: one page at a time. */
  browserTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Unix milliseconds. */
  now(): number;
  /** Runs processor work in the turn of the organization. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
};

/** One type of check. Errors become `down` with a reason, or `unknown` for trouble of our own. */
export type CheckKind<T extends MonitorType> = (
  settings: MonitorSettings<T>,
  context: CheckContext,
) => Promise<CheckResult<DetailsOf<T>>>;

/** Milliseconds since `startedAt` of performance.now(), whole. */
export function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** Whole days until the expiry; negative after it, undefined without one. */
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
