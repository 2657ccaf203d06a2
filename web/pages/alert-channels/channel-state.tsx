import type { AlertChannel } from "../../data/alert-channels.ts";
import { type State, StateIcon } from "../../components/display/state-icon.tsx";
import { t } from "../../language/text.ts";

/** State of a channel after its last delivery, as icon and label. */
export function describeChannelState({ enabled, lastError, lastDeliveryAt }: AlertChannel): {
  state: State;
  words: string;
} {
  if (!enabled) return { state: "paused", words: t("Disabled") };
  if (lastError !== null) return { state: "down", words: t("Failing") };
  if (lastDeliveryAt === null) return { state: "pending", words: t("No alerts sent yet") };
  return { state: "up", words: t("Working") };
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
