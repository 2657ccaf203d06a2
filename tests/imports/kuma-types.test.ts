import { expect, test } from "bun:test";
import { openBackup } from "../../src/imports/kuma/backup.ts";
import { types } from "../../src/imports/kuma/monitor-types.ts";
import { convertMonitor } from "../../src/imports/kuma/monitors.ts";
import { buildKumaPlan } from "../../src/imports/kuma/plan.ts";
import { runImport } from "../../src/imports/service.ts";
import { NewMonitor } from "../../src/monitoring/monitors/schema.ts";
import { testAppliance } from "../support/appliance.ts";

const installation = { proxies: new Map(), dockerHosts: new Map(), browsers: new Map() };
const at = { hostname: "mail.example", port: 587 };
const plant = { hostname: "broker.example", port: 1883, mqtt_topic: "plant/state" };
const jsonQuery = { mqtt_check_type: "json-query", json_path: "$.on", expected_value: "true" };

/** The imported fields of a row, and the missing ones according to the report. */
const cases: [type: string, row: object, fields: object, missing?: string][] = [
  ["smtp", { ...at, smtp_security: "nostarttls" }, { type: "smtp", port: 587, tls: "none" }],
  ["smtp", { ...at, smtp_security: "starttls" }, { type: "smtp", tls: "starttls" }],
  ["smtp", { ...at, port: null, smtp_security: "secure" }, { type: "smtp", port: 25, tls: "tls" }],
  ["port", { ...at, smtp_security: "starttls" }, { type: "smtp", port: 587, tls: "starttls" }],
  ["port", { ...at, port: 143, smtp_security: "starttls" }, { type: "imap", tls: "starttls" }],
  ["port", { ...at, port: 5222, smtp_security: "starttls" }, { type: "tcp" }, "STARTTLS of XMPP"],
  ["port", { ...at, port: 465, smtp_security: "secure" }, { type: "tls", port: 465 }],
  [
    "mqtt",
    { ...plant, mqtt_success_message: "alive", mqtt_username: "probe", mqtt_password: "secret" },
    {
      type: "mqtt",
      host: "broker.example",
      tls: false,
      topic: "plant/state",
      username: "probe",
      password: "secret",
      waitForMessage: true,
      assertions: [{ source: "body", path: null, op: "contains", value: "alive" }],
    },
  ],
  ["mqtt", { ...plant, hostname: "mqtts://broker.example" }, { host: "broker.example", tls: true }],
  ["mqtt", { ...plant, hostname: "ws://broker.example" }, {}, "MQTT over WebSocket"],
  [
    "mqtt",
    { ...plant, ...jsonQuery },
    { assertions: [{ source: "json", path: "$.on", op: "equals", value: true }] },
  ],
  [
    "mqtt",
    { ...plant, ...jsonQuery, json_path: "$sum(a)" },
    { assertions: [] },
    "the JSONata expression",
  ],
  ["mqtt", { ...plant, conditions: '[{"type":"expression"}]' }, {}, "its conditions"],
  [
    "websocket-upgrade",
    { url: "wss://shop.lan/live", headers: '{"host":"SHOP.lan","Upgrade":"h2c","X-Team":"a"}' },
    { type: "websocket", url: "wss://shop.lan/live", headers: { "X-Team": "a" } },
  ],
  [
    "websocket-upgrade",
    { url: "wss://10.0.0.9/live", headers: '{"Host":"shop.lan"}' },
    { type: "websocket", url: "wss://10.0.0.9/live", headers: {} },
    "the header Host: shop.lan",
  ],
  [
    "websocket-upgrade",
    { url: "wss://shop.lan/live", ws_subprotocol: "soap,mqtt " },
    { headers: { "Sec-WebSocket-Protocol": "soap, mqtt" } },
  ],
  ["postgres", connectBy("postgres://probe@db1.lan,db2.lan:5433/shop"), { host: "db1.lan" }],
  ["http", { url: "https://shop.lan/a b?c d" }, { url: "https://shop.lan/a%20b?c%20d" }],
  [
    "http",
    { url: "https://pro%be:100%@shop.lan/" },
    { url: "https://shop.lan/", basicAuth: { username: "pro%be", password: "100%" } },
  ],
  ["dns", expectRecord("MX", "mail.shop.example"), { expected: ["mail.shop.example"] }],
  ["dns", expectRecord("SOA", "ns1.shop.example"), { expected: ["ns1.shop.example"] }],
  // Uptime Kuma compares only the authority.
  ["dns", expectRecord("CAA", "letsencrypt.org"), { expected: ['0 issue "letsencrypt.org"'] }],
];

function connectBy(database_connection_string: string) {
  return { database_connection_string };
}

function expectRecord(dns_resolve_type: string, value: string) {
  const condition = { type: "expression", variable: "record", operator: "equals", value };
  return {
    hostname: "shop.example",
    dns_resolve_type,
    dns_resolve_server: "192.168.1.1",
    conditions: JSON.stringify([condition]),
  };
}

for (const [type, row, fields, missing = ""] of cases)
  test(`${type} of Uptime Kuma: ${JSON.stringify(row)}`, () => {
    const mapped = types[type]?.(row as Record<string, unknown>, installation);
    const monitor = NewMonitor.parse({ name: "Target", type: mapped?.type, ...mapped?.fields });
    expect(monitor).toMatchObject(fields);
    expect((mapped?.missing ?? []).join()).toStartWith(missing);
    expect((mapped?.missing ?? []).length > 0).toBe(missing !== "");
  });

test("a MongoDB address with several servers uses the first, and one of DNS is paused", () => {
  const convert = (address: string) => types["mongodb"]?.(connectBy(address), installation);
  expect(
    convert("mongodb://probe:a%40b@db1.lan:27018,db2.lan:27019/shop?authSource=x&tls=true"),
  ).toMatchObject({
    fields: { host: "db1.lan", port: 27018, password: "a@b", authDatabase: "x", tls: true },
    notes: ["Checks only the first server. Create separate monitors for: db2.lan:27019."],
    missing: [],
  });
  expect(convert("mongodb+srv://probe@cluster.example/shop")?.missing).toEqual([
    expect.stringContaining("the servers of its mongodb+srv address"),
  ]);
});

test.each([
  ["a day and an hour", { interval: 90_000 }, { interval: 86_400, grace: 3_600 }],
  [
    "25 hours and 36 minutes of retries",
    { interval: 90_000, maxretries: 6, retry_interval: 360 },
    { interval: 86_400, grace: 5_760 },
  ],
  ["a minute", { interval: 60 }, { interval: 60, grace: 5 }],
] as const)("a job that may be silent for %s is not overdue earlier", (_, row, fields) => {
  const monitor = convertMonitor({ type: "push", name: "Backup", ...row }, installation);
  expect(monitor.fields).toMatchObject({ ...fields, paused: false });
  expect(monitor.notes.join()).not.toContain("instead of");
});

test("a job that may be silent for a week is paused, because the longest silence is two days", () => {
  const row = { type: "push", name: "Backup", interval: 604_800 };
  const { fields, notes, isIncomplete } = convertMonitor(row, installation);
  expect([fields["paused"], isIncomplete]).toEqual([true, true]);
  expect(notes.join()).toContain("it lacks a silence of 7 d");
});

test.each([
  ["http://proxy.lan:80", 80],
  ["tcp://proxy.lan", 80],
  ["https://proxy.lan", 443],
  ["tcp://proxy.lan:2375", 2375],
])("Docker at %s is reached at port %i, as Uptime Kuma does", (docker_daemon, port) => {
  const daemon = { docker_daemon, docker_type: "tcp" };
  const hosts = { ...installation, dockerHosts: new Map([[1, daemon]]) };
  expect(
    types["docker"]?.({ docker_host: 1, docker_container: "web" }, hosts).fields,
  ).toMatchObject({
    host: "proxy.lan",
    port,
  });
});

test("a notification that a backup marks as unused is not attached", () => {
  const { rows } = openBackup(
    JSON.stringify({
      notificationList: [],
      monitorList: [{ id: 1, name: "Shop", notificationIDList: { 1: true, 2: false } }],
    }),
    "backup.json",
  );
  expect(rows.monitor_notification).toEqual([{ monitor_id: 1, notification_id: 1 }]);
});

test("two jobs with the same token are both imported, the second with a new one", async () => {
  const { ours } = await testAppliance();
  const job = { type: "push", active: true, pushToken: "one-token-of-two-jobs-in-kuma-123" };
  const backup = {
    notificationList: [],
    monitorList: [1, 2].map((id) => ({ ...job, id, name: `Job ${id}` })),
  };
  const plan = buildKumaPlan(openBackup(JSON.stringify(backup), "backup.json"), 0);
  const { report } = await runImport(ours.scope, plan, null, { keepResults: 14, keepHours: 400 });
  expect(report.items.map(({ decision }) => decision)).toEqual(["created", "created"]);
  expect(report.items[1]?.notes.join()).toContain("it has a new one");
});
