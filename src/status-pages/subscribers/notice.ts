/** Writes notices of a status page as e-mails and as webhook payloads. */
import type { z } from "zod";
import { type Message, createMarkdownFact } from "../../alerting/sending/messages.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { getFormatter } from "../../core/time/times.ts";
import type { PublicIncident } from "../formats/public-data.ts";
import { composeAutomaticTitle, noSources, translateMessage } from "../languages/updates.ts";
import type { Language } from "../languages/language.ts";
import type { MessageSources } from "../languages/updates.ts";
import type { maintenanceNotices, NoticedIncident, NoticedMaintenance } from "./schema.ts";

/** Content of an incident notice. It names only monitors that the page shows, by their public names. */
export type IncidentData = z.infer<typeof NoticedIncident> & {
  message: string;
  /** Whether a person wrote the message; absent in notices of older versions. */
  isMarkdown?: boolean;
  /** Facts of automatic texts, and texts in other languages; absent without any. */
  automatic?: NonNullable<PublicIncident["automatic"]>;
  sources?: MessageSources;
};

/** Content of a notice of maintenance. */
export type MaintenanceData = z.infer<typeof NoticedMaintenance> & {
  /** Times of the window and its rule, to notice changes; absent in notices of older versions. */
  times?: string;
  /** Affected components, to notice changes: the scope of a change also has those before it. */
  componentIds?: string[] | null;
};

/** A notice to all subscribers of a page. Its content is stored once, so that all of them get the same. */
export type Notice = { id: string; /** RFC 3339. */ at: string } & NoticeContent;

export type NoticeContent =
  | {
      type: "incident.opened" | "incident.updated" | "incident.resolved" | "incident.postmortem";
      data: IncidentData;
    }
  | { type: (typeof maintenanceNotices)[number]; data: MaintenanceData }
  /** The week of a page. Each recipient gets what they chose. */
  | { type: "digest"; data: { from: string; to: string } }
  /** Asks an address to confirm its subscription. */
  | { type: "subscription.question"; data: Record<string, never> };

export type NoticeOrigin = {
  pageTitle: string;
  /** Address of the page, without a trailing slash. */
  pageUrl: string;
  /** IANA name of the time zone of times in e-mails. */
  timeZone: string;
  /** Default language of the page. */
  pageLanguage: PageLanguage;
  /** Language of the recipient. */
  language: Language;
  /** Whether the recipients are the readers of a channel. */
  isChat?: boolean;
};

type NoticeText = Pick<Message, "title" | "facts" | "url"> & Partial<Message>;

/** Composes a notice as an e-mail. Only a confirmation question contains `confirmUrl`. */
export function buildNoticeMessage(
  deliveryId: string,
  notice: Notice,
  origin: NoticeOrigin,
  confirmUrl: string,
  items: readonly Notice[] | null = null,
): Message {
  const words =
    items === null ? composeWords(notice, origin, confirmUrl) : composeDigest(items, origin);
  return {
    id: deliveryId,
    type: "notice",
    severity: "info",
    tone: "info",
    acknowledgeUrl: null,
    acknowledgeUrls: new Map(),
    problem: null,
    at: notice.at,
    lines: words.facts.map(({ label, value }) =>
      label === "" ? value : origin.language.translate("labeled", { label, text: value }),
    ),
    alerts: [],
    ...words,
  };
}

function composeWords(notice: Notice, origin: NoticeOrigin, confirmUrl: string): NoticeText {
  if (notice.type === "subscription.question") return composeQuestion(origin, confirmUrl);
  // The items are added for each recipient.
  if (notice.type === "digest") return composeDigest([], origin);
  return isMaintenance(notice)
    ? composeMaintenance(notice, origin)
    : composeIncident(notice, origin);
}

function composeQuestion(
  { pageTitle: title, language, isChat }: NoticeOrigin,
  url: string,
): NoticeText {
  const value = language.translate(isChat === true ? "confirmChatText" : "confirmText", { title });
  return {
    title: language.translate("confirmTitle", { title }),
    facts: [{ label: "", value }],
    url,
  };
}

/** The label of each notice of maintenance, and its sentence. */
const maintenanceWords = {
  "maintenance.planned": ["scheduledMaintenance", "maintenanceIsScheduled"],
  "maintenance.changed": ["maintenanceChanged", "maintenancePlanChanged"],
  "maintenance.reminder": ["maintenanceReminder", "maintenanceStartsSoon"],
  "maintenance.started": ["maintenanceInProgress", "maintenanceIsInProgress"],
  "maintenance.completed": ["maintenanceCompleted", "maintenanceIsCompleted"],
  "maintenance.cancelled": ["maintenanceCancelled", "maintenanceIsCancelled"],
} as const;

function composeMaintenance(
  { type, data }: MaintenanceNotice,
  { pageTitle, pageUrl, timeZone, language }: NoticeOrigin,
): NoticeText {
  const { title, description, startsAt, endsAt } = data;
  const [label, sentence] = maintenanceWords[type];
  const showsDates = type !== "maintenance.planned" || description === "";
  return {
    title: language.translate("mailTitle", {
      label: language.translate(label),
      title,
      page: pageTitle,
    }),
    facts: [
      ...(showsDates ? [{ label: "", value: language.translate(sentence) }] : []),
      ...(description === "" ? [] : [createMarkdownFact("", description)]),
      { label: language.translate("mailFrom"), value: formatTime(language, timeZone, startsAt) },
      { label: language.translate("mailUntil"), value: formatTime(language, timeZone, endsAt) },
    ],
    url: pageUrl,
  };
}

function composeIncident(
  { type, at, data }: Extract<Notice, { data: IncidentData }>,
  origin: NoticeOrigin,
): NoticeText {
  const { pageTitle, pageUrl, timeZone, language } = origin;
  const { id, status, severity, monitor, isMarkdown } = data;
  const { title, message } = translateIncidentData(data, origin);
  const label = language.translate(type === "incident.postmortem" ? "postmortem" : status);
  const affected = data.monitors ?? (monitor === null ? [] : [monitor]);
  const isOver = status === "resolved";
  return {
    title: language.translate("mailTitle", { label, title, page: pageTitle }),
    tone: isOver ? "up" : severity === "minor" ? "degraded" : "down",
    facts: [
      isMarkdown === true ? createMarkdownFact("", message) : { label: "", value: message },
      { label: language.translate("mailSeverity"), value: language.translate(severity) },
      ...(affected.length === 0
        ? []
        : [
            {
              label: language.translate("mailAffects"),
              value: affected.join(language.translate("separator")),
            },
          ]),
      { label: language.translate("mailTime"), value: formatTime(language, timeZone, at) },
    ],
    url: `${pageUrl}/incidents/${id}`,
    problem: { key: `signalbox-${id}`, isOver },
  };
}

/** Returns the title and the message in the language of the recipient. */
function translateIncidentData(
  { title, message, automatic, sources = noSources }: IncidentData,
  { language, pageLanguage }: NoticeOrigin,
): { title: string; message: string } {
  const subject = automatic?.subject ?? null;
  return {
    title: automatic?.hasTitle === true ? composeAutomaticTitle(language, subject) : title,
    message: translateMessage(language, message, sources, subject, pageLanguage).message,
  };
}

function formatTime({ locale }: Language, timeZone: string, timestamp: string): string {
  const format = getFormatter(timeZone, { dateStyle: "long", timeStyle: "short" }, locale);
  return `${format.format(Date.parse(timestamp))} (${timeZone})`;
}

type MaintenanceNotice = Extract<Notice, { type: keyof typeof maintenanceWords }>;

const isMaintenance = (notice: Notice): notice is MaintenanceNotice =>
  notice.type in maintenanceWords;

/** Composes the summary of a week: the title of each notice, with its time. */
function composeDigest(notices: readonly Notice[], origin: NoticeOrigin): NoticeText {
  const { pageTitle, pageUrl, timeZone, language } = origin;
  return {
    title: language.translate("weekOf", { title: pageTitle }),
    facts: notices.map((notice) => {
      const ending = ` – ${pageTitle}`;
      const { title } = composeWords(notice, origin, "");
      const value = title.endsWith(ending) ? title.slice(0, -ending.length) : title;
      return { label: formatTime(language, timeZone, notice.at), value };
    }),
    url: pageUrl,
  };
}

/** Composes a notice as JSON for a webhook; null for a confirmation question, which is only for mailboxes. */
export function buildNoticePayload(notice: Notice, origin: NoticeOrigin): object | null {
  const { pageTitle, pageUrl } = origin;
  if (notice.type === "subscription.question" || notice.type === "digest") return null;
  const { at, type } = notice;
  const page = { title: pageTitle, url: pageUrl };
  if (isMaintenance(notice)) {
    const { times: _times, componentIds: _components, ...maintenance } = notice.data;
    return { type, timestamp: at, data: { page, maintenance } };
  }
  const { data } = notice;
  const { isMarkdown: _typed, automatic: _facts, sources: _sources, ...incident } = data;
  const { title, message } = translateIncidentData(data, origin);
  const { message: _original, ...published } = incident;
  const url = `${pageUrl}/incidents/${incident.id}`;
  return { type, timestamp: at, data: { page, incident: { ...published, title, url }, message } };
}
