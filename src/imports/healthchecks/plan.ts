/** Converts the checks of a Healthchecks project, as its management API lists them, to push monitors. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Fields, isObject } from "../../core/collections/objects.ts";
import { isTimeZone } from "../../core/fields.ts";
import { AppError } from "../../core/errors.ts";
import {
  formatBytes,
  formatDuration,
  toLine,
  truncateCodePoints,
} from "../../core/text/formatting.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { importBounds } from "../../core/limits.ts";
import { parseJsonText } from "../../http/body.ts";
import { findScheduleIssue } from "../../monitoring/jobs/schedule-rules.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { createUnreadableError } from "../limits.ts";
import type { NotTaken, Plan, PlannedRecord } from "../plan.ts";
import { fitSilence } from "../silence.ts";
import { readTextFile } from "../text-file.ts";
import { clamp, findIssue, toCleanLine, toParagraphs, toText } from "../values.ts";

const daySeconds = 86_400;
const maxTags = 10;
const maxTagLength = 50;
const maxDescriptionLength = 2_000;
const maxKeywords = 20;
const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the JSON of `GET /api/v3/checks/`. Throws BAD_REQUEST for another file. */
export async function buildHealthchecksPlan(from: string, name = basename(from)): Promise<Plan> {
  const checks = await readChecks(from, name);
  const records: PlannedRecord[] = [];
  const notTaken: NotTaken[] = [];
  for (const [index, check] of checks.entries()) {
    const record = convertCheck(check, index);
    const issue = findIssue(NewMonitor, removeToken(record.fields));
    if (issue === null) records.push(record);
    else {
      const { externalId, name: shownName } = record;
      notTaken.push({ noun: "monitor", externalId, name: shownName, notes: [issue] });
    }
  }
  const isReadOnly = checks.some((check) => uuidOf(check) === null);
  return {
    source: "healthchecks",
    product: "Healthchecks",
    records,
    notTaken,
    hints: [
      "Integrations are not in the file: the monitors have the default alert channels.",
      ...(isReadOnly
        ? [
            "Some checks have no ping_url, so their monitors have new addresses. Export the checks with a read-write key.",
          ]
        : []),
    ],
    smtp: null,
  };
}

const removeToken = ({ pushToken: _token, ...fields }: Fields): Fields => fields;

async function readChecks(from: string, name: string): Promise<Fields[]> {
  if ((await stat(from).catch(() => null)) === null)
    throw invalidFieldError("source", `is not a file here: ${from}`);
  const text = await readTextFile(from, name).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw createUnreadableError(name, explainFileError(error, from) ?? "it can't be read.");
  });
  const maxBytes = importBounds.recordBytes.value;
  if (text.length > maxBytes)
    throw createUnreadableError(name, `it is larger than ${formatBytes(maxBytes)}.`);
  let json: unknown = null;
  try {
    json = parseJsonText(text);
  } catch {
    // The error below also describes JSON of another shape.
  }
  const checks = isObject(json) ? json["checks"] : null;
  if (!Array.isArray(checks) || !checks.every(isObject))
    throw createUnreadableError(name, "it is not the JSON of /api/v3/checks/.");
  return checks;
}

const uuidOf = (check: Fields): string | null =>
  uuidPattern.exec(toText(check["ping_url"]))?.[0] ?? null;

function convertCheck(check: Fields, index: number): PlannedRecord {
  const notes: string[] = [];
  const uuid = uuidOf(check);
  const slug = toText(check["slug"]);
  const name = toLine(toCleanLine(toText(check["name"])), 255) || slug || uuid || "Check";
  const tags = [...new Set(toCleanLine(toText(check["tags"])).split(/\s+/))].filter(Boolean);
  if (tags.length > maxTags) notes.push(`It has at most ${maxTags} tags.`);
  const { isIncomplete, ...timing } = convertTiming(check, notes);
  const issue = findSlugIssue(slug);
  if (issue !== null) notes.push(issue);
  const description = toParagraphs(toText(check["desc"]));
  if (Array.from(description).length > maxDescriptionLength)
    notes.push(`Its description is cut to ${maxDescriptionLength} characters.`);
  if (tags.some((tag) => Array.from(tag).length > maxTagLength))
    notes.push(`Tags are cut to ${maxTagLength} characters.`);
  notes.push(...listOtherSettings(check));
  return {
    noun: "monitor",
    externalId: uuid ?? (toText(check["unique_key"]).toWellFormed() || `${index + 1}`),
    name,
    fields: {
      type: "push",
      name,
      ...(description !== "" && {
        description: truncateCodePoints(description, maxDescriptionLength),
      }),
      tags: tags.slice(0, maxTags).map((tag) => toLine(tag, maxTagLength)),
      slug: slug === "" || issue !== null ? null : slug,
      ...timing,
      ...convertKeywords(check, notes),
      paused: isIncomplete || check["status"] === "paused",
      ...(uuid !== null && { pushToken: uuid }),
    },
    links: {},
    notes,
    isIncomplete,
  };
}

/** All keys of a check in versions 1 to 3 of the API: https://healthchecks.io/docs/api/ */
const knownKeys = new Set(
  "name slug tags desc grace timeout schedule tz n_pings status started last_ping last_duration next_ping manual_resume methods subject subject_fail start_kw success_kw failure_kw filter_subject filter_body filter_http_body filter_default_fail unique_key uuid ping_url badge_url update_url pause_url resume_url channels".split(
    " ",
  ),
);

/** Names the settings that a monitor does not have. */
function listOtherSettings(check: Fields): string[] {
  const unknown = Object.keys(check).filter((key) => !knownKeys.has(key));
  return [
    ...(toText(check["methods"]) === "POST"
      ? ["Pings by GET and HEAD count, too: link checkers must not know its address."]
      : []),
    ...(check["manual_resume"] === true ? ["A ping resumes it after a pause."] : []),
    ...(check["filter_default_fail"] === true
      ? ["A mail without any of the keywords is not a failure."]
      : []),
    ...(unknown.length === 0
      ? []
      : [`Left out: ${toLine(unknown.join(", "), 200)} (no keys of Healthchecks).`]),
  ];
}

const findSlugIssue = (slug: string) =>
  slug === "" || (/^[a-z0-9_-]+$/.test(slug) && slug.length <= 100)
    ? null
    : "Without its slug, which must be of a-z, 0-9, - and _.";

/** Converts the schedule, or the period, and the grace time. */
function convertTiming(check: Fields, notes: string[]) {
  const grace = Number(check["grace"] ?? 3_600) || 0;
  const schedule = toText(check["schedule"]).trim();
  if (schedule === "") return convertPeriod(check, grace, notes);
  const fields = { grace: clamp(Math.round(grace), 0, daySeconds) };
  if (fields.grace !== grace)
    notes.push(`Its grace is ${formatDuration(fields.grace)} instead of ${formatDuration(grace)}.`);
  const zone = toText(check["tz"]) || "UTC";
  const reason = explainUnusable(schedule, zone);
  if (reason !== null) {
    notes.push(`Paused: ${reason}.`);
    return { ...fields, isIncomplete: true };
  }
  return { ...fields, schedule, timeZone: zone, isIncomplete: false };
}

/** Explains why a schedule can't be imported; null if it can. */
function explainUnusable(schedule: string, zone: string): string | null {
  if (!isTimeZone(zone)) return "its time zone is not known. Set a schedule with one";
  // Healthchecks accepts several OnCalendar expressions, one per line.
  if (schedule.includes("\n"))
    return "its schedule has several lines. Set one, and create a monitor for each other line";
  if (schedule.length <= 500 && findScheduleIssue(schedule) === null) return null;
  return "its schedule can't be imported. Set one";
}

function convertPeriod(check: Fields, graceSeconds: number, notes: string[]) {
  const period = Number(check["timeout"] ?? daySeconds) || daySeconds;
  const { interval, grace, reason } = fitSilence(period, graceSeconds);
  if (reason !== null) notes.push(`Paused: it lacks ${reason}.`);
  return { interval, grace, isIncomplete: reason !== null };
}

/** Converts keywords for the bodies of HTTP requests. Those for mails have no equivalent. */
function convertKeywords(check: Fields, notes: string[]): Fields {
  const listKeywords = (field: string) =>
    toText(check[field])
      .split(",")
      .map((word) => toLine(toCleanLine(word), 200))
      .filter((word) => word !== "");
  const success = listKeywords("success_kw");
  const failure = listKeywords("failure_kw");
  const start = listKeywords("start_kw");
  if (success.length + failure.length + start.length === 0) return {};
  if (check["filter_http_body"] === true) {
    if (start.length > 0) notes.push("Without the keywords of a start: jobs report it to /start.");
    if (Math.max(success.length, failure.length) > maxKeywords)
      notes.push(`It has at most ${maxKeywords} keywords of each kind.`);
    return {
      successKeywords: success.slice(0, maxKeywords),
      failureKeywords: failure.slice(0, maxKeywords),
    };
  }
  notes.push("Without its keywords, which filter mails.");
  return {};
}
