import { promisify } from "node:util";
import { deflate } from "node:zlib";
import cyrillic from "@fontsource/inter/files/inter-cyrillic-600-normal.woff" with { type: "file" };
import greek from "@fontsource/inter/files/inter-greek-600-normal.woff" with { type: "file" };
import latinExt from "@fontsource/inter/files/inter-latin-ext-600-normal.woff" with { type: "file" };
import latin from "@fontsource/inter/files/inter-latin-600-normal.woff" with { type: "file" };
import vietnamese from "@fontsource/inter/files/inter-vietnamese-600-normal.woff" with { type: "file" };
import { type Font, type Glyph, parse } from "opentype.js";
import type { IncidentView } from "./view.ts";
import type { Rgb } from "./accent.ts";

/** What chats and networks show of a link: https://ogp.me/#structured */
export const imageWidth = 1200;
export const imageHeight = 630;
const rowBytes = 1 + 3 * imageWidth;
const margin = 80;
const titleSize = 68;
const titleLines = 3;

const paper: Rgb = [252, 251, 249];
const ink: Rgb = [28, 27, 25];
const quiet: Rgb = [97, 94, 88];
const tones: Record<"up" | "degraded" | "down", Rgb> = {
  up: [18, 128, 92],
  degraded: [154, 98, 0],
  down: [194, 39, 59],
};

/** An incident as a PNG: its title, how it is, since when, and whose page says so. */
export async function shareImage(pageTitle: string, incident: IncidentView) {
  const { title, severity, isOpen, day, hours, updates } = incident;
  const tone = isOpen ? incident.tone : "up";
  const pixels = canvas();
  pixels.fill([[0, 0, 20, 0, 20, imageHeight, 0, imageHeight]], tones[tone]);
  const write = async (
    text: string,
    size: number,
    [x, y]: readonly [number, number],
    colour: Rgb,
    maxLines = 1,
  ) => {
    const room = { width: imageWidth - x - margin, maxLines, ellipsis: await drawn("…") };
    for (const [index, line] of wrapped(await drawn(text), size, room).entries()) {
      pixels.fill(outlinesOf(line, size, x, y + index * 1.24 * size), colour);
      // Others have their turn.
      await Bun.sleep(0);
    }
  };
  await write(pageTitle, 38, [margin, 120], quiet);
  await write(title, titleSize, [margin, 250], ink, titleLines);
  pixels.fill([shapeOf(tone, margin + 18, 537)], tones[tone]);
  const status = updates[0]?.status ?? "";
  await write(`${severity} · ${status}`, 38, [margin + 54, 550], tones[tone]);
  await write(`${day}, ${hours}`, 30, [margin + 640, 550], quiet);
  return pngOf(pixels.bytes);
}

/** The state's shape: never color alone. */
function shapeOf(tone: keyof typeof tones, x: number, y: number): number[] {
  const [corners, turn] = { up: [40, 0], degraded: [3, -90], down: [8, 22.5] }[tone] as [
    number,
    number,
  ];
  return Array.from({ length: corners }, (_, corner) => {
    const angle = ((turn + (corner * 360) / corners) * Math.PI) / 180;
    return [x + 18 * Math.cos(angle), y + 18 * Math.sin(angle)];
  }).flat();
}

/** The largest last. */
const files = [latin, cyrillic, greek, vietnamese, latinExt];
const fonts = new Map<string, Font>();

async function fontIn(file: string): Promise<Font> {
  const font = fonts.get(file) ?? parse(await Bun.file(file).arrayBuffer());
  fonts.set(file, font);
  return font;
}

type Drawn = { glyph: Glyph; scale: number; isSpace: boolean };

/** The glyphs of a text; none of a script that our fonts don't have: half a title says the wrong thing. */
async function drawn(text: string): Promise<Drawn[]> {
  const all: Drawn[] = [];
  const characters = Array.from(text.normalize("NFC").replace(/\s+/gu, " "));
  for (const character of characters)
    for (const file of files) {
      const font = await fontIn(file);
      const glyph = font.charToGlyph(character);
      if (glyph.index === 0) continue;
      all.push({ glyph, scale: 1 / font.unitsPerEm, isSpace: character === " " });
      break;
    }
  return all.length < 0.8 * characters.length ? [] : all;
}

type Room = { width: number; maxLines: number; ellipsis: readonly Drawn[] };

/** Broken between words where it can be, and cut where there is no more room. */
function wrapped(text: readonly Drawn[], size: number, { width, maxLines, ellipsis }: Room) {
  const lines: Drawn[][] = [];
  const lengthOf = (line: readonly Drawn[]) =>
    line.reduce((sum, one) => sum + (one.glyph.advanceWidth ?? 0) * one.scale * size, 0);
  let line: Drawn[] = [];
  for (const one of text) {
    line.push(one);
    if (lengthOf(line) <= width) continue;
    if (lines.length === maxLines - 1) {
      while (line.length > 0 && lengthOf([...line, ...ellipsis]) > width) line.pop();
      return [...lines, [...line, ...ellipsis]];
    }
    const space = line.findLastIndex(({ isSpace }) => isSpace);
    const end = space > 0 ? space : line.length - 1;
    lines.push(line.slice(0, end));
    line = line.slice(space > 0 ? end + 1 : end);
  }
  return line.length === 0 ? lines : [...lines, line];
}

/** Closed lines of x and y in turn; curves in pieces. */
function outlinesOf(line: readonly Drawn[], size: number, left: number, baseline: number) {
  const outlines: number[][] = [];
  let x = left;
  for (const one of line) {
    let points: number[] = [];
    let [px, py] = [0, 0];
    const to = (nx: number, ny: number) => {
      points.push(nx, ny);
      [px, py] = [nx, ny];
    };
    for (const command of one.glyph.getPath(x, baseline, size).commands) {
      if (command.type === "M") {
        outlines.push((points = []));
        to(command.x, command.y);
      } else if (command.type === "L") to(command.x, command.y);
      else if (command.type !== "Z") {
        const [fromX, fromY] = [px, py];
        const [x2, y2] = command.type === "C" ? [command.x2, command.y2] : [command.x1, command.y1];
        for (let step = 1; step <= 6; step++) {
          const t = step / 6;
          const at = (a: number, b: number, c: number, d: number) =>
            command.type === "C"
              ? (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d
              : (1 - t) ** 2 * a + 2 * (1 - t) * t * b + t ** 2 * d;
          to(at(fromX, command.x1, x2, command.x), at(fromY, command.y1, y2, command.y));
        }
      }
    }
    x += (one.glyph.advanceWidth ?? 0) * one.scale * size;
  }
  return outlines;
}

/** Where outlines are filled, with soft edges: their signed areas are summed along each row, as font-rs does. */
function canvas() {
  const bytes = new Uint8Array(rowBytes * imageHeight);
  const stride = imageWidth + 2;
  const areas = new Float32Array(stride * imageHeight);
  for (let x = 0; x < imageWidth; x++) bytes.set(paper, 1 + 3 * x);
  for (let y = 1; y < imageHeight; y++) bytes.copyWithin(y * rowBytes, 0, rowBytes);

  function edge(x0: number, y0: number, x1: number, y1: number) {
    if (y0 === y1) return;
    if (y0 > y1) return slope(x1, y1, x0, y0, -1);
    return slope(x0, y0, x1, y1, 1);
  }

  function slope(x0: number, y0: number, x1: number, y1: number, direction: number) {
    const inclination = (x1 - x0) / (y1 - y0);
    for (let y = Math.max(0, Math.floor(y0)); y < Math.min(imageHeight, Math.ceil(y1)); y++) {
      const [top, bottom] = [Math.max(y, y0), Math.min(y + 1, y1)];
      const from = x0 + (top - y0) * inclination;
      const to = x0 + (bottom - y0) * inclination;
      const covered = (bottom - top) * direction;
      const [left, right] = [Math.min(from, to), Math.max(from, to)];
      // A row is so low that an edge which crosses many columns is rare: it is cut into columns.
      const [first, last] = [Math.floor(left), Math.max(Math.floor(left), Math.ceil(right) - 1)];
      for (let column = first; column <= last; column++) {
        const [a, b] = [Math.max(left, column), Math.min(right, column + 1)];
        const share = right === left ? covered : (covered * (b - a)) / (right - left);
        const inner = column + 1 - (a + b) / 2;
        const at = y * stride + Math.min(imageWidth, Math.max(0, column));
        areas[at] = (areas[at] ?? 0) + share * inner;
        areas[at + 1] = (areas[at + 1] ?? 0) + share * (1 - inner);
      }
    }
  }

  return {
    bytes,
    fill(outlines: readonly (readonly number[])[], colour: Rgb) {
      const heights = outlines.flatMap((points) => points.filter((_, at) => at % 2 === 1));
      const first = Math.max(0, Math.floor(Math.min(...heights)));
      const end = Math.min(imageHeight, Math.ceil(Math.max(...heights)));
      for (const points of outlines)
        for (let at = 0; at < points.length; at += 2) {
          const next = (at + 2) % points.length;
          edge(points[at] ?? 0, points[at + 1] ?? 0, points[next] ?? 0, points[next + 1] ?? 0);
        }
      for (let y = first; y < end; y++) {
        let area = 0;
        for (let x = 0; x < imageWidth; x++) {
          area += areas[y * stride + x] ?? 0;
          const alpha = Math.min(1, Math.abs(area));
          if (alpha < 0.004) continue;
          const pixel = y * rowBytes + 1 + 3 * x;
          for (let part = 0; part < 3; part++) {
            const before = bytes[pixel + part] ?? 0;
            bytes[pixel + part] = Math.round(before + ((colour[part] ?? 0) - before) * alpha);
          }
        }
      }
      areas.fill(0, first * stride, end * stride);
    },
  };
}

/** PNG, third edition: each row begins with its filter, none. https://www.w3.org/TR/png-3/ */
async function pngOf(rows: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, imageWidth);
  header.setUint32(4, imageHeight);
  // Eight bits of each of red, green and blue.
  header.setUint8(8, 8);
  header.setUint8(9, 2);
  const packed = await promisify(deflate)(rows);
  return Buffer.concat([
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("IDAT", packed),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length);
  whole.set(body, 4);
  whole.writeUInt32BE(Bun.hash.crc32(body), body.length + 4);
  return whole;
}
