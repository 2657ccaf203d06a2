/** The requests of every kind of sender about a problem and its end, for tests and for load. */
import { createSign, type KeyObject } from "node:crypto";
import type { SourceType } from "../../src/alerting/sources/schema.ts";
import { requestBounds, sourceBounds } from "../../src/core/limits.ts";

/** A report, at the time of the sender's clock. */
export type Reported = {
  problem: string;
  isOver: boolean;
  /** Unix milliseconds. */
  startedAt: number;
  at: number;
};

/** A request; for mails, the path is the recipient and the body is the mail. */
export type SentRequest = {
  method: "GET" | "POST";
  path: string;
  body: string;
  headers?: Record<string, string>;
};

export type Sender = {
  /** Type of its alert source, or a job, which can also report with a ping key. */
  receiver: SourceType | "job" | "job with a ping key";
  /** Fields of the source or monitor. */
  fields?: object;
  /** Patterns of the paths that it uses; none for mail. */
  paths: readonly string[];
  write: (token: string, reported: Reported) => SentRequest;
  /** A longer body is rejected: 413. Null if only its start is read. */
  maxBytes: number | null;
  /** Status for a wrong token. */
  unknownStatus: number;
  /** Whether a request that is repeated after the end of its problem is recognized. */
  knowsRepeated?: boolean;
  /** Whether reports name their occurrence of the problem, so that their order does not matter. */
  knowsOccurrence?: boolean;
};

const formatTime = (at: number) => new Date(at).toISOString();
const createPost = (
  path: string,
  body: object | string,
  headers?: Record<string, string>,
): SentRequest => ({
  method: "POST",
  path,
  body: typeof body === "string" ? body : JSON.stringify(body),
  ...(headers && { headers }),
});

const buildForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

const writeGroup = ({ problem, isOver, startedAt, at }: Reported) => ({
  version: "4",
  groupKey: `{}:{alertname="${problem}"}`,
  status: isOver ? "resolved" : "firing",
  receiver: "signalbox",
  alerts: [
    {
      status: isOver ? "resolved" : "firing",
      labels: { alertname: problem, severity: "critical" },
      annotations: { summary: `${problem} is broken` },
      startsAt: formatTime(startedAt),
      endsAt: isOver ? formatTime(at) : "0001-01-01T00:00:00Z",
      fingerprint: problem,
    },
  ],
});

/** A mail, whose identity is that of its report. */
const writeMail = (recipient: string, { problem, isOver, at }: Reported): SentRequest => ({
  method: "POST",
  path: recipient,
  body: [
    `Message-ID: <${problem}.${at}.${isOver ? "over" : "start"}@nas>`,
    `Date: ${new Date(at).toUTCString()}`,
    "From: nas@lan.example",
    `Subject: ${problem} ${isOver ? "OK" : "failed"}`,
    "",
    "Disk 2.",
  ].join("\r\n"),
});

const amazon = "https://sns.eu-central-1.amazonaws.com";
/** Where the certificate of the key of `createSnsSender` is. */
export const snsCertificateUrl = `${amazon}/SimpleNotificationService-1.pem`;

function writeNotification({ problem, isOver, startedAt, at }: Reported, key: KeyObject) {
  const arn = `arn:aws:cloudwatch:eu-central-1:123456789012:alarm:${problem}`;
  const message: Record<string, string> = {
    Message: JSON.stringify({
      AlarmName: problem,
      AlarmArn: arn,
      NewStateValue: isOver ? "OK" : "ALARM",
      NewStateReason: "Threshold Crossed",
      StateChangeTime: formatTime(isOver ? at : startedAt).replace("Z", "+0000"),
    }),
    MessageId: Bun.hash(`${problem}${startedAt}${isOver}`).toString(16),
    Subject: `${isOver ? "OK" : "ALARM"}: ${problem}`,
    Timestamp: formatTime(at),
    TopicArn: "arn:aws:sns:eu-central-1:123456789012:alarms",
    Type: "Notification",
  };
  const text = Object.entries(message).map(([name, value]) => `${name}\n${value}\n`);
  const signature = createSign("RSA-SHA256").update(text.join("")).sign(key, "base64");
  const signed = { Signature: signature, SigningCertURL: snsCertificateUrl };
  return { ...message, ...signed, SignatureVersion: "2" };
}

const source = {
  paths: ["/in/:token"],
  maxBytes: sourceBounds.body.value,
  unknownStatus: 404,
} as const;
const job = {
  receiver: "job",
  maxBytes: requestBounds.pushReport.value,
  unknownStatus: 404,
} as const;
const ping = {
  ...job,
  paths: ["/ping/:code", "/ping/:code/:second"],
  maxBytes: null,
};

/** All senders but Amazon SNS, whose requests need a key. */
export const senders: Readonly<Record<string, Sender>> = {
  Alertmanager: {
    ...source,
    receiver: "alertmanager",
    knowsRepeated: true,
    knowsOccurrence: true,
    write: (token, reported) => createPost(`/in/${token}`, writeGroup(reported)),
  },
  Grafana: {
    ...source,
    receiver: "grafana",
    knowsRepeated: true,
    knowsOccurrence: true,
    write: (token, reported) => createPost(`/in/${token}`, { ...writeGroup(reported), orgId: 1 }),
  },
  PagerDuty: {
    receiver: "pagerduty",
    paths: ["/v2/enqueue"],
    maxBytes: 512 * 1024,
    unknownStatus: 400,
    write: (token, { problem, isOver, at }) =>
      createPost("/v2/enqueue", {
        routing_key: token,
        event_action: isOver ? "resolve" : "trigger",
        dedup_key: problem,
        payload: { summary: `${problem} is broken`, source: "db1", timestamp: formatTime(at) },
      }),
  },
  Opsgenie: {
    receiver: "opsgenie",
    paths: ["/v2/alerts", "/v2/alerts/:id/:action"],
    maxBytes: sourceBounds.body.value,
    unknownStatus: 403,
    write: (token, { problem, isOver }) => {
      const headers = { Authorization: `GenieKey ${token}` };
      return isOver
        ? createPost(
            `/v2/alerts/${problem}/close?identifierType=alias`,
            { source: "script" },
            headers,
          )
        : createPost("/v2/alerts", { message: `${problem} is broken`, alias: problem }, headers);
    },
  },
  "Uptime Kuma": {
    ...source,
    receiver: "uptime-kuma",
    write: (token, { problem, isOver, at }) =>
      createPost(`/in/${token}`, {
        heartbeat: {
          monitorID: problem,
          status: isOver ? 1 : 0,
          time: formatTime(at),
          msg: "timeout",
        },
        monitor: { id: problem, name: problem, url: "https://shop.example" },
        msg: problem,
      }),
  },
  Zabbix: {
    ...source,
    receiver: "zabbix",
    knowsRepeated: true,
    knowsOccurrence: true,
    write: (token, { problem, isOver, startedAt }) =>
      createPost(`/in/${token}`, {
        event_id: `${problem} ${startedAt}`,
        event_value: isOver ? "0" : "1",
        event_name: problem,
        event_nseverity: "4",
        host_name: "db1",
      }),
  },
  Checkmk: {
    ...source,
    receiver: "checkmk",
    write: (token, { problem, isOver }) =>
      createPost(
        `/in/${token}`,
        buildForm({
          WHAT: "SERVICE",
          NOTIFICATIONTYPE: isOver ? "RECOVERY" : "PROBLEM",
          HOSTNAME: "db1",
          SERVICEDESC: problem,
          SERVICESTATE: isOver ? "OK" : "CRITICAL",
        }),
      ),
  },
  Sentry: {
    ...source,
    receiver: "sentry",
    write: (token, { problem, isOver, at }) =>
      createPost(
        `/in/${token}`,
        {
          action: isOver ? "resolved" : "created",
          data: { issue: { id: problem, title: problem, level: "error" } },
        },
        { "Sentry-Hook-Resource": "issue", "Sentry-Hook-Timestamp": `${at / 1000}` },
      ),
  },
  "any JSON": {
    ...source,
    receiver: "json",
    fields: { mapping: { key: "$.id", status: "$.state", title: "$.id" } },
    write: (token, { problem, isOver }) =>
      createPost(`/in/${token}`, { id: problem, state: isOver ? "ok" : "alarm" }),
  },
  "a mail to a source": {
    receiver: "email",
    paths: [],
    maxBytes: null,
    unknownStatus: 404,
    knowsRepeated: true,
    write: (token, reported) => writeMail(`nas+${token}@signalbox.lan`, reported),
  },
  "a job": {
    ...job,
    paths: ["/push/:token"],
    write: (token, { isOver }) =>
      createPost(`/push/${token}`, buildForm({ status: isOver ? "up" : "down" })),
  },
  "a job of Uptime Kuma": {
    ...job,
    paths: ["/api/push/:token"],
    maxBytes: null,
    write: (token, { isOver }) => ({
      ...createPost(`/api/push/${token}?status=${isOver ? "up" : "down"}&msg=OK&ping=`, ""),
      method: "GET",
    }),
  },
  "a ping of Healthchecks": {
    ...ping,
    write: (token, { isOver, at }) =>
      createPost(`/ping/${token}${isOver ? "" : "/fail"}`, `${formatTime(at)} 12 tables`),
  },
  "a ping with an exit status": {
    ...ping,
    write: (token, { isOver }) => ({
      ...createPost(`/ping/${token}/${isOver ? 0 : 3}`, ""),
      method: "GET",
    }),
  },
  "a ping with a ping key": {
    ...ping,
    receiver: "job with a ping key",
    paths: ["/ping/:code/:second", "/ping/:code/:second/:third"],
    write: (token, { isOver }) => createPost(`/ping/${token}${isOver ? "" : "/fail"}`, ""),
  },
  "the Watchdog of Alertmanager": {
    ...ping,
    paths: ["/ping/:code"],
    // Firing is the good state.
    write: (token, { isOver, ...reported }) =>
      createPost(`/ping/${token}`, writeGroup({ ...reported, isOver: !isOver })),
  },
  "an external endpoint of Gatus": {
    ...job,
    paths: ["/api/v1/endpoints/:key/external"],
    maxBytes: null,
    write: (token, { isOver }) =>
      createPost(`/api/v1/endpoints/core_job/external?success=${isOver}&duration=10s`, "", {
        Authorization: `Bearer ${token}`,
      }),
  },
  "a mail to a job": {
    ...job,
    paths: [],
    maxBytes: null,
    knowsRepeated: true,
    fields: { failureKeywords: ["failed"] },
    write: (token, reported) => writeMail(`${token}@signalbox.lan`, reported),
  },
};

/** Amazon SNS with an alarm of CloudWatch, signed with this key. */
export const createSnsSender = (key: KeyObject): Sender => ({
  ...source,
  receiver: "aws-sns",
  knowsRepeated: true,
  knowsOccurrence: true,
  write: (token, reported) => createPost(`/in/${token}`, writeNotification(reported, key)),
});

export const isMail = ({ paths }: Sender): boolean => paths.length === 0;

/** Makes the body of a request as long as this, without another meaning. */
export function padBody(sent: SentRequest, bytes: number): SentRequest {
  const { body } = sent;
  const missing = Math.max(0, bytes - Buffer.byteLength(body));
  const padded = body.startsWith("{")
    ? `${body.slice(0, -1)}${" ".repeat(missing)}}`
    : body.includes("=")
      ? `${body}&${"x".repeat(missing - 1)}`
      : `${body}${"\r\nMore of the same log.".repeat(missing / 22)}`;
  return { ...sent, method: "POST", body: padded };
}
