/** Renders alerts as messages with title, text, facts, link and severity, and joins several into a digest. */
import type { Placeholder } from "../channels/kinds/kind-schema.ts";
import { buildProblemKey } from "../../events/problems.ts";
import { organizationProblems, type ProblemSeverity } from "../../core/problems.ts";
import { parseMarkdown, renderHtml, renderText } from "../../core/text/markdown.ts";
import {
  formatCount,
  formatDuration,
  fillTemplateText,
  formatLatency,
  formatLatencies,
  normalizeLineBreaks,
} from "../../core/text/formatting.ts";
import type { Alert, AlertData, EscalationData } from "../alert.ts";
import type { AlertType } from "../schema.ts";
import type { Verification } from "../pushed-message.ts";
import { problemTitles } from "../deciding/problem-titles.ts";

/** `down` and `degraded` need attention, `up` is a recovery, `info` is neither. */
export type Tone = "down" | "degraded" | "up" | "info";

/** A delivery rendered as text that all channel types share. */
export type Message = {
  /** ID of the delivery. Receivers recognize duplicates by it, because every attempt has the same. */
  id: string;
  type: AlertType | "digest" | "notice";
  tone: Tone;
  severity: ProblemSeverity;
  /** RFC 3339. Time of the event; in a digest, of the last event. */
  at: string;
  /** One line, such as `Shop is down` or `12 monitors are down`. */
  title: string;
  /** Text below the title. A digest has one line per alert. */
  lines: readonly string[];
  /** The text as labels and values. Empty for digests and custom templates. */
  facts: readonly Fact[];
  /** Page of the subject, for the link in the message. */
  url: string;
  /** Label of that link, if it does not lead to the admin page. */
  linkLabel?: string;
  /** Another link, at which subscribers of a status page change their choice. */
  furtherLink?: { label: string; url: string };
  /** Link with which the recipients acknowledge the alert without signing in; null for none, and for a digest. */
  acknowledgeUrl: string | null;
  /** The links of all alerts in the message, by their IDs. Recoveries and tests have none. */
  acknowledgeUrls: ReadonlyMap<string, string>;
  /** Case that the message opens, changes or closes, with one key from the outage to its end; null for a digest. */
  problem: MessageCase | null;
  alerts: readonly Alert[];
  /** Set if the message contains a code that verifies its contact method. */
  verification?: Verification;
};

export type MessageCase = {
  key: string;
  isOver: boolean;
  /** Set if someone acknowledged or snoozed the alert, or opened it again. */
  change?: CaseChange | null;
};

/** A change to an open case, and a note about it. */
export type CaseChange = { type: "acknowledge" | "unacknowledge"; note: string };

export type Fact = {
  label: string;
  value: string;
  /** The text as HTML, if a person wrote it as Markdown. */
  html?: string;
};

/** Creates a fact from Markdown that a person wrote. */
export function createMarkdownFact(label: string, text: string): Fact {
  const blocks = parseMarkdown(text);
  return { label, value: renderText(blocks), html: renderHtml(blocks) };
}

/** Renders alerts as a message. `origin` is the base URL of this appliance; `problem` is the stored case. */
export function buildMessage(
  id: string,
  alerts: readonly Alert[],
  origin: string,
  template: string | null = null,
  problem: Message["problem"] = null,
  acknowledgeUrls: Message["acknowledgeUrls"] = new Map(),
): Message {
  const [alert, ...more] = alerts;
  if (alert === undefined) throw new Error("A message needs an alert.");
  if (more.length > 0) return buildDigest(id, alerts, origin, acknowledgeUrls);
  const custom = template === null || !("monitor" in alert.data) ? null : template;
  const facts = custom === null ? buildFacts(alert) : [];
  const tone = toneOf(alert);
  const isOver = tone === "up";
  // A case of a muted, detached or removed monitor is closed without a recovery. A worse problem
  // opens another case.
  const farewell =
    problem?.isOver === true && !isOver ? ["No further alerts about this will follow."] : [];
  const messageLines =
    custom === null
      ? facts.map(({ label, value }) => (label === "" ? value : `${label}: ${value}`))
      : [normalizeLineBreaks(fillTemplate(custom, alert, origin))];
  const url = buildAlertUrl(alert, origin);
  // Each test has its own case, because an acknowledged case would swallow the next test.
  const key = alert.type === "test" ? `signalbox-${id}` : buildCaseKey(alert);
  const title = composeAlertTitle(alert);
  return {
    id,
    type: alert.type,
    tone,
    severity: severityOf(alert),
    at: alert.at,
    title,
    lines: [...farewell, ...messageLines],
    facts,
    url,
    acknowledgeUrl: acknowledgeUrls.get(alert.id) ?? null,
    acknowledgeUrls,
    problem: problem ?? { key, isOver },
    alerts,
  };
}

function buildDigest(
  id: string,
  alerts: readonly Alert[],
  origin: string,
  acknowledgeUrls: Message["acknowledgeUrls"],
): Message {
  const latest = pickLatestPerCase(alerts);
  return {
    id,
    type: "digest",
    tone: pickLoudest(latest.map(toneOf)),
    severity: pickWorst(latest.map(severityOf)),
    at: alerts.reduce((last, { at }) => (at > last ? at : last), ""),
    title: composeOutageTitle(alerts, latest) ?? composeDigestTitle(latest),
    lines: alerts.map(composeLine),
    facts: [],
    url: origin,
    acknowledgeUrl: null,
    acknowledgeUrls,
    problem: null,
    alerts,
  };
}

/** Returns the subject of an alert: a monitor, incident, channel, policy, person, schedule or problem of the appliance. */
export function subjectOf({ data }: Alert): string {
  if ("monitor" in data) return data.monitor.id;
  if ("incident" in data) return data.incident.id;
  if ("channel" in data) return data.channel.id;
  if ("drill" in data) return data.drill.id;
  if ("source" in data) return data.report.id;
  if ("shift" in data) return data.shift.scheduleId;
  const { problem: name, node } = data;
  return name === undefined ? "appliance" : buildProblemKey({ name, ...(node && { node }) });
}

/** Returns the URL of the subject's page. */
export function buildAlertUrl({ id, data }: Alert, origin: string): string {
  if ("monitor" in data) return `${origin}/monitors/${data.monitor.id}`;
  if ("incident" in data) return `${origin}/incidents/${data.incident.id}`;
  if ("channel" in data)
    return data.channel.contactMethod === true
      ? `${origin}/settings/contact-methods`
      : `${origin}/alert-channels/${data.channel.id}`;
  if ("drill" in data || "source" in data) return `${origin}/alerts/${id}`;
  if ("shift" in data) return `${origin}/on-call/${data.shift.scheduleId}`;
  if (data.problem !== undefined && organizationProblems.has(data.problem))
    return `${origin}/on-call/readiness`;
  return data.problem === undefined ? origin : `${origin}/settings/about`;
}

const tones: Record<AlertType, Tone> = {
  "monitor.down": "down",
  "monitor.reminder": "down",
  "monitor.degraded": "degraded",
  "monitor.flapping": "degraded",
  "monitor.up": "up",
  "certificate.expiring": "degraded",
  "incident.opened": "down",
  "incident.updated": "info",
  "incident.resolved": "up",
  "channel.failed": "degraded",
  "appliance.troubled": "degraded",
  "appliance.recovered": "up",
  "source.opened": "down",
  "source.changed": "down",
  "source.resolved": "up",
  // As loud as an outage, because it practices one.
  drill: "down",
  "shift.starting": "info",
  test: "info",
};

/** Whether a message about this alert can have a link to acknowledge it. */
export const isAcknowledgeable = (alert: Alert): boolean =>
  alert.type !== "test" && alert.type !== "shift.starting" && toneOf(alert) !== "up";

function toneOf(alert: Alert): Tone {
  const { type } = alert;
  const canBeMinor =
    type === "incident.opened" || type === "source.opened" || type === "source.changed";
  const isMinor = canBeMinor && severityOf(alert) === "warning";
  return isMinor ? "degraded" : tones[alert.type];
}

const prioritySeverities = { low: "warning", normal: "error", critical: "critical" } as const;
const incidentSeverities = { minor: "warning", major: "error", critical: "critical" } as const;

/** Returns the severity of an alert. An incident update is as severe as its incident. */
function severityOf({ type, data }: Alert): ProblemSeverity {
  switch (type) {
    case "monitor.down":
    case "monitor.reminder":
    case "drill":
      return "critical";
    case "certificate.expiring":
      return data.daysLeft < 0 ? "critical" : data.daysLeft < 3 ? "error" : "warning";
    case "incident.opened":
    case "incident.updated":
      return incidentSeverities[data.incident.severity];
    case "source.opened":
    case "source.changed":
      return prioritySeverities[data.report.priority];
    case "monitor.degraded":
    case "monitor.flapping":
    case "channel.failed":
      return "warning";
    case "appliance.troubled":
      return data.severity ?? "warning";
    case "monitor.up":
    case "incident.resolved":
    case "appliance.recovered":
    case "source.resolved":
    case "shift.starting":
    case "test":
      return "info";
  }
}

function pickWorst(all: readonly ProblemSeverity[]): ProblemSeverity {
  return (["critical", "error", "warning"] as const).find((one) => all.includes(one)) ?? "info";
}

function pickLoudest(all: readonly Tone[]): Tone {
  return (["down", "degraded", "up"] as const).find((tone) => all.includes(tone)) ?? "info";
}

export function composeAlertTitle({ type, data }: Alert): string {
  switch (type) {
    case "monitor.down":
      return `${composeSubject(data)} down`;
    case "monitor.up":
      return `${data.monitor.name} is up again`;
    case "monitor.degraded":
      return `${data.monitor.name} is degraded`;
    case "monitor.reminder":
      return `${composeSubject(data)} still down`;
    case "monitor.flapping":
      return `${data.monitor.name} is flapping`;
    case "certificate.expiring":
      return `The certificate of ${data.monitor.name} ${describeExpiry(data.daysLeft)}`;
    case "incident.opened":
      return `Incident: ${data.incident.title}`;
    case "incident.updated":
      return `Incident, ${data.incident.status}: ${data.incident.title}`;
    case "incident.resolved":
      return `Incident resolved: ${data.incident.title}`;
    case "channel.failed":
      return `Alerts to ${data.channel.name} can't be delivered`;
    case "appliance.troubled":
      return problemTitles[data.problem ?? "checks"].start;
    case "appliance.recovered":
      return problemTitles[data.problem ?? "checks"].end;
    case "source.opened":
      return data.report.title;
    case "source.changed":
      return `More urgent: ${data.report.title}`;
    case "source.resolved":
      return `Resolved: ${data.report.title}`;
    case "drill":
      return `Drill: ${data.drill.name}`;
    case "shift.starting":
      return `Your shift in ${data.shift.scheduleName} starts soon`;
    case "test":
      return "Test alert from Signalbox";
  }
}

/** Returns the start of a title, such as `Shop is` or `7 monitors on db1.lan are`. */
function composeSubject({ monitor, joined }: AlertData["monitor.down"]): string {
  return joined === undefined
    ? `${monitor.name} is`
    : `${formatCount(joined.count + 1)} monitors ${joined.place} are`;
}

function describeExpiry(days: number): string {
  if (days < 0) return "has expired";
  if (days === 0) return "expires within a day";
  return `expires in ${days} day${days === 1 ? "" : "s"}`;
}

function buildFacts(alert: Alert): Fact[] {
  const { type, data } = alert;
  const facts = [buildMessageFact(alert), ...buildJoinedFacts(alert), ...buildBehindFacts(alert)];
  const add = (label: string, value: string | null) => {
    if (value !== null) facts.push({ label, value });
  };
  if (data.escalation !== undefined) add("Escalation", describeEscalation(data.escalation));
  add("Acknowledged by", data.acknowledgedBy?.join(", ") ?? null);
  if ("incident" in data) add("Severity", data.incident.severity);
  if ("source" in data) {
    add("Source", data.source.name);
    add("Since", formatUtc(data.since));
    if (data.openSeconds !== undefined) add("Was open for", formatDuration(data.openSeconds));
    add("Details", data.report.link);
  }
  if (!("monitor" in data)) return facts;
  if (type === "certificate.expiring") add("Expires", formatUtc(data.expiresAt));
  else add(type === "monitor.reminder" ? "Down since" : "Since", formatUtc(data.since));
  if (data.downSeconds !== undefined) add("Was down for", formatDuration(data.downSeconds));
  add("Latency", data.latencyMs === null ? null : formatLatency(data.latencyMs, " "));
  const { groupName, target = null, tags = [], description = "" } = data.monitor;
  add("Group", groupName);
  add("Target", target);
  add("Tags", tags.join(", ") || null);
  if (description.trim() !== "") facts.push(createMarkdownFact("Description", description));
  return facts;
}

/** Formats a timestamp as `2026-11-20 23:02:00 UTC`. */
function formatUtc(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}

/** Returns the case key of an alert, which is the same from an outage to its end. */
function buildCaseKey(alert: Alert): string {
  return `signalbox-${subjectOf(alert)}${alert.type === "certificate.expiring" ? "-certificate" : ""}`;
}

/** Renders an alert as one line of a digest. */
export function composeLine(alert: Alert): string {
  const { acknowledgedBy = [] } = alert.data;
  const owners =
    acknowledgedBy.length === 0 ? "" : ` Acknowledged by ${acknowledgedBy.join(", ")}.`;
  const others = [...buildJoinedFacts(alert), ...buildBehindFacts(alert)];
  const more = others.map(({ value }) => ` ${value}`).join("");
  return `${composeAlertTitle(alert)}. ${buildMessageFact(alert).value}${more}${owners}`;
}

function describeEscalation({ policy, step, steps }: EscalationData): string {
  const name = policy === null ? "" : ` of ${policy}`;
  return step === null
    ? `Nobody acknowledged the alert${name}.`
    : `Step ${step} of ${steps}${name}`;
}

/** Names the monitors that are down for the same cause, without an alert of their own. */
function buildJoinedFacts({ data }: Alert): Fact[] {
  if (!("monitor" in data) || data.joined === undefined) return [];
  const { monitor, joined } = data;
  const names = [monitor, ...joined.monitors].map(({ name }) => name);
  return [{ label: "", value: `Down: ${listNames(names, joined.count + 1)}.` }];
}

/** Lists names, and the number of those left out. */
export function listNames(names: readonly string[], count: number): string {
  const more = count - names.length;
  return names.join(", ") + (more > 0 ? ` and ${formatCount(more)} more` : "");
}

/** Describes how many monitors an outage affects without an alert of their own. */
function buildBehindFacts({ data }: Alert): Fact[] {
  if (!("monitor" in data) || data.behind === undefined) return [];
  return [{ label: "", value: `${data.behind} more behind ${data.monitor.name}.` }];
}

function buildMessageFact({ data }: Alert): Fact {
  return "incident" in data && data.isMarkdown === true
    ? createMarkdownFact("", data.message)
    : {
        label: "",
        value: "monitor" in data ? formatLatencies(data.message, " ") : data.message,
      };
}

/** Returns the last alert of each case. */
function pickLatestPerCase(alerts: readonly Alert[]): Alert[] {
  return [...new Map(alerts.map((alert) => [buildCaseKey(alert), alert])).values()];
}

/** Returns a title for a digest that contains one outage and its end; null for any other digest. */
function composeOutageTitle(
  alerts: readonly Alert[],
  [last, ...others]: readonly Alert[],
): string | null {
  const down = alerts.find(({ type }) => type === "monitor.down" || type === "monitor.reminder");
  if (down === undefined || !("monitor" in down.data)) return null;
  if (last?.type !== "monitor.up" || others.length > 0) return null;
  return `${last.data.monitor.name} was down from ${formatUtc(down.data.since)} to ${formatUtc(last.at)}`;
}

function composeDigestTitle(latest: readonly Alert[]): string {
  const countTypes = (...types: AlertType[]) =>
    latest.filter(({ type }) => types.includes(type)).length;
  const counted = [
    [countTypes("monitor.down", "monitor.reminder"), "down"],
    [countTypes("monitor.degraded"), "degraded"],
    [countTypes("monitor.flapping"), "flapping"],
    [countTypes("monitor.up"), "up again"],
  ] as const;
  const parts = counted
    .filter(([count]) => count > 0)
    .map(([count, condition], index) => {
      const noun = index === 0 ? ` monitor${count === 1 ? "" : "s"}` : "";
      return `${formatCount(count)}${noun} ${count === 1 ? "is" : "are"} ${condition}`;
    });
  const drills = countTypes("drill");
  if (drills > 0) parts.push(`${formatCount(drills)} drill${drills === 1 ? "" : "s"}`);
  const others = latest.length - drills - counted.reduce((sum, [count]) => sum + count, 0);
  if (others > 0)
    parts.push(
      `${formatCount(others)} ${parts.length > 0 ? "other " : ""}alert${others === 1 ? "" : "s"}`,
    );
  return parts.join(", ");
}

const statusWords: Partial<Record<AlertType, string>> = {
  "monitor.down": "down",
  "monitor.reminder": "still down",
  "monitor.degraded": "degraded",
  "monitor.flapping": "flapping",
  "monitor.up": "up",
};

function fillTemplate(template: string, alert: Alert, origin: string): string {
  const values = listPlaceholderValues(alert, buildAlertUrl(alert, origin));
  return values === null ? template : fillTemplateText(template, values);
}

/** Returns the values of placeholders in an alert about a monitor; null for other alerts. */
export function listPlaceholderValues(
  { type, data }: Alert,
  url: string,
): Record<Placeholder, string> | null {
  if (!("monitor" in data)) return null;
  return {
    monitor: composeName(data),
    status: statusWords[type] ?? describeExpiry("daysLeft" in data ? data.daysLeft : 0),
    message: formatLatencies(data.message, " "),
    since: formatUtc(data.since),
    duration: data.downSeconds === undefined ? "" : formatDuration(data.downSeconds),
    latency: data.latencyMs === null ? "" : formatLatency(data.latencyMs, " "),
    group: data.monitor.groupName ?? "",
    target: data.monitor.target ?? "",
    tags: data.monitor.tags?.join(", ") ?? "",
    description: renderText(parseMarkdown(data.monitor.description ?? "")),
    url,
  };
}

const composeName = ({ monitor, joined }: AlertData["monitor.down"]): string =>
  joined === undefined
    ? monitor.name
    : `${monitor.name} and ${formatCount(joined.count)} more ${joined.place}`;

/** Characters reserved for a last line such as `… and 12 more`. */
const moreLength = 24;

/** Returns the lines that fit into `max` characters, followed by the number of omitted lines. */
export function fitLines(lines: readonly string[], max: number): string[] {
  const fittingLines: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    const reserve = index === lines.length - 1 ? 0 : moreLength;
    if (length + line.length + 1 + reserve <= max) {
      fittingLines.push(line);
      length += line.length + 1;
      continue;
    }
    // A shortened long line is better than none.
    if (index === 0) fittingLines.push(cutText(line, max - reserve));
    const omittedCount = lines.length - fittingLines.length;
    return omittedCount === 0
      ? fittingLines
      : [...fittingLines, `… and ${formatCount(omittedCount)} more`];
  }
  return fittingLines;
}

/** Shortens text to at most `max` UTF-16 units, without splitting a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return "";
  const start = text.slice(0, max - 1);
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}

/** Formats the start of a monitor's state, with its date unless it is that of the message. */
export function formatSince(data: Alert["data"], at: string): string {
  if (!("monitor" in data) || "expiresAt" in data) return "";
  const { since } = data;
  const date = since.slice(0, 10) === at.slice(0, 10) ? "" : `${since.slice(0, 10)} `;
  return ` since ${date}${since.slice(11, 16)} UTC`;
}
