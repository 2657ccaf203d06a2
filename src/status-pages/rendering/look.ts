/** Turns the look of a status page into CSS custom properties and classes. They are rendered with the page. */
import type { Look } from "../look-schema.ts";
import { buildPalette } from "./palette-rules.ts";

type PageLook = {
  accentColor: string | null;
  look: Look;
  /** Present on pages that load the font of the page. */
  files?: { fontStyle: string | null };
};

const fonts: Record<Look["font"], string | null> = {
  inter: null,
  system: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  serif: 'Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif',
  mono: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
};

/** Radii of cards, controls and badges. */
const corners: Record<Look["corners"], readonly [string, string, string] | null> = {
  round: null,
  small: ["4px", "3px", "2px"],
  square: ["0", "0", "0"],
};

export const logoHeights: Record<Look["logoSize"], number> = { small: 24, medium: 32, large: 56 };

/** Returns the CSS custom properties of the root element; none for the default look. */
export function buildLookStyle({ accentColor, look, files }: PageLook): Record<string, string> {
  const pageFont = files?.fontStyle ? '"Page font", ' : "";
  const font = fonts[look.font] ?? (pageFont === "" ? null : fonts.system);
  const radii = corners[look.corners];
  return {
    ...buildPalette(look, accentColor),
    ...(font !== null && { "--font": pageFont + font }),
    ...(radii !== null && { "--r-l": radii[0], "--r": radii[1], "--r-s": radii[2] }),
  };
}

/** Returns the classes of the frame around a page. */
export function listLookClasses({ header, layout }: Look): string {
  return [
    "wrap",
    ...(header === "centered" ? ["centered"] : []),
    ...(layout === "list" ? [] : [layout]),
  ].join(" ");
}
