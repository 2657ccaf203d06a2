/** Use cases of alerts: the list, and one alert with its timeline. */
import { formatTimestamp } from "../../core/time/clock.ts";
import { assertFound, type Tenant } from "../../database/rows.ts";
import type { Alert, AlertData } from "../alert.ts";
import type { AlertType, Delivery } from "../schema.ts";
import { composeAlertTitle, subjectOf } from "../sending/messages.ts";
import { addAttempts } from "../store.ts";
import { type Ending, type Family, familyOf, statusOf } from "./rules.ts";
import type { AlertQuery, AlertSummary, AlertWithDeliveries, TimelineEntry } from "./schema.ts";
import {
  findAcknowledgments,
  findCovering,
  findEntries,
  findMessage,
  findNotifiedPeople,
  findRecordPage,
  findRecordRow,
  findSentMessages,
  type MessageRow,
  type RecordRow,
} from "./store.ts";

type Acknowledgment = Awaited<ReturnType<typeof findAcknowledgments>>[number];
type SentMessage = Awaited<ReturnType<typeof findSentMessages>>[number];

const subjectTypes: Record<Family, AlertSummary["subject"]["type"]> = {
  state: "monitor",
  certificate: "monitor",
  incident: "incident",
  channel: "channel",
  problem: "problem",
  drill: "policy",
  source: "source",
};

/** Lists a page of alerts, newest first. */
export async function listAlerts(tenant: Tenant, query: AlertQuery) {
  const { data, meta } = await findRecordPage(tenant, query);
  const acknowledged = data.filter(({ acknowledgedAt }) => acknowledgedAt !== null);
  const [all, covering] = await Promise.all([
    findAcknowledgments(
      tenant,
      acknowledged.map(({ id }) => id),
    ),
    findCovering(tenant, data),
  ]);
  const byRecord = Map.groupBy(all, ({ recordId }) => recordId);
  const summarize = (row: RecordRow) => ({
    ...toSummary(row, byRecord.get(row.id) ?? []),
    ...listCovering(row, covering),
  });
  return { data: data.map(summarize), meta };
}

/** Only open alerts about the state of a monitor are covered. */
function listCovering({ family, subjectId, resolvedAt }: RecordRow, covering: Map<string, string>) {
  const id = family === "state" && resolvedAt === null ? covering.get(subjectId) : undefined;
  return id !== undefined && { coveredBy: id };
}

/** Reads an alert by its id, or by the id of one of its messages. Throws NOT_FOUND. */
export async function getAlert(tenant: Tenant, id: string): Promise<AlertWithDeliveries> {
  const record = await findRecord(tenant, id);
  if (record === null) return getLoneMessage(tenant, id);
  const [acknowledgments, notifiedPeople, entries, sent, covering] = await Promise.all([
    findAcknowledgments(tenant, [record.id]),
    findNotifiedPeople(tenant, record.id),
    findEntries(tenant, record.id),
    findSentMessages(tenant, { recordId: record.id }),
    findCovering(tenant, [record]),
  ]);
  const first = sent.find(({ message }) => message.id === record.id)?.message ?? record;
  const timeline = [
    createEntry(record.since, "opened", { message: titleOf(first) }),
    ...entries.map((entry) => toEntry(record, entry)),
    ...listDeliveryEntries(sent),
    ...(record.resolvedAt === null ? [] : [createEntry(record.resolvedAt, "resolved")]),
  ];
  return {
    ...toSummary(record, acknowledgments),
    ...listCovering(record, covering),
    notifiedPeople,
    timeline: sortByTime(timeline),
    deliveries: await toDeliveries(tenant, sent),
  };
}

/** Returns the alert with this id, or the one to which the message with this id belongs. */
export async function findRecord(tenant: Tenant, id: string): Promise<RecordRow | null> {
  const record = await findRecordRow(tenant, id);
  if (record !== null) return record;
  const message = await findMessage(tenant, id);
  return message?.recordId == null ? null : findRecordRow(tenant, message.recordId);
}

/** Reads a test, the notice of a shift, or a message of an older version, which belong to no alert. Throws NOT_FOUND. */
async function getLoneMessage(tenant: Tenant, id: string): Promise<AlertWithDeliveries> {
  const message = assertFound(await findMessage(tenant, id), "alert");
  const { type, at, data } = message;
  const sent = await findSentMessages(tenant, { id });
  const content = { type: type as AlertType, data: JSON.parse(data) as Record<string, unknown> };
  return {
    id,
    ...content,
    title: titleOf(message),
    at,
    subject: {
      type:
        content.type === "shift.starting"
          ? "schedule"
          : subjectTypes[familyOf(content.type) ?? "channel"],
      id: subjectOf(parseMessage(message)),
    },
    status: "resolved",
    priority: "normal",
    since: at,
    resolvedAt: at,
    resolvedBecause: null,
    acknowledgments: [],
    snoozedUntil: null,
    secondsToAcknowledge: null,
    notifiedPeople: [],
    timeline: sortByTime(listDeliveryEntries(sent)),
    deliveries: await toDeliveries(tenant, sent),
  };
}

export function toSummary(
  row: RecordRow,
  acknowledgments: readonly Acknowledgment[],
): AlertSummary {
  const { id, type, at, data, priority, since, resolvedAt } = row;
  return {
    id,
    type: type as AlertType,
    title: titleOf(row),
    at,
    data: JSON.parse(data) as Record<string, unknown>,
    subject: readSubject(row),
    status: statusOf(row),
    priority,
    since,
    resolvedAt,
    resolvedBecause: row.resolvedBecause as Ending | null,
    acknowledgments: acknowledgments.map(({ actorType, actorId, actorName, at }) => ({
      type: actorType as AlertSummary["acknowledgments"][number]["type"],
      id: actorId === "" ? null : actorId,
      name: actorName,
      at,
    })),
    snoozedUntil: row.snoozedUntil === null ? null : formatTimestamp(row.snoozedUntil),
    secondsToAcknowledge:
      row.acknowledgedAt === null ? null : countSeconds(row.since, row.acknowledgedAt),
  };
}

const countSeconds = (from: string, until: string) =>
  Math.max(0, Math.round((Date.parse(until) - Date.parse(from)) / 1000));

/** Only the drill of a person has no policy. Readers know the source of an alert, not its row. */
const readSubject = (row: RecordRow): AlertSummary["subject"] => {
  const { family, policyId, subjectId, data } = row;
  const type = family === "drill" && policyId === null ? "person" : subjectTypes[family];
  const source = family === "source" ? (JSON.parse(data) as AlertData["source.opened"]) : null;
  return { type, id: source?.source.id ?? subjectId };
};

type Content = Pick<MessageRow, "id" | "type" | "at" | "data">;

const parseMessage = ({ id, type, at, data }: Content) =>
  ({ id, type, at, data: JSON.parse(data) as unknown }) as Alert;

export const titleOf = (content: Content): string => composeAlertTitle(parseMessage(content));

const createEntry = (
  at: string,
  type: TimelineEntry["type"],
  more: Partial<TimelineEntry> = {},
): TimelineEntry => ({ at, type, message: null, actor: null, channel: null, ...more });

function toEntry(
  record: RecordRow,
  entry: Awaited<ReturnType<typeof findEntries>>[number],
): TimelineEntry {
  const { at, type, actorType, actorId, actorName } = entry;
  // The entry of a change contains the new type.
  const message =
    type === "changed" && entry.message !== null
      ? titleOf({ ...record, type: entry.message })
      : entry.message;
  const actor =
    actorType === null
      ? null
      : ({ type: actorType, id: actorId, name: actorName ?? "" } as TimelineEntry["actor"]);
  return createEntry(at, type as TimelineEntry["type"], { message, actor });
}

const caseChanges = { acknowledge: "Acknowledgment", unacknowledge: "Opened again" } as const;

/** Returns when messages were queued for a channel, and how each delivery ended. A digest can have several. */
function listDeliveryEntries(sent: readonly SentMessage[]): TimelineEntry[] {
  const deliveries = Map.groupBy(sent, ({ delivery }) => delivery.id);
  return [...deliveries.values()].flatMap((own) => [
    ...own.flatMap(listSent),
    ...own.slice(0, 1).flatMap(listEnds),
  ]);
}

function isHeld({ delivery }: SentMessage) {
  return delivery.quiet === true && delivery.dueAt !== null;
}

function listSent(sent: SentMessage): TimelineEntry[] {
  if (isHeld(sent)) return [];
  const { delivery, message } = sent;
  const title = titleOf(message);
  const change = delivery.caseChange && caseChanges[delivery.caseChange];
  // A digest is older than a message that was added to it.
  const at = message.at > delivery.createdAt ? message.at : delivery.createdAt;
  return [
    createEntry(at, "sent", {
      channel: channelOf(sent),
      message: change === null ? title : `${change}: ${title}`,
    }),
  ];
}

const channelOf = ({ delivery, channelName }: SentMessage) => ({
  id: delivery.receiverId,
  name: channelName,
});

function listEnds(sent: SentMessage): TimelineEntry[] {
  const { status, lastAttemptAt, createdAt, deliveredAt, error, receipt, receiptAt } =
    sent.delivery;
  if (isHeld(sent) || status === "gathering" || status === "sending") return [];
  const ended = lastAttemptAt === null ? createdAt : formatTimestamp(lastAttemptAt);
  const end = (at: string, message: string | null) =>
    createEntry(at, status, { channel: channelOf(sent), message });
  if (status === "failed") return [end(receiptAt ?? ended, error)];
  return [
    end(deliveredAt ?? ended, error),
    ...(receiptAt === null ? [] : [end(receiptAt, receipt)]),
  ];
}

const sortByTime = (entries: readonly TimelineEntry[]) =>
  entries.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));

async function toDeliveries(tenant: Tenant, sent: readonly SentMessage[]): Promise<Delivery[]> {
  const rows = new Map(sent.map(({ delivery }) => [delivery.id, delivery]));
  const deliveries = await addAttempts(tenant, [...rows.values()]);
  if (tenant.groupIds == null) return deliveries;
  // A digest is also about other alerts.
  const sentIds = new Set(sent.map(({ message }) => message.id));
  return deliveries.map((delivery) => ({
    ...delivery,
    alertIds: delivery.alertIds.filter((id) => sentIds.has(id)),
  }));
}
