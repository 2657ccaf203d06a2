import { describe, expect, test } from "bun:test";
import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { dumpTables } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { clientCertificate, clientKey, newMonitors } from "../../support/samples.ts";

const path = "/api/v1/monitors";
const at = "2026-11-20T10:00:00.000Z";

const common = {
  id: expect.any(String),
  description: "",
  groupId: null,
  tags: [],
  interval: 60,
  timeout: 10,
  retries: 1,
  confirmations: 1,
  retryInterval: 10,
  degradedAfterMs: null,
  successThreshold: 1,
  inverted: false,
  paused: false,
  pausedUntil: null,
  muted: false,
  notJudgedSince: null,
  alertChannelIds: [],
  dependsOn: [],
  autoIncidentSeverity: null,
  reminderInterval: null,
  escalationPolicyId: null,
  priority: "normal",
  secretsSet: [],
  status: "pending",
  statusSince: at,
  lastCheckedAt: null,
  lastMessage: null,
  latencyMs: null,
  uptime24h: null,
  certificateExpiresAt: null,
  details: {},
  numberValue: null,
  createdAt: at,
  updatedAt: at,
};

const noRows = { database: null, query: "SELECT 1", assertions: [], number: null };
const notSecured = { tls: false, serverName: null, verifyTls: true, certificateExpiryDays: 14 };

const defaults: Record<keyof typeof newMonitors, object> = {
  http: {
    method: "GET",
    headers: {},
    bodyType: "text",
    body: null,
    form: [],
    cacheBuster: false,
    basicAuth: null,
    oauth2: null,
    expectedStatus: ["200-299"],
    keyword: null,
    keywordAbsent: null,
    jsonPath: null,
    jsonEquals: null,
    assertions: [],
    number: null,
    save: [],
    variables: {},
    steps: [],
    followRedirects: true,
    followToPrivate: false,
    verifyTls: true,
    certificateExpiryDays: 14,
    clientCertificate: null,
    proxyUrl: null,
    proxyUsername: null,
    ipFamily: "any",
    connectTo: null,
  },
  tcp: { send: null, expect: null },
  ping: { packets: 1, number: null },
  dns: { recordType: "A", resolver: null, expected: [], requireDnssec: false, assertions: [] },
  tls: { port: 443, serverName: null, certificateExpiryDays: 14 },
  push: {
    grace: 60,
    schedule: null,
    timeZone: "UTC",
    maximumRunTime: null,
    slug: null,
    successKeywords: [],
    failureKeywords: [],
    pushUrl: expect.stringMatching(/^http:\/\/localhost\/push\/[0-9a-f-]{36}$/),
    pingUrl: expect.stringMatching(/^http:\/\/localhost\/ping\/[0-9a-f-]{36}$/),
  },
  smtp: { port: 25, username: null, ...notSecured, tls: "starttls" },
  imap: { port: 993, username: null, ...notSecured, tls: "tls" },
  pop3: { port: 995, username: null, ...notSecured, tls: "tls" },
  ssh: { port: 22, fingerprint: null },
  mqtt: {
    port: 1883,
    username: null,
    topic: null,
    waitForMessage: false,
    ignoreRetained: false,
    assertions: [],
    number: null,
    ...notSecured,
  },
  redis: { port: 6379, username: null, ...notSecured },
  postgres: { port: 5432, ...noRows, ...notSecured },
  mysql: { port: 3306, ...noRows, ...notSecured },
  mongodb: { port: 27017, username: null, authDatabase: "admin", ...notSecured },
  mssql: { port: 1433 },
  kafka: { port: 9092, topic: null, mechanism: "plain", username: null, ...notSecured },
  rabbitmq: {
    port: 5672,
    username: null,
    virtualHost: "/",
    queue: null,
    maxMessages: null,
    number: null,
    ...notSecured,
  },
  ldap: { port: 389, username: null, baseDn: null, ...notSecured, tls: "starttls" },
  sip: {
    port: 5060,
    transport: "udp",
    user: null,
    expectedStatus: ["200-299"],
    serverName: null,
    verifyTls: true,
    certificateExpiryDays: 14,
  },
  websocket: { headers: {}, send: null, expect: null, verifyTls: true, certificateExpiryDays: 14 },
  grpc: { service: null, ...notSecured },
  docker: { port: 2376, ...notSecured, tls: true, clientCertificate: null },
  snmp: {
    port: 161,
    snmpVersion: "2c",
    username: null,
    authProtocol: "sha",
    privProtocol: "aes",
    oid: "1.3.6.1.2.1.1.3.0",
    assertions: [],
    number: null,
  },
  radius: { port: 1812 },
  ntp: { port: 123, maxOffsetMs: 1000, maxStratum: null, number: null },
  domain: { minDays: 14, server: null },
  game: { protocol: "source", number: null },
  command: { arguments: [], number: null },
  systemd: {},
  composite: { mode: "all", minimum: null },
  statuspage: { format: "auto", components: [], maintenanceAs: "up" },
  manual: { manualStatus: "up", manualMessage: null, manualUntil: null },
  browser: { steps: [], keyword: null, username: null, verifyTls: true, screenshotAt: null },
};

const limits = {
  name: "Queue depth",
  unit: "messages",
  direction: "above",
  degradedLimit: 1_000,
  downLimit: 2_000.5,
  returnAt: 900,
};
const rows = {
  number: { ...limits, path: "$[0].n" },
  database: "shop",
  query: "SELECT count(*) AS n FROM orders",
  assertions: [{ source: "json", path: "$[0].n", op: "lessThan", value: 100 }],
};
const secured = {
  tls: true,
  serverName: "service.lan",
  verifyTls: false,
  certificateExpiryDays: null,
};

const set: Record<keyof typeof newMonitors, object> = {
  http: {
    number: { ...limits, path: "$.queue.length()" },
    url: "https://[fd00::1]:8443/health?full=1",
    method: "POST",
    headers: {},
    bodyType: "multipart",
    body: '{"ping":\r\n1}',
    form: [{ name: "file", value: "a\r\nb", fileName: "a.txt", contentType: "text/plain" }],
    cacheBuster: true,
    basicAuth: { username: "probe" },
    oauth2: {
      tokenUrl: "https://login.lan/token",
      clientId: "probe",
      scope: "read write",
      audience: "https://shop.lan/",
      clientAuthentication: "body",
    },
    expectedStatus: ["204", "300-399"],
    keyword: "ok",
    keywordAbsent: "error",
    jsonPath: "$.data.items[0]['state of it']",
    jsonEquals: 1.5,
    assertions: [
      { source: "status", path: null, op: "lessThan", value: 300 },
      { source: "header", path: "Content-Type", op: "matches", value: "^text/(html|plain)" },
      { source: "json", path: "$.on", op: "equals", value: false },
      { source: "certificateDays", path: null, op: "exists", value: null },
    ],
    save: [{ name: "token", source: "json", path: "$.token", expression: null }],
    variables: {},
    steps: [
      {
        name: "Cart",
        url: "/cart?user={{token}}",
        method: "PUT",
        headers: { Authorization: "Bearer {{token}}" },
        bodyType: "json",
        body: '{"id": {{token}}}',
        form: [],
        expectedStatus: ["200"],
        keyword: null,
        keywordAbsent: null,
        jsonPath: "$.items",
        jsonEquals: null,
        assertions: [{ source: "latency", path: null, op: "lessThan", value: 500 }],
        save: [{ name: "id", source: "header", path: "Location", expression: "[0-9]+$" }],
      },
    ],
    followRedirects: false,
    followToPrivate: true,
    verifyTls: false,
    certificateExpiryDays: null,
    clientCertificate: null,
    proxyUrl: "socks5://[fd00::2]:1080",
    proxyUsername: "probe",
    ipFamily: "6",
    connectTo: null,
  },
  tcp: { host: "10.0.0.9", port: 25, send: "EHLO probe\r\n", expect: "250" },
  ping: { host: "fd00::1", packets: 10, number: { ...limits, path: "slowestMs" } },
  dns: {
    host: "example.org.",
    recordType: "DNSKEY",
    resolver: "tls://dns.lan:8853",
    expected: ["257 3 13 AA=="],
    requireDnssec: true,
    assertions: [{ source: "json", path: "$.ttl", op: "greaterThan", value: 60 }],
  },
  tls: { host: "10.0.0.9", port: 8443, serverName: "mail.lan", certificateExpiryDays: 365 },
  push: {
    grace: 0,
    schedule: "*/5 * * * MON#2,5L",
    timeZone: "Europe/Berlin",
    maximumRunTime: 7_200,
    slug: "database-backup_2",
    successKeywords: ["done"],
    failureKeywords: ["ERROR", "fatal: "],
  },
  smtp: { host: "10.0.0.9", port: 465, username: "probe", ...secured, tls: "tls" },
  imap: { host: "10.0.0.9", port: 143, username: "probe", ...secured, tls: "starttls" },
  pop3: { host: "10.0.0.9", port: 110, username: "probe", ...secured, tls: "none" },
  ssh: {
    host: "10.0.0.9",
    port: 2222,
    fingerprint: "SHA256:uNiVztksCsDhcc0u9e8BrKSrkcIDvXiLgEBzlJuvAGI",
  },
  mqtt: {
    number: { ...limits, path: null },
    host: "10.0.0.9",
    port: 8883,
    username: "probe",
    topic: "plant/+/state/#",
    waitForMessage: true,
    ignoreRetained: true,
    assertions: [{ source: "json", path: "$.on", op: "equals", value: true }],
    ...secured,
  },
  redis: { host: "10.0.0.9", port: 6380, username: "probe", ...secured },
  postgres: { host: "10.0.0.9", port: 5433, username: "probe", ...rows, ...secured },
  mysql: { host: "10.0.0.9", port: 3307, username: "probe", ...rows, ...secured },
  mongodb: {
    host: "10.0.0.9",
    port: 27018,
    username: "probe",
    authDatabase: "shop",
    ...secured,
  },
  mssql: { host: "10.0.0.9", port: 1434 },
  kafka: {
    host: "10.0.0.9",
    port: 9093,
    topic: "orders",
    mechanism: "scram-sha-512",
    username: "probe",
    ...secured,
  },
  rabbitmq: {
    number: { ...limits, path: "consumers" },
    host: "10.0.0.9",
    port: 5671,
    username: "probe",
    virtualHost: "shop",
    queue: "orders",
    maxMessages: 0,
    ...secured,
  },
  ldap: {
    host: "10.0.0.9",
    port: 636,
    username: "cn=probe,dc=team,dc=example",
    baseDn: "dc=team,dc=example",
    ...secured,
    tls: "tls",
  },
  sip: {
    host: "fd00::1",
    port: 5061,
    transport: "tls",
    user: "+49.30;phone-context=x",
    expectedStatus: ["200", "404"],
    serverName: "pbx.lan",
    verifyTls: false,
    certificateExpiryDays: null,
  },
  websocket: {
    url: "ws://[fd00::1]:8080/live?all=1",
    headers: {},
    send: "ping",
    expect: "pong",
    verifyTls: false,
    certificateExpiryDays: null,
  },
  grpc: { host: "10.0.0.9", port: 443, service: "shop.Orders", ...secured },
  docker: {
    container: "label=com.example.app=shop",
    host: "docker.lan",
    port: 2375,
    ...secured,
    clientCertificate,
  },
  snmp: {
    number: limits,
    host: "10.0.0.9",
    port: 1161,
    snmpVersion: "3",
    username: "probe",
    authProtocol: "sha256",
    privProtocol: "aes256r",
    oid: "1.3.6.1.2.1.1.5.0",
    assertions: [{ source: "body", path: null, op: "equals", value: "core" }],
  },
  radius: { host: "10.0.0.9", port: 1645, username: "other" },
  ntp: {
    host: "10.0.0.9",
    port: 1123,
    maxOffsetMs: 50,
    maxStratum: 3,
    number: { ...limits, path: "stratum" },
  },
  domain: { domain: "Bücher.example.", minDays: 3650, server: "https://rdap.lan:8443/v1/" },
  game: {
    protocol: "minecraft",
    host: "10.0.0.9",
    port: 25565,
    number: { ...limits, path: "players" },
  },
  command: {
    command: "nagios/check_disk",
    arguments: ["-w", "10%", "", "a b\n$HOME"],
    number: limits,
  },
  systemd: { unit: "getty@tty1.service" },
  composite: { mode: "percentage", minimum: 60 },
  statuspage: {
    url: "https://status.supplier.example/",
    format: "instatus",
    components: ["API"],
    maintenanceAs: "degraded",
  },
  manual: {
    manualStatus: "down",
    manualMessage: "Contract ended",
    manualUntil: "2026-12-01T00:00:00.000Z",
  },
  browser: {
    url: "http://[fd00::1]:8080/login",
    steps: ["fill input[name=u] with {{ username }} with care", "click a > b", "expect Wel come"],
    keyword: "shop",
    username: "ann",
    verifyTls: false,
  },
};

const setCommon = {
  name: "Named",
  description: "Two\nlines",
  tags: ["eu"],
  interval: 86_400,
  timeout: 60,
  retries: 10,
  confirmations: 3,
  retryInterval: 30,
  degradedAfterMs: 500,
  successThreshold: 10,
  inverted: true,
  paused: true,
  muted: true,
  autoIncidentSeverity: "critical",
  reminderInterval: 3600,
};

/** Secrets that a field of `set` requires. */
const requiredSecrets: Partial<Record<keyof typeof newMonitors, object>> = {
  ldap: { password: "secret" },
  docker: { clientKey },
};

describe("each type", () => {
  for (const [type, needed] of Object.entries(newMonitors)) {
    const known = type as keyof typeof newMonitors;
    const isSecret = ([name]: [string, unknown]) => name in monitorKinds[known].secrets;
    const secrets = Object.fromEntries(Object.entries(needed).filter(isSecret));
    const sent = { ...secrets, ...requiredSecrets[known] };
    const shownFields = Object.fromEntries(Object.entries(needed).filter((one) => !isSecret(one)));

    test(`${type}: absent fields get their default`, async () => {
      const { api } = await createDashboard();
      const { status, headers, json } = await api("POST", path, {
        body: { type, name: "Intranet", ...needed },
      });
      expect(status).toBe(201);
      expect(headers.get("location")).toBe(`${path}/${json.data.id}`);
      expect(json.data).toEqual({
        type,
        name: "Intranet",
        ...common,
        ...shownFields,
        ...defaults[known],
        secretsSet: Object.keys(secrets),
      });
      expect((await api("GET", path)).json.data).toEqual([json.data]);
    });

    test(`${type}: every field is returned as sent, after creation and after a change`, async () => {
      const { monitor, readMonitor, changeMonitor } = await createDashboard();
      const fields = { ...setCommon, ...set[known] };
      const result = await monitor({ type, ...sent, ...fields });
      expect(result).toMatchObject({ ...fields, status: "paused" });
      expect(await readMonitor(result.id)).toEqual(result);
      const { id } = await monitor({ type, ...needed });
      const { status, json } = await changeMonitor(id, { ...sent, ...fields });
      expect([status, json.data]).toMatchObject([200, { ...fields, status: "paused" }]);
      expect(await readMonitor(id)).toEqual(json.data);
    });

    test(`${type}: a GET response can be sent back and changes nothing`, async () => {
      const { monitor, changeMonitor } = await createDashboard();
      const result = await monitor({ type, ...sent, ...setCommon, ...set[known] });
      const { status, json } = await changeMonitor(result.id, result);
      expect([status, json.data]).toEqual([200, result]);
      const copy = await monitor({ ...result, ...sent });
      const unique = { id: "", pushUrl: "", pingUrl: "" };
      expect({ ...copy, ...unique }).toEqual({ ...result, ...unique });
      expect(copy.id).not.toBe(result.id);
    });
  }
});

const ok = { source: "status", op: "equals", value: 200 };
const head = { source: "header", path: "A", op: "exists" };
const buildJson = (path: string | null) => ({ source: "json", path, op: "exists" });
const matches = (value: string) => ({ source: "body", op: "matches", value });

const wrong: Record<string, [field: string, ...values: unknown[]][]> = {
  http: [
    ["name", undefined, null, "", " ", "a\tb", "x".repeat(256), 7],
    ["description", null, "x".repeat(2001), "\u0000"],
    ["groupId", "g", 7],
    ["tags", null, "eu", Array.from("abcdefghijk")],
    ["interval", 4, 86_401, 60.5, "60", null],
    ["timeout", 0, 61, null],
    ["retries", -1, 11, null],
    ["confirmations", 0, 10, null],
    ["retryInterval", 0, 86_401],
    ["degradedAfterMs", 0, "1"],
    ["successThreshold", 0, 11, 1.5, null],
    ["inverted", null, "true", 1],
    ["paused", "true", 1, null],
    ["muted", null],
    ["alertChannelIds", null, "all"],
    ["autoIncidentSeverity", "huge", ""],
    ["reminderInterval", 0, "60"],
    ["escalationPolicyId", "default", 7],
    ["priority", null, "high", "urgent"],
    ["url", undefined, null, "", "intranet.lan", "ftp://intranet.lan", "http://a:b@intranet.lan"],
    ["method", "get", "TRACE", null],
    ["headers", null, [], { Host: "a" }, { "a b": "c" }, { A: "1", a: "2" }, { A: "\r\n" }],
    ["body", "x".repeat(64 * 1024 + 1), "\ud800", {}],
    ["basicAuth", "a:b", []],
    ["basicAuth.username", { password: "x" }, { username: "a:b" }, { username: "" }],
    ["basicAuth.password", { username: "a", password: "" }],
    ["bearerToken", "", "a\nb"],
    ["expectedStatus", null, [], Array.from({ length: 21 }, () => "200")],
    ["expectedStatus[0]", ["99"], ["1000"], ["2xx"], ["299-200"], [200]],
    ["keyword", "", "x".repeat(1001)],
    ["keywordAbsent", ""],
    ["jsonPath", "", "$['\ud800']", "status", "$..status", "$.a[?(@.b)]", `$${".a".repeat(250)}`],
    ["jsonEquals", {}, []],
    ["assertions", null, {}, Array.from({ length: 21 }, () => ok)],
    ["assertions[0]", ["status"], [null]],
    ["assertions[0].source", [{ ...ok, source: "cookie" }], [{ op: "equals", value: 200 }]],
    ["assertions[0].op", [{ ...ok, op: "contains" }], [{ ...ok, op: "is" }], [{ source: "body" }]],
    ["assertions[0].value", [{ ...ok, value: "200" }], [{ source: "status", op: "equals" }]],
    ["assertions[0].path", [{ ...ok, path: "$.a" }], [{ ...head, path: "A b" }], [buildJson("a")]],
    ["assertions[1].path", [ok, { source: "header", op: "exists" }], [ok, buildJson(null)]],
    [
      "assertions[1].value",
      [ok, { ...head, value: "x" }],
      [ok, { source: "body", op: "contains", value: "" }],
      [ok, { source: "body", op: "equals", value: 7 }],
      [ok, { source: "body", op: "equals", value: "x".repeat(1001) }],
      [ok, { source: "body", op: "lessThan", value: "7" }],
      [ok, matches("(a")],
      [ok, matches("(?=a)")],
      [ok, matches("(\\w{30}){30}")],
      [ok, matches("a".repeat(501))],
    ],
    ["assertions[0].extra", [{ ...ok, extra: 1 }]],
    ["followRedirects", null, "yes"],
    ["followToPrivate", null, "yes", 1],
    ["verifyTls", 0],
    ["certificateExpiryDays", -1, 1.5, "14"],
    ["host", "intranet.lan"],
    ["grace", 60],
  ],
  tcp: [
    ["host", undefined, null, "", "-v", "a b", "http://a", "a:1", "256.1.1.1"],
    ["port", undefined, null, 0, 65_536, "80"],
    ["send", 7, "x".repeat(4097)],
    ["expect", "\udfff"],
    ["url", "http://intranet.lan"],
  ],
  ping: [
    ["host", undefined, "-f"],
    ["packets", 0, 11, null],
    ["port", 80],
  ],
  dns: [
    ["host", undefined],
    ["recordType", "a", "ANY", null],
    ["resolver", "dns.lan", "1.1.1.1:0", "1.1.1.1:65536", "1.1.1", "::1:53:x"],
    ["resolver", "tls://dns.lan/x", "https://dns.lan/x#y", "https://a:b@dns.lan/", "ftp://dns.lan"],
    ["requireDnssec", null, "yes"],
    ["assertions[0].source", [{ source: "status", op: "equals", value: 1 }]],
    ["expected", null, Array.from({ length: 51 }, () => "x")],
    ["expected[0]", [""], [1]],
  ],
  tls: [
    ["host", undefined],
    ["port", 0, null],
    ["serverName", "", "https://mail.lan"],
    ["certificateExpiryDays", "14"],
  ],
  smtp: [["tls", true, false, null, "ssl"]],
  ssh: [["fingerprint", "", "SHA256:short", "MD5:16:27", `sha256:${"A".repeat(43)}`]],
  mqtt: [
    ["topic", "", "a+", "a/#/b", "#/a", "a\u0000"],
    ["assertions[0].source", [{ source: "latency", op: "lessThan", value: 1 }]],
  ],
  postgres: [
    ["username", undefined, null, ""],
    ["query", "", "x".repeat(4097), null],
    ["assertions[0].source", [{ source: "header", path: "A", op: "exists" }]],
  ],
  websocket: [["url", undefined, "https://shop.lan", "ws://a:b@shop.lan", "wss://"]],
  docker: [
    ["container", undefined, "", "-f", "a b", "label="],
    ["clientCertificate", "x", "-----BEGIN CERTIFICATE-----"],
    ["clientKey", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"],
  ],
  kafka: [
    ["topic", "", "a b"],
    ["mechanism", "gssapi"],
  ],
  snmp: [
    ["oid", "sysUpTime", "1", "3.6.1"],
    ["snmpVersion", 3],
  ],
  domain: [
    ["domain", undefined, "", "example", "10.0.0.9", "https://example.org", "a b.org", "fd00::1"],
    ["minDays", 0, null],
    ["server", "rdap.lan", "ftp://rdap.lan/"],
  ],
  game: [
    ["protocol", "quake", null],
    ["port", undefined, 0],
  ],
  command: [
    ["command", undefined, null, "", "/bin/sh", "../sh", "a/../../sh", "a\nb"],
    ["arguments", null, "-a", Array.from({ length: 51 }, () => "a")],
    ["arguments[0]", [1], ["\0"], ["\ud800"], ["x".repeat(1001)]],
  ],
  browser: [
    ["url", undefined, "file:///etc/passwd", "javascript:alert(1)"],
    ["steps", null, "click a", Array.from({ length: 21 }, () => "click a")],
    ["steps[0]", [""], ["click"], ["press a"], ["fill a"], ["fill a with {{other}}"], ["wait  "]],
  ],
  composite: [
    ["mode", "most", null],
    ["minimum", 0, 101, 1.5],
  ],
  statuspage: [
    ["url", undefined, "file:///etc/passwd", "javascript:alert(1)"],
    ["format", "cachet", null],
    ["components", null, "API", Array.from({ length: 51 }, () => "API")],
    ["components[0]", [""], ["a\nb"], ["x".repeat(256)]],
    ["maintenanceAs", "maintenance", null],
  ],
  manual: [
    ["manualStatus", "paused", null],
    ["manualMessage", "", "a\nb", "x".repeat(201)],
    ["manualUntil", "tomorrow", 5],
  ],
  systemd: [["unit", undefined, "", "-H", "a b", "a/b", "--user"]],
  push: [
    ["grace", -1, 86_401, null],
    ["schedule", "", "60 * * * *", "* * * *", "Mon..Foo 10:00", "0 0 30 2 *", "@never"],
    ["timeZone", null, "+01:00", "Europe/Atlantis"],
    ["maximumRunTime", 0, 604_801],
    ["slug", "", "Backup", "a b", "a".repeat(101)],
    ["successKeywords", null, "done", Array.from({ length: 21 }, () => "done")],
    ["failureKeywords[0]", [""], ["a".repeat(201)]],
    ["host", "intranet.lan"],
  ],
};

describe("invalid values", () => {
  for (const [type, fields] of Object.entries(wrong))
    test(`${type}: each is rejected with its field, on creation and in a patch, and changes nothing`, async () => {
      const appliance = await createDashboard();
      const { api, monitor } = appliance;
      const needed = newMonitors[type as keyof typeof newMonitors];
      const { id } = await monitor({ type, ...needed });
      const before = dumpTables(appliance);
      for (const [field, ...values] of fields)
        for (const value of values) {
          const [name = ""] = field.split(/[.[]/);
          const requests: [method: string, path: string, body: object][] = [
            ["POST", path, { type, name: "Intranet", ...needed, [name]: value }],
            ...(value === undefined
              ? []
              : [["PATCH", `${path}/${id}`, { [name]: value }] as [string, string, object]]),
          ];
          for (const [method, to, body] of requests) {
            const { status, json } = await api(method, to, { body });
            const named = json.error?.details?.[0].path;
            expect([method, field, value, status, named]).toEqual([
              method,
              field,
              value,
              422,
              field,
            ]);
          }
        }
      expect(dumpTables(appliance)).toBe(before);
    });

  test("an unknown or missing type is rejected with the list of types", async () => {
    const { api } = await createDashboard();
    for (const type of ["ftp", undefined, null, "HTTP"]) {
      const { status, json } = await api("POST", path, { body: { type, name: "Intranet" } });
      expect(status).toBe(422);
      expect(json.error.details).toEqual([
        { path: "type", message: `must be one of: ${Object.keys(newMonitors).join(", ")}` },
      ]);
    }
  });

  test("a timeout is at most the interval, and defaults to a short interval", async () => {
    const { api, monitor, changeMonitor } = await createDashboard();
    expect(await monitor({ interval: 5 })).toMatchObject({ interval: 5, timeout: 5 });
    const { id } = await monitor({ interval: 20, timeout: 20 });
    const long = { type: "ping", name: "Router", host: "10.0.0.1", interval: 5, timeout: 6 };
    const refused = [
      await api("POST", path, { body: long }),
      await changeMonitor(id, { timeout: 21 }),
      await changeMonitor(id, { interval: 19 }),
    ];
    for (const { status, json } of refused)
      expect([status, json.error.details[0].path]).toEqual([422, "timeout"]);
    expect((await changeMonitor(id, { interval: 5, timeout: 5 })).status).toBe(200);
  });

  test("the error of an assertion names its field and the valid values", async () => {
    const { api } = await createDashboard();
    const issueOf = async (assertion: object) => {
      const body = { type: "http", name: "Intranet", ...newMonitors.http, assertions: [assertion] };
      return (await api("POST", path, { body })).json.error.message;
    };
    expect(await issueOf({ ...ok, op: "contains" })).toBe(
      "assertions[0].op must be one of: equals, notEquals, lessThan, lessThanOrEqual, greaterThan, greaterThanOrEqual, as the source is status.",
    );
    expect(await issueOf({ ...head, path: undefined })).toBe(
      "assertions[0].path must be the name of a header, such as Content-Type.",
    );
    expect(await issueOf({ ...head, value: true })).toBe(
      "assertions[0].value must be null or left out: exists compares with nothing.",
    );
    for (const op of ["matches", "notMatches"])
      expect([op, await issueOf({ ...matches("(a"), op })]).toEqual([
        op,
        "assertions[0].value must be a regular expression as RE2 has them: missing closing ).",
      ]);
    const wrong = { source: "body", op: "notMatches", value: "(?=a)" };
    const fields = { type: "http", name: "Intranet", ...newMonitors.http };
    const steps = [{ url: "/a", assertions: [wrong] }];
    const { status, json } = await api("POST", path, { body: { ...fields, steps } });
    expect([status, json.error.details[0].path]).toEqual([422, "steps[0].assertions[0].value"]);
  });

  test("a condition on the body of a response without one is rejected at its field, in requests and steps", async () => {
    const { api, monitor, changeMonitor } = await createDashboard();
    const about = "must not be about the body: a response to HEAD has no body. Use GET";
    const json = { source: "json", path: "$.a", op: "exists" };
    const body = { source: "body", op: "notContains", value: "x" };
    const conditions: [path: string, fields: object][] = [
      ["keyword", { keyword: "x" }],
      ["keywordAbsent", { keywordAbsent: "x" }],
      ["jsonPath", { jsonPath: "$.a" }],
      ["assertions[1].source", { assertions: [ok, json] }],
      ["assertions[0].source", { assertions: [body] }],
      ["save[0].source", { save: [{ name: "a", source: "body" }] }],
    ];
    const { id } = await monitor({ type: "http", ...newMonitors.http, method: "HEAD" });
    const whole = { type: "http", name: "Intranet", ...newMonitors.http };
    const numbered = { ...whole, method: "HEAD", number: { name: "Depth" } };
    expect((await api("POST", path, { body: numbered })).json.error.details).toEqual([
      { path: "number", message: "must be null: a response to HEAD has no body. Use GET" },
    ]);
    for (const [at, fields] of conditions) {
      const head = { ...fields, method: "HEAD" };
      const step = { steps: [{ url: "/a", ...head }] };
      for (const [path2, message, sent] of [
        [at, about, () => api("POST", path, { body: { ...whole, ...head } })],
        [at, about, () => changeMonitor(id, fields)],
        [`steps[0].${at}`, about, () => api("POST", path, { body: { ...whole, ...step } })],
        [
          at,
          "must not be about the body: a response with the expected status has no body",
          () =>
            api("POST", path, { body: { ...whole, ...fields, expectedStatus: ["204", "304"] } }),
        ],
        [at, about, () => api("POST", "/dashboard/monitors/try", { body: { ...whole, ...head } })],
      ] as const) {
        const { status, json: answered } = await sent();
        if (status === 403 || status === 401) continue;
        expect([at, status, answered.error?.details?.[0]]).toEqual([
          at,
          422,
          { path: path2, message },
        ]);
      }
    }
    const header = { assertions: [{ ...head, op: "exists" }, ok], save: [] };
    expect((await changeMonitor(id, header)).status).toBe(200);
  });

  test("an empty password is rejected; the error suggests null", async () => {
    const { api } = await createDashboard();
    for (const [path2, fields] of [
      ["basicAuth.password", { basicAuth: { username: "a", password: "" } }],
      [
        "proxyPassword",
        { proxyUrl: "http://proxy.lan:3128", proxyUsername: "a", proxyPassword: "" },
      ],
      [
        "oauth2.clientSecret",
        { oauth2: { tokenUrl: "http://login.lan/", clientId: "a", clientSecret: "" } },
      ],
    ] as const) {
      const body = { type: "http", name: "Intranet", ...newMonitors.http, ...fields };
      const { status, json } = await api("POST", path, { body });
      expect([status, json.error?.details?.[0]]).toEqual([
        422,
        { path: path2, message: "must not be empty: null sends an empty one" },
      ]);
    }
  });

  test("a number that JSON would round is rejected at its field, and accepted as text", async () => {
    const { api } = await createDashboard();
    const value = '{"source":"json","path":"$.id","op":"greaterThan","value":VALUE}';
    const monitor = JSON.stringify({ type: "http", name: "Intranet", ...newMonitors.http });
    const save = (written: string) =>
      api("POST", path, {
        raw: `${monitor.slice(0, -1)},"assertions":[${value.replace("VALUE", written)}]}`,
        headers: { "Content-Type": "application/json" },
      });
    const rounded = await save("9007199254740993");
    expect([rounded.status, rounded.json.error.message]).toEqual([
      422,
      "assertions[0].value has more digits than a number can hold: write it as text, in quotes.",
    ]);
    for (const exact of ["9007199254740992", '"9007199254740993"', "1764175000000000000"])
      expect([exact, (await save(exact)).status]).toEqual([exact, 201]);
    for (const text of ['"many"', '"7"'])
      expect((await save(text)).json.error.message).toBe(
        "assertions[0].value must be a number: greaterThan compares numbers.",
      );
  });

  test("jsonEquals requires jsonPath, which can be used alone", async () => {
    const { monitor, changeMonitor } = await createDashboard();
    const { id } = await monitor({ type: "http", url: "http://intranet.lan" });
    const alone = await changeMonitor(id, { jsonEquals: "up" });
    expect([alone.status, alone.json.error.details[0].path]).toEqual([422, "jsonPath"]);
    expect((await changeMonitor(id, { jsonPath: "$.status" })).status).toBe(200);
    expect((await changeMonitor(id, { jsonEquals: false })).json.data.jsonEquals).toBe(false);
    expect((await changeMonitor(id, { jsonPath: null })).status).toBe(422);
  });
});
