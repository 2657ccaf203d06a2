/** Backgrounds with the lowest contrast: the page in the light theme, panels in the dark theme. */
const grounds = { light: [251, 251, 250], dark: [25, 25, 24] } as const;
/** Minimum contrast of normal-size text (WCAG 2.2 §1.4.3). */
const minContrast = 4.5;

export type Rgb = readonly [number, number, number];

/** Returns the accent colour as CSS, mixed with as little black or white as each theme needs for readable text. */
export function adjustAccent(hex: string): string {
  const parseChannel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  const colour: Rgb = [parseChannel(1), parseChannel(3), parseChannel(5)];
  return `light-dark(${adjustUntilReadable(colour, grounds.light, 0)}, ${adjustUntilReadable(colour, grounds.dark, 255)})`;
}

function adjustUntilReadable(colour: Rgb, ground: Rgb, towards: number): string {
  for (let share = 0; ; share += 0.05) {
    const mixed = colour.map((one) => Math.round(one + (towards - one) * share)) as unknown as Rgb;
    if (share >= 1 || computeContrast(mixed, ground) >= minContrast)
      return `#${mixed.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
  }
}

function computeContrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [computeLuminance(one), computeLuminance(other)].sort(
    (a, b) => a - b,
  );
  return (lighter + 0.05) / (darker + 0.05);
}

/** Computes the relative luminance, 0–1 (WCAG 2.2). */
function computeLuminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((one) => {
    const share = one / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
