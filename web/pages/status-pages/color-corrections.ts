import type { Look } from "../../../src/status-pages/look-schema.ts";
import { adjustColor } from "../../../src/status-pages/rendering/palette-rules.ts";
import { t } from "../../language/text.ts";

/** Describes how the page shows a color that is hard to read; undefined if it is shown as chosen. */
export function describeCorrection(look: Look, color: string): string | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(color) || !isValid(look)) return undefined;
  const { light, dark } = adjustColor(look, color);
  const corrected = [
    ...(light === color.toLowerCase() ? [] : [t("{light} in the light theme", { light })]),
    ...(dark === color.toLowerCase() ? [] : [t("{dark} in the dark theme", { dark })]),
  ];
  return corrected.length === 0
    ? undefined
    : t("For readable text: {corrected}.", { corrected: corrected.join(", ") });
}

const isValid = ({ colors, darkColors }: Look) =>
  [colors, darkColors]
    .flatMap((one) => Object.values(one))
    .every((color) => color === null || /^#[0-9a-f]{6}$/i.test(color));
