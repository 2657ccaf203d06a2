import { expect, test } from "bun:test";
import fc from "fast-check";
import { defaultLook } from "../../src/status-pages/look-schema.ts";
import {
  buildPalette,
  colorBlindStates,
  findUnreadableText,
  stateNames,
} from "../../src/status-pages/rendering/palette-rules.ts";

const buildChannels = (hex: string) =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const buildLuminance = (hex: string) => {
  const [red = 0, green = 0, blue = 0] = buildChannels(hex)
    .map((one) => one / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const buildContrast = (one: string, other: string) => {
  const [darker = 0, lighter = 0] = [buildLuminance(one), buildLuminance(other)].sort(
    (a, b) => a - b,
  );
  return (lighter + 0.05) / (darker + 0.05);
};

const hex = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, "0")}`);

const readTokens = async () => {
  const tokens = await Bun.file("web/theme/tokens.css").text();
  return (name: string) => {
    const [, light = "", dark = ""] =
      new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
    return [light, dark].map((one) => (one.length === 4 ? one.replace(/\w/g, "$&$&") : one));
  };
};

test("any accent is legible on the page, on a panel and behind button text, in both themes", async () => {
  const grounds = ["bg", "panel", "on-accent"].map(await readTokens());
  fc.assert(
    fc.property(hex, (color) => {
      const accents = buildPalette(defaultLook, color)["--accent"]?.match(/#\w{6}/g) ?? [];
      for (const ground of grounds)
        for (const theme of [0, 1])
          expect(buildContrast(accents[theme] ?? "", ground[theme] ?? "")).toBeGreaterThanOrEqual(
            4.5,
          );
    }),
  );
});

test("with any accepted palette, texts, states and accent are legible on every ground, in both themes", () => {
  const maybe = fc.option(hex, { nil: null, freq: 3 });
  const grounds = fc.record({ background: maybe, surface: maybe, text: maybe });
  const states = fc.record({
    up: maybe,
    degraded: maybe,
    down: maybe,
    maintenance: maybe,
    none: maybe,
  });
  fc.assert(
    fc.property(grounds, grounds, states, maybe, (colors, darkColors, stateColors, accent) => {
      const look = { ...defaultLook, colors, darkColors, stateColors };
      fc.pre(findUnreadableText(look) === null);
      fc.pre(Object.values({ ...colors, ...darkColors }).some((one) => one !== null));
      const palette = buildPalette(look, accent);
      const at = (name: string, theme: number) => palette[name]?.match(/#\w{6}/g)?.[theme] ?? "";
      for (const theme of [0, 1]) {
        const isLegible = (text: string, ...on: string[]) => {
          for (const ground of on)
            expect(buildContrast(at(text, theme), at(ground, theme))).toBeGreaterThanOrEqual(4.5);
        };
        for (const text of ["--ink", "--ink-2", "--ink-3", "--accent"])
          isLegible(text, "--bg", "--panel");
        for (const state of ["up", "degraded", "down", "maint", "none"]) {
          isLegible(`--${state}`, "--bg", "--panel", `--${state}-soft`);
          isLegible("--ink-2", `--${state}-soft`);
        }
        isLegible("--on-accent", "--accent");
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  [{ text: "#777777" }, "look.colors.text", "use #1c1b19"],
  [{ background: "#101010", surface: "#000000" }, "look.colors.background", "use #ffffff"],
  [{ background: "#101010" }, "look.colors.background", "both light or both dark"],
])("unreadable colors %p are rejected with a color that works", (colors, field, remedy) => {
  const noColors = { background: null, surface: null, text: null };
  const found = findUnreadableText({ ...defaultLook, colors: { ...noColors, ...colors } });
  expect(found?.field).toBe(field);
  expect(found?.issue).toContain(remedy);
});

test("the default look writes no colors", () => {
  expect(buildPalette(defaultLook, null)).toEqual({});
  expect(findUnreadableText(defaultLook)).toBeNull();
});

/** Simulates missing red, green or blue cones (Viénot, Brettel and Mollon 1999; Machado et al. 2009, severity 1). */
const simulations = {
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};

test.each(Object.entries(simulations))(
  "the bars of the set for color blindness differ with %s",
  (_kind, matrix) => {
    const toLinear = (one: number) =>
      one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
    const see = (color: string) => {
      const rgb = buildChannels(color).map((one) => toLinear(one / 255));
      const lms = [0, 3, 6].map((row) =>
        rgb.reduce((sum, one, at) => sum + one * (matrix[row + at] ?? 0), 0),
      );
      const [r = 0, g = 0, b = 0] = lms;
      const buildRoot = (one: number) => Math.cbrt(Math.max(0, one));
      const [l, m, s] = [
        buildRoot(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
        buildRoot(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b),
        buildRoot(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b),
      ];
      return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
      ];
    };
    const states = stateNames.filter((name) => name !== "none");
    for (const one of states)
      for (const other of states.filter((name) => name !== one)) {
        const [a, b] = [see(colorBlindStates[one]), see(colorBlindStates[other])];
        const distance = Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)));
        expect({ one, other, distance: distance > 0.08 ? "ok" : distance }).toMatchObject({
          distance: "ok",
        });
      }
  },
);
