import { createCounter, createFamily, type Family } from "../../../core/metrics.ts";

/** Why a recipient or a mail is rejected. */
const reasons = [
  "unknown_address",
  "too_many",
  "too_large",
  "invalid",
  "interrupted",
  "failed",
] as const;
export type RejectionReason = (typeof reasons)[number];

export type MailMetrics = ReturnType<typeof createMailMetrics>;

/** Creates the metrics of `--smtp-port`. Their series start with the listener. */
export function createMailMetrics() {
  const connections = createCounter(
    "signalbox_mail_connections_total",
    "Connections of mail senders to --smtp-port, by outcome. Rejected ones exceed a limit.",
    ["outcome"],
  );
  const accepted = createCounter(
    "signalbox_mails_accepted_total",
    "Mails that were stored for all their alert sources and jobs.",
    [],
  );
  const rejected = createCounter(
    "signalbox_mails_rejected_total",
    "Mails and recipients that were rejected, by reason: unknown_address, too_many, too_large, invalid, interrupted by the sender, or failed to store.",
    ["reason"],
  );
  let countOpen: (() => number) | null = null;
  return {
    /** Starts all series at 0. `count` returns the number of open connections. */
    start(count: () => number) {
      countOpen = count;
      for (const outcome of ["accepted", "rejected"]) connections.withLabels(outcome);
      accepted.withLabels();
      for (const reason of reasons) rejected.withLabels(reason);
    },
    countConnection: (isAccepted: boolean) =>
      connections.withLabels(isAccepted ? "accepted" : "rejected")(),
    countAccepted: () => accepted.withLabels()(),
    countRejected: (reason: RejectionReason) => rejected.withLabels(reason)(),
    metrics: (): Family[] => [
      createFamily(
        "signalbox_mail_connections",
        "gauge",
        "Open connections of mail senders to --smtp-port.",
        countOpen === null ? null : countOpen(),
      ),
      connections.family(),
      accepted.family(),
      rejected.family(),
    ],
  };
}
