import type { FieldWords } from "../../components/schema-field.tsx";

/** What the fields of monitors are called; those that are not here get their name in words. */
export const monitorWords: Record<string, FieldWords> = {
  url: { label: "URL", mono: true, placeholder: "https://shop.example/health" },
  method: { label: "Method" },
  headers: { label: "Headers" },
  body: { label: "Body", long: true, mono: true, hint: "Sent with each check." },
  basicAuth: { label: "Basic authentication" },
  "basicAuth.username": { label: "User name" },
  "basicAuth.password": { label: "Password" },
  bearerToken: { label: "Bearer token" },
  expectedStatus: { label: "Expected status", hint: "Such as 200-299 or 401." },
  keyword: { label: "Must contain", hint: "Text that the answer must contain." },
  keywordAbsent: { label: "Must not contain", hint: "Text that the answer must not contain." },
  jsonPath: { label: "JSON path", mono: true, placeholder: "$.status" },
  jsonEquals: {
    label: "Value at the path",
    hint: "What it must be; empty asks only that there is one.",
  },
  followRedirects: { label: "Follow redirects" },
  followToPrivate: {
    label: "Follow redirects into the LAN",
    hint: "From a public address to one of this machine or the LAN.",
  },
  verifyTls: { label: "Verify the certificate" },
  certificateExpiryDays: {
    label: "Certificate warning",
    unit: "days",
    hint: "Degraded when it ends within so many days; empty is off.",
  },
  host: { label: "Host", mono: true, placeholder: "db.lan" },
  port: { label: "Port" },
  send: { label: "Send", long: true, mono: true },
  expect: { label: "Expect", long: true, mono: true, hint: "Text that must be in the answer." },
  packets: { label: "Packets", hint: "Degraded when some are lost." },
  recordType: { label: "Record type" },
  resolver: { label: "Name server", mono: true, placeholder: "the system's" },
  expected: { label: "Expected values", hint: "Among the records; none accepts any." },
  serverName: { label: "Server name", mono: true, hint: "Where it is not the host." },
  grace: { label: "Grace", unit: "s", hint: "Down when nothing arrived for interval and grace." },
  name: { label: "Name" },
  description: { label: "Description", long: true },
  tags: { label: "Tags" },
  interval: { label: "Interval", unit: "s" },
  timeout: { label: "Timeout", unit: "s" },
  retries: { label: "Retries", hint: "Further failures before it is down." },
  retryInterval: { label: "Retry interval", unit: "s" },
  degradedAfterMs: { label: "Degraded after", unit: "ms", hint: "Empty: never by slowness." },
  autoIncidentSeverity: {
    label: "Open an incident",
    none: "Never by itself",
    hint: "When it goes down; resolved when it is back.",
  },
  reminderInterval: { label: "Remind every", unit: "s", hint: "While it is down; empty: never." },
  muted: { label: "Muted", hint: "Checked, but alerts nobody." },
};

export type Section = { title: string; fields: string[]; folded?: boolean };

/** One section a type, in the order in which people think of it. */
export const ownSections: Record<string, Section[]> = {
  http: [
    { title: "", fields: ["url"] },
    {
      title: "What is expected",
      fields: ["expectedStatus", "keyword", "keywordAbsent", "jsonPath", "jsonEquals"],
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
    { title: "What is expected", fields: ["send", "expect"], folded: true },
  ],
  dns: [{ title: "", fields: ["host", "recordType", "resolver", "expected"] }],
};

export const commonSections: Section[] = [
  {
    title: "Timing",
    fields: ["interval", "timeout", "retries", "retryInterval", "degradedAfterMs"],
    folded: true,
  },
  {
    title: "Alerts",
    fields: ["autoIncidentSeverity", "reminderInterval", "muted"],
    folded: true,
  },
  { title: "About", fields: ["description", "tags"], folded: true },
];
