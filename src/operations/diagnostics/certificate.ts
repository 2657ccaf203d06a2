import { dayMs, formatUtcMinute } from "../../core/time/clock.ts";
import { createOkFinding, createProblemFinding, createWarningFinding } from "../../core/finding.ts";
import type { Diagnosis } from "./diagnostic.ts";

/** Days before expiry at which a problem is reported, each once and with its severity. 0 is the expiry. */
const stages = [
  [14, "warning"],
  [7, "warning"],
  [1, "error"],
  [0, "critical"],
] as const;

/** Days before expiry at which a certificate should be renewed. */
export const renewalDays = stages[0][0];

/** Examines the expiry of the certificate of `--tls-cert`, in Unix milliseconds. */
export function examineCertificate(expiresAt: number | null, now: number): Diagnosis[] {
  if (expiresAt === null) return [];
  const subject = "TLS certificate";
  const days = Math.floor((expiresAt - now) / dayMs);
  const stage = stages.findLast(([before]) => expiresAt - now < before * dayMs);
  if (stage === undefined) return [createOkFinding(subject, `it expires in ${days} days`)];
  const advice = "Renew it, then `systemctl reload signalbox` (SIGHUP) reads the files again.";
  const [before, severity] = stage;
  const finding =
    days < 0
      ? createProblemFinding(subject, `it expired ${-days} days ago`, advice)
      : createWarningFinding(subject, `it expires in ${days} days`, advice);
  const message = `The certificate of --tls-cert ${before === 0 ? "expired" : "expires"} on ${formatUtcMinute(expiresAt)}. Renew it and send SIGHUP.`;
  return [
    {
      ...finding,
      problem: { name: "certificate", stage: String(before), severity, message, until: null },
    },
  ];
}
