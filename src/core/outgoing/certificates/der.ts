/** Reads DER, the encoding of certificates (ITU-T X.690). */

export type Element = { tag: number; content: Buffer };

/** Reads a sequence of DER elements. Ignores a truncated one at the end. */
export function parseElements(der: Buffer): Element[] {
  const found: Element[] = [];
  let at = 0;
  while (at + 2 <= der.length) {
    const [tag = 0, first = 0] = der.subarray(at, at + 2);
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > 4 || start > der.length) break;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    if (start + length > der.length) break;
    found.push({ tag, content: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
