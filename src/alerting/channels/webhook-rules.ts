/** Fills the URL, headers and body of a custom webhook with the values of a message, escaped for their format. */
import {
  type BoundedValues,
  boundValues,
  fillEncoded,
  fillJson,
  fillPlaceholders,
  fillUrl,
  fillXml,
} from "../../core/text/placeholders.ts";

/** Placeholders of a custom webhook, with an example of each. */
const webhookExamples = {
  title: "Shop is down",
  text: "The connection was refused.\nSince: 2026-11-20 23:02:00 UTC",
  type: "monitor.down",
  severity: "critical",
  state: "TRIGGERED",
  up: 0,
  key: "signalbox-01a1fb90-0000-7000-8000-000000000001",
  id: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46",
  time: "2026-11-20T23:02:00.000Z",
  acknowledgeUrl: "https://signalbox.lan/a/token",
  monitor: "Shop",
  status: "down",
  message: "The connection was refused.",
  since: "2026-11-20 23:02:00 UTC",
  duration: "",
  latency: "",
  group: "Front of house",
  target: "https://shop.lan/health",
  tags: "production, eu",
  description: "Where customers pay.",
  url: "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001",
} as const;

type WebhookPlaceholder = keyof typeof webhookExamples;
export type WebhookValues = Readonly<Record<WebhookPlaceholder, string | number>>;

export const webhookPlaceholders = Object.keys(webhookExamples) as WebhookPlaceholder[];

export const webhookBodyTypes = ["json", "form", "xml", "text"] as const;
export type WebhookBodyType = (typeof webhookBodyTypes)[number];

/** Returns the value of a placeholder. `state|down|up` has its own words for an outage and its end. */
export function readWebhookValue(values: WebhookValues, name: string): string | number {
  const [kind, outage, end] = name.split("|");
  if (kind === "state" && outage !== undefined && end !== undefined)
    return values.state === "RESOLVED" ? end : outage;
  return values[name as WebhookPlaceholder] ?? "";
}

const contentTypes: Record<WebhookBodyType, string> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "application/xml; charset=utf-8",
  text: "text/plain; charset=utf-8",
};

type Template = {
  url: string;
  headers: Readonly<Record<string, string | null>>;
  bodyType: WebhookBodyType;
  body: string | null;
};

/** Fills a template. A null URL means that a value would lead to another folder of the server. */
export function fillWebhook({ url, headers, bodyType, body }: Template, valueOf: BoundedValues) {
  return {
    url: fillUrl(url, "", valueOf)?.href ?? null,
    headers: {
      ...(body !== null && { "Content-Type": contentTypes[bodyType] }),
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          /^content-type$/i.test(name) ? "Content-Type" : name,
          toHeaderValue(fillPlaceholders(value ?? "", valueOf)),
        ]),
      ),
    },
    body: body === null ? null : fillWebhookBody(bodyType, body, valueOf),
  };
}

/** Fills the body of a custom webhook. */
function fillWebhookBody(bodyType: WebhookBodyType, body: string, valueOf: BoundedValues): string {
  switch (bodyType) {
    case "json":
      return fillJson(body, valueOf);
    case "form":
      return fillEncoded(body, valueOf);
    case "xml":
      return fillXml(body, valueOf);
    case "text":
      return fillPlaceholders(body, valueOf);
  }
}

/** Replaces control characters, which could start another header. */
const toHeaderValue = (text: string) => text.replace(/\p{Cc}+/gu, " ").trim();

/** Fills the body of a custom webhook with example values. */
export const fillExample = (bodyType: WebhookBodyType, body: string): string =>
  fillWebhookBody(
    bodyType,
    body,
    boundValues((name) => readWebhookValue(webhookExamples, name), Infinity, Error),
  );
