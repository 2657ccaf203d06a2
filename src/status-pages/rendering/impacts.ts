/** Applies the impacts of incidents to the shown states and to the figures of monitors. */
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { incidentImpacts, type ImpactLevel } from "../../core/statuses.ts";
import type { ImpactChange } from "../../incidents/rules.ts";
import type { ShownStatus } from "../../monitoring/monitors/shown-status-rules.ts";
import type {
  IncidentMark,
  PublicIncident,
  PublicMonitor,
  Totals,
} from "../formats/public-data.ts";

/** State of each impact, where there is no word for a partial outage. */
const stateByImpact = {
  degraded: "degraded",
  "partial-outage": "degraded",
  "major-outage": "down",
} as const satisfies Record<ImpactLevel, ShownStatus>;

const rankOf = (impact: ImpactLevel) => incidentImpacts.indexOf(impact) + 1;

const rankOfState = (state: ShownStatus) =>
  state === "down" ? rankOf("major-outage") : state === "degraded" ? rankOf("degraded") : 0;

type ShownImpact = { impact: ImpactLevel; since: string };

/** Finds the worst impact of open incidents on each monitor; of equal ones, that of the earliest incident. */
export function findOpenImpacts(
  incidents: readonly PublicIncident[],
): ReadonlyMap<string, ShownImpact> {
  const found = new Map<string, ShownImpact>();
  for (const { status, createdAt, impactChanges = [], monitors } of incidents) {
    if (status === "resolved") continue;
    for (const { id, impact } of monitors) {
      const last = impactChanges.findLast(([, monitorId]) => monitorId === id);
      const since = last === undefined ? createdAt : formatTimestamp(last[0]);
      const known = found.get(id);
      if (impact === null || (known && rankOf(known.impact) > rankOf(impact))) continue;
      const isEarlier = known?.impact !== impact || since < known.since;
      if (isEarlier) found.set(id, { impact, since });
    }
  }
  return found;
}

/** Shows an impact, unless the monitor's own state is as bad. */
export function applyImpact(monitor: PublicMonitor, shown: ShownImpact | undefined): PublicMonitor {
  if (shown === undefined || rankOf(shown.impact) <= rankOfState(monitor.state)) return monitor;
  return { ...monitor, ...shown, state: stateByImpact[shown.impact] };
}

type Span = { from: number; to: number; isOutage: boolean };

/** Lists the periods in which incidents had an impact, in Unix milliseconds, by monitor. */
export function listImpactSpans(incidents: readonly IncidentMark[], now: number) {
  const spans = new Map<string, Span[]>();
  for (const incident of incidents) {
    const end = incident.resolvedAt === null ? now : Date.parse(incident.resolvedAt);
    for (const [id, changes] of Map.groupBy(listChanges(incident), ([, monitorId]) => monitorId)) {
      const ownImpacts = changes.flatMap(([from, , impact], index) => {
        const to = changes[index + 1]?.[0] ?? end;
        return impact === null ? [] : [{ from, to, isOutage: impact === "major-outage" }];
      });
      spans.set(id, [...(spans.get(id) ?? []), ...ownImpacts]);
    }
  }
  return spans;
}

/** Returns the changes of impacts; for an incident without a list, its impacts from its start. */
const listChanges = ({ impactChanges, monitors, createdAt }: IncidentMark) =>
  impactChanges ??
  monitors.map(({ id, impact }): ImpactChange => [Date.parse(createdAt), id, impact]);

/** Adds impacts to daily sums. On each day, the longer of the two times counts: impacts or failed checks. */
export function addImpacts(days: PublicMonitor["days"], spans: readonly Span[] = []) {
  if (spans.length === 0) return days;
  const outages = spans.filter(({ isOutage }) => isOutage);
  const others = spans.filter(({ isOutage }) => !isOutage);
  return {
    get(day: number): Totals | undefined {
      const sums = days.get(day);
      return sums && moveSeconds(sums, measureDay(outages, day), measureDay(others, day));
    },
  };
}

/** Moves seconds of a day to down and to degraded, until these have at least the given length. */
function moveSeconds(sums: Totals, outage: number, degraded: number): Totals {
  const { upSeconds: up, degradedSeconds, downSeconds } = sums;
  const toDown = Math.min(Math.max(0, outage - downSeconds), up + degradedSeconds);
  const fromUp = Math.min(toDown, up);
  const leftDegraded = degradedSeconds - (toDown - fromUp);
  const toDegraded = Math.min(Math.max(0, degraded - leftDegraded), up - fromUp);
  return {
    ...sums,
    upSeconds: up - fromUp - toDegraded,
    degradedSeconds: leftDegraded + toDegraded,
    downSeconds: downSeconds + toDown,
  };
}

/** Measures the seconds of a UTC day that at least one span covers. */
function measureDay(spans: readonly Span[], day: number): number {
  const end = (day + 1) * dayMs;
  let covered = 0;
  let last = day * dayMs;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const start = Math.max(from, last);
    const until = Math.min(to, end);
    if (until <= start) continue;
    covered += until - start;
    last = until;
  }
  return Math.round(covered / 1000);
}
