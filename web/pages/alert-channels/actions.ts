import {
  type AlertChannel,
  channelRoutes,
  channelsQuery,
  type Delivery,
} from "../../data/alert-channels.ts";
import { dashboard, dataOf, ifMatch, whenConnected } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { latencyInWords, plural } from "../../components/format.ts";
import { deleteWithUndo, notifyError, notify, tellOfWaiting } from "../../components/toasts.tsx";

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
export async function attachToMonitors({ id }: AlertChannel, monitorIds: readonly string[]) {
  for (let from = 0; from < monitorIds.length; from += atOnce)
    await dataOf(
      dashboard.monitors.bulk.post({
        monitorIds: monitorIds.slice(from, from + atOnce),
        change: { addAlertChannelIds: [id] },
      }),
    );
}

export async function setEnabled({ id, name, enabled }: AlertChannel) {
  const change = { enabled: !enabled };
  const apply = (one: AlertChannel) => (one.id === id ? { ...one, ...change } : one);
  const key = recordKey("alert-channel", id);
  queryClient.setQueryData(channelsQuery.queryKey, (all) => all?.map(apply));
  queryClient.setQueryData<AlertChannel>(key, (one) => one && apply(one));
  try {
    await whenConnected(() => dataOf(channelRoutes(id).patch(change)), tellOfWaiting);
    notify(`${enabled ? "Disabled" : "Enabled"} ${name}`);
  } catch (error) {
    void queryClient.invalidateQueries({ queryKey: channelsQuery.queryKey });
    void queryClient.invalidateQueries({ queryKey: key });
    notifyError(error);
  }
}

export function deleteChannel(channel: AlertChannel) {
  const { id, name: title } = channel;
  deleteWithUndo({ id, title }, () =>
    dataOf(channelRoutes(id).delete(undefined, ifMatch(channel))),
  );
}
