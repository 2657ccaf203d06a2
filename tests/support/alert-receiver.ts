/** Sends messages through real providers to a receiver on loopback. */
import { expect } from "bun:test";
import type {
  ChannelSettings,
  ChannelType,
  ReceiverType,
} from "../../src/alerting/channels/kinds-schema.ts";
import type { Alert, AlertData, AlertType, AlertedMonitor } from "../../src/alerting/alert.ts";
import { type Message, buildMessage } from "../../src/alerting/sending/messages.ts";
import type { DeliveryContext, Provider, Verdict } from "../../src/alerting/provider.ts";
import { createVault } from "../../src/core/security/secrets.ts";
import { deriveVapidKeys } from "../../src/alerting/vapid.ts";
import { createTargetGuard } from "../../src/core/security/target-guard.ts";
import { createAccessTokenCache } from "../../src/core/outgoing/access-tokens.ts";
import { exchange } from "../../src/core/outgoing/http/exchange.ts";
import { NewAlertChannel, PersonalChannel } from "../../src/alerting/channels/schema.ts";
import { providers } from "../../src/alerting/providers.ts";
import { newChannels } from "./samples.ts";
import { replyWith, type RecordedRequest, type Reply, startTarget } from "./target.ts";
import type { Json } from "./json.ts";

/** Channel types that don't send HTTP requests; they have tests of their own. */
export const typesWithoutHttp: readonly string[] = ["email", "mqtt", "syslog"];

/** Public URL of the appliance in these tests. */
export const origin = "https://signalbox.lan";

/** The stable id of every delivery that `telling` creates. */
export const deliveryId = "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46";

/** When every delivery is sent: 2026-11-20T23:02:07.900Z. */
export const now = Date.parse("2026-11-20T23:02:07.900Z");

export const monitor: AlertedMonitor = {
  id: "01a1fb90-0000-7000-8000-000000000001",
  name: "Shop",
  type: "http",
  groupId: "01a1fb90-0000-7000-8000-0000000000aa",
  groupName: "Front of house",
};

/** Details of the monitor in an alert. */
export const details = {
  target: "https://shop.lan/health",
  tags: ["production", "eu"],
  description: "Where customers pay.",
};

const channel = { id: "01a1fb90-0000-7000-8000-0000000000cc", name: "On-call", type: "slack" };

const incident = {
  id: "01a1fb90-0000-7000-8000-0000000000dd",
  title: "Checkout fails",
  status: "investigating",
  severity: "major",
  monitorId: null,
} as const;

const source = {
  id: "01a1fb90-0000-7000-8000-0000000000ee",
  name: "Prometheus",
  type: "alertmanager",
};
const report = {
  id: "01a1fb90-0000-7000-8000-0000000000ef",
  key: "c6eadffa33fcdf37",
  title: "The disk of db1 is nearly full",
  link: "https://prometheus.lan/graph",
  priority: "normal",
} as const;

const since = "2026-11-20T23:02:00.000Z";
const refused = { monitor, since, message: "The connection was refused.", latencyMs: null };

/** Default content of each type of alert. */
const defaultAlertData: AlertData = {
  "monitor.down": refused,
  "monitor.up": { monitor, since, message: "HTTP 200 (OK).", latencyMs: 42, downSeconds: 754 },
  "monitor.degraded": { monitor, since, message: "Took longer than 500 ms.", latencyMs: 812 },
  "monitor.reminder": { ...refused, since: "2026-11-20T21:02:00.000Z", downSeconds: 7200 },
  "monitor.flapping": { monitor, since, message: "Changes too often.", latencyMs: 42, changes: 6 },
  "certificate.expiring": {
    monitor,
    since,
    message: "The certificate has to be renewed.",
    latencyMs: 42,
    expiresAt: "2026-11-27T12:00:00.000Z",
    daysLeft: 6,
  },
  "incident.opened": { incident, message: "Incident opened." },
  "incident.updated": {
    incident: { ...incident, status: "identified" },
    message: "The cause is known.",
  },
  "incident.resolved": {
    incident: { ...incident, status: "resolved" },
    message: "Incident resolved.",
  },
  "channel.failed": { channel, message: "Alerts were given up after 24 hours." },
  "appliance.troubled": {
    problem: "disk",
    severity: "error",
    message: "The disk has 800 MB left of 40 GB.",
  },
  "appliance.recovered": { problem: "disk", message: "There is enough space again." },
  "source.opened": { source, report, since, message: "The disk of db1 has 2 % left." },
  "source.changed": {
    source,
    report: { ...report, priority: "critical" },
    since,
    message: "The disk of db1 has 1 % left.",
  },
  "source.resolved": { source, report, since, message: "", openSeconds: 754 },
  drill: {
    drill: { type: "policy", id: "01a1fb98-0000-7000-8000-0000000000d1", name: "Platform" },
    message: "This is a drill: nothing has failed.",
  },
  "shift.starting": {
    shift: {
      scheduleId: "01a1fb98-0000-7000-8000-0000000000d2",
      scheduleName: "Platform",
      personId: "01a1fb98-0000-7000-8000-0000000000d3",
      personName: "Ada",
      startsAt: "2026-11-30T09:00:00.000Z",
      endsAt: null,
    },
    message: "Ada is on call in Platform from 2026-11-30 09:00 (UTC).",
  },
  test: { channel, message: "Alerts of this channel arrive here." },
};

export const alertTypes = Object.keys(defaultAlertData) as AlertType[];

/** An alert of this type; `changes` replace parts of the default content. */
export function createAlert<T extends AlertType>(
  type: T,
  changes: Partial<AlertData[T]> = {},
  id = "01a1fb98-0000-7000-8000-000000000001",
): Alert {
  return { id, type, at: since, data: { ...defaultAlertData[type], ...changes } } as Alert;
}

/** Alerts about a number of monitors that went down at once: `Shop 1` and so on, or with another name. */
export function createAlertStorm(
  count: number,
  nameOf = (number: number) => `Shop ${number}`,
): Alert[] {
  return Array.from({ length: count }, (_, index) => {
    const last = String(index + 1).padStart(12, "0");
    const one = { ...monitor, id: `01a1fb90-0000-7000-8000-${last}`, name: nameOf(index + 1) };
    return createAlert("monitor.down", { monitor: one }, `01a1fb98-0000-7000-8000-${last}`);
  });
}

/** Settings of a webhook that sends Signalbox's own JSON. */
export const plainBody = { method: "POST", bodyType: "json", body: null } as const;

/** The message of one delivery. */
export function createMessage(
  alerts: Alert | readonly Alert[],
  template: string | null = null,
): Message {
  return buildMessage(deliveryId, "type" in alerts ? [alerts] : alerts, origin, template);
}

/** The message of an alert with a link to acknowledge it, from an appliance at this address. */
export function createLinkedMessage(alert: Alert, from = origin): Message {
  const url = `${from}/a/token`;
  return buildMessage(deliveryId, [alert], from, null, null, new Map([[alert.id, url]]));
}

/** A receiver on loopback for every delivery, regardless of its host. */
export async function startReceiver(usually?: Reply) {
  const server = await startTarget(usually);
  const urls: string[] = [];

  const context: DeliveryContext = {
    now,
    targets: createTargetGuard(() => []),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    smtp: null,
    accessTokens: createAccessTokenCache(),
    vapid: deriveVapidKeys(createVault(new Uint8Array(32))),
    progress: null,
    messageTo: null,
    urlOfScript: () => `${origin}/a/sealed/script`,
    exchange(request, context) {
      urls.push(request.url.href);
      const url = new URL(request.url.pathname + request.url.search, server.at());
      return exchange({ ...request, url }, context);
    },
  };

  return {
    ...server,
    context,
    /** The intended URLs, in the order of the requests. */
    urls,
    /** Sends a message through the real code. */
    deliver: <T extends ReceiverType>(
      provider: Provider<T>,
      settings: ChannelSettings<T>,
      message: Message,
      changes: Partial<DeliveryContext> = {},
    ): Promise<Verdict> => provider.deliver(settings, message, { ...context, ...changes }),
    /** The last request. */
    lastRequest(): RecordedRequest {
      const request = server.asked.at(-1);
      if (request === undefined) throw new Error("Nothing was sent.");
      return request;
    },
    /** The body of the last request, which must be JSON. */
    parseLastBody(): Json {
      const { headers, body } = this.lastRequest();
      if (headers["content-type"] !== "application/json") throw new Error("No JSON was sent.");
      return JSON.parse(body);
    },
  };
}

/** A browser: the example of RFC 8291. */
const webpush = {
  endpoint: "https://push.example/send/4f2c9e",
  publicKey:
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** A provider by its name, and the settings of a new channel or contact method of its type. */
export function createChannel(type: string) {
  const { secrets, others } = newChannels[type] ?? { secrets: {}, others: webpush };
  const schema = type === "webpush" ? PersonalChannel : NewAlertChannel;
  const settings = schema.parse({ type, name: type, ...others, ...secrets });
  return {
    provider: providers[type as ChannelType] as Provider<ChannelType>,
    settings: settings as unknown as ChannelSettings<ChannelType>,
  };
}

/** The body of a request as an object, from JSON or from a form. */
export function parseFields({ headers, body }: RecordedRequest): Json {
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
}

/** Sends an outage alert that gets this response, and returns its outcome. */
export async function judgeReply<T extends ChannelType>(
  reply: Reply,
  provider: Provider<T>,
  settings: ChannelSettings<T>,
): Promise<Verdict> {
  await using to = await startReceiver(reply);
  return await to.deliver(provider, settings, createMessage(createAlert("monitor.down")));
}

/** Expects a retry, with a Retry-After no earlier than this many seconds. */
export function retryVerdict(reason: string, retryAfterSeconds?: number): Verdict {
  const patience = retryAfterSeconds !== undefined && { retryAfterSeconds };
  return { outcome: "failed", reason, failure: "passing", ...patience };
}

export const createFinalVerdict = (reason: string): Verdict => ({
  outcome: "failed",
  reason,
  failure: "final",
});

/** Expects retries for an hour and an immediate problem report. */
export const createDoubtfulVerdict = (reason: string): Verdict => ({
  outcome: "failed",
  reason,
  failure: "looks-permanent",
});

/**
 * Expects the usual meaning of each status, with a body that must not be shown. `acceptedBody` is
 * the body of a successful response.
 */
export async function expectUsualVerdicts<T extends ChannelType>(
  provider: Provider<T>,
  settings: ChannelSettings<T>,
  acceptedBody = "internal gossip",
): Promise<void> {
  const judgeStatus = (status: number, headers: Record<string, string> = {}) =>
    judgeReply(replyWith(status, "internal gossip", headers), provider, settings);
  expect(await judgeReply(replyWith(200, acceptedBody), provider, settings)).toEqual({
    outcome: "delivered",
  });
  expect(await judgeStatus(302, { location: "/" })).toEqual(
    retryVerdict("The receiver responded with HTTP 302 (Found); give the final address instead."),
  );
  expect(await judgeStatus(400)).toEqual(
    retryVerdict("The receiver responded with HTTP 400 (Bad Request)."),
  );
  expect(await judgeStatus(401)).toEqual(
    createDoubtfulVerdict("The receiver responded with HTTP 401 (Unauthorized)."),
  );
  expect(await judgeStatus(403)).toEqual(
    createDoubtfulVerdict("The receiver responded with HTTP 403 (Forbidden)."),
  );
  expect(await judgeStatus(404)).toEqual(
    createDoubtfulVerdict("The receiver responded with HTTP 404 (Not Found)."),
  );
  expect(await judgeStatus(410)).toEqual(
    createFinalVerdict("The receiver responded with HTTP 410 (Gone)."),
  );
  expect(await judgeStatus(429, { "retry-after": "17" })).toEqual(
    retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", 17),
  );
  expect(await judgeStatus(500)).toEqual(
    retryVerdict("The receiver responded with HTTP 500 (Internal Server Error)."),
  );
}
