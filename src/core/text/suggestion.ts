/** Maximum edit distance for a suggestion. */
const maxDistance = 2;

/** Returns “; did you mean …?” if a known name is within two typing errors; otherwise an empty text. */
export function suggestName(name: string, known: Iterable<string>): string {
  const normal = normalizeSpelling(name);
  if (name.length > 100) return "";
  let best: string | undefined;
  let bestDistance = Math.min(maxDistance, Math.floor(normal.length / 3)) + 1;
  for (const candidate of known) {
    const distance = computeEditDistance(normal, normalizeSpelling(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best === undefined ? "" : `; did you mean ${best}?`;
}

/** Normalizes a name, so that `alert_channels` and `AlertChannels` equal `alertChannels`. */
const normalizeSpelling = (name: string) => name.toLowerCase().replace(/[_-]/g, "");

/**
 * Edit distance of two names: insertions, deletions, replacements and swaps of neighbors (optimal string alignment).
 */
function computeEditDistance(one: string, other: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (previous[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [previous, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
