import { isIP } from "node:net";
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import { expiryOf } from "../certificates.ts";
import { CheckFailure, type CheckKind, since } from "../check.ts";
import { reasonOf } from "../reasons.ts";
import { connected } from "./tcp.ts";

/** Up when the certificate is trusted, for this name and not about to end. */
export const checkTls: CheckKind<"tls"> = async (settings, context) => {
  const startedAt = performance.now();
  const name = settings.serverName ?? settings.host;
  const socket = await connected(settings.host, settings.port, context);
  context.step = "waiting for the answer";
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  // The certificate is judged below, so that its end is known also where it is not trusted.
  const secured: TLSSocket = connect(
    { socket, rejectUnauthorized: false, ...(isIP(name) === 0 && { servername: name }) },
    () => resolve(secured),
  );
  secured.on("error", reject);
  socket.on("close", () => reject(new CheckFailure("The connection was closed during TLS.")));
  await promise;
  const latencyMs = since(startedAt);
  const certificate = secured.getPeerCertificate();
  if (certificate?.valid_to === undefined)
    throw new CheckFailure("The server showed no certificate.");
  const certificateExpiresAt = new Date(certificate.valid_to).toISOString();
  const found = { latencyMs, certificateExpiresAt };
  const flaw = flawOf(secured, name);
  if (flaw !== null) return { status: "down", message: flaw, ...found };
  const expiry = expiryOf(certificateExpiresAt, settings.certificateExpiryDays, context.now());
  if (expiry !== null) return { status: "degraded", message: expiry, ...found };
  const until = certificateExpiresAt.slice(0, 10);
  return { status: "up", message: `The certificate is valid until ${until}.`, ...found };
};

/** Chain and dates first, then the name (RFC 6125). */
function flawOf(secured: TLSSocket, name: string): string | null {
  // Typed as an Error, it is the code alone.
  const untrusted = secured.authorizationError as unknown as string | null | undefined;
  if (untrusted) return reasonOf(untrusted) ?? "The certificate is not valid.";
  const mismatch = checkServerIdentity(name, secured.getPeerCertificate());
  return mismatch === undefined ? null : "The certificate is for another name.";
}
