// Only those who sign in with a code need the library.
const library = () => import("otpauth");

const periodMs = 30_000;
const shape = { algorithm: "SHA1", digits: 6, period: 30 };

/** A new shared secret: 160 bits in Base32, as authenticators take it (RFC 4226 §4). */
export async function newTotpSecret(): Promise<string> {
  const { Secret } = await library();
  return new Secret({ size: 20 }).base32;
}

/** What a QR code for an authenticator says. */
export async function totpUri(secret: string, label: string): Promise<string> {
  const { TOTP } = await library();
  return new TOTP({ ...shape, issuer: "Signalbox", label, secret }).toString();
}

/** The step that this code belongs to, at most one away from now (RFC 6238 §5.2) and later than `after`; null for a wrong code. */
export async function stepOfCode(secret: string, code: string, now: number, after: number) {
  if (!/^\d{6}$/.test(code)) return null;
  const { TOTP } = await library();
  const totp = new TOTP({ ...shape, secret });
  const delta = totp.validate({ token: code, timestamp: now, window: 1 });
  if (delta === null) return null;
  const step = Math.floor(now / periodMs) + delta;
  return step > after ? step : null;
}

/** A recovery code as it is compared: written without its hyphens, or in capitals, it is the same one. */
export function plainRecoveryCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]/g, "");
}
