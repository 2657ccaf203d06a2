const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a header whose sender wrote UTF-8. Requests have one character per byte; other bytes stay as they are. */
export function decodeUtf8(value: string): string {
  if (!/[\u0080-\u00ff]/.test(value)) return value;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

const encodedWord = /=\?([\w-]+)(?:\*[\w-]+)?\?([bq])\?([^?\s]*)\?=/gi;

/** Decodes the encoded words of a text (RFC 2047), as in `=?utf-8?q?J=C3=B6rg?=`. Unreadable ones stay as they are. */
export const decodeWords = (value: string): string =>
  value
    // Blanks between two encoded words only separate them.
    .replace(/(\?=)\s+(?==\?)/g, "$1")
    .replace(encodedWord, (word, charset: string, encoding: string, text: string) => {
      const bytes =
        encoding.toLowerCase() === "b" ? Buffer.from(text, "base64") : decodeQuoted(text);
      try {
        return new TextDecoder(charset, { fatal: true }).decode(bytes).replace(/\p{Cc}/gu, "");
      } catch {
        return word;
      }
    });

const decodeQuoted = (text: string) =>
  Buffer.from(
    text
      .replaceAll("_", " ")
      .replace(/=([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    "latin1",
  );
