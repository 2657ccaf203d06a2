/** Names the formats of alert sources, and what to enter in each tool. */
import type { SourceType } from "../../../src/alerting/sources/schema.ts";

type SetUp = {
  /** Where in the tool to enter it, as a sentence. */
  where: string;
  /** What to enter there. */
  lines: readonly { label: string; text: string }[];
};

/** Parts of the address of a source. */
type Address = { address: string; origin: string; token: string };

type TypeInfo = { name: string; setUp: (address: Address) => SetUp };

const url = ({ address }: Address) => [{ label: "URL", text: address }];

export const sourceTypeInfos: Readonly<Record<SourceType, TypeInfo>> = {
  alertmanager: {
    name: "Prometheus Alertmanager",
    setUp: ({ address }) => ({
      where: "Add a receiver to alertmanager.yml, and name it in a route.",
      lines: [{ label: "Receiver", text: `webhook_configs: [{ url: "${address}" }]` }],
    }),
  },
  grafana: {
    name: "Grafana",
    setUp: (address) => ({
      where: "Alerting → Contact points → Add → Webhook. Then choose it in a notification policy.",
      lines: url(address),
    }),
  },
  pagerduty: {
    name: "Any tool for PagerDuty",
    setUp: ({ origin, token }) => ({
      where:
        "Use an integration for PagerDuty’s Events API v2. Replace its host name, events.pagerduty.com.",
      lines: [
        { label: "URL", text: `${origin}/v2/enqueue` },
        { label: "Routing key", text: token },
      ],
    }),
  },
  opsgenie: {
    name: "Any tool for Opsgenie",
    setUp: ({ origin, token }) => ({
      where: "Use an integration for Opsgenie. Replace its host name, api.opsgenie.com.",
      lines: [
        { label: "API URL", text: `${origin}/` },
        { label: "API key", text: token },
      ],
    }),
  },
  "uptime-kuma": {
    name: "Uptime Kuma",
    setUp: (address) => ({
      where: "Settings → Notifications → Set up notification → Webhook.",
      lines: url(address).map(({ text }) => ({ label: "Post URL", text })),
    }),
  },
  zabbix: {
    name: "Zabbix",
    setUp: (address) => ({
      where:
        "Create a media type of the type Webhook with the script and the parameters of the documentation.",
      lines: url(address).map(({ text }) => ({ label: "url", text })),
    }),
  },
  checkmk: {
    name: "Checkmk",
    setUp: (address) => ({
      where:
        "Save the script of the documentation, and choose it in a notification rule, with this as its first parameter.",
      lines: url(address).map(({ text }) => ({ label: "Parameter", text })),
    }),
  },
  sentry: {
    name: "Sentry",
    setUp: (address) => ({
      where:
        "Settings → Custom integrations → Internal integration. Enable alert rule actions, and the webhook “issue”.",
      lines: url(address).map(({ text }) => ({ label: "Webhook URL", text })),
    }),
  },
  "aws-sns": {
    name: "Amazon SNS and CloudWatch",
    setUp: (address) => ({
      where:
        "Create a subscription of the topic with the protocol HTTPS, without raw message delivery. Signalbox confirms it.",
      lines: url(address).map(({ text }) => ({ label: "Endpoint", text })),
    }),
  },
  email: {
    name: "Any tool that sends mail",
    setUp: ({ address }) => ({
      where: "Send the tool’s notifications to this address, without a user name and a password.",
      lines: [{ label: "Recipient", text: address }],
    }),
  },
  json: {
    name: "Any other tool, as JSON",
    setUp: (address) => ({
      where: "Let the tool send a POST request with JSON.",
      lines: url(address),
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
