/** Types and helpers of all checks: their input, their context, their result, and warnings about certificates. */
import type { Cause } from "../../core/causes.ts";
import type { Details, DetailsOf, FoundDetails } from "../monitors/details-rules.ts";
import type { MonitorSettings, MonitorType } from "../monitors/kinds-schema.ts";
import type { AccessTokens } from "../../core/outgoing/access-tokens.ts";
import { formatUtcMinute, dayMs } from "../../core/time/clock.ts";
import type { FoundNumber, NumberLevel } from "./number-rules.ts";
import type { Member } from "../dependencies/rules.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";
import type { ResolvedName } from "./resolved-rules.ts";

/** Value from which a number is read, or why there is none. */
export type MeasuredValue = { value: unknown } | { unreadable: string };

/** Result of one check. `unknown` means that a fault of this appliance prevented a judgment, or that there is nothing to judge. */
export type CheckResult<D extends FoundDetails = Details> = {
  status: "up" | "degraded" | "down" | "unknown";
  /** One sentence for people, without text from the target and without secrets. */
  message: string;
  /** The message with text from the target. Shown to the organization, but not on status pages. */
  serverText?: string;
  /** Latency in milliseconds; null if nothing was measured. */
  latencyMs: number | null;
  /** Expiry of the certificate, RFC 3339; absent if the target sent no certificate. */
  certificateExpiresAt?: string;
  /** Details that the monitor type declares. `runCheck` removes secrets and shortens long values. */
  details?: D;
  /** Value from which the monitor's number is read; absent where it is one of the details. */
  measured?: MeasuredValue;
  /** The number that was read. */
  number?: FoundNumber;
  /** Whether a failure makes the monitor down immediately, without retries. */
  isFinal?: boolean;
  /** Whether this appliance is not at fault for an `unknown` result, which is then not reported. */
  hasNothingToJudge?: boolean;
  /** JPEG of the page when the check failed. */
  screenshot?: Uint8Array;
  /** Possible causes that the failure shares with other monitors, the most specific first. */
  causes?: readonly Cause[];
  /** Addresses of the first host name that the check resolved, or the DNS records that it read. */
  resolved?: ResolvedName;
};

/** Organization of a check on demand, and the person or API key that requested it. */
export type CheckCaller = { organizationId: string; callerId: string };

/** Fields of a monitor that a check needs. */
export type CheckTarget = {
  /** Key of `checkKinds`. */
  type: string;
  settings: object;
  timeoutMs: number;
  degradedAfterMs: number | null;
  /** Whether a failure counts as up, and a success as down. */
  inverted: boolean;
  /** Level of the monitor's number after the last check. */
  numberLevel?: NumberLevel;
};

/** Failure of a check that exceeded its timeout. */
export class CheckTimeout extends Error {}

/** Everything that a check needs in addition to its settings. */
export type CheckContext = OutgoingContext & {
  timeoutMs: number;
  /** Organization of the monitor. Cached responses are not shared between organizations. */
  organizationId: string;
  /** Latency above which the monitor is degraded; null without a threshold. */
  degradedAfterMs?: number | null;
  /** Current part of a check, such as “Step 2”, with which a failure message starts; null without parts. */
  part: string | null;
  /** JPEG of the page when the check failed; null without a screenshot. */
  screenshot: Uint8Array | null;
  /** Addresses of the first host name, or the DNS records that the check read; null for none. */
  resolved: ResolvedName | null;
  accessTokens: AccessTokens;
  /** Socket of the local Docker service. Monitors can't set it, because it gives root access. */
  dockerSocket: string;
  /** Returns the states of the organization's monitors with these IDs, on which this one depends. */
  membersOf(ids: readonly string[], dependentId: string | null): Promise<Member[]>;
  /** Path of systemctl; null if it is not installed. */
  systemctl(): string | null;
  /** Folder of the programs that monitors can run. Throws LocalFailure if programs are not allowed. */
  getCommandFolder(): Promise<string>;
  /** Path of Chromium; null if it is not installed. */
  browser(): string | null;
  /** Runs work with a browser. One page is open at a time; organizations take turns. */
  runWithBrowser<T>(work: () => Promise<T>): Promise<T>;
  /** Current time in Unix milliseconds. */
  now(): number;
  /** Runs a CPU-bound search. One search runs at a time; organizations take turns. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
};

/** Executes a check of one type. A thrown TargetFailure means `down`, a LocalFailure means `unknown`. */
export type CheckKind<T extends MonitorType> = (
  settings: MonitorSettings<T>,
  context: CheckContext,
) => Promise<CheckResult<DetailsOf<T>>>;

/** Returns whole milliseconds since `startedAt`, a value of performance.now(). */
export function measureElapsedMs(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** Returns whole days until the expiry: negative afterwards, undefined without an expiry. */
export function countDaysUntil(expiresAt: string | undefined, nowMs: number): number | undefined {
  return expiresAt === undefined ? undefined : Math.floor((Date.parse(expiresAt) - nowMs) / dayMs);
}

/** Subject of the warning, by the certificate of the chain that expires first. */
export const expirySubjects = {
  certificate: "The certificate",
  intermediate: "An intermediate certificate",
  authority: "The authority's own certificate",
};

/** Returns a warning for a certificate that expires within `withinDays`; null if it expires later. */
export function describeExpiry(
  expiresAt: string | undefined,
  withinDays: number | null,
  nowMs: number,
  first: keyof typeof expirySubjects = "certificate",
) {
  if (expiresAt === undefined || withinDays === null) return null;
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs > withinDays * dayMs) return null;
  if (leftMs <= 0) return `${expirySubjects[first]} expired on ${formatUtcMinute(expiresAt)}.`;
  const days = countDaysUntil(expiresAt, nowMs);
  const daysText = days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
  return `${expirySubjects[first]} expires in ${daysText}, on ${formatUtcMinute(expiresAt)}.`;
}
