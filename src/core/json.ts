import { fieldPath } from "./text.ts";

type JsonShape = { depth: number; members: number };

/** Depth of nesting and count of members (`"name": value`) of a JSON text, also of one that is cut off. */
export function shapeOf(text: string): JsonShape {
  let [depth, deepest, inString, members] = [0, 0, false, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x3a) members++;
  }
  return { depth: deepest, members };
}

export const depthOf = (text: string): number => shapeOf(text).depth;

/** Path of the first name that an object of a valid JSON text has twice; `JSON.parse` takes the last value without an error. */
export function findRepeatedName(text: string): string | null {
  type Level = { names: Set<string> | null; key: PropertyKey };
  const levels: Level[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]/gs;
  let lastString = "";
  for (const [token] of text.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === "{") levels.push({ names: new Set(), key: "" });
    else if (token === "[") levels.push({ names: null, key: 0 });
    else if (token === "}" || token === "]") levels.pop();
    else if (token === "," && typeof level?.key === "number") level.key++;
    else if (token.startsWith('"')) lastString = token;
    else if (token === ":" && level?.names) {
      level.key = String(JSON.parse(lastString));
      if (level.names.has(level.key)) return fieldPath(levels.map(({ key }) => key));
      level.names.add(level.key);
    }
  }
  return null;
}

/** An answer that is nested deeper is not read: a MB of brackets would hold the event loop for 0.1 s. */
export const maxAnswerDepth = 256;
