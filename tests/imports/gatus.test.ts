/** Importing Gatus: folders, alerts, endpoints, maintenance and variables. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importBounds, noLimits } from "../../src/core/limits.ts";
import { readConfiguration } from "../../src/imports/gatus/documents.ts";
import { GatusPlan, buildGatusPlan } from "../../src/imports/gatus/plan.ts";
import type { Noun } from "../../src/imports/rules.ts";
import { runImport } from "../../src/imports/service.ts";
import { testAppliance } from "../support/appliance.ts";
import { createWatch } from "../support/check-board.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

const config = `
alerting:
  slack:
    webhook-url: "\${SLACK_URL}"
    default-alert: { failure-threshold: 5, success-threshold: 3 }
  zapier: { webhook-url: https://zapier.example }
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
  test("becomes monitors, channels and groups; unsupported parts are paused or reported", async () => {
    const { ours, database } = await testAppliance();
    const file = join(newDirectory(), "config.yaml");
    writeFileSync(file, config);
    const plan = await buildGatusPlan(file, variables);
    const options = { keepResults: 14, keepHours: 400 };
    const { report } = await runImport(ours.scope, plan, null, options);
    const all = (await ours.api("GET", "/api/v1/monitors")).json.data;
    const findByName = (name: string) => all.find((one: { name: string }) => one.name === name);
    expect(findByName("shop")).toMatchObject({
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
    expect(findByName("shop").alertChannelIds).toHaveLength(1);
    expect(findByName("shop").groupId).toBe(findByName("database").groupId);
    expect(findByName("orders")).toMatchObject({
      paused: false,
      oauth2: { tokenUrl: "https://login.example/token", clientId: "probe", scope: "read write" },
      proxyUrl: "socks5://proxy.example:1080",
      proxyUsername: "probe",
      secretsSet: ["oauth2.clientSecret", "proxyPassword"],
    });
    expect(findByName("database")).toMatchObject({ type: "tcp", host: "db.example", port: 5432 });
    expect(findByName("gateway")).toMatchObject({ type: "ping", paused: true });
    expect(findByName("zone")).toMatchObject({
      type: "dns",
      resolver: "9.9.9.9",
      expected: ["93.184.216.34"],
    });
    expect(findByName("chat")).toMatchObject({ type: "websocket", paused: false });
    expect(findByName("domain")).toMatchObject({
      type: "domain",
      domain: "acme.example",
      minDays: 30,
      paused: false,
    });
    expect(findByName("domain-too")).toMatchObject({ type: "http", paused: false });
    expect(findByName("domain-too: domain")).toMatchObject({ type: "domain", minDays: 30 });
    expect(report.items.find(({ name }) => name === "domain-too")?.notes.join()).toContain(
      "“domain-too: domain” checks when its domain expires",
    );
    expect(findByName("jump")).toMatchObject({ type: "ssh", port: 2222, paused: false });
    expect(findByName("deploy")).toMatchObject({ type: "ssh", port: 22, paused: true });
    expect(findByName("mail")).toMatchObject({
      type: "smtp",
      port: 587,
      tls: "starttls",
      verifyTls: false,
      certificateExpiryDays: 3,
      paused: false,
    });
    expect(findByName("length")).toMatchObject({
      paused: false,
      assertions: [{ path: "$.items.length()", op: "greaterThan", value: 3 }],
    });
    expect(findByName("backup")).toMatchObject({ type: "push", interval: 86_400 });
    expect(findByName("backup").pushUrl).toEndWith("/push/backup-token-of-gatus");
    expect(
      report.items.filter(({ decision }) => decision === "not-taken").map(({ name }) => name),
    ).toEqual(["zapier"]);
    expect(report.items.filter(({ isIncomplete }) => isIncomplete).map(({ name }) => name)).toEqual(
      ["deploy"],
    );
    const again = await runImport(ours.scope, await buildGatusPlan(file, variables), null, options);
    expect(new Set(again.report.items.map(({ decision }) => decision))).toEqual(
      new Set(["unchanged", "not-taken"]),
    );

    // A later change in the source is in the audit log, with the previous values and without secrets.
    writeFileSync(file, config.replace("interval: 2m", "interval: 3m"));
    const shop = findByName("shop").id;
    await ours.api("PATCH", `/api/v1/monitors/${shop}`, { body: { interval: 90 } });
    const secrets = { ...variables, SLACK_URL: "https://hooks.slack.com/services/other" };
    await runImport(ours.scope, await buildGatusPlan(file, secrets), null, options);
    const logged = database
      .query(
        `SELECT fields, changes ->> '$[0].before', changes ->> '$[0].after' FROM audit_entries
         WHERE action LIKE '%.updated' ORDER BY seq DESC LIMIT 3`,
      )
      .values();
    expect(logged).toEqual([
      ['["interval","retryInterval"]', 90, 180],
      ['["webhookUrl"]', null, null],
      ['["interval"]', 120, 90],
    ]);
  });

  test("is merged from the files of a folder", async () => {
    const folder = newDirectory();
    mkdirSync(join(folder, "more.yaml.d"));
    writeFileSync(join(folder, "a.yaml"), "endpoints: [{ name: one, url: 'http://one.example' }]");
    writeFileSync(join(folder, "b.yml"), "endpoints: [{ name: two, url: 'http://two.example' }]");
    const { records } = await buildGatusPlan(folder, {});
    expect(records.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  const hostile: [what: string, yaml: string, why: RegExp][] = [
    ["invalid YAML", "endpoints: [", /is not YAML/],
    ["nothing of Gatus", "services: {}", /names no endpoints/],
    ["a list", "- 1", /not a configuration of Gatus/],
    [
      "a bomb of aliases",
      `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(",")}]`).join("\n")}\nendpoints: *a9\n`,
      /Excessive aliasing|holds too much|expand to too many/,
    ],
    ["endless brackets", `endpoints: ${"[".repeat(100_000)}`, /nested too deep/],
    ["endless dashes", `endpoints:\n  ${"- ".repeat(100_000)}x`, /nested too deep/],
  ];
  for (const [what, yaml, why] of hostile)
    test(`with ${what} is rejected`, async () => {
      const file = join(newDirectory(), "config.yaml");
      writeFileSync(file, yaml);
      expect(buildGatusPlan(file, {})).rejects.toThrow(why);
      await buildGatusPlan(file, {}).catch(() => {});
    });
});

/** The configuration of a company, in files of a folder and its subfolders. */
const company = join(import.meta.dir, "..", "fixtures", "gatus", "folder");
const now = Date.UTC(2026, 10, 25, 12);

function writeFile(yaml: string | Uint8Array, name = "config.yaml"): string {
  const file = join(newDirectory(), name);
  writeFileSync(file, yaml);
  return file;
}

const buildPlan = (yaml: string, variables: Record<string, string> = {}) =>
  buildGatusPlan(writeFile(yaml), variables, { now });

async function importRecord(yaml: string, noun: Noun, name: string) {
  const { records } = await buildPlan(yaml);
  const record = records.find((one) => one.noun === noun && one.name === name);
  if (record === undefined) throw new Error(`There is no ${noun} ${name}.`);
  return record;
}

describe("A folder of Gatus", () => {
  test("is imported completely, including nested folders", async () => {
    const { ours } = await testAppliance();
    const plan = await buildGatusPlan(company, { DOMAIN: "acme.example" }, { now });
    const options = { keepResults: 14, keepHours: 400 };
    const { report } = await runImport(ours.scope, plan, null, options);
    const list = async (path: string) => (await ours.api("GET", `/api/v1/${path}`)).json.data;
    const channels = await list("alert-channels");
    const monitors = await list("monitors");
    const listChannelNames = (name: string) =>
      monitors
        .find((one: { name: string }) => one.name === name)
        .alertChannelIds.map(
          (id: string) => channels.find((one: { id: string }) => one.id === id).name,
        )
        .sort();
    expect(listChannelNames("orders")).toEqual(["Gatus pagerduty", "Gatus slack (databases)"]);
    expect(listChannelNames("checkout")).toEqual([
      "Gatus email (checkout)",
      "Gatus slack (payments)",
    ]);
    expect(listChannelNames("nightly")).toEqual(["Gatus slack (payments)"]);
    const [windows, pages, incidents] = await Promise.all(
      ["maintenance-windows", "status-pages", "incidents"].map(list),
    );
    expect(windows).toHaveLength(2);
    expect(pages.find((one: { slug: string }) => one.slug === "gatus")).toMatchObject({
      title: "Acme",
      theme: "light",
      visibility: "hidden",
      description: "[Support](https://support.acme.example)",
    });
    expect(incidents).toHaveLength(2);
    const { json } = await ours.api("GET", "/api/v1/settings");
    expect(json.data.smtp).toMatchObject({
      host: "mail.acme.example",
      port: 587,
      user: "gatus",
      tls: "starttls",
    });
    expect(
      report.items.filter(({ decision }) => decision === "not-taken").map(({ name }) => name),
    ).toEqual(["storage", "web", "metrics", "security"]);
    const again = await buildGatusPlan(
      company,
      { DOMAIN: "acme.example" },
      { now: now + 86_400_000 },
    );
    const repeated = await runImport(ours.scope, again, null, options);
    expect(new Set(repeated.report.items.map(({ decision }) => decision))).toEqual(
      new Set(["unchanged", "not-taken"]),
    );
  });

  test("is read in lexical order; linked folders and paths with .. are not", async () => {
    const folder = newDirectory();
    const buildDocument = (name: string) =>
      `endpoints: [{name: ${name}, url: 'http://${name}.example'}]`;
    for (const [path, name] of [
      ["b.yaml", "b"],
      ["a/z.yml", "az"],
      ["..data/hidden.yaml", "hidden"],
      ["notes.txt", "notes"],
    ] as const) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), buildDocument(name));
    }
    symlinkSync(join(folder, "..data", "hidden.yaml"), join(folder, "c.yaml"));
    symlinkSync(folder, join(folder, "loop"));
    const { records } = await buildGatusPlan(folder, {});
    expect(records.map(({ name }) => name)).toEqual(["az", "b", "hidden"]);
  });

  test("can't have a value in two of its files", async () => {
    const folder = newDirectory();
    writeFileSync(join(folder, "a.yaml"), "web: {port: 1}\nendpoints: []");
    writeFileSync(join(folder, "b.yaml"), "web: {port: 2}");
    expect(buildGatusPlan(folder, {})).rejects.toThrow(
      /^b.yaml can't be imported: another file has web.port too/,
    );
    await buildGatusPlan(folder, {}).catch(() => {});
  });
});

describe("Alerts of Gatus", () => {
  const readOrders = async () => {
    const { records } = await buildGatusPlan(company, { DOMAIN: "acme.example" }, { now });
    return (name: string) => {
      const found = records.find((one) => one.name === name);
      if (found === undefined) throw new Error(`There is no ${name}.`);
      return found;
    };
  };

  test("with several thresholds use the lowest, and the report names the others", async () => {
    const { fields, notes } = (await readOrders())("orders");
    expect(fields).toMatchObject({ retries: 1, successThreshold: 1 });
    expect(notes).toContain(
      "All channels are alerted after 2 failures in a row; Gatus waits for more: pagerduty 20.",
    );
    expect(notes).toContain(
      "Up again after 1 success in a row for all channels; Gatus waits for more: pagerduty 15.",
    );
  });

  test("report limits: thresholds, timeouts and reminders", async () => {
    const { fields, notes } = await importRecord(
      `alerting: {pagerduty: {integration-key: 0123456789abcdef0123456789abcdef}}
endpoints:
  - name: shop
    url: https://shop.example
    client: {timeout: 90s}
    conditions: ["[STATUS] == 200"]
    alerts: [{type: pagerduty, failure-threshold: 20, success-threshold: 15, minimum-reminder-interval: 30s}]`,
      "monitor",
      "shop",
    );
    expect(fields).toMatchObject({
      retries: 10,
      successThreshold: 10,
      timeout: 60,
      reminderInterval: 60,
    });
    expect(notes).toEqual(
      expect.arrayContaining([
        "Times out after 60 s instead of 90 s.",
        "Down after 11 failures in a row instead of 20.",
        "Up again after 10 successes in a row instead of 15.",
        "Reminds every 60 s instead of 30 s.",
      ]),
    );
  });

  test("add their descriptions to the monitor, where alerts show them", async () => {
    const record = await readOrders();
    expect(record("orders").fields["description"]).toBe(
      "slack: health check failed\n\npagerduty: Call the data team.",
    );
    expect(record("nightly").fields["description"]).toBe("health check failed");
  });

  test("that are disabled, individually or by default, are not attached", async () => {
    const { notes, links } = (await readOrders())("checkout");
    expect(links["alertChannelIds"]?.filter((id) => id.startsWith("telegram"))).toEqual([]);
    expect(notes).toContain("Without the alert by telegram, which is switched off.");
    expect(notes).toContain("Without the alert by slack, which is switched off.");
    expect(notes).toContain("No alerts by discord: the configuration has no such provider.");
  });

  test("with equal overrides share a channel, and each other override has one", async () => {
    const buildAlert = (url: string) =>
      `alerts: [{type: slack, provider-override: {webhook-url: "${url}"}}]`;
    const { records } = await buildPlan(`
alerting: {slack: {webhook-url: "https://hooks.example/all"}}
endpoints:
  - {name: one, url: "http://one.example", ${buildAlert("https://hooks.example/a")}}
  - {name: two, url: "http://two.example", ${buildAlert("https://hooks.example/a")}}
  - {name: three, url: "http://three.example", ${buildAlert("https://hooks.example/b")}}
  - {name: four, url: "http://four.example", alerts: [{type: slack}]}`);
    const urlOf = (name: string) => {
      const [id] = records.find((one) => one.name === name)?.links["alertChannelIds"] ?? [];
      return records.find((one) => one.noun === "alert-channel" && one.externalId === id)?.fields[
        "webhookUrl"
      ];
    };
    expect(["one", "two", "three", "four"].map(urlOf)).toEqual([
      "https://hooks.example/a",
      "https://hooks.example/a",
      "https://hooks.example/b",
      "https://hooks.example/all",
    ]);
    expect(records.filter(({ noun }) => noun === "alert-channel")).toHaveLength(3);
  });

  test("of type custom become a webhook with the same method, body and placeholders", async () => {
    const { fields, notes, isIncomplete } = (await readOrders())("Gatus custom");
    expect(fields).toMatchObject({ type: "webhook", method: "POST" });
    expect(JSON.stringify(fields)).toContain("{{state}}");
    expect(JSON.stringify(fields)).not.toMatch(/\[[A-Z_]+\]/);
    // Its URL would end with TRIGGERED instead of /fail.
    expect([isIncomplete, fields["enabled"]]).toEqual([true, false]);
    expect(notes.join()).toContain("placeholders.ALERT_TRIGGERED_OR_RESOLVED");
  });

  const customOf = (placeholders: string, url = "https://hook.example/") =>
    importRecord(
      `alerting:
  custom:
    url: "${url}"
    method: POST
    body: '{"endsAt": "[ALERT_TRIGGERED_OR_RESOLVED]"}'
    placeholders: {ALERT_TRIGGERED_OR_RESOLVED: ${placeholders}}
endpoints: []`,
      "alert-channel",
      "Gatus custom",
    );

  test("of type custom have the words of Gatus for an outage and its end", async () => {
    const { fields, notes, isIncomplete } = await customOf(
      '{TRIGGERED: "2099-12-31", RESOLVED: ok}',
    );
    expect([fields["body"], isIncomplete]).toEqual([
      '{"endsAt": "{{state|2099-12-31|ok}}"}',
      false,
    ]);
    expect(notes.join()).not.toContain("placeholders");
    const onlyOne = await customOf(
      "{TRIGGERED: down}",
      "https://hook.example/[ALERT_TRIGGERED_OR_RESOLVED]",
    );
    expect(onlyOne.fields["url"]).toBe("https://hook.example/{{state|down|RESOLVED}}");
    const quoted = await customOf(`{TRIGGERED: 'say "down"'}`);
    expect([quoted.fields["enabled"], quoted.isIncomplete]).toEqual([false, true]);
    expect(quoted.notes.join()).toContain("placeholders.ALERT_TRIGGERED_OR_RESOLVED.TRIGGERED");
  });

  test("of type custom replace each placeholder that Gatus fills in", async () => {
    const { fields, isIncomplete } = await importRecord(
      `alerting: {custom: {url: "https://hook.example/", method: POST, body: '{"why": "[RESULT_ERRORS] [RESULT_CONDITIONS]"}'}}
endpoints: []`,
      "alert-channel",
      "Gatus custom",
    );
    expect(isIncomplete).toBe(false);
    expect(fields["body"]).toBe('{"why": "{{message}} {{message}}"}');
  });

  test("preserve numbers as written: a chat, a topic and a password", async () => {
    const record = await readOrders();
    expect(record("Gatus telegram").fields).toMatchObject({
      chatId: "-1001234567890123456",
      topic: 42,
    });
    const { smtp } = await buildGatusPlan(company, {}, { now });
    expect(smtp).toMatchObject({ password: "0123" });
  });

  test("with an empty variable report the missing key", async () => {
    const { notTaken } = await buildPlan(
      "alerting: {email: {host: mail.example, from: a@b.example, to: ${TO}}}\nendpoints: []",
    );
    expect(notTaken.find(({ noun }) => noun === "alert-channel")?.notes.join()).toContain(
      "to is not set",
    );
  });

  test("without an address report the missing key", async () => {
    const { notTaken } = await buildPlan(
      `alerting: {slack: {webhook-url: "\${HOOK}"}}\nendpoints: [{name: a, url: "http://a.example", alerts: [{type: slack}]}]`,
    );
    expect(notTaken[0]?.notes).toEqual(["Not imported: webhook-url is not set."]);
    const matrix = await buildPlan(
      `alerting: {matrix: {access-token: "\${TOKEN}", internal-room-id: "!a:matrix.org"}}\nendpoints: [{name: a, url: "http://a.example"}]`,
    );
    expect(matrix.notTaken[0]?.notes).toEqual([
      "Not imported: its field accessToken can't be imported (must not be empty).",
    ]);
  });
});

describe("Gatus' booleans, as its YAML reads them, disable an endpoint:", () => {
  for (const word of [
    "no",
    "No",
    "NO",
    "off",
    "Off",
    "OFF",
    "n",
    "N",
    "false",
    "False",
    "FALSE",
    '"no"',
  ])
    test(word, async () => {
      const yaml = `endpoints: [{name: a, url: "http://a.example", enabled: ${word}}]`;
      expect((await importRecord(yaml, "monitor", "a")).fields["paused"]).toBe(true);
    });
  for (const word of ["yes", "on", "y", "true", "~", "maybe"])
    test(`but not ${word}`, async () => {
      const yaml = `endpoints: [{name: a, url: "http://a.example", enabled: ${word}}]`;
      const { fields, notes } = await importRecord(yaml, "monitor", "a");
      expect(fields["paused"]).toBe(false);
      expect(notes.some((note) => note.startsWith("enabled is not yes or no"))).toBe(
        word === "maybe",
      );
    });
});

describe("An endpoint of Gatus", () => {
  const convertEndpoint = (fields: string) =>
    importRecord(
      `endpoints: [{name: a, url: "https://a.example/x", conditions: ["[STATUS] == 200"], ${fields}}]`,
      "monitor",
      "a",
    );

  test("with a user in its URL signs in", async () => {
    const yaml = `endpoints: [{name: a, url: "https://ann:p%40ss@a.example/x"}]`;
    const { fields, isIncomplete } = await importRecord(yaml, "monitor", "a");
    expect(isIncomplete).toBe(false);
    expect(fields).toMatchObject({
      url: "https://a.example/x",
      basicAuth: { username: "ann", password: "p@ss" },
    });
  });

  test("with its own host in the Host header needs none, with another one connects to its address", async () => {
    const converted = await convertEndpoint("headers: {Host: a.example, X-Team: core}");
    expect(converted).toMatchObject({
      isIncomplete: false,
      fields: {
        type: "http",
        url: "https://a.example/x",
        headers: { "X-Team": "core" },
        paused: false,
      },
    });
    const other = await convertEndpoint("headers: {Host: b.example}");
    expect(other).toMatchObject({
      isIncomplete: false,
      fields: { url: "https://b.example/x", connectTo: "a.example", headers: {}, paused: false },
    });
    expect(other.notes).toContain("Connects to a.example and requests b.example, also in TLS.");
  });

  test("preserves its type and URL if a field can't be imported", async () => {
    const { fields, notes, isIncomplete } = await convertEndpoint("method: PURGE");
    expect(isIncomplete).toBe(true);
    expect(fields).toMatchObject({ type: "http", url: "https://a.example/x", paused: true });
    expect(notes[0]).toStartWith("Paused: it lacks method, which");
  });

  test("resolves names here instead of with its own resolver, and reports it", async () => {
    const { fields, notes, isIncomplete } = await convertEndpoint(
      `client: {dns-resolver: "tcp://1.1.1.1:53"}`,
    );
    expect({ isIncomplete, paused: fields["paused"] }).toEqual({
      isIncomplete: false,
      paused: false,
    });
    expect(notes.join()).toContain(
      "client.dns-resolver: this machine resolves names, not tcp://1.1.1.1:53",
    );
  });

  test("has its client certificate if its files are on this machine, but not in an upload", async () => {
    const files = writeSelfSigned(newDirectory(), "client", "DNS:client.example");
    const [certificate, key] = [files.cert, files.key].map((path) => readFileSync(path, "utf8"));
    const yaml = `endpoints: [{name: a, url: "https://a.example", client: {tls: {certificate-file: cert.pem, private-key-file: key.pem}}}]`;
    const file = writeFile(yaml);
    const missing = await buildGatusPlan(file, {});
    expect(missing.records[0]).toMatchObject({
      isIncomplete: true,
      fields: { type: "http", paused: true },
    });
    expect(missing.records[0]?.notes[0]).toContain("cert.pem and key.pem can't be read here");
    writeFileSync(join(dirname(file), "cert.pem"), certificate ?? "");
    writeFileSync(join(dirname(file), "key.pem"), key ?? "");
    const found = await buildGatusPlan(file, {});
    expect(found.records[0]).toMatchObject({
      isIncomplete: false,
      fields: { clientCertificate: certificate, clientKey: key, paused: false },
    });
    const upload = await buildGatusPlan(file, {}, { readsNamedFiles: false });
    expect(upload.records[0]).toMatchObject({ isIncomplete: true });
    expect(JSON.stringify(upload)).not.toContain("PRIVATE KEY");
  });

  test("that signs in with Kerberos is paused, with the reason", async () => {
    const { fields, notes, isIncomplete } = await convertEndpoint(
      `client: {kerberos: {principal: probe@EXAMPLE.ORG, keytab-file: /etc/probe.keytab}}`,
    );
    expect({ isIncomplete, type: fields["type"], paused: fields["paused"] }).toEqual({
      isIncomplete: true,
      type: "http",
      paused: true,
    });
    expect(notes).toEqual(["Paused: it lacks client.kerberos: signing in with Kerberos."]);
  });

  for (const scheme of ["https", "tcp", "wss"])
    for (const placeholder of ["[RANDOM_STRING_8]", "[LOCAL_ADDRESS]"])
      test(`of ${scheme} that sends ${placeholder} is paused, with the reason`, async () => {
        const yaml = `endpoints: [{name: a, url: "${scheme}://a.example:7", conditions: ["[CONNECTED] == true"], body: "EHLO ${placeholder}"}]`;
        const { isIncomplete, notes } = await importRecord(yaml, "monitor", "a");
        expect({ isIncomplete, reason: notes[0] }).toEqual({
          isIncomplete: true,
          reason: `Paused: it lacks ${placeholder} in the body.`,
        });
      });

  test("with an unset variable says in plain words what is empty", async () => {
    const yaml = `endpoints: [{name: a, url: "192.0.2.1", dns: {query-name: example.org, query-type: A}, conditions: ["[BODY] == \${ADDRESS}"]}]`;
    const { notes } = await importRecord(yaml, "monitor", "a");
    expect(notes[0]).toBe("Paused: it lacks expected.0, which must not be empty.");
  });

  test("without a unit in its interval is checked every minute, with the reason", async () => {
    const { fields, notes } = await convertEndpoint("interval: 30");
    expect(fields["interval"]).toBe(60);
    expect(notes).toContain("interval 30 has no unit, such as s or m: the default is used.");
  });

  test("has its labels as tags", async () => {
    const { records } = await buildGatusPlan(company, {}, { now });
    expect(records.find(({ name }) => name === "orders")?.fields["tags"]).toEqual([
      "team: data",
      "tier: 1",
    ]);
  });

  test("is imported once, even if its name and group resemble those of others", async () => {
    const yaml = `endpoints:
  - {name: a_b, group: c, url: "https://1.example", conditions: ["[STATUS] == 200"]}
  - {name: b, group: c_a, url: "https://2.example", conditions: ["[STATUS] == 200"]}
  - {name: a, group: g, url: "https://3.example", interval: 1h, conditions: ["[STATUS] == 200", "[DOMAIN_EXPIRATION] > 720h"]}
  - {name: "a#domain", group: g, url: "https://4.example", conditions: ["[STATUS] == 200"]}
  - {name: "\\ud800", group: "\\ud800", url: "https://5.example", conditions: ["[STATUS] == 200"]}`;
    const { ours } = await testAppliance();
    const options = { keepResults: 14, keepHours: 400 };
    const decisions = [];
    for (const _ of [1, 2]) {
      const { report } = await runImport(ours.scope, await buildPlan(yaml), null, options);
      decisions.push(report.items.filter(({ noun }) => noun === "monitor"));
    }
    expect(decisions.map((items) => items.map(({ decision }) => decision))).toEqual([
      Array.from({ length: 6 }, () => "created"),
      Array.from({ length: 6 }, () => "unchanged"),
    ]);
  });

  test("names each value of another shape than Gatus reads", async () => {
    const { records, notTaken } = await buildPlan(`endpoints:
  - 7
  - name: shop
    group: [core]
    url: https://shop.example/
    body: {a: 1}
    headers: [a]
    extra-labels: {team: [a]}
    conditions: "[STATUS] == 200"
    alerts: {type: slack}
    client: x
alerting: [slack]`);
    const notes = records.flatMap((record) => record.notes).join("\n");
    for (const name of [
      "group",
      "body",
      "headers",
      "extra-labels.team",
      "conditions",
      "alerts",
      "client",
    ])
      expect(notes).toContain(`${name} is not a`);
    expect(notTaken.map(({ name }) => name)).toEqual([
      "alerting is not a map",
      "endpoints is not a list of maps",
    ]);
  });

  test("with the same name and group as another one is left out with its position", async () => {
    const { notTaken } = await buildPlan(`endpoints:
  - {name: a, url: "http://a.example"}
  - {name: a, url: "http://b.example"}
  - {url: "http://c.example"}`);
    expect(notTaken.map(({ notes }) => notes[0])).toEqual([
      "Not imported: another endpoint has its name and group (config.yaml:3:5).",
      "Not imported: it has no name (config.yaml:4:5).",
    ]);
  });
});

describe("An external endpoint of Gatus", () => {
  test("without a heartbeat waits as long as possible, and reports it", async () => {
    const { fields, notes } = await importRecord(
      "external-endpoints: [{name: nightly, token: example-token-1}]",
      "monitor",
      "nightly",
    );
    expect(fields).toMatchObject({ type: "push", interval: 86_400, grace: 86_400, paused: false });
    expect(notes.join()).toContain("Without a heartbeat Gatus waits for ever");
  });

  const jobOf = (heartbeat: string, alerts = "[]") =>
    importRecord(
      `alerting: {slack: {webhook-url: "https://hooks.example/a"}}
external-endpoints: [{name: job, token: t, heartbeat: {interval: ${heartbeat}}, alerts: ${alerts}}]`,
      "monitor",
      "job",
    );

  test("is never overdue before Gatus alerts", async () => {
    const day = 86_400;
    expect((await jobOf("30m")).fields).toMatchObject({ interval: 1_800, grace: 5 });
    const afterThree = await jobOf("30m", "[{type: slack}]");
    expect(afterThree.fields).toMatchObject({ interval: 1_800, grace: 3_600, paused: false });
    expect(afterThree.notes.join()).toContain("Down after 1 h 30 min without a report");
    const twoDays = await jobOf("48h", "[{type: slack, failure-threshold: 1}]");
    expect(twoDays.fields).toMatchObject({ interval: day, grace: day, paused: false });
    expect(twoDays.notes.join()).not.toContain("instead of");
    const week = await jobOf("168h", "[{type: slack, failure-threshold: 1}]");
    expect(week).toMatchObject({ isIncomplete: true, fields: { paused: true } });
    expect(week.notes.join()).toContain("a silence of 7 d, as the longest is two days");
  });

  test("reports to its own monitor, even if others have the same token", async () => {
    const { ours, stranger, api } = await createWatch();
    const yaml = `external-endpoints:
  - {name: "Nightly Backup", group: Core, token: shared, heartbeat: {interval: 24h}}
  - {name: sync, token: shared, heartbeat: {interval: 24h}}
  - {name: alone, token: own, heartbeat: {interval: 24h}}
  - {name: empty, token: "", heartbeat: {interval: 24h}}`;
    const options = { keepResults: 14, keepHours: 400 };
    const { report } = await runImport(ours.scope, await buildPlan(yaml), null, options);
    expect(report.items.find(({ name }) => name === "empty")?.notes.join()).toContain("a new one");
    const send = (key: string, token: string) =>
      stranger("POST", `/api/v1/endpoints/${key}/external?success=true`, {
        headers: { Authorization: `Bearer ${token}` },
      });
    const listUp = async () => {
      const { json } = await api("GET", "/api/v1/monitors?status=up");
      return json.data.map(({ name }: { name: string }) => name);
    };
    expect((await send("_other", "shared")).status).toBe(404);
    expect((await send("core_nightly-backup", "shared")).status).toBe(200);
    expect(await listUp()).toEqual(["Nightly Backup"]);
    expect((await send("_sync", "shared")).status).toBe(200);
    expect((await send("any", "own")).status).toBe(200);
    expect((await listUp()).sort()).toEqual(["Nightly Backup", "alone", "sync"]);
    const again = await runImport(ours.scope, await buildPlan(yaml), null, options);
    expect(again.report.items.map(({ decision }) => decision)).not.toContain("created");
  });

  test("that is disabled is paused, and has its maintenance", async () => {
    const { records } = await buildPlan(
      `external-endpoints: [{name: nightly, token: t, enabled: off, maintenance-windows: [{start: "01:00", duration: 2h}]}]`,
    );
    expect(records.map(({ noun }) => noun)).toEqual(["monitor", "maintenance-window"]);
    expect(records[0]?.fields["paused"]).toBe(true);
    expect(records[1]?.links).toEqual({ monitorIds: ["_nightly"], groupIds: [] });
  });
});

describe("Maintenance of Gatus", () => {
  test("is a recurring window; equal ones of several endpoints are one", async () => {
    const { records } = await buildGatusPlan(company, {}, { now });
    const windows = records.filter(({ noun }) => noun === "maintenance-window");
    expect(windows.map(({ fields, links }) => ({ ...fields, ...links }))).toMatchObject([
      {
        title: "Maintenance of orders",
        startsAt: "2026-11-25T02:00:00.000Z",
        endsAt: "2026-11-25T02:30:00.000Z",
        timeZone: "UTC",
        rrule: "FREQ=DAILY",
        monitorIds: ["databases_orders", "databases_archive"],
      },
      {
        // 25 November 2026 is a Wednesday.
        startsAt: "2026-11-26T22:00:00.000Z",
        endsAt: "2026-11-26T23:00:00.000Z",
        timeZone: "Europe/Berlin",
        rrule: "FREQ=WEEKLY;BYDAY=MO,TH",
        countsUptime: true,
        groupIds: ["databases", "payments"],
        monitorIds: [],
      },
    ]);
  });

  test("that can't be read is reported with the reason", async () => {
    for (const [window, why] of [
      ["{start: 25:00, duration: 1h}", "its start is not a time such as 23:00"],
      ["{start: 23:00, duration: 25h}", "its duration is not between 1m and 24h"],
      ["{start: 23:00, duration: 1h, timezone: Mars/Base}", "its time zone is unknown"],
      [
        "{start: 23:00, duration: 1h, every: [Mon]}",
        "its days are not names such as Monday and Tuesday",
      ],
      ["{start: 23:00, duration: 1h, enabled: no}", "it is switched off"],
    ]) {
      const { records, notTaken } = await buildPlan(
        `maintenance: ${window}\nendpoints: [{name: a, url: "http://a.example", maintenance-windows: [${window}]}]`,
      );
      expect(records).toHaveLength(1);
      expect(records[0]?.notes.join()).toContain(`Without its maintenance window: ${why}.`);
      expect(notTaken[0]?.notes).toEqual([`Not imported: ${why}.`]);
    }
  });
});

describe("Variables in Gatus' files", () => {
  test("that are not set are named once, unless they are only in a comment", async () => {
    const { hints, records } = await buildGatusPlan(company, {}, { now });
    expect(hints[0]).toBe(
      "These variables are not set: DOMAIN, HINT:-none. They are empty, as in Gatus.",
    );
    expect(records.find(({ name }) => name === "checkout")?.fields["url"]).toBe(
      "https://shop./checkout",
    );
  });

  test("are expanded like in Gatus", async () => {
    const yaml = `endpoints: [{name: a, url: "http://a.example/$PATH_OF/\${ID}$$x/$1/$/\${}/\${A B}"}]`;
    const { records, hints } = await buildPlan(yaml, { PATH_OF: "p", ID: "7" });
    expect(records[0]?.fields["url"]).toBe("http://a.example/p/7$x//$//");
    expect(hints[0]).toStartWith("These variables are not set: 1, A B.");
  });

  test("with several lines are part of the file", async () => {
    const { records } = await buildPlan("endpoints:\n$MORE\n", {
      MORE: "  - {name: a, url: 'http://a.example'}",
    });
    expect(records.map(({ name }) => name)).toEqual(["a"]);
    expect(buildPlan("endpoints: []\n$MORE\n")).resolves.toMatchObject({
      hints: expect.arrayContaining([
        "These variables are not set: MORE. They are empty, as in Gatus.",
      ]),
    });
    await buildPlan("endpoints: []\n$MORE\n");
  });
});

describe("A message about Gatus' files", () => {
  const rejected: [what: string, yaml: string | Buffer, message: RegExp][] = [
    [
      "rejects bytes that are no text",
      Buffer.from("endpoints: [{name: caf\xe9}]", "latin1"),
      /it is not UTF-8 text/,
    ],
    [
      "names line and column",
      "endpoints:\n  - name: a\n\turl: b",
      /config\.yaml can't be imported: it is not YAML \(config\.yaml:3:1: /,
    ],
    [
      "names a duplicate key",
      "endpoints: []\nweb: {}\nweb: {}",
      /config\.yaml:3:1: this key is there twice/,
    ],
    [
      "is recognized as a ConfigMap",
      "apiVersion: v1\nkind: ConfigMap\ndata: {config.yaml: x}",
      /Kubernetes ConfigMap. Save the text under data \(config\.yaml\)/,
    ],
    [
      "is recognized as encrypted",
      'endpoints: [{name: "ENC[AES256_GCM,data:vM4=,type:str]"}]\nsops: {mac: x}',
      /it is encrypted with SOPS/,
    ],
    [
      "is recognized as a template",
      "endpoints:\n{{- range .Values.all }}\n  - name: {{ .name }}\n{{- end }}",
      /it is a template .*Render it first/,
    ],
    [
      "is rejected with several documents",
      "endpoints: []\n---\nendpoints: []",
      /several YAML documents/,
    ],
  ];
  for (const [what, yaml, message] of rejected)
    test(what, async () => {
      expect(buildGatusPlan(writeFile(yaml), {})).rejects.toThrow(message);
      await buildGatusPlan(writeFile(yaml), {}).catch(() => {});
    });

  test.each(["utf16le", "utf8"] as const)("reads %s with a byte order mark", async (encoding) => {
    const yaml = "\ufeffendpoints: [{name: café, url: 'https://a.example', conditions: []}]";
    const bytes = Buffer.from(yaml, encoding);
    for (const file of [bytes, encoding === "utf16le" ? Buffer.from(bytes).swap16() : bytes]) {
      const { records } = await buildGatusPlan(writeFile(file), {});
      expect(records.map(({ name }) => name)).toEqual(["café"]);
    }
  });

  test("names each of the suites, which alone are a valid configuration", async () => {
    const { records, notTaken } = await buildPlan(
      "suites: [{name: checkout, group: shop, timeout: 1m, endpoints: [{name: login}, {name: pay}]}]",
    );
    expect(records).toEqual([]);
    expect(notTaken).toMatchObject([{ noun: "suite", name: "checkout" }]);
    expect(notTaken[0]?.notes.join(" ")).toContain("2 requests");
    expect(notTaken[0]?.notes.join(" ")).toContain("name, group, timeout, endpoints");
  });

  test("rejects more endpoints or channels than the organization can have, before it reads them", async () => {
    const limits = { ...noLimits, monitors: 2, "alert-channels": 2 };
    const many = writeFile(`endpoints: [{name: a}, {name: b}]\nexternal-endpoints: [{name: c}]`);
    expect(buildGatusPlan(many, {}, { limits })).rejects.toThrow(
      "it has 3 endpoints, and an organization can have 2 monitors.",
    );
    await buildGatusPlan(many, {}, { limits }).catch(() => {});
    const channels = writeFile(
      `alerting: {slack: {overrides: [{group: a}, {group: b}]}}\nendpoints: [{name: a}]`,
    );
    expect(buildGatusPlan(channels, {}, { limits })).rejects.toThrow(/providers and overrides/);
    await buildGatusPlan(channels, {}, { limits }).catch(() => {});
  });

  test("rejects more records than an import can have, before it converts them", async () => {
    const endpoints = "- {name: a}\n".repeat(importBounds.records.value + 1);
    const file = writeFile(`endpoints:\n${endpoints}`);
    expect(buildGatusPlan(file, {})).rejects.toThrow(
      "it has 10,001 records, at most 10,000 can be imported.",
    );
    await buildGatusPlan(file, {}).catch(() => {});
  });

  test("never contains the folder of an upload", async () => {
    const file = writeFile("- 1");
    const failure = await buildGatusPlan(file, {}, { name: "my.yaml" }).catch(
      (error) => error.message,
    );
    expect(failure).toBe(
      "my.yaml can't be imported: it is not a configuration of Gatus. Nothing was changed.",
    );
  });
});

test("other work runs while many endpoints are planned", async () => {
  const endpoints = Array.from(
    { length: 600 },
    (_, index) => `  - {name: s${index}, url: "https://s${index}.example"}`,
  );
  const file = writeFile(`endpoints:\n${endpoints.join("\n")}`);
  const plan = new GatusPlan(await readConfiguration(file, {}), async () => null, now);
  let turns = 0;
  let isOver = false;
  const takeTurn = () => {
    turns++;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const { records } = await plan.buildPlan();
  isOver = true;
  expect(records).toHaveLength(600);
  expect(turns).toBeGreaterThan(3);
});
