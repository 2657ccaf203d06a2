/** Arranges the fields of the monitor editor in sections, per monitor type. */
import type { Kind } from "../../../../src/core/kinds.ts";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { monitorFields } from "../../../../src/monitoring/monitors/schema.ts";
import { t } from "../../../language/text.ts";

export type Section = {
  title: string;
  fields: string[];
  folded?: boolean;
  /** Fields that the summary always mentions, even with default values. */
  key?: string[];
  /** Summary of a collapsed section without values. */
  none?: string;
};

/** Fields of the schedule: interval and retries, or for push monitors the grace period. */
export const scheduleFieldsOf = (type: string) =>
  type === "push" ? ["interval", "grace"] : type === "manual" ? [] : ["interval", "retries"];

const usualInterval = monitorFields.interval.parse(undefined);
/** Intervals of new monitors in seconds, where the usual one is far too short: a registry is queried once a day. */
const typeIntervals: Partial<Record<MonitorType, number>> = { domain: 3_600 };

/** Returns the interval after a change of the type. It stays unless it is still that of the previous type. */
export function selectInterval(interval: unknown, type: MonitorType, next: MonitorType): unknown {
  const own = typeIntervals[type];
  const isUntouched = (interval ?? usualInterval) === (own ?? usualInterval);
  return isUntouched && own !== typeIntervals[next]
    ? (typeIntervals[next] ?? usualInterval)
    : interval;
}

/** Sections of a step, after its name, method and URL. */
export const stepSections: Section[] = [
  { title: t("Request"), fields: ["headers", "bodyType", "body", "form"], none: t("No body") },
  {
    title: t("Assertions"),
    fields: ["expectedStatus", "keyword", "keywordAbsent", "jsonPath", "jsonEquals", "assertions"],
    key: ["expectedStatus"],
  },
  { title: t("Saved values"), fields: ["save"], none: t("None") },
];

const mailSections: Section[] = [
  { title: "", fields: ["host", "port", "tls"] },
  { title: t("Authentication"), fields: ["username", "password"], folded: true, none: t("None") },
  { title: "TLS", fields: ["serverName", "verifyTls", "certificateExpiryDays"], folded: true },
];

/** Sections of types whose fields cannot be assigned by name. */
const sectionsByType: Partial<Record<MonitorType, Section[]>> = {
  http: [
    { title: "", fields: ["url"] },
    {
      title: t("Assertions"),
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
    { title: t("Number"), fields: ["number"], folded: true, none: t("None") },
    {
      title: t("Request"),
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
      title: t("Authentication"),
      fields: ["basicAuth", "bearerToken", "oauth2"],
      folded: true,
      none: t("None"),
    },
    {
      title: t("Steps"),
      fields: ["save", "variables", "steps"],
      folded: true,
      none: t("One request"),
    },
    {
      title: "TLS",
      fields: ["verifyTls", "certificateExpiryDays"],
      key: ["verifyTls", "certificateExpiryDays"],
      folded: true,
    },
    {
      title: t("Connection"),
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
      none: t("Direct, without a client certificate"),
    },
  ],
  tcp: [
    { title: "", fields: ["host", "port"] },
    { title: t("Assertions"), fields: ["send", "expect"], folded: true },
  ],
  smtp: mailSections,
  imap: mailSections,
  pop3: mailSections,
  ldap: [{ title: "", fields: ["host", "port", "tls", "baseDn"] }, ...mailSections.slice(1)],
  sip: [
    { title: "", fields: ["host", "port", "transport"] },
    {
      title: t("Assertions"),
      fields: ["user", "expectedStatus"],
      key: ["expectedStatus"],
      folded: true,
    },
    ...mailSections.slice(2),
  ],
  push: [
    { title: "", fields: ["schedule", "timeZone"] },
    {
      title: t("Runs"),
      fields: ["maximumRunTime", "successKeywords", "failureKeywords", "slug"],
      folded: true,
      none: t("No limits, no keywords"),
    },
  ],
  composite: [{ title: "", fields: ["dependsOn", "mode", "minimum"] }],
  manual: [{ title: "", fields: ["manualStatus", "manualMessage", "manualUntil"] }],
  tls: [{ title: "", fields: ["host", "port", "serverName", "certificateExpiryDays"] }],
};

/** Sections by field name for all other types. Secrets are added to “Authentication”. */
const purposes = [
  {
    title: t("Authentication"),
    fields: ["username", "mechanism", "authDatabase", "authProtocol", "privProtocol"],
    none: t("None"),
  },
  { title: t("Assertions"), fields: ["requireDnssec", "assertions", "expect"] },
  { title: t("Number"), fields: ["number"], none: t("None") },
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

/** Sections of the type's own fields: target, authentication, assertions, TLS. */
export function listOwnSections(type: MonitorType): Section[] {
  const known = sectionsByType[type];
  if (known !== undefined) return known;
  const kind: Kind = monitorKinds[type];
  const purposeOf = (name: string) =>
    purposes.find(({ fields }) => fields.includes(name))?.title ??
    (name in kind.secrets ? t("Authentication") : "");
  const names = Object.keys(kind.fields).filter((name) => !scheduleFieldsOf(type).includes(name));
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
    title: t("Timing"),
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
    title: t("Alerts"),
    fields: ["priority", "dependsOn", "autoIncidentSeverity", "reminderInterval", "muted"],
    folded: true,
    none: t("No incidents, no repeated alerts"),
  },
  { title: t("Notes & tags"), fields: ["description", "tags"], folded: true, none: t("None") },
];

/** Fields that do not apply to types without requests. */
const unusedFields: Readonly<Record<string, string[]>> = {
  push: ["timeout", "retryInterval", "confirmations"],
  composite: ["dependsOn"],
  manual: [
    "timeout",
    "retries",
    "retryInterval",
    "confirmations",
    "successThreshold",
    "degradedAfterMs",
    "inverted",
  ],
};

/** Sections that all types share, without fields that the editor shows elsewhere. */
export function listCommonSections(type: string): Section[] {
  const omittedFields = [...scheduleFieldsOf(type), ...(unusedFields[type] ?? [])];
  return commonSections
    .map((section) => ({
      ...section,
      fields: section.fields.filter((name) => !omittedFields.includes(name)),
    }))
    .filter(({ fields }) => fields.length > 0);
}
