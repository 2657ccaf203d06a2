/** Errors of outgoing connections: failures of the target, and local failures. */
import { capitalize } from "../text/formatting.ts";

/** The target misbehaved. The message describes it in one sentence. */
export class TargetFailure extends Error {
  /** Whether a retry is pointless. */
  readonly isFinal: boolean;
  /** The message with the received data, for authorized readers; absent without data. */
  readonly serverText: string | undefined;

  constructor(message: string, isFinal = false, serverText?: string) {
    super(message);
    this.isFinal = isFinal;
    this.serverText = serverText;
  }
}

/** No connection could be established. */
export class ConnectFailure extends TargetFailure {
  constructor(message = "No connection could be established.") {
    super(message);
  }
}

/** A name server that the target names does not respond. */
export class ResolverFailure extends TargetFailure {}

/** The certificate of the target is not trusted. */
export class CertificateFailure extends TargetFailure {
  /** SHA-256 of the certificate. */
  readonly fingerprint: string;

  constructor({ issue, fingerprint }: { issue: string; fingerprint: string }) {
    super(issue);
    this.fingerprint = fingerprint;
  }
}

/** The target guard does not allow this target or proxy. */
export class BlockedTarget extends TargetFailure {
  /** The blocked address; null if the name itself is blocked. */
  readonly address: string | null;

  constructor(issue: string, address: string | null, role: "target" | "proxy" = "target") {
    super(`Blocked: the ${role} ${issue}.`, true);
    this.address = address;
  }
}

/** The attempt failed for a local reason, which leaves the state of the target unknown. */
export class LocalFailure extends Error {
  /** Whether the cause affects all targets of this machine. */
  readonly isOfMachine: boolean;

  constructor(message: string, isOfMachine = false) {
    super(message);
    this.isOfMachine = isOfMachine;
  }
}

/** Returns why a connection failed, as a sentence; null for other errors, because they can contain a secret. */
export function findFailureReason(error: unknown): string | null {
  if (error instanceof TargetFailure) return error.message;
  return error instanceof LocalFailure ? `${capitalize(error.message)}.` : null;
}
