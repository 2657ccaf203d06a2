import { invalid } from "../../core/validation.ts";
import { beginsAs } from "../rules.ts";
import { mustBeSvg } from "./svg.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Throws VALIDATION_ERROR for bytes that are no image of this type, and for an SVG that holds more than a picture. */
export function mustBeLogo({ type, bytes }: { type: string; bytes: Uint8Array }) {
  if (type === "image/svg+xml") return mustBeSvg(utf8Of(bytes));
  if (type !== "image/png" && type !== "image/webp")
    throw new Error(`A logo of the type ${type} came past the route.`);
  if (!beginsAs(type, bytes))
    throw invalid(
      "logo",
      `must be a ${type === "image/png" ? "PNG" : "WebP"} image, as its Content-Type says`,
    );
}

function utf8Of(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid("logo", "must be an SVG in UTF-8");
  }
}
