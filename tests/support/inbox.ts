import { answer, type Asked, hang, jsonOf, type Reply, reset, target } from "./target.ts";

/** An alert that a webhook received, alone or in a digest. */
export type Arrived = { delivery: string; type: string; monitorId: string; alertId: string };

type Body = { type: string; data: { alertId: string; monitor?: { id: string }; alerts: Body[] } };

/** The alerts in a request. */
function arrivedIn(asked: Asked): Arrived[] {
  const whole = jsonOf<Body>(asked);
  const alerts = whole.type === "digest" ? whole.data.alerts : [whole];
  return alerts.map(({ type, data }) => ({
    delivery: String(asked.headers["webhook-id"]),
    type,
    monitorId: data.monitor?.id ?? "",
    alertId: data.alertId,
  }));
}

/** A receiver of webhooks outside the tested process. */
export async function inbox(reply: Reply = answer()) {
  const taken: Asked[] = [];
  let more = Promise.withResolvers<void>();
  const server = await target((response) => {
    const asked = server.asked.at(-1);
    response.on("finish", () => {
      if (response.statusCode >= 300 || asked === undefined) return;
      taken.push(asked);
      more.resolve();
      more = Promise.withResolvers();
    });
    reply(response);
  });
  return Object.assign(server, {
    /** Changes the behavior from now on. */
    behave: (next: Reply) => (reply = next),
    /** Accepted requests, in order. */
    arrived: () => taken.flatMap(arrivedIn),
    async untilArrived(wanted: (arrived: Arrived[]) => boolean) {
      while (!wanted(taken.flatMap(arrivedIn))) await more.promise;
    },
  });
}

/** Randomly 200, 500, a closed connection or no response. */
export function moody(random: () => number = Math.random): Reply {
  return (response) => {
    const dice = random();
    const reply = dice < 0.5 ? answer() : dice < 0.75 ? answer(500) : dice < 0.95 ? reset : hang;
    reply(response);
  };
}
