const decodeBase64 = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

/** The header of a WOFF2 file without tables, with its length. */
export const emptyFont = new Uint8Array(48);
emptyFont.set([0x77, 0x4f, 0x46, 0x32]);
emptyFont[11] = 48;

/** A transparent pixel as a valid file of each type. */
export const pixel = {
  png: decodeBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  ),
  webp: decodeBase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
  svg: new TextEncoder().encode(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>',
  ),
};
