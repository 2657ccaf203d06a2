/** Prometheus metrics of the check engine: results, delays, durations, queues and monitors. */
import type { CheckResult } from "../check.ts";
import type { Watched } from "./watched-monitors.ts";
import { counter, family, type Family, histogram } from "../../../core/metrics.ts";
import { monitorKinds, type MonitorType } from "../../monitors/kinds-schema.ts";

const outcomes = ["up", "degraded", "down", "unknown"] as const satisfies CheckResult["status"][];
const latenessBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Creates the counters and histograms of checks. */
export function checkMetrics() {
  const results = counter(
    "signalbox_checks_total",
    "Check results and push reports, by monitor type and outcome. The outcome is unknown if this appliance caused the failure.",
    ["type", "outcome"],
  );
  const lateness = histogram(
    "signalbox_check_lateness_seconds",
    "Delay between the scheduled and the actual start of a check.",
    [],
    latenessBounds,
  );
  const durations = histogram(
    "signalbox_check_duration_seconds",
    "Duration of checks, by monitor type.",
    ["type"],
    durationBounds,
  );
  const overdue = counter(
    "signalbox_checks_overdue_total",
    "Checks that waited too long in the queue, so that their monitors were not judged.",
    [],
  );
  for (const type of Object.keys(monitorKinds) as MonitorType[]) {
    for (const outcome of outcomes) results.of(type, outcome);
    if (type !== "push") durations.of(type);
  }
  return {
    ended: (type: string, outcome: CheckResult["status"]) => results.of(type, outcome)(),
    began: lateness.of(),
    took: (type: string, seconds: number) => durations.of(type)(seconds),
    missed: overdue.of(),
    families: (): Family[] => [
      results.family(),
      lateness.family(),
      durations.family(),
      overdue.family(),
    ],
  };
}

type Running = {
  jobs: { running(): number; waiting(): number };
  results: { waiting(): number; waitingSince(): number | null; dropped(): number };
  monitors: { values(): Iterable<Pick<Watched, "type" | "state">> };
  now: number;
};

/** Returns gauges of the current state of the engine. */
export const stateFamilies = ({ jobs, results, monitors, now }: Running): Family[] => [
  family("signalbox_checks_running", "gauge", "Checks in progress.", jobs.running()),
  family("signalbox_checks_waiting", "gauge", "Due checks in the queue.", jobs.waiting()),
  family(
    "signalbox_results_waiting",
    "gauge",
    "Check results that are not written yet.",
    results.waiting(),
  ),
  family(
    "signalbox_results_delay_seconds",
    "gauge",
    "Age of the oldest unwritten result.",
    Math.max(0, now - (results.waitingSince() ?? now)) / 1_000,
  ),
  family(
    "signalbox_results_dropped_total",
    "counter",
    "Check results that were dropped because they could not be written for too long.",
    results.dropped(),
  ),
  family(
    "signalbox_monitors",
    "gauge",
    "Monitors by type and status, without paused ones.",
    monitorsByState(monitors),
  ),
];

function monitorsByState(monitors: Running["monitors"]) {
  const byType = Map.groupBy(monitors.values(), ({ type }) => type);
  return [...byType].flatMap(([type, monitorsOfType]) =>
    [...Map.groupBy(monitorsOfType, ({ state }) => state.status)].map(([status, { length }]) => ({
      labels: { type, status },
      value: length,
    })),
  );
}
