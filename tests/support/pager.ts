/** An appliance with alert receivers, whose deliveries are sent on demand. */
import { compileStatement } from "../../src/database/store.ts";
import { createAlertsEngine } from "./appliance.ts";
import type { Reply } from "./target.ts";
import { replyWith, parseJsonBody, startTarget } from "./target.ts";
import { createWatch } from "./check-board.ts";
import type { Json } from "./json.ts";

/** The parts of a received webhook that tests examine. */
type ReceivedDelivery = {
  /** Stable id of the delivery. */
  id: string;
  type: string;
  timestamp: string;
  data: Json;
};

/** A dashboard with receivers, whose alerts are sent on demand. */
export async function createPager(settings: Parameters<typeof createWatch>[0] = {}) {
  const world = await createWatch(settings);
  const {
    appliance,
    engine,
    store,
    time,
    api,
    channel,
    monitor,
    createJob,
    changeMonitor,
    database,
  } = world;
  let { alerts } = world;

  /** Creates deliveries from pending events, advances the clock by a number of seconds, and sends due deliveries. */
  async function deliverAfter(seconds = 10) {
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
  async function createInbox(fields: object = {}, reply: Reply = replyWith()) {
    const server = await startTarget(reply);
    const { id } = await channel({ type: "webhook", url: server.at("/hook"), ...fields });
    const listReceived = (): ReceivedDelivery[] =>
      server.asked.map((one) => ({
        id: String(one.headers["webhook-id"]),
        ...parseJsonBody<Omit<ReceivedDelivery, "id">>(one),
      }));
    return Object.assign(server, {
      id: id as string,
      received: listReceived,
      /** Each received alert, from a digest or alone. */
      alerts: () =>
        listReceived().flatMap((one): ReceivedDelivery[] =>
          one.type === "digest"
            ? one.data.alerts.map((alert: object) => ({ id: one.id, ...alert }))
            : [one],
        ),
      /** Received alerts as `monitor.down Shop`, in order. */
      listTitles: () =>
        listReceived().flatMap(({ type, data }) =>
          type === "digest" ? data.alerts.map(summarizeAlert) : [summarizeAlert({ type, data })],
        ) as string[],
    });
  }

  return {
    ...world,
    inbox: createInbox,
    later: deliverAfter,
    /** Sends due deliveries, then waits until retries that become due have arrived as well. */
    deliverTwiceAfter: async (seconds: number) => {
      await deliverAfter(seconds);
      await deliverAfter();
    },
    /** Restarts the engine from the stored state; `random` spreads its retries. */
    restart: (random = 0.5) => {
      alerts = createAlertsEngine(appliance, random);
      return alerts;
    },
    /**
     * Fails just before the next write that contains such a statement, like a power cut. Returns a function that prevents
     * it from now on, and returns whether it has failed.
     */
    crashBefore: (statement: string) => {
      const atomic = store.atomic.bind(store);
      let hasFailed = false;
      store.atomic = (statements) => {
        if (!statements.some((one) => compileStatement(one).text.includes(statement)))
          return atomic(statements);
        store.atomic = atomic;
        hasFailed = true;
        return Promise.reject(new Error("The power failed."));
      };
      return () => {
        store.atomic = atomic;
        return hasFailed;
      };
    },
    /** Messages about alerts and test messages, oldest first. */
    readMessages: () =>
      database
        .query<{ id: string; type: string; at: string; data: string }, []>(
          "SELECT id, type, at, data FROM alerts ORDER BY id",
        )
        .all()
        .map(({ data, ...message }): Json => ({ ...message, data: JSON.parse(data) })),
    /** Alerts, oldest first. */
    readAlerts: async (query = "") =>
      (await read(`/api/v1/alerts?per_page=100${query}`)).data.toReversed() as Json[],
    /** An alert with its timeline and deliveries. */
    readAlert: async (id: string) => (await read(`/api/v1/alerts/${id}`)).data as Json,
    /** Alerts of one channel, oldest first. */
    readDeliveries: async ({ id }: { id: string }) =>
      (
        await read(`/api/v1/alert-channels/${id}/deliveries?per_page=100`)
      ).data.toReversed() as Json[],
    readChannel: async ({ id }: { id: string }) =>
      (await read(`/api/v1/alert-channels/${id}`)).data,
    changeChannel: ({ id }: { id: string }, body: object) =>
      api("PATCH", `/api/v1/alert-channels/${id}`, { body }),
    /** A push monitor that is up, with these channels. */
    createWatchedJob: async (channels: readonly { id: string }[], fields: object = {}) => {
      const alertChannelIds = channels.map(({ id }) => id);
      const createdJob = await createJob({
        name: "Backup",
        interval: 86_400,
        alertChannelIds,
        ...fields,
      });
      await createdJob.report({ status: "up" });
      return Object.assign(createdJob, {
        changeState: async (status: "up" | "down" | "slow") => {
          time.now += 1;
          await createdJob.report(status === "slow" ? { latency_ms: "900" } : { status });
        },
        change: async (body: object) => {
          const { status } = await changeMonitor(createdJob.id, body);
          if (status !== 200) throw new Error(`The monitor could not be changed: ${status}`);
          await engine.runOnce();
        },
      });
    },
    monitor,
  };
}

function summarizeAlert({ type, data }: { type: string; data: Json }): string {
  const name = data.monitor?.name ?? data.incident?.title ?? data.channel?.name;
  return name === undefined ? type : `${type} ${name}`;
}
