/** Decides whether the addresses or records of a name changed, from the responses of DNS to successive checks. */
import type { ResolvedChange } from "../../core/causes.ts";
import { excerptText } from "../../core/text/formatting.ts";
import { formatTimestamp, hourMs } from "../../core/time/clock.ts";

/** Addresses or records of a name. */
export type ResolvedName = { name: string; values: string };

/** Addresses that the checks of a monitor recently resolved. */
export type ResolvedHistory = ResolvedName & {
  /** Unix milliseconds of the first check with these values. */
  since: number;
  /** The last stable values before these, until `since` or a later time; null without stable ones. */
  earlier: { values: string; until: number } | null;
};

/** Values are stable after this many intervals, and at least an hour: name servers rotate the records of some names. */
const stableIntervals = 10;
/** Characters of the values that are compared and shown. */
const maxCharacters = 500;

/** Sorts the values, because name servers rotate them (RFC 1794), and shortens their list. */
export const createResolvedName = (name: string, values: readonly string[]): ResolvedName => ({
  name,
  values: values.toSorted().join(", ").slice(0, maxCharacters),
});

/** Returns the history after a check at `at`, Unix milliseconds. Returns `known` itself if nothing changed. */
export function updateHistory(
  known: ResolvedHistory | null,
  { name, values }: ResolvedName,
  { at, intervalSeconds }: { at: number; intervalSeconds: number },
): ResolvedHistory {
  if (known === null || known.name !== name) return { name, values, since: at, earlier: null };
  if (known.values === values) return known;
  const stableMs = Math.max(hourMs, stableIntervals * intervalSeconds * 1000);
  const isStable = at - known.since >= stableMs;
  const earlier = isStable ? { values: known.values, until: at } : known.earlier;
  return { name, values, since: at, earlier: earlier?.values === values ? null : earlier };
}

/** Returns the change of stable values in the hour before `at`; null if there is none. */
export function findResolvedChange(
  known: ResolvedHistory | null,
  at: number,
): ResolvedChange | null {
  const earlier = known?.earlier ?? null;
  if (known === null || earlier === null || at - earlier.until > hourMs) return null;
  return {
    name: excerptText(known.name, maxCharacters),
    before: excerptText(earlier.values, maxCharacters),
    after: excerptText(known.values, maxCharacters),
    at: formatTimestamp(earlier.until),
  };
}
