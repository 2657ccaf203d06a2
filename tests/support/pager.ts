import type { Reply } from "./target.ts";
import { answer, target } from "./target.ts";
import { watch } from "./watch.ts";

/** What a webhook received, as far as tests look at it. */
export type Received = {
  /** Stable id of the delivery. */
  id: string;
  type: string;
  timestamp: string;
  data: any;
};

/** A dashboard whose alerts go out when told, and receivers for them. */
export async function pager(settings: Parameters<typeof watch>[0] = {}) {
  const made = await watch(settings);
  const { alerts, time, channel, monitor, job, changeMonitor } = made;

  /** A webhook channel and the server behind it. */
  async function inbox(fields: object = {}, reply: Reply = answer()) {
    const server = await target(reply);
    const { id } = await channel({ type: "webhook", url: server.at("/hook"), ...fields });
    const received = (): Received[] =>
      server.asked.map(({ headers, body }) => ({
        id: String(headers["webhook-id"]),
        ...JSON.parse(body),
      }));
    return Object.assign(server, {
      id: id as string,
      received,
      /** Each alert that came, one of a digest like one that came alone. */
      alerts: () =>
        received().flatMap((one): Received[] =>
          one.type === "digest"
            ? one.data.alerts.map((alert: object) => ({ id: one.id, ...alert }))
            : [one],
        ),
      /** `monitor.down Shop`, in the order in which they came. */
      heard: () =>
        received().flatMap(({ type, data }) =>
          type === "digest" ? data.alerts.map(briefly) : [briefly({ type, data })],
        ) as string[],
    });
  }

  return {
    ...made,
    inbox,
    /** Turns what happened into deliveries, lets so many seconds go by, and sends what is due then. */
    later: async (seconds = 10) => {
      await alerts.runOnce();
      time.now += seconds * 1000;
      await alerts.runOnce();
    },
    /** A job that is up, with these channels. */
    watched: async (channels: readonly { id: string }[], fields: object = {}) => {
      const alertChannelIds = channels.map(({ id }) => id);
      const made = await job({ name: "Backup", interval: 86_400, alertChannelIds, ...fields });
      await made.report({ status: "up" });
      return Object.assign(made, {
        goes: async (status: "up" | "down") => {
          time.now += 1;
          await made.report({ status });
        },
        change: (body: object) => changeMonitor(made.id, body),
      });
    },
    monitor,
  };
}

function briefly({ type, data }: { type: string; data: any }): string {
  const name = data.monitor?.name ?? data.incident?.title ?? data.channel?.name;
  return name === undefined ? type : `${type} ${name}`;
}
