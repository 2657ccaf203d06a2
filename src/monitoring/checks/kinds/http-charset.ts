/** Determines the charset of a response body. Labels: https://encoding.spec.whatwg.org */
import { TargetFailure } from "../../../core/outgoing/failures.ts";

/** Bytes in which a body can declare its charset: https://html.spec.whatwg.org/#determining-the-character-encoding */
export const declarationBytes = 1024;

/** Charset parameter of a Content-Type, with or without quotes (RFC 9110 §8.3.2). */
const parameterPattern = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;,\s]*))/i;
const xmlDeclarationPattern = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)["']/i;
const commentPattern = /<!--[^]*?(?:-->|$)/g;
const metaPattern = /<meta[\s/](?:"[^"]*"|'[^']*'|[^"'>])*/gi;
const attributePattern =
  /(?<=[\s/"'])(charset|content|http-equiv)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+?)(?=\/?(?:\s|$)))/gi;

/** Encodings that the standard does not decode, because they can hide markup. */
const unreadablePattern =
  /^(csiso2022kr|hz-gb-2312|iso-2022-cn|iso-2022-cn-ext|iso-2022-kr|replacement)$/i;

/** Looks up an encoding by its label; null for an unknown label. Throws TargetFailure for an unreadable encoding. */
function lookUpEncoding(label: string | undefined): Bun.Encoding | null {
  const name = label?.trim() ?? "";
  if (name === "") return null;
  if (unreadablePattern.test(name))
    throw new TargetFailure("The response has a charset that can't be decoded.");
  try {
    return new TextDecoder(name as Bun.Encoding).encoding as Bun.Encoding;
  } catch {
    return null;
  }
}

function detectByMark([first, second, third]: Uint8Array): Bun.Encoding | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be" as Bun.Encoding;
  return first === 0xff && second === 0xfe ? "utf-16le" : null;
}

/** Detects UTF-16 without a byte order mark. JSON and XML start with an ASCII character, so one byte is 0. */
function detectByZeros([first, second]: Uint8Array): Bun.Encoding | null {
  if (first === undefined || second === undefined || (first === 0) === (second === 0)) return null;
  return first === 0 ? ("utf-16be" as Bun.Encoding) : "utf-16le";
}

/** Finds the charset in `<meta>` elements: in `charset`, or in the `content` of an `http-equiv` Content-Type. */
function findMetaLabel(text: string): string | undefined {
  for (const [element] of text.matchAll(metaPattern)) {
    const attributes = new Map(
      Array.from(element.matchAll(attributePattern), ([, name = "", double, single, plain]) => [
        name.toLowerCase(),
        double ?? single ?? plain ?? "",
      ]),
    );
    const isType = attributes.get("http-equiv")?.toLowerCase() === "content-type";
    const content = isType ? (attributes.get("content") ?? "") : "";
    const label =
      attributes.get("charset") ?? /charset\s*=\s*["']?\s*([^\s"';]+)/i.exec(content)?.[1];
    if (label !== undefined) return label;
  }
  return undefined;
}

/** Reads the declaration in the body. UTF-16 can't be correct, because the declaration itself is ASCII. */
function detectByDeclaration(start: Uint8Array): Bun.Encoding | null {
  const text = Buffer.from(start).toString("latin1").replace(commentPattern, "");
  const declared = lookUpEncoding(xmlDeclarationPattern.exec(text)?.[1] ?? findMetaLabel(text));
  return declared?.startsWith("utf-16") ? "utf-8" : declared;
}

/** Reads the encoding from a Content-Type; null for a missing or unknown label. Throws TargetFailure. */
function parseContentTypeEncoding(contentType: string): Bun.Encoding | null {
  const [, double, single, plain] = parameterPattern.exec(contentType) ?? [];
  return lookUpEncoding(double ?? single ?? plain);
}

/** Whether the Content-Type determines the charset, unless the body has a byte order mark. Throws TargetFailure. */
export const isDeclared = (contentType: string): boolean =>
  /^text\/event-stream\b/i.test(contentType) || parseContentTypeEncoding(contentType) !== null;

/** Determines the charset by byte order mark, Content-Type or declaration, in this order. Defaults to UTF-8. */
export function detectCharset(contentType: string, body: Uint8Array): Bun.Encoding {
  const start = body.subarray(0, declarationBytes);
  const mark = detectByMark(start);
  if (mark !== null) return mark;
  const declaredEncoding = parseContentTypeEncoding(contentType);
  if (declaredEncoding !== null) return declaredEncoding;
  const type = /^[^;\s]*/.exec(contentType)?.[0].toLowerCase() ?? "";
  if (/[/+](json|xml)$/.test(type)) {
    const wide = detectByZeros(start);
    if (wide !== null) return wide;
  }
  const mayDeclare = type === "" || /html|xml/.test(type);
  return (mayDeclare ? detectByDeclaration(start) : null) ?? "utf-8";
}
