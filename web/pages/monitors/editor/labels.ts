/** Labels of a monitor's fields, and when they are visible. */
import type { FieldLabels } from "../../../../src/core/kinds.ts";

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

const mailTls: FieldLabels = {
  label: "Encryption",
  hint: "STARTTLS starts unencrypted and requires encryption before the sign-in.",
  options: { none: "None", starttls: "STARTTLS", tls: "TLS" },
};

/** Labels of the host of types whose example differs. */
function describeHosts(examples: Record<string, string>): Record<string, FieldLabels> {
  return Object.fromEntries(
    Object.entries(examples).map(([type, placeholder]) => [
      `${type}.host`,
      { label: "Host", mono: true, placeholder },
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
  method: { label: "Method" },
  headers: { label: "Headers" },
  bodyType: {
    label: "Body type",
    options: {
      text: "Text",
      json: "JSON",
      form: "Form (URL-encoded)",
      multipart: "Form (multipart)",
    },
    hint: "JSON and forms set the Content-Type header.",
  },
  body: { label: "Body", long: true, mono: true, hint: "Sent with each check." },
  form: { label: "Form fields", item: "field" },
  "form.name": { label: "Name" },
  "form.value": { label: "Value" },
  "form.fileName": { label: "File name", hint: "" },
  "form.contentType": { label: "Content type", placeholder: "text/plain", hint: "" },
  cacheBuster: {
    label: "Bypass caches",
    hint: "Adds a query parameter with a random value.",
  },
  basicAuth: { label: "Basic authentication" },
  "basicAuth.username": { label: "User name" },
  "basicAuth.password": { label: "Password" },
  bearerToken: { label: "Bearer token" },
  oauth2: { label: "OAuth 2.0 client credentials" },
  "oauth2.tokenUrl": {
    label: "Token URL",
    mono: true,
    placeholder: "https://login.example/oauth2/token",
  },
  "oauth2.clientId": { label: "Client ID" },
  "oauth2.clientSecret": { label: "Client secret" },
  "oauth2.scope": { label: "Scope", hint: "Several are separated by spaces." },
  "oauth2.audience": { label: "Audience", hint: "If the token service requires one." },
  "oauth2.clientAuthentication": {
    label: "Client authentication",
    options: { header: "Basic header", body: "In the body" },
    hint: "Where the client ID and secret are sent.",
  },
  expectedStatus: { label: "Expected status", hint: "Such as 200–299 or 401." },
  keyword: { label: "Must contain", hint: "Text that the response must contain." },
  keywordAbsent: { label: "Must not contain", hint: "Text that the response must not contain." },
  jsonPath: { label: "JSON path", mono: true, placeholder: "$.status" },
  jsonEquals: {
    label: "Expected value",
    hint: "Leave empty to accept any value.",
  },
  assertions: {
    label: "Assertions",
    hint: "The monitor is up only if all of them are true, in addition to the fields above.",
  },
  number: {
    label: "Store a number of the result",
    hint: "Shown as a chart, and judged by limits. Without a number, each limit counts as exceeded.",
  },
  "number.name": { label: "Name", placeholder: "Queue depth" },
  "number.unit": { label: "Unit", placeholder: "messages" },
  "number.direction": {
    label: "A problem is",
    options: { above: "A number above a limit", below: "A number below a limit" },
  },
  "number.degradedLimit": { label: "Degraded beyond", hint: "Leave empty for no limit." },
  "number.downLimit": { label: "Down beyond", hint: "Leave empty for no limit." },
  "number.returnAt": { label: "Up again at", hint: "Leave empty for the limit itself." },
  "number.path": {
    label: "JSON path",
    mono: true,
    placeholder: "$.queue.length",
    hint: "Leave empty if the whole result is the number.",
  },
  ...Object.fromEntries(
    ["ping", "rabbitmq", "ntp", "game"].map((type) => [`${type}.number.path`, { label: "Value" }]),
  ),
  save: {
    label: "Save from the response",
    item: "saved value",
    hint: "Later steps use it as {{name}}. It is never shown.",
  },
  "save.name": { label: "Name", placeholder: "token", mono: true },
  "save.source": {
    label: "Source",
    options: { json: "JSON value", header: "Header", body: "Body" },
  },
  "save.path": { label: "JSON path or header", placeholder: "$.token", hint: "", mono: true },
  "save.expression": {
    label: "Regular expression",
    placeholder: "Regex",
    hint: "",
    mono: true,
  },
  variables: {
    label: "Variables",
    item: "variable",
    hint: "Secret values. Use them as {{name}} in URL, headers and body.",
  },
  "http.steps": {
    label: "Further steps",
    item: "further step",
    hint: "Requests that follow the first one. The monitor is up when all of them succeed.",
  },
  "steps.name": { label: "Name", placeholder: "Open the cart" },
  "steps.url": { label: "URL or path", mono: true, placeholder: "/cart?user={{user}}", hint: "" },
  "steps.headers": { label: "Headers", item: "header", open: true },
  "steps.body": { label: "Body", long: true, mono: true },
  followRedirects: { label: "Follow redirects" },
  followToPrivate: {
    label: "Follow redirects to the LAN",
    hint: "From a public address to this machine or the LAN.",
  },
  verifyTls: { label: "Verify the certificate" },
  certificateExpiryDays: {
    label: "Certificate warning",
    unit: "days",
    hint: "Degraded when the certificate expires within this many days. Leave empty to turn this off.",
  },
  host: { label: "Host", mono: true, placeholder: "db.lan" },
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
  port: { label: "Port" },
  send: { label: "Send", long: true, mono: true },
  expect: { label: "Expect", long: true, mono: true, hint: "Text that the response must contain." },
  packets: { label: "Packets", hint: "Degraded when some packets are lost." },
  recordType: { label: "Record type" },
  resolver: {
    label: "Name server",
    mono: true,
    placeholder: "System default",
    hint: "An IP address, or tls://dns.example or https://dns.example/dns-query.",
  },
  requireDnssec: {
    label: "Require DNSSEC",
    hint: "Down unless the name server has verified the signatures.",
  },
  expected: {
    label: "Expected values",
    hint: "Must be among the records. Leave empty to accept any.",
  },
  serverName: { label: "Server name", mono: true, hint: "If it differs from the host." },
  username: { label: "User name" },
  password: { label: "Password" },
  authDatabase: { label: "Database of the user" },
  topic: { label: "Topic", mono: true, hint: "All of its partitions must have a leader." },
  "mqtt.topic": { label: "Topic", mono: true, placeholder: "plant/+/state" },
  waitForMessage: {
    label: "Wait for a message",
    hint: "Down when none arrives within the timeout. Assertions apply to the first message.",
  },
  ignoreRetained: {
    label: "Ignore retained messages",
    hint: "Waits for a message that is published after the subscription.",
  },
  fingerprint: {
    label: "Host key fingerprint",
    mono: true,
    placeholder: "SHA256:…",
    hint: "As ssh-keygen -lf shows it. Leave empty to accept any; a test shows the one received.",
  },
  virtualHost: { label: "Virtual host", mono: true },
  queue: { label: "Queue", mono: true, hint: "Must exist. Its messages are counted." },
  maxMessages: { label: "Most messages", hint: "Down when the queue has more." },
  "ldap.username": {
    label: "User (DN)",
    mono: true,
    placeholder: "cn=probe,dc=team,dc=example",
    hint: "Leave empty for an anonymous bind.",
  },
  baseDn: {
    label: "Entry",
    mono: true,
    placeholder: "dc=team,dc=example",
    hint: "DN of an entry that must exist.",
  },
  transport: { label: "Transport", options: { udp: "UDP", tcp: "TCP", tls: "TLS" } },
  user: { label: "SIP user", mono: true, placeholder: "100" },
  "sip.expectedStatus": { label: "Expected status", hint: "Such as 200–299 or 404." },
  mechanism: {
    label: "Sign-in method",
    options: {
      plain: "PLAIN",
      "scram-sha-256": "SCRAM-SHA-256",
      "scram-sha-512": "SCRAM-SHA-512",
    },
  },
  service: { label: "Service", hint: "Leave empty for the whole server.", mono: true },
  container: {
    label: "Container",
    mono: true,
    placeholder: "shop-web",
    hint: "A name, or label=KEY=VALUE.",
  },
  clientCertificate: {
    label: "Client certificate",
    long: true,
    mono: true,
    named: true,
    hint: "In PEM.",
  },
  clientKey: { label: "Client key", hint: "In PEM." },
  proxyUrl: {
    label: "Proxy",
    mono: true,
    placeholder: "http://proxy.lan:3128",
    hint: "HTTP, HTTPS or SOCKS5, such as socks5://proxy.lan:1080.",
  },
  proxyUsername: { label: "Proxy user name" },
  proxyPassword: { label: "Proxy password" },
  ipFamily: {
    label: "IP version",
    options: { any: "Any", 4: "IPv4 only", 6: "IPv6 only" },
  },
  connectTo: {
    label: "Connect to",
    mono: true,
    placeholder: "10.0.0.7",
    hint: "An address or a name to connect to instead of the URL's host.",
  },
  secret: { label: "Shared secret" },
  snmpVersion: { label: "Version" },
  community: { label: "Community", hint: "For versions 1 and 2c. Leave empty for “public”." },
  authProtocol: { label: "Authentication", options: snmpOptions },
  authPassword: { label: "Authentication password", hint: "For version 3." },
  privProtocol: { label: "Privacy", options: snmpOptions },
  privPassword: { label: "Privacy password", hint: "For version 3." },
  oid: { label: "Object", mono: true, placeholder: "1.3.6.1.2.1.1.3.0" },
  maxOffsetMs: {
    label: "Largest offset",
    unit: "ms",
    hint: "Compared with the clock of this machine.",
  },
  maxStratum: { label: "Largest stratum", hint: "Leave empty to accept any." },
  domain: { label: "Domain", mono: true, placeholder: "example.org" },
  minDays: {
    label: "Days left",
    unit: "days",
    hint: "Down when the domain expires within this many days.",
  },
  server: {
    label: "RDAP server",
    mono: true,
    placeholder: "https://rdap.example/",
    hint: "Leave empty for the one listed by IANA.",
  },
  command: {
    label: "Program",
    mono: true,
    placeholder: "backup-age.sh",
    hint: "In the folder of --allow-commands.",
  },
  arguments: { label: "Arguments", mono: true, hint: "Enter after each." },
  steps: {
    label: "Steps",
    mono: true,
    hint: "Enter after each: click SELECTOR, fill SELECTOR with TEXT, wait SELECTOR, expect TEXT.",
  },
  unit: { label: "Unit", mono: true, placeholder: "nginx.service" },
  protocol: {
    label: "Protocol",
    options: { source: "Source (A2S)", minecraft: "Minecraft Java" },
  },
  query: { label: "Query", long: true, mono: true },
  tls: { label: "Encrypt with TLS" },
  "smtp.tls": mailTls,
  "imap.tls": mailTls,
  "pop3.tls": mailTls,
  "ldap.tls": mailTls,
  grace: {
    label: "Grace",
    unit: "s",
    hint: "Down when a report is late by more than this.",
  },
  schedule: {
    label: "Schedule",
    placeholder: "30 2 * * *",
    hint: "Cron, or OnCalendar of systemd such as Mon..Fri 02:30. Empty for regular intervals.",
  },
  timeZone: { label: "Time zone of the schedule", hint: "" },
  maximumRunTime: {
    label: "Maximum run time",
    unit: "s",
    hint: "Down when a run that reported its start takes longer. Empty for the grace period.",
  },
  slug: {
    label: "Slug",
    placeholder: "database-backup",
    hint: "Its name in addresses with a ping key: /ping/KEY/SLUG.",
  },
  successKeywords: {
    label: "Success keywords",
    hint: "The output of a success must contain one of them.",
  },
  failureKeywords: {
    label: "Failure keywords",
    hint: "A success whose output contains one of them is a failure.",
  },
  name: { label: "Name" },
  description: {
    label: "Description",
    markdown: true,
    hint: "Its purpose, runbooks and contacts. Shown on its page and in alerts.",
  },
  tags: { label: "Tags" },
  interval: { label: "Interval", unit: "s" },
  "domain.interval": {
    label: "Interval",
    unit: "s",
    hint: "The registry is queried once a day. Checks in between use its last response.",
  },
  "push.interval": { label: "Report expected every", unit: "s" },
  timeout: { label: "Timeout", unit: "s" },
  retries: { label: "Retries", hint: "Further failed checks before the monitor is down." },
  confirmations: {
    label: "Confirmations",
    hint: "Number of machines that must see a failure before the monitor is down. Has no effect on a single machine.",
  },
  retryInterval: { label: "Retry interval", unit: "s" },
  successThreshold: {
    label: "Success threshold",
    hint: "Good results in a row before the monitor is up again.",
  },
  inverted: { label: "Inverted", hint: "Up when the check fails, down when it succeeds." },
  degradedAfterMs: {
    label: "Degraded after",
    unit: "ms",
    hint: "Leave empty to ignore slow responses.",
  },
  autoIncidentSeverity: {
    label: "Open incidents automatically",
    none: "No",
    hint: "When the monitor goes down. Resolved when it is up again.",
  },
  reminderInterval: {
    label: "Repeat alert every",
    unit: "s",
    hint: "While the monitor is down. Leave empty to alert only once.",
  },
  dependsOn: {
    label: "Depends on",
    hint: "While one of these monitors is down, outages behind it cause no alerts of their own.",
  },
  "composite.dependsOn": { label: "Monitors", hint: "The monitors that it combines." },
  "composite.mode": {
    label: "Up when",
    options: {
      all: "All are up",
      any: "At least one is up",
      count: "A number of them is up",
      percentage: "A percentage of them is up",
    },
    hint: "Paused monitors and those in maintenance do not count.",
  },
  "composite.minimum": { label: "Minimum", hint: "Number or percentage that must be up." },
  "statuspage.url": {
    label: "Address of the page",
    placeholder: "https://www.githubstatus.com",
    hint: "As visitors open it, also of Uptime Kuma or another Signalbox.",
  },
  "statuspage.format": {
    hint: "",
    label: "Format",
    options: {
      auto: "Detect",
      statuspage: "Statuspage",
      instatus: "Instatus",
      "incident-io": "incident.io",
      "better-stack": "Better Stack",
      "uptime-kuma": "Uptime Kuma",
      signalbox: "Signalbox",
    },
  },
  "statuspage.components": {
    label: "Components",
    item: "Component",
    hint: "Names as on the page. Without any, the overall status of the page counts.",
  },
  maintenanceAs: { label: "Maintenance counts as" },
  manualStatus: { label: "Status", hint: "Nothing is checked: people set it." },
  manualMessage: { label: "Reason", hint: "Not shown on public pages." },
  manualUntil: {
    label: "Up again",
    none: "No end",
    hint: "When the status ends automatically. Leave empty for no end.",
  },
  priority: { label: "Priority", hint: "How urgent its alerts are." },
  muted: { label: "Muted", hint: "Checked, but sends no alerts." },
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
