import { answer, type Asked, hang, jsonOf, type Reply, reset, target } from "./target.ts";

/** An alert as a webhook got it, alone or in a digest. */
export type Arrived = { delivery: string; type: string; monitorId: string; alertId: string };

type Body = { type: string; data: { alertId: string; monitor?: { id: string }; alerts: Body[] } };

/** What of a request counts as told: each of its alerts. */
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

/** A receiver of webhooks outside the process that is being tested. */
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
    /** From now on. */
    behave: (next: Reply) => (reply = next),
    /** What it took, in order. */
    arrived: () => taken.flatMap(arrivedIn),
    async untilArrived(wanted: (arrived: Arrived[]) => boolean) {
      while (!wanted(taken.flatMap(arrivedIn))) await more.promise;
    },
  });
}

/** 200, 500, a closed connection or no answer at all, as the dice say. */
export function moody(random: () => number = Math.random): Reply {
  return (response) => {
    const dice = random();
    const reply = dice < 0.5 ? answer() : dice < 0.75 ? answer(500) : dice < 0.95 ? reset : hang;
    reply(response);
  };
}
