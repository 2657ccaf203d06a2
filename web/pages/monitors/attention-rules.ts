/** Rules of the list of monitors in trouble: its order, and who was notified. */
import type { Attention } from "../../data/problems.ts";
import type { OverviewMonitor } from "../../data/overview.ts";
import { formatReason } from "../../components/display/format.ts";
import { t } from "../../language/text.ts";

const statesByUrgency = ["down", "degraded"];

/** Sorts down before degraded monitors, then acknowledged ones last, then the latest change of state first. */
export function createTroubledOrder(
  attention: ReadonlyMap<string, Pick<Attention, "acknowledgedBy">> | undefined,
): (one: OverviewMonitor, other: OverviewMonitor) => number {
  const isAcknowledged = ({ id }: OverviewMonitor) =>
    Number((attention?.get(id)?.acknowledgedBy ?? []).length > 0);
  return (one, other) =>
    statesByUrgency.indexOf(one.status) - statesByUrgency.indexOf(other.status) ||
    isAcknowledged(one) - isAcknowledged(other) ||
    other.statusSince.localeCompare(one.statusSince) ||
    one.id.localeCompare(other.id);
}

/** Updates the order without moving existing rows. New ones are added at the end. */
export function keepOrder(before: readonly string[], wanted: readonly string[]): string[] {
  const known = new Set(before);
  const wantedSet = new Set(wanted);
  return [...before.filter((id) => wantedSet.has(id)), ...wanted.filter((id) => !known.has(id))];
}

/**
 * Describes which channels were alerted about a monitor, in two short lines; `hint` has the names
 * that the second one omits. `isBad` if an alert reached no one, or no channel is attached.
 */
export function describeNotified(
  { attached, notified }: Attention,
  isMuted: boolean,
): {
  words: string;
  names: string[];
  at: string | null;
  detail: string | null;
  hint?: string;
  isBad: boolean;
} {
  const filterByStatus = (wanted: string) => notified.filter(({ status }) => status === wanted);
  const namesOf = (all: Attention["notified"]) => all.map(({ name }) => name);
  const [deliveredTo, waiting, failed] = [
    filterByStatus("delivered"),
    filterByStatus("pending"),
    filterByStatus("failed"),
  ];
  const unreached = [...failed, ...waiting.filter(({ error }) => error !== null)];
  const [why] = unreached;
  const reason =
    why === undefined
      ? null
      : `${why.name}: ${why.error === null ? t("not delivered") : formatReason(why.error)}`;
  const noOne = { names: [], at: null };
  if (deliveredTo.length > 0)
    return {
      words: t("alerted"),
      names: namesOf(deliveredTo),
      at: deliveredTo[0]?.at ?? null,
      ...(unreached.length > 0
        ? {
            detail: t("{count} failed", { count: unreached.length }),
            hint: namesOf(unreached).join(", "),
          }
        : { detail: null }),
      isBad: false,
    };
  if (unreached.length > 0)
    return { ...noOne, words: t("No one reached"), detail: reason, isBad: true };
  if (waiting.length > 0)
    return {
      ...noOne,
      names: namesOf(waiting),
      words: t("being alerted"),
      detail: null,
      isBad: false,
    };
  const heldChannels = filterByStatus("held");
  if (heldChannels.length > 0) {
    const detail = t("Quiet hours of {names}", { names: namesOf(heldChannels).join(", ") });
    return { ...noOne, words: t("No alert sent"), detail, isBad: false };
  }
  if (isMuted) return { ...noOne, words: t("No alert sent"), detail: t("Muted"), isBad: false };
  if (attached === 0)
    return { ...noOne, words: t("No alert sent"), detail: t("No alert channel"), isBad: true };
  return { ...noOne, words: t("No alert sent"), detail: null, isBad: false };
}
