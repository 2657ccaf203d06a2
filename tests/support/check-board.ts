/** An appliance with a running check engine on a clock that the test advances. */
import type { StoredStatus } from "../../src/core/statuses.ts";
import type { LoggedEvent } from "../../src/events/catalog.ts";
import { readSince } from "../../src/events/log.ts";
import { createDashboard } from "./dashboard.ts";
import { replyWith, startTarget } from "./target.ts";

/** A healthy event loop turns more often than this; a larger clock jump counts as a suspension. */
const tickMs = 250;

export type Beat = {
  at: string;
  status: string;
  latencyMs: number | null;
  message: string | null;
  period: number;
};

/** A dashboard with a running check engine and a clock that the test advances. */
export async function createWatch(settings: Parameters<typeof createDashboard>[0] = {}) {
  const board = await createDashboard(settings);
  const { engine, maintenance, time, monitor, readMonitor, api, stranger, store } = board;
  await maintenance.runOnce();
  await engine.runOnce();

  return {
    ...board,
    /** Advances the clock by a number of seconds and runs due work. */
    advance: async (seconds: number) => {
      for (const end = time.now + seconds * 1000; time.now < end;) {
        time.now = Math.min(time.now + tickMs, end);
        await maintenance.runOnce();
        await engine.runOnce();
      }
    },
    readStatus: async (id: string): Promise<string> => (await readMonitor(id)).status,
    /** Oldest first. */
    readBeats: async (id: string): Promise<Beat[]> => {
      const { json } = await api("GET", `/api/v1/monitors/${id}/heartbeats?limit=1000`);
      return json.data.toReversed();
    },
    /** Every published change of a monitor's state, in order. */
    readStateChanges: async () => (await readSince(store, 0, 10_000)).filter(isStateChange),
    /** A healthy target on loopback and its monitor, which is down at the first failure. */
    createSite: async (fields: object = {}) => {
      const shop = await startTarget();
      const http = { type: "http", name: "Shop", url: shop.at(), retries: 0 };
      const { id }: { id: string } = await monitor({ ...http, ...fields });
      return Object.assign(shop, {
        id,
        failNow: () => shop.setReply(replyWith(500)),
        recoverNow: () => shop.setReply(replyWith()),
      });
    },
    /** A push monitor, which is down at the first failure, and a function that reports to it. */
    createJob: async (fields: object = {}) => {
      const { id, pushUrl } = await monitor({ type: "push", name: "Job", retries: 0, ...fields });
      const { pathname } = new URL(pushUrl);
      return {
        id: id as string,
        path: pathname,
        report: (query: Record<string, string> = {}, method = "GET") =>
          stranger(method, `${pathname}?${new URLSearchParams(query)}`),
      };
    },
  };
}

export type Watch = Awaited<ReturnType<typeof createWatch>>;

const states = new Set(["pending", "up", "degraded", "down", "maintenance"]);

/** Whether a check has changed the monitor's state. */
export function isStateChange(event: LoggedEvent): event is LoggedEvent<`monitor.${StoredStatus}`> {
  const [noun, verb = ""] = event.type.split(".");
  return noun === "monitor" && states.has(verb);
}
