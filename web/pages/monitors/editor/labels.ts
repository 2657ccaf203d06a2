/** Labels of a monitor's fields, and when they are visible. */
import type { FieldLabels } from "../../../../src/core/kinds.ts";
import { severityLabels } from "../../incidents/words.ts";
import { t } from "../../../language/text.ts";

const snmpOptions = {
  md5: "MD5",
  sha: "SHA-1",
  sha224: "SHA-224",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
  des: "DES",
  aes: "AES-128",
  aes256b: "AES-256 (Blumenthal)",
  aes256r: "AES-256 (Reeder, Cisco)",
};

const stateOptions = { up: t("Up"), degraded: t("Degraded"), down: t("Down") };

const mailTls: FieldLabels = {
  label: t("Encryption"),
  hint: t("STARTTLS starts unencrypted and requires encryption before the sign-in."),
  options: { none: t("None"), starttls: "STARTTLS", tls: "TLS" },
};

/** Labels of the host of types whose example differs. */
function describeHosts(examples: Record<string, string>): Record<string, FieldLabels> {
  return Object.fromEntries(
    Object.entries(examples).map(([type, placeholder]) => [
      `${type}.host`,
      { label: t("Host"), mono: true, placeholder },
    ]),
  );
}

/**
 * Labels by field name, or by `TYPE.NAME` for a single type. Other fields get a label from their
 * name.
 */
const monitorLabels: Record<string, FieldLabels> = {
  url: { label: "URL", mono: true, placeholder: "https://shop.example/health" },
  "websocket.url": { label: "URL", mono: true, placeholder: "wss://shop.example/live" },
  "browser.url": { label: "URL", mono: true, placeholder: "https://shop.example/login" },
  method: { label: t("Method") },
  headers: { label: t("Headers") },
  bodyType: {
    label: t("Body type"),
    options: {
      text: t("Text"),
      json: "JSON",
      form: t("Form (URL-encoded)"),
      multipart: t("Form (multipart)"),
    },
    hint: t("JSON and forms set the Content-Type header."),
  },
  body: { label: t("Body"), long: true, mono: true, hint: t("Sent with each check.") },
  form: { label: t("Form fields"), item: t("field") },
  "form.name": { label: t("Name") },
  "form.value": { label: t("Value") },
  "form.fileName": { label: t("File name"), hint: "" },
  "form.contentType": { label: t("Content type"), placeholder: "text/plain", hint: "" },
  cacheBuster: {
    label: t("Bypass caches"),
    hint: t("Adds a query parameter with a random value."),
  },
  basicAuth: { label: t("Basic authentication") },
  "basicAuth.username": { label: t("User name") },
  "basicAuth.password": { label: t("Password") },
  bearerToken: { label: t("Bearer token") },
  oauth2: { label: t("OAuth 2.0 client credentials") },
  "oauth2.tokenUrl": {
    label: t("Token URL"),
    mono: true,
    placeholder: "https://login.example/oauth2/token",
  },
  "oauth2.clientId": { label: t("Client ID") },
  "oauth2.clientSecret": { label: t("Client secret") },
  "oauth2.scope": { label: t("Scope"), hint: t("Several are separated by spaces.") },
  "oauth2.audience": { label: t("Audience"), hint: t("If the token service requires one.") },
  "oauth2.clientAuthentication": {
    label: t("Client authentication"),
    options: { header: t("Basic header"), body: t("In the body") },
    hint: t("Where the client ID and secret are sent."),
  },
  expectedStatus: { label: t("Expected status"), hint: t("Such as 200–299 or 401.") },
  keyword: { label: t("Must contain"), hint: t("Text that the response must contain.") },
  keywordAbsent: {
    label: t("Must not contain"),
    hint: t("Text that the response must not contain."),
  },
  jsonPath: { label: t("JSON path"), mono: true, placeholder: "$.status" },
  jsonEquals: {
    label: t("Expected value"),
    hint: t("Leave empty to accept any value."),
  },
  assertions: {
    label: t("Assertions"),
    hint: t("The monitor is up only if all of them are true, in addition to the fields above."),
  },
  number: {
    label: t("Store a number of the result"),
    hint: t(
      "Shown as a chart, and judged by limits. Without a number, each limit counts as exceeded.",
    ),
  },
  "number.name": { label: t("Name"), placeholder: t("Queue depth") },
  "number.unit": { label: t("Unit"), placeholder: t("messages") },
  "number.direction": {
    label: t("A problem is"),
    options: { above: t("A number above a limit"), below: t("A number below a limit") },
    hint: t("On which side of a limit the number is a problem. The limit itself is not."),
  },
  "number.degradedLimit": { label: t("Degraded beyond"), hint: t("Leave empty for no limit.") },
  "number.downLimit": { label: t("Down beyond"), hint: t("Leave empty for no limit.") },
  "number.returnAt": { label: t("Up again at"), hint: t("Leave empty for the limit itself.") },
  "number.path": {
    label: t("JSON path"),
    mono: true,
    placeholder: "$.queue.length",
    hint: t("Leave empty if the whole result is the number."),
  },
  ...Object.fromEntries(
    ["ping", "rabbitmq", "ntp", "game"].map((type) => [
      `${type}.number.path`,
      { label: t("Value"), hint: t("A detail of the check.") },
    ]),
  ),
  save: {
    label: t("Save from the response"),
    item: t("saved value"),
    hint: t("Later steps use it as {{name}}. It is never shown."),
  },
  "save.name": { label: t("Name"), placeholder: "token", mono: true },
  "save.source": {
    label: t("Source"),
    options: { json: t("JSON value"), header: t("Header"), body: t("Body") },
  },
  "save.path": { label: t("JSON path or header"), placeholder: "$.token", hint: "", mono: true },
  "save.expression": {
    label: t("Regular expression"),
    placeholder: t("Regex"),
    hint: "",
    mono: true,
  },
  variables: {
    label: t("Variables"),
    item: t("variable"),
    hint: t("Secret values. Use them as {{name}} in URL, headers and body."),
  },
  "http.steps": {
    label: t("Further steps"),
    item: t("further step"),
    hint: t("Requests that follow the first one. The monitor is up when all of them succeed."),
  },
  "steps.name": { label: t("Name"), placeholder: t("Open the cart") },
  "steps.url": {
    label: t("URL or path"),
    mono: true,
    placeholder: "/cart?user={{user}}",
    hint: "",
  },
  "steps.headers": { label: t("Headers"), item: t("header"), open: true },
  "steps.body": { label: t("Body"), long: true, mono: true },
  followRedirects: { label: t("Follow redirects"), hint: t("Up to 5 redirects.") },
  followToPrivate: {
    label: t("Follow redirects to the LAN"),
    hint: t("From a public address to this machine or the LAN."),
  },
  verifyTls: { label: t("Verify the certificate") },
  certificateExpiryDays: {
    label: t("Certificate warning"),
    unit: t("days"),
    hint: t(
      "Degraded when the certificate expires within this many days. Leave empty to turn this off.",
    ),
  },
  host: { label: t("Host"), mono: true, placeholder: "db.lan" },
  ...describeHosts({
    ping: "router.lan",
    dns: "shop.example",
    tls: "shop.example",
    ntp: "time.lan",
    radius: "radius.lan",
    ssh: "nas.lan",
    smtp: "mail.example",
    imap: "mail.example",
    pop3: "mail.example",
    redis: "cache.lan",
    kafka: "kafka.lan",
    rabbitmq: "queue.lan",
    ldap: "directory.lan",
    sip: "pbx.lan",
    mqtt: "broker.lan",
    grpc: "api.lan",
    snmp: "switch.lan",
    docker: "docker.lan",
    game: "games.lan",
    tcp: "printer.lan",
  }),
  port: { label: t("Port") },
  send: { label: t("Send"), long: true, mono: true },
  expect: {
    label: t("Expect"),
    long: true,
    mono: true,
    hint: t("Text that the response must contain."),
  },
  packets: { label: t("Packets"), hint: t("Degraded when some packets are lost.") },
  recordType: { label: t("Record type") },
  resolver: {
    label: t("Name server"),
    mono: true,
    placeholder: t("System default"),
    hint: t("An IP address, or tls://dns.example or https://dns.example/dns-query."),
  },
  requireDnssec: {
    label: t("Require DNSSEC"),
    hint: t("Down unless the name server has verified the signatures."),
  },
  expected: {
    label: t("Expected values"),
    hint: t("Must be among the records. Leave empty to accept any."),
  },
  serverName: { label: t("Server name"), mono: true, hint: t("If it differs from the host.") },
  username: { label: t("User name") },
  password: { label: t("Password") },
  database: { label: t("Database") },
  authDatabase: { label: t("Database of the user") },
  topic: { label: t("Topic"), mono: true, hint: t("All of its partitions must have a leader.") },
  "mqtt.topic": { label: t("Topic"), mono: true, placeholder: "plant/+/state" },
  waitForMessage: {
    label: t("Wait for a message"),
    hint: t("Down when none arrives within the timeout. Assertions apply to the first message."),
  },
  ignoreRetained: {
    label: t("Ignore retained messages"),
    hint: t("Waits for a message that is published after the subscription."),
  },
  fingerprint: {
    label: t("Host key fingerprint"),
    mono: true,
    placeholder: "SHA256:…",
    hint: t(
      "As ssh-keygen -lf shows it. Leave empty to accept any; a test shows the one received.",
    ),
  },
  virtualHost: { label: t("Virtual host"), mono: true },
  queue: { label: t("Queue"), mono: true, hint: t("Must exist. Its messages are counted.") },
  maxMessages: { label: t("Most messages"), hint: t("Down when the queue has more.") },
  "ldap.username": {
    label: t("User (DN)"),
    mono: true,
    placeholder: "cn=probe,dc=team,dc=example",
    hint: t("Leave empty for an anonymous bind."),
  },
  baseDn: {
    label: t("Entry"),
    mono: true,
    placeholder: "dc=team,dc=example",
    hint: t("DN of an entry that must exist."),
  },
  transport: { label: t("Transport"), options: { udp: "UDP", tcp: "TCP", tls: "TLS" } },
  user: { label: t("SIP user"), mono: true, placeholder: "100" },
  "sip.expectedStatus": { label: t("Expected status"), hint: t("Such as 200–299 or 404.") },
  mechanism: {
    label: t("Sign-in method"),
    options: {
      plain: "PLAIN",
      "scram-sha-256": "SCRAM-SHA-256",
      "scram-sha-512": "SCRAM-SHA-512",
    },
  },
  service: { label: t("Service"), hint: t("Leave empty for the whole server."), mono: true },
  container: {
    label: t("Container"),
    mono: true,
    placeholder: "shop-web",
    hint: t("A name, or label=KEY=VALUE."),
  },
  clientCertificate: {
    label: t("Client certificate"),
    long: true,
    mono: true,
    named: true,
    hint: t("In PEM."),
  },
  clientKey: { label: t("Client key"), hint: t("In PEM.") },
  proxyUrl: {
    label: t("Proxy"),
    mono: true,
    placeholder: "http://proxy.lan:3128",
    hint: t("HTTP, HTTPS or SOCKS5, such as socks5://proxy.lan:1080."),
  },
  proxyUsername: { label: t("Proxy user name") },
  proxyPassword: { label: t("Proxy password") },
  ipFamily: {
    label: t("IP version"),
    options: { any: t("Any"), 4: t("IPv4 only"), 6: t("IPv6 only") },
    hint: t("Which addresses are connected to, of the target or else of the proxy."),
  },
  connectTo: {
    label: t("Connect to"),
    mono: true,
    placeholder: "10.0.0.7",
    hint: t("An address or a name to connect to instead of the URL's host."),
  },
  secret: { label: t("Shared secret") },
  snmpVersion: { label: t("Version") },
  community: { label: t("Community"), hint: t("For versions 1 and 2c. Leave empty for “public”.") },
  authProtocol: { label: t("Authentication"), options: snmpOptions },
  authPassword: { label: t("Authentication password"), hint: t("For version 3.") },
  privProtocol: { label: t("Privacy"), options: snmpOptions },
  privPassword: { label: t("Privacy password"), hint: t("For version 3.") },
  oid: { label: t("Object"), mono: true, placeholder: "1.3.6.1.2.1.1.3.0" },
  maxOffsetMs: {
    label: t("Largest offset"),
    unit: "ms",
    hint: t("Compared with the clock of this machine."),
  },
  maxStratum: { label: t("Largest stratum"), hint: t("Leave empty to accept any.") },
  domain: { label: t("Domain"), mono: true, placeholder: "example.org" },
  minDays: {
    label: t("Days left"),
    unit: t("days"),
    hint: t("Down when the domain expires within this many days."),
  },
  server: {
    label: t("RDAP server"),
    mono: true,
    placeholder: "https://rdap.example/",
    hint: t("Leave empty for the one listed by IANA."),
  },
  command: {
    label: t("Program"),
    mono: true,
    placeholder: "backup-age.sh",
    hint: t("In the folder of --allow-commands."),
  },
  arguments: { label: t("Arguments"), mono: true, hint: t("Enter after each.") },
  steps: {
    label: t("Steps"),
    mono: true,
    hint: t(
      "Enter after each: click SELECTOR, fill SELECTOR with TEXT, wait SELECTOR, expect TEXT.",
    ),
  },
  unit: { label: t("Unit"), mono: true, placeholder: "nginx.service" },
  protocol: {
    label: t("Protocol"),
    options: { source: "Source (A2S)", minecraft: "Minecraft Java" },
  },
  query: { label: t("Query"), long: true, mono: true, hint: t("Its rows are judged as JSON.") },
  tls: { label: t("Encrypt with TLS"), hint: t("Whether the connection must be encrypted.") },
  "docker.tls": {
    label: t("Encrypt with TLS"),
    hint: t("Whether to connect to the host over TLS."),
  },
  "smtp.tls": mailTls,
  "imap.tls": mailTls,
  "pop3.tls": mailTls,
  "ldap.tls": mailTls,
  grace: {
    label: t("Grace"),
    unit: "s",
    hint: t("Down when a report is late by more than this."),
  },
  schedule: {
    label: t("Schedule"),
    placeholder: "30 2 * * *",
    hint: t("Cron, or OnCalendar of systemd such as Mon..Fri 02:30. Empty for regular intervals."),
  },
  timeZone: { label: t("Time zone of the schedule"), hint: "" },
  maximumRunTime: {
    label: t("Maximum run time"),
    unit: "s",
    hint: t("Down when a run that reported its start takes longer. Empty for the grace period."),
  },
  slug: {
    label: t("Slug"),
    placeholder: "database-backup",
    hint: t("Its name in addresses with a ping key: /ping/KEY/SLUG."),
  },
  successKeywords: {
    label: t("Success keywords"),
    hint: t("The output of a success must contain one of them."),
  },
  failureKeywords: {
    label: t("Failure keywords"),
    hint: t("A success whose output contains one of them is a failure."),
  },
  name: { label: t("Name") },
  description: {
    label: t("Description"),
    markdown: true,
    hint: t("Its purpose, runbooks and contacts. Shown on its page and in alerts."),
  },
  tags: { label: t("Tags") },
  interval: { label: t("Interval"), unit: "s", hint: t("Seconds between two checks.") },
  "domain.interval": {
    label: t("Interval"),
    unit: "s",
    hint: t("The registry is queried once a day. Checks in between use its last response."),
  },
  "push.interval": {
    label: t("Report expected every"),
    unit: "s",
    hint: t("Seconds between two checks."),
  },
  timeout: {
    label: t("Timeout"),
    unit: "s",
    hint: t(
      "Seconds until a check fails. At most the interval, and by default 10 s if the interval allows it.",
    ),
  },
  retries: { label: t("Retries"), hint: t("Further failed checks before the monitor is down.") },
  confirmations: {
    label: t("Confirmations"),
    hint: t(
      "Number of machines that must see a failure before the monitor is down. Has no effect on a single machine.",
    ),
  },
  retryInterval: {
    label: t("Retry interval"),
    unit: "s",
    hint: t("Seconds to the next check after a failure, while not yet down; at most the interval."),
  },
  successThreshold: {
    label: t("Success threshold"),
    hint: t("Good results in a row before the monitor is up again."),
  },
  inverted: { label: t("Inverted"), hint: t("Up when the check fails, down when it succeeds.") },
  degradedAfterMs: {
    label: t("Degraded after"),
    unit: "ms",
    hint: t("Leave empty to ignore slow responses."),
  },
  autoIncidentSeverity: {
    label: t("Open incidents automatically"),
    none: t("No"),
    options: severityLabels,
    hint: t("When the monitor goes down. Resolved when it is up again."),
  },
  reminderInterval: {
    label: t("Repeat alert every"),
    unit: "s",
    hint: t("While the monitor is down. Leave empty to alert only once."),
  },
  dependsOn: {
    label: t("Depends on"),
    hint: t("While one of these monitors is down, outages behind it cause no alerts of their own."),
  },
  "composite.dependsOn": { label: t("Monitors"), hint: t("The monitors that it combines.") },
  "composite.mode": {
    label: t("Up when"),
    options: {
      all: t("All are up"),
      any: t("At least one is up"),
      count: t("A number of them is up"),
      percentage: t("A percentage of them is up"),
    },
    hint: t("Paused monitors and those in maintenance do not count."),
  },
  "composite.minimum": { label: t("Minimum"), hint: t("Number or percentage that must be up.") },
  "statuspage.url": {
    label: t("Address of the page"),
    placeholder: "https://www.githubstatus.com",
    hint: t("As visitors open it, also of Uptime Kuma or another Signalbox."),
  },
  "statuspage.format": {
    hint: "",
    label: t("Format"),
    options: {
      auto: t("Detect"),
      statuspage: "Statuspage",
      instatus: "Instatus",
      "incident-io": "incident.io",
      "better-stack": "Better Stack",
      "uptime-kuma": "Uptime Kuma",
      signalbox: "Signalbox",
    },
  },
  "statuspage.components": {
    label: t("Components"),
    item: t("Component"),
    hint: t("Names as on the page. Without any, the overall status of the page counts."),
  },
  maintenanceAs: {
    label: t("Maintenance counts as"),
    options: stateOptions,
    hint: t("State during maintenance that the page reports."),
  },
  manualStatus: {
    label: t("Status"),
    options: stateOptions,
    hint: t("Nothing is checked: people set it."),
  },
  manualMessage: { label: t("Reason"), hint: t("Not shown on public pages.") },
  manualUntil: {
    label: t("Up again"),
    none: t("No end"),
    hint: t("When the status ends automatically. Leave empty for no end."),
  },
  priority: {
    label: t("Priority"),
    options: { low: t("Low"), normal: t("Normal"), critical: t("Critical") },
    hint: t("How urgent its alerts are."),
  },
  muted: { label: t("Muted"), hint: t("Checked, but sends no alerts.") },
};

export const labelsOf = (type: string, name: string): FieldLabels | undefined =>
  monitorLabels[`${type}.${name}`] ?? monitorLabels[name];

type Values = Record<string, unknown>;

/** Whether a composite monitor has a minimum. */
export const isCounted = (mode: unknown) => mode === "count" || mode === "percentage";

/** Whether a field, or a part of one, applies with the current values of other fields. */
export function isShown(path: string, values: Values, line: Values = {}): boolean {
  const { bodyType = "text", proxyUrl = null, connectTo = null } = values;
  switch (path) {
    case "save.path":
      return line["source"] !== "body";
    case "proxyUsername":
    case "proxyPassword":
      return proxyUrl !== null;
    // The proxy resolves the name, so `connectTo` has no effect. An existing value stays visible to
    // be removed.
    case "connectTo":
      return proxyUrl === null || connectTo !== null;
    // Only push monitors have a schedule, which replaces the interval.
    case "interval":
      return typeof values["schedule"] !== "string";
    // Old time zones stay, so that another schedule can use them.
    case "timeZone":
      return typeof values["schedule"] === "string";
    case "minimum":
      return isCounted(values["mode"]);
    case "body":
      return bodyType === "text" || bodyType === "json";
    case "form":
      return bodyType === "form" || bodyType === "multipart";
    case "form.fileName":
    case "form.contentType":
      return bodyType === "multipart";
    default:
      return true;
  }
}
