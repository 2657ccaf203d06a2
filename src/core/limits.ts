/** Every limit of the appliance, and its effect. `bun run docs` generates docs/limits.md from it. */
import { formatCount } from "./text/locale.ts";

export type Bound = {
  readonly value: number;
  readonly unit: keyof typeof units;
  /** The scope of one limit, such as "incident" or "organization and minute". */
  readonly per: string;
  /** Effect beyond the limit, as a sentence. */
  readonly beyond: string;
};
type Section = Readonly<Record<string, Bound>>;

/** Singular and plural of each unit. */
export const units = {
  bytes: ["byte", "bytes"],
  changes: ["change", "changes"],
  characters: ["character", "characters"],
  connections: ["connection", "connections"],
  entries: ["entry", "entries"],
  hours: ["hour", "hours"],
  levels: ["level", "levels"],
  messages: ["message", "messages"],
  milliseconds: ["ms", "ms"],
  minutes: ["min", "min"],
  parts: ["part", "parts"],
  requests: ["request", "requests"],
  rows: ["row", "rows"],
  seconds: ["second", "seconds"],
  steps: ["step", "steps"],
} as const;

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const binaryUnits = { GiB, MiB, KiB };

/** Formats a limit, such as `64 KiB` or `5,000 entries`. */
export function formatBound({ value, unit }: Bound): string {
  if (unit === "bytes")
    for (const [name, size] of Object.entries(binaryUnits))
      if (value % size === 0) return `${formatCount(value / size)} ${name}`;
  const [one, several] = units[unit];
  return `${formatCount(value)} ${value === 1 ? one : several}`;
}

const conflictText = "One more is rejected: 409.";
const validationText = "More is rejected: 422.";
const rateLimitText = "More are rejected until the time has passed: 429.";

/** Records per organization. `serve --limit NAME=NUMBER` uses the same names. */
export const organizationBounds = {
  monitors: { value: 100_000, unit: "rows", per: "organization", beyond: conflictText },
  "monitor-groups": { value: 5_000, unit: "rows", per: "organization", beyond: conflictText },
  "alert-channels": { value: 500, unit: "rows", per: "organization", beyond: conflictText },
  "alert-channels-of-a-monitor": {
    value: 50,
    unit: "rows",
    per: "monitor",
    beyond: `Channels of its group and \`default\` channels count. ${conflictText}`,
  },
  "escalation-policies": { value: 200, unit: "rows", per: "organization", beyond: conflictText },
  "alert-sources": { value: 200, unit: "rows", per: "organization", beyond: conflictText },
  "maintenance-windows": {
    value: 500,
    unit: "rows",
    per: "organization",
    beyond: `Past windows do not count. ${conflictText}`,
  },
  "incident-templates": { value: 200, unit: "rows", per: "organization", beyond: conflictText },
  schedules: { value: 100, unit: "rows", per: "organization", beyond: conflictText },
  "status-pages": { value: 100, unit: "rows", per: "organization", beyond: conflictText },
  "status-page-hosts": { value: 200, unit: "rows", per: "organization", beyond: conflictText },
  subscribers: { value: 50_000, unit: "rows", per: "organization", beyond: conflictText },
  people: {
    value: 1_000,
    unit: "rows",
    per: "organization",
    beyond: `Open invitations count. ${conflictText}`,
  },
  "api-keys": {
    value: 500,
    unit: "rows",
    per: "organization",
    beyond: `Revoked keys do not count. ${conflictText}`,
  },
} satisfies Section;

/** Rights of people and API keys. */
export const accessBounds = {
  groups: {
    value: 100,
    unit: "entries",
    per: "person, invitation or API key",
    beyond: `It is limited to these monitor groups. ${validationText}`,
  },
} satisfies Section;

/** Deleted records that can be restored. */
export const deletedBounds = {
  records: {
    value: 20_000,
    unit: "entries",
    per: "organization",
    beyond: "The oldest can no longer be restored.",
  },
  bytes: {
    value: 256 * MiB,
    unit: "bytes",
    per: "organization",
    beyond: "Results of monitors don't count. The oldest can no longer be restored.",
  },
} satisfies Section;

/** Request bodies, request rates and queues. */
export const mcpBounds = {
  messages: { value: 10, unit: "messages", per: "request", beyond: validationText },
  listed: { value: 50, unit: "entries", per: "list", beyond: "The entries left out are counted." },
  response: {
    value: 40_000,
    unit: "characters",
    per: "response",
    beyond: "Texts and lists are shortened until it fits.",
  },
  record: {
    value: 4 * 1024 * KiB,
    unit: "bytes",
    per: "record or list that a tool reads",
    beyond: "The tool reports an error. The REST API returns the record.",
  },
} as const satisfies Section;

export const requestBounds = {
  body: {
    value: 256 * KiB,
    unit: "bytes",
    per: "request",
    beyond: "The rest is discarded as it arrives: 413.",
  },
  accountBody: {
    value: 64 * KiB,
    unit: "bytes",
    per: "request",
    beyond: "A longer sign-in, profile or set-up is rejected: 413.",
  },
  bodiesInFlight: {
    value: 96 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond: "Further bodies are rejected: 429.",
  },
  bodiesInFlightPerOrganization: {
    value: 16 * MiB,
    unit: "bytes",
    per: "organization",
    beyond: "Further bodies are rejected: 429.",
  },
  bodiesInFlightWithoutKey: {
    value: 16 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond: "Further bodies without a key or session are rejected: 429.",
  },
  bodiesInFlightPerNetwork: {
    value: 2 * MiB,
    unit: "bytes",
    per: "network",
    beyond: "Further bodies without a key or session are rejected: 429.",
  },
  pushReport: {
    value: 64 * KiB,
    unit: "bytes",
    per: "push report",
    beyond: "A longer body is rejected: 413. With `status` in the query only the query is read.",
  },
  nesting: { value: 32, unit: "levels", per: "body", beyond: "Deeper JSON is rejected: 400." },
  listInBody: { value: 5_000, unit: "entries", per: "list or object", beyond: validationText },
  perPerson: { value: 6_000, unit: "requests", per: "person and minute", beyond: rateLimitText },
  wrongKeys: {
    value: 600,
    unit: "requests",
    per: "network and minute",
    beyond: "Further wrong keys are rejected: 429. Valid keys still work.",
  },
  wrongPasswords: {
    value: 10,
    unit: "requests",
    per: "network and minute",
    beyond: "Further passwords, codes and tokens are rejected: 429.",
  },
  wrongPasswordsPerAccount: {
    value: 20,
    unit: "requests",
    per: "account, network and hour",
    beyond: rateLimitText,
  },
  wrongPushTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    beyond: rateLimitText,
  },
  wrongCalendarTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    beyond: rateLimitText,
  },
  calendarReads: {
    value: 60,
    unit: "requests",
    per: "calendar and minute",
    beyond: rateLimitText,
  },
  wrongAlertLinks: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    beyond: "Further links that are not valid are rejected: 429. Valid links still work.",
  },
  alertLinkRequests: {
    value: 60,
    unit: "requests",
    per: "link in a message and minute",
    beyond: rateLimitText,
  },
  wrongPagePasswords: {
    value: 10,
    unit: "requests",
    per: "network and minute",
    beyond: rateLimitText,
  },
  wrongPageTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    beyond: rateLimitText,
  },
  cachedResponses: {
    value: 8 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond: "All cached responses are dropped.",
  },
  idempotentBody: {
    value: 64 * KiB,
    unit: "bytes",
    per: "request with an `Idempotency-Key`",
    beyond: "Only status and location are stored. A replay reads the resource again.",
  },
  idempotentBodies: {
    value: 64 * MiB,
    unit: "bytes",
    per: "organization and 24 hours",
    beyond:
      "Only status and location of further responses are stored. If the response can't be read again, the request is rejected: 429.",
  },
  idempotentResponses: {
    value: 500_000,
    unit: "rows",
    per: "organization and 24 hours",
    beyond: "Further requests with an `Idempotency-Key` are rejected: 429.",
  },
  heldChanges: {
    value: 100,
    unit: "rows",
    per: "organization",
    beyond: "Further changes with `hold` are rejected until others are sent or undone: 429.",
  },
  longResponses: {
    value: 32,
    unit: "requests",
    per: "appliance",
    beyond:
      "Counts responses above 4 MiB, which are read while they are sent. Further ones are rejected: 429.",
  },
  longResponsesPerOrganization: {
    value: 8,
    unit: "requests",
    per: "organization",
    beyond: "Further responses above 4 MiB are rejected: 429.",
  },
  wholeResponse: {
    value: 256 * KiB,
    unit: "bytes",
    per: "response",
    beyond: "A larger body is sent in pieces, as fast as the client reads.",
  },
  transfers: {
    value: 128 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond:
      "Further large responses are rejected: 503. One network (IPv4 /24, IPv6 /64) gets 1/32 of the free memory. Its stalled clients are disconnected first.",
  },
  waitingFullReads: {
    value: 20,
    unit: "requests",
    per: "organization",
    beyond:
      "One configuration, report or `/metrics` is read at a time, and this many wait. Further ones are rejected: 429.",
  },
} satisfies Section;

/** Configurations in one request body. */
export const configurationBounds = {
  body: { value: 8 * MiB, unit: "bytes", per: "request", beyond: "More is rejected: 413." },
  lists: { value: 100, unit: "entries", per: "body", beyond: validationText },
  listEntries: { value: 50_000, unit: "entries", per: "list", beyond: validationText },
  entryValues: {
    value: 20_000,
    unit: "entries",
    per: "entry of a list",
    beyond: "They are counted before they are parsed. More is rejected: 422.",
  },
  string: {
    value: 128 * KiB,
    unit: "characters",
    per: "text",
    beyond: "No field accepts a longer text. It is rejected before it is parsed: 422.",
  },
  values: { value: 500_000, unit: "entries", per: "body", beyond: validationText },
} satisfies Section;

/** Values in the audit log. */
export const auditBounds = {
  value: {
    value: 1_000,
    unit: "characters",
    per: "value of a changed field",
    beyond: "Longer texts are cut. Lists and objects are stored as the number of their entries.",
  },
  values: {
    value: 16_000,
    unit: "characters",
    per: "entry of the audit log",
    beyond: "Further changed fields are stored without values.",
  },
} satisfies Section;

/** Incidents and their timelines. */
export const incidentBounds = {
  incidents: {
    value: 1_000_000,
    unit: "rows",
    per: "organization",
    beyond: "One more is rejected: 409. Monitors open no more incidents.",
  },
  entries: {
    value: 5_000,
    unit: "entries",
    per: "incident",
    beyond:
      "Further updates, edits and notes are rejected: 409. The incident can still be resolved; monitors add no more updates.",
  },
  text: {
    value: 2 * MiB,
    unit: "bytes",
    per: "incident",
    beyond:
      "Further updates, edits, notes and a longer postmortem are rejected: 409. The incident can still be resolved.",
  },
  affectedMonitors: { value: 100, unit: "entries", per: "incident", beyond: validationText },
  impactChanges: {
    value: 500,
    unit: "entries",
    per: "incident",
    beyond: "The uptime of status pages no longer counts the oldest changes of `impacts`.",
  },
} satisfies Section;

/** Searches by `q`. */
export const searchBounds = {
  text: { value: 100, unit: "characters", per: "search", beyond: validationText },
  stride: {
    value: 500,
    unit: "rows",
    per: "statement",
    beyond: "Other requests are served before the next rows are compared.",
  },
  work: {
    value: 4_000_000,
    unit: "rows",
    per: "search",
    beyond:
      "The search is rejected: 422. Each different letter outside ASCII counts as half a row more.",
  },
  waiting: {
    value: 20,
    unit: "requests",
    per: "organization",
    beyond: "One search runs at a time, and this many wait. Further ones are rejected: 429.",
  },
} satisfies Section;

/** Monitors and their checks. */
/** Limits of the jobs of push monitors. */
export const jobBounds = {
  reports: {
    value: 100,
    unit: "rows",
    per: "push monitor",
    beyond: "The oldest reports of its jobs are deleted; its results stay.",
  },
  body: {
    value: 10_000,
    unit: "bytes",
    per: "ping",
    beyond:
      "The rest is neither stored nor searched for keywords. `Ping-Body-Limit` names this limit.",
  },
  stateChanges: {
    value: 60,
    unit: "changes",
    per: "push monitor and minute",
    beyond:
      "Further reports are stored with their results. The state follows the last report within a minute.",
  },
  openRuns: {
    value: 20,
    unit: "entries",
    per: "push monitor",
    beyond: "The oldest unfinished runs have no duration.",
  },
  keywords: { value: 20, unit: "entries", per: "list of keywords", beyond: validationText },
} satisfies Section;

export const monitorBounds = {
  dependencies: {
    value: 100,
    unit: "entries",
    per: "monitor and monitor group",
    beyond: `Monitors in \`dependsOn\`. ${validationText}`,
  },
  allDependencies: {
    value: 20_000,
    unit: "entries",
    per: "organization",
    beyond: `Entries in \`dependsOn\` of all monitors and groups. ${conflictText}`,
  },
  dependencyLevels: {
    value: 50,
    unit: "levels",
    per: "monitor",
    beyond: "Monitors that depend on each other in a row. More is rejected, as a cycle is.",
  },
  size: {
    value: 64 * KiB,
    unit: "bytes",
    per: "monitor",
    beyond:
      "All fields together, as JSON. More is rejected: 422. A monitor from an earlier version can stay larger.",
  },
  secrets: {
    value: 16 * KiB,
    unit: "bytes",
    per: "monitor",
    beyond: "All secrets together, as JSON. More is rejected: 422.",
  },
  totalSize: {
    value: 128 * MiB,
    unit: "bytes",
    per: "organization",
    beyond: "Settings, secrets and descriptions of all monitors. More is rejected: 409.",
  },
  pause: {
    value: 365 * 24 * 3_600,
    unit: "seconds",
    per: "monitor",
    beyond: "A later `pausedUntil` is rejected: 422.",
  },
  responseBody: {
    value: MiB,
    unit: "bytes",
    per: "check",
    beyond:
      "The rest is not read; assertions judge the first part. Where text must be absent, the message mentions it.",
  },
  responseCodings: {
    value: 4,
    unit: "entries",
    per: "response",
    beyond: "A body with more compression layers is not read, and the check fails.",
  },
  endlessBody: {
    value: 1,
    unit: "seconds",
    per: "response",
    beyond:
      "Reading of an endless body stops after this time, once all conditions are decided and no latency limit is open.",
  },
  cookies: {
    value: 50,
    unit: "entries",
    per: "check",
    beyond: "The oldest cookies are not sent.",
  },
  cookieSize: {
    value: 4 * KiB,
    unit: "bytes",
    per: "cookie",
    beyond: "A longer cookie is ignored, as by browsers.",
  },
  cookieHeader: {
    value: 8 * KiB,
    unit: "bytes",
    per: "request",
    beyond: "Cookies of the shortest paths are left out: servers reject longer headers.",
  },
  responseNesting: {
    value: 256,
    unit: "levels",
    per: "check",
    beyond: "Deeper JSON is not read, and its assertions fail.",
  },
  responseValues: {
    value: 20_000,
    unit: "entries",
    per: "check",
    beyond: "JSON with more values and names is not read, and its assertions fail.",
  },
  rowValues: {
    value: 20_000,
    unit: "entries",
    per: "SQL query",
    beyond: "The check fails if it has assertions about the rows.",
  },
  rowJson: {
    value: 64 * KiB,
    unit: "bytes",
    per: "SQL query",
    beyond:
      "The check fails if it has assertions about the rows. The same limit applies to binary values.",
  },
  signInIterations: {
    value: 100_000,
    unit: "steps",
    per: "sign-in by SCRAM",
    beyond: "The check fails before anything is computed.",
  },
  sentCertificates: {
    value: 16,
    unit: "entries",
    per: "TLS connection",
    beyond: "Further certificates are ignored, and at most this many signatures are verified.",
  },
  expressionSize: {
    value: 2_000,
    unit: "steps",
    per: "expression",
    beyond: "An expression with more counted repetitions is rejected: 422.",
  },
  pushMessage: {
    value: 500,
    unit: "characters",
    per: "push report",
    beyond: "The rest of the message is cut.",
  },
  assertions: { value: 20, unit: "entries", per: "monitor", beyond: validationText },
  assertionPath: { value: 500, unit: "characters", per: "assertion", beyond: validationText },
  assertionValue: { value: 1_000, unit: "characters", per: "assertion", beyond: validationText },
  assertionExpression: { value: 500, unit: "characters", per: "assertion", beyond: validationText },
  insertedText: {
    value: 256 * KiB,
    unit: "characters",
    per: "request of a check",
    beyond: "Values of all its placeholders. The check fails before the request is sent.",
  },
  checksAfterChanges: {
    value: 120,
    unit: "requests",
    per: "organization and minute",
    beyond: "Further changed monitors are checked at their next regular time.",
  },
  unstoredResults: {
    value: 200_000,
    unit: "rows",
    per: "machine",
    beyond: "If the database accepts no writes, the oldest results are dropped.",
  },
  unstoredProblems: {
    value: 1_000,
    unit: "rows",
    per: "machine",
    beyond: "The oldest notes about checks that can't be judged are dropped.",
  },
  manualChecks: {
    value: 4,
    unit: "requests",
    per: "person or key",
    beyond: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerOrganization: {
    value: 16,
    unit: "requests",
    per: "organization",
    beyond: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerAppliance: {
    value: 64,
    unit: "requests",
    per: "appliance",
    beyond: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerMinute: {
    value: 60,
    unit: "requests",
    per: "person or key and minute",
    beyond: rateLimitText,
  },
  manualChecksPerOrganizationAndMinute: {
    value: 240,
    unit: "requests",
    per: "organization and minute",
    beyond: rateLimitText,
  },
} satisfies Section;

/** Maintenance windows. */
export const maintenanceBounds = {
  windows: {
    value: 20_000,
    unit: "rows",
    per: "organization",
    beyond: "Past windows count too. One more is rejected: 409.",
  },
} satisfies Section;

/** Text messages and calls of SMS and voice channels. */
export const smsBounds = {
  parts: {
    value: 10,
    unit: "parts",
    per: "text message",
    beyond: "A larger `maxParts` is rejected: 422. A longer text is cut.",
  },
  messages: {
    value: 10_000,
    unit: "messages",
    per: "SMS or voice channel and day",
    beyond:
      "A larger `dailyLimit` is rejected: 422. Messages beyond a channel’s `dailyLimit` are skipped.",
  },
} satisfies Section;

/** Alerts and test messages. */
export const alertBounds = {
  reminderInterval: {
    value: 60,
    unit: "seconds",
    per: "monitor",
    beyond: "A shorter `reminderInterval` is rejected: 422.",
  },
  alertsPerMessage: {
    value: 1_000,
    unit: "entries",
    per: "delivery",
    beyond: "Further alerts of the same moment are sent in another message.",
  },
  responseBody: {
    value: 2_000,
    unit: "milliseconds",
    per: "delivery",
    beyond: "The connection is closed. The status of the response decides the delivery.",
  },
  insertedText: {
    value: 256_000,
    unit: "characters",
    per: "request of a channel",
    beyond: "Values of all its placeholders. The delivery fails, and the channel shows why.",
  },
  shownDeliveries: {
    value: 500,
    unit: "rows",
    per: "alert",
    beyond: "The alert shows its newest deliveries.",
  },
  snooze: {
    value: 30 * 24 * 3_600,
    unit: "seconds",
    per: "alert",
    beyond: "A later `until` is rejected: 422.",
  },
  entries: {
    value: 1_000,
    unit: "entries",
    per: "timeline of an alert",
    beyond: "Further notes are rejected: 409. Other entries are left out.",
  },
  replayedChecks: {
    value: 500_000,
    unit: "rows",
    per: "replay",
    beyond: `Checks of all its monitors. ${validationText}`,
  },
  replayedAlerts: {
    value: 100,
    unit: "entries",
    per: "list of a replay",
    beyond: "The newest are listed, and all are counted.",
  },
  undelivered: {
    value: 100_000,
    unit: "rows",
    per: "organization",
    beyond: "Further alerts are dropped. A problem reports how many.",
  },
  testAlerts: {
    value: 30,
    unit: "requests",
    per: "organization and minute",
    beyond: rateLimitText,
  },
  testMails: { value: 6, unit: "requests", per: "organization and minute", beyond: rateLimitText },
} satisfies Section;

/** Requests of other tools to alert sources. */
export const sourceBounds = {
  body: {
    value: MiB,
    unit: "bytes",
    per: "request",
    beyond: "A longer body is rejected: 413. Events for PagerDuty's API have at most 512 KiB.",
  },
  requests: {
    value: 60_000,
    unit: "requests",
    per: "alert source and minute",
    beyond: rateLimitText,
  },
  wrongTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    beyond: "Further wrong addresses are rejected: 429. Valid ones still work.",
  },
  waiting: {
    value: 32 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond: "Further requests are rejected until the waiting ones are stored: 429.",
  },
  waitingPerSource: {
    value: 8 * MiB,
    unit: "bytes",
    per: "alert source",
    beyond: "Further requests are rejected until the waiting ones are stored: 429.",
  },
  values: {
    value: 100_000,
    unit: "entries",
    per: "request",
    beyond: "Names and values of its JSON. The request is rejected: 422.",
  },
  alertsPerRequest: {
    value: 1_000,
    unit: "entries",
    per: "request",
    beyond: "The request is rejected: 422.",
  },
  openAlerts: {
    value: 5_000,
    unit: "rows",
    per: "alert source",
    beyond: "Requests that would open more alerts are rejected until others are resolved: 429.",
  },
  knownAlerts: {
    value: 10_000,
    unit: "rows",
    per: "alert source",
    beyond: "The oldest resolved ones are forgotten.",
  },
  openIncidents: {
    value: 20,
    unit: "rows",
    per: "alert source",
    beyond: "Further alerts open no incident.",
  },
  text: {
    value: 2_000,
    unit: "characters",
    per: "text of an alert",
    beyond: "The rest is cut.",
  },
  changes: {
    value: 60,
    unit: "changes",
    per: "alert and minute",
    beyond:
      "Further requests are logged. The alert stays open until its end is a minute old, and only a more urgent report changes its text.",
  },
  loggedRequests: {
    value: 1_000,
    unit: "rows",
    per: "alert source",
    beyond: "The oldest are removed from the log.",
  },
  loggedBytes: {
    value: 16 * MiB,
    unit: "bytes",
    per: "alert source",
    beyond: "Bodies of requests. The oldest are removed from the log.",
  },
  mails: {
    value: 600,
    unit: "requests",
    per: "alert source and minute",
    beyond: "Further mails are rejected, and their senders repeat them: 451.",
  },
  sample: {
    value: 200_000,
    unit: "characters",
    per: "preview",
    beyond: validationText,
  },
  replays: {
    value: 60,
    unit: "requests",
    per: "organization and minute",
    beyond: rateLimitText,
  },
} satisfies Section;

/** The SMTP listener. */
export const mailBounds = {
  size: {
    value: 20 * MiB,
    unit: "bytes",
    per: "mail",
    beyond: "The mail is rejected: 552. The first 128 KiB and 2,000 lines are read.",
  },
  headers: {
    value: 64 * 1024,
    unit: "bytes",
    per: "headers of a mail",
    beyond: "The mail is rejected: 554.",
  },
  header: {
    value: 4 * 1024,
    unit: "bytes",
    per: "header of a mail",
    beyond: "The rest is ignored.",
  },
  recipients: {
    value: 10,
    unit: "entries",
    per: "mail",
    beyond: "Further recipients are rejected for now: 452. The sender sends them another mail.",
  },
  searches: {
    value: 100,
    unit: "requests",
    per: "organization",
    beyond:
      "One mail or preview is searched at a time, and this many wait. Further mails are rejected for now: 451. Further previews: 429.",
  },
  searchWork: {
    value: 3_000_000,
    unit: "steps",
    per: "mail",
    beyond: "Further expressions match nothing. All expressions of the source count.",
  },
  mails: {
    value: 100,
    unit: "requests",
    per: "mail connection",
    beyond: "The sender repeats further mails on another connection: 452.",
  },
  commands: {
    value: 64 * 1024,
    unit: "bytes",
    per: "mail connection",
    beyond: "Commands of a connection, without its mails. It is closed: 421.",
  },
  time: {
    value: 300,
    unit: "seconds",
    per: "mail connection",
    beyond: "It is closed: 421. So is one that sends nothing for a minute.",
  },
  connections: {
    value: 100,
    unit: "connections",
    per: "appliance",
    beyond: "Connections of mail senders at a time. Further ones are rejected: 421.",
  },
  connectionsPerNetwork: {
    value: 10,
    unit: "connections",
    per: "network",
    beyond: "Further connections of mail senders are rejected: 421.",
  },
  connectionsPerMinute: {
    value: 120,
    unit: "connections",
    per: "network and minute",
    beyond: "Further connections of mail senders are rejected: 421.",
  },
} satisfies Section;

/** On-call schedules. */
export const scheduleBounds = {
  layers: { value: 10, unit: "entries", per: "schedule", beyond: validationText },
  people: { value: 50, unit: "entries", per: "layer", beyond: validationText },
  hours: { value: 14, unit: "entries", per: "layer, or quiet hours", beyond: validationText },
  overrides: {
    value: 500,
    unit: "rows",
    per: "schedule",
    beyond: "Overrides that ended in the past year count too. One more is rejected: 409.",
  },
  noticeHours: {
    value: 336,
    unit: "hours",
    per: "schedule",
    beyond: "An earlier notice of a shift is rejected: 422.",
  },
  span: {
    value: 62 * 86_400,
    unit: "seconds",
    per: "request for shifts",
    beyond: "Shifts after this span are omitted.",
  },
} satisfies Section;

/** Accounts of people. */
export const accountBounds = {
  passkeys: {
    value: 20,
    unit: "rows",
    per: "person",
    beyond: "One more is rejected: 409.",
  },
} satisfies Section;

/** Contact methods of people. */
export const contactBounds = {
  methods: {
    value: 20,
    unit: "rows",
    per: "person and organization",
    beyond: "One more is rejected: 409.",
  },
  afterMinutes: {
    value: 60,
    unit: "minutes",
    per: "contact method",
    beyond: "More is rejected: 422.",
  },
  codes: {
    value: 3,
    unit: "requests",
    per: "contact method and 15 minutes",
    beyond: rateLimitText,
  },
} satisfies Section;

/** Sign-in providers (OpenID Connect) and sign-ins through them. */
export const singleSignOnBounds = {
  providers: {
    value: 50,
    unit: "rows",
    per: "appliance",
    beyond: "One more sign-in provider is rejected: 409.",
  },
  organizations: {
    value: 500,
    unit: "entries",
    per: "sign-in provider",
    beyond: validationText,
  },
  groupRoles: {
    value: 200,
    unit: "entries",
    per: "sign-in provider and organization",
    beyond: validationText,
  },
  domains: { value: 100, unit: "entries", per: "sign-in provider", beyond: validationText },
  identities: {
    value: 20,
    unit: "rows",
    per: "person",
    beyond: "One more account at a sign-in provider is rejected: 409.",
  },
  attempts: {
    value: 8,
    unit: "entries",
    per: "browser",
    beyond: "The oldest unfinished sign-in through a provider is forgotten.",
  },
  requests: {
    value: 120,
    unit: "requests",
    per: "network and minute",
    beyond: "Further sign-ins through providers are rejected: 429. Passwords still work.",
  },
  attemptMinutes: {
    value: 10,
    unit: "minutes",
    per: "sign-in through a provider",
    beyond: "The sign-in has to start again.",
  },
  responseSeconds: {
    value: 10,
    unit: "seconds",
    per: "request to a sign-in provider",
    beyond: "The sign-in fails. Passwords still work.",
  },
  response: {
    value: 256 * KiB,
    unit: "bytes",
    per: "response of a sign-in provider",
    beyond: "The sign-in fails. Passwords still work.",
  },
  groups: {
    value: 2_000,
    unit: "entries",
    per: "sign-in through a provider",
    beyond: "The sign-in fails. Let the provider send only the groups of Signalbox.",
  },
  clockTolerance: {
    value: 60,
    unit: "seconds",
    per: "sign-in through a provider",
    beyond: "If the clocks differ by more, the sign-in fails and names the difference.",
  },
} satisfies Section;

/** Escalation policies. */
export const escalationBounds = {
  steps: { value: 10, unit: "steps", per: "escalation policy", beyond: validationText },
  targets: { value: 20, unit: "entries", per: "step", beyond: validationText },
  afterMinutes: {
    value: 1_440,
    unit: "minutes",
    per: "step",
    beyond: "A later step is rejected: 422.",
  },
} satisfies Section;

/** Status pages and their visitors. */
/** Reports by mail. */
export const reportBounds = {
  mails: { value: 20, unit: "entries", per: "organization", beyond: validationText },
  recipients: { value: 50, unit: "entries", per: "report by mail", beyond: validationText },
  sentNow: {
    value: 10,
    unit: "requests",
    per: "organization and hour",
    beyond: "Further reports that people send before their time are rejected: 429.",
  },
  printing: {
    value: 30,
    unit: "seconds",
    per: "PDF",
    beyond: "Chromium is stopped. A download is rejected: 503. A mail is sent without the PDF.",
  },
  printedRows: {
    value: 500,
    unit: "rows",
    per: "PDF",
    beyond: "The monitors with the most down time are listed, and the number of the others.",
  },
  waitingPrints: {
    value: 20,
    unit: "requests",
    per: "organization",
    beyond:
      "One PDF is printed at a time. Further downloads are rejected: 429. A mail is sent without the PDF.",
  },
  cachedPrints: {
    value: 4,
    unit: "entries",
    per: "machine",
    beyond: "The oldest PDFs are printed again for the next recipient.",
  },
} satisfies Section;

export const statusPageBounds = {
  shownMonitors: {
    value: 5_000,
    unit: "rows",
    per: "page",
    beyond: "Further monitors are omitted, and the page mentions it.",
  },
  shownDays: {
    value: 100_000,
    unit: "entries",
    per: "page",
    beyond: "The page shows fewer days of each monitor.",
  },
  monitorsInSections: { value: 1_000, unit: "entries", per: "page", beyond: validationText },
  allowedAddresses: { value: 200, unit: "entries", per: "page", beyond: validationText },
  accessTokens: { value: 50, unit: "rows", per: "page", beyond: conflictText },
  publishedIncidents: {
    value: 100,
    unit: "entries",
    per: "published page",
    beyond: "Older incidents are linked at the page on the appliance.",
  },
  publishedMonths: {
    value: 12,
    unit: "entries",
    per: "published page",
    beyond: "Earlier months are linked at the page on the appliance.",
  },
  publishedPlaces: {
    value: 20,
    unit: "entries",
    per: "page whose files are being removed from earlier places",
    beyond: conflictText,
  },
  visitorProviders: { value: 5, unit: "entries", per: "page", beyond: validationText },
  links: { value: 10, unit: "entries", per: "header or footer", beyond: validationText },
  css: { value: 20_000, unit: "characters", per: "page", beyond: validationText },
  embedOrigins: { value: 20, unit: "entries", per: "page", beyond: validationText },
  visitorDomains: { value: 50, unit: "entries", per: "provider of a page", beyond: validationText },
  shownIncidents: {
    value: 200,
    unit: "rows",
    per: "page",
    beyond: "Older incidents are in the page's history.",
  },
  updatesPerIncident: {
    value: 10,
    unit: "entries",
    per: "incident",
    beyond:
      "The page, its feeds and its JSON give the number of earlier updates, which are on the incident's own page.",
  },
  updatesPerIncidentPage: {
    value: 100,
    unit: "entries",
    per: "page of an incident",
    beyond: "Earlier updates are on further pages.",
  },
  texts: {
    value: 640 * KiB,
    unit: "bytes",
    per: "page, feed or JSON file",
    beyond:
      "Further updates are on the pages of their incidents; further descriptions of maintenance are omitted.",
  },
  cache: {
    value: 64 * MiB,
    unit: "bytes",
    per: "appliance",
    beyond:
      "The least recently used pages are dropped, first those of the organization with the largest share.",
  },
  undeliveredNotices: {
    value: 500_000,
    unit: "rows",
    per: "organization",
    beyond: "Further notices to subscribers are dropped. A problem reports how many.",
  },
  cachedPlain: {
    value: MiB,
    unit: "bytes",
    per: "page",
    beyond: "Longer pages are cached compressed only.",
  },
  uncachedRenders: {
    value: 600,
    unit: "requests",
    per: "network and minute",
    beyond: "Further incidents, months, badges and forms that are not cached are rejected: 429.",
  },
  pastRenders: {
    value: 20,
    unit: "requests",
    per: "network and minute",
    beyond: "Further pages as of a past time, which are never cached, are rejected: 429.",
  },
  previews: { value: 240, unit: "requests", per: "person and minute", beyond: rateLimitText },
  hostChecks: {
    value: 30,
    unit: "requests",
    per: "organization and minute",
    beyond: rateLimitText,
  },
} satisfies Section;

/** Sign-ups on status pages, which need no account. */
export const signUpBounds = {
  perMinute: { value: 5, unit: "requests", per: "network and minute", beyond: rateLimitText },
  perHour: { value: 20, unit: "requests", per: "network and hour", beyond: rateLimitText },
  perPage: {
    value: 60,
    unit: "requests",
    per: "page and hour",
    beyond: "Further sign-ups count as sign-ups from new networks.",
  },
  perPageFromNewNetworks: {
    value: 300,
    unit: "requests",
    per: "page and hour",
    beyond: "Each new network can use one of these. Further ones are rejected: 429.",
  },
  confirmationMails: {
    value: 5,
    unit: "requests",
    per: "mailbox and day",
    beyond: "Further sign-ups of the mailbox send no mail.",
  },
  unconfirmed: {
    value: 1_000,
    unit: "rows",
    per: "page",
    beyond: "The oldest unconfirmed sign-ups are removed.",
  },
  unconfirmedForOneDay: {
    value: 250,
    unit: "rows",
    per: "page",
    beyond: "Unconfirmed sign-ups are then removed after a day instead of a week.",
  },
} satisfies Section;

/** Choices of status page subscribers. */
export const subscriberBounds = {
  importedLines: {
    value: 2_000,
    unit: "entries",
    per: "import",
    beyond: "More is rejected: 422. The admin page divides a longer file.",
  },
  monitors: {
    value: 200,
    unit: "entries",
    per: "subscriber",
    beyond: "A longer choice is rejected: 422, or a sentence on the page.",
  },
  groups: {
    value: 100,
    unit: "entries",
    per: "subscriber",
    beyond: "A longer choice is rejected: 422, or a sentence on the page.",
  },
} satisfies Section;

/** Imports from other programs. */
export const importBounds = {
  upload: {
    value: 8 * GiB,
    unit: "bytes",
    per: "file",
    beyond: "A larger file is rejected before it is sent.",
  },
  uploads: {
    value: 1,
    unit: "entries",
    per: "organization",
    beyond: "A new upload replaces the earlier one, which is removed after an hour in any case.",
  },
  recordValue: {
    value: 512 * KiB,
    unit: "bytes",
    per: "value",
    beyond: "The file is rejected, and nothing is changed.",
  },
  recordBytes: {
    value: 64 * MiB,
    unit: "bytes",
    per: "file",
    beyond: "The file is rejected. Results of checks are not counted.",
  },
  records: {
    value: 10_000,
    unit: "rows",
    per: "file",
    beyond: "The file is rejected before its records are converted.",
  },
  links: {
    value: 200_000,
    unit: "rows",
    per: "table",
    beyond: "The file is rejected. These rows attach channels, tags and monitors to records.",
  },
  groupNesting: {
    value: 50,
    unit: "levels",
    per: "group",
    beyond: "The file is rejected.",
  },
  planned: {
    value: 32 * MiB,
    unit: "bytes",
    per: "file",
    beyond: "The file is rejected. All converted records count, with their notes.",
  },
  storedNotes: {
    value: 256 * KiB,
    unit: "bytes",
    per: "import",
    beyond: "The report is complete when you import. Later it lists further records without notes.",
  },
  readingTime: {
    value: 60,
    unit: "seconds",
    per: "step",
    beyond: "The process that reads the file is stopped, and the file is rejected.",
  },
  readingMemory: {
    value: 384 * MiB,
    unit: "bytes",
    per: "file",
    beyond: "The process that reads the file is stopped, and the file is rejected. Linux only.",
  },
  reading: {
    value: 2,
    unit: "entries",
    per: "appliance",
    beyond: "Further files wait in a queue.",
  },
  jsonBackup: { value: 64 * MiB, unit: "bytes", per: "file", beyond: "The file is rejected." },
  yaml: { value: 2 * MiB, unit: "bytes", per: "file", beyond: "The file is rejected." },
  yamlPerFolder: {
    value: 8 * MiB,
    unit: "bytes",
    per: "folder",
    beyond: "The folder is rejected.",
  },
  filesPerFolder: {
    value: 1_000,
    unit: "entries",
    per: "folder",
    beyond: "The folder is rejected.",
  },
  folderNesting: {
    value: 20,
    unit: "levels",
    per: "folder",
    beyond: "The folder is rejected.",
  },
  namedFile: {
    value: 64 * KiB,
    unit: "bytes",
    per: "certificate or key",
    beyond: "It is not read, and the monitor that needs it is paused.",
  },
} satisfies Section;

/** Live streams of the admin page. */
export const livePageBounds = {
  perSession: {
    value: 20,
    unit: "entries",
    per: "session",
    beyond: "Further pages reload their data instead.",
  },
  perOrganization: {
    value: 200,
    unit: "entries",
    per: "organization",
    beyond:
      "Further pages reload their data instead. The last 20 are reserved for people with fewer than 3.",
  },
  perAppliance: {
    value: 2_000,
    unit: "entries",
    per: "appliance",
    beyond:
      "Further pages reload their data instead. The last 200 are reserved for organizations with fewer than 11.",
  },
  unread: {
    value: MiB,
    unit: "bytes",
    per: "page",
    beyond: "The stream is closed, and the page reconnects.",
  },
} satisfies Section;

/** All sections by their heading in docs/limits.md. */
export const bounds = {
  "What one organization can have": organizationBounds,
  "Limited rights": accessBounds,
  Requests: requestBounds,
  Configurations: configurationBounds,
  Searches: searchBounds,
  "AI assistants": mcpBounds,
  "Audit log": auditBounds,
  Incidents: incidentBounds,
  "Monitors and checks": monitorBounds,
  "Jobs of push monitors": jobBounds,
  Maintenance: maintenanceBounds,
  Alerts: alertBounds,
  "Text messages and calls": smsBounds,
  "Alert sources": sourceBounds,
  "Alerts by mail": mailBounds,
  Schedules: scheduleBounds,
  "Single sign-on": singleSignOnBounds,
  "Escalation policies": escalationBounds,
  "Contact methods": contactBounds,
  Accounts: accountBounds,
  "Reports by mail": reportBounds,
  "Status pages": statusPageBounds,
  "Sign-ups on status pages": signUpBounds,
  "Subscribers of status pages": subscriberBounds,
  Imports: importBounds,
  "Live pages": livePageBounds,
  "Deleted records": deletedBounds,
} satisfies Readonly<Record<string, Section>>;

export type LimitName = keyof typeof organizationBounds;
export type Limits = Readonly<Record<LimitName, number>>;

const limitNames = Object.keys(organizationBounds) as LimitName[];
const buildLimits = (valueFor: (name: LimitName) => number) =>
  Object.fromEntries(limitNames.map((name) => [name, valueFor(name)])) as Limits;

/** Default limits of an organization, without `serve --limit`. */
export const defaultLimits = buildLimits((name) => organizationBounds[name].value);

/** Limits of the command line, which only an administrator of the machine can use. */
export const noLimits = buildLimits(() => Number.MAX_SAFE_INTEGER);

/** Applies changes such as `monitors=20000` to the default limits. Returns an error text for an invalid change. */
export function parseLimits(changes: readonly string[]): Limits | string {
  const limits: Record<string, number> = { ...defaultLimits };
  for (const change of changes) {
    const [, name = "", number] = /^([a-z-]+)=(\d{1,9})$/.exec(change) ?? [];
    if (!Object.hasOwn(defaultLimits, name))
      return `must be NAME=NUMBER with a name among ${limitNames.join(", ")}`;
    limits[name] = Number(number);
  }
  return limits as Limits;
}
