import type { MonitorSettings, MonitorType } from "../monitors/schema.ts";

/** What one check found out about its target. */
export type Finding = {
  status: "up" | "degraded" | "down";
  /** One sentence for people; nothing that the target said, and nothing secret. */
  message: string;
  /** What a watched job reported in its own words: for the organization, not for its status page. */
  said?: string;
  /** Milliseconds that the target took; null where nothing was measured. */
  latencyMs: number | null;
  /** End of the certificate that was seen; absent where none was. */
  certificateExpiresAt?: string;
  /** Whether retries are pointless: it is down at once. */
  final?: boolean;
};

/** The target did not do what it should; the message says what, in one sentence. */
export class CheckFailure extends Error {
  /** Whether retries are pointless. */
  readonly final: boolean;

  constructor(message: string, final = false) {
    super(message);
    this.final = final;
  }
}

/** The check could not be made for a reason on this side: nothing is known about the target. */
export class OwnTrouble extends Error {}

/** What a check is made with. */
export type CheckContext = {
  timeoutMs: number;
  /** Ends when the time is up, and with the check: whatever it opened closes then. */
  signal: AbortSignal;
  /** What the check is doing, for the sentence that says where its time was used up. */
  step: "resolving the name" | "connecting" | "waiting for the answer" | "reading the answer";
  /** Addresses of a host, each one judged. Throws CheckFailure for a blocked or unknown one. */
  addressesOf(host: string, port: number | null): Promise<Address[]>;
  /** Unix milliseconds. */
  now(): number;
};

export type Address = { address: string; family: 4 | 6 };

/** One type of check. Whatever it throws becomes `down` with a reason, or `unknown` for trouble of our own. */
export type CheckKind<T extends MonitorType> = (
  settings: MonitorSettings<T>,
  context: CheckContext,
) => Promise<Finding>;

/** Milliseconds since `startedAt` of performance.now(), whole. */
export function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
