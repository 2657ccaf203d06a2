/** Measures JSON before it is parsed, limits its depth and number of values, and finds repeated names. */
import { monitorBounds } from "../limits.ts";
import { parseExactly } from "./exact-json.ts";
import { formatFieldPath } from "./formatting.ts";

type JsonShape = { depth: number; members: number; values: number };

/** Measures a JSON text, even a truncated one: its depth, its members (`"name": value`), and all of its values. */
export function measureJson(text: string): JsonShape {
  let [depth, deepest, inString, members, lists, commas] = [0, 0, false, 0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      lists++;
      deepest = Math.max(deepest, ++depth);
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x2c) commas++;
    else if (code === 0x3a) members++;
  }
  // A list or object is itself a value, and contains one more value than commas.
  return { depth: deepest, members, values: 1 + lists + commas };
}

export const measureDepth = (text: string): number => measureJson(text).depth;

/** Returns the path of the first repeated name in valid JSON. `JSON.parse` would silently use the last value. */
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
      if (level.names.has(level.key)) return formatFieldPath(levels.map(({ key }) => key));
      level.names.add(level.key);
    }
  }
  return null;
}

/** Maximum depth of a target's JSON. Parsing 1 MB of brackets would block the event loop for 0.1 s. */
export const maxResponseDepth = monitorBounds.responseNesting.value;

/** Maximum values and names in a target's JSON. Parsing 20,000 of them blocks the event loop for up to 30 ms. */
const maxResponseValues = monitorBounds.responseValues.value;

type ParsedJson = { value: unknown } | { unreadable: string };

/** Parses a target's JSON within limits on depth and number of values, because parsing blocks the event loop. */
export function parseBounded(
  text: string,
  parse: (text: string) => unknown = parseExactly,
): ParsedJson {
  const { depth, members, values } = measureJson(text);
  if (depth > maxResponseDepth)
    return { unreadable: `it is nested deeper than ${maxResponseDepth} levels` };
  if (members + values > maxResponseValues)
    return { unreadable: `it has more than ${maxResponseValues} values` };
  try {
    return { value: parse(text) };
  } catch {
    return { unreadable: "it is not JSON" };
  }
}
