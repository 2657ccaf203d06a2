const listing = new Intl.ListFormat("en-GB");

/**
 * Joins names to a phrase such as `Shop, Search and Blog`. Each name has its own text direction.
 */
export function Names({ names }: { names: readonly string[] }) {
  return listing
    .formatToParts(names)
    .map(({ type, value }, index) => (type === "element" ? <bdi key={index}>{value}</bdi> : value));
}
