/** An appliance with alert receivers, whose deliveries are sent on demand. */
import { compiled } from "../../src/database/store.ts";
import { alertsOn } from "./appliance.ts";
import type { Reply } from "./target.ts";
import { answer, jsonOf, target } from "./target.ts";
import { watch } from "./watch.ts";
import type { Json } from "./json.ts";

/** The parts of a received webhook that tests examine. */
type Received = {
  /** Stable id of the delivery. */
  id: string;
  type: string;
  timestamp: string;
  data: Json;
};

/** A dashboard with receivers, whose alerts are sent on demand. */
export async function pager(settings: Parameters<typeof watch>[0] = {}) {
  const made = await watch(settings);
  const { appliance, engine, store, time, api, channel, monitor, job, changeMonitor } = made;
  let { alerts } = made;

  /** Creates deliveries from pending events, advances the clock by a number of seconds, and sends due deliveries. */
  async function later(seconds = 10) {
    await alerts.runOnce();
    time.now += seconds * 1000;
    await alerts.runOnce();
  }

  async function read(path: string) {
    const { status, json, text } = await api("GET", path);
    if (status !== 200) throw new Error(text);
    return json;
  }

  /** A webhook channel and its server. */
  async function inbox(fields: object = {}, reply: Reply = answer()) {
    const server = await target(reply);
    const { id } = await channel({ type: "webhook", url: server.at("/hook"), ...fields });
    const received = (): Received[] =>
      server.asked.map((one) => ({
        id: String(one.headers["webhook-id"]),
        ...jsonOf<Omit<Received, "id">>(one),
      }));
    return Object.assign(server, {
      id: id as string,
      received,
      /** Each received alert, from a digest or alone. */
      alerts: () =>
        received().flatMap((one): Received[] =>
          one.type === "digest"
            ? one.data.alerts.map((alert: object) => ({ id: one.id, ...alert }))
            : [one],
        ),
      /** Received alerts as `monitor.down Shop`, in order. */
      heard: () =>
        received().flatMap(({ type, data }) =>
          type === "digest" ? data.alerts.map(briefly) : [briefly({ type, data })],
        ) as string[],
    });
  }

  return {
    ...made,
    inbox,
    later,
    /** Sends due deliveries, then waits until retries that become due have arrived as well. */
    lasts: async (seconds: number) => {
      await later(seconds);
      await later();
    },
    /** Restarts the engine from the stored state; `random` spreads its retries. */
    restart: (random = 0.5) => {
      alerts = alertsOn(appliance, random);
      return alerts;
    },
    /** Fails just before the next write that contains such a statement, like a power cut. */
    diesBefore: (statement: string) => {
      const atomic = store.atomic.bind(store);
      store.atomic = (statements) => {
        if (!statements.some((one) => compiled(one).text.includes(statement)))
          return atomic(statements);
        store.atomic = atomic;
        return Promise.reject(new Error("The power failed."));
      };
    },
    /** Received alerts, oldest first. */
    told: async (query = "") =>
      (await read(`/api/v1/alerts?per_page=100${query}`)).data.toReversed() as Json[],
    /** Alerts of one channel, oldest first. */
    deliveriesOf: async ({ id }: { id: string }) =>
      (
        await read(`/api/v1/alert-channels/${id}/deliveries?per_page=100`)
      ).data.toReversed() as Json[],
    channelOf: async ({ id }: { id: string }) => (await read(`/api/v1/alert-channels/${id}`)).data,
    changeChannel: ({ id }: { id: string }, body: object) =>
      api("PATCH", `/api/v1/alert-channels/${id}`, { body }),
    /** A push monitor that is up, with these channels. */
    watched: async (channels: readonly { id: string }[], fields: object = {}) => {
      const alertChannelIds = channels.map(({ id }) => id);
      const made = await job({ name: "Backup", interval: 86_400, alertChannelIds, ...fields });
      await made.report({ status: "up" });
      return Object.assign(made, {
        goes: async (status: "up" | "down" | "slow") => {
          time.now += 1;
          await made.report(status === "slow" ? { latency_ms: "900" } : { status });
        },
        change: async (body: object) => {
          const { status } = await changeMonitor(made.id, body);
          if (status !== 200) throw new Error(`The monitor could not be changed: ${status}`);
          await engine.runOnce();
        },
      });
    },
    monitor,
  };
}

function briefly({ type, data }: { type: string; data: Json }): string {
  const name = data.monitor?.name ?? data.incident?.title ?? data.channel?.name;
  return name === undefined ? type : `${type} ${name}`;
}
