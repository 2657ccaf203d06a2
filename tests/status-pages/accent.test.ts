import { expect, test } from "bun:test";
import fc from "fast-check";
import { adjustAccent } from "../../src/status-pages/rendering/accent.ts";

const luminance = (hex: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one: string, other: string) => {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
};

test("any accent is legible on the page, on a panel and behind button text, in both themes", async () => {
  const tokens = await Bun.file("web/theme/tokens.css").text();
  const token = (name: string) => {
    const [, light = "", dark = ""] =
      new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
    return [light, dark].map((hex) => (hex.length === 4 ? hex.replace(/\w/g, "$&$&") : hex));
  };
  const grounds = ["bg", "panel", "on-accent"].map(token);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
      const css = adjustAccent(`#${number.toString(16).padStart(6, "0")}`);
      const accents = css.match(/#\w{6}/g) ?? [];
      for (const ground of grounds)
        for (const theme of [0, 1])
          expect(contrast(accents[theme] ?? "", ground[theme] ?? "")).toBeGreaterThanOrEqual(4.5);
    }),
  );
});
