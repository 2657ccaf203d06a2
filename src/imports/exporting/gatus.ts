/** Converts monitors to endpoints of Gatus: the reverse of `../gatus/endpoints.ts`. */
import { isIP } from "node:net";
import { createLookup, type Fields } from "../../core/collections/objects.ts";
import { Channels } from "../gatus/channels.ts";
import { convertEndpoint, convertExternalEndpoint } from "../gatus/endpoints.ts";
import { Section } from "../gatus/section.ts";
import { toText } from "../values.ts";
import { buildCondition, buildStatusConditions, isPlain } from "./conditions.ts";
import {
  buildHeaders,
  computeSilence,
  findQueryName,
  formatHost,
  type ForeignEntry,
  toCanonicalAddress,
  type OurMonitor,
} from "./monitors.ts";

type Endpoint = { url: string; conditions: string[]; extraFields?: Fields; notes?: string[] };

const connected = "[CONNECTED] == true";

const toAddress =
  (scheme: string) =>
  ({ host, port }: Fields): Endpoint => ({
    url: `${scheme}://${formatHost(host)}${port == null ? "" : `:${toText(port)}`}`,
    conditions: [connected],
  });

/** Endpoints by monitor type. Types without an entry have no equivalent in Gatus. */
const endpoints: Record<string, (monitor: Fields) => Endpoint | null> = {
  http: buildHttpEndpoint,
  tcp: (monitor) => ({
    ...toAddress("tcp")(monitor),
    ...(monitor["send"] != null && { extraFields: { body: monitor["send"] } }),
    conditions: [
      connected,
      ...(isPlain(toText(monitor["expect"]))
        ? [`[BODY] == pat(*${toText(monitor["expect"])}*)`]
        : []),
    ],
  }),
  // Everything after the scheme is the address, without brackets.
  ping: ({ host }) => ({ url: `icmp://${toText(host)}`, conditions: [connected] }),
  tls: toAddress("tls"),
  // Without this section, Gatus 5 ends with an error at the first check.
  ssh: (monitor) => ({
    ...toAddress("ssh")(monitor),
    extraFields: { ssh: { username: "", password: "" } },
  }),
  smtp: (monitor) =>
    monitor["tls"] === "starttls" && !toText(monitor["host"]).includes(":")
      ? toAddress("starttls")(monitor)
      : null,
  grpc: (monitor) => toAddress(monitor["tls"] === true ? "grpcs" : "grpc")(monitor),
  websocket: ({ url, headers, send }) => ({
    url: String(url),
    conditions: [connected],
    extraFields: { ...(send != null && { body: send }), ...listHeaders(headers) },
    notes: send == null ? ["Down there unless the server sends a message."] : [],
  }),
  dns: buildDnsEndpoint,
  domain: ({ domain, minDays }) => ({
    url: `https://${String(domain)}`,
    conditions: [`[DOMAIN_EXPIRATION] > ${Number(minDays) * 24}h`],
  }),
};

/** Gatus queries over UDP, exactly the written name, and adds the port itself unless there is a colon. */
function buildDnsEndpoint({ host, recordType, resolver, expected }: Fields): Endpoint | null {
  const type = toText(recordType);
  const server = toText(resolver) || "1.1.1.1";
  if (server.includes("://")) return null;
  return {
    url: isIP(server) === 6 ? `[${server}]:53` : server,
    conditions: [
      "[DNS_RCODE] == NOERROR",
      ...buildRecordConditions(type, (expected ?? []) as string[]),
    ],
    extraFields: { dns: { "query-name": findQueryName(type, toText(host)), "query-type": type } },
  };
}

/** How Gatus writes a record in the body. It knows no other types, and only the last record of a response. */
const recordFormats: Readonly<Record<string, (value: string) => string>> = createLookup({
  A: (value) => value,
  AAAA: toCanonicalAddress,
  CNAME: toFullName,
  NS: toFullName,
  // Gatus compares only the host, without the preference number.
  MX: (value) => toFullName(value.replace(/^\d+\s+/, "")),
});

function toFullName(value: string): string {
  return value.endsWith(".") ? value : `${value}.`;
}

/** Conditions on a single record. Several ones would contradict each other. */
function buildRecordConditions(recordType: string, expected: readonly string[]): string[] {
  const format = recordFormats[recordType];
  const [only, ...others] = expected;
  return format === undefined || only === undefined || others.length > 0
    ? []
    : [`[BODY] == ${format(only)}`];
}

/** Whether Gatus knows when the certificate expires. */
const hasCertificate = (url: string) => /^(?:https|tls|starttls):/i.test(url);

const listHeaders = (headers: unknown) =>
  Object.keys((headers ?? {}) as Fields).length === 0 ? {} : { headers };

function buildHttpEndpoint(monitor: Fields): Endpoint {
  const { url, method, body, basicAuth, bearerToken, expectedStatus } = monitor;
  const assertions = (monitor["assertions"] ?? []) as Fields[];
  const conditions = [
    ...buildStatusConditions(expectedStatus as string[]),
    ...assertions.map(buildCondition).filter((one) => one !== null),
  ];
  const signIn = basicAuth as { username: string; password: string | null } | null;
  const user = signIn && `${encodeURIComponent(signIn.username)}:${encodeSecret(signIn.password)}@`;
  const authorization =
    bearerToken == null ? {} : { Authorization: `Bearer ${toText(bearerToken)}` };
  return {
    url: String(url).replace("://", `://${user ?? ""}`),
    conditions: conditions.length === 0 ? [connected] : conditions,
    extraFields: {
      ...(method !== "GET" && { method }),
      ...listHeaders({ ...authorization, ...buildHeaders(monitor) }),
      ...(body != null && body !== "" && { body }),
    },
  };
}

/** A variable of Gatus stays as it is; it is replaced before the URL is parsed. */
const encodeSecret = (secret: string | null) =>
  secret?.startsWith("${") ? secret : encodeURIComponent(secret ?? "");

/** Gatus rejects a whole configuration with one of these characters in a name or group. */
const toGatusName = (name: unknown) => toText(name).replaceAll('"', "'").replaceAll("\\", "/");

/** Identity of an endpoint in Gatus, which rejects a configuration with two equal ones. */
const identityOf = (group: string | null, name: string) =>
  [group ?? "", name]
    .map((text) =>
      text
        .trim()
        .toLowerCase()
        .replace(/[/_,.#+& ]/g, "-"),
    )
    .join("_");

function chooseName(name: string, group: string | null, takenNames: Set<string>): string {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name} (${count})`;
    const identity = identityOf(group, candidate);
    if (takenNames.has(identity)) continue;
    takenNames.add(identity);
    return candidate;
  }
}

/** Variable with the token of a job. */
export const buildTokenVariable = ({ key }: OurMonitor): string =>
  `${key.toUpperCase().replace(/\W/g, "_")}_TOKEN`;

/** Converts a monitor to an endpoint; null if Gatus has no such check. `takenNames` has the names of earlier endpoints. */
export function toGatus(monitor: OurMonitor, takenNames: Set<string>): ForeignEntry | null {
  const { fields } = monitor;
  const { type, interval, paused, tags } = fields;
  const endpoint = type === "push" ? null : (endpoints[toText(type)]?.(fields) ?? null);
  if (endpoint === null && type !== "push") return null;
  const conditions = endpoint === null ? [] : listConditions(fields, endpoint);
  if (conditions === null) return null;
  const group = monitor.group === null ? null : toGatusName(monitor.group);
  const name = chooseName(toGatusName(fields["name"]), group, takenNames);
  const labels = (tags as string[]).flatMap((tag) => {
    const [, label, value] = /^([^:]+): (.+)$/s.exec(tag) ?? [];
    return label === undefined ? [] : [[label, value] as const];
  });
  const common = {
    name,
    ...(group !== null && { group }),
    ...(paused === true && { enabled: false }),
    ...(labels.length > 0 && { "extra-labels": Object.fromEntries(labels) }),
  };
  const groupNote = group === monitor.group ? [] : ["Its group has another name there."];
  if (endpoint === null) {
    if (fields["inverted"] === true) return null;
    const silence = Math.max(10, computeSilence(fields));
    const token = fields["pushToken"] ?? `\${${buildTokenVariable(monitor)}}`;
    const entry = { ...common, token, heartbeat: { interval: `${silence}s` } };
    return { section: "external-endpoints", entry, notes: groupNote };
  }
  const { url, extraFields, notes = [] } = endpoint;
  // Gatus rejects a configuration that asks for domains more often.
  const shortest = type === "domain" ? 300 : 0;
  const entry = {
    ...common,
    url,
    interval: `${Math.max(shortest, Number(interval))}s`,
    ...extraFields,
    client: buildClient(fields),
    conditions,
  };
  return { section: "endpoints", entry, notes: [...notes, ...groupNote] };
}

/** Returns all conditions; null for an inverted monitor, unless its only condition can be inverted. */
function listConditions(fields: Fields, { url, conditions }: Endpoint): string[] | null {
  const days = fields["certificateExpiryDays"];
  const degraded = fields["degradedAfterMs"];
  const all = [
    ...conditions,
    ...(days == null || !hasCertificate(url)
      ? []
      : [`[CERTIFICATE_EXPIRATION] > ${Number(days) * 24}h`]),
    ...(degraded == null || fields["type"] === "http"
      ? []
      : [`[RESPONSE_TIME] < ${toText(degraded)}`]),
  ];
  if (fields["inverted"] !== true) return all;
  return all.length === 1 && all[0] === connected ? ["[CONNECTED] == false"] : null;
}

function buildClient(fields: Fields): Fields {
  const { timeout, verifyTls, followRedirects, proxyUrl } = fields;
  const oauth2 = fields["oauth2"] as Fields | null | undefined;
  return {
    timeout: `${toText(timeout)}s`,
    ...(verifyTls === false && { insecure: true }),
    ...(followRedirects === false && { "ignore-redirect": true }),
    ...(proxyUrl != null && { "proxy-url": proxyUrl }),
    ...(oauth2 != null && {
      oauth2: {
        "token-url": oauth2["tokenUrl"],
        "client-id": oauth2["clientId"],
        "client-secret": oauth2["clientSecret"],
        scopes: toText(oauth2["scope"]).split(" ").filter(Boolean),
      },
    }),
  };
}

/** Imports an endpoint again, so that the report can compare it; null if Gatus can't check it like this. */
export async function readGatus({ section, entry }: ForeignEntry): Promise<Fields | null> {
  const { parse } = await import("yaml");
  // Sections contain every value as text.
  const endpoint = new Section(parse(JSON.stringify(entry), { schema: "failsafe" }), "endpoint");
  const context = {
    channels: new Channels(new Section({}, "alerting")),
    readFile: async () => null,
  };
  if (section === "endpoints") {
    const { monitor } = await convertEndpoint(endpoint, context);
    return monitor.isIncomplete ? null : monitor.fields;
  }
  // Gatus accepts a longer silence than a monitor without a schedule.
  const { channels } = context;
  const { fields } = convertExternalEndpoint(endpoint, {
    channels,
    sharedTokens: new Set(),
  }).monitor;
  return { ...fields, paused: entry["enabled"] === false, description: "" };
}
