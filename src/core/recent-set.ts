type RecentSet = Pick<Set<string>, "has" | "delete" | "size"> & { add(value: string): void };

/** A set that keeps the `capacity` values that were added last. */
export function recentSet(capacity: number): RecentSet {
  const values = new Set<string>();
  return {
    has: (value) => values.has(value),
    delete: (value) => values.delete(value),
    get size() {
      return values.size;
    },
    add(value) {
      values.delete(value);
      values.add(value);
      if (values.size > capacity) values.delete(values.keys().next().value ?? "");
    },
  };
}
