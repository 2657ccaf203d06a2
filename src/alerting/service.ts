/** Use cases of messages: deliveries, preview, test alerts, test mails and mailed invitations. */
import { runInOnCallTurn } from "../events/organization-turns.ts";
import type { Scope } from "../events/scope.ts";
import { type ChannelRow, findOrdinaryChannel, getAlertChannel } from "./channels/service.ts";
import { formatTimestamp, formatUtcMinute } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import type { Priority } from "../core/statuses.ts";
import { assertFound, type Tenant } from "../database/rows.ts";
import { createId } from "../core/ids.ts";
import { consumeLimit, type RateLimit } from "../http/access/rate-limit.ts";
import { guardExists } from "../database/references.ts";
import { alertChannels } from "../database/tables/alerting.ts";
import { getMonitor } from "../monitoring/monitors/service.ts";
import {
  runAttempt,
  createDeliveryContext,
  attemptDelivery,
  findMailServer,
  type SendingContext,
} from "./sending/attempt.ts";
import { findSettings, patchSmtp } from "../accounts/settings/service.ts";
import { releaseIfUnsent, reserveMessage } from "./sending/daily-limit.ts";
import { failFinally } from "./provider.ts";
import type { Message } from "./sending/messages.ts";
import type { InvitationMail, SentInvitation } from "../accounts/invitations/schema.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";
import type { SmtpSettings } from "../accounts/settings/schema.ts";
import { sendAsMail } from "./providers/email.ts";
import type { MailStyle } from "./providers/mail-texts.ts";
import type { Alert } from "./alert.ts";
import type { Verification } from "./pushed-message.ts";
import { createAlert } from "./deciding/records.ts";
import type { Attempt } from "./sending/queue.ts";
import { updateChannelState } from "./sending/channel-state.ts";
import { insertReceipt, isAwaited } from "./sending/receipts.ts";
import { findQuietEnd, formatQuietEnd } from "./channels/rules.ts";
import type { QuietHours } from "./channels/routing-schema.ts";
import { computeEnd, type Plan, planEscalation } from "./deciding/escalation-rules.ts";
import { explainSilence, isWanted, selectChannelsForProblems } from "./deciding/rules.ts";
import { findPolicyOfMonitor } from "./policies/rules.ts";
import type { PolicyRecord } from "./policies/store.ts";
import type { OnCallQuery } from "./schedules/schema.ts";
import type { AlertPreview, Delivery, NewTestMail, PageQuery, TestOutcome } from "./schema.ts";
import {
  findDeliveryPage,
  insertAlert,
  insertDelivery,
  insertDeliveryAlert,
  insertAttempt,
} from "./store.ts";
import {
  listOrdinaryChannels,
  loadEscalation,
  loadSnapshot,
  type Snapshot,
  type WatchedMonitor,
} from "./deciding/snapshot.ts";

/** Lists a page of a channel's deliveries, newest first. Throws NOT_FOUND. */
export async function listDeliveries(scope: Scope, channelId: string, query: PageQuery) {
  await getAlertChannel(scope, channelId);
  return findDeliveryPage(scope, channelId, query);
}

/**
 * Lists the channels that an outage of this monitor would notify at once, why others would not be
 * notified, and the steps of its escalation policy. Throws NOT_FOUND.
 */
export const previewAlert = (
  scope: Scope,
  monitorId: string,
  query: OnCallQuery,
): Promise<AlertPreview> => runInOnCallTurn(scope, () => readAlertPreview(scope, monitorId, query));

async function readAlertPreview(
  scope: Scope,
  monitorId: string,
  { at = scope.clock() }: OnCallQuery,
): Promise<AlertPreview> {
  await getMonitor(scope, monitorId);
  const subjects = { monitorIds: [monitorId], incidentIds: [] };
  const snapshot = await loadSnapshot(scope.store, scope.organizationId, subjects);
  const monitor = assertFound(snapshot.monitors.get(monitorId), "monitor");
  const isFlapping = (snapshot.memories.get(monitorId)?.flappingSince ?? null) !== null;
  const judged = listOrdinaryChannels(snapshot).map(({ id, name, type, enabled, ...routing }) => ({
    channel: { id, name, type },
    reason: explainSilence(
      { ...monitor, isFlapping },
      {
        enabled,
        isAttached: monitor.channelIds.includes(id),
        isWanted: isWanted(routing.notifyOn, "monitor.down"),
        quietUntil: describeHold(routing, monitor.priority, at),
      },
    ),
  }));
  return {
    at: formatTimestamp(at),
    policy: await previewPolicy(scope, snapshot, monitor, at),
    told: judged.filter(({ reason }) => reason === null).map(({ channel }) => channel),
    notTold: judged.flatMap(({ channel, reason }) =>
      reason === null ? [] : [{ ...channel, reason: `${channel.name} ${reason}.` }],
    ),
  };
}

/** Describes the end of the quiet hours that hold a message of this priority at `at`; null if it is sent at once. */
function describeHold(
  { quietHours }: { quietHours: QuietHours | null },
  priority: Priority,
  at: number,
): string | null {
  const end = priority === "critical" ? null : findQuietEnd(quietHours, at);
  return quietHours === null || end === null ? null : formatQuietEnd(quietHours, end, at);
}

/** Previews the policy of a monitor for an outage that starts at this time; null for none. */
async function previewPolicy(
  scope: Scope,
  snapshot: Snapshot,
  monitor: WatchedMonitor,
  from: number,
): Promise<AlertPreview["policy"]> {
  const policy = findPolicyOfMonitor(snapshot.policies, monitor);
  if (policy === null || policy.steps.length === 0) return null;
  const { id, name } = policy;
  const silence = explainSilence(
    { ...monitor, isFlapping: false },
    { enabled: true, isAttached: true, isWanted: true, quietUntil: null },
  );
  if (silence !== null) return { id, name, reason: `${name} ${silence}.`, steps: [] };
  const steps = await previewSteps(scope, policy, monitor.priority, from);
  return { id, name, reason: null, steps };
}

type PreviewedStep = NonNullable<AlertPreview["policy"]>["steps"][number];

/** Previews the steps of a policy from their start, in Unix milliseconds, until the end. */
export async function previewSteps(
  tenant: Tenant,
  policy: Plan & Pick<PolicyRecord, "steps">,
  priority: Priority,
  from: number,
): Promise<PreviewedStep[]> {
  const factsAt = await loadEscalation(tenant, [policy], from, computeEnd(policy, from) + 1);
  const { people, channels } = factsAt(from);
  const ordinary = [...channels.values()].filter(({ personId }) => personId === null);
  const last = selectChannelsForProblems(ordinary);
  return planEscalation(policy, priority, from, factsAt).map((run) => {
    const { step, round, at, planned, texts } = run;
    const atEnd = last.map(({ id, quietHours }) => ({
      channelId: id,
      personId: null,
      delayMs: 0,
      heldUntil: priority === "critical" ? null : findQuietEnd(quietHours, at),
    }));
    const names = last.map((channel) => channel.name).join(", ");
    return {
      step: step === null ? null : step + 1,
      round,
      at: formatTimestamp(at),
      message: step === null ? names || "there is no channel to notify" : texts.join(", "),
      notifications: (step === null ? atEnd : planned).map(({ channelId, personId, ...times }) => ({
        at: formatTimestamp(times.heldUntil ?? at + times.delayMs),
        held: times.heldUntil !== null,
        channel: { id: channelId, name: channels.get(channelId)?.name ?? "" },
        person: personId === null ? null : { id: personId, name: people.get(personId) ?? "" },
      })),
    };
  });
}

const createNoSuchChannelError = () => new AppError("NOT_FOUND", "There is no such alert channel.");

export type TestDependencies = SendingContext & {
  /** Limits test alerts per organization and minute. */
  testAlertLimit: RateLimit;
  /** Limits test mails and mailed invitations per organization and minute. */
  testMailLimit: RateLimit;
};

/** Sends a test alert immediately and without retries, even to a disabled channel. Throws NOT_FOUND, RATE_LIMITED. */
export async function testChannel(
  scope: Scope,
  context: TestDependencies,
  channelId: string,
): Promise<Delivery> {
  const { organizationId } = scope;
  const channel = assertFound(await findOrdinaryChannel(scope, channelId), "alert channel");
  consumeLimit(context.testAlertLimit, organizationId);
  return testReceiver(scope, context, channel);
}

/** Sends a test alert to a channel or contact method, and stores its delivery. */
export async function testReceiver(
  scope: Scope,
  context: TestDependencies,
  channel: ChannelRow,
): Promise<Delivery> {
  const { store, organizationId } = scope;
  const channelId = channel.id;
  const now = scope.clock();
  const alert = createTestAlert(channel, now);
  const deliveryId = createId(now);
  const { attempt, verdict } = await attemptTest(scope, context, channel, deliveryId, alert);
  const isDelivered = attempt.delivered;
  const outcome = isDelivered ? ("delivered" as const) : ("failed" as const);
  const delivery: Delivery = {
    id: deliveryId,
    channelId,
    type: "test",
    caseChange: null,
    status: outcome,
    alertIds: [alert.id],
    attempts: [
      { at: attempt.at, outcome, message: attempt.message, durationMs: attempt.durationMs },
    ],
    error: isDelivered ? null : attempt.message,
    nextAttemptAt: null,
    createdAt: formatTimestamp(now),
    deliveredAt: isDelivered ? attempt.at : null,
    receipt: null,
    receiptAt: null,
  };
  const { note = null, receipt = null } = verdict.outcome === "delivered" ? verdict : {};
  const isOpen = isAwaited(channel, { receipt });
  await store.atomic([
    ...guardExists(alertChannels, organizationId, [channelId], createNoSuchChannelError),
    ...insertTest({ organizationId, delivery, alert, attempt, now }),
    ...updateChannelState(channel, attempt, { note, isLost: false, now: scope.clock(), isOpen }),
    ...(receipt === null ? [] : [insertReceipt(organizationId, deliveryId, receipt, now)]),
  ]);
  context.signals.emit("deliveries", organizationId);
  return delivery;
}

/** Returns statements that store a test alert, its delivery and its only attempt. */
function insertTest({ organizationId, delivery, alert, attempt, now }: SentTest) {
  const { id: deliveryId, channelId, createdAt, deliveredAt, error } = delivery;
  const data = JSON.stringify(alert.data);
  return [
    insertAlert({ organizationId, id: alert.id, type: "test", at: createdAt, data }),
    insertDelivery({
      organizationId,
      id: deliveryId,
      receiverType: "channel",
      receiverId: channelId,
      status: attempt.delivered ? "delivered" : "failed",
      attempts: 1,
      scheduledAttempts: 1,
      firstAttemptAt: now,
      createdAt,
      deliveredAt,
      error,
    }),
    insertDeliveryAlert({
      organizationId,
      deliveryId,
      position: 0,
      alertId: alert.id,
      withheld: false,
    }),
    insertAttempt({ organizationId, deliveryId, number: 1, ...attempt }),
  ];
}

type SentTest = {
  organizationId: string;
  delivery: Delivery;
  alert: Alert;
  attempt: Attempt;
  now: number;
};

/** Creates the alert that tests a channel. */
function createTestAlert(
  { id, name, type, personId }: ChannelRow,
  now: number,
  message = `This is how an alert to ${name} looks.`,
) {
  const channel = { id, name, type, ...(personId !== null && { contactMethod: true }) };
  return createAlert("test", formatTimestamp(now), { channel, message }, now);
}

/** Sends a test alert with this message, and stores nothing. */
export async function sendTest(
  scope: Scope,
  context: TestDependencies,
  channel: ChannelRow,
  message?: string,
  verification?: Verification,
) {
  const now = scope.clock();
  const alert = createTestAlert(channel, now, message);
  return attemptTest(scope, context, channel, createId(now), alert, verification);
}

/** Sends a test, unless the channel has reached its limit of messages. Tests count, too. */
async function attemptTest(
  scope: Scope,
  context: TestDependencies,
  channel: ChannelRow,
  deliveryId: string,
  alert: Alert,
  verification?: Verification,
) {
  const reserved = await reserveMessage(scope, channel, scope.clock());
  if (typeof reserved === "string")
    return runAttempt(context, { channel: channel.id }, () =>
      Promise.resolve(failFinally(reserved)),
    );
  const options = verification && { verification };
  const sent = await attemptDelivery(context, channel, deliveryId, [alert], options);
  await releaseIfUnsent(reserved, sent);
  return sent;
}

/** Sends a test alert with a channel's unsaved settings, and stores nothing. Throws RATE_LIMITED. */
export async function tryChannel(
  scope: Scope,
  context: TestDependencies,
  channel: ChannelRow,
): Promise<TestOutcome> {
  consumeLimit(context.testAlertLimit, scope.organizationId);
  const { attempt } = await sendTest(scope, context, channel);
  return { delivered: attempt.delivered, message: attempt.message };
}

/**
 * Sends one mail through the stored or an unsaved mail server, and returns the outcome. Throws
 * VALIDATION_ERROR, RATE_LIMITED.
 */
export async function sendTestMail(
  scope: Scope,
  context: TestDependencies,
  { to, smtp: patch }: NewTestMail,
): Promise<TestOutcome> {
  const { store, organizationId, actor } = scope;
  const smtp = await patchSmtp(scope, await findSettings(store, organizationId), patch);
  consumeLimit(context.testMailLimit, organizationId);
  const message = buildMailMessage(scope.clock(), {
    title: "Test mail from Signalbox",
    lines: [`${actor.name} sent this to test the mail server. It works.`],
    url: `${context.origin()}/settings/mail-server`,
  });
  return sendOneMail(context, { organizationId, message, to, smtp });
}

/**
 * Sends an invitation through the stored mail server. Returns null if none is set. Never throws:
 * the invitation is stored, and its link can be sent by hand.
 */
export async function mailInvitation(
  scope: Scope,
  context: TestDependencies,
  { email, role, link, expiresAt, invitedBy }: SentInvitation,
): Promise<InvitationMail | null> {
  const { organizationId } = scope;
  const smtp = await findMailServer(context, scope);
  if (smtp === null) return null;
  if (context.testMailLimit.take(organizationId) > 0)
    return { delivered: false, message: "Too many mails were sent in the last minute." };
  const { name } = await getOwnOrganization(scope);
  const message = buildMailMessage(scope.clock(), {
    title: `${invitedBy} invites you to ${name}`,
    lines: [
      `You can join ${name} on Signalbox with the role ${role}.`,
      `The link works once, until ${formatUtcMinute(expiresAt)}. If you did not expect it, ignore this mail.`,
    ],
    url: link,
  });
  const style = { link: "Accept the invitation", headers: {}, footer: null };
  return sendOneMail(context, { organizationId, message, to: email, smtp, style });
}

type OneMail = {
  organizationId: string;
  message: Message;
  to: string;
  smtp: SmtpSettings | null;
  style?: MailStyle;
};

/** Sends a mail immediately and without retries. */
async function sendOneMail(
  context: SendingContext,
  { organizationId, message, to, smtp, style }: OneMail,
): Promise<TestOutcome> {
  const signal = new AbortController().signal;
  const { attempt } = await runAttempt(context, { organization: organizationId }, () =>
    sendAsMail(message, [to], createDeliveryContext(context, signal, smtp), style),
  );
  return { delivered: attempt.delivered, message: attempt.message };
}

/** Builds a mail that is not an alert. */
const buildMailMessage = (
  now: number,
  content: Pick<Message, "title" | "lines" | "url">,
): Message => ({
  id: createId(now),
  type: "test",
  tone: "info",
  severity: "info",
  at: formatTimestamp(now),
  facts: [],
  acknowledgeUrl: null,
  acknowledgeUrls: new Map(),
  problem: null,
  alerts: [],
  ...content,
});
