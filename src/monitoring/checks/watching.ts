import type { Log } from "../../core/log.ts";
import type { Vault } from "../../core/secrets.ts";
import type { Store } from "../../database/store.ts";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { lastSeq } from "../../events/log.ts";
import { concernOf } from "../monitors/events.ts";
import {
  allWatched,
  fingerprintOf,
  type Watched,
  watchedAmong,
  watchedEpochs,
} from "./watch-list.ts";

/** A monitor is checked first at once, with many others within seconds, or – at a start – at its place in the interval. */
export type FirstCheck = "now" | "soon" | "spread";

/** More monitors that begin together don't begin in the same moment. */
const atOnce = 50;

/** The monitors that are checked, kept as the store has them: `begin` and `end` hear of each that changed. */
export function watching(
  reading: { store: Store; vault: Vault; log: Log },
  begin: (monitor: Watched, firstCheck: FirstCheck) => void,
  end: (monitor: Watched) => void,
) {
  const monitors = new Map<number, Watched>();
  const keys = new Map<string, number>();

  function watch(found: Watched, firstCheck: FirstCheck) {
    const known = monitors.get(found.key);
    if (known !== undefined && known.epoch === found.epoch) {
      // What the store knows of the state is older than what we know.
      const { state, lastAt, certificateExpiresAt } = known;
      Object.assign(found, { state, lastAt, certificateExpiresAt });
      if (fingerprintOf(known) === fingerprintOf(found)) {
        Object.assign(known, found);
        return;
      }
    }
    monitors.set(found.key, found);
    keys.set(found.id, found.key);
    begin(found, firstCheck);
  }

  function forget(id: string) {
    const known = monitors.get(keys.get(id) ?? -1);
    if (known === undefined) return;
    monitors.delete(known.key);
    keys.delete(id);
    end(known);
  }

  async function refresh(organizationId: string, ids: readonly string[]) {
    const found = await watchedAmong(reading, organizationId, ids);
    const wanted = new Set(found.map(({ id }) => id));
    for (const id of ids) if (!wanted.has(id)) forget(id);
    for (const monitor of found) watch(monitor, found.length > atOnce ? "soon" : "now");
  }

  /** A group may have been paused, resumed or both, or monitors moved out of or into a paused one; or the organization deleted. */
  async function movedTogether(organizationId: string): Promise<string[]> {
    const wanted = await watchedEpochs(reading, organizationId);
    const gone = [...monitors.values()].filter(
      (monitor) => monitor.organizationId === organizationId && !wanted.has(monitor.id),
    );
    const turned = [...wanted].filter(
      ([id, epoch]) => monitors.get(keys.get(id) ?? -1)?.epoch !== epoch,
    );
    return [...turned, ...gone.map(({ id }) => [id] as const)].map(([id]) => id);
  }

  return {
    get: (key: number) => monitors.get(key),
    /** Takes in all monitors; returns the place in the event log from which to follow. */
    async load(): Promise<number> {
      const cursor = await lastSeq(reading.store);
      for await (const some of allWatched(reading)) {
        for (const monitor of some) watch(monitor, "spread");
        // Requests are answered already.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return cursor;
    },
    /** Takes in one monitor as it is now; undefined when it is not to be checked. */
    async refresh(organizationId: string, id: string): Promise<Watched | undefined> {
      await refresh(organizationId, [id]);
      return monitors.get(keys.get(id) ?? -1);
    },
    /** Takes in what these events changed. */
    async take(events: readonly LoggedEvent[]) {
      const changes = events.filter((event) => ![null, "windows"].includes(concernOf(event)));
      for (const [organizationId, its] of Map.groupBy(changes, (event) => event.organizationId)) {
        const ofOne = its.filter((event) => concernOf(event) === "monitor");
        const ids = ofOne.map(({ subjectId }) => subjectId);
        if (ofOne.length < its.length) ids.push(...(await movedTogether(organizationId)));
        await refresh(organizationId, [...new Set(ids)]);
      }
    },
  };
}
