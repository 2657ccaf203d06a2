/** Converts the checks of a Healthchecks project, as its management API lists them, to push monitors. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Fields, isObject } from "../../core/collections/objects.ts";
import { isTimeZone } from "../../core/fields.ts";
import { formatBytes, formatDuration, toLine } from "../../core/text/formatting.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { importBounds } from "../../core/limits.ts";
import { parseJsonText } from "../../http/body.ts";
import { findScheduleIssue } from "../../monitoring/jobs/schedule-rules.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { createUnreadableError } from "../limits.ts";
import type { NotTaken, Plan, PlannedRecord } from "../plan.ts";
import { clamp, findIssue, toCleanLine, toParagraphs, toText } from "../values.ts";

const daySeconds = 86_400;
const maxTags = 10;
const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the JSON of `GET /api/v3/checks/`. Throws BAD_REQUEST for another file. */
export async function buildHealthchecksPlan(from: string, name = basename(from)): Promise<Plan> {
  const checks = await readChecks(from, name);
  const records: PlannedRecord[] = [];
  const notTaken: NotTaken[] = [];
  for (const [index, check] of checks.entries()) {
    const record = convertCheck(check, index);
    const issue = findIssue(NewMonitor, withoutToken(record.fields));
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

const withoutToken = ({ pushToken: _token, ...fields }: Fields): Fields => fields;

async function readChecks(from: string, name: string): Promise<Fields[]> {
  if ((await stat(from).catch(() => null)) === null)
    throw invalidFieldError("source", `is not a file here: ${from}`);
  const text = await readFile(from, "utf8").catch((error: unknown) => {
    throw createUnreadableError(name, explainFileError(error, from) ?? "it can't be read.");
  });
  const most = importBounds.recordBytes.value;
  if (text.length > most)
    throw createUnreadableError(name, `it is larger than ${formatBytes(most)}.`);
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
  const description = toParagraphs(toText(check["desc"])).slice(0, 2_000);
  return {
    noun: "monitor",
    externalId: uuid ?? (toText(check["unique_key"]) || `${index + 1}`),
    name,
    fields: {
      type: "push",
      name,
      ...(description !== "" && { description }),
      tags: tags.slice(0, maxTags).map((tag) => toLine(tag, 50)),
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

const findSlugIssue = (slug: string) =>
  slug === "" || (/^[a-z0-9_-]+$/.test(slug) && slug.length <= 100)
    ? null
    : "Without its slug, which must be of a-z, 0-9, - and _.";

/** Converts the schedule, or the period, and the grace time. */
function convertTiming(check: Fields, notes: string[]) {
  const grace = Number(check["grace"] ?? 3_600) || 0;
  const fields = { grace: clamp(Math.round(grace), 0, daySeconds) };
  if (fields.grace !== grace)
    notes.push(`Its grace is ${formatDuration(fields.grace)} instead of ${formatDuration(grace)}.`);
  const schedule = toText(check["schedule"]).trim();
  if (schedule === "") return { ...fields, ...convertPeriod(check, notes) };
  const issue = findScheduleIssue(schedule);
  const zone = toText(check["tz"]) || "UTC";
  if (issue !== null || !isTimeZone(zone) || schedule.length > 500) {
    notes.push("Paused, because its schedule can't be imported: set one.");
    return { ...fields, isIncomplete: true };
  }
  return { ...fields, schedule, timeZone: zone, isIncomplete: false };
}

function convertPeriod(check: Fields, notes: string[]) {
  const period = Number(check["timeout"] ?? daySeconds) || daySeconds;
  const isIncomplete = period > daySeconds;
  if (isIncomplete)
    notes.push(
      `Paused: its period of ${formatDuration(period)} is longer than a day. Set a schedule.`,
    );
  return { interval: clamp(Math.round(period), 5, daySeconds), isIncomplete };
}

/** Converts keywords for the bodies of HTTP requests. Those for mails have no equivalent. */
function convertKeywords(check: Fields, notes: string[]): Fields {
  const listKeywords = (field: string) =>
    toText(check[field])
      .split(",")
      .map((word) => toLine(toCleanLine(word), 200))
      .filter((word) => word !== "")
      .slice(0, 20);
  const success = listKeywords("success_kw");
  const failure = listKeywords("failure_kw");
  if (success.length + failure.length === 0) return {};
  if (check["filter_http_body"] === true)
    return { successKeywords: success, failureKeywords: failure };
  notes.push("Without its keywords, which filter mails.");
  return {};
}
