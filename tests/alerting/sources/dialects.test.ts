/** Requests of each tool, as in its documentation, and the alerts that they report. */
import { describe, expect, test } from "bun:test";
import { readReports } from "../../../src/alerting/sources/dialects.ts";
import { pickLink, type Report } from "../../../src/alerting/sources/report-rules.ts";
import { boundReport } from "../../../src/alerting/sources/rules.ts";
import { decodeSent, parseSent } from "../../../src/alerting/sources/request-body.ts";
import { AppError } from "../../../src/core/errors.ts";
import {
  SourceMapping,
  sourceTypes,
  type SourceType,
} from "../../../src/alerting/sources/schema.ts";

/** Mails have tests of their own. */
const requestTypes = sourceTypes.filter((type) => type !== "email");

type Case = {
  name: string;
  type: Exclude<SourceType, "email">;
  /** JSON, or the text of a form. */
  body: object | string;
  path?: string;
  headers?: Record<string, string>;
  mapping?: object;
  /** The reports, or the fields of the error. */
  expected: object[] | string[];
};

const firing = {
  status: "firing",
  labels: { alertname: "InstanceDown", instance: "db1:9100", job: "node", severity: "critical" },
  annotations: {
    summary: "Instance db1:9100 down",
    description: "db1:9100 is down for 5 minutes.",
  },
  startsAt: "2026-11-20T23:02:00.000Z",
  endsAt: "0001-01-01T00:00:00Z",
  generatorURL: "http://prometheus.lan:9090/graph?g0.expr=up",
  fingerprint: "c6eadffa33fcdf37",
};
const webhook = {
  version: "4",
  groupKey: '{}:{alertname="InstanceDown"}',
  truncatedAlerts: 0,
  status: "firing",
  receiver: "signalbox",
  groupLabels: { alertname: "InstanceDown" },
  commonLabels: {},
  commonAnnotations: {},
  externalURL: "http://alertmanager.lan:9093",
};
const pagerDutyTrigger = {
  routing_key: "TOKEN",
  event_action: "trigger",
  dedup_key: "samplekeyhere",
  payload: {
    summary: "Example alert on host1.example.com",
    timestamp: "2015-07-17T08:42:58.315+0000",
    source: "monitoringtool:cloudvendor:central-region-dc-01:852559987:cluster/api-stats-prod-003",
    severity: "info",
    component: "postgres",
    group: "prod-datapipe",
    class: "deploy",
    custom_details: { "ping time": "1500ms", "load avg": 0.75 },
  },
  images: [],
  links: [{ href: "https://example.com/", text: "Link text" }],
  client: "Sample Monitoring Service",
  client_url: "https://monitoring.example.com",
};
const kumaDown = {
  heartbeat: {
    monitorID: 29,
    status: 0,
    time: "2026-09-24 23:51:35.527",
    msg: "getaddrinfo ENOTFOUND test.com",
    important: true,
    duration: 0,
  },
  monitor: { id: 29, name: "Shop", pathName: "Web / Shop", url: "https://test.com", type: "http" },
  msg: "[Shop] [🔴 Down] getaddrinfo ENOTFOUND test.com",
};
const zabbix = {
  event_id: "4711",
  event_value: "1",
  event_name: "Disk space is low",
  event_nseverity: "4",
  event_update_status: "0",
  host_name: "db1",
  alert_message: "Space used: 95 %",
  trigger_id: "18",
  zabbix_url: "https://zabbix.lan/",
};
const checkmk = {
  NOTIFY_WHAT: "SERVICE",
  NOTIFY_NOTIFICATIONTYPE: "PROBLEM",
  NOTIFY_HOSTNAME: "db1",
  NOTIFY_SERVICEDESC: "Filesystem /",
  NOTIFY_SERVICESTATE: "CRITICAL",
  NOTIFY_SERVICEOUTPUT: "Used: 95 %",
};
const issue = {
  id: "1170820242",
  title: "ReferenceError: heck is not defined",
  shortId: "FRONT-END-1",
  culprit: "?(<anonymous>)",
  level: "error",
  web_url: "https://sentry.example/organizations/acme/issues/1170820242/",
  project: { id: "1", name: "Front end" },
};
const alarm = {
  AlarmName: "HighCPU",
  AlarmDescription: "CPU is above 90 %",
  NewStateValue: "ALARM",
  NewStateReason: "Threshold Crossed: 1 datapoint [95.0] was greater than the threshold (90.0).",
  Region: "EU (Frankfurt)",
  AlarmArn: "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:HighCPU",
  OldStateValue: "OK",
};
const buildNotification = (message: object | string, subject = "ALARM: HighCPU") => ({
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:eu-central-1:123456789012:alarms",
  Subject: subject,
  Message: typeof message === "string" ? message : JSON.stringify(message),
  Timestamp: "2026-11-20T23:02:00.000Z",
});
const mapping = { key: "$.id", status: "$.state", title: "$.name", priority: "$.level" };

const cases: Case[] = [
  {
    name: "a group of Alertmanager, with one alert per fingerprint",
    type: "alertmanager",
    body: { ...webhook, alerts: [firing, { ...firing, fingerprint: "b", status: "resolved" }] },
    expected: [
      {
        key: "c6eadffa33fcdf37",
        status: "open",
        title: "Instance db1:9100 down",
        priority: "critical",
        link: "http://prometheus.lan:9090/graph?g0.expr=up",
        episode: "2026-11-20T23:02:00.000Z",
      },
      { key: "b", status: "resolved" },
    ],
  },
  {
    name: "an alert of Alertmanager without annotations",
    type: "alertmanager",
    body: { ...webhook, alerts: [{ ...firing, annotations: {}, fingerprint: undefined }] },
    expected: [
      {
        key: "alertname=InstanceDown, instance=db1:9100, job=node, severity=critical",
        title: "InstanceDown on db1:9100",
      },
    ],
  },
  {
    name: "a request without alerts",
    type: "alertmanager",
    body: { ...webhook },
    expected: ["alerts"],
  },
  {
    name: "an unknown status of Alertmanager",
    type: "alertmanager",
    body: { ...webhook, alerts: [firing, { ...firing, status: "pending" }] },
    expected: ["alerts[1].status"],
  },
  {
    name: "Grafana, with its panel as link",
    type: "grafana",
    body: {
      ...webhook,
      orgId: 1,
      state: "alerting",
      alerts: [
        { ...firing, panelURL: "https://grafana.lan/d/1?viewPanel=2", valueString: "[ B=44.2 ]" },
      ],
    },
    expected: [
      {
        key: "c6eadffa33fcdf37",
        link: "https://grafana.lan/d/1?viewPanel=2",
        text: expect.stringContaining("[ B=44.2 ]"),
      },
    ],
  },
  {
    name: "a test of Grafana, which nothing would end, opens no alert",
    type: "grafana",
    body: {
      ...webhook,
      alerts: [{ ...firing, labels: { alertname: "TestAlert", instance: "Grafana" } }, firing],
    },
    expected: [{ key: firing.fingerprint }],
  },
  {
    name: "a rule of Grafana without data",
    type: "grafana",
    body: {
      ...webhook,
      alerts: [{ ...firing, labels: { alertname: "DatasourceNoData", rulename: "High load" } }],
    },
    expected: [{ title: "High load: no data" }],
  },
  {
    name: "a trigger of PagerDuty",
    type: "pagerduty",
    body: pagerDutyTrigger,
    expected: [
      {
        key: "samplekeyhere",
        status: "open",
        title: "Example alert on host1.example.com",
        text: expect.stringContaining("load avg: 0.75"),
        priority: "low",
        link: "https://example.com/",
      },
    ],
  },
  {
    name: "an acknowledgment and an end of PagerDuty",
    type: "pagerduty",
    body: { routing_key: "TOKEN", dedup_key: "samplekeyhere", event_action: "acknowledge" },
    expected: [{ key: "samplekeyhere", status: "acknowledged" }],
  },
  {
    name: "an end of PagerDuty",
    type: "pagerduty",
    body: { routing_key: "TOKEN", dedup_key: "samplekeyhere", event_action: "resolve" },
    expected: [{ key: "samplekeyhere", status: "resolved" }],
  },
  {
    name: "an end of PagerDuty without a key",
    type: "pagerduty",
    body: { event_action: "resolve" },
    expected: ["dedup_key"],
  },
  {
    name: "an event of PagerDuty without an action",
    type: "pagerduty",
    body: { ...pagerDutyTrigger, event_action: undefined },
    expected: ["event_action"],
  },
  {
    name: "a trigger of PagerDuty without a summary",
    type: "pagerduty",
    body: { ...pagerDutyTrigger, payload: { source: "db1" } },
    expected: ["payload.summary"],
  },
  {
    name: "a new alert of Opsgenie",
    type: "opsgenie",
    path: "/v2/alerts",
    body: {
      message: "An example alert message",
      alias: "Life is too short for no alias",
      description: "Every alert needs a description",
      tags: ["OverwriteQuietHours", "Critical"],
      details: { key1: "value1" },
      entity: "An example entity",
      priority: "P1",
    },
    expected: [
      {
        key: "Life is too short for no alias",
        status: "open",
        title: "An example alert message",
        text: expect.stringContaining("key1: value1"),
        priority: "critical",
      },
    ],
  },
  {
    name: "an alert of Opsgenie is closed by its alias",
    type: "opsgenie",
    path: "/v2/alerts/disk%20db1/close",
    body: { source: "script" },
    expected: [{ key: "disk db1", status: "resolved" }],
  },
  {
    name: "an alert of Opsgenie is acknowledged",
    type: "opsgenie",
    path: "/v2/alerts/disk/acknowledge",
    body: {},
    expected: [{ key: "disk", status: "acknowledged" }],
  },
  {
    name: "an action of Opsgenie that changes nothing",
    type: "opsgenie",
    path: "/v2/alerts/disk/notes",
    body: {},
    expected: ["path"],
  },
  {
    name: "Uptime Kuma reports an outage",
    type: "uptime-kuma",
    body: kumaDown,
    expected: [
      {
        key: "monitor 29",
        status: "open",
        title: "Web / Shop is down",
        text: "getaddrinfo ENOTFOUND test.com\nhttps://test.com",
        priority: "critical",
      },
    ],
  },
  {
    name: "Uptime Kuma reports the end, as a form",
    type: "uptime-kuma",
    body: new URLSearchParams({
      data: JSON.stringify({ ...kumaDown, heartbeat: { ...kumaDown.heartbeat, status: 1 } }),
    }).toString(),
    expected: [{ key: "monitor 29", status: "resolved" }],
  },
  {
    name: "a test of Uptime Kuma",
    type: "uptime-kuma",
    body: { heartbeat: null, monitor: null, msg: "My Notification Alert (1) Testing" },
    expected: [],
  },
  {
    name: "Zabbix reports a problem",
    type: "zabbix",
    body: zabbix,
    expected: [
      {
        key: "4711",
        status: "open",
        title: "db1: Disk space is low",
        text: "Space used: 95 %",
        priority: "critical",
        link: "https://zabbix.lan/tr_events.php?triggerid=18&eventid=4711",
      },
    ],
  },
  {
    name: "Zabbix reports an acknowledgment",
    type: "zabbix",
    body: { ...zabbix, event_update_status: "1", event_ack_status: "Yes" },
    expected: [{ key: "4711", status: "acknowledged" }],
  },
  {
    name: "Zabbix reports the end",
    type: "zabbix",
    body: { ...zabbix, event_value: "0" },
    expected: [{ key: "4711", status: "resolved" }],
  },
  {
    name: "Checkmk reports a problem",
    type: "checkmk",
    body: checkmk,
    expected: [
      {
        key: "db1;Filesystem /",
        status: "open",
        title: "db1: Filesystem / is CRITICAL",
        text: "Used: 95 %",
        priority: "critical",
      },
    ],
  },
  {
    name: "Checkmk reports the end, as a form without prefixes",
    type: "checkmk",
    body: "WHAT=HOST&NOTIFICATIONTYPE=RECOVERY&HOSTNAME=db1&HOSTSTATE=UP",
    expected: [{ key: "db1", status: "resolved", title: "db1 is UP" }],
  },
  {
    name: "a downtime of Checkmk changes nothing",
    type: "checkmk",
    body: { ...checkmk, NOTIFY_NOTIFICATIONTYPE: "DOWNTIMESTART" },
    expected: [],
  },
  ...["FLAPPINGSTOP", "FLAPPINGDISABLED", "DOWNTIMEEND", "DOWNTIMECANCELLED"].flatMap((type) =>
    (
      [
        ["OK", "resolved"],
        ["CRITICAL", "open"],
      ] as const
    ).map(([state, status]) => ({
      name: `${type} of Checkmk, with the state ${state}`,
      type: "checkmk" as const,
      body: { ...checkmk, NOTIFY_NOTIFICATIONTYPE: type, NOTIFY_SERVICESTATE: state },
      expected: [{ key: "db1;Filesystem /", status }],
    })),
  ),
  {
    name: "the start of flapping in Checkmk changes nothing",
    type: "checkmk",
    body: {
      ...checkmk,
      NOTIFY_NOTIFICATIONTYPE: "FLAPPINGSTART",
      NOTIFY_SERVICESTATE: "OK",
    },
    expected: [],
  },
  {
    name: "an issue alert of Sentry",
    type: "sentry",
    headers: { "sentry-hook-resource": "event_alert" },
    body: {
      action: "triggered",
      data: {
        event: {
          issue_id: "1170820242",
          title: "ReferenceError: heck is not defined",
          culprit: "?(<anonymous>)",
          level: "error",
          web_url: "https://sentry.example/issues/1170820242/events/e4/",
        },
        triggered_rule: "Very Important Alert Rule!",
      },
    },
    expected: [
      {
        key: "issue 1170820242",
        status: "open",
        title: "ReferenceError: heck is not defined",
        priority: "normal",
        link: "https://sentry.example/issues/1170820242/events/e4/",
      },
    ],
  },
  {
    name: "the end of an issue of Sentry",
    type: "sentry",
    headers: { "sentry-hook-resource": "issue" },
    body: { action: "resolved", data: { issue } },
    expected: [{ key: "issue 1170820242", status: "resolved" }],
  },
  {
    name: "a metric alert of Sentry",
    type: "sentry",
    headers: { "sentry-hook-resource": "metric_alert" },
    body: {
      action: "critical",
      data: {
        description_text: "1000 events in the last 10 minutes",
        description_title: "Critical: Too many errors",
        metric_alert: { id: "4", title: "Too many errors" },
        web_url: "https://sentry.example/alerts/4/",
      },
    },
    expected: [{ key: "metric 4", status: "open", title: "Too many errors", priority: "critical" }],
  },
  {
    name: "a new installation of Sentry",
    type: "sentry",
    headers: { "sentry-hook-resource": "installation" },
    body: { action: "created", data: { installation: {} } },
    expected: [],
  },
  {
    name: "an alarm of CloudWatch",
    type: "aws-sns",
    body: buildNotification(alarm),
    expected: [
      {
        key: "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:HighCPU",
        status: "open",
        title: "HighCPU",
        text: expect.stringContaining("Threshold Crossed"),
      },
    ],
  },
  {
    name: "the end of an alarm of CloudWatch",
    type: "aws-sns",
    body: buildNotification({ ...alarm, NewStateValue: "OK" }),
    expected: [{ status: "resolved" }],
  },
  {
    name: "an alarm of CloudWatch without data",
    type: "aws-sns",
    body: buildNotification({ ...alarm, NewStateValue: "INSUFFICIENT_DATA" }),
    expected: [],
  },
  {
    name: "any other message of SNS",
    type: "aws-sns",
    body: buildNotification("The build failed.\nSee the log.", "Build"),
    expected: [{ key: "Build", status: "open", title: "Build" }],
  },
  {
    name: "any JSON, by paths",
    type: "json",
    mapping,
    body: { id: 7, state: "Alarm", name: "Boiler", level: "warning" },
    expected: [{ key: "7", status: "open", title: "Boiler", priority: "normal" }],
  },
  {
    name: "the end in any JSON",
    type: "json",
    mapping,
    body: { id: 7, state: "OK" },
    expected: [{ key: "7", status: "resolved" }],
  },
  {
    name: "a list in any JSON",
    type: "json",
    mapping: { ...mapping, alerts: "$.items" },
    body: {
      items: [
        { id: "a", state: "on", name: "A" },
        { id: "b", state: "ok" },
      ],
    },
    expected: [
      { key: "a", status: "open" },
      { key: "b", status: "resolved" },
    ],
  },
  {
    name: "a status that no list names",
    type: "json",
    mapping: { ...mapping, openValues: ["alarm"] },
    body: { id: 7, state: "fine", name: "Boiler" },
    expected: ["$.state"],
  },
  {
    name: "a path that finds nothing",
    type: "json",
    mapping,
    body: { state: "on", name: "Boiler" },
    expected: ["$.id"],
  },
];

function read({ type, body, path = "", headers = {}, mapping: given }: Case) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const paths = given === undefined ? null : SourceMapping.parse(given);
  const query = new URLSearchParams();
  return readReports({ type, mapping: paths }, { path, query, headers, body: parseSent(text) });
}

describe("a request of", () => {
  for (const one of cases)
    test(`${one.type}: ${one.name}`, () => {
      const [first] = one.expected;
      if (typeof first !== "string") {
        const reports = read(one);
        expect(reports).toHaveLength(one.expected.length);
        expect(reports).toMatchObject(one.expected as object[]);
        return;
      }
      let error: unknown;
      try {
        read(one);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).details?.map(({ path }) => path)).toEqual(
        one.expected as string[],
      );
    });

  test("every tool is covered", () => {
    expect(new Set(cases.map(({ type }) => type))).toEqual(new Set(requestTypes));
  });

  test("an event of PagerDuty without a key has the same key again", () => {
    const keyless = { ...pagerDutyTrigger, dedup_key: undefined };
    const readKey = (body: object) => read({ name: "", type: "pagerduty", body, expected: [] })[0];
    expect(readKey(keyless)?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(readKey(keyless)?.key).toBe(readKey(keyless)?.key ?? "");
  });

  test("bodies that are odd, empty or hostile are rejected by name, and never crash", () => {
    const bodies: unknown[] = [null, [], 1, "x", {}, { alerts: [null, 1] }, { data: { event: 1 } }];
    for (const type of requestTypes)
      for (const body of bodies) {
        const paths = type === "json" ? SourceMapping.parse({ key: "$.a", title: "$.b" }) : null;
        try {
          readReports(
            { type, mapping: paths },
            { path: "", query: new URLSearchParams(), headers: {}, body },
          );
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }
    expect(requestTypes.length).toBe(10);
  });
});

/** Names of properties that all objects have. A table of words must not find them. */
const inherited = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"];

/** Returns copies of a value, each with one text replaced. */
function* replaceTexts(value: unknown, by: string): Generator<unknown> {
  if (typeof value === "string" || typeof value === "number") yield by;
  if (typeof value !== "object" || value === null) return;
  for (const [name, one] of Object.entries(value))
    for (const changed of replaceTexts(one, by))
      yield Array.isArray(value)
        ? value.with(Number(name), changed)
        : { ...value, [name]: changed };
}

function readValid(one: Case): Report[] {
  try {
    return read(one);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return [];
  }
}

test("no word of a request is taken for a property that all objects have", () => {
  let reports = 0;
  for (const one of cases)
    for (const word of inherited)
      for (const body of replaceTexts(one.body, word))
        for (const report of readValid({ ...one, body: body as object | string })) {
          reports += 1;
          const { status, priority } = report;
          expect(["open", "acknowledged", "resolved"]).toContain(status);
          expect([null, "low", "normal", "critical"]).toContain(priority);
        }
  const path = "/v2/alerts/samplekey/constructor";
  expect(readValid({ name: "", type: "opsgenie", body: {}, path, expected: [] })).toEqual([]);
  expect(reports).toBeGreaterThan(1_000);
});

describe("a body", () => {
  test("with a number that JavaScript would round keeps each digit, because it can be an identity", () => {
    const sent = String.raw`{"id": 12345678901234567891, "at": [-9007199254740993, 1.5, 7,
      0.1000000000000000, 1000000000000000e3], "text": "\"n: 12345678901234567,"}`;
    expect(parseSent(sent)).toEqual({
      id: "12345678901234567891",
      at: ["-9007199254740993", 1.5, 7, 0.1, 1e18],
      text: '"n: 12345678901234567,',
    });
  });

  test("with unescaped line breaks is JSON, as templates of tools write it", () => {
    expect(parseSent('{"text": "one\ntwo"}')).toEqual({ text: "one two" });
  });

  test("in several parts is a form, as Uptime Kuma sends it; binary data is rejected", async () => {
    const form = new FormData();
    form.set("data", JSON.stringify(kumaDown));
    const { headers, body } = new Response(form);
    const bytes = await new Response(body).bytes();
    const text = await decodeSent(bytes, headers.get("content-type") ?? "");
    const report = read({ name: "", type: "uptime-kuma", body: text, expected: [] })[0];
    expect(report).toMatchObject({ key: "monitor 29", status: "open" });
    expect(decodeSent(new Uint8Array([0xff, 0xfe]), "")).rejects.toThrow("text in UTF-8");
  });

  test("that is neither JSON nor a form is rejected", () => {
    expect(() => parseSent("hello there")).toThrow("neither JSON nor a form");
    expect(() => parseSent("{")).toThrow("neither JSON nor a form");
    expect(() => parseSent(`${"[".repeat(300)}${"]".repeat(300)}`)).toThrow();
  });
});

test("texts of strangers have no control and no misleading characters, and links show them encoded", () => {
  const report = {
    key: "1",
    status: "open",
    title: "\u001b[31mDisk\u202e\u200b full\u{e0041}",
    text: "one\u001b]8;;x\u0007\r\ntwo\u0000\u2066\tthree\ud800",
    priority: null,
    link: pickLink("https://a.example/\u202e\u200bx"),
  } as const;
  expect(boundReport(report)).toMatchObject({
    title: "[31mDisk full",
    text: "one ]8;;x \ntwo \tthree\ufffd",
    link: "https://a.example/%E2%80%AE%E2%80%8Bx",
  });
});
