/** Sends signed JSON, or the channel's custom body, to webhooks. */
import { createHmac } from "node:crypto";
import type { Alert } from "../alert.ts";
import { buildSampleUrl } from "../records/links.ts";
import { TargetFailure } from "../../core/outgoing/failures.ts";
import { fillWebhook, readWebhookValue, type WebhookValues } from "../channels/webhook-rules.ts";
import {
  cutText,
  fitLines,
  listPlaceholderValues,
  type Message,
  buildAlertUrl,
} from "../sending/messages.ts";
import { createHttpProvider, type ProviderRequest } from "../provider.ts";
import { boundMessageValues } from "./formatting.ts";

/**
 * Sends signed JSON, or a custom body from a template. 2xx is success, 410 is final, and 401, 403 and 404 look
 * permanent.
 */
export const webhook = createHttpProvider<"webhook">({
  digestLimit: {
    // Common servers accept 100 kB or more. A smaller body usually arrives in one read.
    bytes: 19_800,
    bytesOf: (alert, origin) =>
      1 +
      Buffer.byteLength(
        JSON.stringify(
          buildAlertPayload(alert, buildAlertUrl(alert, origin), buildSampleUrl(origin)),
        ),
      ),
  },
  request(settings, message, now) {
    const { method, body } = settings;
    const values = listWebhookValues(message);
    const filled = fillWebhook(
      settings,
      boundMessageValues((name) => readWebhookValue(values, name)),
    );
    if (filled.url === null) throw new TargetFailure(otherFolder, true);
    const receiver = { ...settings, url: filled.url, headers: filled.headers };
    const isOwn = method === "GET" || body !== null;
    if (!isOwn)
      return { ...signRequest(receiver, message.id, buildWebhookBody(message), now), method };
    const headers = buildSignedHeaders(receiver, message.id, filled.body ?? "", now);
    return {
      url: filled.url,
      method,
      headers: { ...removeHeaders(filled.headers, /^webhook-/i), ...headers },
      body: filled.body,
    };
  },
});

const otherFolder = "A value in the URL leads to another folder of the server.";
const maxTextLength = 8_000;

/**
 * Returns the values of the placeholders. The placeholders of a monitor are empty in other messages, and in a digest.
 */
function listWebhookValues(message: Message): WebhookValues {
  const { id, at, type, title, lines, severity, tone, url, alerts, problem } = message;
  const [alert, ...others] = alerts;
  const isSingle = alert !== undefined && others.length === 0;
  const text = fitLines(lines, maxTextLength).join("\n");
  const isOver = problem?.isOver ?? tone === "up";
  return {
    monitor: "",
    status: "",
    message: isSingle ? cutText(alert.data.message, maxTextLength) : text,
    since: "",
    duration: "",
    latency: "",
    group: "",
    target: "",
    tags: "",
    description: "",
    url,
    ...(isSingle && listPlaceholderValues(alert, url)),
    title: cutText(title, 1_000),
    text,
    type,
    severity,
    state: isOver ? "RESOLVED" : "TRIGGERED",
    up: tone === "down" ? 0 : 1,
    key: problem?.key ?? id,
    id,
    time: at,
    acknowledgeUrl: message.acknowledgeUrl ?? "",
  };
}

/**
 * Builds a request as defined by Standard Webhooks. `id` is the same on every attempt; `secret`
 * signs the request.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signRequest(
  { url, secret, headers = {} }: Receiver,
  id: string,
  payload: object,
  now: number,
): ProviderRequest {
  const body = JSON.stringify(payload);
  const signed = buildSignedHeaders({ secret }, id, body, now);
  return {
    url,
    headers: {
      ...removeHeaders(headers, /^(content-type$|webhook-)/i),
      "Content-Type": "application/json",
      ...signed,
    },
    body,
  };
}

/** Returns the headers that identify and sign a body. */
function buildSignedHeaders(
  { secret }: Pick<Receiver, "secret">,
  id: string,
  body: string,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(secret !== null && {
      "webhook-signature": createSignature(secret, `${id}.${timestamp}.${body}`),
    }),
  };
}

type Receiver = {
  url: string;
  secret: string | null;
  headers?: Readonly<Record<string, string>>;
};

/** Returns the payload of one alert, alone or in a digest. */
export function buildAlertPayload(
  { id, type, at, data }: Alert,
  url: string,
  acknowledgeUrl?: string,
) {
  return {
    type,
    timestamp: at,
    data: { alertId: id, ...buildData(data), url, ...(acknowledgeUrl && { acknowledgeUrl }) },
  };
}

function buildWebhookBody({ type, at, alerts, url, acknowledgeUrls }: Message) {
  const [alert] = alerts;
  if (type !== "digest" && alert !== undefined)
    return buildAlertPayload(alert, url, acknowledgeUrls.get(alert.id));
  // The URL of a digest is the base URL of the appliance.
  const payloads = alerts.map((alert) =>
    buildAlertPayload(alert, buildAlertUrl(alert, url), acknowledgeUrls.get(alert.id)),
  );
  return { type, timestamp: at, data: { alerts: payloads } };
}

function buildData(data: Alert["data"]) {
  if ("incident" in data) {
    const { isMarkdown: _typed, ...payload } = data;
    return payload;
  }
  if (!("monitor" in data)) return data;
  const { target = null, tags = [], description = "", ...monitor } = data.monitor;
  return { ...data, monitor: { ...monitor, target, tags, description } };
}

const removeHeaders = (headers: Readonly<Record<string, string>>, names: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name)));

function createSignature(secret: string, signed: string): string {
  const branded = secret.startsWith("whsec_");
  const key = branded ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
