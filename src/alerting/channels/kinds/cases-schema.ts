/** The channel types that open a case per problem, and close it at its end. Their services decide when to notify people. */
import { fixedDestination, isSameValue } from "../../../core/security/destinations.ts";
import { secret } from "../../../core/fields.ts";
import { apiKey, defineChannelKind, origins, region, regionLabels } from "./kind-schema.ts";

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
};
