const listing = new Intl.ListFormat("en-GB");

/** Names as a list in words, each with its direction to itself: `Shop, Search and Blog`. */
export function Names({ names }: { names: readonly string[] }) {
  return listing
    .formatToParts(names)
    .map(({ type, value }, index) => (type === "element" ? <bdi key={index}>{value}</bdi> : value));
}
