import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { convertMonitor } from "../../src/imports/kuma/monitors.ts";
import { copyFixture, inflateFixture, importKuma } from "../support/kuma-fixtures.ts";
import { clientCertificate, clientKey } from "../support/samples.ts";
import { dumpTables, testAppliance, type TestAppliance } from "../support/appliance.ts";
import { NewMonitor } from "../../src/monitoring/monitors/schema.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const now = Date.parse("2026-11-22T06:00:00.000Z");

async function setUpWorld() {
  const appliance = await testAppliance();
  appliance.time.now = now;
  return appliance;
}

type Row = Record<string, unknown>;
const readRows = (file: string, query: string) => {
  const database = new Database(inflateFixture(file), { readonly: true });
  const found = database.query<Row, []>(query).all();
  database.close();
  return found;
};

async function listMonitors({ ours }: TestAppliance): Promise<Row[]> {
  const { json } = await ours.api("GET", "/api/v1/monitors?per_page=100");
  return json.data;
}
const findByName = (all: readonly Row[], name: string) => {
  const found = all.find((one) => one["name"] === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
};

for (const file of ["kuma-1-acme.db", "kuma-2-acme-migrated.db", "kuma-2-acme.db"])
  describe(file, () => {
    let appliance: TestAppliance;
    let report: Awaited<ReturnType<typeof importKuma>>["report"];
    beforeAll(async () => {
      appliance = await setUpWorld();
      ({ report } = await importKuma(appliance.ours.scope, inflateFixture(file)));
    });

    test("each record has one line in the report", () => {
      const tables = {
        monitor: "monitor where type <> 'group'",
        group: "monitor where type = 'group'",
        "alert-channel": "notification",
        "status-page": "status_page",
        "maintenance-window": "maintenance",
        incident: "incident",
        proxy: "proxy",
        "api-key": "api_key",
        "docker-host": "docker_host",
        user: "user",
      };
      for (const [noun, from] of Object.entries(tables)) {
        const ids = readRows(file, `select id from ${from}`).map(({ id }) => String(id));
        const messages = report.items.filter((item) => item.noun === noun);
        expect([noun, messages.map(({ externalId }) => externalId).sort()]).toEqual([
          noun,
          ids.sort(),
        ]);
      }
      const silent = report.items.filter(
        ({ decision, isIncomplete, notes }) =>
          (decision === "not-taken" || isIncomplete) && notes.length === 0,
      );
      expect(silent).toEqual([]);
    });

    test("each monitor has the same check, or is paused with a reason", async () => {
      const result = await listMonitors(appliance);
      const parents = new Map(
        readRows(file, "select * from monitor").map((row) => [row["id"], row]),
      );
      for (const row of parents.values()) {
        if (row["type"] === "group") continue;
        const monitor = findByName(result, String(row["name"]));
        const item = report.items.find(
          (one) => one.noun === "monitor" && one.externalId === String(row["id"]),
        );
        expect(monitor["interval"]).toBe(row["interval"]);
        expect(monitor["inverted"]).toBe(row["upside_down"] === 1);
        const paused = row["active"] === 0 || item?.isIncomplete === true;
        let isPaused = paused;
        for (let at = parents.get(row["parent"]); at !== undefined; at = parents.get(at["parent"]))
          isPaused ||= at["active"] === 0;
        expect([row["name"], monitor["status"] === "paused"]).toEqual([row["name"], isPaused]);
        expect([row["name"], monitor["paused"]]).toEqual([row["name"], paused]);
      }
    });

    test("each monitor has its channels, and those of the groups around it", async () => {
      const channels = (await appliance.ours.api("GET", "/api/v1/alert-channels")).json
        .data as Row[];
      const names = new Map(channels.map(({ id, name }) => [id, name]));
      const result = await listMonitors(appliance);
      const attached = readRows(
        file,
        `with recursive around (id, of) as (
           select id, id from monitor union
           select m.parent, a.of from around a join monitor m on m.id = a.id where m.parent is not null)
         select m.name, group_concat(distinct n.name) as channels from around a
           join monitor m on m.id = a.of and m.type <> 'group'
           join monitor_notification mn on mn.monitor_id = a.id
           join notification n on n.id = mn.notification_id group by m.id`,
      );
      expect(attached.length).toBeGreaterThan(30);
      for (const { name, channels: wanted } of attached) {
        const monitor = findByName(result, String(name));
        const has = (monitor["alertChannelIds"] as string[]).map((id) => names.get(id));
        expect([name, new Set(has)]).toEqual([name, new Set(String(wanted).split(","))]);
      }
    });

    test("the history equals that of Uptime Kuma", () => {
      // Counts checks: pending counts as down, maintenance not at all.
      const counted = readRows(
        file,
        `select m.name, sum(h.status = 1) as up, sum(h.status in (0, 2)) as down, sum(h.status = 3) as held
         from heartbeat h join monitor m on m.id = h.monitor_id where m.type <> 'group' group by m.id`,
      );
      const stored = appliance.database
        .query<Row, []>(
          `select m.name, sum(h.status = 0) as up, sum(h.status = 2) as down, sum(h.status = 4) as held
           from heartbeats h join monitor_states s on s.key = h.monitor_key
           join monitors m on m.id = s.monitor_id group by m.id`,
        )
        .all();
      const sortByName = (all: Row[]) =>
        all.toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
      expect(sortByName(stored)).toEqual(sortByName(counted));
    });
  });

describe("an Uptime Kuma 2", () => {
  let appliance: TestAppliance;
  let result: Row[];
  beforeAll(async () => {
    appliance = await setUpWorld();
    await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"));
    result = await listMonitors(appliance);
  });

  test("daily and hourly uptime equals that of Uptime Kuma", () => {
    const expectedDays = readRows(
      "kuma-2-acme.db",
      `select m.name, s.timestamp / 86400 as day, 1.0 * s.up / (s.up + s.down) as ratio
       from stat_daily s join monitor m on m.id = s.monitor_id
       where m.type <> 'group' and s.up + s.down > 0`,
    );
    expect(expectedDays.length).toBeGreaterThan(100);
    for (const { name, day, ratio } of expectedDays) {
      const found = appliance.database
        .query<{ ratio: number }, [string, number]>(
          `select 1.0 * d.up_seconds / (d.up_seconds + d.down_seconds) as ratio
           from uptime_days d join monitor_states s on s.key = d.monitor_key
           join monitors m on m.id = s.monitor_id where m.name = ? and d.day = ?`,
        )
        .get(String(name), Number(day));
      expect(found?.ratio).toBeCloseTo(Number(ratio), 3);
    }
  });

  test("monitors have their settings, and secrets stay secret", () => {
    expect(findByName(result, "Checkout API (basic auth)")).toMatchObject({
      type: "http",
      method: "POST",
      timeout: 12,
      basicAuth: { username: "checkout-probe" },
      secretsSet: ["basicAuth.password"],
      headers: { "X-Api-Key": null, "Accept-Language": null },
      bodyType: "json",
      expectedStatus: ["200-299", "302"],
      reminderInterval: 150,
      tags: ["production", "team: payments", "tier: 1"],
    });
    expect(findByName(result, "OAuth2 protected API")).toMatchObject({
      oauth2: {
        tokenUrl: "http://auth.acme.example:8080/oauth/token",
        clientId: "kuma-probe",
        scope: "read:health read:orders",
        audience: "https://api.acme.example",
        clientAuthentication: "body",
      },
      secretsSet: ["oauth2.clientSecret"],
      paused: false,
    });
    expect(findByName(result, "No stack traces")).toMatchObject({
      keywordAbsent: "Exception",
      retries: 1,
    });
    expect(findByName(result, "Version JSON")).toMatchObject({
      jsonPath: "$.version",
      jsonEquals: "2.4.1",
    });
    expect(findByName(result, "Queue depth below 100")).toMatchObject({
      assertions: [{ source: "json", path: "$.queue.depth", op: "lessThan", value: 100 }],
    });
    expect(findByName(result, "Redirect check")).toMatchObject({ followRedirects: false });
    expect(findByName(result, "TLS port with expiry")).toMatchObject({
      type: "tls",
      port: 443,
      certificateExpiryDays: 14,
    });
    expect(findByName(result, "Postgres shop")).toMatchObject({
      type: "postgres",
      host: "db.acme.example",
      username: "acme",
      database: "shop",
      query: "SELECT 1 AS ok",
      secretsSet: ["password"],
      paused: false,
    });
    expect(findByName(result, "MySQL legacy")).toMatchObject({
      type: "mysql",
      secretsSet: ["password"],
    });
    expect(findByName(result, "Router interfaces (SNMP)")).toMatchObject({
      type: "snmp",
      oid: "1.3.6.1.2.1.2.1.0",
      assertions: [{ source: "body", op: "greaterThanOrEqual", value: 40 }],
    });
    expect(findByName(result, "Container web-1")).toMatchObject({
      type: "docker",
      container: "web-1",
      host: "docker.acme.example",
      port: 2375,
    });
    expect(findByName(result, "DNS TXT")).toMatchObject({ recordType: "TXT", resolver: "9.9.9.9" });
    const stored =
      JSON.stringify(appliance.database.query("select * from external_records").all()) +
      JSON.stringify(appliance.database.query("select * from monitors").all());
    expect(stored).not.toMatch(/FAKE-(basic|oauth|pg|redis|mqtt|native)/);
  });

  test("status pages have their addresses, names, sections and their order", async () => {
    const pages = (await appliance.ours.api("GET", "/api/v1/status-pages")).json.data as Row[];
    const page = pages.find(({ slug }) => slug === "acme-public");
    expect(page).toMatchObject({
      title: "Acme Status",
      theme: "dark",
      hosts: ["status.acme.example", "uptime.acme.example"],
      timeZone: "Europe/Berlin",
    });
    const names = new Map(result.map(({ id, name }) => [id, name]));
    type Section = { name: string; monitors: { id: string }[] };
    const sections = ((page?.["sections"] ?? []) as Section[]).map(({ name, monitors }) => [
      name,
      monitors.map(({ id }) => names.get(id)),
    ]);
    const expectedGroups = readRows(
      "kuma-2-acme.db",
      `select g.name, m.name as monitor from "group" g join monitor_group mg on mg.group_id = g.id
       join monitor m on m.id = mg.monitor_id where g.status_page_id = 1 and m.type <> 'group'
       order by g.weight, mg.weight`,
    );
    const first = expectedGroups.filter(
      (row, index) =>
        expectedGroups.findIndex(({ monitor }) => monitor === row["monitor"]) === index,
    );
    expect(sections.flatMap(([, monitors]) => monitors)).toEqual(
      first.map(({ monitor }) => String(monitor)),
    );
  });

  test("maintenance has the same times", async () => {
    const { json } = await appliance.ours.api("GET", "/api/v1/maintenance-windows?per_page=100");
    const windows = new Map((json.data as Row[]).map((one) => [one["title"], one]));
    expect(windows.get("Database upgrade")).toMatchObject({
      startsAt: "2027-03-14T07:00:00.000Z",
      endsAt: "2027-03-14T08:30:00.000Z",
      timeZone: "America/New_York",
    });
    expect(windows.get("Weekend patching")).toMatchObject({
      rrule: "FREQ=WEEKLY;BYDAY=SA,SU",
      startsAt: "2027-01-02T21:00:00.000Z",
      endsAt: "2027-01-03T00:00:00.000Z",
    });
    expect(windows.get("Month-end batch")?.["rrule"]).toStartWith(
      "FREQ=MONTHLY;BYMONTHDAY=1,15,-1;UNTIL=",
    );
    expect(windows.get("Cron window")).toMatchObject({
      rrule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=5;BYMINUTE=30",
      timeZone: "Asia/Singapore",
    });
    expect(windows.get("Running now: redirect host upgrade")).toMatchObject({ state: "running" });
  });

  test("a push token continues to work", async () => {
    const { json } = await appliance.ours.api(
      "GET",
      `/api/v1/monitors/${String(findByName(result, "Nightly backup (push)")["id"])}`,
    );
    expect(json.data.pushUrl).toEndWith("/push/FAKEpushTokenAcmeNightly00000001");
  });

  test("importing it again changes nothing", async () => {
    const readRecords = () => {
      appliance.database.run("delete from imports");
      // Result keys are used once, and never again.
      return dumpTables(appliance).replace(/\["monitor_states",\d+\]/, "");
    };
    const before = readRecords();
    const { report } = await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"));
    const changed = report.items.filter(
      ({ decision }) => decision !== "unchanged" && decision !== "not-taken",
    );
    expect(changed).toEqual([]);
    expect(report.history).toEqual({ heartbeats: 0, hours: 0, days: 0 });
    expect(readRecords()).toBe(before);
  });
});

test("a repeated import applies changes of the source and preserves local changes", async () => {
  const appliance = await setUpWorld();
  const { ours } = appliance;
  await importKuma(ours.scope, inflateFixture("kuma-2-acme.db"));
  const before = findByName(await listMonitors(appliance), "Acme website");
  await ours.api("PATCH", `/api/v1/monitors/${String(before["id"])}`, {
    body: { retries: 7, tags: ["ours"] },
  });
  const changed = copyFixture(
    "kuma-2-acme.db",
    newDirectory(),
    "update monitor set interval = 45, url = 'https://new.acme.example/' where id = 6",
    "update monitor set type = 'ping' where id = 25",
    "insert into monitor (name, active, user_id, interval, url, type, parent) values ('New one', 1, 1, 60, 'http://new.example/', 'http', 2)",
    "insert into heartbeat (monitor_id, status, time, ping) values (6, 1, '2026-11-22 05:30:00.000', 12)",
  );
  const { report } = await importKuma(ours.scope, changed);
  const decisions = report.items.filter(({ decision }) =>
    ["created", "updated"].includes(decision),
  );
  expect(decisions.map(({ name, decision }) => `${name} ${decision}`).toSorted()).toEqual([
    "Acme website updated",
    "New one created",
    "TCP 7000 updated",
  ]);
  const after = await listMonitors(appliance);
  expect(findByName(after, "Acme website")).toMatchObject({
    id: before["id"],
    interval: 45,
    url: "https://new.acme.example/",
    retries: 7,
    tags: ["ours"],
  });
  expect(findByName(after, "TCP 7000")).toMatchObject({ type: "ping", host: "tcp.acme.example" });
  expect(findByName(after, "New one")["groupId"]).toBe(before["groupId"]);
  expect(report.history.heartbeats).toBe(1);
  const { json } = await ours.api(
    "GET",
    `/api/v1/monitors/${String(before["id"])}/heartbeats?limit=1`,
  );
  expect(json.data[0]).toMatchObject({ at: "2026-11-22T05:30:00.000Z", latencyMs: 12 });
});

test("with --paused nothing is checked until it is imported without", async () => {
  const appliance = await setUpWorld();
  await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"), { paused: true });
  expect(new Set((await listMonitors(appliance)).map(({ status }) => status))).toEqual(
    new Set(["paused"]),
  );
  // Someone has looked at the import meanwhile, and paused one of its monitors for a day.
  const { api } = appliance.ours;
  const { id } = findByName(await listMonitors(appliance), "Version JSON");
  const pausedUntil = new Date(appliance.time.now + 86_400_000).toISOString();
  await api("PATCH", `/api/v1/monitors/${String(id)}`, { body: { pausedUntil } });
  await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"));
  expect(findByName(await listMonitors(appliance), "Version JSON")).toMatchObject({
    paused: true,
    pausedUntil,
  });
  expect(findByName(await listMonitors(appliance), "Acme website")["paused"]).toBe(false);
  expect(findByName(await listMonitors(appliance), "Staging site")["paused"]).toBe(true);
});

test("a dry run returns the same report and changes nothing", async () => {
  const appliance = await setUpWorld();
  const before = dumpTables(appliance);
  const dry = await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"), {
    dryRun: true,
  });
  expect(dumpTables(appliance)).toBe(before);
  const real = await importKuma(appliance.ours.scope, inflateFixture("kuma-2-acme.db"));
  expect(dry.report.items).toEqual(real.report.items);
});

test.each([
  ["form", "q=a+b&user=%C3%BC", { bodyType: "form", form: { q: "a b", user: "ü" } }],
  ["form", "q=a b", { body: "q=a b", type: "application/x-www-form-urlencoded" }],
  ["json", '{"a": 1}', { bodyType: "json", body: '{"a": 1}' }],
  ["json", "{{a}}", { body: "{{a}}", type: "application/json" }],
  ["xml", "<a/>", { body: "<a/>", type: "text/xml; charset=utf-8" }],
])("a body as %s is sent unchanged: %s", (encoding, body, sent) => {
  const installation = { proxies: new Map(), dockerHosts: new Map(), browsers: new Map() };
  const row = { type: "http", name: "API", url: "http://api.lan/", method: "POST" };
  const { fields } = convertMonitor({ ...row, body, http_body_encoding: encoding }, installation);
  const { type, form, ...own } = { type: undefined, form: undefined, ...sent };
  expect(fields).toMatchObject({
    ...own,
    ...(form && { form: Object.entries(form).map(([name, value]) => ({ name, value })) }),
    headers: type === undefined ? {} : { "Content-Type": type },
  });
});

test.each([
  ["http", { proxyUrl: "http://proxy.lan:3128" }],
  ["socks5h", { proxyUrl: "socks5://proxy.lan:3128" }],
  ["https", { proxyUrl: "https://proxy.lan:3128" }],
  ["socks4", null],
])("a monitor uses its %s proxy, or is paused until it has a supported one", (protocol, taken) => {
  const login = { auth: 1, username: "probe", password: "word", active: 1 };
  const proxies = new Map([
    [1, { protocol, host: "proxy.lan", port: 3128, ...login }],
    [2, { protocol, host: "proxy.lan", port: 3128, ...login, auth: 0 }],
    [3, { protocol, host: "proxy.lan", port: 3128, ...login, active: 0 }],
  ]);
  const installation = { proxies, dockerHosts: new Map(), browsers: new Map() };
  const row = { type: "keyword", name: "API", url: "http://api.lan/", keyword: "ok", active: 1 };
  const convertWithProxy = (id: number) => convertMonitor({ ...row, proxy_id: id }, installation);
  const noCredentials = { proxyUsername: null, proxyPassword: null };
  if (taken === null)
    expect(convertWithProxy(1)).toMatchObject({
      isIncomplete: true,
      fields: { paused: true },
      notes: [`Paused: it lacks its proxy ${protocol}://proxy.lan:3128.`],
    });
  else {
    const withLogin = { ...taken, proxyUsername: "probe", proxyPassword: "word" };
    expect(convertWithProxy(1)).toMatchObject({
      isIncomplete: false,
      fields: { ...withLogin, paused: false },
    });
    expect(convertWithProxy(2).fields).toMatchObject({ ...taken, ...noCredentials });
  }
  expect(convertWithProxy(3).isIncomplete).toBe(false);
  expect(convertWithProxy(3).fields).not.toHaveProperty("proxyUrl");
  expect(convertWithProxy(4).notes).toEqual(["Paused: it lacks its proxy."]);
});

test.each([
  [{ Host: "shop.example" }, { url: "https://shop.example/a", connectTo: "10.0.0.5" }, false],
  [
    { host: "10.0.0.5:8443", "X-A": "1" },
    { url: "https://10.0.0.5:8443/a", connectTo: null },
    false,
  ],
  [{ HOST: "shop.example:9000" }, { url: "https://10.0.0.5:8443/a", connectTo: null }, true],
])(
  "a monitor with the header %j checks that host at its own address",
  (headers, taken, isPaused) => {
    const installation = { proxies: new Map(), dockerHosts: new Map(), browsers: new Map() };
    const port = "shop.example" === Object.values(headers)[0] ? "" : ":8443";
    const row = { name: "API", url: `https://10.0.0.5${port}/a`, active: 1, json_path: "a" };
    for (const type of ["http", "keyword", "json-query"]) {
      const keyword = type === "keyword" ? "fine" : null;
      const { fields, isIncomplete } = convertMonitor(
        { ...row, type, keyword, expected_value: "1", headers: JSON.stringify(headers) },
        installation,
      );
      expect([type, isIncomplete]).toEqual([type, isPaused]);
      expect(NewMonitor.parse(fields)).toMatchObject({ type: "http", ...taken, paused: isPaused });
      expect(Object.keys(fields["headers"] as object)).toEqual("X-A" in headers ? ["X-A"] : []);
    }
  },
);

test("client certificates and the IP version are imported", () => {
  const installation = { proxies: new Map(), dockerHosts: new Map(), browsers: new Map() };
  const row = { type: "http", name: "API", url: "https://api.lan/", active: 1 };
  const mutual = { auth_method: "mtls", tls_cert: clientCertificate, tls_key: clientKey };
  const { fields, notes, isIncomplete } = convertMonitor(
    { ...row, ...mutual, tls_ca: clientCertificate, ip_family: "ipv6" },
    installation,
  );
  expect(fields).toMatchObject({ clientCertificate, clientKey, ipFamily: "6", paused: false });
  expect([isIncomplete, notes]).toEqual([
    false,
    [expect.stringContaining("under Certificate authorities")],
  ]);
  const others = { ...row, ...mutual, auth_method: "", ip_family: "ipv4" };
  expect(convertMonitor(others, installation).fields).toMatchObject({
    clientCertificate: null,
    clientKey: null,
    ipFamily: "4",
  });
  expect(convertMonitor(row, installation).fields).toMatchObject({ ipFamily: "any" });
});
