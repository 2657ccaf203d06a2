/** Actions on alert channels: test, attach to monitors, enable and delete. */
import {
  type AlertChannel,
  getChannelRoutes,
  channelsQuery,
  type Delivery,
} from "../../data/alert-channels.ts";
import { unwrapData, v1, addIfMatch, retryUntilConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { formatLatency } from "../../components/display/format.ts";
import { deleteRecord } from "../../components/deletion.ts";
import { notifyDone, notifyError, notify, notifyWaiting } from "../../components/toasts.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tCount } from "../../language/text.ts";

/** Sends a test alert at once, and resolves to its delivery. */
export async function testChannel(id: string): Promise<Delivery> {
  return unwrapData(getChannelRoutes(id).test.post());
}

/** Describes the result of a test alert in a sentence. */
export function describeOutcome({ status, error, attempts }: Delivery): string {
  if (status !== "delivered")
    return error === null ? t("It was not delivered.") : translateServerText(error);
  const last = attempts.at(-1);
  // Without a note about some recipients, the message repeats the outcome.
  const note =
    last === undefined || last.message === "Delivered." ? "" : translateServerText(last.message);
  const outcome = t("Delivered in {duration}.", { duration: formatLatency(last?.durationMs) });
  return `${outcome} ${note}`.trim();
}

export async function testFromList({ id, name }: AlertChannel) {
  try {
    const delivery = await testChannel(id);
    const words = `${name}: ${describeOutcome(delivery)}`;
    if (delivery.status === "delivered") notify(words);
    else notifyError(words);
  } catch (error) {
    notifyError(error);
  }
}

/** Label of the action that attaches a channel to all monitors. */
export const formatAttachLabel = (count: number) =>
  tCount(count, "Attach to the monitor", "Attach to all {count} monitors");

/** Maximum number of monitors per request. */
const maxMonitorsPerRequest = 5_000;

/** Adds the channel to these monitors. */
export const attachToMonitors = ({ id }: AlertChannel, monitorIds: readonly string[]) =>
  changeInParts(monitorIds, { addAlertChannelIds: [id] });

/** Removes the channel from these monitors. */
export const detachFromMonitors = ({ id }: AlertChannel, monitorIds: readonly string[]) =>
  changeInParts(monitorIds, { removeAlertChannelIds: [id] });

async function changeInParts(
  monitorIds: readonly string[],
  change: { addAlertChannelIds: string[] } | { removeAlertChannelIds: string[] },
) {
  for (let from = 0; from < monitorIds.length; from += maxMonitorsPerRequest)
    await unwrapData(
      v1.monitors.bulk.post({
        monitorIds: monitorIds.slice(from, from + maxMonitorsPerRequest),
        change,
      }),
    );
}

/** Enables or disables a channel. */
export async function setEnabled(channel: AlertChannel) {
  const { name, enabled } = channel;
  if (await enableChannel(channel, !enabled))
    notifyDone(enabled ? t("Disabled {name}", { name }) : t("Enabled {name}", { name }), () =>
      enableChannel(channel, enabled),
    );
}

/** Shows the change at once and saves it. Resolves to true on success. */
async function enableChannel({ id }: AlertChannel, enabled: boolean): Promise<boolean> {
  const apply = (one: AlertChannel) => (one.id === id ? { ...one, enabled } : one);
  const key = recordKey("alert-channel", id);
  queryClient.setQueryData(channelsQuery.queryKey, (all) => all?.map(apply));
  queryClient.setQueryData<AlertChannel>(key, (one) => one && apply(one));
  try {
    await retryUntilConnected(
      () => unwrapData(getChannelRoutes(id).patch({ enabled })),
      notifyWaiting,
    );
    return true;
  } catch (error) {
    void queryClient.invalidateQueries({ queryKey: channelsQuery.queryKey });
    void queryClient.invalidateQueries({ queryKey: key });
    notifyError(error);
    return false;
  }
}

export function deleteChannel(channel: AlertChannel) {
  const { id, name: title } = channel;
  void deleteRecord({ noun: "alert-channel", id, title }, () =>
    getChannelRoutes(id).delete(undefined, addIfMatch(channel)),
  );
}
