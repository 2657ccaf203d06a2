/** Reads the bodies that tools send: JSON with any Content-Type, and forms. */
import { AppError } from "../../core/errors.ts";
import { sourceBounds } from "../../core/limits.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { measureJson } from "../../core/text/json.ts";
import { invalidFieldError } from "../../core/validation.ts";

/** Deeper JSON is rejected, because parsers are recursive. */
const maxDepth = 256;
const maxValues = sourceBounds.values.value;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Returns the body as text. A form with parts becomes an ordinary form. Throws VALIDATION_ERROR for binary data. */
export async function decodeSent(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<string> {
  if (/^multipart\/form-data/i.test(contentType.trim())) {
    const sent = new Response(bytes, { headers: { "Content-Type": contentType } });
    const form = await sent.formData().catch(() => {
      throw invalidFieldError("body", "must be a complete form of the type multipart/form-data");
    });
    const entries = [...form].filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return new URLSearchParams(entries).toString();
  }
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidFieldError("body", "must be text in UTF-8");
  }
}

/** Parses JSON, or a form as an object of its fields. Throws INVALID_JSON, VALIDATION_ERROR. */
export function parseSent(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  if (/^[{["]/.test(trimmed)) return parseJson(trimmed);
  if (/^[\w.[\]%+-]+=/.test(trimmed)) return Object.fromEntries(new URLSearchParams(trimmed));
  throw notJsonError();
}

function parseJson(text: string): unknown {
  const { depth, members, values } = measureJson(text);
  if (depth > maxDepth) throw invalidFieldError("body", `must have at most ${maxDepth} levels`);
  if (members + values > maxValues)
    throw invalidFieldError("body", `must have at most ${formatCount(maxValues)} names and values`);
  try {
    return parseExactly(text);
  } catch {
    // Templates of tools insert texts with line breaks. Outside of strings, a blank is equivalent.
    try {
      return parseExactly(text.replace(/\p{Cc}/gu, " "));
    } catch {
      throw notJsonError();
    }
  }
}

/** Texts, which are skipped, and whole numbers that JavaScript can round. Only for valid JSON. */
const textOrLongNumber = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/** Parses JSON. Long whole numbers become texts, because rounded identities of two problems can be equal. */
function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  return JSON.parse(
    text.replace(textOrLongNumber, (found) => (found.startsWith('"') ? found : `"${found}"`)),
  );
}

const notJsonError = () => new AppError("INVALID_JSON", "The body is neither JSON nor a form.");
