/** Queries and writes of the alert pages. */
import { useQuery } from "@tanstack/react-query";
import type { AlertSummary, AlertWithDeliveries } from "../../../src/alerting/records/schema.ts";
import { listReturnTimes } from "../../components/return-times.ts";
import { notify, notifyError } from "../../components/toasts.tsx";
import { retryUntilConnected, unwrapData, v1 } from "../../data/client.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { createDataQuery, createPageQuery, queryClient } from "../../data/query.ts";
import { nameAlert } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";

export type Alert = AlertSummary;

const { alerts } = v1;

/** Statuses of alerts whose problem is not over. */
export const openStatuses = ["open", "acknowledged", "snoozed"] as const;

const openPerPage = "100";

/** Some alerts change without an event, such as when a snooze ends. */
const refetchInterval = 5_000;

/** The newest drills. */
export const useDrills = () =>
  useQuery({
    ...createPageQuery([...listKey("alert"), "drills"], (options) =>
      alerts.get({ query: { type: "drill", per_page: "10" } as never, ...options }),
    ),
    refetchInterval,
  });

type ListQuery = { status: string; type?: string; priority?: string; monitorId?: string };

export const useAlerts = (query: ListQuery, page: number, isEnabled: boolean) =>
  useQuery({
    ...createPageQuery([...listKey("alert"), query, page], (options) =>
      alerts.get({
        query: {
          ...query,
          page: String(page),
          per_page: query.status === "resolved" ? "20" : openPerPage,
        } as never,
        ...options,
      }),
    ),
    refetchInterval,
    enabled: isEnabled,
  });

export const useAlert = (id: string) =>
  useQuery({
    ...createDataQuery(recordKey("alert", id), (options) => alerts({ id }).get(options)),
    refetchInterval,
  });

/** Performs an act on an alert, and shows its result everywhere. */
async function performAction(alert: Pick<Alert, "id">, text: string, act: () => Promise<unknown>) {
  try {
    await retryUntilConnected(act, () => notify(t("Will be sent once the connection is back")));
    notify(text);
  } catch (error) {
    notifyError(error);
  }
  await refreshAlert(alert.id);
}

const refreshAlert = (id: string) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: listKey("alert") }),
    queryClient.invalidateQueries({ queryKey: recordKey("alert", id) }),
  ]);

export const acknowledgeAlert = (
  alert: Pick<Alert, "id" | "title"> & Partial<Pick<Alert, "subject">>,
) =>
  performAction(alert, t("Acknowledged: {title}", { title: nameAlert(alert) }), () =>
    unwrapData(alerts({ id: alert.id }).acknowledge.post()),
  );

export const openAgain = (alert: Alert) =>
  performAction(alert, t("Open again: {title}", { title: nameAlert(alert) }), () =>
    unwrapData(alerts({ id: alert.id }).unacknowledge.post()),
  );

export const revokeLinks = (alert: Alert) =>
  performAction(alert, t("Links revoked: {title}", { title: nameAlert(alert) }), () =>
    unwrapData(alerts({ id: alert.id })["revoke-links"].post()),
  );

/** The times for which an alert can be snoozed, to choose from. */
export const listSnoozes = (alert: Alert, zone: string) =>
  listReturnTimes(zone).map(({ label, getEnd }) => ({
    label,
    run: () => void snoozeAlert(alert, getEnd()),
  }));

const snoozeAlert = (alert: Alert, until: number) =>
  performAction(alert, t("Snoozed: {title}", { title: nameAlert(alert) }), () =>
    unwrapData(
      alerts({ id: alert.id }).snooze.post({ until: new Date(until).toISOString() as never }),
    ),
  );

/** Snoozes an alert until a time. Throws if it is rejected. */
export async function snoozeUntil({ id, title }: Alert, until: string) {
  await unwrapData(alerts({ id }).snooze.post({ until: until as never }));
  notify(t("Snoozed: {title}", { title }));
  await refreshAlert(id);
}

/** Adds a note. Throws if it is rejected. */
export async function addNote({ id }: Alert, message: string) {
  await unwrapData(alerts({ id }).notes.post({ message }));
  await queryClient.invalidateQueries({ queryKey: recordKey("alert", id) });
}

export type AlertDetails = AlertWithDeliveries;
