/** The channel types that open a case per problem, and close it at its end. Their services decide when to notify people. */
import {
  fixedDestination,
  isSameOrigin,
  isSameValue,
  selfDestination,
} from "../../../core/security/destinations.ts";
import { HttpUrl, line, nullable, secret } from "../../../core/fields.ts";
import {
  apiKey,
  defineChannelKind,
  describeServer,
  optionalSecret,
  origins,
  region,
  regionLabels,
  webhookUrl,
} from "./kind-schema.ts";

const defineCaseWebhook = (name: string, summary: string, help: string, placeholder: string) =>
  defineChannelKind({
    name,
    summary,
    help,
    fields: { webhookUrl },
    labels: { webhookUrl: { label: "Webhook URL", placeholder, mono: true } },
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  });

export const caseKinds = {
  pagerduty: defineChannelKind({
    name: "PagerDuty",
    summary: "Opens and resolves incidents",
    help: "In the service open Integrations, add “Events API V2” and copy its integration key, of 32 characters.",
    fields: { routingKey: secret(), region },
    labels: { routingKey: { label: "Integration key" }, region: regionLabels },
    secrets: { routingKey: { region: isSameValue } },
    address: ({ region }) => origins.pagerduty[region],
  }),
  jsm: defineChannelKind({
    name: "Jira Service Management",
    summary: "Opens and closes alerts",
    help: "In a team’s Operations open Integrations, add “API”, turn it on and copy its API key. Keys migrated from Opsgenie work, too.",
    fields: { apiKey },
    labels: { apiKey: { label: "API key" } },
    secrets: { apiKey: fixedDestination },
    address: () => origins.jsm,
  }),
  opsgenie: defineChannelKind({
    name: "Opsgenie",
    summary: "Until it shuts down on 5 April 2027",
    help: "Opsgenie shuts down on 5 April 2027. Once your account is migrated, use Jira Service Management with the same key. In the team open Integrations, add “API”, turn it on and copy its API key.",
    fields: { apiKey, region },
    labels: { apiKey: { label: "API key" }, region: regionLabels },
    secrets: { apiKey: { region: isSameValue } },
    address: ({ region }) => origins.opsgenie[region],
  }),
  signl4: defineCaseWebhook(
    "SIGNL4",
    "Opens, acknowledges and closes alerts",
    "In the team’s Apps open “Webhook”, create it and copy its URL.",
    "https://connect.signl4.com/webhook/…",
  ),
  splunkoncall: defineCaseWebhook(
    "Splunk On-Call",
    "Opens, acknowledges and resolves incidents (formerly VictorOps)",
    "Open Integrations, “REST Endpoint”, enable it, copy its URL, and replace $routing_key at its end with a routing key from Settings.",
    "https://alert.victorops.com/integrations/generic/…",
  ),
  incidentio: defineChannelKind({
    name: "incident.io",
    summary: "Opens and resolves alerts",
    help: "Under Alerts, Sources create a source of the type HTTP (Default) and copy its URL and its token.",
    fields: { url: HttpUrl, token: secret() },
    labels: {
      url: {
        label: "URL",
        placeholder: "https://api.incident.io/v2/alert_events/http/…",
        mono: true,
      },
      token: { label: "Token" },
    },
    secrets: { token: { url: isSameOrigin } },
    address: "url",
  }),
  alertmanager: defineChannelKind({
    name: "Alertmanager",
    summary: "Fires and resolves alerts of Prometheus’ Alertmanager",
    help: "Routes can match the labels alertname=Signalbox, case and instance. The other details are annotations, because labels must not change until an alert is resolved.",
    fields: {
      server: HttpUrl,
      token: optionalSecret,
      username: nullable(line(255)),
      password: optionalSecret,
    },
    labels: {
      server: describeServer("http://alertmanager.lan:9093"),
      token: { label: "Bearer token", hint: "Only if a proxy in front of it needs one." },
      username: { label: "User name", hint: "With a password, instead of a token." },
      password: { label: "Password" },
    },
    secrets: { token: { server: isSameOrigin }, password: { server: isSameOrigin } },
    address: "server",
  }),
};
