/** Reads the monitors of an exported configuration, with all of their fields. */
import { type Fields, isObject } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";
import { isIP } from "node:net";
import { buildReverseName } from "../../monitoring/checks/kinds/dns-values.ts";
import { parseSchedule } from "../../monitoring/jobs/schedule-rules.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";

/** An exported configuration; a path leads to each omitted secret. */
export type Exported = {
  document: Readonly<Record<string, unknown>>;
  secrets: readonly { path: readonly string[]; variable: string }[];
};

/** A monitor with the defaults of its type, the name of its group, and variables for its secrets. */
export type OurMonitor = {
  key: string;
  fields: Fields;
  group: string | null;
  /** Fields whose secrets must be entered again. */
  secrets: string[];
};

/** An entry of another program's configuration, and the list that it belongs to. */
export type ForeignEntry = {
  section: string;
  entry: Fields;
  /** Differences that a comparison of fields does not find. */
  notes?: readonly string[];
};

/** Looks for the longest pause between the due times of half a year of daily runs. */
const examinedDueTimes = 200;
const shortestGrace = 5;

/**
 * Seconds after which a job is late, for programs that know only an interval. With a schedule, it is the longest pause
 * between two runs, so that no weekend is an outage. An import sets the shortest grace time if there is none.
 */
export function computeSilence({ interval, grace, schedule, timeZone }: Fields): number {
  const extra = Number(grace) > shortestGrace ? Number(grace) : 0;
  if (schedule == null) return Number(interval) + extra;
  const nextDueTime = parseSchedule({
    expression: toText(schedule),
    timeZone: toText(timeZone) || "UTC",
  });
  let longest = Number(interval) * 1_000;
  let at = nextDueTime(Date.parse("2026-01-01T00:00:00Z"));
  for (let count = 0; at !== null && count < examinedDueTimes; count++) {
    const next = nextDueTime(at);
    if (next !== null) longest = Math.max(longest, next - at);
    at = next;
  }
  return Math.ceil(longest / 1_000) + extra;
}

/** Headers of a request with the Content-Type of a JSON body, which other programs do not add. */
export function buildHeaders({ headers, bodyType, body }: Fields): Fields {
  const own = (headers ?? {}) as Fields;
  const hasType = Object.keys(own).some((name) => name.toLowerCase() === "content-type");
  return bodyType === "json" && body != null && !hasType
    ? { ...own, "Content-Type": "application/json" }
    : own;
}

/** Returns an address in the notation of DNS responses (RFC 5952). */
export const toCanonicalAddress = (address: string): string =>
  isIP(address) === 6
    ? (URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address)
    : address;

export const formatHost = (host: unknown) =>
  String(host).includes(":") ? `[${String(host)}]` : String(host);

/** The name to query, for programs that don't turn an address into the name of its PTR records. */
export const findQueryName = (recordType: string, host: string) =>
  recordType === "PTR" && isIP(host) !== 0 ? buildReverseName(host) : host;

export const entriesOf = ({ document }: Exported, section: string): [string, Fields][] =>
  Object.entries(isObject(document[section]) ? document[section] : {}).filter(
    (entry): entry is [string, Fields] => isObject(entry[1]),
  );

export function listMonitors(exported: Exported): OurMonitor[] {
  const groups = new Map(
    entriesOf(exported, "groups").map(([key, { name }]) => [key, name ?? key]),
  );
  return entriesOf(exported, "monitors").map(([key, entry]) => {
    const { group, ...own } = structuredClone(entry);
    const secrets = exported.secrets.filter(
      ({ path: [section, owner] }) => section === "monitors" && owner === key,
    );
    for (const { path, variable } of secrets) setAt(own, path.slice(2), `\${${variable}}`);
    return {
      key,
      fields: addDefaults({ name: key, ...own }),
      group: toText(groups.get(toText(group)) ?? group) || null,
      secrets: [
        ...secrets.map(({ path }) => path.slice(2).join(".")),
        ...(own["type"] === "push" ? ["pushToken"] : []),
      ],
    };
  });
}

function setAt(fields: Fields, path: readonly string[], value: string) {
  const [name = "", ...rest] = path;
  if (rest.length === 0) fields[name] = value;
  else if (isObject(fields[name])) setAt(fields[name], rest, value);
}

/** References and secrets that need a stored record, which no other program has. */
const references = "alertChannels escalationPolicy dependsOn monitors members pushToken".split(" ");

/** Adds defaults. A placeholder can be invalid, such as one for a key in PEM; the field is then left out. */
function addDefaults(entry: Fields): Fields {
  const ownFields = Object.fromEntries(
    Object.entries(entry).filter(([name]) => !references.includes(name)),
  );
  for (;;) {
    const result = NewMonitor.safeParse(ownFields);
    if (result.success) return result.data as Fields;
    const field = String(result.error.issues[0]?.path[0] ?? "");
    if (!(field in ownFields)) return ownFields;
    delete ownFields[field];
  }
}

/** Fields that describe the record here, not the check. */
const ownFields =
  "alertChannelIds groupId escalationPolicyId dependsOn pushToken muted confirmations".split(" ");

/** Reduces fields to comparable ones: short forms of assertions become assertions, and empty values are left out. */
export function normalizeFields(fields: Fields): Fields {
  const { keyword, keywordAbsent, jsonPath, jsonEquals, assertions, ...others } =
    addDefaults(fields);
  others["headers"] = buildHeaders(others);
  if (others["bodyType"] === "json") others["bodyType"] = "text";
  const { url, bearerToken, headers, resolver } = others;
  const [, address = resolver] = /^\[(.*)\]:53$/.exec(toText(resolver)) ?? [];
  if (resolver != null) others["resolver"] = address;
  // Only TLS has a certificate.
  if (/^(?:http|ws):/i.test(toText(url))) delete others["certificateExpiryDays"];
  if (bearerToken != null && others["type"] === "http") {
    delete others["bearerToken"];
    others["headers"] = { Authorization: `Bearer ${toText(bearerToken)}`, ...(headers as Fields) };
  }
  const shorthandAssertions: Fields[] = [
    ...(keyword == null ? [] : [{ source: "body", op: "contains", value: keyword }]),
    ...(keywordAbsent == null ? [] : [{ source: "body", op: "notContains", value: keywordAbsent }]),
    ...(jsonPath == null
      ? []
      : [
          jsonEquals == null
            ? { source: "json", path: jsonPath, op: "exists", value: null }
            : { source: "json", path: jsonPath, op: "equals", value: jsonEquals },
        ]),
  ];
  const all = [...shorthandAssertions, ...((assertions ?? []) as Fields[])].map(
    ({ source, path, op, value }) => JSON.stringify({ source, path: path ?? null, op, value }),
  );
  return {
    ...Object.fromEntries(
      Object.entries(others).filter(
        ([name, value]) =>
          !ownFields.includes(name) &&
          value !== null &&
          value !== "" &&
          JSON.stringify(value) !== "[]",
      ),
    ),
    ...(all.length > 0 && { assertions: all.sort() }),
  };
}
