import type { FieldLabels } from "../../../src/core/kinds.ts";

/** What people call the types of monitors. */
export const typeLabels: Record<string, string> = {
  http: "HTTP",
  tcp: "TCP port",
  ping: "Ping",
  dns: "DNS",
  tls: "Certificate",
  push: "Push",
};

/** What the fields of monitors are called; those that are not here get their name in words. */
export const monitorLabels: Record<string, FieldLabels> = {
  url: { label: "URL", mono: true, placeholder: "https://shop.example/health" },
  method: { label: "Method" },
  headers: { label: "Headers" },
  body: { label: "Body", long: true, mono: true, hint: "Sent with each check." },
  basicAuth: { label: "Basic authentication" },
  "basicAuth.username": { label: "User name" },
  "basicAuth.password": { label: "Password" },
  bearerToken: { label: "Bearer token" },
  expectedStatus: { label: "Expected status", hint: "Such as 200-299 or 401." },
  keyword: { label: "Must contain", hint: "Text that the response must contain." },
  keywordAbsent: { label: "Must not contain", hint: "Text that the response must not contain." },
  jsonPath: { label: "JSON path", mono: true, placeholder: "$.status" },
  jsonEquals: {
    label: "Expected value",
    hint: "Leave empty to accept any value.",
  },
  assertions: { label: "Assertions", hint: "All of them must hold, as must the fields above." },
  followRedirects: { label: "Follow redirects" },
  followToPrivate: {
    label: "Follow redirects to the LAN",
    hint: "From a public address to this machine or the LAN.",
  },
  verifyTls: { label: "Verify the certificate" },
  certificateExpiryDays: {
    label: "Certificate warning",
    unit: "days",
    hint: "Degraded when the certificate ends within this many days. Leave empty to turn this off.",
  },
  host: { label: "Host", mono: true, placeholder: "db.lan" },
  port: { label: "Port" },
  send: { label: "Send", long: true, mono: true },
  expect: { label: "Expect", long: true, mono: true, hint: "Text that the response must contain." },
  packets: { label: "Packets", hint: "Degraded when some packets are lost." },
  recordType: { label: "Record type" },
  resolver: { label: "Name server", mono: true, placeholder: "System default" },
  expected: {
    label: "Expected values",
    hint: "Must be among the records. Leave empty to accept any.",
  },
  serverName: { label: "Server name", mono: true, hint: "If it differs from the host." },
  grace: {
    label: "Grace",
    unit: "s",
    hint: "Down when no report arrives within interval and grace.",
  },
  name: { label: "Name" },
  description: { label: "Description", long: true },
  tags: { label: "Tags" },
  interval: { label: "Interval", unit: "s" },
  timeout: { label: "Timeout", unit: "s" },
  retries: { label: "Retries", hint: "Further failed checks before the monitor is down." },
  confirmations: {
    label: "Confirmations",
    hint: "Machines that must see it fail before it is down, where several serve.",
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
  muted: { label: "Muted", hint: "Checked, but sends no alerts." },
};

export type Section = { title: string; fields: string[]; folded?: boolean };

/** One section a type, in the order in which people think of it. */
export const ownSections: Record<string, Section[]> = {
  http: [
    { title: "", fields: ["url"] },
    {
      title: "Assertions",
      fields: [
        "expectedStatus",
        "keyword",
        "keywordAbsent",
        "jsonPath",
        "jsonEquals",
        "assertions",
      ],
      folded: true,
    },
    {
      title: "Request",
      fields: [
        "method",
        "headers",
        "body",
        "basicAuth",
        "bearerToken",
        "followRedirects",
        "followToPrivate",
      ],
      folded: true,
    },
    { title: "TLS", fields: ["verifyTls", "certificateExpiryDays"], folded: true },
  ],
  tcp: [
    { title: "", fields: ["host", "port"] },
    { title: "Assertions", fields: ["send", "expect"], folded: true },
  ],
  dns: [{ title: "", fields: ["host", "recordType", "resolver", "expected"] }],
};

export const commonSections: Section[] = [
  {
    title: "Timing",
    fields: [
      "interval",
      "timeout",
      "retries",
      "retryInterval",
      "confirmations",
      "successThreshold",
      "degradedAfterMs",
      "inverted",
    ],
    folded: true,
  },
  {
    title: "Alerts",
    fields: ["autoIncidentSeverity", "reminderInterval", "muted"],
    folded: true,
  },
  { title: "Notes & tags", fields: ["description", "tags"], folded: true },
];
