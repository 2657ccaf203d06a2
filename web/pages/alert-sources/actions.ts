/** Actions on alert sources: enable, delete, replace the address, and replay a request. */
import { deleteRecord } from "../../components/deletion.ts";
import { notify, notifyDone, notifyError } from "../../components/toasts.tsx";
import {
  type AlertSource,
  getSourceRoutes,
  type LoggedSourceRequest,
} from "../../data/alert-sources.ts";
import { unwrapData, addIfMatch } from "../../data/client.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { queryClient } from "../../data/query.ts";
import { translateServerText } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";

async function refreshSource(id: string) {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: recordKey("alert-source", id) }),
    queryClient.invalidateQueries({ queryKey: listKey("alert-source") }),
  ]);
}

/** Enables or disables a source. Enabling can be undone; the alerts that disabling ends don't return. */
export async function setEnabled({ id, name, enabled }: AlertSource) {
  const put = async (next: boolean) => {
    await unwrapData(getSourceRoutes(id).patch({ enabled: next }));
    await refreshSource(id);
  };
  try {
    await put(!enabled);
    notifyDone(enabled ? t("Disabled {name}", { name }) : t("Enabled {name}", { name }), () =>
      put(enabled),
    );
  } catch (error) {
    notifyError(error);
  }
}

export function deleteSource(source: AlertSource) {
  const { id, name: title } = source;
  void deleteRecord({ noun: "alert-source", id, title }, () =>
    getSourceRoutes(id).delete(undefined, addIfMatch(source)),
  );
}

/** Replaces the address. The previous one stops working at once. */
export async function rotateAddress({ id, name }: AlertSource) {
  await unwrapData(getSourceRoutes(id).rotate.post());
  await refreshSource(id);
  notify(t("{name} has a new address", { name }));
}

/** Handles a logged request again, with the present settings. */
export async function replayRequest(sourceId: string, { id }: LoggedSourceRequest) {
  const { outcome } = await unwrapData(
    getSourceRoutes(sourceId).requests({ requestId: id }).replay.post(),
  );
  await refreshSource(sourceId);
  notify(translateServerText(outcome));
}
