/** An appliance with checks, alerts and maintenance windows. */
import type { LoggedEvent } from "../../src/events/catalog.ts";
import { readSince } from "../../src/events/log.ts";
import { createAppliance } from "./appliance.ts";
import { createPager } from "./pager.ts";

/** A dashboard with checks and alerts, and helpers that plan maintenance. The clock shows 10:00 on a Friday. */
export async function createPlanner() {
  const pagerWorld = await createPager();
  const { api, time, store, appliance } = pagerWorld;
  const path = "/api/v1/maintenance-windows";
  const formatMinutesAhead = (minutes: number) =>
    new Date(time.now + minutes * 60_000).toISOString();

  return {
    ...pagerWorld,
    path,
    inMinutes: formatMinutesAhead,
    /** Creates a window that starts in `from` minutes and lasts `minutes`. */
    planWindow: async (fields: object = {}, from = 0, minutes = 60) => {
      const times = {
        startsAt: formatMinutesAhead(from),
        endsAt: formatMinutesAhead(from + minutes),
      };
      const body = { title: "Firmware", ...times, ...fields };
      const { status, json, text } = await api("POST", path, { body });
      if (status !== 201) throw new Error(text);
      return json.data;
    },
    readWindow: async (id: string) => (await api("GET", `${path}/${id}`)).json.data,
    change: (id: string, body: object) => api("PATCH", `${path}/${id}`, { body }),
    remove: (id: string) => api("DELETE", `${path}/${id}`),
    /** Alerts about windows, in order: `started 10:00–11:00`. */
    readWindowEvents: async () =>
      (await readSince(store, 0, 10_000))
        .filter(
          (event): event is LoggedEvent<`maintenance.${"started" | "ended"}`> =>
            event.type === "maintenance.started" || event.type === "maintenance.ended",
        )
        .map(({ type, data: { startsAt, endsAt } }) => {
          const times = [startsAt, endsAt].map((at) => at.slice(11, 16));
          return `${type.slice(12)} ${times.join("–")}`;
        }),
    /** Another process on the same data, started from the stored state. */
    createSecondAppliance: () => {
      const other = createAppliance({ store, clock: () => time.now, vault: appliance.vault });
      return {
        ...other,
        passTime: async (seconds: number) => {
          for (const end = time.now + seconds * 1000; time.now < end; time.now += 250) {
            await other.maintenance.runOnce();
            await other.engine.runOnce();
          }
        },
      };
    },
  };
}

type Planner = Awaited<ReturnType<typeof createPlanner>>;

/** A site that is checked every 5 minutes and is up, with its alert channel. */
export async function createWatchedSite(
  { inbox, createSite, advance }: Planner,
  fields: object = {},
) {
  const hook = await inbox();
  const site = await createSite({ interval: 300, alertChannelIds: [hook.id], ...fields });
  await advance(1);
  return {
    hook,
    site,
    async [Symbol.asyncDispose]() {
      await hook[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}
