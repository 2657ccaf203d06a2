/** Converts the alerts of a Gatus endpoint: their channels, thresholds and descriptions. */
import type { Fields } from "../../core/collections/objects.ts";
import { pluralize, toLine, truncateCodePoints } from "../../core/text/formatting.ts";
import { clamp } from "../values.ts";
import type { Channels } from "./channels.ts";
import type { Section } from "./section.ts";

const maxDescription = 1_500;
const maxChannels = 50;
/** Maximum alerts per endpoint: twice the channel limit of a monitor. */
const maxAlerts = 100;

type Alert = {
  type: string;
  channelId: string | null;
  failureThreshold: number;
  successThreshold: number;
  /** Seconds between reminders; 0 for none. */
  reminderInterval: number;
  description: string;
};

export type Alerting = {
  fields: Fields;
  hasAlerts: boolean;
  description: string;
  channelIds: string[];
  notes: string[];
};

/** Reads the alerts of an endpoint, each with the defaults of its provider. */
export function readAlerting(endpoint: Section, interval: number, channels: Channels): Alerting {
  const notes: string[] = [];
  const alerts: Alert[] = [];
  const writtenAlerts = endpoint.sections("alerts", "alert");
  if (writtenAlerts.length > maxAlerts)
    notes.push(`Has the first ${maxAlerts} of ${writtenAlerts.length} alerts.`);
  for (const alert of writtenAlerts.slice(0, maxAlerts)) {
    const one = readAlert(alert, endpoint, channels, notes);
    if (one !== null) alerts.push(one);
  }
  const sent = alerts.filter(({ channelId }) => channelId !== null);
  const thresholds = mergeThresholds(sent.length > 0 ? sent : alerts, notes);
  const channelIds = [...new Set(sent.flatMap(({ channelId }) => channelId ?? []))];
  if (channelIds.length > maxChannels)
    notes.push(`Has the first ${maxChannels} of ${channelIds.length} alert channels.`);
  return {
    fields: { ...thresholds, retryInterval: interval },
    hasAlerts: alerts.length > 0,
    description: joinDescriptions(alerts),
    channelIds: channelIds.slice(0, maxChannels),
    notes: [...new Set(notes)],
  };
}

function readAlert(
  alert: Section,
  endpoint: Section,
  channels: Channels,
  notes: string[],
): Alert | null {
  const type = toLine(alert.text("type"), 60);
  const defaultAlert = channels.findDefaultAlert(type);
  const override = alert.map("provider-override", `provider.${type}`);
  const thresholds = {
    enabled: alert.flag("enabled") ?? defaultAlert?.flag("enabled") ?? true,
    failures: alert.integer("failure-threshold") || defaultAlert?.integer("failure-threshold") || 3,
    successes:
      alert.integer("success-threshold") || defaultAlert?.integer("success-threshold") || 2,
    reminder:
      alert.duration("minimum-reminder-interval") ||
      defaultAlert?.duration("minimum-reminder-interval") ||
      0,
    description: alert.has("description")
      ? alert.text("description")
      : (defaultAlert?.text("description") ?? ""),
    sendsOnResolved:
      alert.flag("send-on-resolved") ?? defaultAlert?.flag("send-on-resolved") ?? false,
  };
  // Marks the keys as read, because the channel reports its own unsupported keys.
  for (const key of Object.keys(override.fields)) override.value(key);
  if (!thresholds.enabled) {
    notes.push(`Without the alert by ${type}, which is switched off.`);
    return null;
  }
  const channel = channels.findChannel(type, endpoint, override.fields, thresholds.sendsOnResolved);
  if ("reason" in channel) notes.push(`No alerts by ${type}: ${channel.reason}.`);
  return {
    type,
    channelId: "id" in channel ? channel.id : null,
    failureThreshold: thresholds.failures > 0 ? thresholds.failures : 3,
    successThreshold: thresholds.successes > 0 ? thresholds.successes : 2,
    reminderInterval: thresholds.reminder,
    description: thresholds.description,
  };
}

/** Merges the thresholds of all alerts. A monitor has only one, so the lowest is used and no alert is late. */
function mergeThresholds(alerts: readonly Alert[], notes: string[]): Fields {
  const pickLowest = (
    value: (alert: Alert) => number,
    defaultThreshold: number,
    note: (lowest: number, others: string) => string,
  ) => {
    const all = alerts.map(value).filter((one) => one > 0);
    const least = all.length === 0 ? defaultThreshold : Math.min(...all);
    const others = alerts
      .filter((alert) => value(alert) > least)
      .map((alert) => `${alert.type} ${value(alert)}`);
    if (others.length > 0) notes.push(note(least, [...new Set(others)].join(", ")));
    return least;
  };
  const failures = pickLowest(
    ({ failureThreshold }) => failureThreshold,
    3,
    (least, others) =>
      `All channels are alerted after ${pluralize(least, "failure")} in a row; Gatus waits for more: ${others}.`,
  );
  const successes = pickLowest(
    ({ successThreshold }) => successThreshold,
    2,
    (least, others) =>
      `Up again after ${pluralize(least, "success", "successes")} in a row for all channels; Gatus waits for more: ${others}.`,
  );
  const reminder = pickLowest(
    ({ reminderInterval }) => reminderInterval,
    0,
    (least, others) =>
      `All channels are reminded every ${least} s; Gatus has other intervals: ${others} s.`,
  );
  const retries = clamp(failures - 1, 0, 10);
  if (retries < failures - 1)
    notes.push(`Down after ${retries + 1} failures in a row instead of ${failures}.`);
  const successThreshold = clamp(successes, 1, 10);
  if (successThreshold < successes)
    notes.push(`Up again after ${successThreshold} successes in a row instead of ${successes}.`);
  const reminderInterval = reminder === 0 ? null : clamp(Math.round(reminder), 60, 604_800);
  if (reminderInterval !== null && reminderInterval !== reminder)
    notes.push(`Reminds every ${reminderInterval} s instead of ${reminder} s.`);
  return { retries, successThreshold, reminderInterval };
}

/** Joins the alerts' descriptions. Alerts here show the monitor's description. */
function joinDescriptions(alerts: readonly Alert[]): string {
  const described = alerts.filter(({ description }) => description !== "");
  const texts = [...new Set(described.map(({ description }) => description))];
  const lines = texts.map((text) => {
    const types = described
      .filter(({ description }) => description === text)
      .map(({ type }) => type);
    return texts.length === 1 ? text : `${[...new Set(types)].join(", ")}: ${text}`;
  });
  return truncateCodePoints(lines.join("\n\n"), maxDescription);
}
