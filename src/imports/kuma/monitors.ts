/** Converts monitors of Uptime Kuma. */
import { HttpUrl } from "../../core/fields.ts";
import { monitorKinds } from "../../monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { connectionStringOf, type MappedMonitor } from "./databases.ts";
import { computeSilence, type Installation, types } from "./monitor-types.ts";
import { convertProxy } from "./web.ts";
import { toCleanLine, hostAndPortOf, isOn, parseList, toNumber, toParagraphs } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { truncateCodePoints } from "../../core/text/formatting.ts";
import { type ConvertedRecord, findIssue, clamp, toText } from "../values.ts";

/** Converts intervals, timeouts and retries, with notes about adjusted values. */
function convertTimes(m: Fields): { fields: Fields; notes: string[] } {
  const notes: string[] = [];
  const wantedInterval = toNumber(m["interval"]) || 60;
  const isPush = m["type"] === "push";
  const interval = isPush
    ? computeSilence(m).interval
    : clamp(Math.round(wantedInterval), 5, 86_400);
  if (interval !== wantedInterval && !isPush)
    notes.push(`Checked every ${interval} s instead of ${wantedInterval} s.`);
  const timeoutSeconds = toNumber(m["timeout"]) || 0.8 * interval;
  const timeout = clamp(Math.round(timeoutSeconds), 1, Math.min(60, interval));
  if (timeout < Math.floor(timeoutSeconds) && !isPush)
    notes.push(`Times out after ${timeout} s instead of ${timeoutSeconds} s.`);
  const tries = toNumber(m["maxretries"]);
  const pause = toNumber(m["retry_interval"]) || wantedInterval;
  const retries = clamp(tries, 0, 10);
  const totalRetrySeconds = retries === 0 ? pause : (tries * pause) / retries;
  const retryInterval = clamp(Math.ceil(totalRetrySeconds), 1, interval);
  if (retries < tries || (retries > 0 && retryInterval !== pause))
    notes.push(
      `Down after ${retries} further failures, ${retryInterval} s apart, instead of ${tries}, ${pause} s apart.`,
    );
  const every = toNumber(m["resend_interval"]) * interval;
  const reminderInterval = every === 0 ? null : clamp(every, 60, 604_800);
  if (reminderInterval !== null && reminderInterval !== every)
    notes.push(`Reminds every ${reminderInterval} s instead of ${every} s.`);
  return { fields: { interval, timeout, retries, retryInterval, reminderInterval }, notes };
}

/** Columns that are not copied to the description, because they can contain secrets. */
const secretColumns =
  /pass|secret|token|key|cert|tls_ca|headers|body|connection_string|metadata|sasl|message|screenshot/i;

/** Returns the non-default, non-secret values of the row as JSON for the description. */
function describeRow(m: Fields): string {
  const usedColumns = Object.entries(m).filter(
    ([column, value]) =>
      !secretColumns.test(column) &&
      !/^(?:id|user_id|weight|parent|created_date|name|description|active|path_name|children_i_ds|tags|notification|force_inactive|maintenance)/.test(
        column,
      ) &&
      value !== null &&
      value !== "" &&
      value !== "https://" &&
      Number(value) !== 0 &&
      value !== false &&
      value !== "[]" &&
      value !== "{}",
  );
  return JSON.stringify(Object.fromEntries(usedColumns)).replace(/\/\/[^/"@\s]*@/g, "//");
}

/** Applies the monitor's proxy. A disabled proxy is ignored, as in Uptime Kuma. */
function applyProxy(proxy: Fields | undefined, mapped: MappedMonitor, missing: string[]) {
  const ownProxy = proxy === undefined ? null : convertProxy(proxy);
  if (proxy !== undefined && !isOn(proxy["active"] ?? true)) return;
  if (ownProxy !== null) Object.assign(mapped.fields, ownProxy);
  else if (proxy === undefined) missing.push("its proxy");
  else {
    const { protocol, host, port } = proxy;
    missing.push(`its proxy ${toText(protocol)}://${toText(host)}:${toNumber(port)}`);
  }
}

/** Converts a monitor, or imports it paused as the closest type. Never throws. */
export function convertMonitor(m: Fields, installation: Installation): ConvertedRecord {
  const type = toText(m["type"]);
  const mapped: MappedMonitor = types[type]?.(m, installation) ?? {
    type: "",
    fields: {},
    missing: [`the type ${type}`],
  };
  const times = convertTimes(m);
  const missing = [...(mapped.missing ?? [])];
  if (toNumber(m["proxy_id"]) > 0 && mapped.type === "http")
    applyProxy(installation.proxies.get(toNumber(m["proxy_id"])), mapped, missing);
  const common: Fields = {
    name: toCleanLine(toText(m["name"]), 255) || `Monitor ${toText(m["id"])}`,
    description: toParagraphs(toText(m["description"]), 2_000),
    ...times.fields,
    inverted: isOn(m["upside_down"]),
    paused: !isOn(m["active"] ?? true),
  };
  const { fields, lost } = splitFields(mapped);
  const notes = [
    ...times.notes,
    ...(mapped.notes ?? []),
    ...(lost.length === 0 ? [] : [`Without its ${lost.join(", ")}.`]),
  ];
  const monitorInput = { type: mapped.type, ...common, ...fields };
  const issue =
    mapped.type in monitorKinds
      ? findIssue(NewMonitor, monitorInput)
      : `there is no type ${mapped.type || type} here yet`;
  if (issue === null && missing.length === 0)
    return { fields: monitorInput, notes, isIncomplete: false };
  const reason =
    issue === null ? `Paused: it lacks ${missing.join(" and ")}.` : `Paused: ${issue}.`;
  const base = issue === null ? monitorInput : buildNearestMonitor(m, common);
  const about =
    issue === null ? "" : `In Uptime Kuma, a monitor of the type ${type}: ${describeRow(m)}`;
  const description = [common["description"], reason, about]
    .filter((part) => part !== "")
    .join("\n\n");
  return {
    fields: { ...base, description: truncateCodePoints(description, 2_000), paused: true },
    notes: [
      reason,
      ...(issue === null ? [] : [`It was replaced by the type ${toText(base["type"])}.`]),
      ...notes,
    ],
    isIncomplete: true,
  };
}

/** Separates the fields that our monitor type does not have. */
function splitFields({ type, fields }: MappedMonitor): { fields: Fields; lost: string[] } {
  const kinds: Record<string, { fields: object }> = monitorKinds;
  const typeFields = kinds[type]?.fields;
  if (typeFields === undefined) return { fields, lost: [] };
  const isKnown = ([name]: [string, unknown]) => name in typeFields;
  const others = Object.entries(fields).filter((field) => !isKnown(field));
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(isKnown)),
    lost: others.flatMap(([name, value]) =>
      value === null || value === undefined || typeof value === "boolean" ? [] : [name],
    ),
  };
}

/** Returns the closest monitor type that accepts the target, or else a push monitor. */
function buildNearestMonitor(m: Fields, common: Fields): Fields {
  const url = toText(m["url"]);
  const { host, port } = hostAndPortOf(m);
  const [first = ""] = [
    ...parseList(m["rabbitmq_nodes"]),
    ...parseList(m["kafka_producer_brokers"]),
  ].map(toText);
  const [, brokerHost, brokerPort] =
    /^(?:\w+:\/\/)?(?:[^@/]*@)?([^:/?]+):(\d+)/.exec(
      first || connectionStringOf(m) || toText(m["grpc_url"]),
    ) ?? [];
  const candidates: Fields[] = [
    ...(URL.parse(url)?.hostname && HttpUrl.safeParse(url).success ? [{ type: "http", url }] : []),
    { type: "tcp", host, port },
    { type: "tcp", host: brokerHost, port: toNumber(brokerPort) },
    { type: "ping", host },
  ];
  const fitting = candidates.find(
    (fields) => findIssue(NewMonitor, { ...common, ...fields }) === null,
  );
  if (fitting !== undefined) return { ...common, ...fitting };
  const name = toText(common["name"]);
  const pushMonitor = { ...common, type: "push" };
  if (findIssue(NewMonitor, pushMonitor) === null) return pushMonitor;
  // The name or the description contains invalid characters, so both are reduced to a plain name.
  return {
    type: "push",
    name: name.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ").trim() || "Monitor",
    paused: true,
  };
}
