/** Exports for other programs, and the way there and back. */
import { expect, test } from "bun:test";
import { parse, parseAllDocuments } from "yaml";
import type { Fields } from "../../src/core/collections/objects.ts";
import { exportAs } from "../../src/imports/exporting/export.ts";
import { exportFormats } from "../../src/imports/exporting/formats.ts";
import { Channels } from "../../src/imports/gatus/channels.ts";
import { convertEndpoint } from "../../src/imports/gatus/endpoints.ts";
import { Section } from "../../src/imports/gatus/section.ts";
import { openBackup } from "../../src/imports/kuma/backup.ts";
import { convertMonitor } from "../../src/imports/kuma/monitors.ts";
import { buildKumaPlan } from "../../src/imports/kuma/plan.ts";
import { testAppliance } from "../support/appliance.ts";
import { newMonitors } from "../support/samples.ts";

const empty = new Map<number, Fields>();
const installation = { proxies: empty, dockerHosts: empty, browsers: empty };
const exportMonitors = (
  format: (typeof exportFormats)[number],
  monitors: Record<string, Fields>,
  more: Fields = {},
) => exportAs(format, { document: { monitors, ...more }, secrets: [] });

const kumaRows: Fields[] = [
  {
    type: "http",
    url: "https://shop.lan/health",
    method: "POST",
    headers: '{"X-Probe":"1"}',
    body: '{"a":1}',
    accepted_statuscodes_json: '["200-204","301"]',
    maxredirects: 0,
    ignore_tls: true,
    expiry_notification: true,
  },
  { type: "keyword", url: "https://shop.lan/", keyword: "all good", invert_keyword: false },
  { type: "keyword", url: "https://shop.lan/", keyword: "Fatal error", invert_keyword: true },
  { type: "json-query", url: "https://shop.lan/", json_path: "$.status", expected_value: "ok" },
  { type: "port", hostname: "db.lan", port: 5432 },
  { type: "ping", hostname: "router.lan" },
  {
    type: "dns",
    hostname: "shop.lan",
    port: 53,
    dns_resolve_type: "MX",
    dns_resolve_server: "192.168.1.1",
  },
  {
    type: "mqtt",
    hostname: "broker.lan",
    port: 1883,
    mqtt_topic: "plant/state",
    mqtt_success_message: "alive",
  },
  {
    type: "postgres",
    database_connection_string: "postgres://probe:@db.lan:5432/shop",
    database_query: "select count(*) from orders",
  },
  { type: "redis", database_connection_string: "redis://cache.lan:6379/" },
  { type: "gamedig", hostname: "play.lan", port: 25565, game: "minecraft" },
  { type: "real-browser", url: "https://shop.lan/login" },
];

test.each(kumaRows.map((row) => [JSON.stringify(row), row] as const))(
  "Uptime Kuma → here → Uptime Kuma returns %s",
  async (_, row) => {
    const common = {
      name: "Shop",
      description: "Its front page",
      interval: 30,
      timeout: 20,
      maxretries: 2,
      retry_interval: 15,
      resend_interval: 4,
      upside_down: true,
      active: 0,
    };
    const { fields } = convertMonitor({ ...common, ...row }, installation);
    const { text } = await exportMonitors("uptime-kuma", { shop: fields });
    const [monitor = {}] = openBackup(text, "backup.json").rows.monitor;
    const written = { ...common, ...row };
    const returned = Object.keys(written).map((name) => [name, monitor[name]]);
    expect(Object.fromEntries(returned)).toEqual(written);
  },
);

const gatusEndpoints = `
- { url: "https://shop.lan/health", method: POST, headers: { X-Probe: "1" }, body: '{"a":1}',
    conditions: ["[STATUS] == 200", "[BODY].status == UP", "[BODY].count == 3", "len([BODY].items) > 2",
      "has([BODY].error) == false", "[BODY] == pat(*welcome*)", "[HEADER].X-Version == 2.x", "[RESPONSE_TIME] < 500"] }
- { url: "https://shop.lan/", client: { timeout: 5s, insecure: true, ignore-redirect: true },
    conditions: ["[STATUS] == any(200, 301)", "[BODY].state == any(UP, DEGRADED)", "[CERTIFICATE_EXPIRATION] > 240h"] }
- { url: "https://shop.lan/?price=$5", conditions: ["[STATUS] >= 200", "[STATUS] <= 299"] }
- { url: "tcp://db.lan:5432", conditions: ["[CONNECTED] == true"] }
- { url: "tcp://db.lan:5432", conditions: ["[CONNECTED] == false"] }
- { url: "icmp://router.lan", conditions: ["[CONNECTED] == true"] }
- { url: "tls://mail.lan:993", conditions: ["[CONNECTED] == true", "[CERTIFICATE_EXPIRATION] > 48h"] }
- { url: "starttls://mail.lan:25", conditions: ["[CONNECTED] == true"] }
- { url: "ssh://jump.lan:22", ssh: { username: "", password: "" }, conditions: ["[CONNECTED] == true"] }
- { url: "grpcs://orders.lan:443", conditions: ["[CONNECTED] == true"] }
- { url: "wss://shop.lan/live", body: hello, conditions: ["[CONNECTED] == true"] }
- { url: "192.168.1.1", dns: { query-name: shop.lan, query-type: A },
    conditions: ["[DNS_RCODE] == NOERROR", "[BODY] == 10.0.0.5"] }
- { url: "https://shop.example", interval: 600s, conditions: ["[DOMAIN_EXPIRATION] > 720h"] }
`;

test.each((parse(gatusEndpoints) as Fields[]).map((one) => [JSON.stringify(one), one] as const))(
  "Gatus → here → Gatus returns %s",
  async (_, endpoint) => {
    const common = {
      name: "Shop",
      group: "Web",
      interval: "30s",
      enabled: false,
      "extra-labels": { team: "a" },
      client: { timeout: "10s" },
    };
    const written = { ...common, ...endpoint };
    const texts = parse(JSON.stringify(written), { schema: "failsafe" }) as Fields;
    const { monitor } = await convertEndpoint(new Section(texts, "endpoint"), {
      channels: new Channels(new Section({}, "alerting")),
      readFile: async () => null,
    });
    expect(monitor.isIncomplete).toBe(false);
    const monitors = { shop: { ...monitor.fields, group: "web" } };
    const { text, report } = await exportMonitors("gatus", monitors, {
      groups: { web: { name: "Web" } },
    });
    const { endpoints } = parse(text.replaceAll("$$", "$")) as { endpoints: Fields[] };
    expect(endpoints).toEqual([written]);
    expect(text).not.toMatch(/[^$]\$[^$]/);
    expect(report).toEqual(["Incidents and history are not exported."]);
  },
);

/** By what the other program does with the field, according to its source. */
const gatusCases: [string, Fields, Fields][] = [
  [
    "a certificate is not required without TLS",
    { type: "http", url: "http://shop.lan/", certificateExpiryDays: 14 },
    { conditions: ["[STATUS] >= 200", "[STATUS] <= 299"] },
  ],
  [
    "a certificate is not required of a WebSocket, of which Gatus knows none",
    { type: "websocket", url: "wss://shop.lan/live", send: "hi", certificateExpiryDays: 14 },
    { conditions: ["[CONNECTED] == true"] },
  ],
  [
    "an IPv6 address to ping has no brackets",
    { type: "ping", host: "2001:db8::1" },
    { url: "icmp://2001:db8::1" },
  ],
  [
    "an IPv6 resolver has brackets and a port",
    { type: "dns", host: "shop.lan", resolver: "2001:db8::53" },
    { url: "[2001:db8::53]:53" },
  ],
  [
    "a mail server is expected without its preference",
    { type: "dns", host: "shop.lan", recordType: "MX", expected: ["10 mail.shop.lan"] },
    { conditions: ["[DNS_RCODE] == NOERROR", "[BODY] == mail.shop.lan."] },
  ],
  [
    "several records are not expected, because Gatus knows only the last one",
    { type: "dns", host: "shop.lan", expected: ["10.0.0.5", "10.0.0.6"] },
    { conditions: ["[DNS_RCODE] == NOERROR"] },
  ],
  [
    "records that Gatus can't read are not expected",
    { type: "dns", host: "shop.lan", recordType: "TXT", expected: ["v=spf1 -all"] },
    { conditions: ["[DNS_RCODE] == NOERROR"] },
  ],
  [
    "the records of an address are queried by name",
    { type: "dns", host: "192.0.2.1", recordType: "PTR" },
    { dns: { "query-name": "1.2.0.192.in-addr.arpa", "query-type": "PTR" } },
  ],
  [
    "a domain is queried at most every five minutes",
    { type: "domain", domain: "shop.example", interval: 60 },
    { interval: "300s" },
  ],
  [
    "a text that Gatus would read as a pattern or an operator is not compared",
    { type: "tcp", host: "db.lan", port: 1, send: "x", expect: "a == [b]*" },
    { conditions: ["[CONNECTED] == true"] },
  ],
  [
    "a name has no characters that Gatus rejects",
    { type: "ping", host: "a.lan", name: 'The "old" C:\\' },
    { name: "The 'old' C:/" },
  ],
  [
    "a job is late after its interval and its grace time",
    { type: "push", interval: 60, grace: 30 },
    { heartbeat: { interval: "90s" } },
  ],
  [
    "a job on weekdays is not late on a Monday",
    { type: "push", schedule: "30 2 * * 1-5", timeZone: "UTC", grace: 600 },
    { heartbeat: { interval: `${3 * 86_400 + 600}s` } },
  ],
];

test.each(gatusCases)("for Gatus, %s", async (_, fields, expected) => {
  const { text } = await exportMonitors("gatus", { job: { name: "Job", ...fields } });
  const sections = parse(text.replaceAll("$$", "$")) as Record<string, Fields[]>;
  const [entry] = Object.values(sections).flat();
  expect(entry).toMatchObject(expected);
});

test.each([
  ["gatus", "https://dns.lan/dns-query"],
  ["gatus", "tls://dns.lan"],
  ["uptime-kuma", "tls://dns.lan"],
  ["prometheus-blackbox", "https://dns.lan/dns-query"],
] as const)("for %s, a DNS monitor with the resolver %s is left out", async (format, resolver) => {
  const monitor = { type: "dns", name: "Records", host: "shop.lan", resolver };
  const { text, report } = await exportMonitors(format, { monitor });
  expect(text).not.toContain("shop.lan");
  expect(report).toContain("Not exported: there is no such check. “Records”");
});

test("for Prometheus, DNS goes over TLS, to the name of an address, and a sign-in is one header", async () => {
  const { text } = await exportMonitors("prometheus-blackbox", {
    ptr: { type: "dns", host: "192.0.2.1", recordType: "PTR", resolver: "tls://dns.lan" },
    shop: {
      type: "http",
      url: "https://shop.lan/",
      bearerToken: "t",
      basicAuth: { username: "u", password: "p" },
    },
  });
  const [{ modules }, { scrape_configs: jobs }] = parseAllDocuments(text).map((one) => one.toJS());
  expect(modules["dns_1"].dns).toMatchObject({
    query_name: "1.2.0.192.in-addr.arpa",
    dns_over_tls: true,
    transport_protocol: "tcp",
  });
  expect(jobs[0].static_configs[0].targets).toEqual(["dns.lan:853"]);
  expect(modules["http_1"].http).toMatchObject({ authorization: { credentials: "t" } });
  expect(modules["http_1"].http).not.toHaveProperty("basic_auth");
});

test.each([
  [["200-299"], null, true],
  [["200-204", "301", "418"], [200, 201, 202, 203, 204, 301, 418], true],
  [["520-530"], 11, true],
  [["900-999"], 100, true],
  [["200-399"], 18, false],
  [["100-999"], 63, false],
])(
  "for Prometheus, the expected status %j is a short list, and the report names a shortened one",
  async (expectedStatus, codes, isWhole) => {
    const shop = { type: "http", url: "https://shop.lan/", expectedStatus };
    const { text, report } = await exportMonitors("prometheus-blackbox", { shop });
    const [{ modules }] = parseAllDocuments(text).map((one) => one.toJS());
    const listed = modules["http_1"].http.valid_status_codes ?? null;
    expect(typeof codes === "number" ? listed.length : listed).toEqual(codes);
    expect(report.join().includes("expectedStatus")).toBe(!isWhole);
  },
);

test("for Prometheus, a probe has the time that its check has", async () => {
  const { text } = await exportMonitors("prometheus-blackbox", {
    short: { type: "tcp", host: "a.lan", port: 1, interval: 60, timeout: 5 },
    long: { type: "tcp", host: "b.lan", port: 1, interval: 60, timeout: 30 },
  });
  const [, { scrape_configs: jobs }] = parseAllDocuments(text).map((one) => one.toJS());
  expect(jobs.map((job: Fields) => job["scrape_timeout"])).toEqual([undefined, "31s"]);
});

test.each(["gatus", "prometheus-blackbox"] as const)(
  "for %s, JSON is sent as JSON",
  async (format) => {
    const shop = {
      type: "http",
      url: "https://shop.lan/",
      method: "POST",
      bodyType: "json",
      body: "{}",
    };
    const { text, report } = await exportMonitors(format, { shop });
    expect(text).toContain("Content-Type: application/json");
    expect(report.join()).not.toContain("bodyType");
  },
);

test("for Prometheus, records have the notation of DNS responses", async () => {
  const { text } = await exportMonitors("prometheus-blackbox", {
    zone: { type: "dns", host: "shop.lan", recordType: "AAAA", expected: ["2001:DB8:0::1"] },
    mail: { type: "dns", host: "shop.lan", recordType: "MX", expected: ["Mail.lan"] },
  });
  expect(text).toContain("\\s2001:db8::1$");
  expect(text).toContain("(?i)Mail\\.lan");
});

test("for Prometheus, an address of DNS is no part of another one", async () => {
  const { text } = await exportMonitors("prometheus-blackbox", {
    zone: { type: "dns", host: "shop.lan", expected: ["192.0.2.1"] },
  });
  const [{ modules }] = parseAllDocuments(text).map((one) => one.toJS());
  const [expression] = modules["dns_1"].dns.validate_answer_rrs.fail_if_none_matches_regexp;
  const record = "shop.lan.\t300\tIN\tA\t192.0.2.1";
  expect([record, `${record}0`].map((line) => RegExp(expression).test(line))).toEqual([
    true,
    false,
  ]);
});

test("for Uptime Kuma, the port of a name server is in a field of its own", async () => {
  const { text } = await exportMonitors("uptime-kuma", {
    zone: { type: "dns", name: "Zone", host: "shop.lan", resolver: "[2001:db8::1]:5353" },
  });
  const { monitorList } = JSON.parse(text) as { monitorList: Fields[] };
  expect(monitorList).toMatchObject([{ dns_resolve_server: "2001:db8::1", port: 5353 }]);
});

test("for Uptime Kuma, a job on weekdays is not late on a Monday", async () => {
  const { text } = await exportMonitors("uptime-kuma", {
    job: { type: "push", name: "Job", schedule: "30 2 * * 1-5", timeZone: "UTC", grace: 600 },
  });
  const { monitorList } = JSON.parse(text) as { monitorList: Fields[] };
  expect(monitorList).toMatchObject([{ type: "push", interval: 3 * 86_400, retryInterval: 600 }]);
});

test("for Gatus, endpoints have different names, and jobs their own tokens", async () => {
  const { text, report } = await exportMonitors("gatus", {
    a: { type: "push", name: "Backup.db" },
    b: { type: "push", name: "backup db" },
  });
  const { "external-endpoints": jobs } = parse(text) as Record<string, Fields[]>;
  expect(jobs?.map(({ name, token }) => [name, token])).toEqual([
    ["Backup.db", "${A_TOKEN}"],
    ["backup db (2)", "${B_TOKEN}"],
  ]);
  expect(report.join("\n")).toContain("name");
});

test.each(["gatus", "prometheus-blackbox"] as const)(
  "for %s, an inverted monitor is left out, because it would mean the opposite",
  async (format) => {
    const { text, report } = await exportMonitors(format, {
      up: { type: "http", name: "Shop", url: "https://shop.lan/" },
      inverted: { type: "http", name: "Closed", url: "https://closed.lan/", inverted: true },
    });
    expect(text).toContain("shop.lan");
    expect(text).not.toContain("closed.lan");
    expect(report).toContain(
      "Not exported: an inverted check would mean the opposite there. “Closed”",
    );
  },
);

test("for Uptime Kuma, a bearer token is a header, and a job has its schedule and grace time", async () => {
  const { text, report } = await exportMonitors("uptime-kuma", {
    shop: { type: "http", name: "Shop", url: "https://shop.lan/", bearerToken: "${SHOP_TOKEN}" },
    job: { type: "push", name: "Job", schedule: "0 3 * * *", timeZone: "UTC", grace: 600 },
  });
  const [shop, job] = JSON.parse(text).monitorList as Fields[];
  expect(JSON.parse(String(shop?.["headers"]))).toEqual({ Authorization: "Bearer ${SHOP_TOKEN}" });
  expect(job).toMatchObject({ interval: 86_400, maxretries: 1, retryInterval: 600 });
  expect(report.join("\n")).not.toContain("Shop");
});

/** Columns without a default for null in Uptime Kuma's table, by the names that its import reads. */
const requiredByKuma =
  "method timeout interval retryInterval resendInterval maxretries invertKeyword ignoreTls upsideDown maxredirects accepted_statuscodes tags".split(
    " ",
  );

test("for Uptime Kuma, its import finds all fields that it requires, and starts only complete checks", async () => {
  const monitors = Object.entries(newMonitors).map(([type, fields]) => [
    type,
    { name: type, type, group: "web", ...fields },
  ]);
  const { text, report } = await exportMonitors("uptime-kuma", Object.fromEntries(monitors), {
    groups: { web: { name: "Web" } },
  });
  const entries = JSON.parse(text).monitorList as Fields[];
  for (const entry of entries)
    for (const name of requiredByKuma)
      expect([entry["name"], name, entry[name] ?? null]).not.toContain(null);
  // The import compares with ===.
  const started = entries.filter(({ active }) => active === 1).map(({ name }) => name);
  expect(started).toEqual(
    "Web http tcp ping dns tls push smtp imap pop3 ssh ldap sip browser".split(" "),
  );
  const paused = report.find((line) => line.startsWith("Paused there:"));
  for (const name of ["redis", "postgres", "grpc", "kafka", "radius", "game"])
    expect(paused).toContain(`“${name}”`);
  expect(report.join("\n")).toContain("choose the groups there again");
});

/** Types that can be exported, by format; the report names all others. */
const exportable = {
  "uptime-kuma":
    "http tcp ping dns tls push smtp imap pop3 ssh redis postgres mysql mongodb mssql kafka ldap sip grpc radius game browser",
  gatus: "http tcp ping dns tls push smtp ssh websocket grpc domain",
  "prometheus-blackbox": "http tcp ping dns tls smtp ssh grpc",
};

test.each(exportFormats)("the report of an export for %s names each other type", async (format) => {
  const monitors = Object.entries(newMonitors).map(([type, fields]) => [
    type,
    { name: type, type, ...fields },
  ]);
  const { text, report } = await exportMonitors(format, Object.fromEntries(monitors));
  const [, named = ""] =
    /^Not exported: there is no such check\. (.*)$/m.exec(report.join("\n")) ?? [];
  const left = [...named.matchAll(/“(\w+)”/g)].map(([, type]) => type);
  expect(Object.keys(newMonitors).filter((type) => !left.includes(type))).toEqual(
    exportable[format].split(" "),
  );
  for (const type of exportable[format].split(" ")) expect(text).toContain(type);
});

test("an organization is exported with its groups, and the report names its secrets and other records", async () => {
  const { ours } = await testAppliance();
  const add = async (path: string, body: object) =>
    (await ours.api("POST", `/api/v1/${path}`, { body })).json.data.id as string;
  const id = await add("monitors", {
    type: "http",
    name: "Shop",
    url: "https://shop.lan/",
    basicAuth: { username: "probe", password: "secret-word" },
    assertions: [{ source: "json", path: "$.items.length()", op: "lessThan", value: 3 }],
    tags: ["team: a"],
  });
  await add("monitor-groups", { name: "Web", monitorIds: [id] });
  await add("alert-channels", { type: "ntfy", name: "Phone", topic: "ops" });
  const exported = (await ours.api("GET", "/api/v1/config")).json.data;
  const results = await Promise.all(exportFormats.map((format) => exportAs(format, exported)));
  for (const { text, report } of results) {
    expect(text).not.toContain("secret-word");
    expect(report).toContain("Enter its secrets: basicAuth.password. “Shop”");
    expect(report).toContain("Not exported: 1 alert channel, 1 status page.");
  }
  const [kuma, gatus, blackbox] = results;
  const plan = buildKumaPlan(openBackup(kuma?.text ?? "", "backup.json"), 0);
  expect(plan.records.map(({ noun, name }) => `${noun} ${name}`)).toEqual([
    "group Web",
    "monitor Shop",
  ]);
  expect(plan.records[1]?.fields["tags"]).toEqual(["team: a"]);
  expect(kuma?.report).toContain("Different there: assertions. “Shop”");
  expect(parse(gatus?.text ?? "").endpoints[0]).toMatchObject({
    url: "https://probe:${SHOP_BASIC_AUTH_PASSWORD}@shop.lan/",
    group: "Web",
    conditions: expect.arrayContaining(["len([BODY].items) < 3"]),
  });
  const [modules, prometheus] = parseAllDocuments(blackbox?.text ?? "").map((one) => one.toJS());
  const [job] = prometheus.scrape_configs;
  expect(modules.modules[job.params.module[0]].prober).toBe("http");
  expect(job.static_configs).toEqual([
    { targets: ["https://shop.lan/"], labels: { monitor: "Shop" } },
  ]);
  expect(blackbox?.report.join()).toContain("assertions");
});
