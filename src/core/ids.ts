let createdCount = Math.floor(Math.random() * 2 ** 20);

/**
 * Returns a UUIDv7 that sorts by `unixMs`. IDs of one process and millisecond sort by creation, through a 24-bit
 * counter (RFC 9562 §6.2, method 1). Bun's own counter restarts when timestamps alternate.
 */
export function createId(unixMs: number): string {
  createdCount = (createdCount + 1) & 0xffffff;
  const count = createdCount.toString(16).padStart(6, "0");
  const id = Bun.randomUUIDv7("hex", unixMs);
  return `${id.slice(0, 15)}${count.slice(0, 3)}-8${count.slice(3)}${id.slice(23)}`;
}

/** Returns the smallest possible ID with this timestamp, as the lower bound of a query by time. */
export function buildFirstId(unixMs: number): string {
  const hex = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns `length` random characters of 0-9A-Za-z. 43 characters have 256 bits of entropy. */
export function createToken(length: number): string {
  let token = "";
  while (token.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 248 is the largest multiple of 62 below 256. Larger bytes would make the first characters more frequent.
      if (byte < 248 && token.length < length) token += base62[byte % 62];
    }
  }
  return token;
}

/** Returns `length` random digits. */
export function createDigits(length: number): string {
  let digits = "";
  while (digits.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 250 is the largest multiple of 10 below 256.
      if (byte < 250 && digits.length < length) digits += String(byte % 10);
    }
  }
  return digits;
}

export function sha256(text: string | Uint8Array): string {
  return Bun.SHA256.hash(text, "hex");
}

/** Derives a stable UUIDv5 for a part of a record that has no row. */
export function deriveId(id: string, part: string): string {
  return Bun.randomUUIDv5(part, id);
}
