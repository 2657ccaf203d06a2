/** Times and durations in the viewer's time zone. Relative times update every second. */
import { createContext, type ReactNode, useContext } from "react";
import { formatDuration } from "../../../src/core/text/formatting.ts";
import {
  getFormatter,
  type HourCycle,
  minuteFormat,
  formatDateTime,
  setHourCycle,
} from "../../../src/core/time/times.ts";
import { staleSince } from "../../data/live.ts";
import { createStore } from "../../data/store.ts";
import { t } from "../../language/text.ts";

/** The viewer's time zone, by default the organization's. All times are shown in it. */
const Zone = createContext("UTC");
export const useZone = () => useContext(Zone);

/** Shows all times below in this zone and clock. Another clock renders everything again. */
export function Times({
  zone,
  hourCycle,
  children,
}: {
  zone: string;
  hourCycle: HourCycle;
  children: ReactNode;
}) {
  setHourCycle(hourCycle);
  return (
    <Zone.Provider key={hourCycle} value={zone}>
      {children}
    </Zone.Provider>
  );
}

const PresentTime = createContext<number | null>(null);

/** Shows all durations below as of a past time, in Unix milliseconds. Null is the present. */
export const AsOf = PresentTime.Provider;

const clock = createStore(Date.now());
setInterval(() => {
  if (!document.hidden) clock.set(Date.now());
}, 1_000);
document.addEventListener("visibilitychange", () => clock.set(Date.now()));

/** The current time in Unix milliseconds, updated every second while the page is visible. */
export const useNow = clock.use;

/** Full date and time, such as `Fri, 20 Nov 2026, 14:31:05 CET`. */
export const formatAbsolute = (at: number | string, zone: string) =>
  getFormatter(zone, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    ...minuteFormat,
    second: "2-digit",
    timeZoneName: "short",
  }).format(new Date(at));

/** Duration since an instant, such as `8 min 30 s`, without seconds from one hour on; null below one second. */
function formatAge(at: string, now: number, isLeast: boolean): string | null {
  const seconds = Math.floor((now - new Date(at).getTime()) / 1000);
  if (seconds < 1) return null;
  const duration = formatUnbrokenDuration(seconds >= 3600 ? seconds - (seconds % 60) : seconds);
  return isLeast ? t("at least {duration}", { duration }) : duration;
}

/** Time since an instant, such as `8 min 30 s ago`, or `just now` below one second. */
function formatAgo(at: string, now: number, isLeast: boolean): string {
  const duration = formatAge(at, now, isLeast);
  return duration === null ? t("just now") : t("{duration} ago", { duration });
}

/** Time until an instant, such as `in 29 d`, or `ended` once it has passed. */
function formatUntil(at: string, now: number): string {
  const seconds = Math.ceil((new Date(at).getTime() - now) / 1000);
  if (seconds <= 0) return t("ended");
  const unit = [86_400, 3_600, 60].find((unit) => seconds > unit * 0.99) ?? 1;
  return t("in {duration}", {
    duration: formatUnbrokenDuration(Math.round(seconds / unit) * unit),
  });
}

/** Formats a duration with no-break spaces between numbers and units. */
export const formatUnbrokenDuration = (seconds: number): string =>
  formatDuration(seconds, "\u00a0");

/** A time in a short form, with date, time and time zone on hover. */
export function Time({
  at,
  as = "ago",
}: {
  at: string;
  as?: "ago" | "short" | "seconds" | "for" | "until" | "clock";
}) {
  const presentTime = useNow();
  // Without updates it is unknown whether a state continues, so durations stop.
  const pastTime = useContext(PresentTime);
  const lost = staleSince.use();
  const stale = pastTime === null ? lost : null;
  const now = pastTime ?? stale ?? presentTime;
  const isLeast = stale !== null;
  const zone = useZone();
  const words = {
    ago: () => formatAgo(at, now, isLeast),
    for: () => formatAge(at, now, isLeast) ?? t("just now"),
    until: () => formatUntil(at, now),
    short: () => formatDateTime(zone, Date.parse(at), now),
    clock: () => getFormatter(zone, minuteFormat).format(new Date(at)),
    seconds: () => formatDateTime(zone, Date.parse(at), now, true),
  };
  const text = words[as]();
  return (
    <time className="num" dateTime={at} title={formatAbsolute(at, zone)}>
      {text}
    </time>
  );
}

/** All time zones of the browser, preceded by the given ones and UTC. */
export function listZones(...used: string[]): string[] {
  return [...new Set([...used, "UTC", ...Intl.supportedValuesOf("timeZone")])];
}
