/** Selects a language by the header `Accept-Language`. */
/** Maximum length of a header that is read. Browsers send less than 100 characters. */
const maxHeaderLength = 300;

/**
 * Returns the offered language that a visitor prefers, by the header `Accept-Language` (RFC 9110 §12.5.4); the first
 * offered one if none matches.
 */
export function negotiateLanguage<T extends string>(
  header: string | null,
  offered: readonly [T, ...T[]],
): T {
  const preferences = (header ?? "")
    .slice(0, maxHeaderLength)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const weight = parameters.find((one) => one.startsWith("q="));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ tag, weight }) => tag !== "" && weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { tag } of preferences) {
    if (tag === "*") return offered[0];
    const match =
      offered.find((one) => one.toLowerCase() === tag) ??
      offered.find((one) => baseOf(one) === baseOf(tag));
    if (match !== undefined) return match;
  }
  return offered[0];
}

/** Returns the language of a tag without script and region. */
const baseOf = (tag: string) => tag.toLowerCase().split("-")[0];
