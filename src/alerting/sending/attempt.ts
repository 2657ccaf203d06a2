/** Attempts a delivery once and judges the result. */
import type { ChannelSettings, ReceiverType } from "../channels/kinds-schema.ts";
import { findGateway, resolveSettings } from "../channels/gateways.ts";
import type { ChannelRow } from "../channels/service.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { sha256 } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { Store } from "../../database/store.ts";
import type { Signals } from "../../events/signals.ts";
import type { AccessTokens } from "../../core/outgoing/access-tokens.ts";
import { type Exchange, exchange } from "../../core/outgoing/http/exchange.ts";
import { LocalFailure, TargetFailure } from "../../core/outgoing/failures.ts";
import type { SmtpSettings } from "../../accounts/settings/schema.ts";
import { findSettings, openSmtp } from "../../accounts/settings/service.ts";
import type { Alert } from "../alert.ts";
import { buildAcknowledgeUrl, buildScriptUrl } from "../records/links.ts";
import { type Message, buildMessage } from "./messages.ts";
import {
  type DeliveryContext,
  failLocally,
  failTemporarily,
  failPermanently,
  type Provider,
  type Verdict,
} from "../provider.ts";
import { providers } from "../providers.ts";
import type { CompletedAttempt } from "./queue.ts";
import type { Progress } from "./queue-rules.ts";
import type { Verification } from "../pushed-message.ts";
import { deriveVapidKeys } from "../vapid.ts";

/** Default timeout of one attempt, in milliseconds. */
export const defaultAttemptMs = 10_000;

export type SendingContext = {
  store: Store;
  clock: Clock;
  vault: Vault;
  targets: TargetGuard;
  log: Log;
  signals: Signals;
  /** Base URL of this appliance for links, without a trailing slash. */
  origin: () => string;
  /** Base URL of the links that acknowledge alerts; null for `origin`. */
  linkOrigin?: () => string | null;
  exchange?: Exchange;
  accessTokens: AccessTokens;
  /**
   * Names a resource that this machine has lacked at any time since `from` (milliseconds of
   * `performance.now()`), such as file handles. Returns null for none.
   */
  lackedSince?: (from: number) => string | null;
  /** Timeout of one attempt in milliseconds, if not the default. */
  attemptMs?: number;
};

/** An alert that a recovery follows, and the recipients that received it. */
type MissedAlert = { end: string; alert: Alert; reached: readonly string[] };

type AttemptOptions = {
  signal?: AbortSignal;
  /** Progress of earlier attempts. */
  progress?: Progress | null;
  /** The case that the delivery opens or closes. */
  problem?: Message["problem"];
  /** Alerts that some recipients never received. */
  missed?: readonly MissedAlert[];
  /** The open alert to which each message belongs, by the message's ID. */
  records?: ReadonlyMap<string, LinkedRecord>;
  /** Set if the message contains a code that verifies its contact method. */
  verification?: Verification;
};

/** An alert with the random part of the key that signs its links. */
export type LinkedRecord = { id: string; linkKey: string };

/** Attempts once to deliver these alerts to a channel. */
export function attemptDelivery(
  context: SendingContext,
  channel: ChannelRow,
  deliveryId: string,
  alerts: readonly Alert[],
  options: AttemptOptions = {},
): Promise<CompletedAttempt> {
  const { signal = new AbortController().signal, progress = null } = options;
  const { problem = null, missed = [], records = new Map<string, LinkedRecord>() } = options;
  const { verification } = options;
  return runAttempt(context, { channel: channel.id }, async () => {
    const { store, vault } = context;
    const { organizationId } = channel;
    const gateway = await findGateway({ store, organizationId }, channel);
    if (gateway === null) return failPermanently("Its gateway was deleted.");
    const settings = resolveSettings(vault, channel, gateway);
    const template = typeof settings["template"] === "string" ? settings["template"] : null;
    const origin = context.origin();
    const linkOrigin = context.linkOrigin?.() ?? origin;
    const links = buildLinks(vault, linkOrigin, channel, records);
    const messageTo = createMessageLookup(alerts, missed, (all, id) => ({
      ...buildMessage(`${deliveryId}${id}`, all, origin, template, problem, links),
      ...(verification && { verification }),
    }));
    const provider = providers[channel.type as ReceiverType] as Provider<ReceiverType>;
    const smtp = channel.type === "email" ? await findMailServer(context, channel) : null;
    const vapid = channel.type === "webpush" ? deriveVapidKeys(vault) : null;
    const common = createDeliveryContext(context, signal, smtp);
    const outside = { ...common, vapid, progress, messageTo };
    return provider.deliver(settings as ChannelSettings<ReceiverType>, messageTo(null), outside);
  });
}

/** Creates the links with which the recipients of a channel acknowledge these alerts, by the message's ID. */
function buildLinks(
  vault: Vault,
  origin: string,
  { organizationId, id: channelId }: ChannelRow,
  records: ReadonlyMap<string, LinkedRecord>,
): Map<string, string> {
  const links = new Map<string, string>();
  for (const [alertId, { id: recordId, linkKey }] of records) {
    const target = { organizationId, recordId, channelId };
    const url = buildAcknowledgeUrl(vault, origin, target, linkKey);
    if (url !== null) links.set(alertId, url);
  }
  return links;
}

/**
 * Returns a function that renders each recipient's message. If a recipient missed the alert before
 * a recovery, the message contains both. `null` means all recipients.
 */
function createMessageLookup(
  alerts: readonly Alert[],
  missed: readonly MissedAlert[],
  messageWith: (alerts: readonly Alert[], idSuffix: string) => Message,
): (recipient: string | null) => Message {
  const messages = new Map<string, Message>();
  return (recipient) => {
    const unheard = missed.filter(({ reached }) =>
      recipient === null ? reached.length === 0 : !reached.includes(recipient),
    );
    // A mail with a different text needs a different ID.
    const mark = sha256(unheard.map(({ alert }) => alert.id).join()).slice(0, 16);
    const idSuffix = unheard.length === 0 ? "" : `.${mark}`;
    const known = messages.get(idSuffix);
    if (known !== undefined) return known;
    const begins = Map.groupBy(unheard, ({ end }) => end);
    const all = alerts.flatMap((alert) => [
      ...(begins.get(alert.id) ?? []).map(({ alert: begin }) => begin),
      alert,
    ]);
    const message = messageWith(all, idSuffix);
    messages.set(idSuffix, message);
    return message;
  };
}

/** Returns the organization's mail server; null if none is set. */
export async function findMailServer(
  { store, vault }: SendingContext,
  { organizationId }: { organizationId: string },
): Promise<SmtpSettings | null> {
  return openSmtp(vault, await findSettings(store, organizationId));
}

/** Creates the context in which providers connect to services for one attempt. */
export function createDeliveryContext(
  { targets, clock, attemptMs = defaultAttemptMs, ...context }: SendingContext,
  signal: AbortSignal,
  smtp: SmtpSettings | null,
): DeliveryContext {
  const now = clock();
  const linkOrigin = context.linkOrigin?.() ?? null;
  return {
    targets,
    timeoutMs: attemptMs,
    signal,
    now,
    exchange: context.exchange ?? exchange,
    smtp,
    accessTokens: context.accessTokens,
    vapid: null,
    receivesCalls: linkOrigin !== null,
    ...(linkOrigin !== null && {
      urlOfScript: (call) => buildScriptUrl(context.vault, linkOrigin, call, now),
    }),
    progress: null,
    messageTo: null,
  };
}

/** Runs `deliver` as one attempt. Never throws: every error becomes a failed attempt. */
export async function runAttempt(
  { clock, log, lackedSince = () => null }: SendingContext,
  to: Record<string, string>,
  deliver: () => Promise<Verdict>,
): Promise<CompletedAttempt> {
  const startedAt = performance.now();
  const at = formatTimestamp(clock());
  const found = await deliver().catch((error: unknown): Verdict => {
    if (error instanceof TargetFailure)
      return error.isFinal ? failPermanently(error.message) : failTemporarily(error.message);
    if (error instanceof LocalFailure)
      return error.isOfMachine
        ? failLocally(error.message)
        : failTemporarily(`Not sent: ${error.message}.`);
    // The error's message could contain the text of the alert, so only its name is logged.
    const cause = error instanceof Error ? error.name : typeof error;
    log.error("a delivery could not be sent", { ...to, cause });
    return failTemporarily("Not sent: Signalbox itself failed; see the log.");
  });
  const mayBeOwn = found.outcome === "failed" && found.failure !== "final";
  const lacked = mayBeOwn ? lackedSince(startedAt) : null;
  const verdict = lacked === null ? found : { ...found, ...failLocally(lacked) };
  const durationMs = Math.round(performance.now() - startedAt);
  const delivered = verdict.outcome === "delivered";
  const message = delivered ? (verdict.note ?? verdict.detail ?? "Delivered.") : verdict.reason;
  return { attempt: { at, durationMs, delivered, message }, verdict };
}
