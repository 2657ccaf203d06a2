/** Sends signed JSON to webhooks. */
import { createHmac } from "node:crypto";
import type { Alert } from "../alert.ts";
import { buildSampleUrl } from "../records/links.ts";
import { type Message, urlOf } from "../sending/messages.ts";
import { createHttpProvider, type ProviderRequest } from "../provider.ts";

/** Sends signed JSON. 2xx is success, 410 is final, and 401, 403 and 404 look permanent. */
export const webhook = createHttpProvider<"webhook">({
  digestLimit: {
    // Common servers accept 100 kB or more. A smaller body usually arrives in one read.
    bytes: 19_800,
    bytesOf: (alert, origin) =>
      1 +
      Buffer.byteLength(
        JSON.stringify(buildAlertPayload(alert, urlOf(alert, origin), buildSampleUrl(origin))),
      ),
  },
  request: (settings, message, now) =>
    signRequest(settings, message.id, buildWebhookBody(message), now),
});

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
  const timestamp = String(Math.floor(now / 1000));
  return {
    url,
    headers: {
      ...removeOwnHeaders(headers),
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      ...(secret !== null && {
        "webhook-signature": createSignature(secret, `${id}.${timestamp}.${body}`),
      }),
    },
    body,
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
    buildAlertPayload(alert, urlOf(alert, url), acknowledgeUrls.get(alert.id)),
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

function removeOwnHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-type|webhook-.*)$/i.test(name)),
  );
}

function createSignature(secret: string, signed: string): string {
  const branded = secret.startsWith("whsec_");
  const key = branded ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
