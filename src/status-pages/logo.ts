import { invalid } from "../base/validation.ts";
import { beginsAs } from "./rules.ts";
import { cleanSvg, SvgFlaw } from "./svg.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The bytes to keep of an image that was sent as this type; of an SVG what draws it. Throws VALIDATION_ERROR. */
export function storableLogo({ type, bytes }: { type: string; bytes: Uint8Array }): Uint8Array {
  if (type === "image/svg+xml") return Buffer.from(cleaned(bytes));
  if (type !== "image/png" && type !== "image/webp")
    throw new Error(`A logo of the type ${type} came past the route.`);
  if (!beginsAs(type, bytes))
    throw invalid(
      "logo",
      `must be a ${type === "image/png" ? "PNG" : "WebP"} image, as its Content-Type says`,
    );
  return bytes;
}

function cleaned(bytes: Uint8Array): string {
  const text = utf8Of(bytes);
  try {
    return cleanSvg(text);
  } catch (error) {
    if (error instanceof SvgFlaw) throw invalid("logo", error.message);
    throw error;
  }
}

function utf8Of(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid("logo", "must be an SVG in UTF-8");
  }
}
