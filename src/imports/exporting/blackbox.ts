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

type Probe = { target: string; module: Fields; used: readonly string[] };

type BlackboxProbe = Probe & { name: string; interval: number; timeout: number };

const formatAddress = ({ host, port }: Fields) => `${formatHost(host)}:${String(port)}`;
const buildTlsConfig = ({ verifyTls }: Fields) =>
  verifyTls === false ? { tls_config: { insecure_skip_verify: true } } : {};

/** Maximum length of a range whose codes are all listed. */
const maxListedCodes = 20;

const commonFields = ["type", "name", "interval", "timeout", "paused"];
const hostFields = ["host", "port"];

/** https://github.com/prometheus/blackbox_exporter/blob/master/CONFIGURATION.md */
const probes: Record<string, (monitor: Fields) => Probe | null> = {
  http: buildHttpProbe,
  tcp: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", ...buildDialogue(monitor) },
    used: [...hostFields, "send", "expect"],
  }),
  tls: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", tcp: { tls: true } },
    used: hostFields,
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
    used: [...hostFields, "tls", "verifyTls"],
  }),
  ssh: (monitor) => ({
    target: formatAddress(monitor),
    module: { prober: "tcp", tcp: { query_response: [{ expect: "^SSH-2.0-" }] } },
    used: hostFields,
  }),
  ping: ({ host }) => ({ target: String(host), module: { prober: "icmp" }, used: ["host"] }),
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
    used: [...hostFields, "service", "tls", "verifyTls"],
  }),
};

/** There is DNS over TLS, but not over HTTPS. */
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
    used: ["host", "recordType", "resolver", ...(records.length > 1 ? [] : ["expected"])],
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
    used: [
      ..."url method headers body bodyType basicAuth bearerToken followRedirects verifyTls".split(
        " ",
      ),
      ...(isDefault || ranges.every(({ isWhole }) => isWhole) ? ["expectedStatus"] : []),
    ],
  };
}

/** Lists the codes of a range such as `200-299`, because the exporter has no ranges. Long ones list the assigned codes. */
function listCodes(range: string): { codes: number[]; isWhole: boolean } {
  const [first = 0, last = first] = range.split("-").map(Number);
  const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const assigned = all.filter((code) => Object.hasOwn(STATUS_CODES, code));
  const isWhole = all.length <= maxListedCodes || assigned.length === 0;
  return { codes: isWhole ? all : assigned, isWhole };
}

/** Converts a monitor to a probe, with the fields that it lacks; null if there is no such prober. */
export function toProbe({ fields }: OurMonitor): { probe: BlackboxProbe; lost: string[] } | null {
  const probe = probes[String(fields["type"])]?.(fields);
  if (probe == null || fields["paused"] === true || fields["inverted"] === true) return null;
  const { assertions: _short, ...others } = normalizeFields(fields);
  const defaults = normalizeFields({ ...pickEssential(fields), type: fields["type"] });
  const lost = Object.keys(others).filter(
    (name) =>
      !commonFields.includes(name) &&
      !probe.used.includes(name) &&
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
      interval: Number(fields["interval"]),
      timeout: Number(fields["timeout"]),
    },
    lost,
  };
}

const pickEssential = ({ name, url, host, port, domain }: Fields): Fields =>
  Object.fromEntries(
    Object.entries({ name, url, host, port, domain }).filter(([, value]) => value != null),
  );

/** The exporter ends a probe half a second before Prometheus does, which waits 10 s by default. */
const buildScrapeTimeout = ({ interval, timeout } = { interval: 0, timeout: 0 }): Fields =>
  timeout < 10 ? {} : { scrape_timeout: `${Math.min(interval, timeout + 1)}s` };

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
  const jobs = [...Map.groupBy(all, (probe) => `${nameOf(probe)}_${probe.interval}s`)].map(
    ([job, probes]) => ({
      job_name: `blackbox_${job}`,
      metrics_path: "/probe",
      scrape_interval: `${probes[0]?.interval}s`,
      ...buildScrapeTimeout(probes[0]),
      params: { module: [probes[0] === undefined ? "" : nameOf(probes[0])] },
      static_configs: probes.map(({ target, name }) => ({
        targets: [target],
        labels: { monitor: name },
      })),
      relabel_configs: [
        { source_labels: ["__address__"], target_label: "__param_target" },
        { source_labels: ["__param_target"], target_label: "instance" },
        { target_label: "__address__", replacement: "127.0.0.1:9115" },
      ],
    }),
  );
  return {
    modules: Object.fromEntries([...modules.values()].map(({ name, module }) => [name, module])),
    jobs,
  };
}
