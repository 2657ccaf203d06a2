/** Explains why a key of the Gatus configuration has no effect here. Unlisted keys of Gatus are imported. */
import { createLookup } from "../../core/collections/objects.ts";

const ownPage = "about Gatus' own page";
const ownServer = "about Gatus' own server; see signalbox serve --help";
const suitesOnly = "only requests of a suite have it";
const ownMessageForm = "messages have their own form here";
const ownClient = "alerts are sent with this machine's network settings";

/** Reasons by Gatus struct and key path. A path includes everything below it. */
const reasons: Readonly<Record<string, string>> = createLookup({
  "config.debug": ownServer,
  "config.metrics": "metrics are always served, at /metrics",
  "config.skip-invalid-config-update": ownServer,
  "config.disable-monitoring-lock": "checks run at the same time here",
  "config.concurrency": "checks run at the same time here",
  "config.security": "people sign in here; invite them on the page People",
  "config.storage": "results are stored in the data directory",
  "config.web": ownServer,
  "config.remote": "endpoints of other Gatus instances are not shown; import their configuration",
  "config.connectivity": "there is no check of this machine's own connection",
  "config.tunneling": "checks can't go through an SSH tunnel",
  "ui.logo": "upload the logo at the status page",
  "ui.favicon": "upload the icon at the status page",
  "ui.custom-css": "it styles the elements of Gatus; enter the CSS of this page at the status page",
  "ui.default-sort-by": ownPage,
  "ui.default-filter-by": ownPage,
  "endpoint.ui": ownPage,
  "endpoint.ssh": "only an SSH endpoint signs in",
  "endpoint.store": suitesOnly,
  "endpoint.always-run": suitesOnly,
  "default-alert.provider-override": "Gatus reads it only at the alert of an endpoint",
  "client.network": "both IPv4 and IPv6 are used",
  "tls.renegotiation": "TLS 1.3 has no renegotiation",
  "provider.slack.title": ownMessageForm,
  "provider.discord.title": ownMessageForm,
  "provider.discord.message-content":
    "messages contain no mentions; add them to the channel's template",
  "provider.teams.title": ownMessageForm,
  "provider.teams.client": ownClient,
  "provider.teams-workflows.title": ownMessageForm,
  "provider.mattermost.channel": "a webhook has its own channel",
  "provider.mattermost.client": ownClient,
  "provider.googlechat.client": ownClient,
  "provider.rocketchat.channel": "a webhook has its own channel",
  "provider.telegram.client": ownClient,
  "provider.email.client": ownClient,
  "provider.ntfy.email": "ntfy forwards no e-mail of these messages",
  "provider.ntfy.click": "messages link to the monitor",
  "provider.ntfy.disable-firebase": ownMessageForm,
  "provider.ntfy.disable-cache": ownMessageForm,
  "provider.gotify.priority": "the priority follows from the kind of alert",
  "provider.gotify.title": ownMessageForm,
  "provider.pushover.title": ownMessageForm,
  "provider.pushover.resolved-priority": "recoveries have at most priority 0",
  "provider.pushover.sound": ownMessageForm,
  "provider.pushover.ttl": ownMessageForm,
  "provider.pushover.device": "all devices of the user get the message",
  "provider.opsgenie.priority": "the priority follows from the kind of alert",
  "provider.opsgenie.source": ownMessageForm,
  "provider.opsgenie.entity-prefix": ownMessageForm,
  "provider.opsgenie.alias-prefix": ownMessageForm,
  "provider.opsgenie.tags": ownMessageForm,
  "provider.gitea.assignees": ownMessageForm,
  "provider.gitea.client": ownClient,
  "provider.incident-io.source-url": "alerts link to the monitor",
  "provider.incident-io.metadata": ownMessageForm,
  "provider.sendgrid.client": ownClient,
  "provider.custom.placeholders":
    "only {{state}} has words, without line breaks, quotes, braces and |",
  "provider.custom.client": ownClient,
});

const unknownKey = "not a key of Gatus";

/** Returns the reason for a path such as `tls.renegotiation`, or for its closest listed parent. */
export function findLeftOutReason(schema: string): string {
  for (let path = schema; path.includes("."); path = path.slice(0, path.lastIndexOf("."))) {
    const reason = reasons[path];
    if (reason !== undefined) return reason;
  }
  return unknownKey;
}
