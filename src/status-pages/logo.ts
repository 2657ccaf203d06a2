import { invalid } from "../core/validation.ts";
import { beginsAs } from "./rules.ts";
import { flawOfSvg } from "./svg.ts";

const svg = "image/svg+xml";
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What keeps an image that was sent as this type from being a page's logo; null for nothing. */
function flawOfLogo(type: string, bytes: Uint8Array): string | null {
  if (type === svg) {
    const text = utf8Of(bytes);
    return text === null ? "must be an SVG in UTF-8" : flawOfSvg(text);
  }
  if (type !== "image/png" && type !== "image/webp")
    throw new Error(`A logo of the type ${type} came past the route.`);
  return beginsAs(type, bytes)
    ? null
    : `must be a ${type === "image/png" ? "PNG" : "WebP"} image, as its Content-Type says`;
}

/** Throws VALIDATION_ERROR. */
export function mustBeLogo({ type, bytes }: { type: string; bytes: Uint8Array }) {
  const issue = flawOfLogo(type, bytes);
  if (issue !== null) throw invalid("logo", issue);
}

/** Verdicts on stored images, so many at most: those of earlier versions were judged by other rules. */
const judged = new Map<number | bigint, boolean>();
const maxJudged = 1_000;

/** Whether strangers may be shown a stored image. */
export function isServable({ type, bytes }: { type: string; bytes: Uint8Array }): boolean {
  const key = Bun.hash(bytes);
  const verdict = judged.get(key) ?? flawOfLogo(type, bytes) === null;
  if (!judged.has(key) && judged.size >= maxJudged) judged.clear();
  judged.set(key, verdict);
  return verdict;
}

function utf8Of(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
