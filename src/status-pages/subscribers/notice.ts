/** Writes notices of a status page as e-mails and as webhook payloads. */
import { capitalize } from "../../core/text/formatting.ts";
import type { z } from "zod";
import { type Message, createMarkdownFact } from "../../alerting/sending/messages.ts";
import type { NoticedIncident, NoticedMaintenance } from "./schema.ts";

/** Content of an incident notice. It names only monitors that the page shows, by their public names. */
export type IncidentData = z.infer<typeof NoticedIncident> & {
  message: string;
  /** Whether a person wrote the message; absent in notices of older versions. */
  isMarkdown?: boolean;
};

/** A notice to all subscribers of a page. Its content is stored once, so that all of them get the same. */
export type Notice = { id: string; /** RFC 3339. */ at: string } & NoticeContent;

export type NoticeContent =
  | {
      type: "incident.opened" | "incident.updated" | "incident.resolved" | "incident.postmortem";
      data: IncidentData;
    }
  | { type: "maintenance.planned"; data: z.infer<typeof NoticedMaintenance> }
  /** Asks an address to confirm its subscription. */
  | { type: "subscription.question"; data: Record<string, never> };

export type NoticeOrigin = {
  pageTitle: string;
  /** Address of the page, without a trailing slash. */
  pageUrl: string;
  /** IANA name of the time zone of times in e-mails. */
  timeZone: string;
};

type Words = Pick<Message, "title" | "facts" | "url"> & Partial<Message>;

/** Composes a notice as an e-mail. Only a confirmation question contains `confirmUrl`. */
export function buildNoticeMessage(
  deliveryId: string,
  notice: Notice,
  origin: NoticeOrigin,
  confirmUrl: string,
): Message {
  const words = composeWords(notice, origin, confirmUrl);
  return {
    id: deliveryId,
    type: "notice",
    severity: "info",
    tone: "info",
    acknowledgeUrl: null,
    acknowledgeUrls: new Map(),
    problem: null,
    at: notice.at,
    lines: words.facts.map(({ label, value }) => (label === "" ? value : `${label}: ${value}`)),
    alerts: [],
    ...words,
  };
}

function composeWords(notice: Notice, origin: NoticeOrigin, confirmUrl: string): Words {
  switch (notice.type) {
    case "subscription.question":
      return composeQuestion(origin, confirmUrl);
    case "maintenance.planned":
      return composeMaintenance(notice.data, origin);
    default:
      return composeIncident(notice, origin);
  }
}

function composeQuestion({ pageTitle }: NoticeOrigin, url: string): Words {
  const value = `This address was given for e-mail updates from ${pageTitle}. Follow the link to confirm. If it wasn't you, do nothing: you will get no more e-mails.`;
  return { title: `Confirm updates from ${pageTitle}`, facts: [{ label: "", value }], url };
}

function composeMaintenance(
  { title, description, startsAt, endsAt }: z.infer<typeof NoticedMaintenance>,
  { pageTitle, pageUrl, timeZone }: NoticeOrigin,
): Words {
  return {
    title: `Scheduled maintenance: ${title} – ${pageTitle}`,
    facts: [
      createMarkdownFact("", description === "" ? "Maintenance is scheduled." : description),
      { label: "From", value: formatTime(timeZone, startsAt) },
      { label: "Until", value: formatTime(timeZone, endsAt) },
    ],
    url: pageUrl,
  };
}

function composeIncident(
  { type, at, data }: Extract<Notice, { data: IncidentData }>,
  { pageTitle, pageUrl, timeZone }: NoticeOrigin,
): Words {
  const { id, title, status, severity, monitor, message, isMarkdown } = data;
  const affected = data.monitors ?? (monitor === null ? [] : [monitor]);
  const isOver = status === "resolved";
  return {
    title: `${type === "incident.postmortem" ? "Postmortem" : capitalize(status)}: ${title} – ${pageTitle}`,
    tone: isOver ? "up" : severity === "minor" ? "degraded" : "down",
    facts: [
      isMarkdown === true ? createMarkdownFact("", message) : { label: "", value: message },
      { label: "Severity", value: capitalize(severity) },
      ...(affected.length === 0 ? [] : [{ label: "Affects", value: affected.join(", ") }]),
      { label: "Time", value: formatTime(timeZone, at) },
    ],
    url: `${pageUrl}/incidents/${id}`,
    problem: { key: `signalbox-${id}`, isOver },
  };
}

function formatTime(timeZone: string, timestamp: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    dateStyle: "long",
    timeStyle: "short",
  });
  return `${format.format(new Date(timestamp))} (${timeZone})`;
}

/** Composes a notice as JSON for a webhook; null for a confirmation question, which is only for mailboxes. */
export function buildNoticePayload(
  { at, type, data }: Notice,
  { pageTitle, pageUrl }: NoticeOrigin,
): object | null {
  if (type === "subscription.question") return null;
  const page = { title: pageTitle, url: pageUrl };
  if (type === "maintenance.planned")
    return { type, timestamp: at, data: { page, maintenance: data } };
  const { message, isMarkdown: _typed, ...incident } = data;
  const url = `${pageUrl}/incidents/${incident.id}`;
  return { type, timestamp: at, data: { page, incident: { ...incident, url }, message } };
}
