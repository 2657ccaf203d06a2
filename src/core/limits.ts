/** Every limit of the appliance, and its effect. `bun run docs` generates docs/limits.md from it. */
import { formatCount } from "./text/locale.ts";

export type Bound = {
  readonly value: number;
  readonly unit: keyof typeof units;
  /** The scope of one limit, such as "incident" or "organization and minute". */
  readonly per: string;
  /** Effect beyond the limit, as a sentence. */
  readonly effect: string;
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
  monitors: { value: 100_000, unit: "rows", per: "organization", effect: conflictText },
  "monitor-groups": { value: 5_000, unit: "rows", per: "organization", effect: conflictText },
  "alert-channels": { value: 500, unit: "rows", per: "organization", effect: conflictText },
  "alert-channels-of-a-monitor": {
    value: 50,
    unit: "rows",
    per: "monitor",
    effect: `Channels of its group and \`default\` channels count. ${conflictText}`,
  },
  "escalation-policies": { value: 200, unit: "rows", per: "organization", effect: conflictText },
  "alert-sources": { value: 200, unit: "rows", per: "organization", effect: conflictText },
  "maintenance-windows": {
    value: 500,
    unit: "rows",
    per: "organization",
    effect: `Past windows do not count. ${conflictText}`,
  },
  "incident-templates": { value: 200, unit: "rows", per: "organization", effect: conflictText },
  schedules: { value: 100, unit: "rows", per: "organization", effect: conflictText },
  "status-pages": { value: 100, unit: "rows", per: "organization", effect: conflictText },
  "status-page-hosts": { value: 200, unit: "rows", per: "organization", effect: conflictText },
  subscribers: { value: 50_000, unit: "rows", per: "organization", effect: conflictText },
  people: {
    value: 1_000,
    unit: "rows",
    per: "organization",
    effect: `Open invitations count. ${conflictText}`,
  },
  "api-keys": {
    value: 500,
    unit: "rows",
    per: "organization",
    effect: `Revoked keys do not count. ${conflictText}`,
  },
} satisfies Section;

/** Rights of people and API keys. */
export const accessBounds = {
  groups: {
    value: 100,
    unit: "entries",
    per: "person, invitation or API key",
    effect: `It is limited to these monitor groups. ${validationText}`,
  },
} satisfies Section;

/** Deleted records that can be restored. */
export const deletedBounds = {
  records: {
    value: 20_000,
    unit: "entries",
    per: "organization",
    effect: "The oldest can no longer be restored.",
  },
  bytes: {
    value: 256 * MiB,
    unit: "bytes",
    per: "organization",
    effect: "Results of monitors don't count. The oldest can no longer be restored.",
  },
} satisfies Section;

/** Request bodies, request rates and queues. */
export const mcpBounds = {
  messages: { value: 10, unit: "messages", per: "request", effect: validationText },
  listed: { value: 50, unit: "entries", per: "list", effect: "The entries left out are counted." },
  response: {
    value: 40_000,
    unit: "characters",
    per: "response",
    effect: "Texts and lists are shortened until it fits.",
  },
  record: {
    value: 4 * 1024 * KiB,
    unit: "bytes",
    per: "record or list that a tool reads",
    effect: "The tool reports an error. The REST API returns the record.",
  },
} as const satisfies Section;

export const requestBounds = {
  body: {
    value: 256 * KiB,
    unit: "bytes",
    per: "request",
    effect: "The rest is discarded as it arrives: 413.",
  },
  accountBody: {
    value: 64 * KiB,
    unit: "bytes",
    per: "request",
    effect: "A longer sign-in, profile or set-up is rejected: 413.",
  },
  bodiesInFlight: {
    value: 96 * MiB,
    unit: "bytes",
    per: "appliance",
    effect: "Further bodies are rejected: 429.",
  },
  bodiesInFlightPerOrganization: {
    value: 16 * MiB,
    unit: "bytes",
    per: "organization",
    effect: "Further bodies are rejected: 429.",
  },
  bodiesInFlightWithoutKey: {
    value: 16 * MiB,
    unit: "bytes",
    per: "appliance",
    effect: "Further bodies without a key or session are rejected: 429.",
  },
  bodiesInFlightPerNetwork: {
    value: 2 * MiB,
    unit: "bytes",
    per: "network",
    effect: "Further bodies without a key or session are rejected: 429.",
  },
  pushReport: {
    value: 64 * KiB,
    unit: "bytes",
    per: "push report",
    effect: "A longer body is rejected: 413. With `status` in the query only the query is read.",
  },
  nesting: { value: 32, unit: "levels", per: "body", effect: "Deeper JSON is rejected: 400." },
  listInBody: { value: 5_000, unit: "entries", per: "list or object", effect: validationText },
  perPerson: { value: 6_000, unit: "requests", per: "person and minute", effect: rateLimitText },
  wrongKeys: {
    value: 600,
    unit: "requests",
    per: "network and minute",
    effect: "Further wrong keys are rejected: 429. Valid keys still work.",
  },
  wrongPasswords: {
    value: 10,
    unit: "requests",
    per: "network and minute",
    effect: "Further passwords, codes and tokens are rejected: 429.",
  },
  wrongPasswordsPerAccount: {
    value: 20,
    unit: "requests",
    per: "account, network and hour",
    effect: rateLimitText,
  },
  wrongPushTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    effect: rateLimitText,
  },
  wrongCalendarTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    effect: rateLimitText,
  },
  calendarReads: {
    value: 60,
    unit: "requests",
    per: "calendar and minute",
    effect: rateLimitText,
  },
  wrongAlertLinks: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    effect: "Further links that are not valid are rejected: 429. Valid links still work.",
  },
  alertLinkRequests: {
    value: 60,
    unit: "requests",
    per: "link in a message and minute",
    effect: rateLimitText,
  },
  wrongPagePasswords: {
    value: 10,
    unit: "requests",
    per: "network and minute",
    effect: rateLimitText,
  },
  wrongPageTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    effect: rateLimitText,
  },
  cachedResponses: {
    value: 8 * MiB,
    unit: "bytes",
    per: "appliance",
    effect: "All cached responses are dropped.",
  },
  idempotentBody: {
    value: 64 * KiB,
    unit: "bytes",
    per: "request with an `Idempotency-Key`",
    effect: "Only status and location are stored. A replay reads the resource again.",
  },
  idempotentBodies: {
    value: 64 * MiB,
    unit: "bytes",
    per: "organization and 24 hours",
    effect:
      "Only status and location of further responses are stored. If the response can't be read again, the request is rejected: 429.",
  },
  idempotentResponses: {
    value: 500_000,
    unit: "rows",
    per: "organization and 24 hours",
    effect: "Further requests with an `Idempotency-Key` are rejected: 429.",
  },
  heldChanges: {
    value: 100,
    unit: "rows",
    per: "organization",
    effect: "Further changes with `hold` are rejected until others are sent or undone: 429.",
  },
  longResponses: {
    value: 32,
    unit: "requests",
    per: "appliance",
    effect:
      "Counts responses above 4 MiB, which are read while they are sent. Further ones are rejected: 429.",
  },
  longResponsesPerOrganization: {
    value: 8,
    unit: "requests",
    per: "organization",
    effect: "Further responses above 4 MiB are rejected: 429.",
  },
  wholeResponse: {
    value: 256 * KiB,
    unit: "bytes",
    per: "response",
    effect: "A larger body is sent in pieces, as fast as the client reads.",
  },
  transfers: {
    value: 128 * MiB,
    unit: "bytes",
    per: "appliance",
    effect:
      "Further large responses are rejected: 503. One network (IPv4 /24, IPv6 /64) gets 1/32 of the free memory. Its stalled clients are disconnected first.",
  },
  waitingFullReads: {
    value: 20,
    unit: "requests",
    per: "organization",
    effect:
      "One configuration, report or `/metrics` is read at a time, and this many wait. Further ones are rejected: 429.",
  },
} satisfies Section;

/** Configurations in one request body. */
export const configurationBounds = {
  body: { value: 8 * MiB, unit: "bytes", per: "request", effect: "More is rejected: 413." },
  lists: { value: 100, unit: "entries", per: "body", effect: validationText },
  listEntries: { value: 50_000, unit: "entries", per: "list", effect: validationText },
  entryValues: {
    value: 20_000,
    unit: "entries",
    per: "entry of a list",
    effect: "They are counted before they are parsed. More is rejected: 422.",
  },
  string: {
    value: 128 * KiB,
    unit: "characters",
    per: "text",
    effect: "No field accepts a longer text. It is rejected before it is parsed: 422.",
  },
  values: { value: 500_000, unit: "entries", per: "body", effect: validationText },
} satisfies Section;

/** Values in the audit log. */
export const auditBounds = {
  value: {
    value: 1_000,
    unit: "characters",
    per: "value of a changed field",
    effect: "Longer texts are cut. Lists and objects are stored as the number of their entries.",
  },
  values: {
    value: 16_000,
    unit: "characters",
    per: "entry of the audit log",
    effect: "Further changed fields are stored without values.",
  },
} satisfies Section;

/** Incidents and their timelines. */
export const incidentBounds = {
  incidents: {
    value: 1_000_000,
    unit: "rows",
    per: "organization",
    effect: "One more is rejected: 409. Monitors open no more incidents.",
  },
  entries: {
    value: 5_000,
    unit: "entries",
    per: "incident",
    effect:
      "Further updates, edits and notes are rejected: 409. The incident can still be resolved; monitors add no more updates.",
  },
  text: {
    value: 2 * MiB,
    unit: "bytes",
    per: "incident",
    effect:
      "Further updates, edits, notes and a longer postmortem are rejected: 409. The incident can still be resolved.",
  },
  affectedMonitors: { value: 100, unit: "entries", per: "incident", effect: validationText },
  impactChanges: {
    value: 500,
    unit: "entries",
    per: "incident",
    effect: "The uptime of status pages no longer counts the oldest changes of `impacts`.",
  },
} satisfies Section;

/** Searches by `q`. */
export const searchBounds = {
  text: { value: 100, unit: "characters", per: "search", effect: validationText },
  stride: {
    value: 500,
    unit: "rows",
    per: "statement",
    effect: "Other requests are served before the next rows are compared.",
  },
  work: {
    value: 4_000_000,
    unit: "rows",
    per: "search",
    effect:
      "The search is rejected: 422. Each different letter outside ASCII counts as half a row more.",
  },
  waiting: {
    value: 20,
    unit: "requests",
    per: "organization",
    effect: "One search runs at a time, and this many wait. Further ones are rejected: 429.",
  },
} satisfies Section;

/** Monitors and their checks. */
/** Limits of the jobs of push monitors. */
export const jobBounds = {
  reports: {
    value: 100,
    unit: "rows",
    per: "push monitor",
    effect: "The oldest reports of its jobs are deleted; its results stay.",
  },
  body: {
    value: 10_000,
    unit: "bytes",
    per: "ping",
    effect:
      "The rest is neither stored nor searched for keywords. `Ping-Body-Limit` names this limit.",
  },
  stateChanges: {
    value: 60,
    unit: "changes",
    per: "push monitor and minute",
    effect:
      "Further reports are stored with their results. The state follows the last report within a minute.",
  },
  openRuns: {
    value: 20,
    unit: "entries",
    per: "push monitor",
    effect: "The oldest unfinished runs have no duration.",
  },
  keywords: { value: 20, unit: "entries", per: "list of keywords", effect: validationText },
} satisfies Section;

export const monitorBounds = {
  dependencies: {
    value: 100,
    unit: "entries",
    per: "monitor and monitor group",
    effect: `Monitors in \`dependsOn\`. ${validationText}`,
  },
  allDependencies: {
    value: 20_000,
    unit: "entries",
    per: "organization",
    effect: `Entries in \`dependsOn\` of all monitors and groups. ${conflictText}`,
  },
  dependencyLevels: {
    value: 50,
    unit: "levels",
    per: "monitor",
    effect: "Monitors that depend on each other in a row. More is rejected, as a cycle is.",
  },
  size: {
    value: 64 * KiB,
    unit: "bytes",
    per: "monitor",
    effect:
      "All fields together, as JSON. More is rejected: 422. A monitor from an earlier version can stay larger.",
  },
  secrets: {
    value: 16 * KiB,
    unit: "bytes",
    per: "monitor",
    effect: "All secrets together, as JSON. More is rejected: 422.",
  },
  totalSize: {
    value: 128 * MiB,
    unit: "bytes",
    per: "organization",
    effect: "Settings, secrets and descriptions of all monitors. More is rejected: 409.",
  },
  pause: {
    value: 365 * 24 * 3_600,
    unit: "seconds",
    per: "monitor",
    effect: "A later `pausedUntil` is rejected: 422.",
  },
  responseBody: {
    value: MiB,
    unit: "bytes",
    per: "check",
    effect:
      "The rest is not read; assertions judge the first part. Where text must be absent, the message mentions it.",
  },
  responseCodings: {
    value: 4,
    unit: "entries",
    per: "response",
    effect: "A body with more compression layers is not read, and the check fails.",
  },
  endlessBody: {
    value: 1,
    unit: "seconds",
    per: "response",
    effect:
      "Reading of an endless body stops after this time, once all conditions are decided and no latency limit is open.",
  },
  cookies: {
    value: 50,
    unit: "entries",
    per: "check",
    effect: "The oldest cookies are not sent.",
  },
  cookieSize: {
    value: 4 * KiB,
    unit: "bytes",
    per: "cookie",
    effect: "A longer cookie is ignored, as by browsers.",
  },
  cookieHeader: {
    value: 8 * KiB,
    unit: "bytes",
    per: "request",
    effect: "Cookies of the shortest paths are left out: servers reject longer headers.",
  },
  responseNesting: {
    value: 256,
    unit: "levels",
    per: "check",
    effect: "Deeper JSON is not read, and its assertions fail.",
  },
  responseValues: {
    value: 20_000,
    unit: "entries",
    per: "check",
    effect: "JSON with more values and names is not read, and its assertions fail.",
  },
  rowValues: {
    value: 20_000,
    unit: "entries",
    per: "SQL query",
    effect: "The check fails if it has assertions about the rows.",
  },
  rowJson: {
    value: 64 * KiB,
    unit: "bytes",
    per: "SQL query",
    effect:
      "The check fails if it has assertions about the rows. The same limit applies to binary values.",
  },
  signInIterations: {
    value: 100_000,
    unit: "steps",
    per: "sign-in by SCRAM",
    effect: "The check fails before anything is computed.",
  },
  sentCertificates: {
    value: 16,
    unit: "entries",
    per: "TLS connection",
    effect: "Further certificates are ignored, and at most this many signatures are verified.",
  },
  expressionSize: {
    value: 2_000,
    unit: "steps",
    per: "expression",
    effect: "An expression with more counted repetitions is rejected: 422.",
  },
  pushMessage: {
    value: 500,
    unit: "characters",
    per: "push report",
    effect: "The rest of the message is cut.",
  },
  assertions: { value: 20, unit: "entries", per: "monitor", effect: validationText },
  assertionPath: { value: 500, unit: "characters", per: "assertion", effect: validationText },
  assertionValue: { value: 1_000, unit: "characters", per: "assertion", effect: validationText },
  assertionExpression: { value: 500, unit: "characters", per: "assertion", effect: validationText },
  insertedText: {
    value: 256 * KiB,
    unit: "characters",
    per: "request of a check",
    effect: "Values of all its placeholders. The check fails before the request is sent.",
  },
  checksAfterChanges: {
    value: 120,
    unit: "requests",
    per: "organization and minute",
    effect: "Further changed monitors are checked at their next regular time.",
  },
  unstoredResults: {
    value: 200_000,
    unit: "rows",
    per: "machine",
    effect: "If the database accepts no writes, the oldest results are dropped.",
  },
  unstoredProblems: {
    value: 1_000,
    unit: "rows",
    per: "machine",
    effect: "The oldest notes about checks that can't be judged are dropped.",
  },
  manualChecks: {
    value: 4,
    unit: "requests",
    per: "person or key",
    effect: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerOrganization: {
    value: 16,
    unit: "requests",
    per: "organization",
    effect: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerAppliance: {
    value: 64,
    unit: "requests",
    per: "appliance",
    effect: "“Test now” is rejected while this many run: 429.",
  },
  manualChecksPerMinute: {
    value: 60,
    unit: "requests",
    per: "person or key and minute",
    effect: rateLimitText,
  },
  manualChecksPerOrganizationAndMinute: {
    value: 240,
    unit: "requests",
    per: "organization and minute",
    effect: rateLimitText,
  },
} satisfies Section;

/** Maintenance windows. */
export const maintenanceBounds = {
  windows: {
    value: 20_000,
    unit: "rows",
    per: "organization",
    effect: "Past windows count too. One more is rejected: 409.",
  },
} satisfies Section;

/** Text messages and calls of SMS and voice channels. */
export const smsBounds = {
  parts: {
    value: 10,
    unit: "parts",
    per: "text message",
    effect: "A larger `maxParts` is rejected: 422. A longer text is cut.",
  },
  messages: {
    value: 10_000,
    unit: "messages",
    per: "SMS or voice channel and day",
    effect:
      "A larger `dailyLimit` is rejected: 422. Messages beyond a channel’s `dailyLimit` are skipped.",
  },
} satisfies Section;

/** Alerts and test messages. */
export const alertBounds = {
  reminderInterval: {
    value: 60,
    unit: "seconds",
    per: "monitor",
    effect: "A shorter `reminderInterval` is rejected: 422.",
  },
  alertsPerMessage: {
    value: 1_000,
    unit: "entries",
    per: "delivery",
    effect: "Further alerts of the same moment are sent in another message.",
  },
  responseBody: {
    value: 2_000,
    unit: "milliseconds",
    per: "delivery",
    effect: "The connection is closed. The status of the response decides the delivery.",
  },
  insertedText: {
    value: 256_000,
    unit: "characters",
    per: "request of a channel",
    effect: "Values of all its placeholders. The delivery fails, and the channel shows why.",
  },
  shownDeliveries: {
    value: 500,
    unit: "rows",
    per: "alert",
    effect: "The alert shows its newest deliveries.",
  },
  snooze: {
    value: 30 * 24 * 3_600,
    unit: "seconds",
    per: "alert",
    effect: "A later `until` is rejected: 422.",
  },
  entries: {
    value: 1_000,
    unit: "entries",
    per: "timeline of an alert",
    effect: "Further notes are rejected: 409. Other entries are left out.",
  },
  replayedChecks: {
    value: 500_000,
    unit: "rows",
    per: "replay",
    effect: `Checks of all its monitors. ${validationText}`,
  },
  replayedAlerts: {
    value: 100,
    unit: "entries",
    per: "list of a replay",
    effect: "The newest are listed, and all are counted.",
  },
  undelivered: {
    value: 100_000,
    unit: "rows",
    per: "organization",
    effect: "Further alerts are dropped. A problem reports how many.",
  },
  testAlerts: {
    value: 30,
    unit: "requests",
    per: "organization and minute",
    effect: rateLimitText,
  },
  testMails: { value: 6, unit: "requests", per: "organization and minute", effect: rateLimitText },
} satisfies Section;

/** Requests of other tools to alert sources. */
export const sourceBounds = {
  body: {
    value: MiB,
    unit: "bytes",
    per: "request",
    effect: "A longer body is rejected: 413. Events for PagerDuty's API have at most 512 KiB.",
  },
  requests: {
    value: 60_000,
    unit: "requests",
    per: "alert source and minute",
    effect: rateLimitText,
  },
  wrongTokens: {
    value: 60,
    unit: "requests",
    per: "network and minute",
    effect: "Further wrong addresses are rejected: 429. Valid ones still work.",
  },
  waiting: {
    value: 32 * MiB,
    unit: "bytes",
    per: "appliance",
    effect: "Further requests are rejected until the waiting ones are stored: 429.",
  },
  waitingPerSource: {
    value: 8 * MiB,
    unit: "bytes",
    per: "alert source",
    effect: "Further requests are rejected until the waiting ones are stored: 429.",
  },
  values: {
    value: 100_000,
    unit: "entries",
    per: "request",
    effect: "Names and values of its JSON. The request is rejected: 422.",
  },
  alertsPerRequest: {
    value: 1_000,
    unit: "entries",
    per: "request",
    effect: "The request is rejected: 422.",
  },
  openAlerts: {
    value: 5_000,
    unit: "rows",
    per: "alert source",
    effect: "Requests that would open more alerts are rejected until others are resolved: 429.",
  },
  knownAlerts: {
    value: 10_000,
    unit: "rows",
    per: "alert source",
    effect: "The oldest resolved ones are forgotten.",
  },
  openIncidents: {
    value: 20,
    unit: "rows",
    per: "alert source",
    effect: "Further alerts open no incident.",
  },
  text: {
    value: 2_000,
    unit: "characters",
    per: "text of an alert",
    effect: "The rest is cut.",
  },
  changes: {
    value: 60,
    unit: "changes",
    per: "alert and minute",
    effect:
      "Further requests are logged. The alert stays open until its end is a minute old, and only a more urgent report changes its text.",
  },
  loggedRequests: {
    value: 1_000,
    unit: "rows",
    per: "alert source",
    effect: "The oldest are removed from the log.",
  },
  loggedBytes: {
    value: 16 * MiB,
    unit: "bytes",
    per: "alert source",
    effect: "Bodies of requests. The oldest are removed from the log.",
  },
  mails: {
    value: 600,
    unit: "requests",
    per: "alert source and minute",
    effect: "Further mails are rejected, and their senders repeat them: 451.",
  },
  sample: {
    value: 200_000,
    unit: "characters",
    per: "preview",
    effect: validationText,
  },
  replays: {
    value: 60,
    unit: "requests",
    per: "organization and minute",
    effect: rateLimitText,
  },
} satisfies Section;

/** The SMTP listener. */
export const mailBounds = {
  size: {
    value: 20 * MiB,
    unit: "bytes",
    per: "mail",
    effect: "The mail is rejected: 552. The first 128 KiB and 2,000 lines are read.",
  },
  headers: {
    value: 64 * 1024,
    unit: "bytes",
    per: "headers of a mail",
    effect: "The mail is rejected: 554.",
  },
  header: {
    value: 4 * 1024,
    unit: "bytes",
    per: "header of a mail",
    effect: "The rest is ignored.",
  },
  recipients: {
    value: 10,
    unit: "entries",
    per: "mail",
    effect: "Further recipients are rejected for now: 452. The sender sends them another mail.",
  },
  searches: {
    value: 100,
    unit: "requests",
    per: "organization",
    effect:
      "One mail or preview is searched at a time, and this many wait. Further mails are rejected for now: 451. Further previews: 429.",
  },
  searchWork: {
    value: 3_000_000,
    unit: "steps",
    per: "mail",
    effect: "Further expressions match nothing. All expressions of the source count.",
  },
  mails: {
    value: 100,
    unit: "requests",
    per: "mail connection",
    effect: "The sender repeats further mails on another connection: 452.",
  },
  commands: {
    value: 64 * 1024,
    unit: "bytes",
    per: "mail connection",
    effect: "Commands of a connection, without its mails. It is closed: 421.",
  },
  time: {
    value: 300,
    unit: "seconds",
    per: "mail connection",
    effect: "It is closed: 421. So is one that sends nothing for a minute.",
  },
  connections: {
    value: 100,
    unit: "connections",
    per: "appliance",
    effect: "Connections of mail senders at a time. Further ones are rejected: 421.",
  },
  connectionsPerNetwork: {
    value: 10,
    unit: "connections",
    per: "network",
    effect: "Further connections of mail senders are rejected: 421.",
  },
  connectionsPerMinute: {
    value: 120,
    unit: "connections",
    per: "network and minute",
    effect: "Further connections of mail senders are rejected: 421.",
  },
} satisfies Section;

/** On-call schedules. */
export const scheduleBounds = {
  layers: { value: 10, unit: "entries", per: "schedule", effect: validationText },
  people: { value: 50, unit: "entries", per: "layer", effect: validationText },
  hours: { value: 14, unit: "entries", per: "layer, or quiet hours", effect: validationText },
  overrides: {
    value: 500,
    unit: "rows",
    per: "schedule",
    effect: "Overrides that ended in the past year count too. One more is rejected: 409.",
  },
  noticeHours: {
    value: 336,
    unit: "hours",
    per: "schedule",
    effect: "An earlier notice of a shift is rejected: 422.",
  },
  span: {
    value: 62 * 86_400,
    unit: "seconds",
    per: "request for shifts",
    effect: "Shifts after this span are omitted.",
  },
  waiting: {
    value: 200,
    unit: "requests",
    per: "organization",
    effect:
      "Schedules, escalation policies, who is on call and whom alerts would notify are read for one request at a time, and this many wait. Further ones are rejected: 429.",
  },
} satisfies Section;

/** Accounts of people. */
export const accountBounds = {
  passkeys: {
    value: 20,
    unit: "rows",
    per: "person",
    effect: "One more is rejected: 409.",
  },
} satisfies Section;

/** Contact methods of people. */
export const contactBounds = {
  methods: {
    value: 20,
    unit: "rows",
    per: "person and organization",
    effect: "One more is rejected: 409.",
  },
  afterMinutes: {
    value: 60,
    unit: "minutes",
    per: "contact method",
    effect: "More is rejected: 422.",
  },
  codes: {
    value: 3,
    unit: "requests",
    per: "contact method and 15 minutes",
    effect: rateLimitText,
  },
} satisfies Section;

/** Sign-in providers (OpenID Connect) and sign-ins through them. */
export const singleSignOnBounds = {
  providers: {
    value: 50,
    unit: "rows",
    per: "appliance",
    effect: "One more sign-in provider is rejected: 409.",
  },
  organizations: {
    value: 500,
    unit: "entries",
    per: "sign-in provider",
    effect: validationText,
  },
  groupRoles: {
    value: 200,
    unit: "entries",
    per: "sign-in provider and organization",
    effect: validationText,
  },
  domains: { value: 100, unit: "entries", per: "sign-in provider", effect: validationText },
  identities: {
    value: 20,
    unit: "rows",
    per: "person",
    effect: "One more account at a sign-in provider is rejected: 409.",
  },
  attempts: {
    value: 8,
    unit: "entries",
    per: "browser",
    effect: "The oldest unfinished sign-in through a provider is forgotten.",
  },
  requests: {
    value: 120,
    unit: "requests",
    per: "network and minute",
    effect: "Further sign-ins through providers are rejected: 429. Passwords still work.",
  },
  attemptMinutes: {
    value: 10,
    unit: "minutes",
    per: "sign-in through a provider",
    effect: "The sign-in has to start again.",
  },
  responseSeconds: {
    value: 10,
    unit: "seconds",
    per: "request to a sign-in provider",
    effect: "The sign-in fails. Passwords still work.",
  },
  response: {
    value: 256 * KiB,
    unit: "bytes",
    per: "response of a sign-in provider",
    effect: "The sign-in fails. Passwords still work.",
  },
  groups: {
    value: 2_000,
    unit: "entries",
    per: "sign-in through a provider",
    effect: "The sign-in fails. Let the provider send only the groups of Signalbox.",
  },
  clockTolerance: {
    value: 60,
    unit: "seconds",
    per: "sign-in through a provider",
    effect: "If the clocks differ by more, the sign-in fails and names the difference.",
  },
} satisfies Section;

/** Escalation policies. */
export const escalationBounds = {
  steps: { value: 10, unit: "steps", per: "escalation policy", effect: validationText },
  targets: { value: 20, unit: "entries", per: "step", effect: validationText },
  afterMinutes: {
    value: 1_440,
    unit: "minutes",
    per: "step",
    effect: "A later step is rejected: 422.",
  },
} satisfies Section;

/** Status pages and their visitors. */
/** Reports by mail. */
export const reportBounds = {
  mails: { value: 20, unit: "entries", per: "organization", effect: validationText },
  recipients: { value: 50, unit: "entries", per: "report by mail", effect: validationText },
  sentNow: {
    value: 10,
    unit: "requests",
    per: "organization and hour",
    effect: "Further reports that people send before their time are rejected: 429.",
  },
  printing: {
    value: 30,
    unit: "seconds",
    per: "PDF",
    effect: "Chromium is stopped. A download is rejected: 503. A mail is sent without the PDF.",
  },
  printedRows: {
    value: 500,
    unit: "rows",
    per: "PDF",
    effect: "The monitors with the most down time are listed, and the number of the others.",
  },
  waitingPrints: {
    value: 20,
    unit: "requests",
    per: "organization",
    effect:
      "One PDF is printed at a time. Further downloads are rejected: 429. A mail is sent without the PDF.",
  },
  cachedPrints: {
    value: 4,
    unit: "entries",
    per: "machine",
    effect: "The oldest PDFs are printed again for the next recipient.",
  },
} satisfies Section;

export const statusPageBounds = {
  shownMonitors: {
    value: 5_000,
    unit: "rows",
    per: "page",
    effect: "Further monitors are omitted, and the page mentions it.",
  },
  shownDays: {
    value: 100_000,
    unit: "entries",
    per: "page",
    effect: "The page shows fewer days of each monitor.",
  },
  monitorsInSections: { value: 1_000, unit: "entries", per: "page", effect: validationText },
  allowedAddresses: { value: 200, unit: "entries", per: "page", effect: validationText },
  accessTokens: { value: 50, unit: "rows", per: "page", effect: conflictText },
  publishedIncidents: {
    value: 100,
    unit: "entries",
    per: "published page",
    effect: "Older incidents are linked at the page on the appliance.",
  },
  publishedMonths: {
    value: 12,
    unit: "entries",
    per: "published page",
    effect: "Earlier months are linked at the page on the appliance.",
  },
  publishedPlaces: {
    value: 20,
    unit: "entries",
    per: "page whose files are being removed from earlier places",
    effect: conflictText,
  },
  visitorProviders: { value: 5, unit: "entries", per: "page", effect: validationText },
  links: { value: 10, unit: "entries", per: "header or footer", effect: validationText },
  css: { value: 20_000, unit: "characters", per: "page", effect: validationText },
  embedOrigins: { value: 20, unit: "entries", per: "page", effect: validationText },
  visitorDomains: { value: 50, unit: "entries", per: "provider of a page", effect: validationText },
  shownIncidents: {
    value: 200,
    unit: "rows",
    per: "page",
    effect: "Older incidents are in the page's history.",
  },
  updatesPerIncident: {
    value: 10,
    unit: "entries",
    per: "incident",
    effect:
      "The page, its feeds and its JSON give the number of earlier updates, which are on the incident's own page.",
  },
  updatesPerIncidentPage: {
    value: 100,
    unit: "entries",
    per: "page of an incident",
    effect: "Earlier updates are on further pages.",
  },
  texts: {
    value: 640 * KiB,
    unit: "bytes",
    per: "page, feed or JSON file",
    effect:
      "Further updates are on the pages of their incidents; further descriptions of maintenance are omitted.",
  },
  cache: {
    value: 64 * MiB,
    unit: "bytes",
    per: "appliance",
    effect:
      "The least recently used pages are dropped, first those of the organization with the largest share.",
  },
  undeliveredNotices: {
    value: 500_000,
    unit: "rows",
    per: "organization",
    effect: "Further notices to subscribers are dropped. A problem reports how many.",
  },
  cachedPlain: {
    value: MiB,
    unit: "bytes",
    per: "page",
    effect: "Longer pages are cached compressed only.",
  },
  uncachedRenders: {
    value: 600,
    unit: "requests",
    per: "network and minute",
    effect: "Further incidents, months, badges and forms that are not cached are rejected: 429.",
  },
  pastRenders: {
    value: 20,
    unit: "requests",
    per: "network and minute",
    effect: "Further pages as of a past time, which are never cached, are rejected: 429.",
  },
  previews: { value: 240, unit: "requests", per: "person and minute", effect: rateLimitText },
  hostChecks: {
    value: 30,
    unit: "requests",
    per: "organization and minute",
    effect: rateLimitText,
  },
} satisfies Section;

/** Sign-ups on status pages, which need no account. */
export const signUpBounds = {
  perMinute: { value: 5, unit: "requests", per: "network and minute", effect: rateLimitText },
  perHour: { value: 20, unit: "requests", per: "network and hour", effect: rateLimitText },
  perPage: {
    value: 60,
    unit: "requests",
    per: "page and hour",
    effect: "Further sign-ups count as sign-ups from new networks.",
  },
  perPageFromNewNetworks: {
    value: 300,
    unit: "requests",
    per: "page and hour",
    effect: "Each new network can use one of these. Further ones are rejected: 429.",
  },
  confirmationMails: {
    value: 5,
    unit: "requests",
    per: "mailbox and day",
    effect: "Further sign-ups of the mailbox send no mail.",
  },
  unconfirmed: {
    value: 1_000,
    unit: "rows",
    per: "page",
    effect: "The oldest unconfirmed sign-ups are removed.",
  },
  unconfirmedForOneDay: {
    value: 250,
    unit: "rows",
    per: "page",
    effect: "Unconfirmed sign-ups are then removed after a day instead of a week.",
  },
} satisfies Section;

/** Choices of status page subscribers. */
export const subscriberBounds = {
  importedLines: {
    value: 2_000,
    unit: "entries",
    per: "import",
    effect: "More is rejected: 422. The admin page divides a longer file.",
  },
  monitors: {
    value: 200,
    unit: "entries",
    per: "subscriber",
    effect: "A longer choice is rejected: 422, or a sentence on the page.",
  },
  groups: {
    value: 100,
    unit: "entries",
    per: "subscriber",
    effect: "A longer choice is rejected: 422, or a sentence on the page.",
  },
} satisfies Section;

/** Imports from other programs. */
export const importBounds = {
  upload: {
    value: 8 * GiB,
    unit: "bytes",
    per: "file",
    effect: "A larger file is rejected before it is sent.",
  },
  uploads: {
    value: 1,
    unit: "entries",
    per: "organization",
    effect: "A new upload replaces the earlier one, which is removed after an hour in any case.",
  },
  recordValue: {
    value: 512 * KiB,
    unit: "bytes",
    per: "value",
    effect: "The file is rejected, and nothing is changed.",
  },
  recordBytes: {
    value: 64 * MiB,
    unit: "bytes",
    per: "file",
    effect: "The file is rejected. Results of checks are not counted.",
  },
  records: {
    value: 10_000,
    unit: "rows",
    per: "file",
    effect: "The file is rejected before its records are converted.",
  },
  links: {
    value: 200_000,
    unit: "rows",
    per: "table",
    effect: "The file is rejected. These rows attach channels, tags and monitors to records.",
  },
  groupNesting: {
    value: 50,
    unit: "levels",
    per: "group",
    effect: "The file is rejected.",
  },
  planned: {
    value: 32 * MiB,
    unit: "bytes",
    per: "file",
    effect: "The file is rejected. All converted records count, with their notes.",
  },
  storedNotes: {
    value: 256 * KiB,
    unit: "bytes",
    per: "import",
    effect: "The report is complete when you import. Later it lists further records without notes.",
  },
  readingTime: {
    value: 60,
    unit: "seconds",
    per: "step",
    effect: "The process that reads the file is stopped, and the file is rejected.",
  },
  readingMemory: {
    value: 384 * MiB,
    unit: "bytes",
    per: "file",
    effect: "The process that reads the file is stopped, and the file is rejected. Linux only.",
  },
  reading: {
    value: 2,
    unit: "entries",
    per: "appliance",
    effect: "Further files wait in a queue.",
  },
  jsonBackup: { value: 64 * MiB, unit: "bytes", per: "file", effect: "The file is rejected." },
  yaml: { value: 2 * MiB, unit: "bytes", per: "file", effect: "The file is rejected." },
  yamlPerFolder: {
    value: 8 * MiB,
    unit: "bytes",
    per: "folder",
    effect: "The folder is rejected.",
  },
  filesPerFolder: {
    value: 1_000,
    unit: "entries",
    per: "folder",
    effect: "The folder is rejected.",
  },
  folderNesting: {
    value: 20,
    unit: "levels",
    per: "folder",
    effect: "The folder is rejected.",
  },
  namedFile: {
    value: 64 * KiB,
    unit: "bytes",
    per: "certificate or key",
    effect: "It is not read, and the monitor that needs it is paused.",
  },
} satisfies Section;

/** Live streams of the admin page. */
export const livePageBounds = {
  perSession: {
    value: 20,
    unit: "entries",
    per: "session",
    effect: "Further pages reload their data instead.",
  },
  perOrganization: {
    value: 200,
    unit: "entries",
    per: "organization",
    effect:
      "Further pages reload their data instead. The last 20 are reserved for people with fewer than 3.",
  },
  perAppliance: {
    value: 2_000,
    unit: "entries",
    per: "appliance",
    effect:
      "Further pages reload their data instead. The last 200 are reserved for organizations with fewer than 11.",
  },
  unread: {
    value: MiB,
    unit: "bytes",
    per: "page",
    effect: "The stream is closed, and the page reconnects.",
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
