let created = Math.floor(Math.random() * 2 ** 20);

/**
 * A UUIDv7 that sorts by `unixMs`, and by creation within one millisecond of one process: 24 bits count
 * (RFC 9562, section 6.2, method 1). Bun counts as well, but begins anew when times alternate.
 */
export function newId(unixMs: number): string {
  created = (created + 1) & 0xffffff;
  const count = created.toString(16).padStart(6, "0");
  const id = Bun.randomUUIDv7("hex", unixMs);
  return `${id.slice(0, 15)}${count.slice(0, 3)}-8${count.slice(3)}${id.slice(23)}`;
}

/** The smallest id that can have been created at this time or later. */
export function firstIdAt(unixMs: number): string {
  const hex = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` characters of 0-9A-Za-z from the system's randomness; 43 of them carry 256 bits. */
export function randomToken(length: number): string {
  let token = "";
  while (token.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 248 is the largest multiple of 62 below 256: bytes above it would favour the first letters.
      if (byte < 248 && token.length < length) token += base62[byte % 62];
    }
  }
  return token;
}

export function sha256(text: string | Uint8Array): string {
  return Bun.SHA256.hash(text, "hex");
}

/** Always the same UUID (version 5) for one part of a record, which has no row of its own. */
export function derivedId(id: string, part: string): string {
  return Bun.randomUUIDv5(part, id);
}
