import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gatusPlan } from "../../src/imports/gatus/plan.ts";
import { runImport } from "../../src/imports/service.ts";
import { testAppliance } from "../support/appliance.ts";
import { scratch } from "../support/scratch.ts";

const newDirectory = scratch();

const config = `
alerting:
  slack:
    webhook-url: "\${SLACK_URL}"
    default-alert: { failure-threshold: 5, success-threshold: 3 }
  matrix: { server-url: https://matrix.example }
x-defaults: &defaults
  interval: 2m
  client: { timeout: 5s }
endpoints:
  - <<: *defaults
    name: shop
    group: core
    url: "https://shop.example/health"
    headers: { X-Price: "$$5" }
    conditions:
      - "[STATUS] == any(200, 204)"
      - "[BODY].status == UP"
      - "[BODY].queue < 100"
      - "has([BODY].error) == false"
      - "[RESPONSE_TIME] < 500"
      - "[CERTIFICATE_EXPIRATION] > 48h"
    alerts: [{ type: slack, minimum-reminder-interval: 10m }]
  - name: database
    group: core
    url: tcp://db.example:5432
    conditions: ["[CONNECTED] == true"]
  - name: gateway
    url: icmp://192.0.2.1
    enabled: false
    conditions: ["[CONNECTED] == true"]
  - name: zone
    url: "9.9.9.9"
    dns: { query-name: example.org, query-type: A }
    conditions: ["[DNS_RCODE] == NOERROR", "[BODY] == 93.184.216.34"]
  - name: chat
    url: wss://chat.example/socket
    conditions: ["[CONNECTED] == true"]
  - name: orders
    url: http://orders.example/
    client:
      proxy-url: socks5://probe:pass%20word@proxy.example:1080
      oauth2:
        token-url: https://login.example/token
        client-id: probe
        client-secret: "\${BACKUP_TOKEN}"
        scopes: ["read", "write"]
    conditions: ["[STATUS] == 200"]
  - name: jump
    url: ssh://jump.example:2222
    conditions: ["[CONNECTED] == true", "[STATUS] == 0"]
  - name: deploy
    url: ssh://deploy.example
    ssh: { username: probe, password: secret }
    conditions: ["[STATUS] == 0"]
  - name: mail
    url: starttls://mail.example:587
    client: { insecure: true }
    conditions: ["[CONNECTED] == true", "[CERTIFICATE_EXPIRATION] > 72h"]
  - name: length
    url: http://list.example/
    conditions: ["len([BODY].items) > 3"]
  - name: domain
    url: https://acme.example
    conditions: ["[DOMAIN_EXPIRATION] > 720h"]
  - name: domain-too
    url: https://acme.example
    conditions: ["[STATUS] == 200", "[DOMAIN_EXPIRATION] > 720h"]
external-endpoints:
  - name: backup
    token: "\${BACKUP_TOKEN}"
    heartbeat: { interval: 24h }
`;

const variables = {
  SLACK_URL: "https://hooks.slack.com/services/T/B/x",
  BACKUP_TOKEN: "backup-token-of-gatus",
};

describe("Gatus' configuration", () => {
  test("becomes monitors, channels and groups; what has no equal is paused or named", async () => {
    const { ours } = await testAppliance();
    const file = join(newDirectory(), "config.yaml");
    writeFileSync(file, config);
    const plan = await gatusPlan(file, variables);
    const options = { keepResults: 14, keepHours: 400 };
    const { report } = await runImport(ours.scope, plan, null, options);
    const all = (await ours.api("GET", "/api/v1/monitors")).json.data;
    const named = (name: string) => all.find((one: { name: string }) => one.name === name);
    expect(named("shop")).toMatchObject({
      type: "http",
      interval: 120,
      timeout: 5,
      retries: 4,
      successThreshold: 3,
      reminderInterval: 600,
      expectedStatus: ["200", "204"],
      certificateExpiryDays: 2,
      paused: false,
      headers: { "X-Price": null },
      assertions: [
        { source: "json", path: "$.status", op: "equals", value: "UP" },
        { source: "json", path: "$.queue", op: "lessThan", value: 100 },
        { source: "json", path: "$.error", op: "notExists", value: null },
        { source: "latency", path: null, op: "lessThan", value: 500 },
      ],
    });
    expect(named("shop").alertChannelIds).toHaveLength(1);
    expect(named("shop").groupId).toBe(named("database").groupId);
    expect(named("orders")).toMatchObject({
      paused: false,
      oauth2: { tokenUrl: "https://login.example/token", clientId: "probe", scope: "read write" },
      proxyUrl: "socks5://proxy.example:1080",
      proxyUsername: "probe",
      secretsSet: ["oauth2.clientSecret", "proxyPassword"],
    });
    expect(named("database")).toMatchObject({ type: "tcp", host: "db.example", port: 5432 });
    expect(named("gateway")).toMatchObject({ type: "ping", paused: true });
    expect(named("zone")).toMatchObject({
      type: "dns",
      resolver: "9.9.9.9",
      expected: ["93.184.216.34"],
    });
    expect(named("chat")).toMatchObject({ paused: true });
    expect(named("domain")).toMatchObject({
      type: "domain",
      domain: "acme.example",
      minDays: 30,
      paused: false,
    });
    expect(named("domain-too")).toMatchObject({ type: "http", paused: false });
    expect(report.items.find(({ name }) => name === "domain-too")?.notes.join()).toContain(
      "make one of the type domain",
    );
    expect(named("jump")).toMatchObject({ type: "ssh", port: 2222, paused: false });
    expect(named("deploy")).toMatchObject({ type: "ssh", port: 22, paused: true });
    expect(named("mail")).toMatchObject({
      type: "smtp",
      port: 587,
      tls: "starttls",
      verifyTls: false,
      certificateExpiryDays: 3,
      paused: false,
    });
    expect(named("length")).toMatchObject({ type: "http", paused: true });
    expect(named("backup")).toMatchObject({ type: "push", interval: 86_400 });
    expect(named("backup").pushUrl).toEndWith("/push/backup-token-of-gatus");
    expect(
      report.items.filter(({ decision }) => decision === "not-taken").map(({ name }) => name),
    ).toEqual(["matrix"]);
    expect(report.items.filter(({ isIncomplete }) => isIncomplete).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["chat", "deploy", "length"]),
    );
    const again = await runImport(ours.scope, await gatusPlan(file, variables), null, options);
    expect(new Set(again.report.items.map(({ decision }) => decision))).toEqual(
      new Set(["unchanged", "not-taken"]),
    );
  });

  test("is merged from the files of a folder", async () => {
    const folder = newDirectory();
    mkdirSync(join(folder, "more.yaml.d"));
    writeFileSync(join(folder, "a.yaml"), "endpoints: [{ name: one, url: 'http://one.example' }]");
    writeFileSync(join(folder, "b.yml"), "endpoints: [{ name: two, url: 'http://two.example' }]");
    const { records } = await gatusPlan(folder, {});
    expect(records.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  const hostile: [what: string, yaml: string, why: RegExp][] = [
    ["no YAML", "endpoints: [", /is not YAML/],
    ["nothing of Gatus", "services: {}", /names no endpoints/],
    ["a list", "- 1", /not a configuration of Gatus/],
    [
      "a bomb of aliases",
      `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(",")}]`).join("\n")}\nendpoints: *a9\n`,
      /Excessive aliasing|holds too much/,
    ],
    ["brackets without end", `endpoints: ${"[".repeat(100_000)}`, /nested too deep/],
    ["dashes without end", `endpoints:\n  ${"- ".repeat(100_000)}x`, /nested too deep/],
  ];
  for (const [what, yaml, why] of hostile)
    test(`with ${what} is refused`, async () => {
      const file = join(newDirectory(), "config.yaml");
      writeFileSync(file, yaml);
      expect(gatusPlan(file, {})).rejects.toThrow(why);
      await gatusPlan(file, {}).catch(() => {});
    });
});
