// Loaded only for sign-ins with a code.
const library = () => import("otpauth");

const periodMs = 30_000;
const shape = { algorithm: "SHA1", digits: 6, period: 30 };

/** A new shared secret: 160 bits in Base32, the format of authenticator apps (RFC 4226 §4). */
export async function newTotpSecret(): Promise<string> {
  const { Secret } = await library();
  return new Secret({ size: 20 }).base32;
}

/** Content of the QR code for an authenticator app. */
export async function totpUri(secret: string, label: string): Promise<string> {
  const { TOTP } = await library();
  return new TOTP({ ...shape, issuer: "Signalbox", label, secret }).toString();
}

/** Accepted clock drift in steps of 30 s, each way (RFC 6238 §5.2). */
const acceptedSteps = 1;
/** Steps in which a wrong clock is recognized: 10 min. In a longer range guesses would often match. */
const recognizedSteps = 20;

const stepAt = (now: number) => Math.floor(now / periodMs);

/** Latest step of a code that is accepted now. A used step beyond it was stored while the clock was ahead. */
export const latestStep = (now: number) => stepAt(now) + acceptedSteps;

/** The accepted step of this code, later than the used step `after`; null for a wrong code. */
export async function stepOfCode(secret: string, code: string, now: number, after: number) {
  const step = await findStep(secret, code, now, acceptedSteps);
  if (step === null) return null;
  return step > after || after > latestStep(now) ? step : null;
}

/** The step of a code that a clock a few minutes wrong would give; null for a wrong code. */
export function stepByWrongClock(secret: string, code: string, now: number) {
  return findStep(secret, code, now, recognizedSteps);
}

/** Reports a wrong clock and its offset. */
export function clockIssue(step: number, now: number): string {
  const minutes = Math.max(1, Math.round((Math.abs(step - stepAt(now)) * periodMs) / 60_000));
  return `is of another time: the clock of this server and that of your authenticator differ by about ${minutes} min. Set the clocks, then enter a new code`;
}

async function findStep(secret: string, code: string, now: number, window: number) {
  if (!/^\d{6}$/.test(code)) return null;
  const { TOTP } = await library();
  const delta = new TOTP({ ...shape, secret }).validate({ token: code, timestamp: now, window });
  return delta === null ? null : stepAt(now) + delta;
}

/** Normalizes a recovery code for comparison: hyphens and case do not matter. */
export function plainRecoveryCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, "");
}
