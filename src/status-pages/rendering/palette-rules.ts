/** Derives all colors of a status page from its few chosen ones, with the contrast that texts and bars need. */
import type { Look } from "../look-schema.ts";

type Rgb = readonly [number, number, number];

const themes = ["light", "dark"] as const;
type ThemeName = (typeof themes)[number];
type PerTheme<T> = Record<ThemeName, T>;

/** Colors of a page without a look, as in `tokens.css`. */
const defaultGrounds: PerTheme<{ background: string; surface: string; text: string }> = {
  light: { background: "#fbfbfa", surface: "#ffffff", text: "#1c1b19" },
  dark: { background: "#121211", surface: "#191918", text: "#efeeea" },
};
const defaultAccents: PerTheme<string> = { light: "#2f4fd8", dark: "#8fa5ff" };

export const stateNames = ["up", "degraded", "down", "maintenance", "none"] as const;
type StateName = (typeof stateNames)[number];

const standardStates: PerTheme<Record<StateName, string>> = {
  light: {
    up: "#107654",
    degraded: "#935d00",
    down: "#c2273b",
    maintenance: "#5a4fc9",
    none: "#6f6c66",
  },
  dark: {
    up: "#58c99d",
    degraded: "#e8b252",
    down: "#f2808a",
    maintenance: "#b3abf5",
    none: "#96928a",
  },
};

/** Colors that remain different with each kind of color blindness (Okabe and Ito, “Color Universal Design”, 2008). */
export const colorBlindStates: Record<StateName, string> = {
  up: "#0072b2",
  degraded: "#e69f00",
  down: "#d55e00",
  maintenance: "#cc79a7",
  none: "#7f7f7f",
};

/** Minimum contrast of normal-size text (WCAG 2.2 §1.4.3). */
const minContrast = 4.5;
/** Minimum contrast of bars, whose height and title also show the state. */
const minBarContrast = 2;

export type Colors = Pick<Look, "colors" | "darkColors" | "stateColors" | "stateSet">;

/** Returns the first unreadable text color with the issue and its field; null if all texts are readable. */
export function findUnreadableText(look: Colors): { field: string; issue: string } | null {
  for (const theme of themes) {
    const field = theme === "light" ? "colors" : "darkColors";
    const chosen = look[field];
    const { background, surface, text } = resolveGrounds(look, theme);
    const grounds = [background, surface];
    const contrast = Math.min(...grounds.map((ground) => computeContrast(text, ground)));
    if (contrast >= minContrast) continue;
    const readable = ["#1c1b19", "#000000", "#ffffff"].find((hex) =>
      grounds.every((ground) => computeContrast(parseHex(hex), ground) >= minContrast),
    );
    const remedy =
      readable === undefined
        ? "choose a background and a surface that are both light or both dark"
        : `use ${readable}, for example`;
    const roundedContrast = Math.floor(contrast * 10) / 10;
    return {
      field: `look.${field}.${chosen.text === null ? "background" : "text"}`,
      issue: `gives texts a contrast of only ${roundedContrast} on the background or surface; at least ${minContrast} is needed: ${remedy}${chosen.text === null && readable !== undefined ? ` as text` : ""}`,
    };
  }
  return null;
}

function resolveGrounds(look: Colors, theme: ThemeName) {
  const { colors, darkColors } = look;
  const chosen = theme === "light" ? colors : darkColors;
  const pick = (name: keyof typeof chosen) => parseHex(chosen[name] ?? defaultGrounds[theme][name]);
  return { background: pick("background"), surface: pick("surface"), text: pick("text") };
}

/**
 * Returns the CSS custom properties of a page's colors; none for the default look. Colors that are hard to read are
 * mixed with as little black or white as needed.
 */
export function buildPalette(look: Colors, accentColor: string | null): Record<string, string> {
  const light = buildTheme(look, accentColor, "light");
  const dark = buildTheme(look, accentColor, "dark");
  return Object.fromEntries(
    Object.entries(light).map(([name, color]) => [name, `light-dark(${color}, ${dark[name]})`]),
  );
}

/** Returns the color of a state or accent as the page shows it in each theme. */
export function adjustColor(look: Colors, color: string): PerTheme<string> {
  const adjust = (theme: ThemeName) => {
    const { background, surface, text } = resolveGrounds(look, theme);
    return formatHex(adjustUntil(parseHex(color), [background, surface], minContrast, text));
  };
  return { light: adjust("light"), dark: adjust("dark") };
}

/** Whether the look changes the background, surface or text of one of the themes. */
const hasOwnGrounds = ({ colors, darkColors }: Colors) =>
  [colors, darkColors].some((one) => Object.values(one).some((color) => color !== null));

function buildTheme(look: Colors, accentColor: string | null, theme: ThemeName) {
  const grounds = resolveGrounds(look, theme);
  const isOwn = hasOwnGrounds(look);
  const palette: Record<string, Rgb> = {};
  const softs: Rgb[] = [];
  for (const state of stateNames) {
    const chosen =
      look.stateColors[state] ??
      (look.stateSet === "color-blind" ? colorBlindStates[state] : null) ??
      (isOwn ? standardStates[theme][state] : null);
    if (chosen === null) continue;
    const colors = buildState(parseHex(chosen), grounds);
    softs.push(colors.soft);
    const name = state === "maintenance" ? "maint" : state;
    palette[`--${name}`] = colors.text;
    palette[`--${name}-bar`] = colors.bar;
    palette[`--${name}-soft`] = colors.soft;
    if (state === "up") palette["--up-calm"] = colors.calm;
  }
  if (isOwn) Object.assign(palette, buildSurfaces(grounds, softs));
  if (isOwn || accentColor !== null) {
    const { background, surface, text } = grounds;
    const color = parseHex(accentColor ?? defaultAccents[theme]);
    const accent = adjustUntil(color, [background, surface], minContrast, text);
    palette["--accent"] = accent;
    if (isOwn) palette["--on-accent"] = selectReadable(accent);
  }
  return Object.fromEntries(
    Object.entries(palette).map(([name, color]) => [name, formatHex(color)]),
  );
}

type Grounds = ReturnType<typeof resolveGrounds>;

function buildState(color: Rgb, { background, surface, text }: Grounds) {
  const soft = mixUntil(color, surface, 0.12, (one) => computeContrast(text, one) >= minContrast);
  return {
    text: adjustUntil(color, [background, surface, soft], minContrast, text),
    bar: adjustUntil(color, [surface], minBarContrast, text),
    calm: adjustUntil(mixColors(color, surface, 0.55), [surface], 1.5, text),
    soft,
  };
}

function buildSurfaces({ background, surface, text }: Grounds, softs: readonly Rgb[]) {
  const fadeText = (share: number) =>
    mixUntil(background, text, share, (one) =>
      [background, surface, ...softs].every(
        (ground) => computeContrast(one, ground) >= minContrast,
      ),
    );
  return {
    "--bg": background,
    "--panel": surface,
    "--raise": mixColors(text, surface, 0.05),
    "--line": mixColors(text, surface, 0.11),
    "--line-strong": mixColors(text, surface, 0.2),
    "--ink": text,
    "--ink-2": fadeText(0.3),
    "--ink-3": fadeText(0.4),
  };
}

/** Mixes `share` of a color into another. */
const mixColors = (color: Rgb, into: Rgb, share: number) =>
  into.map((one, at) => Math.round(one + ((color[at] ?? 0) - one) * share)) as unknown as Rgb;

/** Mixes the largest accepted share of a color into another, at most `share`. */
function mixUntil(color: Rgb, into: Rgb, share: number, isAccepted: (mixed: Rgb) => boolean): Rgb {
  for (let part = share; part > 0; part -= 0.02) {
    const mixed = mixColors(color, into, part);
    if (isAccepted(mixed)) return mixed;
  }
  return into;
}

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];

/** Returns black or white, whichever is more readable on the color. */
const selectReadable = (ground: Rgb) =>
  computeContrast(white, ground) >= computeContrast(black, ground) ? white : black;

/** Mixes a color with black or white until it has the contrast with all grounds; else returns the text color. */
function adjustUntil(color: Rgb, grounds: readonly Rgb[], least: number, text: Rgb): Rgb {
  const towards = computeContrast(text, white) > computeContrast(text, black) ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mixColors(towards, color, share);
    if (grounds.every((ground) => computeContrast(mixed, ground) >= least)) return mixed;
  }
  return text;
}

function parseHex(hex: string): Rgb {
  const parseChannel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [parseChannel(1), parseChannel(3), parseChannel(5)];
}

const formatHex = (color: Rgb) =>
  `#${color.map((one) => one.toString(16).padStart(2, "0")).join("")}`;

function computeContrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [computeLuminance(one), computeLuminance(other)].sort(
    (a, b) => a - b,
  );
  return (lighter + 0.05) / (darker + 0.05);
}

/** Computes the relative luminance, 0–1 (WCAG 2.2). */
function computeLuminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((one) => {
    const share = one / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
