/** Names the formats of alert sources, and what to enter in each tool. */
import type { SourceType } from "../../../src/alerting/sources/schema.ts";
import { t } from "../../language/text.ts";

type SetUp = {
  /** Where in the tool to enter it, as a sentence. */
  where: string;
  /** Values to enter in the tool. */
  lines: readonly { label: string; text: string }[];
};

/** Parts of the address of a source. */
type Address = { address: string; origin: string; token: string };

type TypeInfo = { name: string; setUp: (address: Address) => SetUp };

const listUrl = ({ address }: Address) => [{ label: "URL", text: address }];

export const sourceTypeInfos: Readonly<Record<SourceType, TypeInfo>> = {
  alertmanager: {
    name: "Prometheus Alertmanager",
    setUp: ({ address }) => ({
      where: t("Add a receiver to alertmanager.yml, and name it in a route."),
      lines: [{ label: t("Receiver"), text: `webhook_configs: [{ url: "${address}" }]` }],
    }),
  },
  grafana: {
    name: "Grafana",
    setUp: (address) => ({
      where: t(
        "Alerting → Contact points → Add → Webhook. Then choose it in a notification policy.",
      ),
      lines: listUrl(address),
    }),
  },
  pagerduty: {
    name: t("Any tool for PagerDuty"),
    setUp: ({ origin, token }) => ({
      where: t(
        "Use an integration for PagerDuty’s Events API v2. Replace its host name, events.pagerduty.com.",
      ),
      lines: [
        { label: "URL", text: `${origin}/v2/enqueue` },
        { label: "Routing key", text: token },
      ],
    }),
  },
  opsgenie: {
    name: t("Any tool for Opsgenie"),
    setUp: ({ origin, token }) => ({
      where: t("Use an integration for Opsgenie. Replace its host name, api.opsgenie.com."),
      lines: [
        { label: "API URL", text: `${origin}/` },
        { label: t("API key"), text: token },
      ],
    }),
  },
  "uptime-kuma": {
    name: "Uptime Kuma",
    setUp: (address) => ({
      where: t("Settings → Notifications → Set up notification → Webhook."),
      lines: listUrl(address).map(({ text }) => ({ label: "Post URL", text })),
    }),
  },
  zabbix: {
    name: "Zabbix",
    setUp: (address) => ({
      where: t(
        "Create a media type of the type Webhook with the script and the parameters of the documentation.",
      ),
      lines: listUrl(address).map(({ text }) => ({ label: "url", text })),
    }),
  },
  checkmk: {
    name: "Checkmk",
    setUp: (address) => ({
      where: t(
        "Save the script of the documentation, and choose it in a notification rule, with this as its first parameter.",
      ),
      lines: listUrl(address).map(({ text }) => ({ label: t("Parameter"), text })),
    }),
  },
  sentry: {
    name: "Sentry",
    setUp: (address) => ({
      where: t(
        "Settings → Custom integrations → Internal integration. Enable alert rule actions, and the webhook “issue”.",
      ),
      lines: listUrl(address).map(({ text }) => ({ label: "Webhook URL", text })),
    }),
  },
  "aws-sns": {
    name: t("Amazon SNS and CloudWatch"),
    setUp: (address) => ({
      where: t(
        "Create a subscription of the topic with the protocol HTTPS, without raw message delivery. Signalbox confirms it.",
      ),
      lines: listUrl(address).map(({ text }) => ({ label: t("Endpoint"), text })),
    }),
  },
  email: {
    name: t("Any tool that sends mail"),
    setUp: ({ address }) => ({
      where: t(
        "Send the tool’s notifications to this address, without a user name and a password.",
      ),
      lines: [{ label: t("Recipient"), text: address }],
    }),
  },
  json: {
    name: t("Any other tool, as JSON"),
    setUp: (address) => ({
      where: t("Let the tool send a POST request with JSON."),
      lines: listUrl(address),
    }),
  },
};

/** Returns what to enter in the tool of a source. */
export function describeSetUp(type: SourceType, address: string): SetUp {
  if (type === "email") return sourceTypeInfos.email.setUp({ address, origin: "", token: "" });
  const { origin, pathname } = new URL(address);
  const token = pathname.split("/").at(-1) ?? "";
  return sourceTypeInfos[type].setUp({ address, origin, token });
}
