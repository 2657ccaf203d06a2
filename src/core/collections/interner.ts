const capacity = 4_096;

/** Interns equal values. Starts over when it has `capacity` entries. */
export function createInterner() {
  const known = new Map<string, unknown>();
  return <T>(key: string, make: () => T): T => {
    if (known.has(key)) return known.get(key) as T;
    if (known.size === capacity) known.clear();
    const value = make();
    known.set(key, value);
    return value;
  };
}
