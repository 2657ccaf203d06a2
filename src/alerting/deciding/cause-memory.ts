/** Remembers which outages were reported last for each possible cause, so that later ones can belong to them. */
import type { Cause } from "../../core/causes.ts";

/** Maximum causes of all organizations. The oldest are forgotten. */
const maxCauses = 10_000;
/** Maximum outages per cause. Monitors with other channels or policies have outages of their own. */
const maxOutages = 8;

/** A reported outage: its monitor and its start, RFC 3339. */
type Reported = { monitorId: string; since: string };

/**
 * The reported outages by possible cause. It only shows where to look. Whether an outage still exists, and its
 * recipients, are read from the database. After a restart, outages are reported one by one.
 */
export class CauseMemory {
  readonly #outages = new Map<string, readonly Reported[]>();

  add(organizationId: string, causes: readonly Cause[], reported: Reported) {
    for (const cause of causes) {
      const key = buildCauseKey(organizationId, cause);
      const known = this.#outages.get(key) ?? [];
      const others = known.filter(({ monitorId }) => monitorId !== reported.monitorId);
      this.#outages.delete(key);
      this.#outages.set(key, [...others, reported].slice(-maxOutages));
    }
    for (const key of this.#outages.keys()) {
      if (this.#outages.size <= maxCauses) break;
      this.#outages.delete(key);
    }
  }

  /** Returns the reported outages with one of these causes, those with the most specific cause first. */
  find(organizationId: string, causes: readonly Cause[]): (Reported & { cause: Cause })[] {
    return causes.flatMap((cause) =>
      (this.#outages.get(buildCauseKey(organizationId, cause)) ?? []).map((one) => ({
        ...one,
        cause,
      })),
    );
  }
}

const buildCauseKey = (organizationId: string, { kind, value }: Cause) =>
  `${organizationId} ${kind} ${value}`;
