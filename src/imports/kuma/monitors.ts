/** Converts monitors of Uptime Kuma. */
import { HttpUrl } from "../../core/fields.ts";
import { monitorKinds } from "../../monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../monitoring/monitors/schema.ts";
import { connection, type Mapped } from "./databases.ts";
import { type Installation, types } from "./monitor-types.ts";
import { proxyOf } from "./web.ts";
import { clean, hostAndPort, isOn, listIn, number, paragraphs } from "./values.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { type Converted, issueOf, within, text } from "../values.ts";

/** Converts intervals, timeouts and retries, with notes about adjusted values. */
function timesOf(m: Fields): { fields: Fields; notes: string[] } {
  const notes: string[] = [];
  const asked = number(m["interval"]) || 60;
  const interval = within(Math.round(asked), 5, 86_400);
  if (interval !== asked) notes.push(`Checked every ${interval} s instead of ${asked} s.`);
  const wanted = number(m["timeout"]) || 0.8 * interval;
  const timeout = within(Math.round(wanted), 1, Math.min(60, interval));
  if (timeout < Math.floor(wanted))
    notes.push(`Times out after ${timeout} s instead of ${wanted} s.`);
  const tries = number(m["maxretries"]);
  const pause = number(m["retry_interval"]) || asked;
  const retries = within(tries, 0, 10);
  const patience = retries === 0 ? pause : (tries * pause) / retries;
  const retryInterval = within(Math.ceil(patience), 1, interval);
  if (retries < tries || (retries > 0 && retryInterval !== pause))
    notes.push(
      `Down after ${retries} further failures, ${retryInterval} s apart, instead of ${tries}, ${pause} s apart.`,
    );
  const every = number(m["resend_interval"]) * interval;
  const reminderInterval = every === 0 ? null : within(every, 60, 604_800);
  if (reminderInterval !== null && reminderInterval !== every)
    notes.push(`Reminds every ${reminderInterval} s instead of ${every} s.`);
  return { fields: { interval, timeout, retries, retryInterval, reminderInterval }, notes };
}

/** Columns that are not copied to the description, because they can contain secrets. */
const secretColumns =
  /pass|secret|token|key|cert|tls_ca|headers|body|connection_string|metadata|sasl|message|screenshot/i;

/** Returns the non-default, non-secret values of the row as JSON for the description. */
function rowInWords(m: Fields): string {
  const own = Object.entries(m).filter(
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
  return JSON.stringify(Object.fromEntries(own)).replace(/\/\/[^/"@\s]*@/g, "//");
}

/** Applies the monitor's proxy. A disabled proxy is ignored, as in Uptime Kuma. */
function takeProxy(proxy: Fields | undefined, mapped: Mapped, missing: string[]) {
  const own = proxy === undefined ? null : proxyOf(proxy);
  if (proxy !== undefined && !isOn(proxy["active"] ?? true)) return;
  if (own !== null) Object.assign(mapped.fields, own);
  else if (proxy === undefined) missing.push("its proxy");
  else {
    const { protocol, host, port } = proxy;
    missing.push(`its proxy ${text(protocol)}://${text(host)}:${number(port)}`);
  }
}

/** Converts a monitor, or imports it paused as the closest type. Never throws. */
export function monitorOf(m: Fields, installation: Installation): Converted {
  const type = text(m["type"]);
  const mapped: Mapped = types[type]?.(m, installation) ?? {
    type: "",
    fields: {},
    missing: [`the type ${type}`],
  };
  const times = timesOf(m);
  const missing = [...(mapped.missing ?? [])];
  if (number(m["proxy_id"]) > 0 && mapped.type === "http")
    takeProxy(installation.proxies.get(number(m["proxy_id"])), mapped, missing);
  const common: Fields = {
    name: clean(text(m["name"])).slice(0, 255).toWellFormed() || `Monitor ${text(m["id"])}`,
    description: paragraphs(text(m["description"])).slice(0, 2_000),
    ...times.fields,
    inverted: isOn(m["upside_down"]),
    paused: !isOn(m["active"] ?? true),
  };
  const { fields, lost } = knownFields(mapped);
  const notes = [
    ...times.notes,
    ...(mapped.notes ?? []),
    ...(lost.length === 0 ? [] : [`Without its ${lost.join(", ")}.`]),
  ];
  const whole = { type: mapped.type, ...common, ...fields };
  const issue =
    mapped.type in monitorKinds
      ? issueOf(NewMonitor, whole)
      : `there is no type ${mapped.type || type} here yet`;
  if (issue === null && missing.length === 0) return { fields: whole, notes, isIncomplete: false };
  const reason =
    issue === null ? `Paused: it lacks ${missing.join(" and ")}.` : `Paused: ${issue}.`;
  const base = issue === null ? whole : nearest(m, common);
  const about =
    issue === null ? "" : `Uptime Kuma had here a monitor of the type ${type}: ${rowInWords(m)}`;
  const description = [common["description"], reason, about]
    .filter((part) => part !== "")
    .join("\n\n");
  return {
    fields: { ...base, description: description.slice(0, 2_000), paused: true },
    notes: [
      reason,
      ...(issue === null ? [] : [`It was replaced by the type ${text(base["type"])}.`]),
      ...notes,
    ],
    isIncomplete: true,
  };
}

/** Separates the fields that our monitor type does not have. */
function knownFields({ type, fields }: Mapped): { fields: Fields; lost: string[] } {
  const kinds: Record<string, { fields: object }> = monitorKinds;
  const own = kinds[type]?.fields;
  if (own === undefined) return { fields, lost: [] };
  const isKnown = ([name]: [string, unknown]) => name in own;
  const others = Object.entries(fields).filter((field) => !isKnown(field));
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(isKnown)),
    lost: others.flatMap(([name, value]) =>
      value === null || value === undefined || typeof value === "boolean" ? [] : [name],
    ),
  };
}

/** Returns the closest monitor type that accepts the target, or else a push monitor. */
function nearest(m: Fields, common: Fields): Fields {
  const url = text(m["url"]);
  const { host, port } = hostAndPort(m);
  const [first = ""] = [...listIn(m["rabbitmq_nodes"]), ...listIn(m["kafka_producer_brokers"])].map(
    text,
  );
  const [, brokerHost, brokerPort] =
    /^(?:\w+:\/\/)?(?:[^@/]*@)?([^:/?]+):(\d+)/.exec(
      first || connection(m) || text(m["grpc_url"]),
    ) ?? [];
  const candidates: Fields[] = [
    ...(URL.parse(url)?.hostname && HttpUrl.safeParse(url).success ? [{ type: "http", url }] : []),
    { type: "tcp", host, port },
    { type: "tcp", host: brokerHost, port: number(brokerPort) },
    { type: "ping", host },
  ];
  const fitting = candidates.find(
    (fields) => issueOf(NewMonitor, { ...common, ...fields }) === null,
  );
  if (fitting !== undefined) return { ...common, ...fitting };
  const name = text(common["name"]);
  const plain = { ...common, type: "push" };
  if (issueOf(NewMonitor, plain) === null) return plain;
  // The name or the description contains invalid characters, so both are reduced to a plain name.
  return {
    type: "push",
    name: name.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ").trim() || "Monitor",
    paused: true,
  };
}
