/** The sections of the monitor editor by type. */
import type { Kind } from "../../../../src/core/kinds.ts";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";

export type Section = {
  title: string;
  fields: string[];
  folded?: boolean;
  /** Those that it tells of while it is closed, whatever stands in them. */
  key?: string[];
  /** What it says where there is nothing to tell. */
  none?: string;
};

/** How often it is checked and how patiently. Of a push monitor that is when the job has to report. */
export const scheduleOf = (type: string) =>
  type === "push" ? ["interval", "grace"] : ["interval", "retries"];

/** What is asked of a step beyond its name, its method and its URL. */
export const stepSections: Section[] = [
  { title: "Request", fields: ["headers", "bodyType", "body", "form"], none: "No body" },
  {
    title: "Assertions",
    fields: ["expectedStatus", "keyword", "keywordAbsent", "jsonPath", "jsonEquals", "assertions"],
    key: ["expectedStatus"],
  },
  { title: "Saved values", fields: ["save"], none: "None" },
];

const mailSections: Section[] = [
  { title: "", fields: ["host", "port", "tls"] },
  { title: "Authentication", fields: ["username", "password"], folded: true, none: "None" },
  { title: "TLS", fields: ["serverName", "verifyTls", "certificateExpiryDays"], folded: true },
];

/** The sections of types whose fields are not told apart by their names. */
const sectionsOfType: Partial<Record<MonitorType, Section[]>> = {
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
      key: ["expectedStatus"],
      folded: true,
    },
    {
      title: "Request",
      fields: [
        "method",
        "headers",
        "bodyType",
        "body",
        "form",
        "cacheBuster",
        "followRedirects",
        "followToPrivate",
      ],
      key: ["method"],
      folded: true,
    },
    {
      title: "Authentication",
      fields: ["basicAuth", "bearerToken", "oauth2"],
      folded: true,
      none: "None",
    },
    {
      title: "Steps",
      fields: ["save", "variables", "steps"],
      folded: true,
      none: "One request",
    },
    {
      title: "TLS",
      fields: ["verifyTls", "certificateExpiryDays"],
      key: ["verifyTls", "certificateExpiryDays"],
      folded: true,
    },
    {
      title: "Connection",
      fields: [
        "proxyUrl",
        "proxyUsername",
        "proxyPassword",
        "clientCertificate",
        "clientKey",
        "ipFamily",
        "connectTo",
      ],
      folded: true,
      none: "Direct, without a client certificate",
    },
  ],
  tcp: [
    { title: "", fields: ["host", "port"] },
    { title: "Assertions", fields: ["send", "expect"], folded: true },
  ],
  smtp: mailSections,
  imap: mailSections,
  pop3: mailSections,
  tls: [{ title: "", fields: ["host", "port", "serverName", "certificateExpiryDays"] }],
};

/** What fields are for that are no part of the target, by their names; a secret is for the one and only sign-in. */
const purposes = [
  {
    title: "Authentication",
    fields: ["username", "mechanism", "authDatabase", "authProtocol", "privProtocol"],
    none: "None",
  },
  { title: "Assertions", fields: ["assertions", "expect"] },
  {
    title: "TLS",
    fields: [
      "tls",
      "serverName",
      "verifyTls",
      "certificateExpiryDays",
      "clientCertificate",
      "clientKey",
    ],
  },
];

/** A type's own fields in the order in which people think of them: its target, who signs in, what must hold, TLS. */
export function ownSections(type: MonitorType): Section[] {
  const known = sectionsOfType[type];
  if (known !== undefined) return known;
  const kind: Kind = monitorKinds[type];
  const purposeOf = (name: string) =>
    purposes.find(({ fields }) => fields.includes(name))?.title ??
    (name in kind.secrets ? "Authentication" : "");
  const names = Object.keys(kind.fields).filter((name) => !scheduleOf(type).includes(name));
  const isRequired = (name: string) => kind.fields[name]?.safeParse(undefined).success === false;
  return [{ title: "" }, ...purposes]
    .map((purpose) => {
      const fields = names.filter((name) => purposeOf(name) === purpose.title);
      return { ...purpose, fields, folded: purpose.title !== "" && !fields.some(isRequired) };
    })
    .filter(({ fields }) => fields.length > 0);
}

const commonSections: Section[] = [
  {
    title: "Timing",
    fields: [
      "timeout",
      "retries",
      "retryInterval",
      "confirmations",
      "successThreshold",
      "degradedAfterMs",
      "inverted",
    ],
    key: ["timeout", "retries", "retryInterval"],
    folded: true,
  },
  {
    title: "Alerts",
    fields: ["autoIncidentSeverity", "reminderInterval", "muted"],
    folded: true,
    none: "No incidents, no repeated alerts",
  },
  { title: "Notes & tags", fields: ["description", "tags"], folded: true, none: "None" },
];

/** Nobody asks a job that reports by itself. */
const pollingFields = ["timeout", "retryInterval", "confirmations"];

/** The sections that all types have; what is in sight anyway is in none. */
export function commonSectionsOf(type: string): Section[] {
  const left = [...scheduleOf(type), ...(type === "push" ? pollingFields : [])];
  return commonSections.map((section) => ({
    ...section,
    fields: section.fields.filter((name) => !left.includes(name)),
  }));
}
