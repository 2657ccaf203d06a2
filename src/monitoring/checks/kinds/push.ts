import { durationInWords } from "../../../core/text.ts";
import type { Finding } from "../check.ts";

type Reporting = { intervalSeconds: number; settings: Record<string, unknown> | null };

/** Within so many seconds the next result is in time; a push monitor has a grace of its own. */
export function allowedSeconds({ intervalSeconds, settings }: Reporting): number {
  return intervalSeconds + Number(settings?.["grace"] ?? 0);
}

/** What it means that nothing was reported in that time: down at once, the grace was the patience. */
export function overdue(monitor: Reporting): Finding {
  const allowed = durationInWords(allowedSeconds(monitor));
  return {
    status: "down",
    final: true,
    message: `Nothing was reported for ${allowed}.`,
    latencyMs: null,
  };
}

/** What is known of a job that had failed when nobody listened to it, and can't be asked. */
export const stillFailing: Finding = {
  status: "down",
  final: true,
  message: "It failed, and nothing else has been reported since.",
  latencyMs: null,
};

/** What is known, when maintenance begins or ends, of a job whose reports were good and in time. */
export const stillReporting: Finding = {
  status: "up",
  message: "It last reported up, and in time.",
  latencyMs: null,
};
