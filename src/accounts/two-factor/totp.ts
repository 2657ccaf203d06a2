/** Creates and checks the codes of authenticator apps (TOTP, RFC 6238). */
import { minuteMs } from "../../core/time/clock.ts";

// Loaded lazily, because only sign-ins with a code need it.
const loadLibrary = () => import("otpauth");

const periodMs = 30_000;
const codeOptions = { algorithm: "SHA1", digits: 6, period: 30 };

/** Creates a shared secret: 160 bits in Base32, the format of authenticator apps (RFC 4226 §4). */
export async function createTotpSecret(): Promise<string> {
  const { Secret } = await loadLibrary();
  return new Secret({ size: 20 }).base32;
}

/** Returns the content of the QR code for an authenticator app. */
export async function buildTotpUri(secret: string, label: string): Promise<string> {
  const { TOTP } = await loadLibrary();
  return new TOTP({ ...codeOptions, issuer: "Signalbox", label, secret }).toString();
}

/** Accepted clock difference in steps of 30 s, in each direction (RFC 6238 §5.2). */
const acceptedSteps = 1;
/** Range in which a wrong clock is recognized: 20 steps or 10 min. In a wider range, guesses would match too often. */
const recognizedSteps = 20;

const getStep = (now: number) => Math.floor(now / periodMs);

/** Returns the latest step that is accepted now. A later used step was stored while the clock was ahead. */
export const getLatestStep = (now: number) => getStep(now) + acceptedSteps;

/** Returns the accepted step of this code if it is later than the used step `after`; otherwise null. */
export async function findAcceptedStep(secret: string, code: string, now: number, after: number) {
  const step = await findStep(secret, code, now, acceptedSteps);
  if (step === null) return null;
  return step > after || after > getLatestStep(now) ? step : null;
}

/** Returns the step of a code from a clock that is a few minutes wrong; null for a wrong code. */
export function findStepByWrongClock(secret: string, code: string, now: number) {
  return findStep(secret, code, now, recognizedSteps);
}

/** Describes the difference between the clocks of server and authenticator. */
export function describeClockIssue(step: number, now: number): string {
  const minutes = Math.max(1, Math.round((Math.abs(step - getStep(now)) * periodMs) / minuteMs));
  return `is for another time: the clock of this server and that of your authenticator differ by about ${minutes} min. Set the clocks, then enter a new code`;
}

async function findStep(secret: string, code: string, now: number, window: number) {
  if (!/^\d{6}$/.test(code)) return null;
  const { TOTP } = await loadLibrary();
  const delta = new TOTP({ ...codeOptions, secret }).validate({
    token: code,
    timestamp: now,
    window,
  });
  return delta === null ? null : getStep(now) + delta;
}

/** Normalizes a recovery code for comparison, without hyphens and case. */
export function normalizeRecoveryCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, "");
}
