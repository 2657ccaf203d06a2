/** Converts monitors to endpoints of Gatus: the reverse of `../gatus/endpoints.ts`. */
import type { Fields } from "../../core/collections/objects.ts";
import { Channels } from "../gatus/channels.ts";
import { convertEndpoint, convertExternalEndpoint } from "../gatus/endpoints.ts";
import { Section } from "../gatus/section.ts";
import { toText } from "../values.ts";
import { buildCondition, buildStatusConditions } from "./conditions.ts";
import { formatHost, type Foreign, type OurMonitor } from "./monitors.ts";

type Endpoint = { url: string; conditions: string[]; more?: Fields };

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
    ...(monitor["send"] != null && { more: { body: monitor["send"] } }),
    conditions: [
      connected,
      ...(monitor["expect"] == null ? [] : [`[BODY] == pat(*${toText(monitor["expect"])}*)`]),
    ],
  }),
  ping: ({ host }) => ({ url: `icmp://${formatHost(host)}`, conditions: [connected] }),
  tls: toAddress("tls"),
  ssh: toAddress("ssh"),
  smtp: (monitor) => (monitor["tls"] === "starttls" ? toAddress("starttls")(monitor) : null),
  grpc: (monitor) => toAddress(monitor["tls"] === true ? "grpcs" : "grpc")(monitor),
  websocket: ({ url, headers, send }) => ({
    url: String(url),
    conditions: [connected],
    more: { ...(send != null && { body: send }), ...listHeaders(headers) },
  }),
  dns: ({ host, recordType, resolver, expected }) => ({
    url: toText(resolver) || "1.1.1.1",
    conditions: [
      "[DNS_RCODE] == NOERROR",
      ...((expected ?? []) as string[]).map((value) => `[BODY] == ${value}`),
    ],
    more: { dns: { "query-name": host, "query-type": recordType } },
  }),
  domain: ({ domain, minDays }) => ({
    url: `https://${String(domain)}`,
    conditions: [`[DOMAIN_EXPIRATION] > ${Number(minDays) * 24}h`],
  }),
};

const listHeaders = (headers: unknown) =>
  Object.keys((headers ?? {}) as Fields).length === 0 ? {} : { headers };

function buildHttpEndpoint(monitor: Fields): Endpoint {
  const { url, method, headers, body, basicAuth, bearerToken, expectedStatus } = monitor;
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
    more: {
      ...(method !== "GET" && { method }),
      ...listHeaders({ ...authorization, ...(headers as Fields) }),
      ...(body != null && body !== "" && { body }),
    },
  };
}

/** A variable of Gatus stays as it is; it is replaced before the URL is parsed. */
const encodeSecret = (secret: string | null) =>
  secret?.startsWith("${") ? secret : encodeURIComponent(secret ?? "");

/** Converts a monitor to an endpoint; null if Gatus has no such check. */
export function toGatus({ fields, group }: OurMonitor): Foreign | null {
  const { type, name, interval, paused, tags } = fields;
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
  if (type === "push")
    return {
      section: "external-endpoints",
      entry: {
        ...common,
        token: fields["pushToken"] ?? "${TOKEN}",
        heartbeat: { interval: `${toText(interval)}s` },
      },
    };
  const endpoint = endpoints[String(type)]?.(fields) ?? null;
  if (endpoint === null) return null;
  const { url, conditions, more } = endpoint;
  const days = fields["certificateExpiryDays"];
  const degraded = fields["degradedAfterMs"];
  const all = [
    ...conditions,
    ...(days == null ? [] : [`[CERTIFICATE_EXPIRATION] > ${Number(days) * 24}h`]),
    ...(degraded == null || type === "http" ? [] : [`[RESPONSE_TIME] < ${toText(degraded)}`]),
  ];
  const isInverted = fields["inverted"] === true && all.length === 1 && all[0] === connected;
  const entry = {
    ...common,
    url,
    interval: `${toText(interval)}s`,
    ...more,
    client: buildClient(fields),
    conditions: isInverted ? ["[CONNECTED] == false"] : all,
  };
  return { section: "endpoints", entry };
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
export async function readGatus({ section, entry }: Foreign): Promise<Fields | null> {
  const { parse } = await import("yaml");
  // Sections contain every value as text.
  const endpoint = new Section(parse(JSON.stringify(entry), { schema: "failsafe" }), "endpoint");
  const context = {
    channels: new Channels(new Section({}, "alerting")),
    readFile: async () => null,
  };
  const { monitor } =
    section === "endpoints"
      ? await convertEndpoint(endpoint, context)
      : convertExternalEndpoint(endpoint, context);
  return monitor.isIncomplete ? null : monitor.fields;
}
