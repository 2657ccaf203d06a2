export type Fields = Record<string, unknown>;

/** Whether a value is an object and not an array. Its fields are unchecked. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Sets a property. Also supports `__proto__`, which an assignment would treat as the prototype. */
export function setOwn(object: object, name: string, value: unknown) {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Creates a table for keys from outside. It finds nothing under names that all objects have, such as `constructor`. */
export const createLookup = <T>(
  entries: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> =>
  Object.freeze(Object.assign(Object.create(null) as Record<string, T>, entries));

/** Parses JSON; null for any other text. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): Fields | null {
  const value = parseJsonOrNull(text);
  return isObject(value) ? value : null;
}
