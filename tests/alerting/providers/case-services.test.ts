/** PagerDuty, Opsgenie and Jira Service Management: each alert opens or closes a case instead of sending a message. */
import { describe, expect, test } from "bun:test";
import type { ChannelSettings, ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { caseTypes } from "../../../src/alerting/channels/schema.ts";
import type { Exchange } from "../../../src/core/outgoing/http/exchange.ts";
import type { Alert } from "../../../src/alerting/alert.ts";
import type { Provider, Verdict } from "../../../src/alerting/provider.ts";
import { providers } from "../../../src/alerting/providers.ts";
import {
  createAlert,
  alertTypes,
  deliveryId,
  createDoubtfulVerdict,
  createFinalVerdict,
  monitor,
  startReceiver,
  createMessage,
  retryVerdict,
  judgeReply,
} from "../../support/alert-receiver.ts";
import { replyWith } from "../../support/target.ts";

const page = `https://signalbox.lan/monitors/${monitor.id}`;
const testPage = "https://signalbox.lan/alert-channels/01a1fb90-0000-7000-8000-0000000000cc";
const caseOf = (id: string) => `signalbox-${id}`;
const shop = caseOf(monitor.id);
const facts = "Since: 2026-11-20 23:02:00 UTC\nGroup: Front of house";
const genie = { authorization: "GenieKey eb243592-7f3a" };

const pagerduty = { routingKey: "e93facc04764012d7bfb002500d5d1a6", region: "us" };
const opsgenie = { apiKey: "eb243592-7f3a", region: "us" };
const jsm = { apiKey: "eb243592-7f3a" };
const europe = { region: "eu" };

async function send(type: string, settings: object, alert: Alert) {
  await using to = await startReceiver();
  const provider = providers[type as ChannelType] as Provider<ChannelType>;
  await to.deliver(provider, settings as ChannelSettings<ChannelType>, createMessage(alert));
  return {
    url: to.urls.at(-1),
    headers: to.lastRequest().headers,
    size: to.lastRequest().body.length,
    body: to.parseLastBody(),
  };
}

const opened = {
  source: "Signalbox",
  alias: shop,
  message: "Shop is down",
  description: `The connection was refused.\n${facts}\n\n${page}`,
  priority: "P1",
  tags: ["signalbox", "monitor.down"],
  details: { group: "Front of house", url: page },
  entity: "Shop",
};
const closed = {
  source: "Signalbox",
  note: "Shop is up again\nHTTP 200 (OK).\nSince: 2026-11-20 23:02:00 UTC\nWas down for: 12 min 34 s\nLatency: 42 ms\nGroup: Front of house",
};
const triggered = {
  routing_key: pagerduty.routingKey,
  dedup_key: shop,
  event_action: "trigger",
  client: "Signalbox",
  client_url: page,
  links: [{ href: page, text: "Open in Signalbox" }],
  payload: {
    summary: "Shop is down",
    source: "Shop",
    severity: "critical",
    timestamp: "2026-11-20T23:02:00.000Z",
    class: "monitor.down",
    group: "Front of house",
    custom_details: {
      Message: "The connection was refused.",
      Since: "2026-11-20 23:02:00 UTC",
      Group: "Front of house",
    },
  },
};
const resolved = { routing_key: pagerduty.routingKey, dedup_key: shop, event_action: "resolve" };

const webhookUrl = "https://hooks.example/key";
const incidentio = { url: "https://api.incident.io/v2/alert_events/http/1", token: "token" };
const alertmanager = {
  server: "http://am.lan/am/",
  token: "token",
  username: null,
  password: null,
};
const alertsUrl = "http://am.lan/am/api/v2/alerts";

type Text = { title: string; type: string; severity: string; lines: string[] };
const downText = {
  title: "Shop is down",
  type: "monitor.down",
  severity: "critical",
  lines: ["The connection was refused.", ...facts.split("\n")],
};
const upText = {
  title: "Shop is up again",
  type: "monitor.up",
  severity: "info",
  lines: closed.note.split("\n").slice(1),
};

const buildSignl4Body = (status: string, { title, severity, lines }: Text) => ({
  Title: title,
  Message: lines.join("\n"),
  Link: page,
  Severity: severity,
  "X-S4-ExternalID": shop,
  "X-S4-Status": status,
  "X-S4-SourceSystem": "Signalbox",
});
const buildSplunkBody = (type: string, { title, lines }: Text) => ({
  message_type: type,
  entity_id: shop,
  entity_display_name: title,
  state_message: [title, ...lines].join("\n"),
  state_start_time: 1_795_215_720,
  monitoring_tool: "Signalbox",
  "vo_annotate.u.Open in Signalbox": page,
});
const buildIncidentIoEvent = (status: string, { title, type, severity, lines }: Text) => ({
  title,
  description: lines.join("\n\n"),
  deduplication_key: shop,
  status,
  source_url: page,
  metadata: { type, severity, monitor: "Shop", tags: [], group: "Front of house" },
});
const buildAlertmanagerBody = (isOpen: boolean, { title, type, severity, lines }: Text) => [
  {
    labels: { alertname: "Signalbox", case: shop, instance: monitor.id },
    annotations: { summary: title, description: lines.join("\n"), severity, type },
    startsAt: "2026-11-20T23:02:00.000Z",
    endsAt: isOpen ? "2027-11-20T23:02:07.900Z" : "2026-11-20T23:02:07.900Z",
    generatorURL: page,
  },
];

const close = `/${shop}/close?identifierType=alias`;
const jsmUrl = "https://api.atlassian.com/jsm/ops/integration/v2/alerts";

test.each<[type: string, settings: object, alert: Alert["type"], url: string, body: object]>([
  ["pagerduty", pagerduty, "monitor.down", "https://events.pagerduty.com/v2/enqueue", triggered],
  ["pagerduty", pagerduty, "monitor.up", "https://events.pagerduty.com/v2/enqueue", resolved],
  [
    "pagerduty",
    { ...pagerduty, ...europe },
    "monitor.down",
    "https://events.eu.pagerduty.com/v2/enqueue",
    triggered,
  ],
  ["opsgenie", opsgenie, "monitor.down", "https://api.opsgenie.com/v2/alerts", opened],
  ["opsgenie", opsgenie, "monitor.up", `https://api.opsgenie.com/v2/alerts${close}`, closed],
  [
    "opsgenie",
    { ...opsgenie, ...europe },
    "monitor.down",
    "https://api.eu.opsgenie.com/v2/alerts",
    opened,
  ],
  [
    "opsgenie",
    { ...opsgenie, ...europe },
    "monitor.up",
    `https://api.eu.opsgenie.com/v2/alerts${close}`,
    closed,
  ],
  ["jsm", jsm, "monitor.down", jsmUrl, opened],
  ["jsm", jsm, "monitor.up", `${jsmUrl}${close}`, closed],
  ["signl4", { webhookUrl }, "monitor.down", webhookUrl, buildSignl4Body("new", downText)],
  ["signl4", { webhookUrl }, "monitor.up", webhookUrl, buildSignl4Body("resolved", upText)],
  [
    "splunkoncall",
    { webhookUrl },
    "monitor.down",
    webhookUrl,
    buildSplunkBody("CRITICAL", downText),
  ],
  ["splunkoncall", { webhookUrl }, "monitor.up", webhookUrl, buildSplunkBody("RECOVERY", upText)],
  [
    "incidentio",
    incidentio,
    "monitor.down",
    incidentio.url,
    buildIncidentIoEvent("firing", downText),
  ],
  [
    "incidentio",
    incidentio,
    "monitor.up",
    incidentio.url,
    buildIncidentIoEvent("resolved", upText),
  ],
  ["alertmanager", alertmanager, "monitor.down", alertsUrl, buildAlertmanagerBody(true, downText)],
  ["alertmanager", alertmanager, "monitor.up", alertsUrl, buildAlertmanagerBody(false, upText)],
])("%s with %j: %s", async (type, settings, alert, url, body) => {
  const sent = await send(type, settings, createAlert(alert));
  expect({ url: sent.url, body: sent.body }).toEqual({ url, body });
  if (["opsgenie", "jsm"].includes(type)) expect(sent.headers).toMatchObject(genie);
  if (type === "incidentio" || type === "alertmanager")
    expect(sent.headers).toMatchObject({ authorization: "Bearer token" });
});

test("there are no digests: each alert opens and closes its own case", () => {
  for (const type of caseTypes) expect(providers[type as ChannelType].digests).toBe(false);
});

test("a test ends at Alertmanager after five minutes, because no one can end it there", async () => {
  const measureLifetimeMs = async (type: Parameters<typeof createAlert>[0]) => {
    const before = Date.now();
    const [{ endsAt }] = (await send("alertmanager", alertmanager, createAlert(type))).body;
    return Date.parse(endsAt) - before;
  };
  const [test, down] = [await measureLifetimeMs("test"), await measureLifetimeMs("monitor.down")];
  expect(down - test).toBeGreaterThan(364 * 86_400_000);
});

describe("an issue tracker", () => {
  const server = { server: "https://git.lan", token: "token" };
  const repository = { ...server, repository: "acme/ops" };
  const trackers: [type: ChannelType, settings: object, text: string][] = [
    ["github", repository, "body"],
    ["gitea", repository, "body"],
    ["gitlab", { ...server, project: "acme/ops" }, "description"],
  ];

  /** A tracker with its open issues, and its requests. */
  function createTracker(text: string) {
    const open: Record<string, unknown>[] = [];
    const asked: string[] = [];
    const exchange: Exchange = async ({ url, method, body }) => {
      const fields = typeof body === "string" ? JSON.parse(body) : {};
      const isComment = /\/(comments|notes)$/.test(url.pathname);
      asked.push(isComment ? "comment" : method);
      if (method === "POST" && !isComment)
        open.push({ number: 7, iid: 7, [text]: fields[text], title: fields.title });
      if (method === "PATCH" || method === "PUT") open.pop();
      return { status: 200, headers: new Map(), body: JSON.stringify(open) };
    };
    return { open, asked, exchange };
  }

  test.each(trackers)(
    "%s gets one issue per case, comments and its end",
    async (type, settings, text) => {
      const tracker = createTracker(text);
      await using to = await startReceiver();
      const provider = providers[type] as Provider<ChannelType>;
      const deliver = (alert: Alert, id = deliveryId) =>
        to.deliver(provider, settings as never, { ...createMessage(alert), id }, tracker);
      const down = createAlert("monitor.down", { message: "/close @all <!-- #1 [a](b)" });
      await deliver(down);
      // Its response was lost.
      await deliver(down);
      expect(tracker.asked).toEqual(["GET", "POST", "GET"]);
      expect(tracker.open[0]?.[text]).toStartWith(
        "\\/close @\u200ball \\<!-- \\#1 \\[a\\](b)  \nSince",
      );
      await deliver(createAlert("monitor.reminder"), "other");
      const up = createAlert("monitor.up");
      expect(await deliver(up, "third")).toEqual({ outcome: "delivered" });
      expect(await deliver(up, "third")).toMatchObject({ outcome: "delivered" });
      expect(tracker.open).toEqual([]);
      const close = type === "gitlab" ? "PUT" : "PATCH";
      expect(tracker.asked.slice(3)).toEqual(["GET", "comment", "GET", close, "comment", "GET"]);
    },
  );

  test("that limits its requests is asked again later", async () => {
    const judge = (status: number, headers = {}) =>
      judgeReply(replyWith(status, "{}", headers), providers.github, repository as never);
    const limited = retryVerdict("GitHub accepts no more requests at present.");
    expect(await judge(403, { "x-ratelimit-remaining": "0" })).toEqual(limited);
    const forbidden = "GitHub reports that the token is not allowed to change issues.";
    expect(await judge(403)).toEqual(createDoubtfulVerdict(forbidden));
    expect(await judge(200)).toMatchObject({ outcome: "failed", failure: "passing" });
  });
});

test("an acknowledgment reaches the case, or sends nothing if the service has none", async () => {
  const change = { type: "acknowledge", note: "Ann is on it." } as const;
  const message = {
    ...createMessage(createAlert("monitor.down")),
    problem: { key: shop, isOver: false, change },
  };
  const sent: Record<string, unknown> = {};
  for (const [type, settings] of Object.entries({
    signl4: { webhookUrl },
    splunkoncall: { webhookUrl },
    incidentio,
    alertmanager,
  })) {
    await using to = await startReceiver(replyWith(200, '{"result":"success"}'));
    const provider = providers[type as ChannelType] as Provider<ChannelType>;
    const verdict = await to.deliver(provider, settings as never, message);
    expect(verdict).toMatchObject({ outcome: "delivered" });
    sent[type] = to.asked.map(({ body }) => JSON.parse(body));
  }
  expect(sent).toMatchObject({
    signl4: [{ "X-S4-Status": "acknowledged", "X-S4-ExternalID": shop }],
    splunkoncall: [{ message_type: "ACKNOWLEDGEMENT", entity_id: shop }],
    incidentio: [],
    alertmanager: [],
  });
});

test("Jira Service Management gets the same bodies as Opsgenie, for every type of alert", async () => {
  for (const type of alertTypes)
    expect((await send("jsm", jsm, createAlert(type))).body).toEqual(
      (await send("opsgenie", opsgenie, createAlert(type))).body,
    );
});

describe("other alerts", () => {
  test("slowness is a warning of the same case; a monitor without a group has none", async () => {
    const alone = { ...monitor, groupId: null, groupName: null };
    const slow = createAlert("monitor.degraded", { monitor: alone });
    const { dedup_key, event_action, payload } = (await send("pagerduty", pagerduty, slow)).body;
    expect([dedup_key, event_action]).toEqual([shop, "trigger"]);
    expect(payload).toMatchObject({ severity: "warning", class: "monitor.degraded" });
    expect(payload).not.toHaveProperty("group");
    expect((await send("opsgenie", opsgenie, slow)).body).toMatchObject({
      alias: shop,
      message: "Shop is degraded",
      priority: "P3",
    });
  });

  test("an incident has its own case", async () => {
    const dedup_key = caseOf("01a1fb90-0000-7000-8000-0000000000dd");
    expect((await send("pagerduty", pagerduty, createAlert("incident.opened"))).body).toMatchObject(
      {
        dedup_key,
        event_action: "trigger",
        payload: { summary: "Incident: Checkout fails", source: "Signalbox", severity: "error" },
      },
    );
    expect((await send("pagerduty", pagerduty, createAlert("incident.resolved"))).body).toEqual({
      ...resolved,
      dedup_key,
    });
  });

  test("a test alert has the lowest priority", async () => {
    expect((await send("pagerduty", pagerduty, createAlert("test"))).body).toMatchObject({
      dedup_key: caseOf(deliveryId),
      event_action: "trigger",
      payload: {
        summary: "Test alert from Signalbox",
        source: "Signalbox",
        severity: "info",
        custom_details: { Message: "Alerts of this channel arrive here." },
      },
    });
    expect((await send("opsgenie", opsgenie, createAlert("test"))).body).toEqual({
      source: "Signalbox",
      alias: caseOf(deliveryId),
      message: "Test alert from Signalbox",
      description: `Alerts of this channel arrive here.\n\n${testPage}`,
      priority: "P5",
      tags: ["signalbox", "test"],
      details: { url: testPage },
    });
  });
});

test("overlong names and messages are cut", async () => {
  const incident = {
    id: "1",
    title: "ä".repeat(2_000),
    status: "open",
    severity: "major",
  } as const;
  const long = createAlert("incident.opened", {
    incident: { ...incident, monitorId: null },
    message: "x".repeat(600_000),
  });
  const { body, size } = await send("pagerduty", pagerduty, long);
  expect(body.payload.summary).toBe(`Incident: ${"ä".repeat(1_013)}…`);
  expect(size).toBeLessThan(512 * 1_024);
  const named = { monitor: { ...monitor, name: "x".repeat(255) }, message: "y".repeat(30_000) };
  const down = (await send("opsgenie", opsgenie, createAlert("monitor.down", named))).body;
  expect(down.message).toBe(`${"x".repeat(129)}…`);
  expect(down.description).toHaveLength(15_000);
  expect(down.description).toEndWith(`y…\n\n${page}`);
  expect(
    (await send("opsgenie", opsgenie, createAlert("monitor.up", named))).body.note,
  ).toHaveLength(25_000);
});

const refusedByOpsgenie: [number, string][] = [
  [401, "says that the API key is not valid, or its integration is off."],
  [402, "says that the account's plan has no alerts of this kind."],
  [403, "says that the API key is not allowed to do this."],
  [422, "refused the alert."],
];
const unchanging: [number, Verdict][] = [
  [202, { outcome: "delivered" }],
  [429, retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", 17)],
  [500, retryVerdict("The receiver responded with HTTP 500 (Internal Server Error).")],
];

describe("responses", () => {
  test.each<[type: string, settings: object, responses: [number, Verdict][]]>([
    [
      "pagerduty",
      pagerduty,
      [
        [
          400,
          createFinalVerdict("PagerDuty rejected the event; the integration key may be wrong."),
        ],
      ],
    ],
    [
      "opsgenie",
      opsgenie,
      refusedByOpsgenie.map(([status, reason]) => [
        status,
        createDoubtfulVerdict(`Opsgenie ${reason}`),
      ]),
    ],
    [
      "jsm",
      jsm,
      refusedByOpsgenie.map(([status, reason]) => [
        status,
        createDoubtfulVerdict(`Jira Service Management ${reason}`),
      ]),
    ],
    ["signl4", { webhookUrl }, [[201, { outcome: "delivered" }]]],
    [
      "incidentio",
      incidentio,
      [
        [401, createDoubtfulVerdict("incident.io reports that the token is not valid.")],
        [404, createDoubtfulVerdict("incident.io reports that the alert source does not exist.")],
      ],
    ],
    ["alertmanager", alertmanager, [[200, { outcome: "delivered" }]]],
  ])("%s interprets some statuses differently", async (type, settings, responses) => {
    const provider = providers[type as ChannelType] as Provider<ChannelType>;
    for (const [status, verdict] of [...responses, ...unchanging]) {
      const headers: Record<string, string> = status === 429 ? { "retry-after": "17" } : {};
      const reply = replyWith(status, '{"message":"internal gossip"}', headers);
      expect(await judgeReply(reply, provider, settings as ChannelSettings<ChannelType>)).toEqual(
        verdict,
      );
    }
  });
});
