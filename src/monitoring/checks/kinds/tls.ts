import { type CheckKind, describeExpiry, expirySubjects, measureElapsedMs } from "../check.ts";
import type { Cause } from "../../../core/causes.ts";
import { formatUtcMinute } from "../../../core/time/clock.ts";
import { buildSecuredDetails } from "../protocols/conversation.ts";
import { dial } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/** Up when the certificate is trusted and valid for this name, degraded when it expires soon. */
export const checkTls: CheckKind<"tls"> = async (settings, context) => {
  const startedAt = performance.now();
  const { host, port, serverName, certificateExpiryDays } = settings;
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const { secured } = await dial(addresses, port, context, { name: serverName ?? host });
  const latencyMs = measureElapsedMs(startedAt);
  const certificateExpiresAt = secured?.certificateExpiresAt ?? null;
  if (secured === null || certificateExpiresAt === null)
    throw new TargetFailure("The server sent no certificate.");
  const found = { latencyMs, certificateExpiresAt, details: buildSecuredDetails(secured) };
  if (secured.issue !== null) {
    const causes: Cause[] = [{ kind: "certificate", value: secured.fingerprint }];
    return { status: "down", message: secured.issue, ...found, causes };
  }
  const expiry = describeExpiry(
    certificateExpiresAt,
    certificateExpiryDays,
    context.now(),
    secured.expires,
  );
  if (expiry !== null) return { status: "degraded", message: expiry, ...found };
  const until = formatUtcMinute(certificateExpiresAt);
  const message =
    secured.expires === "certificate"
      ? `The certificate is valid until ${until}.`
      : `The certificate is valid. ${expirySubjects[secured.expires]} expires before it, on ${until}.`;
  return { status: "up", message, ...found };
};
