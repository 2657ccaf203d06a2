/** Prometheus metrics of the check engine: results, delays, durations, queues and monitors. */
import type { CheckResult } from "../check.ts";
import type { Watched } from "./watched-monitors.ts";
import {
  createCounter,
  createFamily,
  type Family,
  createHistogram,
} from "../../../core/metrics.ts";
import { monitorKinds, type MonitorType } from "../../monitors/kinds-schema.ts";

const outcomes = ["up", "degraded", "down", "unknown"] as const satisfies CheckResult["status"][];
const latenessBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Creates the counters and histograms of checks. */
export function createCheckMetrics() {
  const results = createCounter(
    "signalbox_checks_total",
    "Check results and push reports, by monitor type and outcome. The outcome is unknown if this appliance caused the failure.",
    ["type", "outcome"],
  );
  const lateness = createHistogram(
    "signalbox_check_lateness_seconds",
    "Delay between the scheduled and the actual start of a check.",
    [],
    latenessBounds,
  );
  const durations = createHistogram(
    "signalbox_check_duration_seconds",
    "Duration of checks, by monitor type.",
    ["type"],
    durationBounds,
  );
  const overdue = createCounter(
    "signalbox_checks_overdue_total",
    "Checks that waited too long in the queue, so that their monitors were not judged.",
    [],
  );
  for (const type of Object.keys(monitorKinds) as MonitorType[]) {
    for (const outcome of outcomes) results.withLabels(type, outcome);
    if (type !== "push") durations.of(type);
  }
  return {
    ended: (type: string, outcome: CheckResult["status"]) => results.withLabels(type, outcome)(),
    began: lateness.of(),
    observeDuration: (type: string, seconds: number) => durations.of(type)(seconds),
    missed: overdue.withLabels(),
    families: (): Family[] => [
      results.family(),
      lateness.family(),
      durations.family(),
      overdue.family(),
    ],
  };
}

type Running = {
  jobs: { countRunning(): number; countWaiting(): number };
  results: { countWaiting(): number; getWaitingSince(): number | null; countDropped(): number };
  monitors: { values(): Iterable<Pick<Watched, "type" | "state">> };
  now: number;
};

/** Returns gauges of the current state of the engine. */
export const createStateFamilies = ({ jobs, results, monitors, now }: Running): Family[] => [
  createFamily("signalbox_checks_running", "gauge", "Checks in progress.", jobs.countRunning()),
  createFamily(
    "signalbox_checks_waiting",
    "gauge",
    "Due checks in the queue.",
    jobs.countWaiting(),
  ),
  createFamily(
    "signalbox_results_waiting",
    "gauge",
    "Check results that are not written yet.",
    results.countWaiting(),
  ),
  createFamily(
    "signalbox_results_delay_seconds",
    "gauge",
    "Age of the oldest unwritten result.",
    Math.max(0, now - (results.getWaitingSince() ?? now)) / 1_000,
  ),
  createFamily(
    "signalbox_results_dropped_total",
    "counter",
    "Check results that were dropped because they could not be written for too long.",
    results.countDropped(),
  ),
  createFamily(
    "signalbox_monitors",
    "gauge",
    "Monitors by type and status, without paused ones.",
    countMonitorsByState(monitors),
  ),
];

function countMonitorsByState(monitors: Running["monitors"]) {
  const byType = Map.groupBy(monitors.values(), ({ type }) => type);
  return [...byType].flatMap(([type, monitorsOfType]) =>
    [...Map.groupBy(monitorsOfType, ({ state }) => state.status)].map(([status, { length }]) => ({
      labels: { type, status },
      value: length,
    })),
  );
}
