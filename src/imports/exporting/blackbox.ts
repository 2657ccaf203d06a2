/** Converts monitors to modules of Prometheus' blackbox exporter, and to scrape jobs that use them. */
import { STATUS_CODES } from "node:http";
import type { Fields } from "../../core/collections/objects.ts";
import { escapeExpression } from "../../core/text/expressions.ts";
import { toText } from "../values.ts";
import { parseResolver } from "../../monitoring/monitors/rules.ts";
import {
  buildHeaders,
  findQueryName,
  formatHost,
  normalizeFields,
  type OurMonitor,
  toCanonicalAddress,
} from "./monitors.ts";

/** A probe, and the monitor fields that it applies. */
type Probe = { target: string; module: Fields; usedFields: readonly string[] };

type BlackboxProbe = Probe & { name: string; intervalSeconds: number; timeoutSeconds: number };

const formatAddress = ({ host, port }: Fields) => `${formatHost(host)}:${String(port)}`;
const buildTlsConfig = ({ verifyTls }: Fields) =>
  verifyTls === false ? { tls_config: { insecure_skip_verify: true } } : {};

/** Maximum length of a range whose codes are all listed. */
const maxListedCodes = 20;

const commonFields = ["type", "name", "interval", "timeout", "paused"];
const hostFields = ["host", "port"];
const httpFields = [
  "url",
  "method",
  "headers",
  "body",
  "bodyType",
  "basicAuth",
  "bearerToken",
  "followRedirects",
  "verifyTls",
];

/** Builds the probe of each monitor type: https://github.com/prometheus/blackbox_exporter/blob/master/CONFIGURATION.md */
const probes: Record<string, (monitor: Fields) => Probe | null> = {
  http: buildHttpProbe,
  tcp: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", ...buildDialogue(monitor) },
    usedFields: [...hostFields, "send", "expect"],
  }),
  tls: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", tcp: { tls: true } },
    usedFields: hostFields,
  }),
  smtp: (monitor) => ({
    target: formatAddress(monitor),
    module: {
      prober: "tcp",
      tcp: {
        ...(monitor["tls"] === "tls" && { tls: true }),
        query_response: [
          { expect: "^220" },
          ...(monitor["tls"] === "starttls"
            ? [
                { send: "EHLO prober" },
                { expect: "^250 " },
                { send: "STARTTLS" },
                { expect: "^220" },
                { starttls: true },
              ]
            : []),
          { send: "QUIT" },
        ],
        ...buildTlsConfig(monitor),
      },
    },
    usedFields: [...hostFields, "tls", "verifyTls"],
  }),
  ssh: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", tcp: { query_response: [{ expect: "^SSH-2.0-" }] } },
    usedFields: hostFields,
  }),
  ping: ({ host }) => ({ target: String(host), module: { prober: "icmp" }, usedFields: ["host"] }),
  dns: buildDnsProbe,
  grpc: (monitor) => ({
    target: formatAddress(monitor),
    module: {
      prober: "grpc",
      grpc: {
        ...(monitor["service"] != null && { service: monitor["service"] }),
        tls: monitor["tls"] === true,
        ...buildTlsConfig(monitor),
      },
    },
    usedFields: [...hostFields, "service", "tls", "verifyTls"],
  }),
};

/** Builds a DNS probe; null for DNS over HTTPS, which the exporter lacks. */
function buildDnsProbe({ host, recordType, resolver, expected }: Fields): Probe | null {
  const server = parseResolver(toText(resolver));
  if (server?.scheme === "https") return null;
  const records = (expected ?? []) as string[];
  const isEncrypted = server?.scheme === "tls";
  const dns = {
    query_name: findQueryName(toText(recordType), toText(host)),
    query_type: recordType,
    ...(isEncrypted && { transport_protocol: "tcp", dns_over_tls: true }),
    ...(records.length > 0 && {
      validate_answer_rrs: {
        fail_if_none_matches_regexp: records.map((value) =>
          buildRecordExpression(toText(recordType), value),
        ),
      },
    }),
  };
  return {
    target: isEncrypted
      ? `${formatHost(server.host)}:${server.port}`
      : toText(resolver) || "1.1.1.1",
    module: { prober: "dns", dns },
    // One of several records is enough for the exporter.
    usedFields: ["host", "recordType", "resolver", ...(records.length > 1 ? [] : ["expected"])],
  };
}

/** The exporter searches a whole line, such as `shop.lan. 300 IN A 192.0.2.1`, where one address can be in another. */
const buildRecordExpression = (recordType: string, value: string): string =>
  recordType === "A" || recordType === "AAAA"
    ? `\\s${escapeExpression(toCanonicalAddress(value))}$`
    : `${recordType === "TXT" ? "" : "(?i)"}${escapeExpression(value)}`;

const buildDialogue = ({ send, expect }: Fields): Fields => {
  const steps = [
    ...(send == null ? [] : [{ send }]),
    ...(expect == null ? [] : [{ expect: escapeExpression(toText(expect)) }]),
  ];
  return steps.length === 0 ? {} : { tcp: { query_response: steps } };
};

function buildHttpProbe(monitor: Fields): Probe {
  const { url, method, body, basicAuth, bearerToken, keyword, keywordAbsent } = monitor;
  const headers = buildHeaders(monitor);
  const isDefault = String(monitor["expectedStatus"]) === "200-299";
  const ranges = (monitor["expectedStatus"] as string[]).map(listCodes);
  const signIn = basicAuth as Fields | null;
  const hasHeaders = Object.keys(headers).length > 0;
  const http = {
    method,
    // The exporter expects 2xx by default.
    ...(!isDefault && { valid_status_codes: ranges.flatMap(({ codes }) => codes) }),
    follow_redirects: monitor["followRedirects"] !== false,
    ...(hasHeaders && { headers }),
    ...(body != null && body !== "" && { body }),
    // The exporter rejects a module with two of these. A bearer token takes precedence here.
    ...(signIn != null &&
      bearerToken == null && {
        basic_auth: { username: signIn["username"], password: signIn["password"] ?? "" },
      }),
    ...(bearerToken != null && { authorization: { credentials: bearerToken } }),
    ...(keyword != null && {
      fail_if_body_not_matches_regexp: [escapeExpression(toText(keyword))],
    }),
    ...(keywordAbsent != null && {
      fail_if_body_matches_regexp: [escapeExpression(toText(keywordAbsent))],
    }),
    ...buildTlsConfig(monitor),
  };
  return {
    target: String(url),
    module: { prober: "http", http },
    usedFields: [
      ...httpFields,
      ...(isDefault || ranges.every(({ isComplete }) => isComplete) ? ["expectedStatus"] : []),
    ],
  };
}

/** Lists the codes of a range such as `200-299`, because the exporter has no ranges. Long ranges list only the assigned codes. */
function listCodes(range: string): { codes: number[]; isComplete: boolean } {
  const [first = 0, last = first] = range.split("-").map(Number);
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const assigned = all.filter((code) => Object.hasOwn(STATUS_CODES, code));
  const isComplete = all.length <= maxListedCodes || assigned.length === 0;
  return { codes: isComplete ? all : assigned, isComplete };
}

/**
 * Converts a monitor to a probe, with the names of the fields that the probe loses. Null if the exporter has no such prober,
 * or the monitor is paused or inverted.
 */
export function toProbe({ fields }: OurMonitor): { probe: BlackboxProbe; lost: string[] } | null {
  const probe = probes[String(fields["type"])]?.(fields);
  if (probe == null || fields["paused"] === true || fields["inverted"] === true) return null;
  const { assertions: _short, ...others } = normalizeFields(fields);
  const defaults = normalizeFields({ ...pickEssentialFields(fields), type: fields["type"] });
  const lost = Object.keys(others).filter(
    (name) =>
      !commonFields.includes(name) &&
      !probe.usedFields.includes(name) &&
      JSON.stringify(others[name]) !== JSON.stringify(defaults[name]),
  );
  if (((fields["assertions"] ?? []) as unknown[]).length > 0) lost.push("assertions");
  if (fields["jsonPath"] != null) lost.push("jsonPath");
  const module = { timeout: `${String(fields["timeout"])}s`, ...probe.module };
  return {
    probe: {
      ...probe,
      module,
      name: String(fields["name"]),
      intervalSeconds: Number(fields["interval"]),
      timeoutSeconds: Number(fields["timeout"]),
    },
    lost,
  };
}

const pickEssentialFields = ({ name, url, host, port, domain }: Fields): Fields =>
  Object.fromEntries(
    Object.entries({ name, url, host, port, domain }).filter(([, value]) => value != null),
  );

/** The exporter ends a probe half a second before Prometheus does, which waits 10 s by default. */
const buildScrapeTimeout = ({ intervalSeconds, timeoutSeconds }: BlackboxProbe): Fields =>
  timeoutSeconds < 10
    ? {}
    : { scrape_timeout: `${Math.min(intervalSeconds, timeoutSeconds + 1)}s` };

/** Builds `blackbox.yml` and the jobs of `prometheus.yml`. Equal modules and intervals share a job. */
export function buildBlackbox(all: readonly BlackboxProbe[]): { modules: Fields; jobs: Fields[] } {
  const modules = new Map<string, { name: string; module: Fields }>();
  for (const { module } of all) {
    const key = JSON.stringify(module);
    const prober = String(module["prober"]);
    const count = [...modules.values()].filter((one) => one.module["prober"] === prober).length;
    if (!modules.has(key)) modules.set(key, { name: `${prober}_${count + 1}`, module });
  }
  const nameOf = ({ module }: BlackboxProbe) => modules.get(JSON.stringify(module))?.name ?? "";
  const groups = Map.groupBy(all, (probe) => `${nameOf(probe)}_${probe.intervalSeconds}s`);
  return {
    modules: Object.fromEntries([...modules.values()].map(({ name, module }) => [name, module])),
    jobs: [...groups].map(([name, probes]) => {
      const [first] = probes as [BlackboxProbe];
      return buildJob(name, nameOf(first), first, probes);
    }),
  };
}

const buildJob = (
  name: string,
  moduleName: string,
  first: BlackboxProbe,
  probes: readonly BlackboxProbe[],
): Fields => ({
  job_name: `blackbox_${name}`,
  metrics_path: "/probe",
  scrape_interval: `${first.intervalSeconds}s`,
  ...buildScrapeTimeout(first),
  params: { module: [moduleName] },
  static_configs: probes.map(({ target, name }) => ({
    targets: [target],
    labels: { monitor: name },
  })),
  relabel_configs: [
    { source_labels: ["__address__"], target_label: "__param_target" },
    { source_labels: ["__param_target"], target_label: "instance" },
    { target_label: "__address__", replacement: "127.0.0.1:9115" },
  ],
});
