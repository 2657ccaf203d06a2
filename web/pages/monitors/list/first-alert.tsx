import { lazy, Suspense } from "react";
import type { ChannelUse } from "../../../../src/dashboard/schema.ts";
import {
  type AlertChannel,
  useAlertChannels,
  useChannelUses,
} from "../../../data/alert-channels.ts";
import { createChunk } from "../../../data/chunks.ts";
import type { Overview, OverviewMonitor } from "../../../data/overview.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import type { FirstAlertStep } from "./first-alert-strips.tsx";

const FirstAlertStrip = lazy(
  createChunk(async () => ({
    default: (await import("./first-alert-strips.tsx")).FirstAlertStrip,
  })),
);

/** Once a monitor is up, suggests the next step. Disappears when all are done. */
export function FirstAlert({ overview }: { overview: Overview }) {
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const { data: channels } = useAlertChannels(mayWrite);
  const { data: uses } = useChannelUses();
  const up = overview.monitors.find(({ status }) => status === "up");
  if (!mayWrite || up === undefined || channels === undefined || uses === undefined) return null;
  const step = chooseStep(up, channels, uses);
  return (
    step !== null && (
      // As high as the strip, so that the list below does not move.
      <Suspense fallback={<div className={`panel strip ${"up" in step ? "strip-long" : ""}`} />}>
        <FirstAlertStrip step={step} />
      </Suspense>
    )
  );
}

function chooseStep(
  up: OverviewMonitor,
  channels: AlertChannel[],
  uses: ChannelUse[],
): FirstAlertStep | null {
  const enabled = channels.filter((channel) => channel.enabled);
  const tested = enabled.find(({ lastDeliveryAt }) => lastDeliveryAt !== null);
  const [newest] = enabled;
  if (newest === undefined) return { up };
  if (tested === undefined) return { untested: newest };
  return enabled.every(({ id }) => !uses.some(({ channelId }) => channelId === id))
    ? { unattached: tested }
    : null;
}
