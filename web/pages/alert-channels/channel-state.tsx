import type { AlertChannel } from "../../data/alert-channels.ts";
import { type State, StateIcon } from "../../components/display/state-icon.tsx";
import { t } from "../../language/text.ts";

/** State of a channel after its last delivery, as icon, label and part of a sentence. */
export function describeChannelState({ enabled, lastError, lastDeliveryAt }: AlertChannel): {
  state: State;
  words: string;
  phrase: string;
} {
  if (!enabled) return { state: "paused", words: t("Disabled"), phrase: t("disabled") };
  if (lastError !== null) return { state: "down", words: t("Failing"), phrase: t("failing") };
  if (lastDeliveryAt === null)
    return { state: "pending", words: t("No alerts sent yet"), phrase: t("no alerts sent yet") };
  return { state: "up", words: t("Working"), phrase: t("working") };
}

export function ChannelStateIcon({ channel, size = 16 }: { channel: AlertChannel; size?: number }) {
  const { state, words } = describeChannelState(channel);
  return (
    <span title={words}>
      <StateIcon state={state} size={size} />
      <span className="visually-hidden">{words}</span>
    </span>
  );
}
