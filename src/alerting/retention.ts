import { timestamp } from "../core/clock.ts";
import type { Store } from "../database/store.ts";

const keptMs = 90 * 86_400_000;
/** Removed in one write; a digest takes up to 5,000 rows with it. */
const deliveriesAtOnce = 20;
const alertsAtOnce = 500;

/** Removes what is older than 90 days from the delivery log, the oldest first; `isOver` ends it between two portions. */
export async function sweepAlerts(
  store: Store,
  now: number,
  isOver: () => boolean = () => false,
): Promise<void> {
  const before = timestamp(now - keptMs);
  await inPortions(
    deliveriesAtOnce,
    `select seq as place, due_at is null and created_at < ? as isOld
     from deliveries order by seq limit ${deliveriesAtOnce}`,
    "delete from deliveries where seq in (select value from json_each(?))",
  );
  await inPortions(
    alertsAtOnce,
    `select a.rowid as place, a.at < ? and not exists (select 1 from delivery_alerts d
       where d.organization_id = a.organization_id and d.alert_id = a.id)
       and not exists (select 1 from open_cases c
       where c.organization_id = a.organization_id and c.alert_id = a.id) as isOld
     from alerts a order by a.rowid limit ${alertsAtOnce}`,
    "delete from alerts where rowid in (select value from json_each(?))",
  );

  // Only the oldest are looked at: a sweep that finds nothing costs nothing.
  async function inPortions(size: number, oldest: string, remove: string) {
    while (!isOver()) {
      const rows = await store.query<{ place: number; isOld: number }>(oldest, [before]);
      const places = rows.filter(({ isOld }) => isOld === 1).map(({ place }) => place);
      if (places.length > 0)
        await store.atomic([{ text: remove, parameters: [JSON.stringify(places)] }]);
      if (places.length < size) return;
      await Bun.sleep(0);
    }
  }
}
