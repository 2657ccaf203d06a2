import type { XmlElement } from "@rgrove/parse-xml";

type Attributes = XmlElement["attributes"];

const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;
const numbersOf = (text: string) => (text.match(number) ?? []).map((one) => Math.abs(Number(one)));
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
const maxOf = (numbers: readonly number[]) => numbers.reduce((max, one) => Math.max(max, one), 0);

/** Not fewer than a shape has points: a command may stand without a number, as `z` does. */
export function pointsOf({ d = "", points = "" }: Attributes): number {
  return 2 + ((d + points).match(/[a-z]|\d+/gi)?.length ?? 0);
}

/** Not less than a path is long. What a curve's end is told from lies at most as far away as all before it. */
function pathLengthOf(d: string): number {
  let walked = 0;
  let farthest = 0;
  let jumps = 0;
  let mirrored = 0;
  for (const [, command = "", rest = ""] of d.matchAll(/([a-df-z])([^a-df-z]*)/gi)) {
    const numbers = numbersOf(rest);
    if (/t/i.test(command)) mirrored += numbers.length;
    if (/[a-y]/.test(command)) walked += sumOf(numbers);
    else {
      farthest = Math.max(farthest, maxOf(numbers));
      jumps += Math.max(1, numbers.length);
    }
  }
  const round = /a/i.test(d) ? 7 : 1;
  return 2 * round * (walked + (jumps + mirrored ** 2) * (farthest + walked));
}

const sizes = ["x", "y", "width", "height", "r", "rx", "ry", "cx", "cy", "x1", "y1", "x2", "y2"];
const plainNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:px)?\s*$/i;

/** Not less than a shape's outline is long; infinite where that can't be told. */
function lengthOf({ name, attributes }: XmlElement): number {
  if (/(?:^|:)t(?:ext|span|extpath)$/i.test(name)) return Infinity;
  const told = sizes.flatMap((size) => attributes[size] ?? []);
  if (!told.every((value) => value.length < 50 && plainNumber.test(value))) return Infinity;
  const corners = numbersOf(attributes["points"] ?? "");
  const length =
    pathLengthOf(attributes["d"] ?? "") +
    4 * sumOf(corners) +
    2 * corners.length * maxOf(corners.slice(0, 2)) +
    7 * sumOf(told.map((value) => Number.parseFloat(value)).map(Math.abs));
  // Dashes are then measured in parts of it.
  return Math.max(length, maxOf(numbersOf(attributes["pathLength"] ?? "")));
}

/** How many dashes and gaps there are to a unit of length; infinite where that can't be told. */
export function densityOf(dashes: string): number {
  if (dashes.length > 500) return Infinity;
  if (/^\s*(?:none|inherit|initial|unset)?\s*$/i.test(dashes)) return 0;
  const lengths = dashes.trim().split(/\s*,\s*|\s+/);
  if (!lengths.every((one) => /^(?:\d+\.?\d*|\.\d+)(?:px|mm|cm|in|pt|pc)?$/i.test(one)))
    return Infinity;
  const sum = sumOf(lengths.map((one) => Number.parseFloat(one)));
  return sum === 0 ? 0 : lengths.length / sum;
}

/** Not fewer than the pieces into which dashes of this density cut a shape. */
export function piecesOf(element: XmlElement, density: number): number {
  return density === 0 ? 0 : density * lengthOf(element);
}

function scaleOf(transform: string): number {
  let scale = 1;
  for (const [, name = "", inner = ""] of transform.matchAll(
    /(?<![a-z])([a-z]+)\s{0,9}\(([^()]*)\)/gi,
  )) {
    const [a = 1, b = 0, c = 0, d = 1] = (inner.match(number) ?? []).map(Number);
    if (/^matrix$/i.test(name)) scale *= Math.abs(a * d - b * c);
    else if (/^scale$/i.test(name))
      scale *= Math.abs(a * ((inner.match(number)?.length ?? 0) > 1 ? b : a));
  }
  return scale;
}

/** About how often a pattern with these attributes, also of its templates, repeats in a picture this wide and high. */
export function tilesOf(attributes: Attributes, extent: number): number {
  const { width, height, patternUnits, patternTransform = "", transform = "" } = attributes;
  const whole = patternUnits === "userSpaceOnUse" ? extent : 1;
  const sideOf = (text: string | undefined) => {
    if (text === undefined) return whole;
    const side = Math.abs(Number.parseFloat(text));
    return /%\s*$/.test(text) ? (whole * side) / 100 : side;
  };
  const tile = sideOf(width) * sideOf(height) * scaleOf(patternTransform) * scaleOf(transform);
  return tile > 0 ? whole ** 2 / tile : 0;
}

/** The largest number that places anything in the picture. */
export function extentOf(all: readonly XmlElement[]): number {
  return maxOf(
    all.flatMap(({ attributes }) =>
      [...sizes, "viewBox", "points", "d"].map((name) => maxOf(numbersOf(attributes[name] ?? ""))),
    ),
  );
}
