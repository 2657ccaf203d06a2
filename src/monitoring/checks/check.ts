import type { MonitorSettings, MonitorType } from "../monitors/schema.ts";
import type { OutgoingContext } from "../../core/outgoing/context.ts";

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

/** What a check is made with. */
export type CheckContext = OutgoingContext & {
  timeoutMs: number;
  /** Unix milliseconds. */
  now(): number;
};

/** One type of check. Whatever it throws becomes `down` with a reason, or `unknown` for trouble of our own. */
export type CheckKind<T extends MonitorType> = (
  settings: MonitorSettings<T>,
  context: CheckContext,
) => Promise<Finding>;

/** Milliseconds since `startedAt` of performance.now(), whole. */
export function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
