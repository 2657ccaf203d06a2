import { capitalized } from "../../core/text/words.ts";
import type { z } from "zod";
import { type Message, writtenFact } from "../../alerting/sending/messages.ts";
import type { NoticedIncident, NoticedMaintenance } from "./schema.ts";

/** With the public name of its monitor, where the page shows that. */
export type IncidentData = z.infer<typeof NoticedIncident> & {
  message: string;
  /** Whether people typed it; absent in what an older version told. */
  isMarkdown?: boolean;
};

/** What a page tells its subscribers; frozen when it is made, so that all of them hear the same. */
export type Notice = { id: string; /** RFC 3339. */ at: string } & NoticeContent;

export type NoticeContent =
  | {
      type: "incident.opened" | "incident.updated" | "incident.resolved" | "incident.postmortem";
      data: IncidentData;
    }
  | { type: "maintenance.planned"; data: z.infer<typeof NoticedMaintenance> }
  /** Asks an address whether it wants to be told. */
  | { type: "subscription.question"; data: Record<string, never> };

export type NoticeOrigin = {
  pageTitle: string;
  /** Address of the page, without a trailing slash. */
  pageUrl: string;
  /** IANA name: how the mail writes times. */
  timeZone: string;
};

/** A notice in the words of an e-mail; `confirmUrl` is where the question leads. */
export function noticeMessage(
  deliveryId: string,
  { at, type, data }: Notice,
  { pageTitle, pageUrl, timeZone }: NoticeOrigin,
  confirmUrl: string,
): Message {
  const made = (fields: Pick<Message, "title" | "facts" | "url"> & Partial<Message>): Message => ({
    id: deliveryId,
    type: "notice",
    severity: "info",
    tone: "info",
    problem: null,
    at,
    lines: fields.facts.map(({ label, value }) => (label === "" ? value : `${label}: ${value}`)),
    alerts: [],
    ...fields,
  });
  if (type === "subscription.question")
    return made({
      title: `Confirm updates from ${pageTitle}`,
      facts: [
        {
          label: "",
          value: `This address was given for e-mail updates from ${pageTitle}. Follow the link to confirm. If it wasn't you, do nothing: you will get no more e-mails.`,
        },
      ],
      url: confirmUrl,
    });
  const time = (timestamp: string) =>
    new Intl.DateTimeFormat("en-GB", {
      timeZone,
      dateStyle: "long",
      timeStyle: "short",
    }).format(new Date(timestamp));
  if (type === "maintenance.planned") {
    const { title, description, startsAt, endsAt } = data;
    return made({
      title: `Scheduled maintenance: ${title} – ${pageTitle}`,
      facts: [
        writtenFact("", description === "" ? "Maintenance is scheduled." : description),
        { label: "From", value: `${time(startsAt)} (${timeZone})` },
        { label: "Until", value: `${time(endsAt)} (${timeZone})` },
      ],
      url: pageUrl,
    });
  }
  const { id, title, status, severity, monitor, message, isMarkdown } = data;
  const affected = data.monitors ?? (monitor === null ? [] : [monitor]);
  const isOver = status === "resolved";
  return made({
    title: `${type === "incident.postmortem" ? "Postmortem" : capitalized(status)}: ${title} – ${pageTitle}`,
    tone: isOver ? "up" : severity === "minor" ? "degraded" : "down",
    facts: [
      isMarkdown === true ? writtenFact("", message) : { label: "", value: message },
      { label: "Severity", value: capitalized(severity) },
      ...(affected.length === 0 ? [] : [{ label: "Affects", value: affected.join(", ") }]),
      { label: "Time", value: `${time(at)} (${timeZone})` },
    ],
    url: `${pageUrl}/incidents/${id}`,
    problem: { key: `signalbox-${id}`, isOver },
  });
}

/** The same as JSON for a webhook; null for what only people are asked. */
export function noticePayload(
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
