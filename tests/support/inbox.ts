import {
  replyWith,
  type RecordedRequest,
  hang,
  parseJsonBody,
  type Reply,
  reset,
  startTarget,
} from "./target.ts";

/** An alert that a webhook received, alone or in a digest. */
export type ArrivedAlert = { delivery: string; type: string; monitorId: string; alertId: string };

type Body = { type: string; data: { alertId: string; monitor?: { id: string }; alerts: Body[] } };

/** The alerts in a request. */
function parseArrivedAlerts(request: RecordedRequest): ArrivedAlert[] {
  const whole = parseJsonBody<Body>(request);
  const alerts = whole.type === "digest" ? whole.data.alerts : [whole];
  return alerts.map(({ type, data }) => ({
    delivery: String(request.headers["webhook-id"]),
    type,
    monitorId: data.monitor?.id ?? "",
    alertId: data.alertId,
  }));
}

/** A receiver of webhooks outside the tested process. */
export async function startInbox(reply: Reply = replyWith()) {
  const requests: RecordedRequest[] = [];
  let more = Promise.withResolvers<void>();
  const server = await startTarget((response) => {
    const request = server.asked.at(-1);
    response.on("finish", () => {
      if (response.statusCode >= 300 || request === undefined) return;
      requests.push(request);
      more.resolve();
      more = Promise.withResolvers();
    });
    reply(response);
  });
  return Object.assign(server, {
    /** Changes the behavior from now on. */
    behave: (next: Reply) => (reply = next),
    /** Accepted requests, in order. */
    listArrived: () => requests.flatMap(parseArrivedAlerts),
    async waitUntilArrived(wanted: (arrived: ArrivedAlert[]) => boolean) {
      while (!wanted(requests.flatMap(parseArrivedAlerts))) await more.promise;
    },
  });
}

/** Randomly 200, 500, a closed connection or no response. */
export function createMoodyReply(random: () => number = Math.random): Reply {
  return (response) => {
    const dice = random();
    const reply =
      dice < 0.5 ? replyWith() : dice < 0.75 ? replyWith(500) : dice < 0.95 ? reset : hang;
    reply(response);
  };
}
