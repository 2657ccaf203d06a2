/** Words, icons and short lists that several maintenance pages show. */
import { toLocal } from "../../../src/core/time/time-zones.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import type { Overview } from "../../data/overview.ts";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { useZone } from "../../components/display/time.tsx";
import { getFormatter, formatTimeSpan } from "../../../src/core/time/times.ts";
import { parseRule } from "../../../src/monitoring/maintenance/recurrence-rules.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { describePlan } from "./recurrence-words.ts";
import { t, tCount } from "../../language/text.ts";

export const formatClock = (at: number, zone: string) =>
  getFormatter(zone, { hour: "2-digit", minute: "2-digit" }).format(at);

/** Formats a period, such as `Sun 22 Nov 02:00–04:00 CET`. Names both days if they differ. */
export const formatSpan = (start: number, end: number, zone: string) =>
  formatTimeSpan(zone, start, end, Date.now(), getLocale());

export const describeRecurrence = ({
  rrule,
  startsAt,
  timeZone,
}: Pick<MaintenanceWindow, "rrule" | "startsAt" | "timeZone">) =>
  describePlan(parseRule(rrule, toLocal(Date.parse(startsAt), timeZone)));

/** Names what a window affects, such as `Office network and 3 monitors`. */
export function describeAffected(
  { monitorIds, groupIds }: Pick<MaintenanceWindow, "monitorIds" | "groupIds">,
  overview: Overview | undefined,
): string {
  const groups = overview?.groups.filter(({ id }) => groupIds.includes(id)) ?? [];
  const monitors = overview?.monitors.filter(({ id }) => monitorIds.includes(id)) ?? [];
  const parts = [
    ...(groups.length > 2
      ? [tCount(groups.length, "{count} group", "{count} groups")]
      : groups.map(({ name }) => name)),
    ...(monitors.length > 2
      ? [tCount(monitors.length, "{count} monitor", "{count} monitors")]
      : monitors.map(({ name }) => name)),
  ];
  return parts.length === 0 ? t("no monitors") : new Intl.ListFormat(getLocale()).format(parts);
}

export function WindowIcon({
  state,
  size = 16,
}: {
  state: MaintenanceWindow["state"];
  size?: number;
}) {
  if (state === "running") return <StateIcon state="maintenance" size={size} />;
  return <Icon name={state === "scheduled" ? "calendar" : "check"} size={size} />;
}

const stateInWords: Record<MaintenanceWindow["state"], string> = {
  running: t("In progress"),
  scheduled: t("Scheduled"),
  over: t("Past"),
};

export function WindowPill({ state }: { state: MaintenanceWindow["state"] }) {
  return (
    <span className={`pill ${state === "running" ? "pill-maintenance" : ""}`}>
      {stateInWords[state]}
    </span>
  );
}

/** Lists the next `count` occurrences of a window, in the viewer's time zone. */
export function NextTimes({
  occurrences,
  count,
}: {
  occurrences: readonly { startsAt: string; endsAt: string }[] | undefined;
  count: number;
}) {
  const zone = useZone();
  if (occurrences === undefined) return null;
  if (occurrences.length === 0) return <p className="field-note">{t("That is in the past.")}</p>;
  const now = new Date().toISOString();
  return (
    <ol className="next-times" aria-label={t("Next times")}>
      {occurrences.slice(0, count).map(({ startsAt, endsAt }) => (
        <li key={startsAt} className="num">
          {formatSpan(Date.parse(startsAt), Date.parse(endsAt), zone)}
          {startsAt <= now && <span className="maintenance"> {t("now")}</span>}
        </li>
      ))}
      {occurrences.length > count && <li className="faint">{t("and so on")}</li>}
    </ol>
  );
}
