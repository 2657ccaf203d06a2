/** Sets a value in a map. Removes the oldest entry if the map has more than `capacity` entries. */

export function setRecent<K, V>(map: Map<K, V>, key: K, value: V, capacity: number) {
  map.delete(key);
  map.set(key, value);
  if (map.size <= capacity) return;
  const [oldest] = map.keys();
  map.delete(oldest as K);
}

/** A set of the `capacity` most recently added values. */
export function createRecentSet(capacity: number) {
  const values = new Map<string, true>();
  return {
    has: (value: string) => values.has(value),
    delete: (value: string) => values.delete(value),
    add: (value: string) => setRecent(values, value, true, capacity),
    get size() {
      return values.size;
    },
  };
}
