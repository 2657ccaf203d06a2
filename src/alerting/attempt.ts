import type { ChannelSettings, ChannelType } from "../alert-channels/schema.ts";
import { settingsOf } from "../alert-channels/service.ts";
import type { ChannelRow } from "../alert-channels/store.ts";
import { type Clock, timestamp } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Vault } from "../base/secrets.ts";
import type { TargetGuard } from "../base/target-guard.ts";
import type { Store } from "../database/store.ts";
import { type Exchange, exchange } from "../outgoing/exchange.ts";
import { OwnTrouble, TargetFailure } from "../outgoing/failures.ts";
import { smtpOf } from "../settings/service.ts";
import { findSettings } from "../settings/store.ts";
import type { Alert } from "./alert.ts";
import { messageOf } from "./messages.ts";
import type { Provider, Verdict } from "./provider.ts";
import { providers } from "./providers.ts";
import type { Attempt } from "./queue.ts";

/** So long a receiver has for one attempt, in milliseconds. */
export const attemptMs = 10_000;

export type SendingRoom = {
  store: Store;
  clock: Clock;
  vault: Vault;
  targets: TargetGuard;
  log: Log;
  /** Address under which people open this appliance, for links; without a trailing slash. */
  origin: () => string;
  exchange?: Exchange;
};

/** Makes one attempt to tell a channel these alerts. Never throws: whatever goes wrong is an attempt that failed. */
export async function makeAttempt(
  room: SendingRoom,
  channel: ChannelRow,
  deliveryId: string,
  alerts: readonly Alert[],
  cancelled: AbortSignal = new AbortController().signal,
): Promise<{ attempt: Attempt; verdict: Verdict }> {
  const startedAt = performance.now();
  const at = timestamp(room.clock());
  const verdict = await verdictOf(room, channel, deliveryId, alerts, cancelled);
  const durationMs = Math.round(performance.now() - startedAt);
  const delivered = verdict.outcome === "delivered";
  const message = delivered ? (verdict.note ?? "Delivered.") : verdict.reason;
  return { attempt: { at, durationMs, delivered, message }, verdict };
}

async function verdictOf(
  room: SendingRoom,
  channel: ChannelRow,
  deliveryId: string,
  alerts: readonly Alert[],
  cancelled: AbortSignal,
): Promise<Verdict> {
  const failed = (reason: string, permanent = false): Verdict => ({
    outcome: "failed",
    reason,
    permanent,
  });
  try {
    const { store, vault, targets, clock } = room;
    const settings = settingsOf(vault, channel);
    const template = typeof settings["template"] === "string" ? settings["template"] : null;
    const message = messageOf(deliveryId, alerts, room.origin(), template);
    const smtp =
      channel.type === "email"
        ? smtpOf(vault, await findSettings(store, channel.organizationId))
        : null;
    const provider = providers[channel.type as ChannelType] as Provider<ChannelType>;
    return await provider.deliver(settings as ChannelSettings<ChannelType>, message, {
      targets,
      timeoutMs: attemptMs,
      cancelled,
      now: clock(),
      exchange: room.exchange ?? exchange,
      smtp,
    });
  } catch (error) {
    if (error instanceof TargetFailure) return failed(error.message, error.final);
    if (error instanceof OwnTrouble) return failed(`Not sent: ${error.message}.`);
    // Not the error's own text, which may hold what was to be sent.
    const cause = error instanceof Error ? error.name : typeof error;
    room.log.error("an alert could not be sent", { channel: channel.id, cause });
    return failed("Not sent: sending failed by itself; the log says more.");
  }
}
