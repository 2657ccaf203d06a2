/** Converts endpoints of Gatus to monitors; incomplete ones are paused, with the reasons. */
import { type Fields } from "../../core/collections/objects.ts";
import { excerptText, formatDuration, toLine } from "../../core/text/formatting.ts";
import { findFirstIssue } from "../../core/validation.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { buildSharedToken } from "../../monitoring/pings/ping-rules.ts";
import { toCleanLine, type ConvertedRecord, findIssue, toParagraphs, clamp } from "../values.ts";
import { fitSilence } from "../silence.ts";
import { readAlerting } from "./alerts.ts";
import type { Channels } from "./channels.ts";
import { applyConditions, type Judgment } from "./judge.ts";
import type { Section } from "./section.ts";
import { hostOf, type ReadNamedFile, type Target, buildTarget } from "./targets.ts";

/** An additional monitor for one part of an endpoint's check. */
type Part = ConvertedRecord & { suffix: string };

export type ConvertedEndpoint = {
  monitor: ConvertedRecord;
  /** Additional monitors for the domain and the addresses of the host. */
  parts: Part[];
  channelIds: string[];
  comparesNumbers: boolean;
};

type Context = { channels: Channels; readFile: ReadNamedFile };
type ExternalContext = { channels: Channels; sharedTokens: ReadonlySet<string> };

const maxDescriptionLength = 2_000;
const daySeconds = 86_400;

export async function convertEndpoint(
  endpoint: Section,
  { channels, readFile }: Context,
): Promise<ConvertedEndpoint> {
  const conditions = endpoint.texts("conditions");
  const isAboutDomain =
    conditions.length > 0 && conditions.every((one) => /^\s*\[DOMAIN_EXPIRATION\]/i.test(one));
  const target: Target = isAboutDomain
    ? { type: "domain", fields: { domain: hostOf(endpoint.text("url")) }, notes: [], missing: [] }
    : await buildTarget(endpoint, readFile);
  const judgment = applyConditions(conditions, target);
  if (isAboutDomain) {
    target.fields["minDays"] = judgment.domainDays ?? 14;
    for (const key of ["method", "headers", "graphql", "body", "client", "dns", "ssh"])
      endpoint.value(key);
  }
  const common = buildCommonFields(endpoint, endpoint.duration("interval") ?? 60, target.notes);
  const seconds = endpoint.map("client").duration("timeout") || 10;
  const interval = Number(common["interval"]);
  common["timeout"] = clamp(Math.ceil(seconds), 1, Math.min(60, interval));
  if (common["timeout"] !== seconds && endpoint.map("client").has("timeout"))
    target.notes.push(`Times out after ${String(common["timeout"])} s instead of ${seconds} s.`);
  const alerting = readAlerting(endpoint, interval, channels);
  Object.assign(common, alerting.fields, { inverted: judgment.inverted });
  const parts = isAboutDomain ? [] : buildExtraMonitors(endpoint, common, judgment, target);
  target.notes.push(...alerting.notes, ...endpoint.buildNotes());
  const had = `${endpoint.text("url").replace(/\/\/[^/@\s]*@/, "//")} ${conditions.join("; ")}`;
  const monitor = finishMonitor(common, target, alerting.description, `Gatus had here: ${had}`);
  const { channelIds } = alerting;
  return { monitor, parts, channelIds, comparesNumbers: judgment.comparesNumbers };
}

/** Converts an external endpoint, whose results are pushed by a job. */
export function convertExternalEndpoint(
  endpoint: Section,
  { channels, sharedTokens }: ExternalContext,
): ConvertedEndpoint {
  const token = endpoint.text("token");
  const heartbeat = endpoint.map("heartbeat").duration("interval") || null;
  const retryInterval = clamp(Math.round(heartbeat ?? daySeconds), 5, daySeconds);
  const alerting = readAlerting(endpoint, retryInterval, channels);
  // Without alerts, Gatus shows the first missed heartbeat.
  const missed = alerting.hasAlerts ? Number(alerting.fields["retries"]) : 0;
  const { interval, grace, reason } =
    heartbeat === null
      ? { interval: daySeconds, grace: daySeconds, reason: null }
      : fitSilence(heartbeat, missed * heartbeat, 5);
  const target: Target = {
    type: "push",
    fields: { grace },
    notes: [
      token === ""
        ? "Its token is empty: it has a new one, which its job needs."
        : "Its job only needs another host: it keeps its path and its token.",
      ...(heartbeat === null
        ? [
            "Down after two days without a report. Without a heartbeat Gatus waits for ever: set the interval of the job.",
          ]
        : []),
      ...(heartbeat !== null && missed > 0
        ? [
            `Down after ${formatDuration(interval + grace)} without a report, when Gatus alerts at the earliest.`,
          ]
        : []),
    ],
    missing: reason === null ? [] : [reason],
  };
  const common = buildCommonFields(endpoint, interval, target.notes);
  Object.assign(common, { timeout: 5 }, alerting.fields);
  target.notes.push(...alerting.notes, ...endpoint.buildNotes());
  const monitor = finishMonitor(common, target, alerting.description, "");
  const key = [endpoint.text("group"), endpoint.text("name")].map((text) => text.trim()).join("_");
  if (token !== "")
    monitor.fields["pushToken"] = sharedTokens.has(token) ? buildSharedToken(key, token) : token;
  return { monitor, parts: [], channelIds: alerting.channelIds, comparesNumbers: false };
}

const maxTags = 10;
const maxTagLength = 50;

function buildCommonFields(endpoint: Section, seconds: number, notes: string[]): Fields {
  const interval = clamp(Math.round(seconds), 5, daySeconds);
  if (interval !== seconds) notes.push(`Checked every ${interval} s instead of ${seconds} s.`);
  const name = toCleanLine(endpoint.text("name"));
  const shownName = toLine(name, 255) || "Endpoint";
  if (shownName !== endpoint.text("name"))
    notes.push("Its name is changed: it has at most 255 characters on one line.");
  const labels = Object.entries(endpoint.table("extra-labels")).map(([key, value]) =>
    toCleanLine(`${key}: ${value}`),
  );
  const tags = [...new Set(labels.map((label) => toLine(label, maxTagLength)))].filter(
    (tag) => tag !== "",
  );
  if (labels.some((label) => Array.from(label).length > maxTagLength))
    notes.push(`Labels are cut to tags of ${maxTagLength} characters.`);
  if (tags.length > maxTags)
    notes.push(
      `Without the labels ${excerptText(tags.slice(maxTags).join(", "), 500)}: a monitor has at most ${maxTags} tags.`,
    );
  return {
    name: shownName,
    interval,
    tags: tags.slice(0, maxTags),
    paused: endpoint.flag("enabled") === false,
  };
}

/** Returns additional monitors for requirements on the host. */
function buildExtraMonitors(
  endpoint: Section,
  common: Fields,
  judgment: Judgment,
  target: Target,
): Part[] {
  const parts: Part[] = [];
  const host = hostOf(endpoint.text("url"));
  const { addresses, domainDays } = judgment;
  const add = (suffix: string, fields: Fields, aspect: string) => {
    const name = `${toLine(String(common["name"]), 240)}: ${suffix}`;
    const { inverted: _inverted, ...own } = common;
    const part = { ...own, name, ...fields };
    const issue = findIssue(NewMonitor, part);
    if (issue !== null) return void target.missing.push(`${aspect}: ${issue}`);
    target.notes.push(`The monitor “${name}” checks ${aspect}.`);
    const notes = [`Part of “${String(common["name"])}”: checks ${aspect}.`];
    parts.push({ suffix, fields: part, notes, isIncomplete: false });
  };
  if (addresses.length > 0)
    add(
      "address",
      {
        type: "dns",
        host,
        recordType: addresses.some((one) => one.includes(":")) ? "AAAA" : "A",
        resolver: null,
        expected: addresses,
      },
      "the address of its host",
    );
  if (domainDays !== null)
    add("domain", { type: "domain", domain: host, minDays: domainDays }, "when its domain expires");
  return parts;
}

/** Fields that define the target. Without a valid one, the monitor gets another type. */
const targetFields = new Set(["url", "host", "port", "domain", "type"]);

/** Removes invalid fields one by one, and pauses the monitor with a note about each. */
function finishMonitor(
  common: Fields,
  target: Target,
  description: string,
  had: string,
): ConvertedRecord {
  const fields = { ...target.fields };
  const missing = [...target.missing];
  let type = target.type;
  const composeInput = () => ({ type, ...common, ...fields });
  for (let attempt = 0; attempt < 10; attempt++) {
    const issue = findFirstIssue(NewMonitor, composeInput());
    if (issue === null) break;
    const field = String(issue.path[0] ?? "");
    missing.push(`${issue.path.join(".") || "a field"}, which ${issue.message}`);
    if (field in fields && !targetFields.has(field)) delete fields[field];
    else if (field in common && field !== "name") delete common[field];
    else {
      type = "push";
      for (const name of Object.keys(fields)) delete fields[name];
    }
  }
  if (missing.length === 0)
    return {
      fields: {
        ...composeInput(),
        ...(description !== "" && { description: toParagraphs(description) }),
      },
      notes: target.notes,
      isIncomplete: false,
    };
  const reason = `Paused: it lacks ${[...new Set(missing)].join("; ")}.`;
  const text = [description, reason, had].filter((part) => part !== "").join("\n\n");
  return {
    fields: {
      ...composeInput(),
      paused: true,
      description: toParagraphs(text, maxDescriptionLength),
    },
    notes: [
      reason,
      ...(type === target.type ? [] : [`It is imported as the type ${type}.`]),
      ...target.notes,
    ],
    isIncomplete: true,
  };
}
