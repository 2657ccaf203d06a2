/** The channel types that open a case per problem, and close it at its end. Their services decide when to notify people. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import {
  type Destination,
  fixedDestination,
  isSameOrigin,
  isSameValue,
  selfDestination,
} from "../../../core/security/destinations.ts";
import { HttpUrl, line, nullable, secret } from "../../../core/fields.ts";
import type { FieldLabels } from "../../../core/kinds.ts";
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
    labels: { webhookUrl: { label: t("Webhook URL"), placeholder, mono: true } },
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  });

const repository = z
  .string()
  .max(200)
  .regex(/^(?!\.\.?\/)[\w.-]+\/(?!\.\.?$)[\w.-]+$/, "must be OWNER/NAME");

const defineTracker = <
  F extends Record<string, z.ZodType> & { server: z.ZodType; token: z.ZodType },
>(
  name: string,
  help: string,
  fields: F,
  labels: Readonly<Record<Exclude<keyof F & string, "server" | "token">, FieldLabels>>,
  placeholder: string,
) =>
  defineChannelKind({
    name,
    summary: t("Opens, comments and closes an issue per problem"),
    help,
    fields,
    labels: {
      ...labels,
      server: describeServer(placeholder),
      token: { label: t("Token") },
    } as Readonly<Record<Exclude<keyof F & string, "template">, FieldLabels>>,
    secrets: { token: { server: isSameOrigin } } as Readonly<
      Record<string, Destination<keyof F & string>>
    >,
    address: "server" as keyof F & string,
  });

export const caseKinds = {
  pagerduty: defineChannelKind({
    name: "PagerDuty",
    summary: t("Opens and resolves incidents"),
    help: t(
      "In the service open Integrations, add “Events API V2” and copy its integration key, of 32 characters.",
    ),
    fields: { routingKey: secret(), region },
    labels: { routingKey: { label: t("Integration key") }, region: regionLabels },
    secrets: { routingKey: { region: isSameValue } },
    address: ({ region }) => origins.pagerduty[region],
  }),
  jsm: defineChannelKind({
    name: "Jira Service Management",
    summary: t("Opens and closes alerts"),
    help: t(
      "In a team’s Operations open Integrations, add “API”, turn it on and copy its API key. Keys migrated from Opsgenie work, too.",
    ),
    fields: { apiKey },
    labels: { apiKey: { label: t("API key") } },
    secrets: { apiKey: fixedDestination },
    address: () => origins.jsm,
  }),
  opsgenie: defineChannelKind({
    name: "Opsgenie",
    summary: t("Until it shuts down on 5 April 2027"),
    help: t(
      "Opsgenie shuts down on 5 April 2027. Once your account is migrated, use Jira Service Management with the same key. In the team open Integrations, add “API”, turn it on and copy its API key.",
    ),
    fields: { apiKey, region },
    labels: { apiKey: { label: t("API key") }, region: regionLabels },
    secrets: { apiKey: { region: isSameValue } },
    address: ({ region }) => origins.opsgenie[region],
  }),
  signl4: defineCaseWebhook(
    "SIGNL4",
    t("Opens, acknowledges and closes alerts"),
    t("In the team’s Apps open “Webhook”, create it and copy its URL."),
    "https://connect.signl4.com/webhook/…",
  ),
  splunkoncall: defineCaseWebhook(
    "Splunk On-Call",
    t("Opens, acknowledges and resolves incidents (formerly VictorOps)"),
    t(
      "Open Integrations, “REST Endpoint”, enable it, copy its URL, and replace $routing_key at its end with a routing key from Settings.",
    ),
    "https://alert.victorops.com/integrations/generic/…",
  ),
  incidentio: defineChannelKind({
    name: "incident.io",
    summary: t("Opens and resolves alerts"),
    help: t(
      "Under Alerts, Sources create a source of the type HTTP (Default) and copy its URL and its token.",
    ),
    fields: { url: HttpUrl, token: secret() },
    labels: {
      url: {
        label: "URL",
        placeholder: "https://api.incident.io/v2/alert_events/http/…",
        mono: true,
      },
      token: { label: t("Token") },
    },
    secrets: { token: { url: isSameOrigin } },
    address: "url",
  }),
  github: defineTracker(
    t("GitHub issues"),
    t(
      "Create a fine-grained token for the repository with the permission “Issues: Read and write”, of an account with write access. Issues get the label signalbox. For GitHub Enterprise Server, the server is https://HOST/api/v3.",
    ),
    {
      server: HttpUrl.default("https://api.github.com"),
      repository: repository.meta({ example: "acme/ops" }),
      token: secret(),
    },
    { repository: { label: t("Repository"), placeholder: "acme/ops", mono: true } },
    "https://api.github.com",
  ),
  gitlab: defineTracker(
    t("GitLab issues"),
    t(
      "Under the project’s Settings, Access tokens create a token with the role Reporter and the scope api.",
    ),
    {
      server: HttpUrl.default("https://gitlab.com"),
      project: z
        .string()
        .max(255)
        .regex(/^[\w.-]+(\/[\w.-]+)*$/, "must be the path or the id of a project")
        .meta({ example: "acme/ops/alerts" }),
      token: secret(),
    },
    { project: { label: t("Project"), placeholder: "acme/ops/alerts", mono: true } },
    "https://gitlab.com",
  ),
  gitea: defineTracker(
    t("Gitea and Forgejo issues"),
    t(
      "In your settings under Applications generate a token with the permission “issue: Read and Write”.",
    ),
    { server: HttpUrl, repository, token: secret() },
    { repository: { label: t("Repository"), placeholder: "acme/ops", mono: true } },
    "https://git.lan",
  ),
  alertmanager: defineChannelKind({
    name: "Alertmanager",
    summary: t("Fires and resolves alerts of Prometheus’ Alertmanager"),
    help: t(
      "Routes can match the labels alertname=Signalbox, case and instance. The other details are annotations, because labels must not change until an alert is resolved.",
    ),
    fields: {
      server: HttpUrl,
      token: optionalSecret,
      username: nullable(line(255)),
      password: optionalSecret,
    },
    labels: {
      server: describeServer("http://alertmanager.lan:9093"),
      token: { label: t("Bearer token"), hint: t("Only if a proxy in front of it needs one.") },
      username: { label: t("User name"), hint: t("With a password, instead of a token.") },
      password: { label: t("Password") },
    },
    secrets: { token: { server: isSameOrigin }, password: { server: isSameOrigin } },
    address: "server",
  }),
};
