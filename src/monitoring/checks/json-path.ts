const step = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/gu;

/** The value at a path such as `$.items[0]['state']` (names and indexes of RFC 9535); undefined where there is none. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const [, name, index, quoted, doubleQuoted] of path.matchAll(step)) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = name ?? index ?? quoted ?? doubleQuoted ?? "";
    if (Array.isArray(value) !== (index !== undefined) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
