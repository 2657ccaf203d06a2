/** Actions on alert channels. */
import {
  type AlertChannel,
  channelRoutes,
  channelsQuery,
  type Delivery,
} from "../../data/alert-channels.ts";
import { dashboard, dataOf, ifMatch, whenConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { latencyInWords, plural } from "../../components/display/format.ts";
import {
  deleteWithUndo,
  notifyDone,
  notifyError,
  notify,
  tellOfWaiting,
} from "../../components/toasts.tsx";

/** Sends a test alert at once; resolves with what became of it. */
export async function testChannel(id: string): Promise<Delivery> {
  return dataOf(channelRoutes(id).test.post());
}

/** What became of a test, in a sentence. */
export function outcomeOf({ status, error, attempts }: Delivery): string {
  if (status !== "delivered") return error ?? "It was not delivered.";
  return `Delivered in ${latencyInWords(attempts.at(-1)?.durationMs)}. ${attempts.at(-1)?.message ?? ""}`.trim();
}

export async function testFromList({ id, name }: AlertChannel) {
  try {
    const delivery = await testChannel(id);
    const words = `${name}: ${outcomeOf(delivery)}`;
    if (delivery.status === "delivered") notify(words);
    else notifyError(words);
  } catch (error) {
    notifyError(error);
  }
}

/** `all 12 monitors`, or the only one. */
export const allMonitors = (count: number) =>
  count === 1 ? "the monitor" : `all ${plural(count, "monitor")}`;

/** As many as one request takes. */
const atOnce = 5_000;

/** Has the channel told of these monitors, too. */
export const attachToMonitors = ({ id }: AlertChannel, monitorIds: readonly string[]) =>
  changeInParts(monitorIds, { addAlertChannelIds: [id] });

/** No longer. */
export const detachFromMonitors = ({ id }: AlertChannel, monitorIds: readonly string[]) =>
  changeInParts(monitorIds, { removeAlertChannelIds: [id] });

async function changeInParts(
  monitorIds: readonly string[],
  change: { addAlertChannelIds: string[] } | { removeAlertChannelIds: string[] },
) {
  for (let from = 0; from < monitorIds.length; from += atOnce)
    await dataOf(
      dashboard.monitors.bulk.post({ monitorIds: monitorIds.slice(from, from + atOnce), change }),
    );
}

/** Has it told of everything again, or of nothing. */
export async function setEnabled(channel: AlertChannel) {
  const { name, enabled } = channel;
  if (await enable(channel, !enabled))
    notifyDone(`${enabled ? "Disabled" : "Enabled"} ${name}`, () => enable(channel, enabled));
}

/** Resolves with whether it holds. */
async function enable({ id }: AlertChannel, enabled: boolean): Promise<boolean> {
  const apply = (one: AlertChannel) => (one.id === id ? { ...one, enabled } : one);
  const key = recordKey("alert-channel", id);
  queryClient.setQueryData(channelsQuery.queryKey, (all) => all?.map(apply));
  queryClient.setQueryData<AlertChannel>(key, (one) => one && apply(one));
  try {
    await whenConnected(() => dataOf(channelRoutes(id).patch({ enabled })), tellOfWaiting);
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
  deleteWithUndo({ id, title }, () =>
    dataOf(channelRoutes(id).delete(undefined, ifMatch(channel))),
  );
}
