/** Collects the deliveries and memories of one decision about an organization, as statements of one write. */
import type { ReceiverType } from "../channels/kinds-schema.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import { alertBounds } from "../../core/limits.ts";
import { guardExists } from "../../database/references.ts";
import { createInsert, guardCondition, StaleRead, type Statement } from "../../database/store.ts";
import {
  alertChannels,
  alertMemory,
  type deliveries,
  openAlerts,
  openCases,
} from "../../database/tables/alerting.ts";
import type { Alert } from "../alert.ts";
import { findQuietEnd, formatQuietEnd } from "../channels/rules.ts";
import type { QuietHours } from "../channels/routing-schema.ts";
import {
  isOfCertificate,
  type OpenCase,
  canOpenCases,
  type Problem,
  problemOf,
  replacesProblem,
} from "../deciding/cases.ts";
import { subjectOf } from "./messages.ts";
import { providers } from "../providers.ts";
import { isWanted, findNextDue, type NotifiedState } from "../deciding/rules.ts";
import {
  type HeldMessage,
  isEscalation,
  type NotifiedAlert,
  type PendingDigest,
  type Snapshot,
  type StoredMemory,
} from "../deciding/snapshot.ts";
import { isQuiet, type OpenRecord } from "../records/rules.ts";
import { addEntry } from "../records/store.ts";
import type { AlertType } from "../schema.ts";
import { insertAlert, insertDelivery, insertDeliveryAlert } from "../store.ts";

/** Alerts of one channel are collected for this long into one digest. */
const digestDelayMs = 5_000;
/** Each further alert delays the digest until this long after it … */
const digestExtensionMs = 1_000;
/** … but all delays together are limited to this. */
const maxDigestDelayMs = 10_000;
/** Maximum alerts per digest. */
const maxAlerts = alertBounds.alertsPerMessage.value;

const putOpenAlert = createInsert(openAlerts, "insert or replace");
const putCase = createInsert(openCases, "insert or replace");
const putMemory = createInsert(alertMemory, "insert or replace");

const gatheringGuard =
  "exists (select 1 from deliveries where organization_id = ? and id = ? and status = 'gathering')";

/**
 * Returns the due time of a digest after another alert was added. It is never in the past: a digest
 * that becomes due after a failed attempt causes an early retry.
 */
function computeDigestDueAt({ createdAt, dueAt }: PendingDigest, now: number): number {
  if (dueAt + maxDigestDelayMs <= now) return now + digestDelayMs;
  const latest = Math.max(createdAt + maxDigestDelayMs, dueAt, now);
  return Math.min(Math.max(dueAt, now + digestExtensionMs), latest);
}

/** Returns the deliveries that a recovery follows. It is sent only if one of them arrived. */
function listFollowedDeliveries(notified: NotifiedAlert | undefined): string {
  return JSON.stringify((notified?.notifications ?? []).map(([id]) => id));
}

/** Progress of an alert whose channels don't fit into one write. */
export type Part = {
  alertId: string;
  /** The last channel of the earlier writes; the next write continues after it. */
  after: string;
};

/** Remaining rows of the write, and remaining alerts of the organization's outbox. */
type Budget = { left: number; alerts: number };
const rowsPerChannel = 4;

type NewDelivery = Pick<
  typeof deliveries.$inferInsert,
  "caseKey" | "closesCase" | "caseChange" | "quiet"
> & {
  dueAt: number;
  bytes?: number;
};

type Settings = { budget: Budget; origin: string; part: Part | null };

/** The alert to which a message belongs, and who takes care of it. */
type OwnedRecord = Pick<
  OpenRecord,
  "id" | "acknowledgedBy" | "acknowledgedAt" | "snoozedUntil" | "priority"
> & {
  /** Type of an alert that is sent again after a snooze. */
  returned?: AlertType;
};

export class Outbox {
  readonly #snapshot: Snapshot;
  readonly #now: number;
  readonly #budget: Budget;
  readonly #origin: string;
  readonly #written: Statement[] = [];
  /** The delivery that contains the last alert of each channel. */
  readonly #latest = new Map<string, string>();
  /** Stored digests to which alerts were added. */
  readonly #extended = new Map<string, PendingDigest>();
  readonly #usedChannels = new Set<string>();
  /** Progress of the first alert, until it is resumed. */
  #resumed: Part | null;
  #rest: { part: Part | null } | null = null;
  #added = 0;
  #leftOut = 0;

  constructor(snapshot: Snapshot, now: number, { budget, origin, part }: Settings) {
    this.#snapshot = snapshot;
    this.#now = now;
    this.#budget = budget;
    this.#origin = origin;
    this.#resumed = part;
  }

  /**
   * Adds a message about an alert to the deliveries of as many of these channels as fit into the
   * write. A recovery refers to the deliveries that it follows. Returns the channels of this write.
   */
  notify(
    alert: Alert,
    to: readonly string[],
    isRecovery: boolean,
    record: OwnedRecord | null,
  ): readonly string[] {
    const known = this.#resumed;
    this.#resumed = null;
    const id = known?.alertId ?? alert.id;
    const alertType = record?.returned ?? alert.type;
    const recipients = to.filter(
      (channelId) =>
        this.#isRecipient(channelId, alert, isRecovery) &&
        this.#acceptsType(channelId, alertType, alert),
    );
    if (this.#budget.alerts <= 0 && !isRecovery && alert.type !== "appliance.troubled") {
      const isNew = (channelId: string) => known === null || channelId > known.after;
      this.#leftOut += recipients.filter(isNew).length;
      return [];
    }
    const channelIds = this.#selectChannels(id, recipients, known);
    this.#added += channelIds.length;
    this.#budget.alerts -= channelIds.length;
    const identified = { ...addAcknowledgments(alert, record?.acknowledgedBy ?? []), id };
    if (channelIds.length > 0 && known === null) this.#insertAlert(identified, record?.id ?? null);
    for (const channelId of channelIds) {
      this.#usedChannels.add(channelId);
      this.#notifyChannel(channelId, identified, isRecovery, record);
    }
    return channelIds;
  }

  /** Records the state of a subject that each channel was last notified of. */
  recordNotified(
    subjectId: string,
    channelIds: readonly string[],
    state: NotifiedState,
    since: string,
  ) {
    for (const channelId of channelIds) {
      const deliveryId = this.#latest.get(channelId);
      if (deliveryId === undefined) continue;
      const known = this.#snapshot.notified.get(subjectId);
      const earlier = known?.get(channelId)?.notifications ?? [];
      const [lastId, lastState] = earlier.at(-1) ?? [];
      if (lastId === deliveryId && lastState === state) continue;
      this.#putOpenAlert(subjectId, channelId, {
        state,
        since,
        notifications: [...earlier, [deliveryId, state]],
      });
    }
  }

  /** Records that an earlier delivery notified a channel that was deleted and restored since. */
  recordEarlier(
    { subjectId, since }: Pick<OpenRecord, "subjectId" | "since">,
    channelId: string,
    notification: NotifiedAlert["notifications"][number],
  ) {
    const [, state] = notification;
    this.#putOpenAlert(subjectId, channelId, { state, since, notifications: [notification] });
  }

  #putOpenAlert(subjectId: string, channelId: string, open: NotifiedAlert) {
    const { organizationId, notified } = this.#snapshot;
    const { since } = open;
    const notifications = JSON.stringify(open.notifications);
    this.#write(putOpenAlert({ organizationId, subjectId, channelId, since, notifications }));
    const known = notified.get(subjectId) ?? new Map<string, NotifiedAlert>();
    notified.set(subjectId, known.set(channelId, open));
  }

  /**
   * Immediately sends a message that quiet hours hold, because its alert has become critical. Removes it from its
   * digest.
   */
  release({ channelId, deliveryId, position, alert }: HeldMessage) {
    const { organizationId } = this.#snapshot;
    this.#usedChannels.add(channelId);
    this.#write(guardCondition(gatheringGuard, [organizationId, deliveryId]), {
      text: `update delivery_alerts set withheld = 1
          where organization_id = ? and delivery_id = ? and position = ?`,
      parameters: [organizationId, deliveryId, position],
    });
    this.#addToDigest(channelId, alert, null, null);
  }

  /** Closes all cases of a subject whose problem is over, and removes its notified states. */
  closeSubject(subjectId: string) {
    if (this.#rest !== null) return;
    const { organizationId, notified, cases } = this.#snapshot;
    for (const one of cases.get(subjectId) ?? [])
      if (!isOfCertificate(one.problem)) this.#closeCase(one, one.alertId);
    if (!notified.delete(subjectId)) return;
    this.#write({
      text: "delete from open_alerts where organization_id = ? and subject_id = ?",
      parameters: [organizationId, subjectId],
    });
  }

  /**
   * Acknowledges the open cases of an alert that is acknowledged or snoozed, and opens those of any
   * other alert again. Cases that don't fit are left to the next write.
   */
  syncCases(record: OpenRecord) {
    const isAcknowledged = isQuiet(record);
    for (const one of this.#snapshot.cases.get(record.subjectId) ?? []) {
      if (isOfCertificate(one.problem) !== (record.family === "certificate")) continue;
      if ((one.acknowledged === true) === isAcknowledged) continue;
      if (this.isFull()) return this.deferRest();
      if (isAcknowledged) this.#changeCase(one, "acknowledge");
      else if (this.#canReopen(one)) this.#changeCase(one, "unacknowledge");
      else this.#replaceCase(one);
    }
  }

  /** Closes a case whose channel gets no recovery alert. */
  closeCase(one: OpenCase) {
    this.#closeCase(one, one.alertId);
    if (isOfCertificate(one.problem)) return;
    const { subjectId, channelId } = one;
    const { organizationId, notified } = this.#snapshot;
    notified.get(subjectId)?.delete(channelId);
    this.#write({
      text: "delete from open_alerts where organization_id = ? and subject_id = ? and channel_id = ?",
      parameters: [organizationId, subjectId, channelId],
    });
  }

  remember(monitorId: string, memory: StoredMemory) {
    if (this.#rest !== null) return;
    const { organizationId, memories } = this.#snapshot;
    memories.set(monitorId, memory);
    const { changes, flappingSince, remindAt, certificate, held, joinedDueAt } = memory;
    const dueTimes = [findNextDue(memory), held?.until ?? null, joinedDueAt].filter(
      (time) => time !== null,
    );
    this.#write(
      putMemory({
        organizationId,
        monitorId,
        changes: JSON.stringify(changes),
        flappingSince,
        remindAt,
        dueAt: dueTimes.length === 0 ? null : Math.min(...dueTimes),
        heldSince: held?.since ?? null,
        heldBehind: held?.behind ?? null,
        heldUntil: held?.until ?? null,
        heldCause: held === null || held.cause === null ? null : JSON.stringify(held.cause),
        joinedDueAt,
        certificateExpiresAt: certificate?.expiresAt ?? null,
        certificateDays: certificate?.days ?? null,
      }),
    );
  }

  forget(monitorId: string) {
    const { organizationId, memories } = this.#snapshot;
    memories.delete(monitorId);
    this.#write({
      text: "delete from alert_memory where organization_id = ? and monitor_id = ?",
      parameters: [organizationId, monitorId],
    });
  }

  /** Whether this write continues the message with this id. */
  isResuming(alertId: string): boolean {
    return this.#resumed?.alertId === alertId;
  }

  /** Whether no rows are left in this write. */
  isFull(): boolean {
    return this.#budget.left <= 0;
  }

  /** Leaves the rest of the current decision to the next write, which decides again. */
  deferRest() {
    this.#rest = { part: null };
  }

  /** Returns the progress from which the next write continues; null if everything was written. */
  getRest(): { part: Part | null } | null {
    return this.#rest;
  }

  /** Whether this write adds deliveries. */
  hasDeliveries(): boolean {
    return this.#usedChannels.size > 0;
  }

  /** Returns the number of alerts that this write adds, and of alerts left out because the outbox is full. */
  countAlerts() {
    return { added: this.#added, leftOut: this.#leftOut };
  }

  buildStatements(): Statement[] {
    const { organizationId } = this.#snapshot;
    const channelIds = [...this.#usedChannels];
    return [
      ...guardExists(alertChannels, organizationId, channelIds, () => new StaleRead()),
      ...this.#written,
      ...[...this.#extended.values()].flatMap((digest) => extendDigest(organizationId, digest)),
    ];
  }

  /** Adds a row of another feature to the write. */
  write(statement: Statement) {
    this.#write(statement);
  }

  #write(...statements: readonly Statement[]) {
    this.#written.push(...statements);
    this.#budget.left -= statements.length;
  }

  #typeOf(channelId: string): ReceiverType {
    return this.#snapshot.channels.get(channelId)?.type as ReceiverType;
  }

  /** Channels that open cases accept only alerts that open or close a case. */
  #isRecipient(channelId: string, alert: Alert, isRecovery: boolean): boolean {
    if (!this.#snapshot.channels.has(channelId)) return false;
    if (!canOpenCases(this.#typeOf(channelId)))
      return !isRecovery || !this.#isUnaware(channelId, subjectOf(alert));
    return isRecovery
      ? this.#listEndingCases(channelId, alert).length > 0
      : problemOf(alert) !== null;
  }

  /** Whether quiet hours hold all messages to the channel about a subject. Its recovery is then not sent. */
  #isUnaware(channelId: string, subjectId: string): boolean {
    const notifications = this.#snapshot.notified.get(subjectId)?.get(channelId)?.notifications;
    return (
      notifications !== undefined &&
      notifications.every(([deliveryId]) => this.#snapshot.quietIds.has(deliveryId))
    );
  }

  /** Whether the channel's `notifyOn` includes a message. Policies name their channels, so they ignore it. */
  #acceptsType(channelId: string, type: AlertType, { data }: Alert): boolean {
    const { notifyOn = [] } = this.#snapshot.channels.get(channelId) ?? {};
    return data.escalation !== undefined || isWanted(notifyOn, type);
  }

  /** Returns the quiet hours that hold a message to the channel now, and their end. */
  #findHold(channelId: string, record: OwnedRecord | null) {
    const quietHours = this.#snapshot.channels.get(channelId)?.quietHours ?? null;
    if (quietHours === null || record?.priority === "critical") return null;
    const until = findQuietEnd(quietHours, this.#now);
    return until === null ? null : { quietHours, until };
  }

  /** Returns all channels in their order if they fit into the write, else as many as fit, ordered by ID. */
  #selectChannels(alertId: string, all: readonly string[], known: Part | null) {
    const available = Math.max(1, Math.floor(this.#budget.left / rowsPerChannel));
    if (known === null && all.length <= available) return all;
    const left = all.filter((id) => known === null || id > known.after).toSorted();
    const first = left.slice(0, available);
    const last = first.at(-1);
    if (last !== undefined && first.length < left.length)
      this.#rest = { part: { alertId, after: last } };
    return first;
  }

  #insertAlert({ id, type, at, data }: Alert, recordId: string | null) {
    this.#write(
      insertAlert({
        organizationId: this.#snapshot.organizationId,
        id,
        type,
        at,
        monitorId: "monitor" in data ? data.monitor.id : null,
        incidentId: "incident" in data ? data.incident.id : null,
        data: JSON.stringify(data),
        recordId,
      }),
    );
  }

  #notifyChannel(channelId: string, alert: Alert, isRecovery: boolean, record: OwnedRecord | null) {
    const subjectId = subjectOf(alert);
    if (!canOpenCases(this.#typeOf(channelId))) {
      const hold = isRecovery ? null : this.#findHold(channelId, record);
      if (hold !== null) return this.#holdMessage(channelId, alert, record, hold);
      const notified = this.#snapshot.notified.get(subjectId)?.get(channelId);
      const follows = isRecovery ? listFollowedDeliveries(notified) : null;
      this.#addToDigest(channelId, alert, follows, null);
      return;
    }
    const problem = problemOf(alert);
    if (isRecovery)
      for (const one of this.#listEndingCases(channelId, alert)) this.#closeCase(one, alert.id);
    else if (problem !== null)
      this.#openCase(channelId, alert, problem, record !== null && isQuiet(record));
  }

  #insertDelivery(channelId: string, delivery: NewDelivery): string {
    const id = createId(this.#now);
    this.#write(
      insertDelivery({
        organizationId: this.#snapshot.organizationId,
        id,
        receiverType: "channel",
        receiverId: channelId,
        status: "gathering",
        attempts: 0,
        scheduledAttempts: 0,
        createdAt: formatTimestamp(this.#now),
        ...delivery,
      }),
    );
    return id;
  }

  #addToDelivery(deliveryId: string, position: number, alertId: string, follows: string | null) {
    const { organizationId } = this.#snapshot;
    const row = { organizationId, deliveryId, position, alertId, follows, withheld: false };
    this.#write(insertDeliveryAlert(row));
  }

  /** Adds a message to the digest of a channel. Returns its place. `heldUntil` is the end of quiet hours. */
  #addToDigest(
    channelId: string,
    alert: Alert,
    follows: string | null,
    heldUntil: number | null,
  ): Pick<HeldMessage, "deliveryId" | "position"> {
    const digest = this.#findOrCreateDigest(channelId, alert, heldUntil);
    const position = digest.position++;
    digest.alerts++;
    this.#addToDelivery(digest.id, position, alert.id, follows);
    this.#latest.set(channelId, digest.id);
    return { deliveryId: digest.id, position };
  }

  /**
   * Adds a message to the digest that is sent at the end of the channel's quiet hours. It replaces
   * an older one about the same alert.
   */
  #holdMessage(
    channelId: string,
    alert: Alert,
    record: OwnedRecord | null,
    { quietHours, until }: { quietHours: QuietHours; until: number },
  ) {
    const { organizationId, held, channels } = this.#snapshot;
    const heldOfRecord = record === null ? [] : (held.get(record.id) ?? []);
    // Texts about incidents differ, so all are sent.
    const known = heldOfRecord.find(
      (one) =>
        one.channelId === channelId &&
        isEscalation(one.alert) === isEscalation(alert) &&
        !("incident" in alert.data),
    );
    if (known !== undefined) {
      const { deliveryId, position } = known;
      known.alert = alert;
      this.#latest.set(channelId, deliveryId);
      return this.#write(...replaceHeldMessage(organizationId, deliveryId, position, alert.id));
    }
    const placement = this.#addToDigest(channelId, alert, null, until);
    if (record === null) return;
    held.set(record.id, [...heldOfRecord, { channelId, alert, ...placement }]);
    const end = formatQuietEnd(quietHours, until, this.#now);
    const message = `Held until ${end} by the quiet hours of ${channels.get(channelId)?.name}.`;
    const at = formatTimestamp(this.#now);
    this.#write(addEntry(organizationId, record.id, { at, type: "held", message }));
  }

  /** Returns the channel's digest if this alert fits into it, else a new one. */
  #findOrCreateDigest(channelId: string, alert: Alert, heldUntil: number | null): PendingDigest {
    const isQuiet = heldUntil !== null;
    const gathering = isQuiet ? this.#snapshot.quiet : this.#snapshot.gathering;
    const { digestLimit: limit } = providers[this.#typeOf(channelId)];
    const bytes = limit?.bytesOf(alert, this.#origin) ?? 0;
    const open = gathering.get(channelId);
    const fits =
      open !== undefined &&
      open.alerts < maxAlerts &&
      (limit === undefined || (open.bytes ?? Infinity) + bytes <= limit.bytes);
    if (fits) {
      open.dueAt = heldUntil ?? computeDigestDueAt(open, this.#now);
      open.bytes = (open.bytes ?? 0) + bytes;
      this.#extended.set(open.id, open);
      return open;
    }
    // The second digest is sent together with the full one.
    const soon =
      open === undefined ? this.#now + digestDelayMs : computeDigestDueAt(open, this.#now);
    const dueAt = heldUntil ?? soon;
    const id = this.#insertDelivery(channelId, { dueAt, bytes, ...(isQuiet && { quiet: true }) });
    const createdAt = open?.createdAt ?? this.#now;
    const digest = { id, alerts: 0, position: 0, bytes, createdAt, dueAt };
    gathering.set(channelId, digest);
    if (isQuiet) this.#snapshot.quietIds.add(id);
    return digest;
  }

  #listCases(channelId: string, subjectId: string): OpenCase[] {
    const cases = this.#snapshot.cases.get(subjectId) ?? [];
    return cases.filter((one) => one.channelId === channelId);
  }

  /** Returns the cases that a recovery closes. */
  #listEndingCases(channelId: string, alert: Alert): OpenCase[] {
    return this.#listCases(channelId, subjectOf(alert)).filter(
      ({ problem }) => !isOfCertificate(problem),
    );
  }

  /** Opens or updates a case, and closes the cases that its problem replaces. */
  #openCase(channelId: string, alert: Alert, found: Problem, isAcknowledged: boolean) {
    const before = this.#listCases(channelId, found.subjectId);
    const sameCase = before.find(({ problem }) => problem === found.problem);
    // A service ignores further messages about an acknowledged case.
    const isSilent = sameCase?.acknowledged === true && !isAcknowledged;
    const isKept = sameCase !== undefined && (!isSilent || this.#canReopen(sameCase));
    if (isSilent && isKept) this.#changeCase(sameCase, "unacknowledge");
    if (isSilent && !isKept) this.#closeCase(sameCase, alert.id);
    const key = isKept ? sameCase.key : this.#createCaseKey();
    const acknowledged = isKept && !isSilent ? sameCase.acknowledged : null;
    const open = { channelId, ...found, key, alertId: alert.id, acknowledged };
    this.#latest.set(channelId, this.#putCase(open));
    for (const other of before)
      if (other !== sameCase && replacesProblem(found.problem, other.problem))
        this.#closeCase(other, alert.id);
    // A channel that was attached after the acknowledgment.
    if (isAcknowledged && before.length === 0) this.#changeCase(open, "acknowledge");
  }

  #createCaseKey = () => `signalbox-${createId(this.#now)}`;

  /** Whether an acknowledged case can be opened again at its service. */
  #canReopen = ({ channelId }: OpenCase) =>
    providers[this.#typeOf(channelId)].reopensCases === true;

  /** Opens an acknowledged case again as a new one. */
  #replaceCase(one: OpenCase) {
    this.#closeCase(one, one.alertId);
    this.#putCase({ ...one, key: this.#createCaseKey(), acknowledged: null });
  }

  #changeCase(one: OpenCase, caseChange: "acknowledge" | "unacknowledge") {
    this.#putCase({ ...one, acknowledged: caseChange === "acknowledge" || null }, caseChange);
  }

  /** Stores an open case, and sends a message about it. Returns the ID of the delivery. */
  #putCase(one: OpenCase, caseChange: NewDelivery["caseChange"] = null): string {
    const { organizationId, cases } = this.#snapshot;
    const { channelId, subjectId, problem, key, alertId } = one;
    this.#usedChannels.add(channelId);
    const delivery = { dueAt: this.#now, caseKey: key, ...(caseChange && { caseChange }) };
    const deliveryId = this.#insertDelivery(channelId, delivery);
    this.#addToDelivery(deliveryId, 0, alertId, null);
    this.#write(putCase({ organizationId, ...one }));
    const others = (cases.get(subjectId) ?? []).filter(
      (other) => other.channelId !== channelId || other.problem !== problem,
    );
    cases.set(subjectId, [...others, one]);
    return deliveryId;
  }

  #closeCase(one: OpenCase, alertId: string) {
    const { organizationId, cases } = this.#snapshot;
    const { channelId, subjectId, problem, key } = one;
    this.#usedChannels.add(channelId);
    const closing = { dueAt: this.#now, caseKey: key, closesCase: true };
    this.#addToDelivery(this.#insertDelivery(channelId, closing), 0, alertId, null);
    this.#write({
      text: `delete from open_cases where organization_id = ? and channel_id = ? and subject_id = ?
        and problem = ?`,
      parameters: [organizationId, channelId, subjectId, problem],
    });
    const others = (cases.get(subjectId) ?? []).filter((other) => other !== one);
    cases.set(subjectId, others);
  }
}

const addAcknowledgments = (alert: Alert, acknowledgedBy: readonly string[]): Alert =>
  acknowledgedBy.length === 0
    ? alert
    : ({ ...alert, data: { ...alert.data, acknowledgedBy } } as Alert);

/** Returns statements that put another message in the place of a held one. */
const replaceHeldMessage = (
  organizationId: string,
  deliveryId: string,
  position: number,
  alertId: string,
): Statement[] => [
  guardCondition(gatheringGuard, [organizationId, deliveryId]),
  {
    text: `update delivery_alerts set alert_id = ?
      where organization_id = ? and delivery_id = ? and position = ?`,
    parameters: [alertId, organizationId, deliveryId, position],
  },
];

function extendDigest(organizationId: string, { id, dueAt, bytes }: PendingDigest): Statement[] {
  return [
    guardCondition(gatheringGuard, [organizationId, id]),
    {
      text: "update deliveries set due_at = ?, bytes = ? where organization_id = ? and id = ?",
      parameters: [dueAt, bytes, organizationId, id],
    },
  ];
}
